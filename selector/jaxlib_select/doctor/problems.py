# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Rules about plugins: what they say about themselves, whether they get their platform, and what hides them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence

from jaxlib_select.doctor.installation import (
    KERNEL,
    damaged_metadata,
    find_lost,
    halves_of_plugins,
    incomplete,
    lost_files,
    stale_kernels,
    unmet_requirements,
)
from jaxlib_select.doctor.predict import ASKING, FAILS, SERVES
from jaxlib_select.doctor.remedies import LOCK_ERRORS, Examination, set_variable, unset
from jaxlib_select.doctor.report import ERROR, NO_REMEDY, NOTE, WARNING, Finding, Remedy
from jaxlib_select.installed.plugins import (
    ABSENT,
    CRASH,
    NOT_IMPORTED,
    SILENT,
    UNREGISTERED,
    UNUSED,
    VARIABLE,
    Plugin,
    Problem,
)
from jaxlib_select.names import belongings

_EXTENSION = "pjrt/_pjrt.abi3.so"  # in each of our plugins: opens its library


def find_problems(exam: Examination) -> list[Finding]:
    """Apply every rule."""
    return [finding for rule in _RULES for finding in rule(exam)]


def _mixed_sets(exam: Examination) -> Iterator[Finding]:
    """Wheels of different sets: one error for all that refuse, since one command fixes them."""
    found = [(plugin, plugin.answer.find(*LOCK_ERRORS)) for plugin in _staying(exam)]
    refusals = [(plugin, problem) for plugin, problem in found if problem and not exam.removal(problem.remedy)]
    if refusals and not exam.conditions.broken:
        levels = {exam.level(plugin.platform, FAILS) for plugin, _ in refusals}
        what = "; ".join(dict.fromkeys(problem.what for _, problem in refusals))
        remedy = exam.restore()
        remedy = remedy if remedy.command else _own_remedy(refusals[0][1])
        yield Finding(ERROR if ERROR in levels else WARNING, "lock-mismatch", what, *remedy)


def _unusable_plugins(exam: Examination) -> Iterator[Finding]:
    """What plugins say about themselves, each in its own words."""
    for plugin in _staying(exam):
        for problem in plugin.answer.problems:
            judge = _JUDGES.get(problem.code)  # what is not there is left to other rules
            finding = judge(exam, plugin, problem) if judge is not None else None
            if finding is not None:
                yield finding


def _disabled(_: Examination, plugin: Plugin, problem: Problem) -> Finding | None:
    settings = plugin.answer.settings
    named = settings.disabled and settings.disable_variable in problem.what
    return Finding(WARNING, "switched-off", problem.what, *_own_remedy(problem)) if named else None


def _bad_library(exam: Examination, plugin: Plugin, problem: Problem) -> Finding:
    """The plugin's library, or the extension module that opens it, is missing or damaged."""
    code = "library-missing" if problem.code == "LibraryMissingError" else "library-damaged"
    if plugin.ours and code == "library-damaged" and str(plugin.answer.library.path) not in problem.what:
        missing = plugin.location is not None and not (plugin.location / _EXTENSION).is_file()
        code = "extension-missing" if missing else code
    elsewhere = plugin.ours and plugin.answer.library.path is None  # as libtpu
    remedy = _own_remedy(problem) if elsewhere and problem.remedy else exam.reinstall_plugin(plugin)
    return Finding(exam.level(plugin.platform, FAILS), code, problem.what, *remedy)


def _refusal(exam: Examination, plugin: Plugin, problem: Problem) -> Finding | None:
    """The plugin cannot work in this Python, with this JAX, or with others that are to be removed."""
    removal = exam.removal(problem.remedy)
    if exam.conditions.broken or (problem.code in LOCK_ERRORS and not removal):
        return None
    code = "kernel-mismatch" if removal else "python-unfit" if problem.code == "InterpreterError" else "plugin-fails"
    remedy = exam.restore() if problem.code == "TakeOverError" else _own_remedy(problem)
    remedy = Remedy(removal) if removal else remedy
    return Finding(exam.level(plugin.platform, FAILS), code, problem.what, *remedy)


