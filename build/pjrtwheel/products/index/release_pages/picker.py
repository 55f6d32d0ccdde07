# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The install picker: what it offers, the commands it gives, and the same without a script.

`picker.toml` has the systems and the commands, each backend its own accelerators. The selector decides, here for the
tables that everybody can read, and in a browser by the same functions (`selector_code.py`).
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name, is_normalized_name
from packaging.version import Version

from jaxlib_select.choose.decision import Decision
from jaxlib_select.choose.resolve import resolve
from jaxlib_select.facts import known_releases, load_facts
from jaxlib_select.machine.file import from_json
from pjrtwheel.abis import name_python
from pjrtwheel.backend import OWN_ROOT
from pjrtwheel.products.index.release_pages.accelerators import Accelerator, Choice, Machine, load_accelerators
from pjrtwheel.products.index.release_pages.releases import Release
from pjrtwheel.products.index.release_pages.selector_code import selector_code, selector_facts
from pjrtwheel.sets.projects import BINDINGS
from pjrtwheel.tables import read_toml, write

INDEX = "INDEX"  # stands for the address of the index, which only a browser knows


@dataclass(frozen=True, slots=True)
class System:
    """A system, with its part of a machine file; `shell` names the commands for it."""

    label: str
    platform: str
    shell: str
    machine: Machine


@dataclass(frozen=True, slots=True)
class Commands:
    """The commands of one installer in one shell: for a new environment, for an existing one, and again."""

    new: tuple[str, ...]
    existing: tuple[str, ...]
    again: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Offer:
    """What the picker offers: accelerators are the backends' own, and the rest is in `picker.toml`."""

    systems: tuple[System, ...]
    accelerators: tuple[Accelerator, ...]
    commands: Mapping[str, Mapping[str, Commands]]
    interpreters: Mapping[str, Mapping[str, str]]
    notes: Mapping[str, str]
    variables: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Answer:
    """One row of the table that is there without a script.

    Attributes:
        accelerator: What the machine has.
        choice: What else decided, as `NVIDIA driver 580 or newer`; empty where nothing did.
        decision: What the selector decided.
        commands: Installer and kind of environment → the commands.
        notes: What the user should know, one sentence each without its period.
    """

    accelerator: str
    choice: str
    decision: Decision
    commands: Mapping[tuple[str, str], tuple[str, ...]]
    notes: tuple[str, ...]

    @property
    def reason(self) -> str:
        """Why this package."""
        return next(candidate.reason for candidate in self.decision.candidates if candidate.chosen)


def read_offer() -> Offer:
    """Read `picker.toml`, and what the backends of this repository offer: those that its selector knows."""
    text = files(__package__).joinpath("picker.toml").read_text("utf-8")
    return read_toml(Offer, text, accelerators=load_accelerators(OWN_ROOT))


def is_known(release: Release) -> bool:
    """Return whether the selector has facts about this very set of a release, whose version it would ask for."""
    if release.jax not in known_releases():
        return False
    return all(backend.version == release.version for backend in load_facts(release.jax).backends if backend.tags)


def answer(offer: Offer, release: Release, system: System) -> Iterator[Answer]:
    """Yield what the selector decides for each accelerator on a system, with the commands."""
    python = next(map(name_python, release.pythons_of(system.platform)), "3")
    rivals = find_rivals(release)
    for accelerator in offer.accelerators:
        for choice in accelerator.choices or (Choice("", {}),):
            machine = join_machines(system.machine, accelerator.machine, choice.machine)
            decision = resolve(f"jax=={release.jax}", from_json(machine))
            commands = {
                (installer, kind): fill_commands(
                    commands, kind, offer.variables[system.shell], decision, python=python, rivals=rivals
                )
                for installer, commands in offer.commands[system.shell].items()
                for kind in ("new", "existing")
            }
            said = f"{accelerator.question} {choice.label}" if choice.label else ""
            notes = (*_missing(offer, release, system, decision), *decision.warnings)
            yield Answer(accelerator.label, said, decision, commands, notes)


def _missing(offer: Offer, release: Release, system: System, decision: Decision) -> Iterator[str]:
    """Yield what the index lacks of a decision."""
    if not release.pythons_of(system.platform):
        yield offer.notes["bindings"].format(package=BINDINGS)
    if len(decision.requirements) > 1 and decision.package not in release.packages_of(system.platform):
        yield offer.notes["package"].format(package=decision.package)


