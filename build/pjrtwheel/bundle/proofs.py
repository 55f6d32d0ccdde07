# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the proofs of wheels need that are not built yet: pip is asked with stand-ins that have their METADATA alone."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from pjrtwheel.bundle.plan import BundledBuild
from pjrtwheel.bundle.resolve import Resolved, resolve
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.venv import requirement_group
from pjrtwheel.fetch.cache import WheelCache
from pjrtwheel.prove.inputs import load_inputs
from pjrtwheel.sets.promised import promised_bindings, promised_plugin
from pjrtwheel.wheel import metadata
from pjrtwheel.wheel.names import WheelName
from pjrtwheel.wheel.read.metadata import read_metadata

# What is installed next to the wheels by the tests, in addition to what proofs install.
_GROUPS = ("conformance", "downstream")


def proof_pythons(builds: Sequence[BundledBuild], tags: Sequence[str], host: str) -> tuple[str, ...]:
    """Return those of some Pythons that wheels of these builds can be proven on, on the host."""
    known = {python for build in builds if build.platform.name == host for python in build.release.pythons(host)}
    return tuple(tag for tag in tags if tag in known)


def resolve_proofs(
    build: BundledBuild, interpreter: Interpreter, python: Path, *, root: Path, cache: WheelCache, scratch: Path
) -> Iterator[Resolved]:
    """Yield what is installed with the wheels of a build on an interpreter, in whose empty environment `python` is.

    Raises:
        FetchError: The package index cannot be reached, or lacks something.
    """
    folder = scratch / f"{build}-{interpreter.tag}".replace(" ", "-")
    folder.mkdir()
    ours = [name.requirement for name in _write_stubs(build, interpreter.tag, cache, folder)]
    inputs = load_inputs(root, build.release, build.backend)
    groups = [inputs.all_requirements]
    groups += [(f"jax=={build.release.version}", *requirement_group(root, group)) for group in _GROUPS]
    for requirements in groups:
        for found in resolve(python, [*requirements, *ours], folder, f"--find-links={folder}"):
            if f"{found.project}=={found.version}" not in ours:
                yield found


def _write_stubs(build: BundledBuild, tag: str, cache: WheelCache, folder: Path) -> Iterator[WheelName]:
    """Write wheels that say of themselves what the finished ones will say, and yield their names."""
    release, backend, platform = build.release, build.backend, build.platform.name
    (bindings,) = (name for name in promised_bindings(release, platform) if name.fits(tag))
    upstream = read_metadata(cache.fetch(release.pin(f"bindings.{tag}.{platform}"))).decode("utf-8")
    _write_stub(folder, bindings, metadata.replace_version(upstream, bindings.version))
    yield bindings
    plugin = promised_plugin(backend, platform, release.set_version)
    pin = release.pin(f"plugin.{backend.name}.{platform}")
    requirement = "" if backend.prebuilt.bundled else f"{pin.project}=={pin.version}"
    text = metadata.plugin_metadata(plugin, backend, release=release, licenses=(), readme="", requirement=requirement)
    _write_stub(folder, plugin, text)
    yield plugin


def _write_stub(folder: Path, name: WheelName, text: str) -> None:
    with zipfile.ZipFile(folder / name.filename, "w") as archive:
        archive.writestr(f"{name.dist_info}/METADATA", text)
        archive.writestr(f"{name.dist_info}/WHEEL", metadata.wheel_metadata(name))
