# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Compile programs for a chip that is not here.

Started as `python -I compile.py REQUEST RESULTS` from an empty directory. Uses the standard library and JAX only. A
program file has a table `PROGRAMS`: name → function from devices to `jax.stages.Lowered`, and may have
`MINIMUM_DEVICES`. RESULTS is a folder: each line of its `log` is a JSON object, written when a program begins and when
it ends, so that a process that dies leaves what it was doing. Serialized executables lie next to it.
"""

import importlib
import json
import re
import runpy
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_LIBRARY_CALL = re.compile(r'custom_call_target="([^"]*)"')


def find_programs(paths: list[str], devices: int, wanted: list[str]) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield name and function of each program that is wanted and needs no more devices than there are."""
    for path in paths:
        namespace = runpy.run_path(path)
        for name, lower in namespace["PROGRAMS"].items():
            if devices >= namespace.get("MINIMUM_DEVICES", 1) and name in (wanted or [name]):
                yield name, lower


def _compile_program(lower: Callable[..., Any], devices: list[Any], target: Path) -> dict[str, Any]:
    """Compile one program, keep the executable, and return what became of it; never raises for what JAX does."""
    started = time.monotonic()
    try:
        compiled = lower(devices).compile()
        target.write_bytes(compiled.runtime_executable().serialize())
        calls = sorted(set(_LIBRARY_CALL.findall(compiled.as_text())))
    except Exception as error:  # noqa: BLE001 - whatever JAX or the plugin raises is the result
        text = f"{type(error).__name__}: {error}\n{traceback.format_exc()}"
        return {"error": text, "seconds": round(time.monotonic() - started, 2)}
    return {"file": target.name, "calls": calls, "seconds": round(time.monotonic() - started, 2)}


def _compile_all(request: dict[str, Any], folder: Path) -> None:
    """Compile every program for every topology, except what was done before."""
    package = request["package"]
    plugin = importlib.import_module(f"{package}.backend").PLUGIN
    chips = importlib.import_module(f"{package}.pjrt.chips")
    done = {tuple(item) for item in request["done"]}
    with (folder / "log").open("a", encoding="utf-8") as log:

        def note(**entry: object) -> None:
            log.write(json.dumps(entry) + "\n")
            log.flush()

        for topology in request["topologies"]:
            label = topology["label"]
            devices = list(chips.describe_chips(plugin, f"{request['chip']}:{label}").devices)
            for name, lower in find_programs(request["programs"], len(devices), topology["programs"]):
                if (label, name) in done:
                    continue
                note(topology=label, program=name)
                result = _compile_program(lower, devices, folder / f"{label}-{name}.executable")
                note(topology=label, program=name, devices=len(devices), **result)
        require_loaded = runpy.run_path(str(Path(__file__).with_name("library.py")))["require_loaded"]
        require_loaded(request["library"])


if __name__ == "__main__":
    _compile_all(json.loads(Path(sys.argv[1]).read_text("utf-8")), Path(sys.argv[2]))