def join_machines(*parts: Machine) -> dict[str, Any]:
    """Return a machine file of its parts; tables are joined."""
    joined: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            before = joined.get(key)
            both = isinstance(value, dict) and isinstance(before, dict)
            joined[key] = join_machines(before, value) if both and before is not None else copy.deepcopy(value)
    return joined


def fill_commands(
    commands: Commands, kind: str, variable: str, decision: Decision, *, python: str, rivals: Sequence[str]
) -> tuple[str, ...]:
    """Return the commands for a decision; `about.js` fills them in the same way."""
    own = next((text for text in decision.requirements if _name_of(text) != "jax"), "")
    version = own.partition("==")[2] or decision.requirements[0].partition("==")[2]
    values = {
        "python": python,
        "index": INDEX,
        "requirements": " ".join(map(quote, (*decision.requirements, *decision.constraints))),
        "rivals": " ".join(rivals),
        "bindings": quote(f"{BINDINGS}=={version}"),
    }
    lines = commands.new if kind == "new" else commands.existing
    if kind == "existing" and not Version(version).local:
        lines += commands.again
    settings = [variable.format(name=name, value=value) for name, value in decision.environment.items()]
    return (*(_fill(line, values) for line in lines if "{rivals}" not in line or rivals), *settings)


def _fill(line: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: values[found[1]], line)


def quote(word: str) -> str:
    """Return a word as the shells of all systems take it.

    >>> quote("jax==1.2.3"), quote("a[b]>=1")
    ('jax==1.2.3', '"a[b]>=1"')

    Raises:
        ValueError: A shell would read more into it than a word, also within quotes.
    """
    if re.search(r"[^\w.=+\-\[\]<>!~,;@:/ ]", word):
        raise ValueError(f"no word for a shell: {word!r}")
    return word if re.fullmatch(r"[\w.=+-]+", word) else f'"{word}"'


def find_rivals(release: Release) -> tuple[str, ...]:
    """Return upstream's packages for the same devices: those that our libraries come from, unless ours need them."""
    plugins = release.plugins()
    needed = {_name_of(text) for wheel in release.wheels for text in wheel.entry.requires}
    origins = [wheel.entry.provenance for wheel in plugins]
    kernels = [kernel for origin in origins for kernel in _list_of(origin.get("kernels"))]
    # They become part of a command, and a release file may be anybody's.
    names = {canonicalize_name(str(origin["project"])) for origin in [*origins, *kernels] if origin.get("project")}
    return tuple(sorted(name for name in names - needed - {BINDINGS} if is_normalized_name(name)))


def _list_of(value: object) -> list[Mapping[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _name_of(requirement: str) -> str:
    try:
        return canonicalize_name(Requirement(requirement).name)
    except InvalidRequirement:
        return ""


def picker_data(offer: Offer, releases: Iterable[Release]) -> dict[str, Any]:
    """Return what the script of the picker reads from the page."""
    known = [release for release in releases if is_known(release)]
    written = write(offer)
    return {
        "index": INDEX,
        "releases": [
            {
                "jax": release.jax,
                "version": release.version,
                "pythons": {s.platform: list(map(name_python, release.pythons_of(s.platform))) for s in offer.systems},
                "packages": {s.platform: list(release.packages_of(s.platform)) for s in offer.systems},
                "rivals": list(find_rivals(release)),
                "names": _list_variants(release),
            }
            for release in known
        ],
        "systems": written["systems"],
        "accelerators": written["accelerators"],
        "commands": written["commands"],
        "interpreters": written["interpreters"],
        "notes": written["notes"],
        "variables": written["variables"],
        "bindings": BINDINGS,
        "code": selector_code(),
        "facts": selector_facts(),
    }


def _list_variants(release: Release) -> list[dict[str, str]]:
    """Return the names by which a backend of a release can be asked for, with the package that each gives."""
    return [
        {"name": variant, "package": f"{backend.distribution}[{','.join(extras)}]" if extras else backend.distribution}
        for backend in load_facts(release.jax).backends
        if backend.tags
        for variant, extras in backend.variants.items()
    ]
