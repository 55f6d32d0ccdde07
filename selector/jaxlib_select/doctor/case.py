# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""All that the rules about problems look at, and the commands that mend, as users would type them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jaxlib_select.apply.installer import Installer, show
from jaxlib_select.apply.plan import accelerator_families, make_plan
from jaxlib_select.choose.decision import Decision
from jaxlib_select.doctor.forecast import Prediction, World
from jaxlib_select.doctor.libraries import Loaded
from jaxlib_select.doctor.report import ERROR, WARNING
from jaxlib_select.facts import Facts
from jaxlib_select.installed.discovery import Plugin
from jaxlib_select.installed.environment import Environment

# Where pip and uv are told of wheels; `INDEX_URL` is none of them, since it mostly names a mirror of the public index.
_SOURCES = re.compile(r"(PIP|UV)_(FIND_LINKS|INDEX|EXTRA_INDEX_URL)")
SOURCE_REMARK = "  # with --find-links DIR or --index-url URL, where our wheels are"


@dataclass(frozen=True)
class Case:
    """All that the rules look at.

    Attributes:
        environment: What is installed.
        plugins: What JAX will find.
        world: What else counts.
        prediction: What JAX will do.
        libraries: Name of a plugin → shared libraries that it would load.
        installer: Writes the commands that mend.
        facts: What is known about our packages, installed or not.
        decision: What should be installed on this machine; nothing if that could not be worked out.
    """

    environment: Environment
    plugins: tuple[Plugin, ...]
    world: World
    prediction: Prediction
    libraries: Mapping[str, tuple[Loaded, ...]]
    installer: Installer
    facts: Facts
    decision: Decision | None = None

    @property
    def ours(self) -> bool:
        """Whether something of ours is installed."""
        return self.world.jaxlib is not None or any(plugin.lock is not None for plugin in self.plugins)

    def weigh(self, platform: str | None, *outcomes: str) -> str:
        """Return `error` if one of these becomes of a platform, else `warning`: JAX goes on without what is wrong."""
        matters = any(entry.platform == platform and entry.outcome in outcomes for entry in self.prediction.forecasts)
        return ERROR if matters else WARNING

    def advise(self) -> str:
        """Return what `install` would do: put what belongs on this machine in the place of what is there.

        Empty if that is not known.
        """
        if self.decision is None:
            return ""
        families = accelerator_families(self.facts)
        plan = make_plan([self.decision], self.environment, self.plugins, self.installer, families=families)
        remark = source_remark(self.installer, self.world.variables) if self.decision.index_url is None else ""
        return " && ".join(map(show, plan.steps(self.installer))) + remark

    def install(self, requirements: Sequence[str], *, again: Sequence[str] = ()) -> str:
        """Return the command that installs requirements, which are ours if anything here is.

        Args:
            requirements: What to install.
            again: What to install before that, though it seems to be there.
        """
        first = [self.installer.reinstall(again)] if again else []
        then = [self.installer.install(requirements)] if requirements else []
        return " && ".join(map(show, [*first, *then])) + self._remark()

    def reinstall(self, requirements: Sequence[str]) -> str:
        """Return the command that installs requirements again, and nothing else."""
        return self.install([], again=requirements)

    def uninstall(self, names: Sequence[str]) -> str:
        """Return the command that removes distributions."""
        return show(self.installer.uninstall(names))

    def _remark(self) -> str:
        return source_remark(self.installer, self.world.variables) if self.ours else ""


def show_decision(installer: Installer, decision: Decision, variables: Mapping[str, str]) -> str:
    """Return the command that carries out a decision; constraints are requirements of what comes along anyway.

    Args:
        installer: Writes it.
        decision: The decision.
        variables: Environment variables, which may say where our wheels are.
    """
    requirements = (*decision.requirements, *decision.constraints)
    command = show(installer.install(requirements, index_url=decision.index_url))
    return command if decision.index_url is not None else command + source_remark(installer, variables)


def source_remark(installer: Installer, variables: Mapping[str, str]) -> str:
    """Return what to add to a command about our wheels, if nothing says where they are; empty otherwise."""
    prefix = f"{installer.kind.upper()}_"
    told = any(value and name.startswith(prefix) and _SOURCES.fullmatch(name) for name, value in variables.items())
    return "" if told or installer.sources else SOURCE_REMARK


def unset(variable: str) -> str:
    """Return the command that removes a variable."""
    return f"set {variable}=" if os.name == "nt" else f"unset {variable}"


def switch_remedy(variable: str, value: str, remark: str = "") -> str:
    """Return the command that sets a variable, with a remark behind it."""
    command = f"set {variable}={value}" if os.name == "nt" else f"export {variable}={value}"
    return f"{command}  # {remark}" if remark else command


def remove_folder(folder: Path) -> str:
    """Return the command that removes a folder."""
    return ("rmdir /s /q " if os.name == "nt" else "rm -r ") + show([str(folder)])
