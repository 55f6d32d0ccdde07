# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Python that the release pages' interpreter must evaluate as Python does: definitions, and cases that use them.

A case is an expression, or the body of a function. Of both languages, the value counts, or the name of the error.
"""

from __future__ import annotations

import ast
import collections
import enum
import operator
import re
import textwrap
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from pjrtwheel.products.index.release_pages.definitions import Definitions, read_module
from pjrtwheel.products.index.release_pages.syntax import Node, SyntaxWriter

__all__ = ["collections", "operator", "re", "replace"]  # what cases use


class Size(enum.IntEnum):
    """An enumeration."""

    SMALL = 1
    LARGE = 3


class OddError(ValueError):
    """An error of our own."""

    exit_code = 2


@dataclass(frozen=True)
class Bead:
    """A value with a field of each kind."""

    color: str
    size: Size = Size.SMALL
    holes: tuple[int, ...] = (1,)
    notes: Mapping[str, str] = field(default_factory=dict)
    weight: int = field(default=7)

    @property
    def name(self) -> str:
        """A property."""
        return f"{self.color} {self.total()}"

    def total(self, more: int = 0) -> int:
        """Return a method's value."""
        return sum(self.holes) + more


@dataclass(frozen=True, slots=True)
class Box:
    """Another class with equal fields."""

    color: str


NAMED = {"a": 1, "constructor": 2}
_VERSION = re.compile(r"(\d+)\.(\d+)?")
_LINE = re.compile(r"a.b$")
_WORD = re.compile(r"[\w-]+\s[^\d\s]{2,}")


def add(first: int, second: int = 10, *, third: int = 100) -> int:
    """Take arguments by position and by name."""
    return first + second + third


def first_only(value: int, /) -> int:
    """Take an argument by position only."""
    return value


def nothing() -> None:
    """Return without a value."""
    return


def recurse(depth: int) -> int:
    """Call itself."""
    return 0 if depth <= 0 else 1 + recurse(depth - 1)


