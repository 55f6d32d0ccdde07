# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The install picker: a table of machines with the package, the commands and the reason that each of them gets.

`picker.toml` has the systems and the commands, each backend its own accelerators, and the selector decides, once, when
the pages are written. The page shows the table, and holds it as JSON for the script that looks a row up.
"""

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name, is_normalized_name
from packaging.version import Version

from jaxlib_select.choose.decision import Decision
from jaxlib_select.choose.policy import read_policy
from jaxlib_select.choose.resolve import resolve
from jaxlib_select.errors import SelectError
from jaxlib_select.facts import known_releases, load_facts
from jaxlib_select.machine.file import from_json
from jaxlib_select.machine.model import Machine as MachineFile
from jaxlib_select.tables import unknown_keys
from pjrtwheel.abis import name_python
from pjrtwheel.backend import OWN_ROOT, load_backends
from pjrtwheel.errors import UsageError
from pjrtwheel.products.index.release_pages.releases import ListedRelease
from pjrtwheel.sets import BINDINGS
from pjrtwheel.tables import TableError, read_toml

Machine = Mapping[str, Any]
Row = dict[str, Any]  # as JSON has it

_FILENAME = "picker.toml"  # here, and in the directory of a backend
INDEX = "INDEX"  # stands for the address of the index, which only a browser knows
PYTHON = "{python}"  # stands for the version of Python in commands
ENVIRONMENTS = ("new", "existing")


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
        label: What the picker offers, such as `NVIDIA T4 or RTX 20 series`.
        machine: Its part of a machine file, as `jaxlib-select detect --json` prints it.
        question: What else decides, such as `NVIDIA driver`; empty if nothing does.
        choices: The answers, the usual one first.
    """

    label: str
    machine: Machine
    question: str = ""
    choices: tuple[Choice, ...] = ()


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
    """A system, with its part of a machine file; `shell` says how to spell commands for it."""

    label: str
    platform: str
    shell: str
    machine: Machine


@dataclass(frozen=True, slots=True)
class Shell:
    """How a Python of some version starts, where that of a new environment is, and how a variable is set."""

    launcher: str
    interpreter: str
    variable: str


@dataclass(frozen=True, slots=True)
class Commands:
    """The commands of one installer: for a new environment, for an existing one, and again."""

    new: tuple[str, ...]
    existing: tuple[str, ...]
    again: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Offer:
    """What the picker offers: accelerators are the backends' own, and the rest is in `picker.toml`."""

    systems: tuple[System, ...]
    shells: Mapping[str, Shell]
    commands: Mapping[str, Commands]
    accelerators: tuple[Accelerator, ...]


def read_offer() -> Offer:
    """Read `picker.toml`, and what the backends of this repository offer: those that its selector knows."""
    text = files(__package__).joinpath(_FILENAME).read_text("utf-8")
    return read_toml(Offer, text, accelerators=load_accelerators(OWN_ROOT))


def load_accelerators(root: Path) -> tuple[Accelerator, ...]:
    """Return what the backends below `root` offer, each directory once, also one that several backends share.

    Raises:
        UsageError: A file is not TOML, or of another form, or a machine in it has what the selector does not know.
    """
    backends = load_backends(root).values()
    paths = {root / "plugins" / name / _FILENAME for entry in backends for name in (entry.name, *entry.shared)}
    found = sorted((_read(path) for path in sorted(paths) if path.is_file()), key=lambda entry: entry.order)
    return tuple(accelerator for listed in found for accelerator in listed.accelerators)


def _read(path: Path) -> Accelerators:
    try:
        listed = read_toml(Accelerators, path.read_text("utf-8"))
        for accelerator in listed.accelerators:
            _check_machine(accelerator.label, accelerator.machine)
            for choice in accelerator.choices:
                _check_machine(choice.label, choice.machine)
    except (TableError, SelectError) as error:
        raise UsageError(f"malformed list of accelerators: {path}", cause=str(error).partition("\n")[0]) from error
    return listed


def _check_machine(label: str, machine: Machine) -> None:
    """Refuse a key that the selector would pass over: the picker would take the accelerator for none."""
    from_json(machine)
    unknown = [where + key for where, key, _ in unknown_keys(MachineFile, machine)]
    if unknown:
        raise TableError(f"the machine of {label!r} has unknown keys: {', '.join(unknown)}")


def make_table(offer: Offer, release: ListedRelease) -> list[Row]:
    """Return what the selector decides for everything on offer; nothing if it does not know this set of the release.

    A row for each system has `label`, its `pythons`, and `packages`. Each of these has the requirement as `title`,
    `commands` (`uv new` and the like → for any Python), `checks` (environment → the command that says whether it
    works), and as `answers` the machines that get it:

    - `accelerator`: what the machine has, or a package, where `named` says that it is asked for by its name;
    - `question` and `choice`: what else decides, such as `NVIDIA driver`, and the answer to that, or empty;
    - `backend` and `reason`: which one is chosen, and why; `others`: those that are not, and why;
    - `notes`: what the user should know, one sentence each without its period.
    """
    return [_table_of(offer, release, system) for system in offer.systems] if _is_known(release) else []


def _is_known(release: ListedRelease) -> bool:
    """Return whether the selector has facts about this very set of a release, whose version it would ask for."""
    if release.jax not in known_releases():
        return False
    return all(backend.version == release.version for backend in load_facts(release.jax).backends if backend.tags)


