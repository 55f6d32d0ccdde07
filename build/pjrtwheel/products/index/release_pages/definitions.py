# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The definitions of a Python package that some of them lead to, as data: functions, constants and classes.

What `static/python.js` would not evaluate as Python does is refused here, with its module and line.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from pjrtwheel.products.index.release_pages.known_python import FUNCTIONS, METHODS, PATTERN_FUNCTIONS, Signature
from pjrtwheel.products.index.release_pages.syntax import Module, Node, SyntaxWriter, UnknownSyntaxError, is_docstring

_SCALARS = {"str", "int", "bool"}
_CLASS_OPTIONS = {"frozen", "slots"}
_PROPERTY = "property"


@dataclass(frozen=True, slots=True)
class _Read:
    """An attribute that some definition reads; `call` is there if it is called."""

    module: Module
    node: ast.Attribute
    call: ast.Call | None


class Definitions:
    """The definitions that were reached so far.

    Attributes:
        written: Whole name → definition.
    """

    def __init__(self, package: str, natives: Mapping[str, str] | None = None) -> None:
        """Start with nothing of a package; `natives` are what the script itself has of it: whole name → its name."""
        self.written: dict[str, Any] = {}
        self._package = package
        self._natives = natives or {}
        self._classes: dict[str, tuple[Module, ast.ClassDef]] = {}
        self._reads: list[_Read] = []

    def add(self, name: str) -> None:
        """Write a definition and all that it refers to, but no methods yet.

        Raises:
            UnknownSyntaxError: It is not there, or uses something that the script does not know.
        """
        if name in self.written:
            return
        module, statement = _find(name)
        if statement is None:
            raise UnknownSyntaxError(f"{name} is defined nowhere")
        self.written[name] = None  # so that recursion ends
        if isinstance(statement, ast.FunctionDef):
            self.written[name] = self._write_function(module, statement)
        elif isinstance(statement, ast.ClassDef):
            self.written[name] = self._write_class(name, module, statement)
        else:
            value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
            self.written[name] = ["value", SyntaxWriter(module, self).optional(value)]

    def finish(self) -> dict[str, Any]:
        """Write the methods that anything reads, and return all definitions by their names in the package.

        Raises:
            UnknownSyntaxError: Something is read that nothing has.
        """
        reached = -1
        while reached != (reached := len(self._reads) + len(self.written)):
            read = {entry.node.attr for entry in self._reads}
            for name, (module, statement) in list(self._classes.items()):
                methods = self.written[name][1]["methods"]
                for method in _methods_of(statement):
                    if method.name in read and method.name not in methods:
                        methods[method.name] = self._write_method(module, method)
        self._check_reads()
        return {self.shorten(name): self.written[name] for name in sorted(self.written)}

    def shorten(self, name: str) -> str:
        """Return the name of a definition without that of the package, which all of them are in."""
        return name.removeprefix(f"{self._package}.")

    def refer(self, name: str) -> Node | None:  # these are `References`
        """Return the node for a definition, or for a function of Python; nothing for what the script lacks."""
        if name in self._natives:
            return ["builtin", self._natives[name]]
        if not name.startswith(f"{self._package}."):
            return ["builtin", name] if name in FUNCTIONS else None
        self.add(name)
        return ["global", self.shorten(name)]

    def note_attribute(self, module: Module, node: ast.Attribute, call: ast.Call | None) -> None:
        """Remember that some definition reads an attribute, which may be a method."""
        self._reads.append(_Read(module, node, call))

    def check_call(self, module: Module, name: str, call: ast.Call) -> None:
        """Refuse arguments that the script's function does not take."""
        if name in FUNCTIONS and not _fits(call, [FUNCTIONS[name]]):
            raise module.unknown(call, f"these arguments of {name}")

    def is_module(self, name: str) -> bool:
        """Return whether an imported name is a module, and not something in one."""
        try:
            return importlib.util.find_spec(name) is not None
        except ModuleNotFoundError:  # its parent is no package
            return False

    def takes_pattern(self, name: str) -> bool:
        """Return whether the first argument of a function is a regular expression."""
        return name in PATTERN_FUNCTIONS or name == self._natives.get(f"{self._package}.tables.Form")

    def _check_reads(self) -> None:
        """Refuse attributes that no class here has, and no type of Python."""
        contents = [content for kind, content, *_ in self.written.values() if kind in {"class", "enum"}]
        own = {name for content in contents for name in (*content["methods"], *content.get("members", ()))}
        own |= {name for content in contents for name, *_ in content.get("fields", ())}
        for read in self._reads:
            name = read.node.attr
            signatures = [methods[name] for methods in METHODS.values() if name in methods]
            if name in own:
                continue
            if not signatures:
                raise read.module.unknown(read.node, f"the attribute {name}")
            if read.call and not _fits(read.call, signatures):
                raise read.module.unknown(read.node, f"these arguments of {name}")

    def _write_function(self, module: Module, definition: ast.FunctionDef) -> Node:
        if definition.decorator_list:
            raise module.unknown(definition.decorator_list[0], f"a decorator, as of {definition.name}")
        return SyntaxWriter(module, self).function(definition)

    def _write_method(self, module: Module, definition: ast.FunctionDef) -> Node:
        """Return whether a method is a property, and its function."""
        marks = [ast.unparse(mark) for mark in definition.decorator_list]
        if marks not in ([], [_PROPERTY]):
            raise module.unknown(definition, f"the decorators of {definition.name}")
        return [marks == [_PROPERTY], SyntaxWriter(module, self).function(definition)]

    def _write_class(self, name: str, module: Module, definition: ast.ClassDef) -> Node:
        """Return a dataclass with its fields, an enumeration of numbers, or an error."""
        content: dict[str, Any] = {"name": definition.name, "methods": {}}
        bases = [module.imports.get(base, base) for base in map(ast.unparse, definition.bases)]
        if bases == ["enum.IntEnum"]:
            return ["enum", content | {"members": _members(module, definition)}]
        if definition.bases:
            return self._write_error(module, definition)
        _check_dataclass(module, definition)
        self._classes[name] = (module, definition)
        fields = [entry for entry in definition.body if isinstance(entry, ast.AnnAssign)]
        writer = SyntaxWriter(module, self)
        columns = [
            [ast.unparse(entry.target), self._type(module, entry.annotation), writer.optional(entry.value)]
            for entry in fields
        ]
        return ["class", content | {"fields": columns}]

    def _write_error(self, module: Module, definition: ast.ClassDef) -> Node:
        """Return an error that differs from its base in its name, and in constants that no decision reads."""
        plain = all(is_docstring(entry) or isinstance(entry, ast.Assign) for entry in definition.body)
        if not plain or len(definition.bases) > 1 or definition.decorator_list:
            raise module.unknown(definition, f"a class such as {definition.name}")
        return ["error", definition.name, SyntaxWriter(module, self).optional(definition.bases[0])]

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
        if whole.startswith(f"{self._package}.") and isinstance(_find(whole)[1], ast.ClassDef):
            self.add(whole)
            return ["class", self.shorten(whole)]
        return name if name in _SCALARS else "any"


