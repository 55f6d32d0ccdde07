# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Say what an interpreter is, as one JSON object; run by path with the interpreter in question, of any Python 3."""

import json
import sys


def describe() -> "dict[str, object]":
    """Return the version, and the program itself, which may have been found behind a shim."""
    return {"version": list(sys.version_info[:3]), "executable": sys.executable}


if __name__ == "__main__":
    print(json.dumps(describe()))
