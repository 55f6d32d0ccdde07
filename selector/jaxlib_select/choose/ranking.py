# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Choose one of the backends of a release for a machine, and give a reason for each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jaxlib_select.choose.decision import Candidate
from jaxlib_select.choose.policy import AUTO, GENERAL, PREFER_GPU, REQUIRE_GPU
from jaxlib_select.choose.reasons import reason_for, warnings_about
from jaxlib_select.choose.rules import Fit, Verdict, describe_platform
from jaxlib_select.choose.vendors import judge
from jaxlib_select.errors import PolicyError
from jaxlib_select.facts import Backend
from jaxlib_select.machine.model import Machine


@dataclass(frozen=True)
class Ranked:
    """The backend that was chosen.

    Attributes:
        backend: Its facts.
        variant: Its packaging, such as `cuda12-local`.
        verdict: What the rules say about it here.
        candidates: A reason for each backend, the best first.
        warnings: What the user should know.
    """

    backend: Backend
    variant: str
    verdict: Verdict
    candidates: tuple[Candidate, ...]
    warnings: tuple[str, ...]


def known_names(backends: Sequence[Backend]) -> tuple[str, ...]:
    """Return every name by which a backend can be asked for: its own, its packagings', its family's."""
    names: dict[str, None] = {}
    for backend in backends:
        names.update(dict.fromkeys((backend.name, *backend.variants)))
    for backend in backends:
        names.update(dict.fromkeys((backend.family, *_of_family(backend))))
    return tuple(names)


def _of_family(backend: Backend) -> dict[str, str]:
    """Return a backend's packagings by names that leave open which of its family it is, such as `cuda-local`."""
    own = [variant for variant in backend.variants if variant.startswith(backend.name)]
    return {f"{backend.family}{variant[len(backend.name) :]}": variant for variant in own}


def rank(machine: Machine, backends: Sequence[Backend], asked: str) -> Ranked:
    """Choose a backend.

    Returns:
        The choice, with a reason for every backend.

    Raises:
        PolicyError: What is asked for cannot be given.
    """
    verdicts = {backend.name: judge(machine, backend) for backend in backends}
    leads = _leads(backends)
    order = sorted(
        backends, key=lambda backend: (*_key(backend, verdicts[backend.name], leads), backend.name), reverse=True
    )
    if asked in GENERAL:
        chosen, variant = _by_policy(order, verdicts, asked), ""
    else:
        chosen, variant = _by_name(machine, order, asked)
    reasons = {backend.name: reason_for(backend, verdicts, chosen, asked) for backend in order}
    return Ranked(
        backend=chosen,
        variant=variant or _default_variant(chosen),
        verdict=verdicts[chosen.name],
        candidates=tuple(Candidate(backend.name, backend is chosen, reasons[backend.name]) for backend in order),
        warnings=(*machine.notes, *warnings_about(machine, chosen, order, verdicts, asked)),
    )


def _leads(backends: Sequence[Backend]) -> dict[str, int]:
    """Return the highest rank of each vendor."""
    found: dict[str, int] = {}
    for backend in backends:
        if backend.select is not None:
            found[backend.select.vendor] = max(backend.select.rank, found.get(backend.select.vendor, 0))
    return found


def _key(
    backend: Backend, verdict: Verdict, leads: Mapping[str, int]
) -> tuple[bool, int, int, tuple[int, ...], int, int]:
    """Return what orders the backends: accelerators that run first, of the vendor who leads.

    Devices are compared within a vendor only: one that nothing serves must not hand the machine to another vendor. Of a
    vendor's backends the one that serves the best device is taken, then the one that serves more, then the rank.
    """
    usable = verdict.fit >= Fit.PART and not backend.is_cpu
    rank, lead = (backend.select.rank, leads[backend.select.vendor]) if backend.select else (0, 0)
    return usable, 0 if usable else int(verdict.fit), lead, verdict.best, verdict.served, rank


def _default_variant(backend: Backend) -> str:
    """Return the packaging to take when none is asked for: the one named like the backend, or its first."""
    return backend.name if backend.name in backend.variants else next(iter(backend.variants), backend.name)


def _by_policy(order: Sequence[Backend], verdicts: Mapping[str, Verdict], asked: str) -> Backend:
    """Choose by a general value, such as `prefer-gpu`.

    Raises:
        PolicyError: An accelerator is required, and none can be used.
    """
    lowest = {AUTO: Fit.PART, PREFER_GPU: Fit.DOUBT, REQUIRE_GPU: Fit.DOUBT}.get(asked)
    if lowest is not None:
        for backend in order:
            if not backend.is_cpu and verdicts[backend.name].fit >= lowest:
                return backend
    if asked == REQUIRE_GPU:
        raise _no_accelerator(order, verdicts)
    cpu = next((backend for backend in order if backend.is_cpu), None)
    if cpu is None:
        raise PolicyError("this release has no package for the CPU", remedy="name a backend with --backend")
    return cpu


def _no_accelerator(order: Sequence[Backend], verdicts: Mapping[str, Verdict]) -> PolicyError:
    """Return an error with the reason for every accelerator package, and what would help."""
    others = [(backend.name, verdicts[backend.name]) for backend in order if not backend.is_cpu]
    return PolicyError(
        "an accelerator is required, but none can be used",
        cause="; ".join(f"{name}: {verdict.reason}" for name, verdict in others),
        remedy=next((verdict.advice for _, verdict in others if verdict.advice), ""),
    )


def _by_name(machine: Machine, order: Sequence[Backend], asked: str) -> tuple[Backend, str]:
    """Choose the backend that is asked for by name, whatever the machine says; of a family the best.

    Raises:
        PolicyError: There is no wheel of it for this platform.
    """
    named = [backend for backend in order if asked == backend.name or asked in backend.variants]
    family = [backend for backend in order if asked == backend.family or asked in _of_family(backend)]
    possible = [backend for backend in named or family if machine.platform in backend.tags or backend.is_cpu]
    if not possible:
        first = (named or family)[0]
        platforms = ", ".join(sorted(first.tags))
        raise PolicyError(
            f"{asked} is asked for, but there is no wheel of {first.distribution} for {describe_platform(machine)}",
            remedy=f"there are wheels for {platforms}",
        )
    best = possible[0]
    return best, asked if asked in best.variants else _of_family(best).get(asked, "")
