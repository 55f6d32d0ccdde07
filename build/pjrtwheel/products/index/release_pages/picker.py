# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The install picker: a table of machines with the answer that each of them gets from an index.

`picker.toml` has the systems and the commands, each backend its own accelerators, and the selector decides, once, when
the pages are written. A page shows the table, and holds it as JSON for the script that looks an answer up.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jaxlib_select.choose.decision import Decision
from jaxlib_select.choose.policy import CPU, Policy, read_policy
from jaxlib_select.choose.resolve import resolve
from jaxlib_select.choose.rules import Fit
from jaxlib_select.choose.vendors import judge
from jaxlib_select.errors import SelectError
from jaxlib_select.facts import UPSTREAM, known_releases, load_facts
from jaxlib_select.machine.file import from_json
from jaxlib_select.machine.model import Machine as MachineFile
from pjrtwheel.abis import name_python
from pjrtwheel.backend import OWN_ROOT, load_backends
from pjrtwheel.errors import UsageError
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.products.index.release_pages.releases import ListedRelease
from pjrtwheel.record.proofs import ORDER
from pjrtwheel.release.known import load_release
from pjrtwheel.sets import BINDINGS
from pjrtwheel.tables import TableError, read_toml
from pjrtwheel.wheel.metadata import read_requirements

Machine = Mapping[str, Any]
Row = dict[str, Any]  # as JSON has it
Key = tuple[str, str, str, str]  # names of a system and an accelerator, the label of a choice, a release

_FILENAME = "picker.toml"  # here, and in the directory of a backend
_FIELDS = ("system", "gpu", "driver", "release")  # of the form, in the order of a key
_DEVICES = '-c "import jax; print(jax.devices())"'
# What the selector advises on a command line; here a button does it, where that helps.
_ADVICE = re.compile(r"; (in WSL2 there is one|\S+ would run on the CPU)")


@dataclass(frozen=True, slots=True)
class Choice:
    """What else decides about an accelerator, such as the driver's version.

    Attributes:
        label: What the picker offers, such as `580 or newer`.
        machine: Its part of a machine file.
    """

    label: str
    machine: Machine


@dataclass(frozen=True, slots=True)
class Accelerator:
    """An accelerator that people have.

    Attributes:
        name: What an address names it by, such as `t4` in `?gpu=t4`.
        label: What the picker offers, such as `NVIDIA T4 or RTX 20 series`.
        machine: Its part of a machine file, as `jaxlib-select detect --json` prints it; empty for the CPU.
        question: What else decides, such as `NVIDIA driver`; empty if nothing does.
        choices: The answers, the usual one first.
        words: Other words for it in an address, such as `4090`.
        wsl: Whether Windows hands it to WSL2.
    """

    name: str
    label: str
    machine: Machine
    question: str = ""
    choices: tuple[Choice, ...] = (Choice("", {}),)
    words: tuple[str, ...] = ()
    wsl: bool = False


@dataclass(frozen=True, slots=True)
class Accelerators:
    """Which accelerators the install picker of an index offers for a backend.

    Attributes:
        accelerators: In the order of the list.
        order: Where they are in it: smaller numbers come first.
    """

    accelerators: tuple[Accelerator, ...]
    order: int = 100


@dataclass(frozen=True, slots=True)
class System:
    """A system.

    Attributes:
        name: What an address names it by.
        label: What the picker offers.
        platform: Of its wheels.
        shell: Whose commands it takes.
        machine: Its part of a machine file.
        instead: A system on the same computer that may have more.
        note: What its users should know besides.
    """

    name: str
    label: str
    platform: str
    shell: str
    machine: Machine
    instead: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """What the picker offers: accelerators are the backends' own, and the rest is in `picker.toml`.

    Attributes:
        systems: The usual one first.
        shells: Shell → installer → its commands, which make an environment, install, and check.
        accelerators: In the order of the list.
    """

    systems: tuple[System, ...]
    shells: Mapping[str, Mapping[str, tuple[str, ...]]]
    accelerators: tuple[Accelerator, ...]


@dataclass(frozen=True, slots=True)
class Stock:
    """What there is of a release of JAX.

    Attributes:
        jax: Version of JAX.
        pythons: Package and platform → the Pythons, by ABI tag, that have all that the package needs → the level of the
            weakest proof of these wheels, empty if it is not known.
    """

    jax: str
    pythons: Mapping[tuple[str, str], Mapping[str, str]]


