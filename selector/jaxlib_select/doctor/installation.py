# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Rules about what is installed: JAX and jaxlib, metadata, files, and what the wheels need, as far as JAX needs it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from jaxlib_select.apply.installer import show
from jaxlib_select.doctor.predict import SERVES
from jaxlib_select.doctor.remedies import Examination, remove_folder
from jaxlib_select.doctor.report import ERROR, NO_REMEDY, WARNING, Finding, Remedy
from jaxlib_select.installed.environment import Environment
from jaxlib_select.names import belongings, normalize
from jaxlib_select.sentences import enumerate_some
from jaxlib_select.versions import in_range, read_version

_IMPORTED = ("jax", "jaxlib")  # without what these need JAX cannot be imported
_CODE = re.compile(r".*\.(py|so[.\d]*)")
_SAID = ("LibraryMissingError", "LibraryDamagedError", "KernelsMissingError")  # with the fix
_ELF_HEADER = 64  # bytes of it in a 64-bit library (System V ABI)
_CORE = re.compile(r"jaxlib/[^/]+|jax/(_src/)?[^/]+")  # what is imported with JAX, nearly all of it
# What extension modules are named after that only one version of CPython can import (PEP 3149).
KERNEL = re.compile(r"\.cpython-(3)(\d+t?)-")
# A folder of metadata: name and version (PEP 427).
_INFO = re.compile(r"([A-Za-z0-9._]+)-([0-9][A-Za-z0-9.!+_]*)\.dist-info")
# The part of a requirement (PEP 508) that is read: name, extras and bounds. What depends on a marker is passed over.
_REQUIREMENT = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^]]*\])?\s*\(?([^;@()]*)\)?\s*")


@dataclass(frozen=True, slots=True)
class _Unmet:
    """Something that is needed, and what is there of it.

    Attributes:
        name: The distribution, normalized.
        bounds: Its versions that will do, such as `>=2.1,>=2.0`; empty for any.
        needed_by: Who needs it.
        installed: The version that is there, empty if nothing says which; None if it is not there.
        lost: The version, if only its metadata is there; otherwise None.
    """

    name: str
    bounds: str
    needed_by: str
    installed: str | None = None
    lost: str | None = None

    def __str__(self) -> str:
        """What is there of it, and who needs what."""
        without_files = f" {self.lost} without its files" if self.lost is not None else ""
        state = f" {self.installed}" if self.installed else without_files
        return f"{self.name}{state} ({self.needed_by} needs {self.name}{self.bounds})"


def find_break(environment: Environment) -> tuple[str, str]:
    """Return the code of what keeps JAX from being imported, and one sentence about it; empty if nothing does.

    The rules are JAX's own (`jax._src.lib`).
    """
    jax, jaxlib = environment.version_of("jax"), environment.version_of("jaxlib")
    if jax is None or jaxlib is None:
        absent = [name for name, version in (("jax", jax), ("jaxlib", jaxlib)) if version is None]
        return f"{absent[0]}-missing", f"{' and '.join(absent)} {'are' if len(absent) > 1 else 'is'} not installed"
    oldest = _minimum_jaxlib(environment)
    if (read_version(jaxlib) or ()) > (read_version(jax) or ()):
        return "jaxlib-mismatch", f"jaxlib {jaxlib} is newer than jax {jax}, which JAX refuses"
    if oldest is not None and (read_version(jaxlib) or ()) < (read_version(oldest) or ()):
        return "jaxlib-mismatch", f"jax {jax} needs jaxlib {oldest} at least, and jaxlib {jaxlib} is installed"
    return "", ""


def find_missing(environment: Environment) -> str:
    """Return what JAX cannot be imported without, in a sentence; empty if all of it is there."""
    missing = [need.name for need in _find_unmet(environment, _IMPORTED) if need.installed is None]
    if missing:
        return f"{' and '.join(missing)} {'are' if len(missing) > 1 else 'is'} not installed"
    lost = [file for name in _IMPORTED for file in find_lost(environment, name) if _CORE.fullmatch(file)]
    return f"missing or cut off: {enumerate_some(lost)}" if lost else ""


def incomplete(exam: Examination) -> Iterator[Finding]:
    """JAX or jaxlib is missing, or they do not fit."""
    code, what = find_break(exam.environment)
    if code:
        yield Finding(ERROR, code, what, *exam.restore())


