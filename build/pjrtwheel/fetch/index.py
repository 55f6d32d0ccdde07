# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Download one pinned wheel with pip, so that the machine's own configuration decides which index is asked.

Where `PJRTWHEEL_BUNDLE` names a bundle, that configuration is the bundle.
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pjrtwheel.errors import FetchError
from pjrtwheel.release.model import Pin

BUNDLE_VARIABLE = "PJRTWHEEL_BUNDLE"
_FILL_AGAIN = "on a machine with a network, run `./noxw bundle` again with what is missing"
OFFLINE_SIGNS = (
    "Temporary failure in name resolution",
    "Name or service not known",
    "Network is unreachable",
    "NewConnectionError",
    "NameResolutionError",
    "ConnectTimeoutError",
    "ProxyError",
    "Connection refused",
)


def tag_options(filename: str) -> tuple[str, ...]:
    """Return the options that make pip accept a wheel of another Python or platform than this one.

    The tags are the last three parts of the name (PEP 427); a part may hold several tags joined by dots (PEP 425).

    >>> tag_options("jaxlib-0.11.2-cp314-cp314-manylinux_2_27_x86_64.whl")[:4]
    ('--python-version', '314', '--implementation', 'cp')
    """
    python, abi, platforms = filename.removesuffix(".whl").rsplit("-", 3)[1:]
    options: list[str] = []
    if python.startswith("cp"):
        options += ["--python-version", python[2:].split(".")[0], "--implementation", "cp"]
        options += [option for name in abi.split(".") for option in ("--abi", name)]
    for platform in platforms.split("."):
        options += ["--platform", platform]
    return tuple(options)


def explain_output(what: str, output: str) -> FetchError:
    """Turn what pip said into one error with its probable cause, whatever it was to download or install."""
    if "No module named pip" in output:
        return FetchError(
            what,
            cause=f"this Python has no pip: {sys.executable}",
            remedy="install it (on Debian: apt-get install python3-pip), or name another in PJRTWHEEL_PYTHON",
        )
    if "No space left on device" in output:
        return FetchError(what, cause="no space left on the device", remedy="make room, then run the command again")
    lacking = re.search("No matching distribution found for (.+)", output)
    if lacking and (bundle := os.environ.get(BUNDLE_VARIABLE)):
        return FetchError(what, cause=f"the bundle {bundle} has no {lacking[1]}", remedy=_FILL_AGAIN)
    if any(sign in output for sign in OFFLINE_SIGNS):
        return FetchError(
            what,
            cause="the package index cannot be reached, and what is needed is not in the cache",
            remedy="connect to the network, or copy a full cache from another machine (PJRTWHEEL_CACHE)",
        )
    lines = [line for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or lines[-1:]
    return FetchError(what, cause=errors[0] if errors else "pip failed without a message")


def run_pip(command: Sequence[str], scratch: Path | None = None) -> tuple[int, str]:
    """Run pip and return its exit status and all it printed; what it has not finished yet is in `scratch`, if given."""
    environ = os.environ | ({"TMPDIR": str(scratch)} if scratch else {})
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, env=environ
    )
    return done.returncode, done.stdout


def download_wheel(pin: Pin, directory: Path, *, index: str = "", url: str = "") -> Path:
    """Let pip put the pinned wheel into a directory, which must be empty.

    It comes from the index that pip is configured for, from another `index`, or from the `url` of the file itself.

    Raises:
        FetchError: pip failed, or brought a file of another name.
    """
    requirements = directory / "requirements.txt"  # pip takes hashes from files only
    wanted = f"{pin.project} @ {url}" if url else f"{pin.project}=={pin.version}"
    requirements.write_text(f"{wanted} --hash=sha256:{pin.sha256}\n", "utf-8")
    # -I is left out on purpose: it would make pip ignore the user's PIP_* variables.
    command = (
        *(sys.executable, "-P", "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--require-hashes"),
        *("--disable-pip-version-check", "--no-input", "--no-cache-dir", "--ignore-requires-python"),
        *("--progress-bar", "off", "--dest", str(directory), "--requirement", str(requirements)),
        *tag_options(pin.filename),
        *((f"--index-url={index}",) if index else ()),
    )
    status, output = run_pip(command, directory)
    if status != 0:
        raise explain_output(f"cannot download {pin.filename}, pinned as {pin.key}", output)
    found = directory / pin.filename
    if not found.is_file():
        names = sorted(path.name for path in directory.glob("*.whl"))
        raise FetchError(f"pip brought {', '.join(names) or 'nothing'} instead of {pin.filename}")
    return found


def require_index(environ: Mapping[str, str]) -> None:
    """Raise a `FetchError` where everything is taken from a bundle: what it lacks may exist all the same."""
    if bundle := environ.get(BUNDLE_VARIABLE):
        raise FetchError(
            "only the package index says which releases and files there are",
            cause=f"{BUNDLE_VARIABLE} is set: everything comes from {bundle}, which has what it was made for",
            remedy=f"unset {BUNDLE_VARIABLE}, on a machine with a network",
        )
