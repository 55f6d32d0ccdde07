# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Check that this Python can load a plugin at all.

Installers see to that, but a copied folder or PYTHONPATH goes past them.
"""

from __future__ import annotations

from .errors import InterpreterError


def check_interpreter(distribution: str, abiflags: str, version: tuple[int, int]) -> None:
    """Check that a Python has the ABI that the plugin's extension is made for.

    A free-threaded one takes the file for its own, by its name, and then finds in it what is none of its modules:
    SystemError, if not a crash.

    Args:
        distribution: Name of the plugin's distribution.
        abiflags: Those of the Python (`sys.abiflags`); `t` is among those of a free-threaded one (PEP 703).
        version: Its version.

    Raises:
        InterpreterError: It has another one.
    """
    if "t" not in abiflags:
        return
    python = ".".join(map(str, version))
    raise InterpreterError(
        f"{distribution} cannot be loaded by a free-threaded Python ({python}{abiflags})",
        cause="it is made for the stable ABI of CPython 3.12, which a Python without the GIL does not have",
        remedy=f"use a Python with the GIL: python{python} in place of python{python}{abiflags}",
    )
