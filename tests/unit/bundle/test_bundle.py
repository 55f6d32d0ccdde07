# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A bundle: what it is for, what is put into it, and that nothing else is asked where one is named."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from git_repository import git
from package_index import make_index
from pjrtwheel.bazel.locate import Bazel
from pjrtwheel.bump import find_next
from pjrtwheel.bundle import enter_bundle, fill
from pjrtwheel.bundle.fill import choose_builds, fill_bundle
from pjrtwheel.environment.interpreters import probe
from pjrtwheel.environment.venv import find_uv
from pjrtwheel.errors import FetchError, UsageError
from pjrtwheel.fetch.cache import WheelCache
from pjrtwheel.fetch.index import download_wheel
from pjrtwheel.files import hash_file
from pjrtwheel.pin import pin_release
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.release.known import list_releases, load_release
from pjrtwheel.release.model import Pin, Release
from small_wheels import build_wheel, describe_wheel

HOST, ARM = PLATFORMS["linux_x86_64"], PLATFORMS["linux_aarch64"]
A, B = "a_tool-1.0-py3-none-any.whl", "b_tool-2.0-py3-none-any.whl"


def test_all_backends_of_the_newest_release_that_has_each(root: Path) -> None:
    """Unless some are named; a backend that has no library for a platform is left out."""
    newest = {
        (name, platform): version
        for version in list_releases(root)
        for name in {key.split(".")[1] for key in load_release(root, version).pins if key.startswith("plugin.")}
        for platform in load_release(root, version).platforms(name)
    }
    builds = choose_builds(root, [], [], [HOST, ARM])
    found = {(build.backends[0].name, build.platform.name): build.release.version for build in builds}
    assert found == {key: version for key, version in newest.items() if key[1] in {HOST.name, ARM.name}}


def test_what_cannot_be_built_is_refused(root: Path, release: Release) -> None:
    """An input that is not pinned, a backend that is not known, and a platform without any."""
    with pytest.raises(FetchError, match=r"plugin\.cpu\.linux_aarch64"):
        choose_builds(root, ["cpu"], [release.version], [ARM])
    for names, platform in ((["abacus"], HOST), ([], PLATFORMS["macos_arm64"])):
        with pytest.raises(UsageError):
            choose_builds(root, names, [], [platform])


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository without backends, whose lock has two tools of the machine's index."""
    index, root = make_index(tmp_path / "index", monkeypatch), tmp_path / "repository"
    (root / "build/locks").mkdir(parents=True)
    (root / ".bazelversion").write_text("7.7.1")
    with (root / "build/locks/tests.txt").open("w") as lock:
        for name in (A, B):
            digest = hash_file(build_wheel(index, describe_wheel(name), name=name))
            lock.write(f"{'=='.join(name.split('-')[:2])} \\\n    --hash=sha256:{digest}\n")
    for arguments in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "--message", "Lock")):
        git(root, *arguments)
    return root


def fill_with_tools(root: Path, folder: Path) -> bool:
    """Fill a bundle with the tools of a repository for this Python, and return whether it has Bazel, too."""
    python = probe(Path(sys.executable))
    assert python is not None
    cache = WheelCache(folder.parent / "cache", download_wheel)
    return fill_bundle(root, folder, cache, builds=(), tool_pythons=[python], proof_pythons=())


def test_bundle_has_tools_and_the_repository(repository: Path, tmp_path: Path) -> None:
    """A killed run is finished by the next, which downloads what is missing or damaged; until then there is none."""
    folder = tmp_path / "made/a bundle"
    fill_with_tools(repository, folder)
    assert {path.name for path in (folder / "wheels").iterdir()} == {A, B}
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=folder, check=True)
    subprocess.run(["git", "clone", "--quiet", folder / "repository.bundle", tmp_path / "clone"], check=True)
    assert (tmp_path / "clone/.bazelversion").is_file()
    whole = (folder / "wheels" / A).read_bytes()
    (folder / "wheels" / A).write_bytes(whole[:-1])
    shutil.rmtree(tmp_path / "index")
    with pytest.raises(FetchError, match="cannot download the tools"):
        fill_with_tools(repository, folder)
    with pytest.raises(SystemExit, match="no complete bundle"):
        enter_bundle({"PJRTWHEEL_BUNDLE": str(folder)})


