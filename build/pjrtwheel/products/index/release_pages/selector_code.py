# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The decision functions of `jaxlib-select` as data, which `static/about.js` evaluates in a browser.

The picker must decide as `jaxlib-select resolve` does, in the same words. So nothing is written twice: the selector's
own functions, from the one that decides down to all that it uses, become data (`syntax.py`), and the script knows the
language only. A new rule or a new vendor of the selector is in the pages that are written next. If it uses something
that the script does not know, writing them fails with its place.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import pkgutil
from collections.abc import Iterator
from functools import cache
from typing import Any

from jaxlib_select.choose import vendors
from jaxlib_select.facts import Facts, known_releases, load_facts
from jaxlib_select.tables import write
from pjrtwheel.products.index.release_pages.syntax import Module, Node, SyntaxWriter, UnknownSyntaxError

_PACKAGE = "jaxlib_select"
# What the script starts with, by the name under which it looks for it.
_ENTRIES = {
    "decide": f"{_PACKAGE}.choose.resolvers.jax.decide",
    "known_names": f"{_PACKAGE}.choose.resolvers.jax._known_names",
    "find_name": f"{_PACKAGE}.choose.policy.find_name",
    "choice": f"{_PACKAGE}.choose.policy.Choice",
    "machine": f"{_PACKAGE}.machine.model.Machine",
    "facts": f"{_PACKAGE}.facts.Facts",
}
# What reads files or imports modules there is done by the script itself, from the data that comes with it.
_NATIVE = {
    f"{_PACKAGE}.facts.load_facts": "load_facts",
    f"{_PACKAGE}.facts.known_releases": "known_releases",
    f"{_PACKAGE}.choose.vendors.find_judge": "find_judge",
    f"{_PACKAGE}.tables.Form": "Form",
    f"{_PACKAGE}.tables.column": "column",
}
_SCALARS = {"str", "int", "bool"}


@cache
def selector_code() -> dict[str, Any]:
    """Return the functions, and where they begin.

    Raises:
        UnknownSyntaxError: One uses something that the script does not know.
    """
    judges = {
        vendor.name: f"{vendors.__name__}.{vendor.name}.judge" for vendor in pkgutil.iter_modules(vendors.__path__)
    }
    code = _Code()
    for start in (*_ENTRIES.values(), *judges.values()):
        code.add(start)
    code.add_methods()
    return {
        "definitions": {_shorten(name): code.written[name] for name in sorted(code.written)},
        "entries": {entry: _shorten(name) for entry, name in _ENTRIES.items()},
        "judges": {vendor: _shorten(name) for vendor, name in sorted(judges.items())},
    }


def selector_facts() -> dict[str, Any]:
    """Return what the selector knows of each release, in the form of its files, without what no decision reads."""
    facts: dict[str, Facts] = {release: load_facts(release) for release in known_releases()}
    documents: dict[str, Any] = write(facts)
    for document in documents.values():
        for backend in document["backends"]:
            del backend["sources"]
    return documents


def _shorten(name: str) -> str:
    """Return the name of a definition without that of the package, which all of them are in."""
    return name.removeprefix(f"{_PACKAGE}.")


