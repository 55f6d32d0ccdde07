# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Ask the resolver of a package for its decision."""

from __future__ import annotations

import re
from dataclasses import replace

from jaxlib_select.choose.decision import Decision, fault_of
from jaxlib_select.choose.policy import AUTO, CPU, REQUIRE_GPU, Choice, Policy, find_name, unknown_backend
from jaxlib_select.choose.registry import (
    Resolver,
    failure_of,
    find_resolver,
    has_resolver,
    known_packages,
    unknown_package,
)
from jaxlib_select.errors import PolicyError, ResolverError, SelectError, UsageError
from jaxlib_select.machine.model import Machine
from jaxlib_select.names import normalize

_NAME = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?", re.IGNORECASE)  # PEP 508


def resolve(package: str, machine: Machine, policy: Policy | None = None, *, release: str = "") -> Decision:
    """Decide what to install for a package on a machine.

    Args:
        package: Name of a distribution, such as `jax` or `torch`, or with its version, such as `jax==0.11.2`.
        machine: Where it must run.
        policy: What the user asks for; the best that surely runs if absent.
        release: Version of the package, if it does not stand there; the newest known one if nowhere.

    Returns:
        The decision, with a reason for each backend that was considered.

    Raises:
        UsageError: No resolver knows the package or one that the policy names, or the resolver not the backend.
        PolicyError: The policy cannot be kept on this machine.
        ResolverError: The resolver failed.
    """
    written, _, version = package.partition("==")
    name, version = _normal_name(written), (version or release).strip()
    choice = choose(name, policy or Policy())
    decision = _decide(find_resolver(name), f"{name}=={version}" if version else name, machine, choice)
    return replace(decision, warnings=(*choice.warnings, *decision.warnings)) if choice.warnings else decision


def choose(package: str, policy: Policy) -> Choice:
    """Return what a policy says about a package, in the words of its resolver.

    A lasting default may name a backend that this package has not, and another has: then it is `auto`, with a warning.

    Args:
        package: Name of a distribution.
        policy: What the user asks for.

    Raises:
        UsageError: No resolver knows the package or one that the policy names, or the resolver not the backend.
        ResolverError: The resolver cannot be loaded, or does not know its own backends.
    """
    for name, spoken in policy.about_packages():
        if not has_resolver(name):
            raise unknown_package(name, f" (from {spoken.origin})")
    name = normalize(package)
    resolver = find_resolver(name)
    choice, known = policy.choose(name, resolver.name or name), _backends(resolver, name)
    backend = find_name(choice, known)
    if backend is not None:
        return replace(choice, backend=backend)
    if not (choice.lasting and any(_knows(other, choice) for other in known_packages())):
        raise unknown_backend(choice, known, name)
    warning = f"{name} has no backend {choice.backend!r} (from {choice.origin}), so that it is {AUTO} here"
    return replace(choice, backend=AUTO, warnings=(warning,))


def _normal_name(package: str) -> str:
    """Return the one spelling of a package's name.

    Raises:
        UsageError: It is none, such as `jax>=0.11`.
    """
    if not _NAME.fullmatch(package.strip()):
        raise UsageError(f"not the name of a package: {package!r}", remedy="expected NAME or NAME==VERSION")
    return normalize(package.strip())


def _backends(resolver: Resolver, name: str) -> tuple[str, ...]:
    """Return the backends that a resolver knows.

    Raises:
        ResolverError: It fails.
    """
    try:
        return tuple(str(backend) for backend in resolver.backends())
    except SelectError:
        raise
    except (Exception, SystemExit) as error:
        raise failure_of(f"the resolver of {name} failed", error) from error


def _knows(name: str, choice: Choice) -> bool:
    """Return whether the resolver of a package knows a backend; one that fails is told when it is asked for itself."""
    try:
        return find_name(choice, _backends(find_resolver(name), name)) is not None
    except SelectError:
        return False


def _decide(resolver: Resolver, package: str, machine: Machine, choice: Choice) -> Decision:
    """Run a resolver, which may be anybody's, and keep its failures apart from ours."""
    try:
        decision = resolver.decide(package, machine, choice.backend)
    except SelectError:
        raise
    except (Exception, SystemExit) as error:  # one that ends the program has decided nothing
        raise failure_of(f"the resolver of {package} failed", error) from error
    fault = fault_of(decision)
    if fault:
        raise ResolverError(f"the resolver of {package} {fault}", remedy="tell its author")
    if choice.backend == REQUIRE_GPU and decision.backend == CPU:  # nobody's resolver may pass over that
        reasons = "; ".join(f"{entry.backend}: {entry.reason}" for entry in decision.candidates if not entry.chosen)
        raise PolicyError(f"an accelerator is required for {package}, but none can be used", cause=reasons)
    return decision
