# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Open another project's plugin and its vendor's libraries, and answer in the form of our own plugins.

This is a program for `python -c` in the environment that is examined: it imports nothing but the standard library.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any


def _open_all(question: dict[str, Any], library_path: list[str]) -> dict[str, object]:
    """Return what becomes of libraries.

    Args:
        question: The plugin's `libraries`, the `names` of its vendor's, the `folders` of wheels with these, and the
            `module` that JAX would initialize, empty if that is not to be tried, and whether its hardware is `here`.
        library_path: The folders on `LD_LIBRARY_PATH`.
    """
    before = _loaded_files()
    opened = [_open_named(name, question["folders"], library_path) for name in question["names"]]
    path, problems = open_plugin(question["libraries"])
    found = {entry["path"] for entry in opened}
    others = [file for file in _loaded_files() if file not in {*before, *found, path}]
    needed = [_describe_needed(file, question["folders"]) for file in others if os.path.dirname(file) in library_path]
    if missing := [str(entry["name"]) for entry in opened if not entry["path"]]:
        problems.append(_describe_error(f"these cannot be loaded: {', '.join(missing)}", goes_on=True))
    registered: dict[str, object] = {}
    if question["module"] and not problems:
        problems += initialize(question["module"], registered, here=question["here"])
    vendor = {"libraries": opened + needed}
    return {"schema": 1, "library": {"path": path}, "vendor": vendor, "problems": problems, **registered}


def _open_named(name: str, folders: list[str], library_path: list[str]) -> dict[str, object]:
    """Open a library of the vendor: from the wheels by its path, else as the dynamic linker finds it."""
    in_wheels = [os.path.join(folder, name) for folder in folders if os.path.isfile(os.path.join(folder, name))]
    reason = ""
    for file in [*in_wheels, name]:
        try:
            ctypes.CDLL(file)
        except OSError as error:
            reason = str(error)
            continue
        path = file if os.sep in file else next((each for each in _loaded_files() if name in each), name)
        system = "LD_LIBRARY_PATH" if os.path.dirname(path) in library_path else "system"
        return {"name": name, "path": path, "origin": "vendor" if file != name else system}
    return {"name": name, "path": None, "problem": reason}


def open_plugin(files: list[str]) -> tuple[str | None, list[dict[str, str]]]:
    """Return which file is a PJRT plugin, and what is wrong if there is none."""
    problems = []
    for file in files:
        try:
            if hasattr(ctypes.CDLL(file), "GetPjrtApi"):
                return file, []
        except OSError as error:
            what = f"{file} cannot be used: {error}"
            problems.append({"code": "LibraryDamagedError", "effect": "unused", "what": what})
    return None, problems


def initialize(module: str, registered: dict[str, object], *, here: bool) -> list[dict[str, str]]:
    """Note which platform a plugin registers, with its priority, when JAX initializes it; return what it raises.

    Args:
        module: The plugin.
        registered: Takes the platform.
        here: Whether its hardware is here: elsewhere what it says about that does not count.
    """

    def register(name: str, *_: object, priority: int = 400, **__: object) -> None:
        registered.update(platform=name, priority=priority)

    try:
        from jax._src import xla_bridge

        xla_bridge.register_plugin = register  # which would start the library
    except Exception:  # noqa: BLE001  # without JAX nothing is initialized
        return []
    plugin = None
    try:
        plugin = importlib.import_module(module)
        plugin.initialize()
    except BaseException as error:  # noqa: BLE001  # as JAX does
        goes_on = plugin is not None or isinstance(error, ImportError)
        about_hardware = plugin is not None and isinstance(error, (RuntimeError, ValueError))
        what = f"it raises {type(error).__name__}: {error}"
        return [] if about_hardware and not here else [_describe_error(what, goes_on=goes_on)]
    return []


def _describe_error(what: str, *, goes_on: bool) -> dict[str, str]:
    """Return why a plugin does not register its platform."""
    effect, does = ("unused", "leaves it out") if goes_on else ("refused", "fails")
    return {"code": "RegistrationError", "effect": effect, "what": f"JAX {does}, as {what}"}


def _describe_needed(file: str, folders: list[str]) -> dict[str, object]:
    """Return a library that came along from `LD_LIBRARY_PATH`, and the one of a wheel that it shadows."""
    stem = os.path.basename(file).partition(".so")[0]
    wheels = (str(path) for folder in folders for path in sorted(Path(folder).glob(stem + ".so*")))
    name, shadows = os.path.basename(file), next(wheels, None)
    return {"name": name, "needed": True, "path": file, "origin": "LD_LIBRARY_PATH", "shadows": shadows}


def _loaded_files() -> list[str]:
    """Return the shared libraries of this process, where the system says."""
    try:
        lines = Path("/proc/self/maps").read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    files = (line[line.index("/") :] for line in lines if "/" in line)
    return list(dict.fromkeys(file for file in files if ".so" in file))


if __name__ == "__main__":
    folders = [part for part in os.environ.get("LD_LIBRARY_PATH", "").split(":") if part]
    asked = json.loads(sys.argv[1])
    sys.path[:] = asked["paths"]
    print("\n" + json.dumps(_open_all(asked, folders)))
