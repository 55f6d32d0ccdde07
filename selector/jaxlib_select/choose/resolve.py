# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Ask the resolver of a package for its decision.

A resolver is an entry point of the group `jaxlib_select.resolvers`, named after the package it decides about. It is a
`Resolver`: a function from package, machine and backend to a decision, and the names it knows backends by. Some are
shipped, others come with other distributions.
"""

from __future__ import annotations

import contextlib
import importlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from jaxlib_select.choose.decision import Decision
from jaxlib_select.choose.policy import AUTO, CPU, GENERAL, REQUIRE_GPU, Choice, Policy, find_name
from jaxlib_select.errors import PolicyError, ResolverError, SelectError, UsageError
from jaxlib_select.facts import UPSTREAM
from jaxlib_select.machine.model import Machine
from jaxlib_select.names import normalize, suggest
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
# The name of a package (PEP 508), and bounds on its version (PEP 440); one `=` is no bound.
_PACKAGE = re.compile(r"\s*([a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)\s*((?:[<>=!~]=|<|>).*)?", re.IGNORECASE)
_EXACT = re.compile(r"==\s*([^\s,=]+)")


@dataclass(frozen=True)
class Resolver:
    """Decides about one package, or about packages that belong together.

    Attributes:
        decide: From the name of the package, the machine and the backend that is asked for to a decision. The backend
            is `auto`, `cpu`, `prefer-gpu`, `require-gpu` or one of `backends`.
        backends: Returns the names that it knows backends by; without it only the general ones are accepted.
        name: Under which the user sets the policy for the package; its own if empty.
        find_releases: Returns the versions within bounds such as `<0.12`, or all if there are none, the newest first;
            `decide` is given them in turn, up to the first that serves an accelerator of the machine. Without it the
            only bound that is accepted is `==VERSION`.
        decide_upstream: As `decide`, about the packages of a project that publishes the same itself; None if there
            are none.
    """

    decide: Callable[[str, Machine, str], Decision]
    backends: Callable[[], tuple[str, ...]] = tuple
    name: str = ""
    find_releases: Callable[[str], Sequence[str]] | None = None
    decide_upstream: Callable[[str, Machine, str], Decision] | None = None


def resolve(package: str, machine: Machine, policy: Policy | None = None) -> Decision:
    """Decide what to install for a package on a machine.

    Args:
        package: Name of a distribution, such as `jax` or `torch`, or with bounds, such as `jax==0.11.2` or `jax<0.12`.
            Of its versions the newest is taken that serves an accelerator found, else the newest.
        machine: Where it must run.
        policy: What the user asks for; the best that surely runs if absent.

    Raises:
        FactsError: Nothing is known about that version.
        UsageError: No resolver knows the package or one that the policy names, or the resolver not the backend; or the
            bounds cannot be read.
        PolicyError: The policy cannot be kept on this machine.
        ResolverError: The resolver failed.
    """
    policy = policy or Policy()
    choice = choose(split_package(package)[0], policy)
    name, versions = pick_versions(package)
    decision = _Search(find_resolver(name), name, machine, choice, policy.provider).decide(versions)
    return replace(decision, warnings=(*choice.warnings, *decision.warnings)) if choice.warnings else decision


@dataclass(frozen=True)
class _Search:
    """Looks for the newest version that serves a machine as it is wanted."""

    resolver: Resolver
    name: str
    machine: Machine
    choice: Choice
    provider: str

    def decide(self, versions: Sequence[str]) -> Decision:
        """Return the decision about the newest of some versions, or about an older one that serves an accelerator.

        It only suggests a version outside of them.
        """
        newest = self._attempt(versions[0])
        if isinstance(newest, Decision) and self._serves(newest):
            return newest
        if older := self._find(versions[1:]):
            version, found = older
            why = f"{self.name} {versions[0]} {reason_for(newest, found)}; {version} is the newest that fits here"
            why += f"; {self.name}=={versions[0]} would run on the CPU" if isinstance(newest, Decision) else ""
            return replace(found, warnings=(why, *found.warnings))
        known = self.resolver.find_releases("") if self.resolver.find_releases is not None else ()
        other = self._find([version for version in known if version not in versions])
        option = f" --backend {self.choice.backend}" if self.choice.backend not in GENERAL else ""
        package = f"{self.name}=={other[0]}" if other else ""
        offer = f"the newest that fits is {package}: jaxlib-select resolve {package}{option}" if other else ""
        # Where the newest lacks a wheel, an older one knows what the machine lacks.
        rest = [self._attempt(version) for version in versions[1:]]
        if isinstance(newest, PolicyError):
            remedies = (each.remedy for each in (newest, *rest) if isinstance(each, PolicyError) and each.remedy)
            raise PolicyError(newest.what, cause=newest.cause, remedy=offer or next(remedies, ""))
        more = [text for each in rest if isinstance(each, Decision) for text in each.warnings]
        more = [offer] if offer else [text for text in more if text not in newest.warnings]
        return replace(newest, warnings=(*newest.warnings, more[0])) if more else newest

    def _find(self, versions: Sequence[str]) -> tuple[str, Decision] | None:
        """Return the first of some versions that serves, and the decision about it."""
        for version in versions:
            found = self._attempt(version)
            if isinstance(found, Decision) and self._serves(found):
                return version, found
        return None

    def _serves(self, found: Decision) -> bool:
        """Return whether a decision is for an accelerator, or the CPU is requested."""
        return self.choice.backend == CPU or found.backend != CPU

    def _attempt(self, version: str) -> Decision | PolicyError:
        """Return the decision about one version, or why it cannot be what is asked for."""
        package = f"{self.name}=={version}" if version else self.name
        other = self.resolver.decide_upstream if self.provider == UPSTREAM else None
        try:
            return _decide(other or self.resolver.decide, package, self.machine, self.choice)
        except PolicyError as refusal:
            return refusal


def reason_for(newest: Decision | PolicyError, found: Decision) -> str:
    """Return why a version does not have a backend that another one has; the subject is the version."""
    if isinstance(newest, PolicyError):
        return f"cannot be used: {newest.cause or newest.what}"
    name = next(entry.backend for entry in found.candidates if entry.chosen)
    return next((entry.reason for entry in newest.candidates if entry.backend == name), "does not list it")


def split_package(package: str) -> tuple[str, str]:
    """Return the normalized name of a package, and the bounds on its version; a `UsageError` if there is no name.

    >>> split_package("JAX >= 0.11, <0.12")
    ('jax', '>= 0.11, <0.12')
    """
    found = _PACKAGE.fullmatch(package)
    if found is None:
        what = f"not the name of a package: {package.partition('==')[0]!r}"
        raise UsageError(what, remedy="expected NAME or NAME==VERSION; --backend takes the place of extras")
    return normalize(found.group(1)), (found.group(2) or "").strip()


def pick_versions(package: str) -> tuple[str, tuple[str, ...]]:
    """Return the name of a package, and the versions that may be meant, the newest first.

    It is one without a name where the resolver takes its own newest.

    Raises:
        FactsError: Nothing is known about that version.
        UsageError: No resolver knows the package, or its bounds cannot be read.
    """
    name, bounds = split_package(package)
    find = find_resolver(name).find_releases
    exact = _EXACT.fullmatch(bounds)
    if find is not None:
        with _blame(f"the resolver of {name} failed"):
            return name, tuple(find(bounds))
    if bounds and exact is None:
        what = f"the resolver of {name} does not understand bounds on its version: {bounds!r}"
        raise UsageError(what, remedy=f"expected {name} or {name}==VERSION")
    return name, (exact.group(1) if exact else "",)


def choose(package: str, policy: Policy) -> Choice:
    """Return what a policy says about a package, in the words of its resolver.

    A lasting default may name a backend that this package has not, and another has: then it is `auto`, with a warning.

    Raises:
        UsageError: No resolver knows the package or one that the policy names, or the resolver not the backend.
        ResolverError: The resolver cannot be loaded, or does not know its own backends.
    """
    for name, spoken in [entry for source in policy.sources for entry in source.packages.items()]:
        if name not in _SHIPPED and name not in _entry_points():
            raise _unknown_package(name, f" (from {spoken.origin})")
    name = normalize(package)
    resolver = find_resolver(name)
    choice, known = policy.choose(name, resolver.name or name), _backends(resolver, name)
    backend = find_name(choice, known)
    if backend is not None:
        return replace(choice, backend=backend)
    if not (choice.lasting and any(_knows(other, choice) for other in (*_SHIPPED, *_entry_points()))):
        raise UsageError(
            f"unknown backend for {name}: {choice.backend!r} (from {choice.origin})",
            cause=suggest(choice.backend, (*GENERAL, *known)),
            remedy=f"known: {', '.join(dict.fromkeys((*GENERAL, *known)))}",
        )
    warning = f"{name} has no backend {choice.backend!r} (from {choice.origin}), so that it is {AUTO} here"
    return replace(choice, backend=AUTO, warnings=(warning,))


@contextlib.contextmanager
def _blame(what: str) -> Iterator[None]:
    """Report what a resolver raises, even `SystemExit`, as its failure; our own errors pass."""
    try:
        yield
    except SelectError:
        raise
    except (Exception, SystemExit) as error:
        raise ResolverError(
            what,
            cause=" ".join(printable(f"{type(error).__name__}: {error}").split()),
            remedy="report it to its author; --debug shows where",
        ) from error


def _backends(resolver: Resolver, name: str) -> tuple[str, ...]:
    with _blame(f"the resolver of {name} failed"):
        return tuple(str(backend) for backend in resolver.backends())


def _knows(name: str, choice: Choice) -> bool:
    """Return whether the resolver of a package knows a backend; one that fails is reported when it is used itself."""
    try:
        return find_name(choice, _backends(find_resolver(name), name)) is not None
    except SelectError:
        return False


def _decide(
    decide: Callable[[str, Machine, str], Decision], package: str, machine: Machine, choice: Choice
) -> Decision:
    with _blame(f"the resolver of {package} failed"):
        decision = decide(package, machine, choice.backend)
        decision.to_json()  # or it is none
        (_,) = (entry for entry in decision.candidates if entry.chosen)
    if choice.backend == REQUIRE_GPU and decision.backend == CPU:  # which no resolver may ignore
        reasons = "; ".join(f"{entry.backend}: {entry.reason}" for entry in decision.candidates if not entry.chosen)
        raise PolicyError(f"an accelerator is required for {package}, but none can be used", cause=reasons)
    return decision


def find_resolver(name: str) -> Resolver:
    """Return the resolver for a normalized name; a `UsageError` if there is none, a `ResolverError` if it is broken."""
    with _blame(f"the resolver of {name} cannot be loaded"):
        if name in _SHIPPED:
            resolver = importlib.import_module(_SHIPPED[name]).RESOLVER
        elif name in (others := _entry_points()):
            resolver = others[name]()
        else:
            raise _unknown_package(name)
    if not isinstance(resolver, Resolver):
        raise ResolverError(f"the resolver of {name} is a {type(resolver).__name__}, not a jaxlib_select.Resolver")
    return resolver


def _unknown_package(name: str, origin: str = "") -> UsageError:
    """Return the error about a package that has no resolver, with those that have."""
    known = sorted({*_SHIPPED, *_entry_points()})
    return UsageError(
        f"unknown package: {name!r}{origin}",
        cause=suggest(name, known),
        remedy=f"known: {', '.join(known)}; other distributions can add resolvers ({GROUP})",
    )


def _entry_points() -> dict[str, Callable[[], object]]:
    """Return what other distributions registered, by normalized name."""
    from importlib import metadata  # slow, and needed for packages of others only

    return {normalize(point.name): point.load for point in metadata.entry_points(group=GROUP)}