def _missing_kernels(exam: Examination, plugin: Plugin, problem: Problem) -> Finding:
    """There are no GPU kernels for this Python: they are lost, or only those of another one are installed."""
    names = belongings(plugin.distribution)
    lost = [file for name in names for file in find_lost(exam.environment, name) if KERNEL.search(file)]
    level = exam.level(plugin.platform, SERVES) if lost or not plugin.answer.kernels.pythons else WARNING
    return Finding(level, "kernels-missing", problem.what, *_own_remedy(problem))


def _unfit(exam: Examination, plugin: Plugin, problem: Problem) -> Finding | None:
    """The plugin does not run here: another one does, or it lacks its vendor's libraries."""
    vendor = problem.code == "VendorLibraryError"
    if not _is_used(exam, plugin):
        return None
    other = exam.decision is not None and exam.decision.package != plugin.distribution
    remedy = exam.advise() if vendor or other else _own_remedy(problem)
    remedy = Remedy(unset("LD_LIBRARY_PATH")) if vendor and _is_misled(plugin) else remedy
    return Finding(ERROR, "unfit-backend", f"{plugin.label} does not run here: {problem.what}", *remedy)


def _raises(exam: Examination, plugin: Plugin, problem: Problem) -> Finding | None:
    """JAX fails because of a plugin; that it runs on the CPU without one is said by the rule about the CPU."""
    if problem.effect == UNUSED:
        return None
    return Finding(ERROR, "plugin-fails", f"{plugin.label}: {problem.what}", *exam.reinstall_plugin(plugin))


def _gap(exam: Examination, plugin: Plugin, problem: Problem) -> Finding | None:
    what = f"{plugin.label} may not run all programs: {problem.what}"
    return Finding(WARNING, "library-not-found", what, *exam.advise()) if _is_used(exam, plugin) else None


def _as_it_says(code: str, _: Examination, __: Plugin, problem: Problem) -> Finding:
    """A plugin for a jaxlib of another set, or hidden devices."""
    return Finding(WARNING, code, problem.what, *_own_remedy(problem))


def _own_remedy(problem: Problem) -> Remedy:
    """Return what the plugin itself says that fixes it."""
    return Remedy(problem.remedy, problem.note)


def _no_answer(exam: Examination, plugin: Plugin, problem: Problem) -> Finding | None:
    """The plugin cannot be imported, crashes, or is older than the question; where files are lost, that is why."""
    if find_lost(exam.environment, plugin.distribution):
        return None
    if problem.code == NOT_IMPORTED:
        what = f"{plugin.label} cannot be imported, so JAX ignores it: {problem.what}"
        return Finding(WARNING, "plugin-fails", what, *exam.renew())
    remedy = exam.reinstall_plugin(plugin) if problem.code == SILENT else NO_REMEDY
    return Finding(exam.level(plugin.platform, FAILS), "plugin-fails", problem.what, *remedy)


_JUDGES: Mapping[str, Callable[[Examination, Plugin, Problem], Finding | None]] = {
    "OtherSetError": functools.partial(_as_it_says, "other-set"),
    "UnusedError": _disabled,
    "LibraryMissingError": _bad_library,
    "LibraryDamagedError": _bad_library,
    "VersionMismatchError": _refusal,
    "TakeOverError": _refusal,
    "InterpreterError": _refusal,
    "KernelsMissingError": _missing_kernels,
    UNREGISTERED: _raises,
    "VendorLibraryError": _unfit,
    "DriverError": _unfit,
    "GpuCodeError": _unfit,
    "VendorLibraryGapError": _gap,
    "NoDeviceError": functools.partial(_as_it_says, "device-hidden"),
    NOT_IMPORTED: _no_answer,
    CRASH: _no_answer,
    SILENT: _no_answer,
}


def _is_used(exam: Examination, plugin: Plugin) -> bool:
    """Return whether JAX has hardware for a plugin, and uses this one."""
    found = exam.prediction.find(plugin.platform)
    return found is not None and found.provider == plugin.label and found.outcome != ABSENT


def _staying(exam: Examination) -> list[Plugin]:
    """Return the plugins that are not to be removed anyway."""
    surplus = exam.surplus()
    return [plugin for plugin in exam.plugins if plugin.label not in surplus and not plugin.refused]


def _is_misled(plugin: Plugin) -> bool:
    """Return whether a file on LD_LIBRARY_PATH that is no library hides a library."""
    libraries = plugin.answer.vendor.libraries
    return any(entry.problem and any(file.misfit for file in entry.on_library_path) for entry in libraries)


