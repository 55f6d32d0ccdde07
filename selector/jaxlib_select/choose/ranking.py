# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Choose one of the backends of a release for a machine, and give a reason for each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jaxlib_select.choose.decision import Candidate
from jaxlib_select.choose.policy import AUTO, GENERAL, PREFER_GPU, REQUIRE_GPU
from jaxlib_select.choose.rules import Fit, Verdict, describe_platform
from jaxlib_select.choose.vendors import judge
from jaxlib_select.errors import PolicyError
from jaxlib_select.facts import Backend
from jaxlib_select.machine.model import Machine
from jaxlib_select.sentences import enumerate_some, shorten


@dataclass(frozen=True)
class Ranked:
    """The backend that was chosen, its packaging such as `cuda12-local`, and all backends, the best first."""

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
    """Choose a backend, and give a reason for every one; a `PolicyError` if what is asked for cannot be given.

    Args:
        machine: Where it must run.
        backends: Those of the release.
        asked: A general value such as `auto`, or a name from `known_names`.
    """
    verdicts = {backend.name: judge(machine, backend) for backend in backends}
    leads: dict[str, int] = {}  # the highest rank of each vendor
    for select in [backend.select for backend in backends if backend.select is not None]:
        leads[select.vendor] = max(select.rank, leads.get(select.vendor, 0))
    order = sorted(
        backends, key=lambda backend: (*_key(backend, verdicts[backend.name], leads), backend.name), reverse=True
    )
    if asked in GENERAL:
        chosen, variant = _by_policy(order, verdicts, asked), ""
    else:
        chosen, variant = _by_name(machine, order, asked)
    reasons = {backend.name: _reason_for(backend, verdicts, chosen, asked) for backend in order}
    default = chosen.name if chosen.name in chosen.variants else next(iter(chosen.variants), chosen.name)
    return Ranked(
        backend=chosen,
        variant=variant or default,
        verdict=verdicts[chosen.name],
        candidates=tuple(
            Candidate(backend.name, backend is chosen, reasons[backend.name], verdicts[backend.name].absent)
            for backend in order
        ),
        warnings=(*machine.notes, *_warnings_about(machine, chosen, order, verdicts, asked)),
    )


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


def _by_policy(order: Sequence[Backend], verdicts: Mapping[str, Verdict], asked: str) -> Backend:
    """Choose by a general value, such as `prefer-gpu`."""
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
    others = [(backend.name, verdicts[backend.name]) for backend in order if not backend.is_cpu]
    return PolicyError(
        "an accelerator is required, but none can be used",
        cause="; ".join(f"{name}: {verdict.reason}" for name, verdict in others),
        remedy=next((verdict.advice for _, verdict in others if verdict.advice), ""),
    )


def _by_name(machine: Machine, order: Sequence[Backend], asked: str) -> tuple[Backend, str]:
    """Choose the backend that is requested by name, on any machine; for a family, the best."""
    named = [backend for backend in order if asked == backend.name or asked in backend.variants]
    family = [backend for backend in order if asked == backend.family or asked in _of_family(backend)]
    possible = [backend for backend in named or family if machine.platform in backend.tags or backend.is_cpu]
    if not possible:
        raise _no_wheel(machine, named or family, asked)
    best = possible[0]
    return best, asked if asked in best.variants else _of_family(best).get(asked, "")


def _no_wheel(machine: Machine, named: Sequence[Backend], asked: str) -> PolicyError:
    """Return the error about a backend without a wheel for the platform."""
    package = named[0].distribution if named else asked
    platforms = ", ".join(sorted(named[0].tags)) if named else ""
    return PolicyError(
        f"{asked} is asked for, but there is no wheel of {package} for {describe_platform(machine)}",
        cause=named[0].absent.get(machine.platform, "") if named else "",
        remedy=f"there are wheels for {platforms}" if platforms else "",
    )


def _reason_for(backend: Backend, verdicts: Mapping[str, Verdict], chosen: Backend, asked: str) -> str:
    verdict = verdicts[backend.name]
    by_name = asked not in {AUTO, PREFER_GPU, REQUIRE_GPU}
    if backend is chosen:
        if backend.is_cpu:
            seen = any(entry.present for entry in verdicts.values())
            why = "no package is sure to run on the accelerator" if seen else "no accelerator was found"
            return "asked for" if by_name else f"{why}; {verdict.reason}"
        return f"asked for; {verdict.reason}" if by_name else verdict.reason
    if verdict.fit in {Fit.NONE, Fit.ASKED}:
        advice = f", and taken only if asked for: --backend {backend.name}" if verdict.fit is Fit.ASKED else ""
        return f"{verdict.reason}{advice}"
    if by_name:
        return f"{verdict.reason}, but {asked} is asked for"
    if backend.is_cpu:
        return f"{verdict.reason}, but {chosen.name} is faster"
    rivals = backend.select is not None and chosen.select is not None and backend.select.vendor == chosen.select.vendor
    return f"{verdict.reason}{_beaten(verdict, verdicts[chosen.name], rivals=rivals).format(chosen.name)}"


def _beaten(verdict: Verdict, winner: Verdict, *, rivals: bool) -> str:
    """Return in what the chosen backend, `{}`, is better than another one that runs, or may run."""
    if verdict.fit is Fit.DOUBT and winner.fit is not Fit.DOUBT:
        return "; in doubt it is taken only if asked for"
    if rivals and verdict.fit is Fit.PART and winner.fit is Fit.FULL:
        return ", but {} serves all of them"
    if rivals and verdict.best < winner.best:
        return ", but {} serves the better GPU"
    if rivals and (verdict.best, verdict.served) < (winner.best, winner.served):
        return ", but {} serves more of them"
    return ", but {} comes first where both run"


def _warnings_about(
    machine: Machine, chosen: Backend, order: Sequence[Backend], verdicts: Mapping[str, Verdict], asked: str
) -> list[str]:
    """Return what the user should know about a choice."""
    verdict = verdicts[chosen.name]
    found = list(verdict.warnings)
    if chosen.is_cpu:
        found += _unused(order, verdicts) if asked in {AUTO, PREFER_GPU} else []
    elif verdict.fit is Fit.NONE:
        found.append(f"{chosen.name} is asked for, but will not run on this machine: {verdict.reason}")
    elif verdict.fit is Fit.DOUBT:
        found.append(f"{chosen.name} may not run: {verdict.reason}")
    if verdict.hidden:
        settings = " ".join(f"{name}={shorten(value, 60)}" for name, value in verdict.environment.items())
        hidden = enumerate_some(verdict.hidden)
        found.append(f"set {settings} to hide the devices that {chosen.name} cannot serve: {hidden}")
    if machine.wsl and machine.amd.gpus == () and not machine.nvidia.gpus and chosen.is_cpu and asked == AUTO:
        found.append("in WSL2 only NVIDIA GPUs can be used: install the NVIDIA driver in Windows, none inside WSL2")
    return found


def _unused(order: Sequence[Backend], verdicts: Mapping[str, Verdict]) -> list[str]:
    """Return one line about an accelerator that is here, but not used: what to do, if anything helps."""
    present = [backend for backend in order if verdicts[backend.name].present and not backend.is_cpu]
    best: Backend | None = next(iter([b for b in present if verdicts[b.name].advice] or present), None)
    if best is None:
        return []
    verdict = verdicts[best.name]
    advice = f": {verdict.advice}" if verdict.advice else ""
    return [f"the CPU is used although an accelerator is here ({best.name}: {verdict.reason}){advice}"]
