# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What `python -m <package>` found: one model, rendered as JSON (for programs) or as text (for people)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from typing import Any, TypeVar

from .api import PluginLibrary
from .errors import NoDeviceError, PluginError
from .kernels import InstalledKernels
from .lock import Installed
from .plugin import Plugin, unfit
from .rivals import Rivals, describe_yielding
from .settings import Settings
from .terminal import COMMAND
from .vendor import Vendor, VendorLibrary

# Of the JSON form; a program that reads it refuses a number that it does not know. New keys do not change it.
SCHEMA = 1

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PythonVersion:
    """The Python that was asked.

    Attributes:
        version: Its version, such as `3.12.1`.
        executable: Its file.
        free_threaded: Whether it is one without the GIL.
    """

    version: str
    executable: str
    free_threaded: bool


@dataclass(slots=True)
class Report:
    """The answers to questions about a plugin; each attribute is filled by the question that it answers.

    Attributes:
        plugin: The plugin.
        own: The plugin's distribution.
        jaxlib: The installed jaxlib.
        jax: The installed JAX.
        python: The Python that was asked.
        settings: What the user's environment variables say.
        priority: The platform with the highest one is JAX's default.
        library: The plugin's own library.
        override: By whose decision its library is of another release than the wheel; empty if it is not.
        gpu_code: For which GPUs it holds code, as recorded when the wheel was built; empty if it is not.
        kernels: Its kernels; None if it is no plugin with kernels.
        rivals: Other plugins for the platform; None if they were not looked for.
        vendor: The vendor's libraries and hardware; None if they were not looked for.
        problems: What keeps JAX from using the plugin.
        absence: That there is no such hardware here, if so.
    """

    plugin: Plugin
    own: Installed
    jaxlib: Installed
    jax: Installed
    python: PythonVersion
    settings: Settings
    priority: int
    library: PluginLibrary
    override: str = ""
    gpu_code: tuple[str, ...] = ()
    kernels: InstalledKernels | None = None
    rivals: Rivals | None = None
    vendor: Vendor | None = None
    problems: list[PluginError] = field(default_factory=list)
    absence: NoDeviceError | None = None

    def ask(self, question: Callable[[], T]) -> T | None:
        """Return what a question finds; if it raises, note what is wrong and return None."""
        try:
            return question()
        except NoDeviceError as error:
            self._note_absence(error)
        except Exception as error:  # noqa: BLE001  # the status of a broken installation is no traceback
            self._note(unfit(self.plugin, error))
        return None

    def check(self, question: Callable[[], object]) -> bool:
        """Ask only whether something is wrong; return whether nothing is."""

        def passes() -> bool:
            question()
            return True

        return self.ask(passes) or False

    def _note_absence(self, error: NoDeviceError) -> None:
        if error.hidden:
            self._note(error)
        else:
            self.absence = error

    def _note(self, error: PluginError) -> None:
        if error.sentences() not in [problem.sentences() for problem in self.problems]:
            self.problems.append(error)

    @property
    def fits(self) -> bool:
        """Whether nothing keeps JAX from using the plugin; that there is no such hardware does not count."""
        return not self.problems

    def verdict(self) -> str:
        """Return what JAX does with the plugin here, and the fix where it does not do all that it could."""
        distribution = self.plugin.distribution
        if self.settings.disabled:
            variable = self.settings.disable_variable
            return f"{distribution} is switched off: {variable} is set. To use it: unset {variable}"
        if problems := self._worst():
            judged = "does not run all programs here" if problems[0].effect == "degraded" else "does not fit here"
            return f"{distribution} {judged}{self.fix() or f': {problems[0].what}'}"
        if self.absence is not None:
            return f"{distribution} fits, but JAX cannot use it here: {self.absence.what}{self.absence.fix()}"
        # A library that was wrapped may call its platform `cpu`, and JAX calls devices as their library does.
        own = f": jax.devices({self.plugin.name!r}) are its own" if self.plugin.provider == "file" else ""
        return f"{distribution} fits here: JAX uses it for its platform {self.plugin.name!r}{own}"

    def to_fix(self) -> PluginError | None:
        """Return the problem whose remedy comes first; None if none has one, or the user disabled the plugin."""
        problems = [] if self.settings.disabled else self._worst()
        return next((problem for problem in problems if problem.remedy), None)

    def fix(self) -> str:
        """Return the fix as the end of the verdict; empty if there is none."""
        problem = self.to_fix()
        return problem.fix() if problem is not None else ""

    def _worst(self) -> list[PluginError]:
        """Return the problems with which JAX refuses the plugin, else those with which some programs fail."""
        return [problem for problem in self.problems if problem.effect != "degraded"] or self.problems


# What is an entry of the JSON form by its own name.
_ENTRIES = "jaxlib jax python settings library override gpu_code kernels rivals vendor problems absence fits"


def to_json(report: Report) -> str:
    """Return the report as one JSON object; every key is always there."""
    plugin = report.plugin
    document = {
        "schema": SCHEMA,
        "distribution": plugin.distribution,
        "package": plugin.package.name,
        "platform": plugin.name,
        "priority": report.priority,
        **asdict(report.own),
        **{name: getattr(report, name) for name in _ENTRIES.split()},
        "verdict": report.verdict(),
    }
    return json.dumps(document, indent=2, default=_plain)