class _Code:
    """The definitions that were reached so far, by their whole names."""

    def __init__(self) -> None:
        self.written: dict[str, Any] = {}
        self._classes: dict[str, tuple[Module, ast.ClassDef]] = {}
        self._attributes: set[str] = set()

    def add(self, name: str) -> None:
        """Write a definition and all that it refers to."""
        if name in self.written:
            return
        module, statement = _find(name)
        if statement is None:
            raise UnknownSyntaxError(f"{name} is defined nowhere")
        self.written[name] = None  # so that recursion ends
        writer = SyntaxWriter(module, self)
        if isinstance(statement, ast.FunctionDef):
            self.written[name] = writer.function(statement)
        elif isinstance(statement, ast.ClassDef):
            self._classes[name] = (module, statement)
            self.written[name] = self._write_class(module, statement, writer)
        else:
            value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
            self.written[name] = ["value", writer.optional(value)]

    def refer(self, name: str) -> Node:
        """Refer to a definition of the selector, or to something of the standard library by its own name."""
        if name in _NATIVE:
            return ["builtin", _NATIVE[name]]
        if not name.startswith(f"{_PACKAGE}."):
            return ["builtin", name]
        self.add(name)
        return ["global", _shorten(name)]

    def note_attribute(self, name: str) -> None:
        """Remember that some definition reads an attribute, which may be a method."""
        self._attributes.add(name)

    def is_module(self, name: str) -> bool:  # one of `References`
        """Return whether an imported name is a module, and not something in one."""
        try:
            return importlib.util.find_spec(name) is not None
        except ModuleNotFoundError:  # its parent is no package
            return False

    def add_methods(self) -> None:
        """Write those methods that anything reads, until nothing new is reached."""
        reached = -1
        while reached != (reached := len(self._attributes) + len(self.written)):
            for name, (module, statement) in list(self._classes.items()):
                methods = self.written[name][1]["methods"]
                for method in _methods_of(statement):
                    if method.name in self._attributes and method.name not in methods:
                        is_property = any(ast.unparse(mark) == "property" for mark in method.decorator_list)
                        methods[method.name] = [is_property, SyntaxWriter(module, self).function(method)]

    def _write_class(self, module: Module, definition: ast.ClassDef, writer: SyntaxWriter) -> Node:
        """Return a dataclass with its fields, an enumeration of numbers, or an error."""
        bases = [ast.unparse(base) for base in definition.bases]
        content: dict[str, Any] = {"name": definition.name, "methods": {}}
        if bases == ["enum.IntEnum"]:
            members = [entry for entry in definition.body if isinstance(entry, ast.Assign)]
            numbers = {ast.unparse(entry.targets[0]): ast.literal_eval(entry.value) for entry in members}
            return ["enum", content | {"members": numbers}]
        if bases:
            return ["error", content]
        fields = [entry for entry in definition.body if isinstance(entry, ast.AnnAssign)]
        columns = [
            [ast.unparse(entry.target), self._type(module, entry.annotation), writer.optional(entry.value)]
            for entry in fields
        ]
        return ["class", content | {"fields": columns}]

    def _type(self, module: Module, node: ast.expr) -> Any:
        """Return how values of an annotation are read: a scalar, a list, a mapping, a class, or anything."""
        if isinstance(node, ast.BinOp):  # X | None: null is as good as a missing key
            return self._type(module, node.left)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
            first, *_, last = node.slice.elts
            is_list = ast.unparse(node.value) == "tuple"
            return ["list", self._type(module, first)] if is_list else ["mapping", self._type(module, last)]
        name = ast.unparse(node)
        whole = module.imports.get(name, f"{module.name}.{name}")
        if whole.startswith(_PACKAGE) and isinstance(_find(whole)[1], ast.ClassDef):
            self.add(whole)
            return ["class", _shorten(whole)]
        return name if name in _SCALARS else "any"


def _methods_of(statement: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    for entry in statement.body:
        if isinstance(entry, ast.FunctionDef) and not entry.name.startswith("__"):
            yield entry


def _find(name: str) -> tuple[Module, ast.stmt | None]:
    """Return the module of a definition, and its syntax; nothing if the module does not define it."""
    module_name, _, own = name.rpartition(".")
    module = _read_module(module_name)
    return module, module.definitions.get(own)


@cache
def _read_module(name: str) -> Module:
    """Parse a module of the selector."""
    module = Module(name)
    for statement in ast.parse(inspect.getsource(importlib.import_module(name))).body:
        if isinstance(statement, ast.Import):
            module.imports |= {alias.asname or alias.name: alias.name for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom):
            found = {alias.asname or alias.name: f"{statement.module}.{alias.name}" for alias in statement.names}
            module.imports |= found
        elif isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            module.definitions[statement.name] = statement
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            module.definitions[ast.unparse(target)] = statement
    return module
