# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Python's syntax as nested lists, which `static/python.js` evaluates: an operation, then its operands.

Only what the selector's decision functions use is known; anything else is an error that names the place.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from pjrtwheel.products.index.release_pages.known_python import LARGEST, is_known_pattern

Node = list[Any]

COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.BitOr: "|", ast.BitAnd: "&",
}  # fmt: skip


class UnknownSyntaxError(Exception):
    """A decision function uses something that the picker's script does not know."""


@dataclass(slots=True)
class Module:
    """One module: its definitions, and what its imports stand for."""

    name: str
    definitions: dict[str, ast.stmt] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)

    def unknown(self, node: ast.AST, what: str = "") -> UnknownSyntaxError:
        """Return the error about something in this module that the script does not know."""
        place = f"{self.name}, line {getattr(node, 'lineno', '?')}"
        return UnknownSyntaxError(f"{place}: the release pages' picker does not know {what or type(node).__name__}")


class References(Protocol):
    """What notes the definitions that others refer to."""

    def refer(self, name: str) -> Node | None:
        """Return the node for a definition or for a function of Python, by its whole name; nothing for others."""

    def note_attribute(self, module: Module, node: ast.Attribute, call: ast.Call | None) -> None:
        """Remember that an attribute is read, which may be a method, and how it is called."""

    def check_call(self, module: Module, name: str, call: ast.Call) -> None:
        """Raise an `UnknownSyntaxError` if a function of Python does not take such arguments."""

    def is_module(self, name: str) -> bool:
        """Return whether an imported name is a module, and not something in one."""

    def takes_pattern(self, name: str) -> bool:
        """Return whether the first argument of a function of Python is a regular expression."""


