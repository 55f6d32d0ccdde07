# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Open a plugin library in a process of its own and read its PJRT API version: the evidence for level `load`.

Needs no Python of the release and no JAX. The process runs this file; a library that crashes takes only it down.
"""

from __future__ import annotations

import ctypes
import json
import sys


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


def read_api_version(path: str) -> tuple[int, int]:
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


if __name__ == "__main__":
    print(json.dumps(read_api_version(sys.argv[1])))
