# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Say what an interpreter is, as one JSON object; run by path with the interpreter in question, of any Python 3."""

import json
import os
import sys
import sysconfig


def describe() -> "dict[str, object]":
    """Return version, real path (behind shims and virtual environments), and where `Python.h` should be."""
    paths = sysconfig.get_paths()
    base = getattr(sys, "_base_executable", None) or sys.executable
    return {
        "version": list(sys.version_info[:3]),
        "implementation": sys.implementation.name,
        "executable": sys.executable,
        "base": os.path.realpath(base),
        "include": paths["include"],
        "platinclude": paths["platinclude"],
    }


if __name__ == "__main__":
    print(json.dumps(describe()))