def _fits(call: ast.Call, signatures: list[Signature]) -> bool:
    """Return whether any of the functions of a name takes the arguments of a call."""
    spread = any(isinstance(entry, ast.Starred) for entry in call.args)
    named = frozenset(word.arg for word in call.keywords if word.arg)
    return any(signature.takes(None if spread else len(call.args), named) for signature in signatures)


def _members(module: Module, definition: ast.ClassDef) -> dict[str, int]:
    """Return the members of an enumeration, each a number that is written out."""
    members: dict[str, int] = {}
    for entry in definition.body:
        match entry:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=int(number))):
                members[name] = number
            case _ if not is_docstring(entry):
                raise module.unknown(entry, f"an enumeration such as {definition.name}")
    return members


def _check_dataclass(module: Module, definition: ast.ClassDef) -> None:
    """Refuse a class that is more than frozen fields and methods, because Python would call or compare it otherwise."""
    match definition.decorator_list:
        case [ast.Call(func=ast.Name(id=name), args=[], keywords=options)] if (
            module.imports.get(name) == "dataclasses.dataclass"
        ):
            given = {word.arg: ast.unparse(word.value) for word in options}
        case _:
            given = {}
    special = [entry for entry in definition.body if isinstance(entry, ast.FunctionDef) and _is_special(entry.name)]
    allowed = (ast.AnnAssign, ast.FunctionDef)
    odd = [entry for entry in definition.body if not isinstance(entry, allowed) and not is_docstring(entry)]
    odd += [e for e in definition.body if isinstance(e, ast.AnnAssign) and "ClassVar" in ast.unparse(e.annotation)]
    if given.get("frozen") != "True" or not given.keys() <= _CLASS_OPTIONS or special or odd:
        raise module.unknown(next(iter([*special, *odd]), definition), f"a class such as {definition.name}")


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _methods_of(statement: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    yield from (entry for entry in statement.body if isinstance(entry, ast.FunctionDef))


def _find(name: str) -> tuple[Module, ast.stmt | None]:
    """Return the module of a definition, and its syntax; nothing if the module does not define it."""
    module_name, _, own = name.rpartition(".")
    module = read_module(module_name)
    return module, module.definitions.get(own)


@cache
def read_module(name: str) -> Module:
    """Parse a module that can be imported."""
    module = Module(name)
    for statement in ast.parse(inspect.getsource(importlib.import_module(name))).body:
        if isinstance(statement, ast.Import):
            module.imports |= {alias.asname or alias.name: alias.name for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom):
            found = {alias.asname or alias.name: f"{statement.module}.{alias.name}" for alias in statement.names}
            module.imports |= found
        elif isinstance(statement, ast.FunctionDef | ast.ClassDef):
            module.definitions[statement.name] = statement
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            module.definitions[ast.unparse(target)] = statement
    return module
