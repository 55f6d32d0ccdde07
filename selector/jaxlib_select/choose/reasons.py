# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Say why a backend was chosen or not, and what the user should know about the choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jaxlib_select.choose.policy import AUTO, PREFER_GPU, REQUIRE_GPU
from jaxlib_select.choose.rules import Fit, Verdict
from jaxlib_select.facts import Backend
from jaxlib_select.machine.model import Machine
from jaxlib_select.sentences import enumerate_some


def reason_for(backend: Backend, verdicts: Mapping[str, Verdict], chosen: Backend, asked: str) -> str:
    """Return why a backend was chosen or not, in one sentence."""
    verdict = verdicts[backend.name]
    by_name = asked not in {AUTO, PREFER_GPU, REQUIRE_GPU}
    if backend is chosen:
        return _chosen_reason(backend, verdict, by_name=by_name)
    if verdict.fit is Fit.NONE:
        return verdict.reason
    if verdict.fit is Fit.ASKED:
        return f"{verdict.reason}, and taken only if asked for: --backend {backend.name}"
    if by_name:
        return f"{verdict.reason}, but {asked} is asked for"
    if backend.is_cpu:
        return f"{verdict.reason}, but {chosen.name} is faster"
    rivals = backend.select is not None and chosen.select is not None and backend.select.vendor == chosen.select.vendor
    return f"{verdict.reason}{_beaten(verdict, verdicts[chosen.name], rivals=rivals).format(chosen.name)}"


def _chosen_reason(backend: Backend, verdict: Verdict, *, by_name: bool) -> str:
    """Return why a backend was chosen."""
    if by_name and backend.is_cpu:
        return "asked for"
    if by_name:
        return f"asked for; {verdict.reason}"
    return "runs on every machine, and no accelerator package is sure to run here" if backend.is_cpu else verdict.reason


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


def warnings_about(
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
        settings = " ".join(f"{name}={_cut(value)}" for name, value in verdict.environment.items())
        found.append(
            f"set {settings} to hide the devices that {chosen.name} cannot serve: {enumerate_some(verdict.hidden)}"
        )
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


def _cut(value: str) -> str:
    """Return the start of a long list: the decision has all of it."""
    return value if len(value) <= 60 else f"{value[:57].rpartition(',')[0]},..."