def unmet_requirements(exam: Examination) -> Iterator[Finding]:
    """What is not there, and what is there in a version that will not do: one command for each of both."""
    plugins = [plugin.distribution for plugin in exam.plugins if plugin.distribution]
    unmet = _find_unmet(exam.environment, (*_IMPORTED, *plugins))
    missing = [need for need in unmet if need.installed is None]
    if missing:
        level = ERROR if any(need.needed_by in _IMPORTED for need in missing) else WARNING
        what = f"not installed: {', '.join(map(str, missing))}"
        yield Finding(level, "requirement-missing", what, _install(exam, missing))
    unfit = [need for need in unmet if need.installed is not None]
    if unfit:
        what = f"does not fit: {', '.join(map(str, unfit))}"
        yield Finding(WARNING, "requirement-unfit", what, _install(exam, unfit))


def damaged_metadata(exam: Examination) -> Iterator[Finding]:
    """Metadata that an interrupted installation or removal left behind."""
    ours = {"jax", "jaxlib", *(plugin.distribution for plugin in exam.plugins if plugin.ours)}
    for name in exam.environment.duplicates:
        if name in _concerned(exam):  # what stays is the version that fits the others, if any must
            fitting = exam.version_for(name, exam.release()) if name in ours else None
            version = fitting or exam.environment.version_of(name)
            what = f"{name} is installed twice in one folder"
            yield Finding(WARNING, "doubled-metadata", what, *exam.reinstall(name, version))
    for folder in exam.environment.damaged:
        if re.match(r"(jax|libtpu)", folder.name):
            what = f"the metadata in {folder} has no name or version: an installation was interrupted"
            name, version = _named(folder)
            lost = name and name not in exam.environment.distributions
            again = exam.reinstall(name, version) if lost else NO_REMEDY
            command = " && ".join(filter(None, (remove_folder(folder), again.command)))
            yield Finding(WARNING, "damaged-metadata", what, command, again.note)


def halves_of_plugins(exam: Examination) -> Iterator[Finding]:
    """One half of a plugin: its metadata, or its package. JAX continues without it in either case."""
    for plugin in exam.plugins:
        if plugin.module and plugin.location is None:
            what = f"{plugin.label} lets JAX import {plugin.module}, which is missing; JAX logs that and ignores it"
            yield Finding(WARNING, "plugin-gone", what, *exam.reinstall_plugin(plugin))
    known = {*exam.environment.distributions, *(_named(folder)[0] for folder in exam.environment.damaged)}
    for backend in exam.facts.backends:
        place = exam.environment.find(backend.package) if backend.package else None
        if place is not None and normalize(backend.distribution) not in known and any(place.glob("*.so")):
            what = f"{place} is there without {backend.distribution}: JAX does not find it, and no installer removes it"
            wanted = exam.decision is not None and exam.decision.package == backend.distribution
            # An installer writes over what is there.
            remedy = exam.advise() if wanted else Remedy(remove_folder(place))
            yield Finding(WARNING, "plugin-left-behind", what, *remedy)


def stale_kernels(exam: Examination) -> Iterator[Finding]:
    """Upstream's kernels without their plugin, which JAX imports before others, or of another version."""
    jaxlib = exam.environment.version_of("jaxlib")
    for name, distribution in exam.environment.distributions.items():
        stem = re.fullmatch(r"(jax-\w+)-plugin", name)
        if stem is None:
            continue
        if f"{stem.group(1)}-pjrt" not in exam.environment.distributions:
            what = f"{name} is there without {stem.group(1)}-pjrt: JAX may take its kernels for another plugin"
            yield Finding(WARNING, "stale-kernels", what, exam.uninstall([name]))
        # JAX compares versions of all kernels but ROCm's: `check_plugin_version` of jaxlib/plugin_support.py.
        elif jaxlib is not None and distribution.version != jaxlib.partition("+")[0] and "rocm" not in name:
            what = f"{name} {distribution.version} does not fit jaxlib {jaxlib}, so JAX does not use it"
            owner = next((plugin for plugin in exam.plugins if plugin.label == f"{stem.group(1)}-pjrt"), None)
            level = exam.level(owner.platform if owner is not None else None, SERVES)
            remedy = show(exam.installer.install([f"{name}=={jaxlib.partition('+')[0]}"]))
            yield Finding(level, "kernel-mismatch", what, remedy)


