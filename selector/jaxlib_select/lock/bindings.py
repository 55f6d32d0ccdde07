# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Our jaxlib and JAX's own have the same name and version: see to it that ours is taken.

Ours has a build tag, by which pip finds it among the files of all indexes. uv takes what the first index has that knows
the name, and asks the extra ones before the main one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from jaxlib_select.decision import Decision
from jaxlib_select.errors import InstallError
from jaxlib_select.install.commands import Installer, turned_around
from jaxlib_select.install.plan import bindings_of
from jaxlib_select.lock.resolution import check_jaxlib, resolve_requirements


def find_order(decisions: Iterable[Decision], installer: Installer, options: Sequence[str]) -> tuple[str, ...]:
    """Return options with the package indexes in an order by which our jaxlib is taken.

    Args:
        decisions: What is to be installed.
        installer: What installs.
        options: Its options, such as `--index-url URL`.

    Raises:
        InstallError: There is no such order, or the index cannot be reached.
    """
    bindings = [text for decision in decisions for text in bindings_of(decision)]
    if installer.kind != "uv" or not bindings:
        return tuple(options)
    orders = list(dict.fromkeys((tuple(options), turned_around(options))))
    for order in orders[:-1]:
        try:
            _try(bindings, installer, order)
        except InstallError:
            continue
        return order
    _try(bindings, installer, orders[-1])
    return orders[-1]


def _try(bindings: Sequence[str], installer: Installer, options: Sequence[str]) -> None:
    check_jaxlib(resolve_requirements(bindings, installer, (*options, "--no-deps"), quiet=True))
