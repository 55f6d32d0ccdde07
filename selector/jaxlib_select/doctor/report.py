# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What `doctor` found, as values, as JSON and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

from jaxlib_select.doctor.predict import SERVES, Prediction
from jaxlib_select.installed.environment import Environment
from jaxlib_select.installed.plugins import Plugin, VendorLibrary
from jaxlib_select.sentences import enumerate_some

ERROR, WARNING, NOTE = "error", "warning", "note"


class Remedy(NamedTuple):
    """What fixes something; the same as in the plugins' `pjrt.errors`, which are installed without this package.

    Attributes:
        command: The command, and nothing but it: not every shell takes a comment behind one. Empty where none does.
        note: What else there is to know about it.
    """

    command: str = ""
    note: str = ""


NO_REMEDY = Remedy()


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to know or to fix.

    Attributes:
        level: `error` (JAX fails, lacks a part of what it uses here, or leaves the hardware out), `warning` (JAX goes
            on without what is wrong) or `note`.
        code: A short name for programs, such as `lock-mismatch`.
        what: One sentence.
        remedy: The command that fixes it; empty where none can.
        note: What else there is to know about that command.
    """

    level: str
    code: str
    what: str
    remedy: str = ""
    note: str = ""

    def to_text(self) -> str:
        """Return the sentence, a note if there is one, and the command, each on a line of its own."""
        note = f"({self.note})" if self.note else ""
        return "\n  ".join(filter(None, (self.title, note, self.remedy)))

    @property
    def title(self) -> str:
        """The sentence with its level."""
        return f"{self.level}: {self.what}"


@dataclass(frozen=True)
class Report:
    """The whole answer.

    Attributes:
        environment: What was examined.
        versions: Versions of jax, jaxlib and every plugin that is installed.
        plugins: What JAX will find.
        prediction: What JAX will do with it.
        hardware: Accelerators of the machine, one line each.
        findings: What is wrong, the worst first.
        silent_cpu: Whether JAX would run on the CPU, without a word from the user, though there is an accelerator.
        renewal: What installs JAX, jaxlib and the plugins again, as they are.
        jaxlib_origin: Whose jaxlib is installed: `ours`, which has a lock, or `upstream`; nothing without any.
    """

    environment: Environment
    versions: Mapping[str, str]
    plugins: tuple[Plugin, ...]
    prediction: Prediction
    hardware: tuple[str, ...]
    findings: tuple[Finding, ...]
    silent_cpu: bool
    renewal: Remedy = NO_REMEDY
    jaxlib_origin: str | None = None

    @property
    def exit_code(self) -> int:
        """Return 1 if JAX fails or there is another error, else 0."""
        return 1 if self.prediction.default is None or any(finding.level == ERROR for finding in self.findings) else 0

    @property
    def libraries(self) -> dict[str, tuple[VendorLibrary, ...]]:
        """Label of a plugin → shared libraries of its vendor."""
        found = {plugin.label: plugin.answer.vendor.libraries for plugin in self.plugins}
        return {label: libraries for label, libraries in found.items() if libraries}

    def to_json(self) -> dict[str, object]:
        """Return the documented JSON form."""
        return {
            "python": str(self.environment.python),
            "versions": dict(self.versions),
            "jaxlib_origin": self.jaxlib_origin,
            "hardware": list(self.hardware),
            "default": self.prediction.default,
            "error": self.prediction.error or None,
            "silent_cpu": self.silent_cpu,
            "platforms": [asdict(platform) for platform in self.prediction.platforms],
            "plugins": [_plugin_json(plugin) for plugin in self.plugins],
            "libraries": {label: list(map(_library_json, entries)) for label, entries in self.libraries.items()},
            "findings": [asdict(finding) for finding in self.findings],
        }

    def to_text(self) -> str:
        """Return the answer for people: the verdict first, and last the one command that fixes the worst."""
        lines = [f"JAX        {self.headline}"]
        lines += [f"Python     {'.'.join(map(str, self.environment.version))}, {self.environment.python}"]
        lines += [f"Installed  {' '.join(map(self._installed, self.versions)) or 'no JAX'}"]
        lines += [f"Hardware   {line}" for line in self.hardware or ("no accelerator",)]
        lines += [f"Plugin     {_plugin_line(plugin)}" for plugin in self.plugins]
        for entry in self.prediction.platforms:
            by = "" if entry.provider == "jaxlib" else f" by {entry.provider}"
            serving = ", but not all programs" if entry.reason and entry.outcome == SERVES else ""
            because = f"{serving}: {entry.reason}" if entry.reason else ""
            lines.append(f"Platform   {entry.platform}{by}, priority {entry.priority}, {entry.outcome}{because}")
        for label, entries in self.libraries.items():
            found = [entry for entry in entries if entry.path is not None]
            missing = [entry.name for entry in entries if entry.path is None]
            lines += [f"Library    {entry.name}: {_found(entry)} ({label})" for entry in found]
            lines += [f"Library    not found: {enumerate_some(missing)} ({label})"] if missing else []
        return "\n".join([*lines, *_finding_lines(self.findings)])

    @property
    def headline(self) -> str:
        """What JAX will use, or why it fails."""
        if self.prediction.default is None:
            fails = "its first use will fail" if self.prediction.platforms else "cannot be imported"
            return f"{fails}: {self.prediction.error}"
        return f"default platform will be {self.prediction.default}"

    def _installed(self, name: str) -> str:
        """Return a distribution with its version; of jaxlib, which both publish in one version, also whose it is."""
        whose = {"ours": " (ours)", "upstream": " (upstream's)"}.get(self.jaxlib_origin or "", "")
        return f"{name} {self.versions[name]}{whose if name == 'jaxlib' else ''}"


def _finding_lines(findings: Sequence[Finding]) -> list[str]:
    """Return the lines of findings, the worst first; a remedy is there once, that of the worst in the end."""
    first = next((finding for finding in findings if finding.remedy), None)
    shown = {first.remedy if first is not None else ""}
    lines: list[str] = []
    for finding in findings:
        text = finding.title if finding.remedy in shown else finding.to_text()
        lines += text.splitlines()
        shown.add(finding.remedy)
    if first is None:
        return lines
    note = f" ({first.note})" if first.note else ""
    return [*lines, f"To fix it{note}:", f"  {first.remedy}"]


def sort_findings(findings: list[Finding]) -> tuple[Finding, ...]:
    """Return findings without repetitions, the worst first."""
    order = (ERROR, WARNING, NOTE)
    return tuple(sorted(dict.fromkeys(findings), key=lambda finding: order.index(finding.level)))


def _plugin_json(plugin: Plugin) -> dict[str, object]:
    library = _library(plugin)
    return {
        "module": plugin.module,
        "found_by": list(plugin.sources),
        "distribution": plugin.distribution or None,
        "version": plugin.version or None,
        "location": str(plugin.location) if plugin.location is not None else None,
        "platform": plugin.platform,
        "priority": plugin.priority,
        "libraries": [library] if library else [],
        "lock_id": plugin.lock.lock_id if plugin.lock is not None else None,
    }


def _plugin_line(plugin: Plugin) -> str:
    version = f" {plugin.version}" if plugin.version else ""
    place = _library(plugin) or plugin.location or "not there"
    return f"{plugin.label}{version} by {' and '.join(plugin.sources)}: {place}"


def _library(plugin: Plugin) -> str | None:
    """Return the file of a plugin's library; None if no file can be used."""
    damaged = plugin.answer.find("LibraryMissingError", "LibraryDamagedError")
    return None if damaged is not None else plugin.answer.library.path


def _library_json(entry: VendorLibrary) -> dict[str, object]:
    return {
        "name": entry.name,
        "path": entry.path,
        "origin": "wheel" if entry.origin == "vendor" else entry.origin,
        "how": "needed" if entry.needed else "opened",
        "shadows": entry.shadows,
        "problem": entry.problem,
        "passed": [file.misfit for file in entry.on_library_path if file.misfit],
    }


def _found(entry: VendorLibrary) -> str:
    if entry.problem:
        return f"{entry.path}: {entry.problem}"
    return f"{entry.path}" if entry.shadows is None else f"{entry.path}, instead of {entry.shadows}"
