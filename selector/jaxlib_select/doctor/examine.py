# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Put together what JAX will find, what it will do with that, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from jaxlib_select.apply.installer import Installer
from jaxlib_select.choose.decision import Decision
from jaxlib_select.doctor.case import Case, switch_remedy
from jaxlib_select.doctor.dependencies import find_missing
from jaxlib_select.doctor.findings import find_problems
from jaxlib_select.doctor.forecast import SERVES, Prediction, World, predict
from jaxlib_select.doctor.hardware import (
    describe_hardware,
    find_libtpu,
    has_nvidia_driver,
    has_nvidia_node,
    missing_hardware,
    unfit_packages,
)
from jaxlib_select.doctor.libraries import Loaded, find_libraries, unusable_without
from jaxlib_select.doctor.report import ERROR, WARNING, Finding, Report, sort_findings
from jaxlib_select.doctor.wheel_set import find_break, renew
from jaxlib_select.facts import Facts
from jaxlib_select.installed.discovery import Plugin, find_plugins, locate, read_lock
from jaxlib_select.installed.elf import find_misfit
from jaxlib_select.installed.environment import Environment
from jaxlib_select.machine.model import Machine
from jaxlib_select.names import normalize

# Results of cuInit that do not mean "no GPU": the hardware is there and cannot be used.
_HARMLESS_CUINIT = (None, 0, 34, 100)


@dataclass(frozen=True)
class Surroundings:
    """What the environment is judged by.

    Attributes:
        machine: The hardware.
        variables: Environment variables.
        facts: What is known about the packages of the release.
        decision: What should be installed on this machine; nothing if that could not be worked out.
        root: Root of the file system.
    """

    machine: Machine
    variables: Mapping[str, str]
    facts: Facts
    decision: Decision | None = None
    root: Path = Path("/")

    @property
    def hardware(self) -> tuple[str, ...]:
        """Accelerators of the machine, one line each."""
        return describe_hardware(self.machine, self.facts.backends)


def examine(environment: Environment, around: Surroundings, installer: Installer) -> Report:
    """Examine an environment; nothing of it is imported or run.

    Args:
        environment: The environment.
        around: What it is judged by.
        installer: Writes the commands that mend.
    """
    found = find_plugins(environment, around.variables)
    plugins = tuple(_without_foreign(plugin, around.machine.arch) for plugin in found)
    libraries, unreadable = _libraries(plugins, environment, around)
    unusable = {name: reason for name, entries in libraries.items() for reason in [unusable_without(entries)] if reason}
    world = _world(environment, around, unusable)
    prediction = predict(plugins, world)
    case = Case(environment, plugins, world, prediction, libraries, installer, around.facts, around.decision)
    silent = is_silent_cpu(prediction, around)
    findings = [*unreadable, *find_problems(case), *_cpu_findings(case, around, silent=silent), *_other_backend(case)]
    return Report(
        environment=environment,
        versions=_versions(environment, plugins),
        plugins=plugins,
        prediction=prediction,
        hardware=around.hardware,
        libraries=libraries,
        findings=sort_findings(findings),
        silent_cpu=silent,
        renewal=renew(case),
    )


def is_silent_cpu(prediction: Prediction, around: Surroundings) -> bool:
    """Return whether JAX would run on the CPU though there is an accelerator, and nobody asked for the CPU."""
    return prediction.default == "cpu" and has_accelerator(around) and not around.variables.get("JAX_PLATFORMS")


def has_accelerator(around: Surroundings) -> bool:
    """Return whether there is an accelerator: one that a package serves, or one that nobody calls integrated."""
    nvidia = around.machine.nvidia
    served = around.decision is not None and around.decision.backend != "cpu"
    return served or bool(nvidia.gpus) or nvidia.cuinit not in _HARMLESS_CUINIT


def _world(environment: Environment, around: Surroundings, unusable: Mapping[str, str]) -> World:
    return World(
        variables=around.variables,
        jaxlib=read_lock(locate(environment, "jaxlib")),
        jaxlib_version=environment.version_of("jaxlib"),
        broken=find_break(environment)[1] or find_missing(environment),
        no_hardware=missing_hardware(around.machine, around.facts.backends),
        unfit={**unusable, **unfit_packages(around.machine, around.facts.backends)},
        nvidia_nodes=has_nvidia_node(around.root),
        nvidia_driver=has_nvidia_driver(around.machine),
        tpu_library=find_libtpu(environment, around.variables),
    )


