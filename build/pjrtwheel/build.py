# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The order of the steps from release pins to `dist/`: build, verify, prove, add to the folder."""

import hashlib
import importlib.metadata
import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from pjrtwheel.backend import Backend, check_files
from pjrtwheel.bazel.invoke import BuildRequest, BuildResult
from pjrtwheel.bazel.invoke import build as build_with_bazel
from pjrtwheel.bazel.remote import describe_processes, describe_warnings
from pjrtwheel.bazel.source import check_chips
from pjrtwheel.bazel.workspace import lock_builds
from pjrtwheel.dist_folder.folder import add_wheels, check_locks
from pjrtwheel.elf.image import read_image
from pjrtwheel.elf.repair import check_exports
from pjrtwheel.errors import BazelError, UsageError, count
from pjrtwheel.files import hash_file
from pjrtwheel.platforms import Platform, host_platform
from pjrtwheel.progress import LINES, Progress
from pjrtwheel.prove.on_every_python import FailedProofError, prove
from pjrtwheel.prove.proof_file import match_proofs, read_known_proofs
from pjrtwheel.record.entries import Entry
from pjrtwheel.record.origin import counts_for, find_origin
from pjrtwheel.record.proofs import Proof, explain_level
from pjrtwheel.release.checks import check_inputs
from pjrtwheel.release.wheels import make_lock
from pjrtwheel.sets import BINDINGS
from pjrtwheel.sets.promised import promised_bindings, promised_plugin
from pjrtwheel.sources import import_closure
from pjrtwheel.verify import verify_wheels
from pjrtwheel.wheel.report import BuiltWheel


def parse_provider(text: str) -> tuple[str, Path | None]:
    """Turn the argument of `--xla` into provider and library.

    >>> parse_provider("source")
    ('source', None)

    Raises:
        UsageError: It is neither a provider nor an existing file.
    """
    if text in {"prebuilt", "source"}:
        return text, None
    path = Path(text).absolute()
    if not path.is_file():
        raise UsageError(
            f"no such library: {text!r}", remedy="--xla takes 'prebuilt', 'source' or the path of a PJRT plugin library"
        )
    return "file", path


def check_library(library: Path, backend: Backend, platform: Platform) -> None:
    """Make sure that a library given by its path is a plugin for this backend and platform, before Bazel is started.

    Raises:
        ElfError: It is no library, is for another machine or exports what it must not; the message names the path.
    """
    with library.open("rb") as file:
        image = read_image(file, str(library), machine=platform.machine)
    check_exports(image, backend.exports)


def check_writable(folder: Path) -> None:
    """Raise a `UsageError` unless a folder can be written, or made, before anything that takes long is started."""
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        raise UsageError(
            f"cannot write to {folder}",
            cause=f"{nearest} is not a folder that you can write to",
            remedy="name another place with --dist (wheels) or PJRTWHEEL_CACHE (cache)",
        )


def build(
    request: BuildRequest,
    backends: Sequence[Backend],
    *,
    dist: Path,
    cache: Path,
    keep: Path | None = None,
    smoke_tests: bool = True,
    bindings: Sequence[BuiltWheel] = (),
    progress: Progress = LINES,
) -> tuple[Entry, ...]:
    """Build the wheels of some backends and their bindings, which have an extra for each of all the backends.

    The `bindings` of a set that is published are not built: the plugin is proven with them, and published by itself.
    Wheels whose proof fails, with what it showed, go to the folder `keep`, if there is one. What the repository has of
    proofs of the same bytes, from a machine with a GPU, say, is recorded as well.

    Returns:
        The entries of `release.json`, one for each wheel now in the folder.

    Raises:
        PjrtWheelError: A step failed; nothing is published then.
    """
    _check_request(request, progress)
    if keep and keep.resolve() == dist.resolve():
        raise UsageError(f"--keep is for wheels whose proof failed, not {dist}", remedy="name another folder")
    for folder in filter(None, (dist, cache, keep)):
        check_writable(folder)
    lock = request.lock or make_lock(request.release, request.provider_name)
    check_locks(dict.fromkeys(promised_wheels(request), lock.lock_id), dist)
    elsewhere = read_known_proofs(request.root)
    origin = find_origin(request.root, os.environ)  # at once: while it builds, the repository may move on
    progress.say(f"building {' '.join(request.targets)} for {request.platform.name}")
    with lock_builds(request.root, cache):
        built = _build_and_check(request, backends, cache, progress)
        proofs: list[Mapping[str, Proof]] = []
        for backend in request.backends or (None,):
            of_backend = {BINDINGS, *(backend.distributions if backend else ())}
            try:
                found = prove(
                    [wheel for wheel in (*built, *bindings) if wheel.report.name.distribution in of_backend],
                    root=request.root,
                    release=request.release,
                    backend=backend,
                    origin=origin,
                    smoke_tests=smoke_tests,
                    cache=cache,
                    progress=progress,
                )
            except FailedProofError as error:
                if keep:
                    add_wheels(built, [*proofs, error.proofs], origin, keep)
                    progress.say(f"kept in {keep}: the wheels, and in release.json what ran")
                raise
            if shortfall := explain_level(found):
                progress.say(shortfall)
            proofs.append(found)
        digests = {wheel.report.filename: wheel.report.sha256 for wheel in built}
        for name, proven in elsewhere.items():
            found = match_proofs(proven, digests)
            if found and all(counts_for(kept, origin, request.root) for kept in {one.origin for one in found.values()}):
                progress.say(f"proven elsewhere, with the same bytes: {name}")
                proofs.append(found)
            elif found:
                progress.say(f"not counted, because its commit is not in the history of this one: {name}")
        return add_wheels(built, proofs, origin, dist)


