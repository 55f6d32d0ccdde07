# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""For which platform, and with which priority, a plugin will register itself: read from its source, never run.

A plugin calls `register_plugin("cuda", priority=500, ...)` or `register_backend_factory(...)` of JAX; ours describe
themselves in a `Plugin(name=...)`, a `Kernels("package", ...)` and a constant `PRIORITY`. What is computed at
run time stays unknown.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# The defaults of JAX's own functions.
_DEFAULTS = {"register_plugin": 400, "register_backend_factory": 0}
_LARGEST = 1024 * 1024  # bytes of a module
_MOST = 200  # modules of a plugin


@dataclass(frozen=True)
class Registration:
    """What a plugin will tell JAX.

    Attributes:
        platform: The name, such as `cuda`; nothing if it is not written down in its source.
        priority: The platform with the highest is JAX's default; nothing if it is not written down.
        kernels: The package of its GPU kernels; empty if it names none.
    """

    platform: str | None = None
    priority: int | None = None
    kernels: str = ""


def read_registration(module: Path) -> Registration:
    """Read a plugin's source.

    Args:
        module: Folder of its package, or its file.
    """
    trees = [tree for tree in map(parse_module, module_files(module)) if tree is not None]
    constants = {name: value for tree in reversed(trees) for name, value in _constants(tree).items()}
    calls = [call for tree in trees for call in _calls(tree)]
    found = [_registered(name, call, constants) for name, call in calls if name in _DEFAULTS]
    named = [entry for entry in found if entry.platform is not None]
    if named:
        return named[0]
    described = [_keyword(call, "name", constants) for name, call in calls if name == "Plugin"]
    platform = next((value for value in described if isinstance(value, str)), None)
    priority = constants.get("PRIORITY")
    kernels = next((_value(call.args[0], constants) for name, call in calls if name == "Kernels" and call.args), None)
    return Registration(
        platform, priority if isinstance(priority, int) else None, kernels if isinstance(kernels, str) else ""
    )


def module_files(module: Path) -> list[Path]:
    """Return the modules of a package, the outermost first: what they say counts more."""
    if module.is_file():
        return [module]
    files = sorted(module.rglob("*.py"), key=lambda path: (len(path.parts), path.name != "__init__.py", path))
    return files[:_MOST]


def parse_module(path: Path) -> ast.Module | None:
    """Return the syntax tree of a module; nothing if it cannot be read."""
    try:
        if path.stat().st_size > _LARGEST:
            return None
        return ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None


def _constants(tree: ast.Module) -> dict[str, object]:
    """Return the constants a module assigns at its top level."""
    found: dict[str, object] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
            found.update(
                {target.id: statement.value.value for target in statement.targets if isinstance(target, ast.Name)}
            )
    return found


def _calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    """Yield every call with the last part of the name that is called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            yield getattr(function, "attr", getattr(function, "id", "")), node


def _registered(function: str, call: ast.Call, constants: dict[str, object]) -> Registration:
    keyword = "plugin_name" if function == "register_plugin" else "name"
    platform = _value(call.args[0], constants) if call.args else _keyword(call, keyword, constants)
    given = any(entry.arg == "priority" for entry in call.keywords)
    priority = _keyword(call, "priority", constants) if given else _DEFAULTS[function]
    return Registration(
        platform if isinstance(platform, str) else None, priority if isinstance(priority, int) else None
    )


def _keyword(call: ast.Call, name: str, constants: dict[str, object]) -> object:
    return next((_value(entry.value, constants) for entry in call.keywords if entry.arg == name), None)


def _value(node: ast.expr, constants: dict[str, object]) -> object:
    if isinstance(node, ast.Constant):
        return node.value
    return constants.get(node.id) if isinstance(node, ast.Name) else None