def read_offer() -> Offer:
    """Read `picker.toml`, and what the backends of this repository offer: those that its selector knows."""
    text = files(__package__).joinpath(_FILENAME).read_text("utf-8")
    return read_toml(Offer, text, accelerators=load_accelerators(OWN_ROOT))


def load_accelerators(root: Path) -> tuple[Accelerator, ...]:
    """Return what the backends below `root` offer, each directory once, also one that several backends share.

    Raises:
        UsageError: A file is not TOML, or of another form, or a machine in it is none.
    """
    found = sorted(map(_read, sorted(root.glob(f"plugins/*/{_FILENAME}"))), key=lambda listed: listed.order)
    return tuple(accelerator for listed in found for accelerator in listed.accelerators)


def _read(path: Path) -> Accelerators:
    try:
        listed = read_toml(Accelerators, path.read_text("utf-8"))
        for accelerator in listed.accelerators:
            for choice in accelerator.choices:
                from_json(join_machines(accelerator.machine, choice.machine))
    except (TableError, SelectError) as error:
        raise UsageError(f"malformed list of accelerators: {path}", cause=str(error).partition("\n")[0]) from error
    return listed


def stock_of(release: ListedRelease) -> Stock:
    """Return what an index has of a release, without the wheels that were withdrawn."""
    wheels = [wheel for wheel in release.wheels if wheel.file.yanked is None]
    found: dict[tuple[str, str], dict[str, str]] = {}
    for platform in {wheel.entry.platform for wheel in wheels}:
        here = [wheel for wheel in wheels if wheel.entry.platform in {platform, "any"}]
        for package in {wheel.project for wheel in here}:
            own = [wheel.entry for wheel in here if wheel.project == package]
            needs = {BINDINGS, package, *_find_kernels(package, (text for entry in own for text in entry.requires))}
            levels = found.setdefault((package, platform), {})
            for python in release.pythons:
                fitting = [wheel for wheel in here if wheel.name.tag[:3] == "py3" or wheel.name.fits(python)]
                needed = {wheel.project: wheel.entry.proof.level for wheel in fitting if wheel.project in needs}
                if needed.keys() == needs:
                    levels[python] = min(needed.values(), key=ORDER.index).value
    return Stock(release.jax, found)


def _find_kernels(package: str, requires: Iterable[str]) -> Iterator[str]:
    """Yield what a package always needs of its own; an extra, such as those of `jaxlib`, is a choice."""
    for need in read_requirements(requires):
        if need.name.startswith(f"{package}-") and "extra" not in str(need.marker):
            yield need.name


@cache
def stock_pinned(root: Path, jax: str) -> Stock:
    """Return what upstream has of a release, as it is pinned below `root`: Pythons by the name of our package."""
    release = load_release(root, jax)
    pythons = {(BINDINGS, platform): dict.fromkeys(release.pythons(platform), "") for platform in PLATFORMS}
    for backend in load_backends(root).values():
        for platform in release.platforms(backend.name):
            kernels = release.kernels(backend.name, platform) if backend.kernels else release.pythons(platform)
            both = (python for python in release.pythons(platform) if python in kernels)
            pythons[backend.distribution, platform] = dict.fromkeys(both, "")
    return Stock(release.version, pythons)


def is_known(release: ListedRelease) -> bool:
    """Return whether the selector has facts about this very set of a release, whose version it would ask for."""
    if release.jax not in known_releases():
        return False
    return all(backend.version == release.version for backend in load_facts(release.jax).backends if backend.tags)


def make_table(offer: Offer, stocks: Sequence[Stock], *, closed: bool = True) -> Row:
    """Return the answer for everything on offer, from an index that has some releases, the newest first.

    `answers` has a key (the fields of the form, joined by `|`) → a number in `outcomes`. Each of these has

    - `ours`: what to install of ours, as `_describe` says it, and the level of its `proofs`, by Python;
      nothing where this release has none for the machine;
    - `problems` and `advice`: why it has none, backend by backend, and what would help;
    - `instead`: the changes in the form, field → value, with which there is one;
    - `upstream`: what to install of JAX's own wheels, or nothing where there is none for the machine, or no need.

    Args:
        offer: What is on offer.
        stocks: The releases.
        closed: Whether the page is that of one index, so that JAX's own wheels are only for what it lacks.
    """
    answers = dict(_answer_all(offer, stocks))
    for key, row in answers.items():
        if row["ours"] is None:
            row["instead"] = _find_changes(offer, key, answers)
        elif closed:
            row["upstream"] = None
    outcomes = list({str(row): row for row in answers.values()}.values())
    numbers = {str(row): number for number, row in enumerate(outcomes)}
    releases = [stock.jax for stock in stocks]
    by_release = sorted(answers, key=lambda key: releases.index(key[3]))
    return {
        "systems": {
            entry.name: {"label": entry.label, "shell": entry.shell, "note": entry.note} for entry in offer.systems
        },
        "gpus": {
            entry.name: {
                "label": entry.label,
                "question": entry.question,
                "choices": [choice.label for choice in entry.choices],
                "words": entry.words,
                "cpu": not entry.machine,
            }
            for entry in offer.accelerators
        },
        "releases": releases,
        "shells": offer.shells,
        "outcomes": outcomes,
        "answers": {"|".join(key): numbers[str(row)] for key, row in answers.items()},
        "first": next((key for key in by_release if answers[key]["ours"]), by_release[0]),
    }


