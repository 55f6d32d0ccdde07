# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What proving needs in addition to the wheels: programs, targets, and what is installed with the wheels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.environment.venv import requirement_group
from pjrtwheel.probe.plugin import find_settings
from pjrtwheel.prove.targets import Target, load_targets
from pjrtwheel.release.extras import aot_requires
from pjrtwheel.release.model import Release
from pjrtwheel.sources import import_closure

# How programs are run and results are read is part of the key of a proof; nothing imports the checks of a library:
# they are started by their path.
_MODULES = ("pjrtwheel.prove", "pjrtwheel.probe.inside")


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
        settings = find_settings(self.backend) if self.backend else None
        return (*self.smoke, *self.aot, *import_closure(*_MODULES), *((settings,) if settings else ()))


def load_inputs(root: Path, release: Release, backend: Backend | None) -> ProofInputs:
    """Read what a repository has for proving a plugin, or bindings alone."""
    needed = aot_requires(backend, release) if backend else ()
    return ProofInputs(
        backend=backend,
        smoke=find_programs(root, "smoke"),
        aot=find_programs(root, "aot"),
        targets=load_targets(root, backend) if backend else (),
        requirements=(f"jax=={release.version}", *requirement_group(root, "smoke")),
        aot_requirements=needed,
    )


def find_programs(root: Path, kind: str) -> tuple[Path, ...]:
    """Return the programs of the repository of a kind, `smoke` or `aot`, in order of name."""
    return tuple(sorted((root / "tests" / kind).glob("[a-z]*.py")))