def _build_and_check(
    request: BuildRequest, backends: Sequence[Backend], cache: Path, progress: Progress
) -> tuple[BuiltWheel, ...]:
    """Return the wheels of a request, each verified."""
    result = build_with_bazel(request, progress=progress)
    progress.say(describe_actions(result))
    if warnings := describe_warnings(result.log.text):
        progress.say(warnings)
    check_returned(request, [wheel.report.filename for wheel in result.wheels])
    _verify_once(result.wheels, backends, cache, progress)
    return result.wheels


def _check_request(request: BuildRequest, progress: Progress) -> None:
    """Make sure that what was asked for can be built, before Bazel is started.

    Raises:
        PjrtWheelError: An input is not pinned, or the backend does not allow this platform, provider or library.
    """
    if request.provider != "prebuilt" and len(request.backends) > 1:
        raise UsageError(
            "--xla is for one backend at a time",
            cause=f"given were {', '.join(backend.name for backend in request.backends)}",
            remedy="build them one after the other; what is in dist/ is kept",
        )
    if request.source.makes_bindings and len(request.pythons) != 1:
        raise UsageError("jaxlib from source is made for one Python at a time", remedy="name it, such as --python 3.12")
    for given in request.backends:
        check_files(given)
        check_chips(request.source, given)
    for backend in request.backends or (None,):
        check_inputs(request.release, backend, request.platform, request.provider, host_platform())
        if request.library and backend:
            check_library(request.library, backend, request.platform)
    xla = request.release.xla
    if request.provider == "source" and xla and not xla.verified:
        progress.say(f"warning: XLA commit {xla.commit[:12]} is not verified; it comes from {xla.origin}")


def promised_wheels(request: BuildRequest) -> tuple[str, ...]:
    """Return the file names of the wheels that a build has to give: `jaxlib` for each Python, plugins with kernels."""
    release, platform = request.release, request.platform.name
    names = list(promised_bindings(release, platform)) if request.with_bindings else []
    version = request.lock.version if request.lock else release.set_version
    names += [name for one in request.backends for name in promised_plugin(one, release, platform, version)]
    wanted = request.pythons or release.pythons(platform)
    return tuple(name.filename for name in names if any(map(name.fits, wanted)))


def check_returned(request: BuildRequest, returned: Sequence[str]) -> None:
    """Make sure that the build system gave every wheel that was asked for, and no other.

    It may say that it succeeded and yet leave an action's output empty, as a damaged cache makes it do.

    Raises:
        BazelError: It did not; the message names the wheels.
    """
    if differing := {*returned} ^ {*promised_wheels(request)}:
        raise BazelError(
            "Bazel did not return the wheels that were asked for",
            cause=f"missing, or not asked for: {', '.join(sorted(differing))}",
            remedy="remove what it has kept, and build again: ./noxw clean --all",
        )


def describe_actions(result: BuildResult) -> str:
    """Say in one line which actions Bazel ran, by kind, and how many of their results other machines gave."""
    counts = Counter(action.mnemonic for action in result.log.actions)
    kinds = ", ".join(f"{kind} {number}" for kind, number in sorted(counts.items()))
    ran, places = count(len(result.log.actions), "action"), describe_processes(result.log.text)
    return f"Bazel ran {ran}" + (f": {kinds}" if kinds else ", everything was up to date") + (places and f"; {places}")


def _verify_once(built: Sequence[BuiltWheel], backends: Sequence[Backend], cache: Path, progress: Progress) -> None:
    """Verify each wheel unless the same bytes were verified before, by the same checks; the set is looked at anew."""
    passed = cache / "verified" / verification_key(backends)
    fresh = [wheel for wheel in built if not (passed / wheel.report.sha256).exists()]
    if before := len(built) - len(fresh):
        progress.say(f"verified before: {count(before, 'wheel')} with the same bytes")
    if fresh:
        verify_wheels([wheel.path for wheel in fresh], backends, progress)
    passed.mkdir(parents=True, exist_ok=True)
    for wheel in fresh:
        (passed / wheel.report.sha256).touch()


def verification_key(backends: Sequence[Backend]) -> str:
    """Return the identity of a verification: the backends' tables, our code, and all that is installed next to it."""
    identity = {
        "backends": {backend.name: hash_file(backend.path) for backend in backends},
        "checks": [hash_file(path) for path in import_closure("pjrtwheel.verify")],
        "tools": sorted(f"{tool.name} {tool.version}" for tool in importlib.metadata.distributions()),
    }
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