def _unfit_platforms(exam: Examination) -> Iterator[Finding]:
    """Platforms whose first use raises an error, by what is known about the machine."""
    for entry in exam.prediction.platforms:
        if entry.outcome == FAILS and entry.reason in exam.conditions.unfit.values():
            what = f"{entry.provider} does not run here: {entry.reason}"
            yield Finding(ERROR, "unfit-backend", what, *exam.advise())


def _doubled_backends(exam: Examination) -> Iterator[Finding]:
    """Several plugins for one platform."""
    for platform, labels in exam.rivals().items():
        others = [
            name
            for label in labels
            if label != exam.keep(labels)
            for name in belongings(label)
            if name in exam.environment.distributions
        ]
        what = f"{' and '.join(labels)} are both for JAX's platform {platform!r}, and JAX can take only one"
        yield Finding(exam.level(platform, FAILS), "doubled-backend", what, exam.uninstall(others))


def _variables(exam: Examination) -> Iterator[Finding]:
    """Variables that ask JAX for what is not there, or leave something out."""
    for plugin in exam.plugins:
        if plugin.refused:
            level = ERROR if plugin.platform is not None else WARNING
            yield Finding(level, "variable", f"{VARIABLE}: {plugin.refused}", unset(VARIABLE))
    if exam.conditions.flags:
        yield Finding(ERROR, "variable", exam.conditions.flags, unset("XLA_FLAGS"))
    default, platforms = exam.prediction.default, exam.prediction.platforms
    serving = [entry.platform for entry in platforms if entry.outcome == SERVES]
    given = [name for name in ASKING if exam.conditions.variables.get(name)]
    for name in given if default is None and platforms else ():
        if name in exam.prediction.error:
            value = ",".join(reversed(serving)) if name == "JAX_PLATFORMS" else serving[-1]
            yield Finding(ERROR, "platforms", exam.prediction.error, set_variable(name, value))
    asked = next(iter(given), "")
    if asked and default == "cpu" and len(serving) > 1:
        left_out = ", ".join(name for name in serving if name != "cpu")
        what = f"{asked} is {exam.conditions.variables[asked]!r}, so JAX does not use {left_out}"
        yield Finding(WARNING, "platforms", what, unset(asked))


def _library_path(exam: Examination) -> Iterator[Finding]:
    """Files on LD_LIBRARY_PATH that come before the wheels' libraries, or that are no libraries for this machine."""
    folders = [f"{folder}/" for folder in exam.conditions.variables.get("LD_LIBRARY_PATH", "").split(":") if folder]
    for plugin in exam.plugins:
        driver = plugin.answer.vendor.driver_problem
        if driver is not None and any(folder in driver.cause for folder in folders):
            what = f"LD_LIBRARY_PATH: {driver.cause}"
            yield Finding(WARNING, "library-foreign", what, unset("LD_LIBRARY_PATH"))
        if exam.level(plugin.platform, FAILS) == ERROR and _is_misled(plugin):
            continue  # the rule about the platform has said so
        for entry in plugin.answer.vendor.libraries:
            if entry.shadows is not None:
                what = f"LD_LIBRARY_PATH leads to {entry.path} instead of {entry.shadows}"
                yield Finding(WARNING, "library-shadowed", what, unset("LD_LIBRARY_PATH"))
            for misfit in [file.misfit for file in entry.on_library_path if file.misfit]:
                lost = entry.path is None
                what = f"{misfit}, {f'so {entry.name} cannot be loaded' if lost else 'and is passed over'}"
                level, remedy = (WARNING, unset("LD_LIBRARY_PATH")) if lost else (NOTE, "")
                yield Finding(level, "library-foreign", f"LD_LIBRARY_PATH: {what}", remedy)


_RULES: Sequence[Callable[[Examination], Iterator[Finding]]] = (
    incomplete,
    unmet_requirements,
    damaged_metadata,
    halves_of_plugins,
    _mixed_sets,
    lost_files,  # before what says that it does not work: installing its name again brings no lost file
    _unusable_plugins,
    _doubled_backends,
    stale_kernels,
    _variables,
    _unfit_platforms,
    _library_path,
)