def lost_files(exam: Examination) -> Iterator[Finding]:
    """Code that was installed and is gone or cut off, where no other rule says so."""
    for name in _concerned(exam):
        gone = find_lost(exam.environment, name)
        plugin = next((plugin for plugin in exam.plugins if name in belongings(plugin.distribution)), None)
        if not gone or (plugin is not None and (plugin.location is None or plugin.answer.find(*_SAID))):
            continue
        version = exam.environment.version_of(name)
        idle = plugin is not None and plugin.platform in exam.conditions.no_hardware
        what = f"{name} {version} is incomplete; missing or cut off: {enumerate_some(gone)}"
        yield Finding(WARNING if idle else ERROR, "files-missing", what, *exam.reinstall(name, version))


def find_lost(environment: Environment, name: str) -> list[str]:
    """Return the code of a distribution that was installed for this Python, and is gone or cut off."""
    found = environment.distributions.get(name)
    this = tuple(map(str, environment.version[:2]))
    files = found.record if found is not None else ()
    code = [file for file in files if _CODE.fullmatch(file) and KERNEL.findall(file) in ([], [this])]
    return [file for file in code if found is not None and not _is_whole(found.folder / file)]


def _is_whole(path: Path) -> bool:
    """Return whether a file is there, and an ELF library up to its table of sections, which linkers write last."""
    if path.suffix == ".py" or not path.is_file():
        return path.exists()
    with path.open("rb") as file:
        header = file.read(_ELF_HEADER)
    if header[:4] != b"\x7fELF":
        return bool(header)
    table, size, count = (int.from_bytes(header[at : at + n], "little") for at, n in ((40, 8), (58, 2), (60, 2)))
    return len(header) == _ELF_HEADER and table + size * count <= path.stat().st_size


def _find_unmet(environment: Environment, names: Collection[str]) -> list[_Unmet]:
    """Return what some distributions need and do not have; whether they fit each other is another question."""
    bounds: dict[str, dict[str, str]] = {}
    for owner in names:
        found = environment.distributions.get(owner)
        for match in map(_REQUIREMENT.fullmatch, found.requires if found is not None else ()):
            if match is not None:
                bound = re.sub(r"\s+", "", match.group(2))
                bounds.setdefault(normalize(match.group(1)), {}).setdefault(bound, owner)
    needs = [
        _need(environment, name, ",".join(filter(None, asked)), next(iter(asked.values())))
        for name, asked in bounds.items()
        if name not in names
    ]
    return [need for need in needs if need.installed is None or not _fits(need.installed, need.bounds)]


def _need(environment: Environment, name: str, bounds: str, needed_by: str) -> _Unmet:
    """Return what is there of something that is needed."""
    package = f"{name.replace('-', '_')}/__init__.py"
    found = environment.distributions.get(name)
    elsewhere = found is not None and package not in found.record  # it has its modules under other names
    if elsewhere or environment.find(package) is not None:
        return _Unmet(name, bounds, needed_by, found.version if found is not None else "")
    return _Unmet(name, bounds, needed_by, lost=found.version if found is not None else None)


def _fits(version: str, bounds: str) -> bool:
    """Return whether a version keeps bounds; those that cannot be read are kept."""
    try:
        return not version or not bounds or in_range(read_version(version) or (), bounds)
    except ValueError:
        return True


def _install(exam: Examination, needs: Sequence[_Unmet]) -> str:
    """Return the command that brings them; an installer believes metadata whose package is lost."""
    lost = [need.name for need in needs if need.lost is not None]
    return " && ".join(map(show, exam.installer.exchange([f"{need.name}{need.bounds}" for need in needs], lost)))


def _minimum_jaxlib(environment: Environment) -> str | None:
    """Return the oldest jaxlib that the installed JAX takes, from its source."""
    path = environment.find("jax/version.py")
    try:
        text = path.read_text("utf-8") if path is not None else ""
    except (OSError, UnicodeError):
        return None
    found = re.search(r"""^_minimum_jaxlib_version\s*=\s*["']([^"']+)""", text, re.MULTILINE)
    return found.group(1) if found else None


def _concerned(exam: Examination) -> dict[str, None]:
    """Return the names of distributions that this is about: JAX, plugins, and what brings the vendors' libraries."""
    parts = [name for plugin in exam.plugins for name in belongings(plugin.distribution)]
    libraries = {entry.name for plugin in exam.plugins for entry in plugin.answer.vendor.libraries}
    for name, found in exam.environment.distributions.items():
        parts += [name] if any(file.rpartition("/")[2] in libraries for file in found.record) else []
    return dict.fromkeys([*_IMPORTED, *parts])


def _named(folder: Path) -> tuple[str, str]:
    """Return the distribution and version that a folder of metadata is named after; None for another folder."""
    found = _INFO.fullmatch(folder.name)
    return (normalize(found.group(1)), found.group(2)) if found is not None else ("", "")