class SyntaxWriter(ast.NodeVisitor):
    """Turns the syntax of one definition into nodes; `visit` takes expressions and statements alike."""

    def __init__(self, module: Module, references: References) -> None:
        """Start in a module, without any local name."""
        self._module = module
        self._references = references
        self._locals: set[str] = set()  # of the function that is being written
        self._inner: list[set[str]] = []  # of comprehensions and lambdas in it
        self._lambdas = 0

    def function(self, definition: ast.FunctionDef) -> Node:
        """Return parameters with their defaults, and the body without its docstring."""
        arguments = definition.args
        parameters = self._parameters(arguments)
        self._locals = {entry.arg for entry in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
        for statement in definition.body:
            self._locals |= set(_stored_names(statement))
        return ["function", parameters, self._block(definition.body)]

    def optional(self, node: ast.expr | None) -> Node | None:
        """Return the node of an expression that may be missing."""
        return None if node is None else self._node(node)

    def generic_visit(self, node: ast.AST) -> Node:
        """Refuse what none of the methods below is for."""
        raise self._unknown(node)

    def _unknown(self, node: ast.AST, what: str = "") -> UnknownSyntaxError:
        return self._module.unknown(node, what)

    def _node(self, node: ast.AST) -> Node:
        written: Node = self.visit(node)
        return written

    def _nodes(self, nodes: Iterable[ast.AST]) -> list[Node]:
        return [self._node(node) for node in nodes]

    def _block(self, statements: Iterable[ast.stmt]) -> list[Node]:
        return self._nodes(entry for entry in statements if not is_docstring(entry))

    def _parameters(self, arguments: ast.arguments) -> list[Node]:
        """Return each parameter with its default, and whether it is given by position, by name, or by either."""
        if arguments.vararg or arguments.kwarg:
            raise self._unknown(arguments.vararg or arguments.kwarg or arguments, "any number of parameters")
        plain = [*arguments.posonlyargs, *arguments.args]
        padding: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults))
        defaults = [*padding, *arguments.defaults, *arguments.kw_defaults]
        named = [*plain, *arguments.kwonlyargs]
        kinds = ["position"] * len(arguments.posonlyargs) + ["either"] * len(arguments.args)
        kinds += ["name"] * len(arguments.kwonlyargs)
        return [
            [entry.arg, self.optional(default), kind]
            for entry, default, kind in zip(named, defaults, kinds, strict=True)
        ]

    # Statements

    def visit_Return(self, node: ast.Return) -> Node:
        return ["return", self.optional(node.value)]

    def visit_Assign(self, node: ast.Assign) -> Node:
        if len(node.targets) > 1:
            raise self._unknown(node, "an assignment to several targets")
        return ["assign", self._target(node.targets[0]), self._node(node.value)]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Node:
        if node.value is None:
            raise self._unknown(node, "a declaration without a value")
        return ["assign", self._target(node.target), self._node(node.value)]

    def visit_AugAssign(self, node: ast.AugAssign) -> Node:
        if not isinstance(node.target, ast.Name) or type(node.op) not in BINARY:
            raise self._unknown(node)
        return ["augment", node.target.id, BINARY[type(node.op)], self._node(node.value)]

    def visit_If(self, node: ast.If) -> Node:
        return ["if", self._node(node.test), self._block(node.body), self._block(node.orelse)]

    def visit_For(self, node: ast.For) -> Node:
        if node.orelse:
            raise self._unknown(node, "a loop with else")
        return ["for", self._target(node.target), self._node(node.iter), self._block(node.body)]

    def visit_Continue(self, node: ast.Continue) -> Node:  # noqa: ARG002
        return ["continue"]

    def visit_Raise(self, node: ast.Raise) -> Node:
        if node.exc is None or node.cause is not None:
            raise self._unknown(node)
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
        raise self._unknown(node)

    # Expressions

    def visit_Constant(self, node: ast.Constant) -> Node:
        value = node.value
        if not isinstance(value, str | int | None) or (isinstance(value, int) and value > LARGEST):
            raise self._unknown(node, f"the value {value!r}")
        return ["constant", value]

    def visit_Name(self, node: ast.Name) -> Node:
        if node.id in self._locals or any(node.id in names for names in self._inner):
            return ["name", node.id]
        found: Node | None = None
        if node.id in self._module.definitions:
            found = self._references.refer(f"{self._module.name}.{node.id}")
        elif node.id in self._module.imports:
            found = self._references.refer(self._module.imports[node.id])
        elif hasattr(builtins, node.id):
            found = self._references.refer(node.id)
        if found is None:
            raise self._unknown(node, f"the name {node.id}")
        return found

    def visit_Attribute(self, node: ast.Attribute) -> Node:
        return self._attribute(node, None)

    def _attribute(self, node: ast.Attribute, call: ast.Call | None) -> Node:
        """Return an attribute that is read, perhaps because it is called."""
        if whole := self._whole_name(node):
            found = self._references.refer(whole)
            if found is None:
                raise self._unknown(node, f"the name {whole}")
            return found
        self._references.note_attribute(self._module, node, call)
        return ["attribute", self._node(node.value), node.attr]

    def _whole_name(self, node: ast.Attribute) -> str:
        """Return the name of something in a module, or in a type of Python such as `str.lower`; empty for others."""
        owner = node.value
        if not isinstance(owner, ast.Name) or owner.id in self._locals or any(owner.id in n for n in self._inner):
            return ""
        if owner.id in self._module.definitions:
            return ""
        imported = self._module.imports.get(owner.id, "")
        if imported:
            return f"{imported}.{node.attr}" if self._references.is_module(imported) else ""
        return f"{owner.id}.{node.attr}" if isinstance(getattr(builtins, owner.id, None), type) else ""

    def visit_Call(self, node: ast.Call) -> Node:
        named = {word.arg: self._node(word.value) for word in node.keywords if word.arg}
        if len(named) < len(node.keywords):
            raise self._unknown(node, "a call with any number of named arguments")
        function = self._attribute(node.func, node) if isinstance(node.func, ast.Attribute) else self._node(node.func)
        if function[0] == "builtin":
            self._references.check_call(self._module, function[1], node)
            if self._references.takes_pattern(function[1]):
                self._check_pattern(function[1], node)
        return ["call", function, self._nodes(node.args), named]

    def _check_pattern(self, name: str, node: ast.Call) -> None:
        """Refuse a regular expression that a browser would read in another way."""
        texts = [entry.value if isinstance(entry, ast.Constant) else None for entry in node.args]
        if isinstance(texts[0], str) and not is_known_pattern(texts[0]):
            raise self._unknown(node, f"all of the pattern {texts[0]!r}")
        if name == "re.sub" and (not isinstance(texts[1], str) or "\\" in texts[1]):
            raise self._unknown(node, "a replacement that is no plain text")
        if name.startswith("re.") and not isinstance(texts[0], str):
            raise self._unknown(node, "a pattern that is put together")

    def visit_Starred(self, node: ast.Starred) -> Node:
        return ["spread", self._node(node.value)]

    def visit_BinOp(self, node: ast.BinOp) -> Node:
        if type(node.op) not in BINARY:
            raise self._unknown(node, type(node.op).__name__)
        return ["binary", BINARY[type(node.op)], self._node(node.left), self._node(node.right)]

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Node:
        if isinstance(node.op, ast.Not):
            return ["not", self._node(node.operand)]
        if isinstance(node.op, ast.USub):
            return ["binary", "-", ["constant", 0], self._node(node.operand)]
        raise self._unknown(node, type(node.op).__name__)

    def visit_BoolOp(self, node: ast.BoolOp) -> Node:
        return ["and" if isinstance(node.op, ast.And) else "or", self._nodes(node.values)]

    def visit_Compare(self, node: ast.Compare) -> Node:
        others = list(zip(node.ops, node.comparators, strict=True))
        if any(isinstance(sign, ast.Is | ast.IsNot) for sign in node.ops):
            constants = [entry for entry in (node.left, *node.comparators) if isinstance(entry, ast.Constant)]
            if any(not (entry.value is None or isinstance(entry.value, bool)) for entry in constants):
                raise self._unknown(node, "the identity of numbers and strings")
        return ["compare", self._node(node.left), [[COMPARE[type(sign)], self._node(other)] for sign, other in others]]

    def visit_IfExp(self, node: ast.IfExp) -> Node:
        return ["choose", self._node(node.test), self._node(node.body), self._node(node.orelse)]

    def visit_Tuple(self, node: ast.Tuple) -> Node:
        return ["tuple", self._nodes(node.elts)]

    def visit_List(self, node: ast.List) -> Node:
        return ["list", self._nodes(node.elts)]

    def visit_Set(self, node: ast.Set) -> Node:
        return ["set", self._nodes(node.elts)]

    def visit_Dict(self, node: ast.Dict) -> Node:
        pairs = zip(node.keys, node.values, strict=True)
        return ["dict", [[self.optional(key), self._node(value)] for key, value in pairs]]

    def visit_Subscript(self, node: ast.Subscript) -> Node:
        if not isinstance(node.slice, ast.Slice):
            return ["item", self._node(node.value), self._node(node.slice)]
        if node.slice.step is not None:
            raise self._unknown(node, "a slice with a step")
        return ["slice", self._node(node.value), self.optional(node.slice.lower), self.optional(node.slice.upper)]

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Node:
        return ["text", self._nodes(node.values)]

    def visit_FormattedValue(self, node: ast.FormattedValue) -> Node:
        if node.format_spec is not None or node.conversion not in {-1, ord("r")}:
            raise self._unknown(node)
        return ["show", node.conversion == ord("r"), self._node(node.value)]

    def visit_ListComp(self, node: ast.ListComp) -> Node:
        return self._collect("list", [node.elt], node.generators)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> Node:
        return self._collect("iterator", [node.elt], node.generators)

    def visit_SetComp(self, node: ast.SetComp) -> Node:
        return self._collect("set", [node.elt], node.generators)

    def visit_DictComp(self, node: ast.DictComp) -> Node:
        return self._collect("dict", [node.key, node.value], node.generators)

    def _collect(self, kind: str, elements: list[ast.expr], generators: list[ast.comprehension]) -> Node:
        """Return a comprehension; its names are local, but the first thing that it goes through is outside of it."""
        if any(loop.is_async for loop in generators):
            raise self._unknown(elements[0], "an asynchronous loop")
        first = self._node(generators[0].iter)
        self._inner.append({name for loop in generators for name in _stored_names(loop.target)})
        values = [first, *(self._node(loop.iter) for loop in generators[1:])]
        loops = [
            [self._target(loop.target), value, self._nodes(loop.ifs)]
            for loop, value in zip(generators, values, strict=True)
        ]
        written = ["collect", kind, self._nodes(elements), loops]
        self._inner.pop()
        return written

    def visit_Lambda(self, node: ast.Lambda) -> Node:
        parameters = self._parameters(node.args)
        self._inner.append({name for name, *_ in parameters})
        self._lambdas += 1
        written = ["lambda", ["function", parameters, [["return", self._node(node.body)]]]]
        self._lambdas -= 1
        self._inner.pop()
        return written

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Node:
        if self._lambdas or node.target.id not in self._locals:
            raise self._unknown(node, "an assignment expression outside of a function's own body")
        return ["walrus", node.target.id, self._node(node.value)]


def _stored_names(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement binds in its function: not those of comprehensions, nor those in a lambda."""
    if isinstance(node, ast.Lambda):
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    own = node.target if isinstance(node, ast.comprehension) else None
    for child in ast.iter_child_nodes(node):
        if child is not own:
            yield from _stored_names(child)


def is_docstring(node: ast.stmt) -> bool:
    """Return whether a statement is a constant that nothing uses."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
