# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What proving needs in addition to the wheels: programs, requirements, and the chips that a plugin compiles for.

Chips are in `plugins/<name>/targets/*.toml`.
"""

import functools
import operator
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pjrtwheel import tables
from pjrtwheel.backend import Backend, Failure
from pjrtwheel.environment.venv import requirement_group
from pjrtwheel.errors import UsageError, fit
from pjrtwheel.grouping import group
from pjrtwheel.release.model import Release
from pjrtwheel.release.wheels import aot_requires
from pjrtwheel.sources import import_closure

_EVERY = "*"

# What JAX hands on to a plugin: a string, or the bounds of a grid.
Option = str | list[int]


@dataclass(frozen=True, slots=True)
class Topology:
    """An arrangement of chips.

    Attributes:
        name: The topology's name in JAX, such as `v5e:2x2`; empty where options say it.
        options: Options of this topology alone.
        programs: The programs to compile for it; none means all that need no more devices.
    """

    name: str = ""
    options: Mapping[str, Option] = field(default_factory=dict, metadata=tables.metadata(pattern=tables.LINES))
    programs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Target:
    """One chip.

    Attributes:
        name: Name of the file, such as `h100`.
        summary: What it is, such as `NVIDIA H100 SXM`.
        platform: The platform's name in JAX.
        code: The code that every executable must hold, and no other, such as `sm_90a`.
        topologies: Label, such as `single` → arrangement for which programs are compiled.
        options: Options of every topology.
        environment: Variables that the compiling process needs.
        fails: Program, or `*` for all → why it cannot be compiled.
        platforms: The platforms of the machines that have this chip; none means all.
        emulated: The programs that are compiled for it where the machine is emulated, which takes about ten times as
            long; where there are none, the chip is left out there.
    """

    name: str
    summary: str
    platform: str
    code: tuple[str, ...]
    topologies: Mapping[str, Topology]
    options: Mapping[str, Option] = field(default_factory=dict, metadata=tables.metadata(pattern=tables.LINES))
    environment: Mapping[str, str] = field(default_factory=dict)
    fails: Mapping[str, Failure] = field(default_factory=dict)
    platforms: tuple[str, ...] = ()
    emulated: tuple[str, ...] = ()

    def failure_of(self, program: str) -> Failure | None:
        """Return why a program cannot be compiled, if it is expected not to be."""
        return self.fails.get(program, self.fails.get(_EVERY))


def choose_targets(targets: Iterable[Target], platform: str, *, emulated: bool) -> tuple[Target, ...]:
    """Return the targets to compile for on a machine, an emulated one with fewer programs."""
    here = [target for target in targets if platform in (target.platforms or (platform,))]
    return tuple(_reduce(target) for target in here if target.emulated) if emulated else tuple(here)


def _reduce(target: Target) -> Target:
    """Return a target with those programs alone that are compiled on an emulated machine."""
    topologies = {}
    for label, topology in target.topologies.items():
        names = tuple(name for name in target.emulated if name in (topology.programs or (name,)))
        if names:
            topologies[label] = replace(topology, programs=names)
    return replace(target, topologies=topologies)


def parse_target(text: str, path: Path, shared: Sequence[str] = ()) -> Target:
    """Turn the text of a target's file into a `Target`; it completes `shared`, what backends share about this chip.

    Raises:
        UsageError: A text is not TOML; a key is missing, unknown or of the wrong type; a pattern is none.
    """
    try:
        table = functools.reduce(operator.or_, map(tomllib.loads, (*shared, text)))
        return tables.read(Target, table, name=path.stem)
    except ValueError as error:  # also of tomllib
        raise UsageError(f"malformed target file: {path}", cause=str(error)) from error


def load_targets(root: Path, backend: Backend) -> tuple[Target, ...]:
    """Read the targets of a backend and of the directories it shares, in order of name.

    Where both have a file about a chip, the backend's own says only the keys that differ.
    """
    folders = [root / "plugins" / name / "targets" for name in (*backend.shared, backend.name)]
    paths = group((path.stem, path) for folder in folders for path in folder.glob("*.toml"))
    return tuple(
        parse_target(own.read_text("utf-8"), own, [path.read_text("utf-8") for path in shared])
        for _, (*shared, own) in sorted(paths.items())
    )


# How programs are run and results are read is part of the key of a proof; nothing imports the checks of a library:
# they are started by their path.
_MODULES = ("pjrtwheel.prove.on_every_python", "pjrtwheel.prove.inside.library", "pjrtwheel.probe.inside")


@dataclass(frozen=True, slots=True)
class ProofInputs:
    """What the wheels of one set are proven with.

    Attributes:
        backend: The plugin in the set; nothing for a set of bindings alone.
        smoke: Programs that run on a device.
        aot: Programs that are compiled for targets: chips that the plugin compiles for without having one.
        requirements: What is installed with the wheels, by name.
        aot_requirements: What compiling without the accelerator needs in addition.
    """

    backend: Backend | None
    smoke: tuple[Path, ...]
    aot: tuple[Path, ...]
    targets: tuple[Target, ...]
    requirements: tuple[str, ...]
    aot_requirements: tuple[str, ...] = ()

    @property
    def all_requirements(self) -> tuple[str, ...]:
        """What is installed, by name, where there may be no accelerator."""
        return (*self.requirements, *self.aot_requirements)

    def files(self) -> tuple[Path, ...]:
        """Return every file that takes part in proving."""
        return (*self.smoke, *self.aot, *import_closure(*_MODULES))


def load_inputs(root: Path, release: Release, backend: Backend | None) -> ProofInputs:
    """Read what a repository has for proving a plugin, or bindings alone.

    Raises:
        UsageError: The backend's file declares of a program that it fails, and there is no such program.
    """
    needed = aot_requires(backend, release) if backend else ()
    smoke = find_programs(root, "smoke")
    names = [program.stem for program in smoke]
    if backend and (unknown := backend.smoke.fails.keys() - names):
        raise UsageError(f"[smoke.fails] of no program: {fit(sorted(unknown))}", remedy=f"there are {', '.join(names)}")
    return ProofInputs(
        backend=backend,
        smoke=smoke,
        aot=find_programs(root, "aot"),
        targets=load_targets(root, backend) if backend else (),
        requirements=(f"jax=={release.version}", *requirement_group(root, "smoke")),
        aot_requirements=needed,
    )


def find_programs(root: Path, kind: str) -> tuple[Path, ...]:
    """Return the programs of the repository of a kind, `smoke` or `aot`, in order of name."""
    return tuple(sorted((root / "tests" / kind).glob("[a-z]*.py")))
