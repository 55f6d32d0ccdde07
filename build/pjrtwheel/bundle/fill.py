# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Fill a bundle; `SHA256SUMS` is written last, so that a killed run is finished by the same command."""

import os
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from pjrtwheel.backend import load_backends, pick_backend
from pjrtwheel.bazel.invoke import BuildRequest
from pjrtwheel.bazel.locate import find_bazel
from pjrtwheel.bundle import SUMS
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.venv import download_wheels, requirement_group, run_tool
from pjrtwheel.errors import BazelError, UsageError
from pjrtwheel.fetch.cache import WheelCache
from pjrtwheel.files import copy_atomically, hash_file, link_or_copy, write_atomically
from pjrtwheel.platforms import Platform, host_platform
from pjrtwheel.prove.inputs import load_inputs
from pjrtwheel.release.checks import check_inputs
from pjrtwheel.release.known import choose_release

WHEELS, REPOSITORY, BAZEL = "wheels", "repository.bundle", "bazel"
_LOCKS = ("build/*requirements.txt", "build/locks/*.txt")
# What tests install next to the wheels, in addition to what proofs install.
_GROUPS = ("conformance", "downstream")


def choose_builds(
    root: Path, names: Sequence[str], versions: Sequence[str], platforms: Iterable[Platform]
) -> tuple[BuildRequest, ...]:
    """Return the builds that a bundle is for.

    Without names these are all backends that have a library there, without versions the newest release of each.

    Raises:
        UsageError: No such backend or release, or there is nothing to build.
        FetchError: An input of a backend that was named is not pinned.
    """
    known = load_backends(root)
    found: dict[tuple[str, str, str], BuildRequest] = {}
    for backend in [pick_backend(known, name) for name in names] or known.values():
        for platform in platforms:
            for version in versions or (None,):
                release = choose_release(root, version, platform.name, backend.name)
                if names or platform.name in release.platforms(backend.name):
                    check_inputs(release, backend, platform, "prebuilt", host_platform())
                    build = BuildRequest(root=root, release=release, backends=(backend,), platform=platform)
                    found[release.version, backend.name, platform.name] = build
    if not found:
        raise UsageError("no backend has a library for that", remedy="docs/user/wheels.md lists what each has")
    return tuple(found.values())


def fill_bundle(
    root: Path,
    folder: Path,
    cache: WheelCache,
    *,
    builds: Sequence[BuildRequest],
    tool_pythons: Iterable[Interpreter],
    proof_pythons: Iterable[Interpreter],
) -> bool:
    """Fill a folder, or finish one that was begun, and return whether it has Bazel, too.

    Args:
        root: The checkout, whose commit goes into it.
        folder: The bundle.
        cache: Where pinned inputs are kept.
        builds: What can be built from it, each of one backend.
        tool_pythons: The interpreters that the tools are for.
        proof_pythons: Those that wheels are proven on.

    Raises:
        UsageError: The checkout has changes that are not committed, or git cannot read it.
        FetchError: Something could not be downloaded.
    """
    wheels = folder / WHEELS
    wheels.mkdir(parents=True, exist_ok=True)
    (folder / SUMS).unlink(missing_ok=True)
    _add_repository(root, folder / REPOSITORY)
    has_bazel = _add_bazel(root, folder / BAZEL)
    for pin in dict.fromkeys(pin for build in builds for pin in build.inputs):
        if not (wheels / pin.filename).is_file():
            link_or_copy(cache.fetch(pin), wheels / pin.filename)
    locks = sorted(path for pattern in _LOCKS for path in root.glob(pattern))
    for interpreter in tool_pythons:
        needs = [["--no-deps", "--require-hashes", "--requirement", str(lock)] for lock in locks]
        download_wheels(interpreter, wheels, f"the tools on Python {interpreter.version}", needs)
    for interpreter in proof_pythons:
        for build in builds:
            _add_proofs(interpreter, build, wheels)
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    write_atomically(folder / SUMS, "".join(f"{hash_file(path)}  {path.relative_to(folder)}\n" for path in files))
    return has_bazel


def _add_repository(root: Path, target: Path) -> None:
    """Write the repository at its commit as one file that `git clone` takes (git-bundle(1))."""
    if _git(root, "status", "--porcelain", "--untracked-files=no"):
        raise UsageError(
            f"{root} has changes that are not committed",
            cause="a bundle contains one commit of the repository",
            remedy="commit them, or fill the bundle from another clone",
        )
    if _git(root, "rev-parse", "--is-shallow-repository") == "true":
        cause = "it is a shallow clone, and nothing can be cloned from a bundle of it"
        raise UsageError(f"{root} has a part of the history alone", cause=cause, remedy="git fetch --unshallow")
    _git(root, "bundle", "create", "--quiet", str(target), "HEAD")


def _git(root: Path, *arguments: str) -> str:
    command = ["git", "--no-optional-locks", "-C", str(root), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UsageError(f"git cannot bundle {root}", cause=done.stderr.strip(), remedy="fill it from a clone of git")
    return done.stdout.strip()


def _add_bazel(root: Path, target: Path) -> bool:
    """Copy the Bazel that builds here, if it is one program: Debian's is a package of many files."""
    try:
        bazel = find_bazel((root / ".bazelversion").read_text("utf-8").strip(), os.environ)
    except BazelError:
        return False
    with tempfile.TemporaryDirectory(prefix="bazelisk-") as scratch:
        run_tool(["env", f"BAZELISK_HOME={scratch}", f"USE_BAZEL_VERSION={bazel.wanted}", bazel.command, "--version"])
        program = next(Path(scratch).rglob("bin/bazel*"), Path(bazel.command))
        if not program.read_bytes().startswith(b"\x7fELF"):
            return False
        copy_atomically(program, target)
    target.chmod(0o755)
    return True


def _add_proofs(interpreter: Interpreter, build: BuildRequest, wheels: Path) -> None:
    """Download what is installed with wheels that are not built yet: upstream's `jaxlib` requires what ours does."""
    release, platform, (backend,) = build.release, build.platform.name, build.backends
    if platform != host_platform().name or interpreter.tag not in release.pythons(platform):
        return
    pins = [release.pin(f"bindings.{interpreter.tag}.{platform}")]
    if not backend.prebuilt.bundled:
        pins.append(release.pin(f"plugin.{backend.name}.{platform}"))
    needs = [*(f"{pin.project}=={pin.version}" for pin in pins), *backend.requires]
    groups = [load_inputs(build.root, release, backend).all_requirements]
    groups += [(f"jax=={release.version}", *requirement_group(build.root, name)) for name in _GROUPS]
    what = f"the proofs of {backend.name} {release.version} on Python {interpreter.version}"
    download_wheels(interpreter, wheels, what, [[*needs, *requirements] for requirements in groups])
