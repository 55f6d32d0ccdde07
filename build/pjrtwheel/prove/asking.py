# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Ask JAX, inside the environment under test, which devices a plugin gives it.

Started as `python -I asking.py NAME`; prints one line of JSON, the last of its output.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any


def ask(name: str) -> dict[str, Any]:
    """Return number and kind of the devices of this name, or why there are none; never raises for what JAX does."""
    jax = importlib.import_module("jax")  # this file is also imported where there is no JAX
    try:
        devices = jax.devices(name)
    except Exception as error:  # noqa: BLE001 - whatever JAX or the plugin raises is the answer
        return {"count": 0, "kind": "", "reason": str(error).strip().partition("\n")[0]}
    return {"count": len(devices), "kind": devices[0].device_kind, "reason": ""}


if __name__ == "__main__":
    print(json.dumps(ask(sys.argv[1])))
