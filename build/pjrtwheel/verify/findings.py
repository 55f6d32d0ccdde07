# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with a wheel: `inspect` reports it, and `verify` refuses a wheel for all but `REPORTED`.

A code never changes its meaning.
"""

from dataclasses import dataclass

from pjrtwheel.errors import PjrtWheelError

# What a check yields: the member it is about (or nothing) and what is wrong with it.
Problem = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of a wheel.

    Attributes:
        code: Stable name of the kind of fault, such as `rpath-repeated`; see `CODES`.
        member: The file it is about; empty for the wheel as a whole.
        text: What was found, without a final period.
    """

    code: str
    member: str
    text: str

    def __str__(self) -> str:
        """Return the finding as one line for the terminal."""
        place = f"{self.member}: " if self.member else ""
        return f"{place}{self.text} [{self.code}]"


def describe_error(error: PjrtWheelError) -> str:
    """Return what happened and why, on one line."""
    return ": ".join(part for part in (error.what, error.cause) if part)


CODES = {
    "abi": "there is no module for an ABI that the wheel's tag promises",
    "abi3audit": "a library leaves the stable ABI that the wheel's tag promises",
    "alignment": "a library's segments are aligned too little for kernels with pages of 64 KiB (aarch64)",
    "architecture": "a library is for another system or processor than the platform tag, or for several",
    "auditwheel": "the platform tag is not proven, or a library is needed that not every Linux has",
    "check-wheel-contents": "what check-wheel-contents says",
    "delvewheel": "a DLL is needed that neither Windows nor Python brings",
    "entry-point": "a module or plugin does not export the function by which it is used",
    "executable-stack": "a library asks for an executable stack, which hardened systems refuse",
    "exports": "a library defines symbols that may collide with others: beyond its entry points, or, where those are "
    "unknown, though no library of the wheel is linked to it",
    "glibc": "a library needs a newer glibc than the platform tag promises",
    "gpu-code": "the GPU code of a library could not be read",
    "gpu-list": "gpu_code.json is malformed, or says something else than the libraries and the report",
    "jaxlib-version": "a plugin requires no exact `jaxlib`, so installers combine it with any",
    "kernels": "modules of one CPython are missing, or are where JAX does not look for them",
    "library": "a file with the name of a library is none, or is damaged",
    "license-field": "the licence is stated in the deprecated field or a classifier (PEP 639)",
    "license-file": "there is no licence file, or one that is named is missing (PEP 639)",
    "lock": "there is no release lock: the plugin cannot tell a `jaxlib` of other inputs from its own",
    "macos": "a library needs a newer macOS than the platform tag promises, or a library that not every macOS has",
    "metadata": "METADATA names another project or version than the file name",
    "other-lock": "wheels that were checked together carry different locks",
    "platform-floor": "a wheel with libraries has a platform tag that promises no libc version",
    "plugin": "the plugin library is missing or must not be there, or the wheel that carries it is not required",
    "purelib": "a wheel with libraries does not say `Root-Is-Purelib: false`: some systems put it in the wrong place",
    "record": "RECORD and the files of the wheel differ (PEP 376)",
    "requirements": "METADATA requires something else than the report says",
    "requires": "a requirement cannot be read or resolved, or is for an extra that there is not",
    "requires-any-version": "a requirement accepts every version, however old",
    "rpath-absolute": "a library searches absolute directories",
    "rpath-build-tree": "a library searches directories of the machine that built it",
    "rpath-outside": "a library searches directories outside of `site-packages`",
    "rpath-relative": "a library searches the working directory of the user",
    "rpath-repeated": "a library searches directories again that it has searched before",
    "runtime": "a library needs DLLs that neither Windows nor Python brings",
    "sbom": "there is no software bill of materials (PEP 770), or a malformed one",
    "set": "version, requirements and lock name different sets of wheels",
    "signature": "a library is not signed as macOS wants it",
    "symbols": "a library carries symbol tables or debug information that no loader reads",
    "twine": "what twine says",
    "wheel": "WHEEL and the file name differ, or it does not say where the wheel goes",
    "zip": "the wheel cannot be read, or holds what could harm those who unpack it",
}

# `verify` leaves these to auditwheel, twine and the backend file, or to taste.
REPORTED = frozenset(
    {
        "glibc",
        "gpu-code",
        "jaxlib-version",
        "license-field",
        "platform-floor",
        "purelib",
        "requires",
        "requires-any-version",
        "runtime",
        "symbols",
    }
)
