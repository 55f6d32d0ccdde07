# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What `doctor` has to say, as values, as JSON and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from jaxlib_select.doctor.forecast import Prediction
from jaxlib_select.doctor.libraries import Loaded
from jaxlib_select.installed.discovery import Plugin
from jaxlib_select.installed.environment import Environment
from jaxlib_select.sentences import enumerate_some

ERROR, WARNING, NOTE = "error", "warning", "note"


@dataclass(frozen=True)
class Finding:
    """Something to know or to mend.

    Attributes:
        level: `error` (JAX fails, lacks a part of what it uses here, or leaves the hardware out), `warning` (JAX goes
            on without what is wrong) or `note`.
        code: A short name for programs, such as `lock-mismatch`.
        what: One sentence.
        remedy: The command that mends it; empty where none can.
    """

    level: str
    code: str
    what: str
    remedy: str = ""


@dataclass(frozen=True)
class Report:
    """The whole answer.

    Attributes:
        environment: What was examined.
        versions: Versions of jax, jaxlib and every plugin that is installed.
        plugins: What JAX will find.
        prediction: What JAX will do with it.
        hardware: Accelerators of the machine, one line each.
        libraries: Name of a plugin → shared libraries that it would load.
        findings: What is wrong, the worst first.
        silent_cpu: Whether JAX would run on the CPU, without a word from the user, though there is an accelerator.
        renewal: The command that installs JAX, jaxlib and the plugins again, as they are.
    """

    environment: Environment
    versions: Mapping[str, str]
    plugins: tuple[Plugin, ...]
    prediction: Prediction
    hardware: tuple[str, ...]
    libraries: Mapping[str, tuple[Loaded, ...]]
    findings: tuple[Finding, ...]
    silent_cpu: bool
    renewal: str = ""

    @property
    def exit_code(self) -> int:
        """Return 1 if JAX fails or there is another error, else 0."""
        return 1 if self.prediction.default is None or any(finding.level == ERROR for finding in self.findings) else 0

    def to_json(self) -> dict[str, object]:
        """Return the documented JSON form."""
        return {
            "python": str(self.environment.python),
            "versions": dict(self.versions),
            "hardware": list(self.hardware),
            "default": self.prediction.default,
            "error": self.prediction.error or None,
            "silent_cpu": self.silent_cpu,
            "platforms": [asdict(forecast) for forecast in self.prediction.forecasts],
            "plugins": [_plugin_json(plugin) for plugin in self.plugins],
            "libraries": {
                name: [
                    {**asdict(entry), "path": _text(entry.path), "shadows": _text(entry.shadows)} for entry in entries
                ]
                for name, entries in self.libraries.items()
            },
            "findings": [asdict(finding) for finding in self.findings],
        }

    def to_text(self) -> str:
        """Return the answer for people."""
        lines = [f"Python     {'.'.join(map(str, self.environment.version))}, {self.environment.python}"]
        lines += [f"Installed  {' '.join(f'{name} {version}' for name, version in self.versions.items()) or 'no JAX'}"]
        lines += [f"Hardware   {line}" for line in self.hardware or ("no accelerator",)]
        lines += [f"Plugin     {_plugin_line(plugin)}" for plugin in self.plugins]
        for forecast in self.prediction.forecasts:
            by = "" if forecast.provider == "jaxlib" else f" by {forecast.provider}"
            because = f": {forecast.reason}" if forecast.reason else ""
            lines.append(
                f"Platform   {forecast.platform}{by}, priority {forecast.priority}, {forecast.outcome}{because}"
            )
        for name, entries in self.libraries.items():
            lines += _library_lines(name, entries)
        lines.append(f"JAX        {_default_line(self.prediction)}")
        for finding in self.findings:
            lines += [f"{finding.level}: {finding.what}", *([f"  {finding.remedy}"] if finding.remedy else [])]
        return "\n".join(lines)


def sort_findings(findings: list[Finding]) -> tuple[Finding, ...]:
    """Return findings without repetitions, the worst first."""
    order = (ERROR, WARNING, NOTE)
    return tuple(sorted(dict.fromkeys(findings), key=lambda finding: order.index(finding.level)))


def _plugin_json(plugin: Plugin) -> dict[str, object]:
    return {
        "module": plugin.module,
        "found_by": list(plugin.sources),
        "distribution": plugin.distribution or None,
        "version": plugin.version or None,
        "location": _text(plugin.location),
        "platform": plugin.platform,
        "priority": plugin.priority,
        "libraries": [str(path) for path in plugin.libraries],
        "lock_id": plugin.lock.lock_id if plugin.lock is not None else None,
    }


def _plugin_line(plugin: Plugin) -> str:
    place = plugin.libraries[0] if plugin.libraries else plugin.location or "not there"
    version = f" {plugin.version}" if plugin.version else ""
    return f"{plugin.label}{version} by {' and '.join(plugin.sources)}: {place}"


def _library_lines(plugin: str, entries: Sequence[Loaded]) -> list[str]:
    """Return one line for each library that would be loaded, and one for all that are nowhere."""
    lines = [f"Library    {entry.name}: {_found(entry)} ({plugin})" for entry in entries if entry.path is not None]
    absent = [entry.name for entry in entries if entry.path is None]
    return [*lines, *([f"Library    not found: {enumerate_some(absent)} ({plugin})"] if absent else [])]


def _found(entry: Loaded) -> str:
    if entry.problem:
        return f"{entry.path}, which is {entry.problem}"
    return f"{entry.path}" if entry.shadows is None else f"{entry.path}, instead of {entry.shadows}"


def _default_line(prediction: Prediction) -> str:
    if prediction.default is None:
        return f"{'its first use will fail' if prediction.forecasts else 'cannot be imported'}: {prediction.error}"
    return f"default platform will be {prediction.default}"


def _text(value: object) -> object:
    return None if value is None else str(value)
