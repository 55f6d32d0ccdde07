# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Build the wheels of a published release again, at its commit and from its pins, and compare them byte for byte.

The commit is checked out into a folder of its own, whose own tooling builds the wheels of that time.
"""

import fnmatch
import os
import subprocess
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from pjrtwheel.attest.release_folder import ReleaseFolder
from pjrtwheel.attest.statement import Build, Parameters, build_of
from pjrtwheel.backend import load_backends
from pjrtwheel.bazel.workspace import prepare_workspace, remove_workspace
from pjrtwheel.errors import ReproduceError, UsageError, WheelError, list_choices, shorten
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.files import copy_atomically, hash_file
from pjrtwheel.record.entries import RELEASE_FILENAME, format_entries
from pjrtwheel.release.known import load_release
from pjrtwheel.sets import AUTO, BINDINGS, SELECTOR
from pjrtwheel.verify.compare import compare_wheels
from pjrtwheel.wheel.compress import find_compression

# Variables that would change what is built, or have it built by the servers and caches that are to be checked.
_OURS = ("RELEASE", "PROVIDER", "LIBRARY", "REMOTE", "BAZEL_FLAGS")
_UNSET = {"PYTHONPATH", "SOURCE_DATE_EPOCH", *(f"PJRTWHEEL_{name}" for name in _OURS)}
_SHOWN = 10  # names of members, or lines


def reproduce(
    release: ReleaseFolder, repository: Path, dist: Path, patterns: Collection[str] = ("*",)
) -> dict[str, tuple[str, ...]]:
    """Build wheels of a release again; return in what each differs, by file name: nothing for the same bytes.

    Args:
        release: The release.
        repository: A clone of the repository, with the commit of the release.
        dist: Where the wheels go: a new folder.
        patterns: File names of the wheels, in which `*` stands for anything.

    Raises:
        UsageError: It has no such wheel.
        ReproduceError: It cannot be built again: of a state that is in no commit, or from a library that is nowhere.
    """
    statement = release.statement
    if statement.dirty:
        cause = f"it was built with changes on top of {statement.commit}, which are in no commit"
        raise ReproduceError(f"{release.tag} cannot be built again", cause=cause)
    with check_out(repository, statement.commit) as root:
        dist.mkdir(parents=True, exist_ok=True)
        found: dict[str, tuple[str, ...]] = {}
        for build, names in _choose(release, patterns).items():
            folder = dist / f"{build.distribution}-{build.platform}"
            if build.distribution == AUTO:
                _put_others(release, folder)
            command = _command(root, build, statement.parameters)
            _run(root, [*command, "--dist", str(folder)], build.epoch)
            found |= {name: tuple(explain_difference(release.path / name, folder / name)) for name in names}
    return found


@contextmanager
def check_out(repository: Path, commit: str) -> Iterator[Path]:
    """Make a folder with a commit, and remove it at the end with all that Bazel made for it.

    The repository stays as it is.

    Raises:
        ReproduceError: The repository lacks the commit, or is none.
    """
    with TemporaryDirectory(prefix="reproduce-") as scratch:
        root = Path(scratch) / "repository"
        for arguments in (
            ("clone", "--quiet", "--shared", "--no-checkout", str(repository.resolve()), str(root)),
            ("-C", str(root), "checkout", "--quiet", "--detach", commit),
        ):
            environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
            done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False, env=environ)
            if done.returncode:
                raise ReproduceError(
                    f"cannot check out {commit}",
                    cause=done.stderr.strip(),
                    remedy="get it with: git fetch --tags, or run this in a clone of the repository of the release",
                )
        try:
            yield root
        finally:
            cache = cache_root(os.environ)
            remove_workspace(prepare_workspace(root, cache), cache, orphaned=False)


def _choose(release: ReleaseFolder, patterns: Collection[str]) -> dict[Build, list[str]]:
    """Return the builds to run, each with the wheels to compare, in order of file name."""
    wanted: set[str] = set()
    for pattern in patterns:
        names = fnmatch.filter(release.wheels, pattern)
        if not names:
            remedy = f"it has {list_choices(release.wheels, pattern)}"
            raise UsageError(f"{release.tag} has no wheel {pattern}", remedy=remedy)
        wanted.update(names)
    builds = {(build.distribution, build.platform): build for build in release.statement.parameters.builds}
    chosen: dict[Build, list[str]] = {}
    for name in sorted(wanted):
        build = builds.get(build_of(release.wheels[name]))
        if build is None:
            raise ReproduceError(f"the statement of {release.tag} does not say how {name} was built")
        chosen.setdefault(build, []).append(name)
    for build in chosen:
        if build.provider not in {"", "none", "prebuilt"}:
            raise ReproduceError(
                f"{build.distribution} for {build.platform} cannot be built again",
                cause=f"its libraries are not those that the release pins: {build.provider}",
                remedy="build the others, with --wheel",
            )
    return chosen


def _put_others(release: ReleaseFolder, dist: Path) -> None:
    """Make a folder with all wheels that `jaxlib-auto` is about, as it was when that was built.

    They are copies: what runs then is another commit's tooling, which must not reach what was published.
    """
    others = {name: entry for name, entry in release.wheels.items() if entry.distribution != AUTO}
    for name in others:
        copy_atomically(release.path / name, dist / name)
    (dist / RELEASE_FILENAME).write_text(format_entries(others), "utf-8")


def _command(root: Path, build: Build, asked: Parameters) -> list[str]:
    """Return the session that builds, and its options."""
    if build.distribution == SELECTOR:
        return ["build_select", "--"]
    if build.distribution == AUTO:
        return ["build_auto", "--", "--release", asked.release]
    backends = {name: backend for backend, found in load_backends(root).items() for name in found.distributions}
    backends |= {BINDINGS: "jaxlib"}
    if build.distribution not in backends:
        raise ReproduceError(f"no backend of that commit makes {build.distribution}")
    options = ["--release", asked.release, "--platform", build.platform, "--no-smoke", "--xla", build.provider]
    options += ["--level", str(build.level)] if build.level is not None else []
    if asked.version != load_release(root, asked.release).set_version:
        options += ["--label", asked.version.partition("+")[2].rpartition(".")[0]]
    return [f"build_{backends[build.distribution]}", "--", *options]


def _run(root: Path, command: Sequence[str], epoch: int | None) -> None:
    """Run a session of another commit, in the environment that this pins; it says on stderr what it does."""
    environ = {name: value for name, value in os.environ.items() if name not in _UNSET and not name.startswith("GIT_")}
    if epoch is not None:
        environ["SOURCE_DATE_EPOCH"] = str(epoch)
    line = [sys.executable, str(root / "noxw"), "-s", *command]
    done = subprocess.run(line, stdout=sys.stderr, check=False, env=environ, cwd=root)
    if done.returncode:
        raise ReproduceError(
            f"{' '.join(command)} failed at the commit of the release",
            cause=f"exit status {done.returncode}; what it said is above",
        )


def explain_difference(published: Path, rebuilt: Path) -> Iterator[str]:
    """Yield in what two wheels of one name differ; nothing for the same bytes."""
    if not rebuilt.is_file():
        yield "building again gave no such wheel"
        return
    if hash_file(published) == hash_file(rebuilt):
        return
    try:
        differences = compare_wheels(published, rebuilt)
    except WheelError as error:
        yield error.what
        return
    for about, sides in differences.items():
        old, new = (shorten(names, _SHOWN) for names in sides)
        yield f"{about}: {old}" if old == new else f"{about}: {old or 'none'} before, {new or 'none'} now"
    if not differences:  # the members are equal in all that the directory says
        yield f"compressed at level {find_compression(published)}, now at {find_compression(rebuilt)}"