def group_machines(table: Row, systems: Sequence[str], jax: str) -> list[tuple[list[Row], list[tuple[str, str]]]]:
    """Return the machines of a table that get the same of a release on some systems, with the answer on each of these.

    A machine is the label of an accelerator, and its driver.
    """
    groups: dict[str, tuple[list[Row], list[tuple[str, str]]]] = {}
    for name, gpu in table["gpus"].items():
        for choice in gpu["choices"]:
            rows = [table["outcomes"][table["answers"][f"{system}|{name}|{choice}|{jax}"]] for system in systems]
            found = [row["ours"] or row["upstream"] or row for row in rows]
            same = str([(row.get("requirements"), row.get("notes"), row.get("advice")) for row in found])
            groups.setdefault(same, (rows, []))[1].append((gpu["label"], f"{gpu['question']} {choice}".strip()))
    return list(groups.values())


def _find_changes(offer: Offer, key: Key, answers: Mapping[Key, Row]) -> list[dict[str, str]]:
    """Return the first change of each field with which there is a wheel of ours: another release, driver, or system.

    Where JAX has no wheel either, its own count, and so does the CPU.
    """
    state = dict(zip(_FIELDS, key, strict=True))
    stuck = not answers[key]["upstream"]
    (choices,) = (entry.choices for entry in offer.accelerators if entry.name == state["gpu"])
    (system,) = (entry.instead for entry in offer.systems if entry.name == state["system"])
    changes = [
        *({"release": release} for release in dict.fromkeys(release for *_, release in answers)),
        *({"driver": choice.label} for choice in choices),
        *([{"system": system}] if system else []),
        *({"gpu": entry.name, "driver": ""} for entry in offer.accelerators if stuck and not entry.machine),
    ]
    found: dict[str, dict[str, str]] = {}
    for change in changes:
        row = answers[tuple((state | change).values())]  # type: ignore[index]
        if row["ours"] or (stuck and row["upstream"]):
            found.setdefault(next(iter(change)), change)
    return list(found.values())


def _answer_all(offer: Offer, stocks: Sequence[Stock]) -> Iterator[tuple[Key, Row]]:
    """Yield the answer for each system, accelerator, choice and release."""
    for system in offer.systems:
        for accelerator in offer.accelerators:
            for choice in accelerator.choices:
                hidden = system.machine.get("wsl", False) and not accelerator.wsl
                parts = () if hidden else (accelerator.machine, choice.machine)
                machine = from_json(join_machines(system.machine, *parts))
                for stock in stocks:
                    row = _answer(machine, system, stock, wanted=bool(accelerator.machine))
                    yield (system.name, accelerator.name, choice.label, stock.jax), row


def _answer(machine: MachineFile, system: System, stock: Stock, *, wanted: bool) -> Row:
    """Return the answer for a machine; an accelerator that is `wanted` is not replaced by the CPU."""
    decisions = list(_decide(machine, stock.jax, wanted=wanted))
    served = [decision for decision in decisions if not wanted or decision.backend != CPU]
    ours = None
    for decision in served:
        package = decision.package if len(decision.requirements) > 1 else BINDINGS
        if ours is None and (pythons := stock.pythons.get((package, system.platform))):
            ours = _describe(decision, stock, pythons)
            ours["proofs"] = {name_python(python): level for python, level in pythons.items()}
    row: Row = {"ours": ours, "problems": [], "advice": "", "instead": []}
    row["upstream"] = _find_upstream(machine, system, stock, wanted=wanted)
    if ours is None:
        # Where nothing can be installed, a release that has the wheel knows what the machine lacks.
        others = () if served or row["upstream"] else reversed(known_releases())
        advised = next((jax for jax in (stock.jax, *others) if _find_advice(machine, jax)), stock.jax)
        decision = next(_decide(machine, advised, wanted=wanted))
        candidates = [entry for entry in decision.candidates if not (entry.absent or entry.chosen)]
        absent = [(one.backend, f"{(BINDINGS, *one.requirements[1:])[-1]} is not in this index.") for one in served[:1]]
        reasons = [(entry.backend, sentence(_ADVICE.sub("", entry.reason))) for entry in candidates]
        row["problems"] = absent or reasons or [("system", f"It cannot be used on {system.label}.")]
        row["advice"] = "" if served else sentence(_find_advice(machine, advised))
    return row


