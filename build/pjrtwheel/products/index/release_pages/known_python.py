# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which of Python's functions and methods `static/python.js` has, and what they take.

A test in a browser holds these tables equal to those of the script, and another evaluates each entry in both languages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function or method takes.

    Attributes:
        least: How many arguments by position at least.
        most: How many at most; nothing where any number.
        named: Arguments that are given by name; `*` stands for any.
    """

    least: int
    most: int | None
    named: tuple[str, ...] = ()

    def takes(self, positional: int | None, named: frozenset[str]) -> bool:
        """Return whether a call fits; nothing is the number of arguments where it is known only when it runs."""
        counted = positional is None or (self.least <= positional and (self.most is None or positional <= self.most))
        return counted and ("*" in self.named or named <= {*self.named})


FUNCTIONS: Mapping[str, Signature] = {
    "ValueError": Signature(0, None),
    "all": Signature(1, 1),
    "any": Signature(1, 1),
    "bool": Signature(0, 1),
    "collections.Counter": Signature(0, 1),
    "dataclasses.field": Signature(0, 0, ("default", "default_factory")),
    "dataclasses.replace": Signature(1, 1, ("*",)),
    "dict": Signature(0, 1, ("*",)),
    "dict.fromkeys": Signature(1, 2),
    "enumerate": Signature(1, 2),
    "frozenset": Signature(0, 1),
    "int": Signature(0, 2),
    "iter": Signature(1, 1),
    "len": Signature(1, 1),
    "list": Signature(0, 1),
    "map": Signature(2, None),
    "max": Signature(1, None, ("default", "key")),
    "min": Signature(1, None, ("default", "key")),
    "next": Signature(1, 2),
    "operator.eq": Signature(2, 2),
    "operator.ge": Signature(2, 2),
    "operator.gt": Signature(2, 2),
    "operator.le": Signature(2, 2),
    "operator.lt": Signature(2, 2),
    "operator.ne": Signature(2, 2),
    "range": Signature(1, 3),
    "re.compile": Signature(1, 1),
    "re.sub": Signature(3, 3),
    "repr": Signature(1, 1),
    "reversed": Signature(1, 1),
    "set": Signature(0, 1),
    "sorted": Signature(1, 1, ("key", "reverse")),
    "str": Signature(0, 1),
    "str.lower": Signature(1, 1),
    "sum": Signature(1, 2),
    "tuple": Signature(0, 1),
    "zip": Signature(0, None, ("strict",)),
}
METHODS: Mapping[str, Mapping[str, Signature]] = {
    "str": {
        "count": Signature(1, 1),
        "endswith": Signature(1, 1),
        "format": Signature(0, None),
        "index": Signature(1, 1),
        "join": Signature(1, 1),
        "lower": Signature(0, 0),
        "lstrip": Signature(0, 1),
        "partition": Signature(1, 1),
        "removeprefix": Signature(1, 1),
        "removesuffix": Signature(1, 1),
        "replace": Signature(2, 2),
        "rpartition": Signature(1, 1),
        "rstrip": Signature(0, 1),
        "split": Signature(0, 1),
        "startswith": Signature(1, 1),
        "strip": Signature(0, 1),
        "upper": Signature(0, 0),
    },
    "list": {
        "append": Signature(1, 1),
        "count": Signature(1, 1),
        "extend": Signature(1, 1),
        "index": Signature(1, 1),
    },
    "tuple": {"count": Signature(1, 1), "index": Signature(1, 1)},
    "dict": {
        "get": Signature(1, 2),
        "items": Signature(0, 0),
        "keys": Signature(0, 0),
        "setdefault": Signature(1, 2),
        "update": Signature(0, 1, ("*",)),
        "values": Signature(0, 0),
    },
    "set": {"add": Signature(1, 1)},
    "re.Pattern": {"fullmatch": Signature(1, 1), "match": Signature(1, 1), "search": Signature(1, 1)},
    "re.Match": {"group": Signature(0, 1), "groups": Signature(0, 0)},
}
PATTERN_FUNCTIONS = frozenset({"re.compile", "re.sub"})  # whose first argument is a regular expression
LARGEST = 2**53 - 1  # beyond it, a browser's numbers are not exact

# The script translates these parts of a pattern; what is not here, such as \b or a lookahead, may mean something else
# in a browser.
_PATTERN = re.compile(
    r"""(?:
        \\[dwsntr] | \\[^\w\s]                                      # a class, or a sign of its own
        | \[\^?(?:\\[dwsntr] | \\[^\w\s] | [^\]\\\[])+\]            # a set
        | \(\?: | \((?!\?) | [)|^$.]
        | (?:[*+?] | \{\d+(?:,\d*)?\})\??(?![*+?{])                 # how often, but not twice
        | [^\\\[\](){}|^$.*+?]
    )*""",
    re.VERBOSE | re.DOTALL,
)


def is_known_pattern(text: str) -> bool:
    r"""Return whether a regular expression has only what the script can translate.

    >>> is_known_pattern(r"(<|>=)\s*\d{1,2}[a-f]?$"), is_known_pattern(r"\bword\b")
    (True, False)
    """
    return _PATTERN.fullmatch(text) is not None and not _repeats_captures(text)


def _repeats_captures(text: str) -> bool:
    """Return whether something is captured within a group that is repeated, or by one that may match nothing.

    Python keeps what was found in an earlier round; a browser forgets it.
    """
    opened: list[tuple[int, bool]] = []  # where each open group begins, and whether something in it captures
    within_set = False
    for found in re.finditer(r"\\.|[\[\]]|\(\?:|\(|\)(?:[*+]|\{)?", text, re.DOTALL):
        sign = found[0]
        if within_set or sign in "[]":
            within_set = sign != "]"
        elif sign.startswith("("):
            opened.append((found.end(), False))
        elif sign.startswith(")") and opened:
            start, captures = opened.pop()
            own = text[start - 1] == "("
            if len(sign) > 1 and (captures or (own and re.fullmatch(text[start : found.start()], "") is not None)):
                return True
            if opened and (own or captures):
                opened[-1] = (opened[-1][0], True)
    return False
