# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Open a plugin library and read what it says of itself, or make sure that this process has loaded it.

Started as `python -I library.py PATH`; prints the version of its PJRT API and its attributes as JSON, the last line of
its output. Needs no Python of the release and no JAX; a library that crashes takes only this process down. The other
files here load `require_loaded` by path.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import sys
import sysconfig
from pathlib import Path


class _ApiVersion(ctypes.Structure):
    """`PJRT_Api_Version`."""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("major_version", ctypes.c_int),
        ("minor_version", ctypes.c_int),
    )


class _Api(ctypes.Structure):
    """The head of `PJRT_Api`, which every version of it has."""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("version", _ApiVersion),
        ("functions", ctypes.c_void_p * 5),  # Error_Destroy, _Message, _GetCode; Plugin_Initialize, Plugin_Attributes
    )


class _Values(ctypes.Union):
    """The values of `PJRT_NamedValue`, apart from a list of integers, which `text` points to as well."""

    _fields_ = (
        ("text", ctypes.c_void_p),
        ("integer", ctypes.c_int64),
        ("number", ctypes.c_float),
        ("flag", ctypes.c_bool),
    )


class _NamedValue(ctypes.Structure):
    """`PJRT_NamedValue`."""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("name", ctypes.c_void_p),
        ("name_size", ctypes.c_size_t),
        ("type", ctypes.c_int),
        ("value", _Values),
        ("value_size", ctypes.c_size_t),
    )

    def read(self) -> tuple[str, str]:
        """Return the name, and the value as text; a list is joined by dots, as versions are."""
        name = ctypes.string_at(self.name, self.name_size).decode()
        match self.type:
            case 0:
                return name, ctypes.string_at(self.value.text, self.value_size).decode()
            case 1:
                return name, str(self.value.integer)
            case 2:
                return name, ".".join(map(str, (ctypes.c_int64 * self.value_size).from_address(self.value.text or 0)))
            case 3:
                return name, str(self.value.number)
            case 4:
                return name, str(self.value.flag)
            case other:
                return name, f"a value of type {other}"


class _AttributesArgs(ctypes.Structure):
    """`PJRT_Plugin_Attributes_Args`."""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(_NamedValue)),
        ("count", ctypes.c_size_t),
    )


def _describe(path: str) -> dict[str, object]:
    """Open a PJRT plugin and return the version of its API, as `api`, and its `attributes`.

    Raises:
        OSError: The dynamic loader refuses it, or its entry point returns nothing.
        AttributeError: It has no entry point.
    """
    entry = ctypes.CDLL(path).GetPjrtApi
    entry.restype = ctypes.POINTER(_Api)
    api = entry()
    if not api:
        raise OSError(f"GetPjrtApi of {path} returned nothing")
    version = api.contents.version
    ask = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_AttributesArgs))(api.contents.functions[4])
    answer = _AttributesArgs(struct_size=ctypes.sizeof(_AttributesArgs))
    listed = [] if ask(answer) else answer.attributes[: answer.count]
    return {
        "api": f"{version.major_version}.{version.minor_version}",
        "attributes": dict(value.read() for value in listed),
    }


def require_loaded(member: str) -> str:
    """Make sure that a library below this environment's site-packages is mapped into this process.

    Returns:
        That path; where it is a link to a library that took the wheel's place, name and digest of that one.

    Raises:
        AssertionError: It is not: another library is in use, or none.
    """
    site = Path(sysconfig.get_path("platlib"))  # lib/python3.14t/site-packages of a free-threaded Python
    library = (site / member).resolve()
    maps = Path("/proc/self/maps").read_text("utf-8", "surrogateescape").splitlines()
    mapped = {line.split(maxsplit=5)[5] for line in maps if "/" in line}
    if str(library) not in mapped:
        raise AssertionError(f"{library} is not loaded")
    if not (site / member).is_symlink():
        return member
    with library.open("rb") as file:
        return f"{library.name} (sha256 {hashlib.file_digest(file, 'sha256').hexdigest()}) in the place of {member}"


if __name__ == "__main__":
    print(json.dumps(_describe(sys.argv[1])))