def _find_advice(machine: MachineFile, jax: str) -> str:
    """Return what would make a release serve a machine; empty if nothing would."""
    return next(filter(None, (judge(machine, backend).advice for backend in load_facts(jax).backends)), "")


def _decide(machine: MachineFile, jax: str, *, wanted: bool) -> Iterator[Decision]:
    """Yield what the selector decides, and then what it says of each other backend that serves the machine."""
    asked = f"jax=={jax}"
    yield resolve(asked, machine)
    for backend in load_facts(jax).backends if wanted else ():
        if not backend.is_cpu and judge(machine, backend).fit >= Fit.PART:
            yield resolve(asked, machine, read_policy([backend.name], {}, None))


def _find_upstream(machine: MachineFile, system: System, stock: Stock, *, wanted: bool) -> Row | None:
    """Return what JAX itself publishes of this release for a machine, or else of the newest that serves it."""
    for asked in (f"jax=={stock.jax}", "jax"):
        decision = resolve(asked, machine, Policy(provider=UPSTREAM))
        (chosen,) = (candidate.backend for candidate in decision.candidates if candidate.chosen)
        jax = decision.requirements[0].rpartition("==")[2]
        packages = {entry.name: entry.distribution for entry in load_facts(jax).backends if not entry.is_cpu}
        package = packages.get(chosen, BINDINGS)
        pythons = stock_pinned(OWN_ROOT, jax).pythons.get((package, system.platform))
        if pythons and not (wanted and package == BINDINGS):
            return _describe(decision, stock, pythons) | {"release": jax}
    return None


def _describe(decision: Decision, stock: Stock, pythons: Iterable[str]) -> Row:
    """Return a decision as the page shows it.

    - `title`: the requirement that brings the accelerator, `requirements`: all of them, for a shell, and `more`: those
      that are only for this machine;
    - `check`: what Python runs to say whether it works;
    - `pythons`: those that it is for;
    - `backend` and `reason`: which one is chosen, and why; `others`: those that are not, and why;
    - `notes`: what the user should know, one sentence each.
    """
    (chosen,) = (candidate for candidate in decision.candidates if candidate.chosen)
    packages = {entry.distribution: entry.package for entry in load_facts(stock.jax).backends}
    plugin = packages.get(decision.package, "") if len(decision.requirements) > 1 else ""
    notes = [_ADVICE.sub("", warning) for warning in decision.warnings]
    notes += [f"set {name}={value}" for name, value in decision.environment.items()]
    if plugin and chosen.backend == CPU:
        notes.append(f"{decision.requirements[0]} alone also runs on the CPU, and downloads less")
    others = [one for one in decision.candidates if not (one.chosen or one.absent)]
    return {
        "title": decision.requirements[-1],
        "requirements": " ".join(map(quote, (*decision.requirements, *decision.constraints))),
        "more": ", ".join(decision.constraints),
        "check": f"-m {plugin}" if plugin else _DEVICES,
        "pythons": [*map(name_python, pythons)],
        "backend": chosen.backend,
        "reason": chosen.reason.removeprefix("no accelerator was found; "),
        "notes": [*map(sentence, notes)],
        "others": [(one.backend, sentence(one.reason)) for one in others],
    }


def join_machines(*parts: Machine) -> dict[str, Any]:
    """Return a machine file of its parts; tables are joined."""
    joined: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            joined[key] = join_machines(joined.get(key, {}), value) if isinstance(value, dict) else value
    return joined


def sentence(text: str) -> str:
    """Return a sentence of a text without capital and period; names such as cuBLAS or jax keep their letters.

    >>> sentence("set TZ=UTC"), sentence("cuBLAS 12.8 is old"), sentence("jax==1.2 is enough"), sentence("")
    ('Set TZ=UTC.', 'cuBLAS 12.8 is old.', 'jax==1.2 is enough.', '')
    """
    return re.sub(r"^(?!jax)[a-z](?=[a-z]*[ ,])", lambda first: first[0].upper(), text) + "." if text else ""


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