def _plain(value: Any) -> Any:
    """Return what JSON can say of an object: an error, one of the models, or a path."""
    if isinstance(value, PluginError):
        names = ("effect", "what", "cause", "remedy", "note")
        return {"code": type(value).__name__, **{name: getattr(value, name) for name in names}}
    if is_dataclass(value):
        return {item.name: getattr(value, item.name) for item in fields(value)}
    return str(value)


def to_text(report: Report, *, verbose: bool = False) -> list[str]:
    """Return the report line by line; the first one is the verdict, and the last one the fix if there is any."""
    full, fixed = report.verdict(), report.to_fix()
    lines = [full.removesuffix(report.fix()), _title(report), _row("runs with", _surroundings(report))]
    lines += _rival_rows(report)
    lines += _library_rows(report.library)
    lines += [_row("override", report.override)] if report.override and verbose else []
    if report.kernels is not None and report.vendor is not None:
        lines.append(_row("GPU code", " ".join(report.gpu_code) or "not recorded"))
        lines += _kernel_rows(report.kernels, report.python)
    lines += _vendor_rows(report.vendor) if report.vendor is not None else []
    if report.absence is not None and report.problems:
        lines.append(_row("hardware", report.absence.what))
    for problem in report.problems:
        is_last = fixed is not None and (problem.note, problem.remedy) == (fixed.note, fixed.remedy)
        advice = () if is_last else (problem.note, problem.remedy)
        said = [text for text in (problem.what, problem.cause, *advice) if text and not full.endswith(text)]
        lines += _rows("problem", [line for text in said for line in text.splitlines()])
    if fixed is None:
        return lines
    return [*lines, *([_row("note", fixed.note)] if fixed.note else []), COMMAND + fixed.remedy]


def _row(label: str, text: str) -> str:
    """Return one line of the text.

    >>> _row("library", "a.so"), _row("", "b.so")
    ('library     a.so', '            b.so')
    """
    return f"{label:<11} {text}"


def _rows(label: str, texts: list[str]) -> list[str]:
    """Return lines of which the first has a label."""
    return [_row("" if number else label, text) for number, text in enumerate(texts)]


def _title(report: Report) -> str:
    lock = report.own.lock
    if lock is None:
        return f"{report.plugin.distribution} {report.own.version or 'of unknown version'}"
    belongs = f"build {lock.build}, lock {lock.lock_id}" if lock.lock_id else "for upstream's jaxlib"
    return f"{report.plugin.distribution} {lock.version}, {belongs}, {report.plugin.provider}"


def _surroundings(report: Report) -> str:
    jaxlib, jax = (found.version or "not installed" for found in (report.jaxlib, report.jax))
    whose = " (ours)" if report.jaxlib.lock is not None else " (upstream's)"
    return f"Python {report.python.version}, jaxlib {jaxlib}{whose if report.jaxlib.version else ''}, jax {jax}"


def _rival_rows(report: Report) -> list[str]:
    others = report.rivals.yielding if report.rivals is not None else ()
    texts = [describe_yielding(other, report.plugin.name, [report.plugin.distribution]).sentences() for other in others]
    return _rows("not used", [line for text in texts for line in text.splitlines()])


def _library_rows(library: PluginLibrary) -> list[str]:
    if not library.opened or library.pjrt_api is None:
        return []
    attributes = (f"{name} {_readable(value)}" for name, value in library.attributes.items())
    return [
        _row("library", str(library.path)),
        _row("PJRT API", ".".join(map(str, library.pjrt_api))),
        _row("extensions", ", ".join(library.extensions) or "none"),
        _row("attributes", ", ".join(attributes)),
    ]


def _readable(value: Any) -> str:
    return ".".join(map(str, value)) if isinstance(value, list) else str(value)


def _kernel_rows(kernels: InstalledKernels, python: PythonVersion) -> list[str]:
    minor = ".".join(python.version.split(".")[:2])
    return [_row("kernels", f"{' '.join(kernels.modules)} (Python {minor})")] if kernels.modules else []


def _vendor_rows(vendor: Vendor) -> list[str]:
    found = [library for library in vendor.libraries if library.path is not None or library.opened]
    missing = [library.name for library in vendor.libraries if library.opened is False]
    lines = _rows("libraries", [_describe(library) for library in found] or (["none found"] if missing else []))
    lines += [_row("missing", " ".join(missing))] if missing else []
    lines += [_row("rejected", text) for text in vendor.rejected]
    lines += [_row("warning", text) for text in vendor.warnings]
    driver = vendor.driver or (vendor.driver_problem.what if vendor.driver_problem is not None else "")
    lines += [_row("driver", driver)] if driver else []
    return [*lines, _row("devices", ", ".join(vendor.devices) or "none")]


def _describe(library: VendorLibrary) -> str:
    return " ".join(part for part in (library.name, library.version, str(library.path or "")) if part)
