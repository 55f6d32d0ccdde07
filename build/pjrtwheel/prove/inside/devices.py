# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Ask JAX which devices a plugin has.

Started as `python -I devices.py NAME`. Prints one line of JSON, the last of its output.
"""

import importlib
import json
import sys
from typing import Any


def ask_jax(name: str) -> dict[str, Any]:
    """Return number and kind of the devices of this name, or why there are none; never raises for what JAX does.

    The answer also has the class of the error behind the reason, and whether JAX tried the platform at all: it does
    not where it sees no device node.
    """
    jax = importlib.import_module("jax")  # this file is also imported where there is no JAX
    try:
        devices = jax.devices(name)
    except Exception as error:  # noqa: BLE001 - whatever JAX or the plugin raises is the answer
        text = str(error).strip().partition("\n")[0]
        refusal = find_refusal(error, importlib.import_module("jax._src.xla_bridge")._backend_factories.get(name))  # noqa: SLF001
        tried = not text.startswith("Unknown backend")
        reason = getattr(error.__context__, "what", text)  # a loader's own words, without what JAX puts before them
        return {"count": 0, "kind": "", "reason": reason, "error": refusal, "tried": tried}
    return {"count": len(devices), "kind": devices[0].device_kind, "reason": "", "error": "", "tried": True}


def find_refusal(error: Exception, registration: Any) -> str:
    """Return the class of what a plugin raised, which JAX turns into a RuntimeError, keeps as text or does not ask for.

    The registration is how JAX knows the platform; where it does not, no excuse explains what JAX raised.
    """
    if error.__context__ is not None or registration is None:
        return type(error.__context__ or error).__name__
    try:
        registration.factory()
    except Exception as refusal:  # noqa: BLE001 - its class is the answer
        return type(refusal).__name__
    return ""


if __name__ == "__main__":
    print(json.dumps(ask_jax(sys.argv[1])))
