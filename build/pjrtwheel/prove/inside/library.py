# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Open a plugin library and read its PJRT API version, or make sure that this process has loaded it.

Started as `python -I library.py PATH`; prints major and minor version as JSON, the last line of its output. Needs no
Python of the release and no JAX; a library that crashes takes only this process down. The other files here load
`require_loaded` by path.
"""

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
    )


def _read_api_version(path: str) -> tuple[int, int]:
    """Open a PJRT plugin and return the major and minor version of its API.

    Raises:
        OSError: The dynamic loader refuses it, or its entry point returns nothing.
        AttributeError: It has no entry point.
    """
    entry = ctypes.CDLL(path).GetPjrtApi
    entry.restype = ctypes.POINTER(_Api)
    api = entry()
    if not api:
        raise OSError(f"GetPjrtApi of {path} returned nothing")
    return api.contents.version.major_version, api.contents.version.minor_version


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
    print(json.dumps(_read_api_version(sys.argv[1])))