def test_changes_that_are_not_committed_are_refused(repository: Path, tmp_path: Path) -> None:
    """They would be missing on the other machine."""
    (repository / ".bazelversion").write_text("8")
    with pytest.raises(UsageError, match="not committed"):
        fill_with_tools(repository, tmp_path / "bundle")


@pytest.mark.parametrize("kind", ["bazelisk", "bazel", "script"])
def test_bazel_comes_along_if_it_is_one_program(
    kind: str, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that bazelisk fetched, or the one on PATH; not Debian's script, which needs more than itself."""
    tools = tmp_path / "tools"
    tools.mkdir()
    program = tools / ("bazelisk" if kind == "bazelisk" else "bazel")
    fetch = (
        'mkdir -p "$BAZELISK_HOME/x/bin" && cp /bin/true "$BAZELISK_HOME/x/bin/bazel"' if kind == "bazelisk" else ":"
    )
    program.write_text(f'#!/bin/sh\n[ -z "$BAZELISK_HOME" ] || {fetch}\necho 7.7.1\n')
    program.chmod(0o755)
    if kind == "bazel":
        monkeypatch.setattr(fill, "find_bazel", lambda *_: Bazel("/bin/true", (7, 7, 1)))
    monkeypatch.setenv("BAZEL", str(program))
    folder = tmp_path / "bundle"
    has_bazel = fill_with_tools(repository, folder)
    assert has_bazel == (kind != "script") == (folder / "bazel").is_file()
    environ = {"PJRTWHEEL_BUNDLE": str(folder)}
    enter_bundle(environ)
    assert environ.get("BAZEL") == (str(folder / "bazel") if has_bazel else None)


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_installers_take_from_the_bundle_alone(installer: str, tmp_path: Path) -> None:
    """Also from a path with a space, and whatever the environment names besides."""
    folder, other = tmp_path / "a bundle", tmp_path / "other"
    for place, name in ((folder / "wheels", A), (other, B)):
        place.mkdir(parents=True)
        build_wheel(place, {**describe_wheel(name), "tool.py": b""}, name=name)
    (folder / "SHA256SUMS").touch()
    environ = {**os.environ, "PJRTWHEEL_BUNDLE": str(folder), "UV_CACHE_DIR": str(tmp_path / "cache")}
    environ |= dict.fromkeys(
        ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL"), other.as_uri()
    )
    enter_bundle(environ)
    enter_bundle(environ)  # noxw has done so, then the noxfile and the command
    pip = [sys.executable, "-m", "pip"] if installer == "pip" else [str(find_uv()), "pip"]
    for name, status in (("a-tool", True), ("b-tool", False)):
        command = [*pip, "install", "--target", str(tmp_path / name), name]
        done = subprocess.run(command, env=environ, capture_output=True, check=False)
        assert (done.returncode == 0) == status, done.stderr


def test_a_bundle_must_have_every_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it lacks is named."""
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / "a-1-py3-none-any.whl").write_bytes(b"a")
    digest = hashlib.sha256(b"a").hexdigest()
    pins = [Pin(f"plugin.{name}", name, "1", f"{name}-1-py3-none-any.whl", digest, 1) for name in ("a", "b")]
    environ = {"PJRTWHEEL_BUNDLE": str(tmp_path)}
    (tmp_path / "SHA256SUMS").touch()
    enter_bundle(environ)  # not os.environ, in which it would stay for the tests after this one
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "staging").mkdir()
    with pytest.raises(FetchError) as caught:
        download_wheel(pins[1], tmp_path / "staging")
    assert "has no b==1" in caught.value.cause


@pytest.mark.parametrize("command", [pin_release, find_next])
def test_a_bundle_does_not_say_which_releases_there_are(
    command: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it lacks would be recorded as absent."""
    monkeypatch.setenv("PJRTWHEEL_BUNDLE", str(tmp_path / "bundle"))
    arguments = (tmp_path, "1.2.3", tmp_path) if command is pin_release else (tmp_path, "1.2.3")
    with pytest.raises(FetchError):
        command(*arguments)  # type: ignore[operator]
