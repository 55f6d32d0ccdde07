# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What proving needs besides the wheels: programs, targets, and what is installed beside them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.environment import venv as environment
from pjrtwheel.probe.expected import find_facts
from pjrtwheel.prove import aot, smoke
from pjrtwheel.prove.targets import Target, load_targets
from pjrtwheel.release.model import Release

# How programs are run and results are read is part of the evidence's key.
_PACKAGE = Path(__file__).parent.parent
SOURCES = (*sorted((_PACKAGE / "prove").rglob("*.py")), *sorted((_PACKAGE / "conformance").glob("probe*.py")))


@dataclass(frozen=True, slots=True)
class Material:
    """What the wheels of one set are proven with.

    Attributes:
        backend: The plugin in the set; nothing for a set of bindings alone.
        smoke: Programs that run on a device.
        aot: Programs that are compiled for targets.
        targets: Chips that the plugin compiles for without having one.
        requirements: What is installed beside the wheels, by name.
    """

    backend: Backend | None
    smoke: tuple[Path, ...]
    aot: tuple[Path, ...]
    targets: tuple[Target, ...]
    requirements: tuple[str, ...]

    def files(self) -> tuple[Path, ...]:
        """Return every file that takes part in proving."""
        facts = find_facts(self.backend) if self.backend else None
        return (*self.smoke, *self.aot, *SOURCES, *((facts,) if facts else ()))


def gather_material(root: Path, release: Release, backend: Backend | None) -> Material:
    """Read what a repository has for proving a plugin.

    Raises:
        UsageError: A target's file is malformed, or `pyproject.toml` lacks the group `smoke`.
    """
    beside = backend.aot_requires if backend else ()
    return Material(
        backend=backend,
        smoke=smoke.find_programs(root),
        aot=aot.find_programs(root),
        targets=load_targets(root, backend) if backend else (),
        requirements=(f"jax=={release.version}", *environment.requirement_group(root, "smoke"), *beside),
    )