CASES: dict[str, tuple[str, ...]] = {
    "constants and names": (
        "None",
        "True",
        "12",
        "'text'",
        "'\\U0001f600'",
        "NAMED['a']",
        "Size.LARGE",
        "Size.LARGE == 3",
        "Size(3)",
        "Size(2)",
        "-Size.LARGE",
        "-5",
        "-True",
        "-'a'",
        "value = 1\nreturn value",
        "if False:\n    value = 1\nreturn value",
        "value: int = 5\nreturn value",
        "return",
        "'a docstring'\nnothing()\nreturn nothing()",
    ),
    "comparisons": (
        "1 == True",
        "1 == '1'",
        "'' == 0",
        "None == 0",
        "[1] == [1]",
        "[1] == (1,)",
        "(1, 2) != (1, 2)",
        "{1} == {1}",
        "{1} == frozenset({1})",
        "{'a': 1} == {'a': True}",
        "{'a': 1, 'b': 2} == {'b': 2, 'a': 1}",
        "{'a': 1} == {'a': 2}",
        "range(2) == range(2)",
        "range(2) == [0, 1]",
        "Bead('a') == Bead('a')",
        "Bead('a') == Bead('b')",
        "Bead('a') == Box('a')",
        "1 < 2 < 3",
        "1 < 3 < 2",
        "3 > 2 >= 2",
        "(1, 2) < (1, 2, 0)",
        "[2] <= [1, 5]",
        "'a' < 'b'",
        "'\\ue000' < '\\U0001f600'",
        "'Z' < 'a'",
        "(1, 'a') < (1, 2)",
        "1 < 'a'",
        "None < 1",
        "[1] < (1,)",
        "{1} < {1, 2}",
        "{1} <= {1}",
        "{1, 2} > {1}",
        "{1} >= {2}",
        "NAMED.keys() == {'a', 'constructor'}",
        "Bead('a') < Bead('b')",
        "True > False",
        "None is None",
        "len([]) is None",
        "False is False",
        "len([]) is not None",
        "value = [1]\nother = [1]\nreturn value is other",
        "value = [1]\nother = value\nreturn value is other",
        "'b' in 'abc'",
        "'' in 'abc'",
        "1 in 'abc'",
        "2 in [1, 2]",
        "True in (1,)",
        "'a' in NAMED",
        "'b' not in NAMED",
        "'toString' in NAMED",
        "[] in NAMED",
        "[] in {1}",
        "() in [()]",
        "(1, 2) in {(1, 2)}",
        "2 in range(3)",
        "1 in NAMED.values()",
        "('a', 1) in NAMED.items()",
        "'a' in NAMED.keys()",
        "1 in 5",
        "1 in None",
        "values = iter([1, 2, 3])\nreturn (2 in values, list(values))",
        "1 == nothing() or 2",
    ),
    "operators": (
        "1 + 2",
        "True + True",
        "'a' + 'b'",
        "[1] + [2]",
        "(1,) + (2,)",
        "[1] + (2,)",
        "'a' + 1",
        "1 + None",
        "3 - 5",
        "{1, 2} - {2}",
        "[1] - [1]",
        "{'a': 1}.keys() - {'a'}",
        "2 * 3",
        "0 * -1",
        "'ab' * 2",
        "2 * [1]",
        "(0,) * -1",
        "'a' * 'b'",
        "[[1]] * 2",
        "{1} | {2}",
        "{'a': 1} | {'a': 2, 'b': 3}",
        "frozenset({1}) | {2}",
        "5 | 2",
        "True | False",
        "6 & 3",
        "{1, 2} & {2}",
        "True & False",
        "[1] & [1]",
        "{1} | [2]",
        "not []",
        "not [0]",
        "not ''",
        "not 0",
        "not None",
        "not {}",
        "not range(0)",
        "not NAMED.keys()",
        "not Bead('a')",
        "not iter([])",
        "not frozenset()",
        "1 and 0 and 2",
        "'' or [] or 'x' or 1 + 'a'",
        "0 or None",
        "None and 1 + 'a'",
        "1 if [] else 2",
        "1 if 'a' else 1 + 'a'",
        "value = [1]\nother = value\nvalue += (2,)\nreturn other",
        "value = (1,)\nother = value\nvalue += (2,)\nreturn other",
        "value = {1}\nother = value\nvalue |= {2}\nreturn other",
        "value = {'a': 1}\nother = value\nvalue |= {'b': 2}\nreturn other",
        "value = [1]\nother = value\nvalue *= 2\nreturn other",
        "value = 5\nvalue -= 7\nreturn value",
        "value += 1\nreturn value",
        "value = {1, 2}\nother = value\nvalue -= {1}\nreturn other",
        "value = 'a'\nvalue += 'b'\nreturn value",
        "value = [1]\nvalue += 5\nreturn value",
        "value = frozenset({1})\nother = value\nvalue |= {2}\nreturn other",
    ),
    "containers": (
        "[1, (2, [3])]",
        "(1,)",
        "()",
        "[*range(3), *'ab', *NAMED]",
        "{1, True, 1}",
        "{*[1, 2], 2}",
        "[*5]",
        "{1: 'a', True: 'b'}",
        "{**NAMED, 'a': 5}",
        "{**[1]}",
        "{(1, 2): [3]}",
        "{[1]: 2}",
        "{{1}: 2}",
        "{frozenset({1}): 2}",
        "{Bead('a', notes=()): 1}",
        "{Bead('a'): 1}",
        "{Box('a'): 1}[Box('a')]",
        "{None: 1, 'None': 2}",
        "{'1': 1, 1: 2}",
        "{(1, '2'): 1, ('1', 2): 2}",
        "[1, 2][0]",
        "[1, 2][-1]",
        "[1, 2][2]",
        "[1, 2][-3]",
        "[1]['0']",
        "[1][True]",
        "(1, 2)[1]",
        "'a\\U0001f600b'[1]",
        "'abc'[-1]",
        "''[0]",
        "NAMED['b']",
        "NAMED['toString']",
        "NAMED[[]]",
        "range(5)[2]",
        "{1}[0]",
        "None[0]",
        "[1, 2, 3][1:]",
        "(1, 2, 3)[:-1]",
        "'a\\U0001f600b'[1:2]",
        "[1, 2][5:]",
        "[1, 2, 3][:]",
        "[1, 2, 3][-2:None]",
        "'abc'['a':]",
        "NAMED[1:]",
        "[1, 2, 3][2:1]",
        "[1, 2, 3][True:]",
    ),
    "assignments": (
        "a, b = 1, 2\nreturn [b, a]",
        "a, (b, *c) = 1, (2, 3, 4)\nreturn [a, b, c]",
        "*a, b = 'xyz'\nreturn [a, b]",
        "a, b = 1, 2, 3\nreturn a",
        "a, b = [1]\nreturn a",
        "a, *b = ()\nreturn a",
        "a, *b, c = [1, 2]\nreturn b",
        "a, b = 5\nreturn a",
        "a, b = {'x': 1, 'y': 2}\nreturn a + b",
        "values = {}\nvalues['a'] = 1\nreturn values",
        "values = [1, 2]\nvalues[-1] = 5\nreturn values",
        "values = [1]\nvalues[1] = 5\nreturn values",
        "values = (1,)\nvalues[0] = 5\nreturn values",
        "values = 'a'\nvalues[0] = 'b'\nreturn values",
        "values = {}\nvalues[[]] = 1\nreturn values",
        "values = {1: 'a'}\nvalues[True] = 'b'\nreturn values",
        "if (found := 5) > 3:\n    return found\nreturn 0",
        "if any((last := value) > 1 for value in [1, 2, 3]):\n    return last\nreturn 0",
        "values = [last := value for value in 'ab']\nreturn [values, last]",
    ),
    "loops": (
        "total = 0\nfor value in [1, 2, 3]:\n    if value == 2:\n        continue\n    total += value\nreturn total",
        "for a, (b, c) in [(1, (2, 3))]:\n    return c\nreturn 0",
        "for value in 5:\n    return value",
        "for value in []:\n    pass_ = value\nreturn value",
        "for value in [1, 2]:\n    other = value\nreturn [value, other]",
        "for a in [1, 2, 3]:\n  for b in 'ab':\n    if b == 'b' and a == 2:\n      return [a, b]\nreturn 0",
        "for value in [1]:\n    return None\nreturn 5",
        "values = [1]\nfor value in values:\n    if value < 4:\n        values.append(value + 1)\nreturn values",
        "values = {'a': 1}\nfor value in values:\n    values['b'] = 2\nreturn values",
        "values = {1}\nfor value in values:\n    values.add(2)\nreturn values",
        "values = {'a': 1}\nfor value in values:\n    values['a'] = 2\nreturn values",
        "if 0:\n    return 1\nelif 1:\n    return 2\nelse:\n    return 3",
        "found = []\nfor sign in 'a\\U0001f600':\n    found += [sign]\nreturn found",
    ),
    "comprehensions": (
        "[value * 2 for value in range(4) if value if value != 2]",
        "[(a, b) for a in 'ab' for b in range(2)]",
        "[b for a in [[1], [2, 3]] for b in a]",
        "{value for value in 'aab'}",
        "{a: b for a, b in [('x', 1), ('x', 2)]}",
        "{value: value for value in [[1]]}",
        "{[1] for a in 'a'}",
        "list(value for value in [1, 2])",
        "value = 5\nfound = [value for value in 'ab']\nreturn [value, found]",
        "NAMED = [1]\nreturn [NAMED for NAMED in NAMED]",
        "[NAMED for NAMED in 'a'] + [NAMED['a']]",
        "list(map(str, [len for len in (1, 2)])) + [len('abc')]",
        "values = (1 + 'a' for a in [1])\nreturn 5",
        "values = (a for a in 5)\nreturn 5",
        "values = (a for a in [1, 2])\nreturn [next(values), list(values), list(values)]",
        "[call() for call in [lambda: value for value in range(3)]]",
        "[call() for call in [lambda value=value: value for value in range(3)]]",
        "values = [1]\ngot = (a for a in values)\nvalues.append(2)\nreturn list(got)",
        "any(value == 1 or value + 'a' for value in [1, 2])",
    ),
    "functions": (
        "add(1)",
        "add(1, 2)",
        "add(1, second=2, third=3)",
        "add(third=1, first=2)",
        "add()",
        "add(1, 2, 3)",
        "add(1, first=2)",
        "add(1, fourth=2)",
        "add(*[1, 2], third=3)",
        "first_only(1)",
        "first_only(value=1)",
        "nothing()",
        "nothing(1)",
        "recurse(50)",
        "(lambda: 5)()",
        "(lambda a, b=2, *, c=3: [a, b, c])(1, c=5)",
        "(lambda a: a)()",
        "(lambda a, /: a)(a=1)",
        "5()",
        "'a'()",
        "value = 1\ncall = lambda: value\nvalue = 2\nreturn call()",
        "values = []\ncall = lambda found=values: found\ncall().append(1)\nreturn values",
    ),
    "classes": (
        "Bead('red')",
        "Bead('red', Size.LARGE, (1, 2)).name",
        "Bead('a').total()",
        "Bead('a').total(more=5)",
        "Bead('a').weight",
        "Bead()",
        "Bead('a', color='b')",
        "Bead('a', shape=1)",
        "Bead('a', 1, (), {}, 5, 6)",
        "replace(Bead('a'), size=Size.LARGE)",
        "replace(Bead('a'), shape=5)",
        "replace(5, a=1)",
        "values = Bead('a').notes\nvalues['x'] = 1\nreturn Bead('a').notes",
        "5 .name",
        "Box('a').holes",
        "call = Bead('a').total\nreturn call(2)",
        "Bead(name='a')",
        "[Size.SMALL, Size.LARGE]",
        "Size.SMALL < Size.LARGE",
    ),
    "errors": (
        "raise ValueError('a')",
        "raise ValueError",
        "raise OddError('a')",
        "raise OddError",
        "raise 5",
        "raise Bead('a')",
        "if True:\n    raise ValueError('a', 1)\nreturn 1",
    ),
    "texts": (
        "f'a{1}b{None!r}{True}'",
        "f'{[1, \"a\"]} {(1,)} { {1: (2, 3)} }'",
        'f\'{"a"!r} {"a"}\'',
        "f'{ {1} } {set()}'",
        "f'{NAMED}'",
        "f''",
        "f'{{}}'",
        'repr("it\'s")',
        "repr('\"')",
        "repr('\\'\"')",
        "repr('a\\\\b\\n\\r\\t\\x00\\x7f\\x85')",
        "repr('\\u200b\\U0001f600\\ufeff\\U000e0001')",
        "repr('\\xa0 ')",
        "repr(())",
        "repr([(), [], {}, ''])",
        "repr(None)",
        "repr(-5)",
        "repr(frozenset())",
        "repr(frozenset({1}))",
        "str()",
        "str('a')",
        "str(None)",
        "str(True)",
        "str([None, 'a'])",
        "str({'a': (1,)})",
        "str(5)",
        "str(('a',))",
    ),
    "functions of Python": (
        "all([1, 'a'])",
        "all([])",
        "all([0, 1])",
        "all(5)",
        "any([0, '', 3])",
        "any([])",
        "any(value for value in [0, 1])",
        "bool()",
        "bool([])",
        "bool('a')",
        "dict()",
        "dict(NAMED)",
        "dict([('a', 1), ['b', 2]], c=3)",
        "dict(['ab'])",
        "dict([1])",
        "dict(['abc'])",
        "dict(a=1)",
        "dict(5)",
        "dict.fromkeys('aba')",
        "dict.fromkeys([1, 2], 'x')",
        "dict.fromkeys(NAMED)",
        "dict.fromkeys([[]])",
        "list(enumerate('ab'))",
        "list(enumerate([5], 3))",
        "enumerate(5)",
        "frozenset()",
        "frozenset([1, 1])",
        "frozenset([[]])",
        "int()",
        "int('12')",
        "int(' -1_000 ')",
        "int('+5\\n')",
        "int('12x')",
        "int('')",
        "int('1.5')",
        "int('1__0')",
        "int('_1')",
        "int('0x1f')",
        "int('- 1')",
        "int('+-1')",
        "int(True)",
        "int(None)",
        "int([])",
        "int('ff', 16)",
        "int('0xFF', 16)",
        "int('-0b11', 2)",
        "int('0b2', 2)",
        "int('12', 3)",
        "int('z', 36)",
        "int('8', 8)",
        "int('5', 1)",
        "int(5, 10)",
        "int('5', None)",
        "int('\\u0663\\u0664')",
        "int('\\uff15')",
        "int('\\xb2')",
        "int('\\U0001d7d9')",
        "int('1\\u20032')",
        "int(Size.LARGE)",
        "values = iter([1, 2])\nnext(values)\nreturn list(values)",
        "values = iter([1, 2])\nreturn iter(values) is values",
        "iter(5)",
        "len('a\\U0001f600')",
        "len(NAMED)",
        "len({1, 1})",
        "len(range(3))",
        "len(NAMED.items())",
        "len(5)",
        "len(iter([]))",
        "len(None)",
        "list()",
        "list('ab')",
        "list(NAMED)",
        "list((1, 2))",
        "list(None)",
        "value = [1]\nreturn list(value) is value",
        "list(map(lambda a, b: a + b, [1, 2], (3, 4, 5)))",
        "list(map(str, range(3)))",
        "map(str, 5)",
        "values = map(int, ['1', 'x'])\nreturn next(values)",
        "max([1, 3, 2])",
        "max(1, 5)",
        "max([])",
        "max([], default=5)",
        "max('a', 'b', key=lambda text: -len(text))",
        "max([(1, 'b'), (1, 'a')])",
        "max(1, 'a')",
        "max(['aa', 'b', 'cc'], key=len)",
        "max(5)",
        "max([1], key=None)",
        "min([2, 1])",
        "min(2, 1)",
        "min(['aa', 'b', 'c'], key=len)",
        "min([])",
        "min((), default=None)",
        "next(iter([1]))",
        "next(iter([]))",
        "next(iter([]), 'x')",
        "next([1])",
        "next((value for value in 'ab' if value == 'b'), None)",
        "operator.lt(1, 2)",
        "operator.le(2, 2)",
        "operator.gt((1,), (0,))",
        "operator.ge('a', 'b')",
        "operator.eq([1], [1])",
        "operator.ne(1, True)",
        "operator.lt(1, 'a')",
        "list(range(3))",
        "list(range(2, 5))",
        "list(range(5, 0, -2))",
        "list(range(0))",
        "range(1, 2, 0)",
        "range('a')",
        "range(None)",
        "list(range(True))",
        "list(reversed([1, 2]))",
        "list(reversed('ab'))",
        "list(reversed(NAMED))",
        "list(reversed(range(3)))",
        "reversed({1})",
        "next(reversed((1, 2)))",
        "reversed(iter([1]))",
        "set()",
        "set('aba')",
        "set([[]])",
        "set(NAMED)",
        "sorted([3, 1, 2])",
        "sorted('bca', reverse=True)",
        "sorted(['bb', 'a', 'cc'], key=len)",
        "sorted(['bb', 'a', 'cc'], key=len, reverse=True)",
        "sorted([1, 'a'])",
        "sorted([None])",
        "sorted([None, None])",
        "sorted({2, 1})",
        "sorted(NAMED.items())",
        "sorted([(1, 'b'), (1, 'a')])",
        "sorted([1, 2], key=None)",
        "sorted([10, 9])",
        "sorted([True, False, 2])",
        "sorted(5)",
        "sum([1, 2])",
        "sum([])",
        "sum([1], 5)",
        "sum([[1], [2]], [])",
        "sum(['a'], '')",
        "sum([1, 'a'])",
        "sum([True, True])",
        "tuple()",
        "tuple([1, 2])",
        "tuple('ab')",
        "tuple(3)",
        "list(zip([1, 2], 'ab'))",
        "list(zip([1, 2], 'a'))",
        "list(zip([1, 2], 'a', strict=True))",
        "list(zip('a', [1, 2], strict=True))",
        "list(zip([1], 'a', strict=True))",
        "list(zip())",
        "zip([1], 5)",
        "list(map(str.lower, ['A', 'b']))",
        "list(map(str.lower, [5]))",
        "counts = collections.Counter('aab')\nreturn [counts['a'], counts['x'], sorted(counts), dict(counts)]",
        "len(collections.Counter('aab'))",
        "collections.Counter([[]])",
        "collections.Counter()['a']",
        "collections.Counter('ab').get('x')",
        "counts = collections.Counter({'a': 3})\nreturn [counts['a'], counts['x']]",
        "counts = collections.Counter('a')\ncounts['b'] = 0\nreturn counts == collections.Counter('a')",
    ),
    "str": (
        "'a.b'.endswith('.b')",
        "['aXbX'.count('X'), 'aaa'.count('aa'), 'ab'.count(''), 'a😀'.count('')]",
        "'a'.count(1)",
        "['abc'.index('c'), '😀b'.index('b'), 'ab'.index('')]",
        "'abc'.index('x')",
        "'ab'.endswith(('x', 'b'))",
        "'ab'.endswith(['b'])",
        "'ab'.endswith('')",
        "'{} is {}'.format(1, [2])",
        "'{{}} {}'.format('a')",
        "'{}'.format()",
        "'}'.format()",
        "'{'.format(1)",
        "'{}'.format(None, 2)",
        "', '.join(['a', 'b'])",
        "''.join('ab')",
        "','.join([1])",
        "','.join([])",
        "'-'.join(value for value in 'ab')",
        "','.join({'a': 1})",
        "'ÀB\\u0130'.lower()",
        "'xxaxx'.lstrip('x')",
        "'\\t\\x1c\\x85a '.lstrip()",
        "'abcb'.lstrip('ba')",
        "'a:b:c'.partition(':')",
        "'a'.partition(':')",
        "'a'.partition('')",
        "'a'.partition(1)",
        "'v1'.removeprefix('v')",
        "'v1'.removeprefix('')",
        "'v1'.removeprefix('1')",
        "'v1'.removeprefix(1)",
        "'a.py'.removesuffix('.py')",
        "'a'.removesuffix('')",
        "'a'.removesuffix('b')",
        "'aXaX'.replace('X', '$&')",
        "'ab'.replace('', '-')",
        "'a\\U0001f600'.replace('', '-')",
        "'a'.replace(1, 'b')",
        "'aa'.replace('a', '')",
        "'a:b:c'.rpartition(':')",
        "'a'.rpartition(':')",
        "'a'.rpartition('')",
        "'a  \\u3000'.rstrip()",
        "'abb'.rstrip('b')",
        "' a  b\\n'.split()",
        "''.split()",
        "' '.split(' ')",
        "'a,b,'.split(',')",
        "''.split(',')",
        "'a'.split('')",
        "'a b'.split(None)",
        "'a\\x1cb'.split()",
        "'a\\ufeffb'.split()",
        "'a'.split(1)",
        "'ab'.startswith('a')",
        "'ab'.startswith(('b', 'a'))",
        "'ab'.startswith(1)",
        "'ab'.startswith(())",
        "' a '.strip()",
        "'\\ufeffa'.strip()",
        "'abca'.strip('ca')",
        "' a '.strip(None)",
        "'a'.strip(1)",
        "'straße'.upper()",
        "[1].strip()",
        "'a'.append('b')",
    ),
    "list": (
        "values = [1]\nreturn [values.append([2]), values]",
        "[1, True, 2].count(1)",
        "[[1]].count([1])",
        "values = [1]\nreturn [values.extend('ab'), values]",
        "values = []\nvalues.extend(5)\nreturn values",
        "values = [1]\nvalues.extend(values)\nreturn values",
        "[1, 2].index(2)",
        "[1].index(5)",
        "[1, 1].index(True)",
        "[1].items()",
    ),
    "tuple": ("(1, 2, 1).count(1)", "('a', 'b').index('b')", "(1,).index(2)", "(1,).append(2)"),
    "dict": (
        "NAMED.get('a')",
        "NAMED.get('b')",
        "NAMED.get('b', 5)",
        "NAMED.get('toString')",
        "NAMED.get([])",
        "list(NAMED.items())",
        "list(NAMED.keys())",
        "values = {}\nreturn [values.setdefault('a', []), values]",
        "values = {'a': 1}\nreturn [values.setdefault('a', 2), values.setdefault('b'), values]",
        "values = {'a': 1}\nreturn [values.update({'b': 2}, c=3), values]",
        "values = {}\nvalues.update([('a', 1)])\nreturn values",
        "values = {}\nvalues.update([1])\nreturn values",
        "values = {}\nvalues.update()\nreturn values",
        "list(NAMED.values())",
        "values = {}\nkeys = values.keys()\nvalues['a'] = 1\nreturn list(keys)",
        "NAMED.add('a')",
        "{'__proto__': 1, 'a': 2}.get('__proto__')",
        "dict(__proto__=1)",
        "{key: value for value, key in enumerate('ab')}.get('b')",
    ),
    "set": (
        "values = {1}\nreturn [values.add(2), values]",
        "values = set()\nvalues.add([])\nreturn values",
        "frozenset().add(1)",
        "values = {1}\nvalues.add(True)\nreturn values",
    ),
    "re.Pattern": (
        "_VERSION.fullmatch('1.2') is not None",
        "_VERSION.fullmatch('1.2\\n') is not None",
        "_VERSION.match('1.2x').group()",
        "_VERSION.match('x1.2')",
        "_VERSION.search('x1.2').group(1)",
        "_VERSION.search('x')",
        "_VERSION.match('\\u0661.\\u0662').group(1)",
        "_LINE.match('axb\\n') is not None",
        "_LINE.match('axb\\nc') is not None",
        "_LINE.fullmatch('axb\\n') is not None",
        "_LINE.match('a\\u2028b') is not None",
        "_LINE.match('a\\nb') is not None",
        "_LINE.match('a\\U0001f600b') is not None",
        "_WORD.search('-é\\u00b2-\\x1cab').group()",
        "_WORD.fullmatch('a 12')",
        "_VERSION.match(5)",
        "re.compile(r'a|ab').fullmatch('ab').group()",
        "re.compile(r'[^a\\]]+').match('b-]').group()",
        "re.compile(r'(?:a{2,3}?|b)c').search('xaaac').group()",
        "re.compile(r'\\$\\-\\#x*').match('$-#').group()",
        "re.compile(r'[-_.]+').search('a-._b').group()",
        "re.compile(r'^a').search('ba')",
        "re.compile(r'a\\tb\\n').match('a\\tb\\n') is not None",
        "re.sub(r'[-_.]+', '-', 'a._b-c')",
        "re.sub(r'x*', '-', 'abxd')",
        "re.sub(r'a', '$&', 'aa')",
        "re.sub(r'a', '', 5)",
        "re.sub(r'\\s', '', 'a \\x1fb\\ufeff')",
    ),
    "re.Match": (
        "_VERSION.match('1.2').groups()",
        "_VERSION.match('1.').groups()",
        "_VERSION.match('1.').group(2)",
        "_VERSION.match('1.').group(0)",
        "_VERSION.match('1.').group(3)",
        "_VERSION.match('1.').group(-1)",
        "_VERSION.match('1.').group(True)",
    ),
}


