# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run one smoke program, and prove which client it ran on.

Started as `python -I smoke.py PROGRAM [PLUGIN] RESULT` from an empty directory. Uses the standard library and JAX
only. A program is a file with a function `check() -> str`, which raises when something is wrong, raises
`unittest.SkipTest` when this machine cannot run it, and returns a line of evidence otherwise. PLUGIN is JSON with
`name` and `library`, a path below site-packages; when it is given, a program only passes if JAX's default client is
that very library.
"""

import importlib
import importlib.metadata
import json
import runpy
import sys
import traceback
import unittest
from pathlib import Path
from typing import Any


def _prove_client(plugin: dict[str, str]) -> str:
    """Return the evidence that JAX's default client is the plugin of the wheel under test.

    Raises:
        AssertionError: It is another client, or the library was loaded from elsewhere.
    """
    jax = importlib.import_module("jax")  # this file is also imported where there is no JAX
    client = jax.devices()[0].client
    version = [getattr(client, f"pjrt_c_api_{part}_version", None) for part in ("major", "minor")]
    if version in ([None, None], [0, 0]):
        raise AssertionError(f"JAX runs on its built-in client, not on the plugin {plugin['library']}")
    if client is not jax.devices(plugin["name"])[0].client:
        raise AssertionError(f"the default client is {client.platform!r}, not {plugin['name']!r}")
    runpy.run_path(str(Path(__file__).with_name("library.py")))["require_loaded"](plugin["library"])
    return f"PJRT C API {version[0]}.{version[1]} from {plugin['library']}"


def run_program(program: Path, plugin: dict[str, str] | None) -> dict[str, Any]:
    """Run a program and return its outcome; never raises for what the program does."""
    # Without a plugin a program shows that the bindings open and work, but nothing about an accelerator.
    level = "device" if plugin else "load"
    try:
        namespace = runpy.run_path(str(program))
        evidence = namespace["check"]()
        proof = _prove_client(plugin) if plugin else f"jaxlib {importlib.metadata.version('jaxlib')}"
    except unittest.SkipTest as reason:
        return {"outcome": "not run", "level": level, "detail": str(reason)}
    except BaseException:  # noqa: BLE001 - whatever a program raises is its result
        return {"outcome": "failed", "level": level, "detail": traceback.format_exc()}
    return {"outcome": "passed", "level": level, "detail": f"{evidence}; {proof}"}


def main() -> int:
    """Run the program named on the command line and write its result to a file, where its output cannot blur it."""
    program, *plugin, target = sys.argv[1:]
    result = run_program(Path(program), json.loads(plugin[0]) if plugin else None)
    Path(target).write_text(json.dumps(result), "utf-8")
    return 0 if result["outcome"] != "failed" else 1


if __name__ == "__main__":
    sys.exit(main())
