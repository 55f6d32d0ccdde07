# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Python's syntax as nested lists, which `static/about.js` evaluates: an operation, then its operands.

Only what the selector's decision functions use is known; anything else is an error that names the place.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

Node = list[Any]

_COMPARE = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.BitOr: "|", ast.BitAnd: "&"}


class UnknownSyntaxError(Exception):
    """A decision function uses something that the picker's script does not know."""


@dataclass(slots=True)
class Module:
    """One module of the selector: its definitions, and what its imports stand for."""

    name: str
    definitions: dict[str, ast.stmt] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)


class References(Protocol):
    """What notes the definitions that others refer to."""

    def refer(self, name: str) -> Node:
        """Return the node for a definition, by its whole name."""

    def note_attribute(self, name: str) -> None:
        """Remember that an attribute is read, which may be a method."""

    def is_module(self, name: str) -> bool:
        """Return whether an imported name is a module, and not something in one."""


class SyntaxWriter(ast.NodeVisitor):
    """Turns the syntax of one definition into nodes; `visit` takes expressions and statements alike."""

    def __init__(self, module: Module, references: References) -> None:
        """Start in a module, without any local name."""
        self._module = module
        self._references = references
        self._bound: set[str] = set()

    def function(self, definition: ast.FunctionDef) -> Node:
        """Return parameters with their defaults, and the body without its docstring."""
        self._bound |= {node.arg for node in ast.walk(definition) if isinstance(node, ast.arg)}
        self._bound |= {node.id for node in ast.walk(definition) if isinstance(node, ast.Name) and _is_stored(node)}
        return ["function", self._parameters(definition.args), self._block(definition.body)]

    def optional(self, node: ast.expr | None) -> Node | None:
        """Return the node of an expression that may be missing."""
        return None if node is None else self._node(node)

    def unknown(self, node: ast.AST, what: str = "") -> UnknownSyntaxError:
        """Return the error about something that the script does not know."""
        place = f"{self._module.name}, line {getattr(node, 'lineno', '?')}"
        return UnknownSyntaxError(f"{place}: the release pages' picker does not know {what or type(node).__name__}")

    def generic_visit(self, node: ast.AST) -> Node:
        """Refuse what none of the methods below is for."""
        raise self.unknown(node)

    def _node(self, node: ast.AST) -> Node:
        written: Node = self.visit(node)
        return written

    def _nodes(self, nodes: Iterable[ast.AST]) -> list[Node]:
        return [self._node(node) for node in nodes]

    def _block(self, statements: Iterable[ast.stmt]) -> list[Node]:
        return self._nodes(entry for entry in statements if not _is_docstring(entry))

    def _parameters(self, arguments: ast.arguments) -> list[Node]:
        if arguments.vararg or arguments.kwarg:
            raise self.unknown(arguments, "a function with any number of arguments")
        plain = [*arguments.posonlyargs, *arguments.args]
        padding: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults))
        defaults = [*padding, *arguments.defaults, *arguments.kw_defaults]
        named = [*plain, *arguments.kwonlyargs]
        return [[entry.arg, self.optional(default)] for entry, default in zip(named, defaults, strict=True)]

    # Statements

    def visit_Return(self, node: ast.Return) -> Node:
        return ["return", self.optional(node.value)]

    def visit_Assign(self, node: ast.Assign) -> Node:
        if len(node.targets) > 1:
            raise self.unknown(node, "an assignment to several targets")
        return ["assign", self._target(node.targets[0]), self._node(node.value)]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Node:
        if node.value is None:
            raise self.unknown(node, "a declaration without a value")
        return ["assign", self._target(node.target), self._node(node.value)]

    def visit_AugAssign(self, node: ast.AugAssign) -> Node:
        target = self._target(node.target)
        if target[0] != "name" or type(node.op) not in _BINARY:
            raise self.unknown(node)
        return ["assign", target, ["binary", _BINARY[type(node.op)], target, self._node(node.value)]]

    def visit_If(self, node: ast.If) -> Node:
        return ["if", self._node(node.test), self._block(node.body), self._block(node.orelse)]

    def visit_For(self, node: ast.For) -> Node:
        if node.orelse:
            raise self.unknown(node, "a loop with else")
        return ["for", self._target(node.target), self._node(node.iter), self._block(node.body)]

    def visit_Continue(self, node: ast.Continue) -> Node:  # noqa: ARG002
        return ["continue"]

    def visit_Raise(self, node: ast.Raise) -> Node:
        if node.exc is None:
            raise self.unknown(node)
        return ["raise", self._node(node.exc)]

    def visit_Expr(self, node: ast.Expr) -> Node:
        return ["do", self._node(node.value)]

    def _target(self, node: ast.expr) -> Node:
        match node:
            case ast.Name():
                return ["name", node.id]
            case ast.Tuple():
                return ["sequence", [self._target(entry) for entry in node.elts]]
            case ast.Starred():
                return ["rest", self._target(node.value)]
            case ast.Subscript():
                return ["item", self._node(node.value), self._node(node.slice)]
        raise self.unknown(node)

    # Expressions

    def visit_Constant(self, node: ast.Constant) -> Node:
        if not isinstance(node.value, str | int | None):
            raise self.unknown(node, f"the value {node.value!r}")
        return ["constant", node.value]

    def visit_Name(self, node: ast.Name) -> Node:
        if node.id in self._bound:
            return ["name", node.id]
        if node.id in self._module.definitions:
            return self._references.refer(f"{self._module.name}.{node.id}")
        if node.id in self._module.imports:
            return self._references.refer(self._module.imports[node.id])
        if not hasattr(builtins, node.id):
            raise self.unknown(node, f"the name {node.id}")
        return ["builtin", node.id]

    def visit_Attribute(self, node: ast.Attribute) -> Node:
        owner = node.value
        if isinstance(owner, ast.Name) and owner.id not in self._bound:
            imported = self._module.imports.get(owner.id, "")
            if imported and self._references.is_module(imported):
                return self._references.refer(f"{imported}.{node.attr}")
        self._references.note_attribute(node.attr)
        return ["attribute", self._node(owner), node.attr]

    def visit_Call(self, node: ast.Call) -> Node:
        named = {word.arg: self._node(word.value) for word in node.keywords if word.arg}
        if len(named) < len(node.keywords):
            raise self.unknown(node, "a call with any number of named arguments")
        return ["call", self._node(node.func), self._nodes(node.args), named]

    def visit_Starred(self, node: ast.Starred) -> Node:
        return ["spread", self._node(node.value)]

    def visit_BinOp(self, node: ast.BinOp) -> Node:
        if type(node.op) not in _BINARY:
            raise self.unknown(node, type(node.op).__name__)
        return ["binary", _BINARY[type(node.op)], self._node(node.left), self._node(node.right)]

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Node:
        if isinstance(node.op, ast.Not):
            return ["not", self._node(node.operand)]
        if isinstance(node.op, ast.USub):
            return ["binary", "-", ["constant", 0], self._node(node.operand)]
        raise self.unknown(node, type(node.op).__name__)

    def visit_BoolOp(self, node: ast.BoolOp) -> Node:
        return ["and" if isinstance(node.op, ast.And) else "or", self._nodes(node.values)]

    def visit_Compare(self, node: ast.Compare) -> Node:
        others = zip(node.ops, node.comparators, strict=True)
        return ["compare", self._node(node.left), [[_COMPARE[type(sign)], self._node(other)] for sign, other in others]]

    def visit_IfExp(self, node: ast.IfExp) -> Node:
        return ["choose", self._node(node.test), self._node(node.body), self._node(node.orelse)]

    def visit_Tuple(self, node: ast.Tuple) -> Node:
        return ["sequence", self._nodes(node.elts)]

    def visit_List(self, node: ast.List) -> Node:
        return ["sequence", self._nodes(node.elts)]

    def visit_Set(self, node: ast.Set) -> Node:
        return ["set", self._nodes(node.elts)]

    def visit_Dict(self, node: ast.Dict) -> Node:
        pairs = zip(node.keys, node.values, strict=True)
        return ["dict", [[self.optional(key), self._node(value)] for key, value in pairs]]

    def visit_Subscript(self, node: ast.Subscript) -> Node:
        if not isinstance(node.slice, ast.Slice):
            return ["item", self._node(node.value), self._node(node.slice)]
        if node.slice.step is not None:
            raise self.unknown(node, "a slice with a step")
        return ["slice", self._node(node.value), self.optional(node.slice.lower), self.optional(node.slice.upper)]

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Node:
        return ["text", self._nodes(node.values)]

    def visit_FormattedValue(self, node: ast.FormattedValue) -> Node:
        if node.format_spec is not None or node.conversion not in {-1, ord("r")}:
            raise self.unknown(node)
        return ["repr" if node.conversion == ord("r") else "str", self._node(node.value)]

    def visit_ListComp(self, node: ast.ListComp | ast.GeneratorExp) -> Node:
        loops = self._loops(node.generators)
        return ["collect", "sequence", [self._node(node.elt)], loops]

    visit_GeneratorExp = visit_ListComp  # noqa: N815

    def visit_SetComp(self, node: ast.SetComp) -> Node:
        loops = self._loops(node.generators)
        return ["collect", "set", [self._node(node.elt)], loops]

    def visit_DictComp(self, node: ast.DictComp) -> Node:
        loops = self._loops(node.generators)
        return ["collect", "dict", [self._node(node.key), self._node(node.value)], loops]

    def _loops(self, generators: Iterable[ast.comprehension]) -> list[Node]:
        """Return the loops of a comprehension; their names are local, also in the constant of a module."""
        loops = list(generators)
        names = (node for loop in loops for node in ast.walk(loop.target))
        self._bound |= {node.id for node in names if isinstance(node, ast.Name)}
        return [[self._target(loop.target), self._node(loop.iter), self._nodes(loop.ifs)] for loop in loops]

    def visit_Lambda(self, node: ast.Lambda) -> Node:
        self._bound |= {entry.arg for entry in node.args.args}
        return ["lambda", ["function", self._parameters(node.args), [["return", self._node(node.body)]]]]

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Node:
        return ["walrus", node.target.id, self._node(node.value)]


def _is_stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