def _without_foreign(plugin: Plugin, arch: str) -> Plugin:
    """Return a plugin whose libraries count as damaged if they are incomplete, or for another processor."""
    misfits = {path: misfit for path in plugin.libraries for misfit in [find_misfit(path, arch)] if misfit is not None}
    return replace(
        plugin,
        libraries=tuple(path for path in plugin.libraries if path not in misfits),
        damaged={**plugin.damaged, **{str(path): misfit.what for path, misfit in misfits.items()}},
    )


def _libraries(
    plugins: Sequence[Plugin], environment: Environment, around: Surroundings
) -> tuple[dict[str, tuple[Loaded, ...]], list[Finding]]:
    """Return what each plugin would load; what cannot be read was reported with the plugin."""
    found = {plugin.label: _load_or_reason(plugin, environment, around) for plugin in plugins}
    problems = [
        Finding(WARNING, "unreadable", f"cannot look into {label}: {reason}")
        for label, reason in found.items()
        if isinstance(reason, str)
    ]
    return {label: entries for label, entries in found.items() if entries and not isinstance(entries, str)}, problems


def _load_or_reason(plugin: Plugin, environment: Environment, around: Surroundings) -> tuple[Loaded, ...] | str:
    arch = around.machine.arch or "x86_64"
    try:
        return find_libraries(plugin, environment, around.variables, root=around.root, arch=arch)
    except (OSError, ValueError) as error:
        return str(error)


def _cpu_findings(case: Case, around: Surroundings, *, silent: bool) -> Iterator[Finding]:
    """Say why JAX would silently run on the CPU."""
    if not silent:
        return
    seen = ", ".join(around.hardware) or "an accelerator"
    decision = around.decision
    if decision is None or decision.backend == "cpu":
        reasons = [entry.reason for entry in decision.candidates if not entry.chosen] if decision is not None else []
        what = f"JAX will run on the CPU: no package serves {seen}" + (
            f" ({'; '.join(reasons[:2])})" if reasons else ""
        )
        yield Finding(ERROR, "silent-cpu", what, switch_remedy("JAX_PLATFORMS", "cpu", "if that is meant"))
        return
    installed = normalize(decision.package) in case.environment.distributions
    because = next(
        (
            entry.reason
            for entry in case.prediction.forecasts
            if entry.outcome != SERVES and entry.reason and entry.provider == decision.package
        ),
        "",
    )
    what = f"JAX will run on the CPU, though there is {seen}"
    state = "is installed, but JAX leaves it out" if installed else "is not installed"
    what += f": {because or f'{decision.package} {state}'}"
    # Why JAX leaves it out is another finding, whose remedy is the one.
    yield Finding(ERROR, "silent-cpu", what, "" if installed and not because else case.advise())


def _other_backend(case: Case) -> Iterator[Finding]:
    """Say that another backend than the one for this machine is installed, and serves."""
    decision = case.decision
    if decision is None or case.prediction.default in (None, "cpu"):
        return
    (forecast,) = (entry for entry in case.prediction.forecasts if entry.platform == case.prediction.default)
    ours = forecast.provider in {backend.distribution for backend in case.facts.backends}
    if ours and forecast.provider != decision.package:
        what = f"{forecast.provider} serves, but {decision.package} is the one for this machine"
        yield Finding(WARNING, "other-backend", what, case.advise())


def _versions(environment: Environment, plugins: Sequence[Plugin]) -> dict[str, str]:
    names = ["jax", "jaxlib", *sorted({plugin.distribution for plugin in plugins if plugin.distribution})]
    names += sorted(name for name in environment.distributions if name.startswith("jax-") and name.endswith("-plugin"))
    names += ["libtpu"]
    versions = {name: environment.version_of(name) for name in names}
    return {name: version for name, version in versions.items() if version is not None}
