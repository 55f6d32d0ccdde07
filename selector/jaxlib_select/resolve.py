# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Ask the resolver of a package for its decision.

A resolver is an entry point of the group `jaxlib_select.resolvers`, named after the package it decides about. It is a
`Resolver`: a function from package, machine and backend to a decision, and the names it knows backends by.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Callable

from jaxlib_select.decision import Decision, fault_of
from jaxlib_select.errors import ResolverError, SelectError, UsageError
from jaxlib_select.machine import Machine
from jaxlib_select.policy import GENERAL, Choice, Policy, check_known, normalize

GROUP = "jaxlib_select.resolvers"

# Known without looking through everything that is installed, which takes longer than all the rest.
_SHIPPED = {
    "jax": "jaxlib_select.resolvers.jax",
    "jaxlib": "jaxlib_select.resolvers.jax",
    "torch": "jaxlib_select.resolvers.torch",
    "torchaudio": "jaxlib_select.resolvers.torch",
    "torchvision": "jaxlib_select.resolvers.torch",
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


def resolve(package: str, machine: Machine, policy: Policy | None = None, *, release: str = "") -> Decision:
    """Decide what to install for a package on a machine.

    Args:
        package: Name of a distribution, such as `jax` or `torch`.
        machine: Where it must run.
        policy: What the user asks for; the best that surely runs if absent.
        release: Version of the package, as in `jax==0.11.2`; the newest known one if empty.

    Returns:
        The decision, with a reason for each backend that was considered.

    Raises:
        UsageError: No resolver knows the package, or the resolver does not know the backend.
        PolicyError: The policy cannot be kept on this machine.
        ResolverError: The resolver failed.
    """
    name = normalize(package)
    resolver = find_resolver(name)
    choice = (policy or Policy()).choose(name, resolver.name or name)
    return _decide(resolver, f"{name}=={release}" if release else name, machine, choice)


def _decide(resolver: Resolver, package: str, machine: Machine, choice: Choice) -> Decision:
    """Run a resolver, which may be anybody's, and keep its failures apart from ours."""
    try:
        check_known(choice, resolver.backends(), package)
        decision = resolver.decide(package, machine, choice.backend)
    except SelectError:
        raise
    except (Exception, SystemExit) as error:  # one that ends the program has decided nothing
        raise ResolverError(
            f"the resolver of {package} failed",
            cause=f"{type(error).__name__}: {error}",
            remedy="tell its author; --debug shows where",
        ) from error
    fault = fault_of(decision)
    if fault:
        raise ResolverError(f"the resolver of {package} {fault}", remedy="tell its author")
    return decision


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
        raise ResolverError(
            f"the resolver of {name} cannot be loaded", cause=f"{type(error).__name__}: {error}"
        ) from error
    if not isinstance(resolver, Resolver):
        raise ResolverError(f"the resolver of {name} is a {type(resolver).__name__}, not a jaxlib_select.Resolver")
    return resolver


def is_package(word: str) -> bool:
    """Return whether a word, such as `jax` or `jax==0.11.2`, names a package that some resolver knows."""
    name, equals, _ = word.partition("==")
    if word in GENERAL or ("=" in word and not equals):
        return False
    return normalize(name) in _SHIPPED or normalize(name) in _entry_points()


def _installed_resolver(name: str) -> object:
    """Load the resolver that another distribution brings.

    Raises:
        UsageError: There is none.
    """
    entry_points = _entry_points()
    if name not in entry_points:
        known = ", ".join(sorted({*_SHIPPED, *entry_points}))
        raise UsageError(
            f"no resolver knows the package {name!r}", remedy=f"known: {known}; others come as plug-ins ({GROUP})"
        )
    return entry_points[name]()


def _entry_points() -> dict[str, Callable[[], object]]:
    """Return what other distributions registered, by normalized name."""
    from importlib import metadata  # slow, and needed for packages of others only

    found = metadata.entry_points()
    # Before Python 3.10 the result is a mapping.
    points = found.select(group=GROUP) if hasattr(found, "select") else found.get(GROUP, ())
    return {normalize(point.name): point.load for point in points}
