# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What differs in the version of CPython alone, under one name: the modules of several Pythons in one wheel."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

# A module that one CPython alone imports (PEP 3149), such as `_solver.cpython-312-x86_64-linux-gnu.so`.
_MODULE = re.compile(r"(?P<before>.*\.cpython-)(?P<python>\d+t?)(?P<after>-.*)")


def fold_names(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """Put names together that differ in the version of CPython alone, under one as a shell would take it apart.

    A name for all that is a file's own as well, as in a hostile wheel, would hide that file: those that it would stand
    for keep theirs.

    >>> fold_names(["a.cpython-312-x.so", "b.so", "a.cpython-313-x.so"])
    {'a.cpython-{312,313}-x.so': {'312': 'a.cpython-312-x.so', '313': 'a.cpython-313-x.so'}, 'b.so': {'': 'b.so'}}
    """
    known = dict.fromkeys(names)
    groups: dict[tuple[str, str], dict[str, str]] = {}
    for name in known:
        match = _MODULE.fullmatch(name)
        stem, python = ((match["before"], match["after"]), match["python"]) if match else ((name, ""), "")
        groups.setdefault(stem, {})[python] = name
    labels = {stem: _label(*stem, group) for stem, group in groups.items()}
    claims = Counter([*known, *(label for stem, label in labels.items() if len(groups[stem]) > 1)])
    folded: dict[str, dict[str, str]] = {}
    for stem, group in groups.items():
        alone = {name: {python: name} for python, name in group.items()}
        folded |= {labels[stem]: group} if claims[labels[stem]] == 1 else alone
    return folded


def fold_values(values: Mapping[str, str]) -> tuple[str, ...]:
    """Return what holds for several Pythons: one line if it is the same for all, else one for each value.

    >>> fold_values({"312": "a", "313": "a"}), fold_values({"312": "a", "313": "b", "314": "a"})
    (('a',), ('312, 314: a', '313: b'))
    """
    pythons: dict[str, list[str]] = {}
    for python, value in values.items():
        pythons.setdefault(value, []).append(python)
    if len(pythons) == 1:
        return tuple(pythons)
    return tuple(f"{', '.join(several)}: {value}" for value, several in pythons.items())


def _label(before: str, after: str, pythons: Iterable[str]) -> str:
    """Return a name for all, with several versions as a shell's brace expansion has them."""
    several = sorted(pythons)
    return f"{before}{{{','.join(several)}}}{after}" if len(several) > 1 else f"{before}{several[0]}{after}"
