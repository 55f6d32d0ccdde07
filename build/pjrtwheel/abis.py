# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The ABIs of CPython that modules are compiled for: in tags (PEP 425), in file names (PEP 3149) and by version.

A Python is named by its ABI tag: `cp314` has the GIL, `cp314t` is free-threaded.
"""

import re
from collections.abc import Collection, Iterable

from pjrtwheel.errors import UsageError, fit

# A module that one CPython alone imports (PEP 3149), such as `_solver.cpython-312-x86_64-linux-gnu.so`.
VERSIONED = re.compile(r"(?P<stem>[^.]+)\.cpython-(?P<python>\d+t?)-(?P<architecture>\w+)-linux-gnu\.so")
# The stable ABI of Pythons with the GIL (PEP 384).
STABLE_ABI = "abi3"
# What the extension is compiled for in addition: free-threaded Python, without its t → ABI of the module. From 3.15 on
# they have a stable ABI (abi3t, PEP 803); before that, each needs a module of its own.
FREE_THREADED = {"cp314": "cp314t", "cp315": "abi3t"}


def python_version(python: str) -> tuple[int, int]:
    """Return the version of a Python that is named by its Python tag or ABI tag.

    >>> python_version("cp312"), python_version("cp314t")
    ((3, 12), (3, 14))
    """
    digits = python.removeprefix("cp").removesuffix("t")
    return int(digits[:1]), int(digits[1:])


def name_python(python: str) -> str:
    """Return a Python, named by its ABI tag, as people write it.

    >>> name_python("cp312"), name_python("cp314t")
    ('3.12', '3.14t')
    """
    major, minor = python_version(python)
    return f"{major}.{minor}{'t' if python.endswith('t') else ''}"


def name_pythons(tags: Iterable[str]) -> str:
    """Return the versions of Pythons, free-threaded ones last.

    >>> name_pythons({"cp314t", "cp315", "cp312"})
    '3.12, 3.15, 3.14t'
    """
    return ", ".join(map(name_python, sorted(tags, key=python_order)))


def choose_pythons(available: Collection[str], asked: Collection[str], what: str = "wheels") -> tuple[str, ...]:
    """Return Pythons by their ABI tags: those that are asked for, or all that there are wheels for.

    >>> choose_pythons(["cp312", "cp313", "cp313t"], ["3.13", "3.13t"])
    ('cp313', 'cp313t')

    Raises:
        UsageError: There are no wheels for one.
    """
    tags = {python: python if python.startswith("cp") else f"cp{python.replace('.', '')}" for python in asked}
    if unknown := [python for python, tag in tags.items() if tag not in available]:
        remedy = f"there are some for {fit(map(name_python, available))}"
        raise UsageError(f"no {what} for Python {fit(unknown)}", remedy=remedy)
    return tuple(dict.fromkeys(tags.values())) or tuple(available)


def python_order(python: str) -> tuple[bool, tuple[int, int]]:
    """Return what Pythons, named by their ABI tags, are sorted by: by version, free-threaded ones last.

    >>> sorted(["cp314t", "cp315", "cp312"], key=python_order)
    ['cp312', 'cp315', 'cp314t']
    """
    return python.endswith("t"), python_version(python)


def extension_suffix(abi: str, architecture: str) -> str:
    """Return the ending of an extension module for an ABI: a stable one, or that of one CPython.

    >>> extension_suffix("cp314t", "x86_64"), extension_suffix("abi3t", "x86_64")
    ('.cpython-314t-x86_64-linux-gnu.so', '.abi3t.so')
    """
    return f".cpython-{abi.removeprefix('cp')}-{architecture}-linux-gnu.so" if abi.startswith("cp") else f".{abi}.so"


def plugin_tag(python_tag: str, platform_tag: str) -> str:
    """Return the compressed tag set of a wheel with the extension; `python_tag` is the oldest Python with the GIL.

    A set means every combination of its parts, so each free-threaded Python is named: `abi3t` next to `cp312` would
    also be `cp312-abi3t`, which 3.13t takes and cannot load. No Python has one like `cp312-cp314t`.

    >>> plugin_tag("cp312", "manylinux_2_27_x86_64")
    'cp312.cp314.cp315-abi3.cp314t.cp315t-manylinux_2_27_x86_64'
    """
    oldest = python_version(python_tag)
    others = [python for python in FREE_THREADED if python_version(python) >= oldest]
    abis = (STABLE_ABI, *(f"{python}t" for python in others))
    return "-".join((".".join(sorted({python_tag, *others})), ".".join(abis), platform_tag))
