# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which Python the release pages' picker knows, and what it refuses when the pages are written.

`tests/integration/test_release_pages.py` evaluates the table of cases in a browser, and in Python.
"""

from __future__ import annotations

import ast
import re
import warnings
from pathlib import Path

import pytest

from pjrtwheel.products.index.release_pages.definitions import Definitions
from pjrtwheel.products.index.release_pages.known_python import FUNCTIONS, METHODS, is_known_pattern
from pjrtwheel.products.index.release_pages.syntax import (
    BINARY,
    COMPARE,
    SyntaxWriter,
    UnknownSyntaxError,
)
from python_conformance import CASES, read_case, write_cases

ALL = [source for sources in CASES.values() for source in sources]


def test_the_table_has_every_kind_of_syntax() -> None:
    """Each statement, expression and operator that is written is in a case."""
    used = {type(node) for source in ALL for node in ast.walk(read_case(source))}
    kinds = {name.removeprefix("visit_") for name in vars(SyntaxWriter) if name.startswith("visit_")}
    assert kinds <= {kind.__name__ for kind in used}
    assert {*COMPARE, *BINARY, ast.Not, ast.USub, ast.And, ast.Or} <= used


def test_the_table_has_every_function() -> None:
    """Each that the interpreter declares is called in a case."""
    text = str(write_cases(ALL))
    assert [name for name in FUNCTIONS if f"['builtin', '{name}']" not in text] == []


@pytest.mark.parametrize("kind", METHODS)
def test_the_table_has_every_method(kind: str) -> None:
    """In the cases about its type."""
    nodes = [node for source in CASES[kind] for node in ast.walk(read_case(source))]
    called = {node.func.attr for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)}
    assert METHODS[kind].keys() <= called


DATACLASS = "from dataclasses import dataclass, field\n\n"
METHOD = f"""{DATACLASS}@dataclass(frozen=True)
class A:
    a: int
    @staticmethod
    def b():
        return 1
def f(x):
    return A(1).b()
"""


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("def f(x):\n    while x:\n        continue\n", "line 2: .* does not know While"),
        ("def f(x):\n    return x ** 2\n", "line 2: .* does not know Pow"),
        ("def f(x):\n    return unknown(x)\n", "line 2: .* does not know the name unknown"),
        ("def f(x):\n    return sum(x) + round(x)\n", "line 2: .* does not know the name round"),
        ("import math\ndef f(x):\n    return math.floor(x)\n", "line 3: .* does not know the name math.floor"),
        ("from math import floor\ndef f(x):\n    return floor(x)\n", "line 3: .* does not know the name floor"),
        ("def f(x):\n    return str.upper(x)\n", "line 2: .* does not know the name str.upper"),
        ("def f(x):\n    return x.isidentifier()\n", "line 2: .* does not know the attribute isidentifier"),
        ("def f(x):\n    return x.field\n", "line 2: .* does not know the attribute field"),
        ("def f(x):\n    return x.split(',', 1)\n", "line 2: .* does not know these arguments of split"),
        ("def f(x):\n    return x.split(sep=',')\n", "line 2: .* does not know these arguments of split"),
        ("def f(x):\n    return len(x, x)\n", "line 2: .* does not know these arguments of len"),
        ("def f(x):\n    return sum(x, start=1)\n", "line 2: .* does not know these arguments of sum"),
        ("def f(*x):\n    return x\n", "line 1: .* does not know any number of parameters"),
        ("def f(x):\n    return f(**x)\n", "does not know a call with any number of named arguments"),
        ("def f(x):\n    return f'{x:>5}'\n", "line 2: .* does not know FormattedValue"),
        ("def f(x):\n    return x[::2]\n", "line 2: .* does not know a slice with a step"),
        ("def f(x):\n    return 1.5\n", "line 2: .* does not know the value 1.5"),
        ("def f(x):\n    return 9007199254740992\n", "line 2: .* does not know the value 9007199254740992"),
        ("def f(x):\n    return x is 'a'\n", "line 2: .* does not know the identity of numbers and strings"),
        ("def f(x):\n    raise ValueError from x\n", "line 2: .* does not know Raise"),
        ("def f(x):\n    return lambda: (x := 1)\n", "does not know an assignment expression outside"),
        ("f = [y for x in 'a' if (y := x)]\n", "does not know an assignment expression outside"),
        ("def f(x):\n    x.y = 1\n", "line 2: .* does not know Attribute"),
        ("import re\ndef f(x):\n    return re.sub(r'\\bx', '', x)\n", "line 3: .* does not know all of the pattern"),
        ("import re\ndef f(x):\n    return re.compile(x)\n", "line 3: .* does not know a pattern that is put together"),
        (
            "import re\ndef f(x):\n    return re.sub('(x)', r'\\1', x)\n",
            "line 3: .* does not know a replacement that is no plain text",
        ),
        (
            "def f(x):\n    try:\n        return x\n    except ValueError:\n        return 1\n",
            "line 2: .* does not know Try",
        ),
        ("from functools import cache\n@cache\ndef f(x):\n    return x\n", "line 2: .* a decorator, as of f"),
        (f"{DATACLASS}@dataclass\nclass f:\n    a: int\n", "line 4: .* does not know a class such as f"),
        (f"{DATACLASS}@dataclass(frozen=True, order=True)\nclass f:\n    a: int\n", "line 4: .* a class such as f"),
        (
            f"{DATACLASS}@dataclass(frozen=True)\nclass f:\n    a: int\n    def __post_init__(self):\n        return\n",
            "line 6: .* does not know a class such as f",
        ),
        (f"{DATACLASS}@dataclass(frozen=True)\nclass f:\n    a = 1\n", "line 5: .* does not know a class such as f"),
        ("import enum\nclass f(enum.IntEnum):\n    A = enum.auto()\n", "line 3: .* an enumeration such as f"),
        (
            "class f(ValueError):\n    def __str__(self):\n        return 'a'\n",
            "line 1: .* does not know a class such as f",
        ),
        (
            METHOD,
            "line 7: .* does not know the decorators of b",
        ),
    ],
)
def test_what_the_interpreter_does_not_know_is_named_with_its_place(
    source: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever changes the selector sees it before anybody sees a page."""
    monkeypatch.syspath_prepend(tmp_path)
    name = f"decisions_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(source, "utf-8")
    code = Definitions(name)

    def write() -> None:
        code.add(f"{name}.f")
        code.finish()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        with pytest.raises(UnknownSyntaxError, match=f"^{name}, {what}" if what.startswith("line") else what):
            write()


ODD_PATTERNS = [
    *(r"\bword", r"a(?=b)", "x{,3}", r"(a)\1", "(?P<a>b)", "a{", "]", r"\Z", "(?i)a"),
    *("(?:(a)|b)*", r"(?:(\d)|x)+", "(a*)*", "((a)b){2}"),  # a browser forgets what it found in an earlier round
]


@pytest.mark.parametrize("pattern", ODD_PATTERNS)
def test_a_pattern_that_a_browser_reads_in_another_way_is_refused(pattern: str) -> None:
    """Each is one of Python's."""
    re.compile(pattern)
    assert not is_known_pattern(pattern)