def read_case(source: str) -> ast.FunctionDef:
    """Return a case as a function."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # about mistakes that are meant
        try:
            body = f"return {ast.unparse(ast.parse(source, mode='eval'))}"
        except SyntaxError:
            body = source
        (found,) = ast.parse(f"def case():\n{textwrap.indent(body, '    ')}").body
    assert isinstance(found, ast.FunctionDef)
    return found


def write_cases(sources: Iterable[str]) -> tuple[dict[str, Any], list[Node]]:
    """Return the definitions that cases use, and a function for each case."""
    code = Definitions(__name__)
    nodes = [SyntaxWriter(read_module(__name__), code).function(read_case(source)) for source in sources]
    return code.finish(), nodes


def evaluate_case(function: ast.FunctionDef) -> Any:
    """Return what Python makes of a case: its value, in a form that JSON keeps, or the name of its error."""
    names = dict(globals())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        code = compile(ast.Module([function], []), "<case>", "exec")
    exec(code, names)  # noqa: S102  # the cases above
    try:
        value = names["case"]()
    except Exception as error:  # noqa: BLE001  # whatever a case leads to
        return {"error": type(error).__name__}
    return encode(value)


def encode(value: Any) -> Any:
    """Return a value with its types; a test's script does the same."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, dict):
        return ["dict", *([encode(key), encode(entry)] for key, entry in value.items())]
    if is_dataclass(value):
        return [type(value).__name__, *(encode(getattr(value, entry.name)) for entry in fields(value))]
    if isinstance(value, set | frozenset):
        return [type(value).__name__, *sorted(map(encode, value), key=repr)]
    if isinstance(value, list | tuple):
        return [type(value).__name__, *map(encode, value)]
    raise AssertionError(f"no case may return {value!r}")