def _table_of(offer: Offer, release: ListedRelease, system: System) -> Row:
    """Decide for a system; machines that get the same commands are together, in the order of the first of each."""
    shell, rivals = offer.shells[system.shell], find_rivals(release)
    packages: dict[str, Row] = {}
    for accelerator, choice, decision in _decide(offer, release, system):
        commands = {
            f"{installer} {environment}": fill_commands(listed, environment, shell, decision, rivals)
            for installer, listed in offer.commands.items()
            for environment in ENVIRONMENTS
        }
        checks = _checks(release, shell, decision)
        package: Row = {"title": decision.requirements[-1], "commands": commands, "checks": checks, "answers": []}
        chosen = next(candidate for candidate in decision.candidates if candidate.chosen)
        others = [candidate for candidate in decision.candidates if not (candidate.chosen or candidate.absent)]
        answer = {
            "accelerator": accelerator.label,
            "named": accelerator not in offer.accelerators,
            "question": accelerator.question,
            "choice": choice.label,
            "backend": chosen.backend,
            "reason": chosen.reason,
            "notes": [*_missing(release, system, decision), *decision.warnings],
            "others": [(candidate.backend, candidate.reason) for candidate in others],
        }
        packages.setdefault("\n".join(commands.values()), package)["answers"].append(answer)
    pythons = [name_python(python) for python in release.pythons_of(system.platform)]
    return {"label": system.label, "pythons": pythons, "packages": list(packages.values())}


def _decide(offer: Offer, release: ListedRelease, system: System) -> Iterator[tuple[Accelerator, Choice, Decision]]:
    """Yield what the selector decides for each accelerator on a system, and for each package that is asked for."""
    asked, nothing = f"jax=={release.jax}", Choice("", {})
    for accelerator in offer.accelerators:
        for choice in accelerator.choices or (nothing,):
            machine = join_machines(system.machine, accelerator.machine, choice.machine)
            yield accelerator, choice, resolve(asked, from_json(machine))
    for backend in load_facts(release.jax).backends:
        for name, extras in backend.variants.items():
            package = f"{backend.distribution}[{','.join(extras)}]" if extras else backend.distribution
            with contextlib.suppress(SelectError):  # where there is none for this system
                decision = resolve(asked, from_json(system.machine), read_policy([name], {}, None))
                yield Accelerator(f"{name}: {package}", {}), nothing, decision


def _missing(release: ListedRelease, system: System, decision: Decision) -> Iterator[str]:
    """Yield what the index lacks of a decision."""
    if not release.pythons_of(system.platform):
        yield f"this index has no {BINDINGS} of this release for this system"
    here = {wheel.project for wheel in release.wheels if wheel.entry.platform in {system.platform, "any"}}
    if len(decision.requirements) > 1 and decision.package not in here:
        yield f"this index has no wheel of {decision.package} for this system"


def _checks(release: ListedRelease, shell: Shell, decision: Decision) -> dict[str, str]:
    """Return the commands that say whether what was decided works."""
    own = [backend for backend in load_facts(release.jax).backends if backend.distribution == decision.package]
    program = f"-m {own[0].package}" if own and own[0].package else '-c "import jax; print(jax.devices())"'
    pythons = dict(zip(ENVIRONMENTS, (shell.interpreter, "python"), strict=True))
    return {environment: f"{python} {program}" for environment, python in pythons.items()}


def join_machines(*parts: Machine) -> dict[str, Any]:
    """Return a machine file of its parts; tables are joined."""
    joined: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            joined[key] = join_machines(joined.get(key, {}), value) if isinstance(value, dict) else value
    return joined


def fill_commands(commands: Commands, environment: str, shell: Shell, decision: Decision, rivals: Sequence[str]) -> str:
    """Return the commands for a decision, with `PYTHON` and `INDEX` where the reader's own belong."""
    version = decision.requirements[-1].partition("==")[2]
    lines = commands.new if environment == "new" else commands.existing
    if environment == "existing" and not Version(version).local:
        lines += commands.again
    values = {
        "python": PYTHON,
        "launcher": shell.launcher,
        "interpreter": shell.interpreter,
        "index": INDEX,
        "requirements": " ".join(map(quote, (*decision.requirements, *decision.constraints))),
        "rivals": " ".join(rivals),
        "bindings": quote(f"{BINDINGS}=={version}"),
    }
    filled = [line.format_map(values) for line in lines if rivals or "{rivals}" not in line]
    settings = [shell.variable.format(name=name, value=value) for name, value in decision.environment.items()]
    return "\n".join([*filled, *settings])


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


def find_rivals(release: ListedRelease) -> tuple[str, ...]:
    """Return upstream's packages for the same devices: those that our libraries come from, unless ours need them."""
    texts = (text for wheel in release.wheels for text in wheel.entry.requires)
    needed = {canonicalize_name(re.split(r"[^\w.-]", text)[0]) for text in texts}
    projects = [wheel.entry.provenance.get("project") for wheel in release.wheels]
    # They become part of a command, and a release file may be anybody's.
    names = {canonicalize_name(str(project)) for project in projects if project}
    return tuple(sorted(name for name in names - needed - {BINDINGS} if is_normalized_name(name)))
