# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which files of the tooling a module needs: what an action of the graph sees, and what kept results depend on.

Imports are read from the source, at any depth and inside of functions as well; standard library only.
"""

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

_BUILD = Path(__file__).resolve().parent.parent


@functools.cache
def import_closure(*modules: str, folder: Path = _BUILD) -> tuple[Path, ...]:
    """Return the files of some modules and of all that they import from their own top-level package, in order.

    Modules have dotted names, such as `pjrtwheel.verify`, and lie in the folder. Imports for type checkers only do not
    count, nor do modules that are imported by a name that is computed.
    """
    found: set[Path] = set()
    pending = list(modules)
    while pending:
        name = pending.pop()
        pending += [name.rpartition(".")[0]] if "." in name else []  # importing a.b runs a/__init__.py
        path = _find_file(name, folder)
        if path and path not in found:
            found.add(path)
            package = name if path.name == "__init__.py" else name.rpartition(".")[0]
            pending += _imports(ast.parse(path.read_bytes()), package)
    return tuple(sorted(found))


def _find_file(name: str, folder: Path) -> Path | None:
    """Return the file of a module; nothing for a module of another package, or a name that is no module."""
    place = folder.joinpath(*name.split("."))
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)


def _imports(node: ast.AST, package: str) -> Iterator[str]:
    """Yield the dotted names that may be modules, in every import below a node of a module of a package."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.Import():
                yield from (alias.name for alias in child.names)
            case ast.ImportFrom(module=module, level=level):
                base = package.split(".")[: 1 - level or None] if level else []
                yield from (".".join([*base, *filter(None, [module]), alias.name]) for alias in child.names)
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=otherwise):
                yield from _imports(ast.Module(otherwise, []), package)
            case _:
                yield from _imports(child, package)
