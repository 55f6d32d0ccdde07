# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run pytest, and add to its report log which client JAX ran on: standard library, pytest and JAX only.

Started inside the environment under test as `python -I inside.py ARGUMENTS`, with pytest's own arguments.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path


def _run_pytest(arguments: Sequence[str]) -> int:
    """Return pytest's exit status; a file that does not import JAX runs on no client, so none is written down."""
    status = int(importlib.import_module("pytest").main(list(arguments)))
    logs = [Path(option.partition("=")[2]) for option in arguments if option.startswith("--report-log=")]
    for log in logs if "jax" in sys.modules else ():
        with log.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"$report_type": "Client", "client": _describe_client()}) + "\n")
    return status


def _describe_client() -> str:
    """Return `plugin` or `built-in` for JAX's default client."""
    jax = importlib.import_module("jax")  # this file is also imported where there is no JAX
    return "plugin" if getattr(jax.devices()[0].client, "is_c_api", False) else "built-in"


if __name__ == "__main__":
    sys.exit(_run_pytest(sys.argv[1:]))
