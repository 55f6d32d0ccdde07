# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The registry of resolvers: those that are shipped, and those that other distributions bring.

A resolver is an entry point of the group `jaxlib_select.resolvers`, named after the package it decides about. It is a
`Resolver`: a function from package, machine and backend to a decision, and the names it knows backends by.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass

from jaxlib_select.choose.decision import Decision
from jaxlib_select.choose.policy import GENERAL
from jaxlib_select.errors import ResolverError, SelectError, UsageError
from jaxlib_select.machine.model import Machine
from jaxlib_select.names import normalize
from jaxlib_select.sentences import printable

GROUP = "jaxlib_select.resolvers"

# Known without looking through everything that is installed, which takes longer than all the rest.
_SHIPPED = {
    "jax": "jaxlib_select.choose.resolvers.jax",
    "jaxlib": "jaxlib_select.choose.resolvers.jax",
    "torch": "jaxlib_select.choose.resolvers.torch",
    "torchaudio": "jaxlib_select.choose.resolvers.torch",
    "torchvision": "jaxlib_select.choose.resolvers.torch",
}


@dataclass(frozen=True)
class Resolver:
    """Decides about one package, or a few that go together.

    Attributes:
        decide: From the name of the package, the machine and the backend that is asked for to a decision. The backend
            is `auto`, `cpu`, `prefer-gpu`, `require-gpu` or one of `backends`.
        backends: Returns the names that it knows backends by; without it only the general ones are accepted.
        name: Under which the user sets the policy for the package; its own if empty.
    """

    decide: Callable[[str, Machine, str], Decision]
    backends: Callable[[], tuple[str, ...]] = tuple
    name: str = ""


def find_resolver(name: str) -> Resolver:
    """Return the resolver for a package.

    Args:
        name: Normalized name of the package.

    Raises:
        UsageError: There is none; the message lists the packages that have one.
        ResolverError: It cannot be imported.
    """
    try:
        resolver = importlib.import_module(_SHIPPED[name]).RESOLVER if name in _SHIPPED else _installed_resolver(name)
    except SelectError:
        raise
    except (Exception, SystemExit) as error:
        raise failure_of(f"the resolver of {name} cannot be loaded", error) from error
    if not isinstance(resolver, Resolver):
        raise ResolverError(f"the resolver of {name} is a {type(resolver).__name__}, not a jaxlib_select.Resolver")
    return resolver


def is_package(word: str) -> bool:
    """Return whether a word, such as `jax` or `jax==0.11.2`, names a package that some resolver knows."""
    name, equals, _ = word.partition("==")
    if word in GENERAL or ("=" in word and not equals):
        return False
    return has_resolver(normalize(name))


def has_resolver(name: str) -> bool:
    """Return whether some resolver knows a package, by its normalized name."""
    return name in _SHIPPED or name in _entry_points()


def known_packages() -> list[str]:
    """Return every package that has a resolver, by its normalized name."""
    return sorted({*_SHIPPED, *_entry_points()})


def unknown_package(name: str, origin: str = "") -> UsageError:
    """Return the error about a package that has no resolver, with those that have."""
    known = ", ".join(known_packages())
    return UsageError(
        f"no resolver knows the package {name!r}{origin}", remedy=f"known: {known}; others come as plug-ins ({GROUP})"
    )


def _installed_resolver(name: str) -> object:
    """Load the resolver that another distribution brings.

    Raises:
        UsageError: There is none.
    """
    entry_points = _entry_points()
    if name not in entry_points:
        raise unknown_package(name)
    return entry_points[name]()


def _entry_points() -> dict[str, Callable[[], object]]:
    """Return what other distributions registered, by normalized name."""
    from importlib import metadata  # slow, and needed for packages of others only

    return {normalize(point.name): point.load for point in metadata.entry_points(group=GROUP)}


def failure_of(what: str, error: BaseException) -> ResolverError:
    """Return the error about somebody's code that raised one, which may be of many lines."""
    return ResolverError(
        what,
        cause=" ".join(printable(f"{type(error).__name__}: {error}").split()),
        remedy="tell its author; --debug shows where",
    )
