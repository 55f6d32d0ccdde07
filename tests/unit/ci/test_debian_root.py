# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A Debian root has a name for what is in it, is refused where it cannot be made, and sees only what it is to see."""

from __future__ import annotations

import multiprocessing
import os
import re
import subprocess
from pathlib import Path

import pytest

import debian_root
from debian_root import ARCHITECTURES, DebianRoot, RootError, explain, find_problem, make_root, remove_root
from debian_visit import NAMESPACE, Visit, enter, plan_visit, temporary_folder
from pjrtwheel.errors import UsageError
from pjrtwheel.files import locked
from pjrtwheel.platforms import host_platform

HERE = debian_root.host_architecture()
OTHER = next(name for name in ARCHITECTURES if name != HERE)
ROOT = DebianRoot("trixie", HERE, ("python3",))
FOREIGN = DebianRoot("trixie", OTHER, ())


def test_the_name_is_that_of_the_content() -> None:
    """Suite, architecture and packages, in whatever order these are named."""
    names = {
        DebianRoot("trixie", "arm64", ("a", "b")).name,
        DebianRoot("trixie", "arm64", ("b", "a", "b")).name,
    }
    others = {
        DebianRoot("trixie", "arm64", ("a",)).name,
        DebianRoot("trixie", "amd64", ("a", "b")).name,
        DebianRoot("unstable", "arm64", ("a", "b")).name,
    }
    assert len(names) == 1
    assert len(names | others) == 4
    assert all(re.fullmatch(r"(trixie|unstable)-(arm64|amd64)-[0-9a-f]{12}", name) for name in names | others)


def test_every_platform_of_wheels_has_an_architecture_of_debian() -> None:
    """This machine's as well."""
    assert ARCHITECTURES[HERE] == host_platform()


def put_programs(folder: Path, monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Make folders in which nothing but some programs is found."""
    for name in names:
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    monkeypatch.setattr(debian_root, "PATH", str(folder))


def test_only_root_may_enter() -> None:
    """What is missing otherwise is not even looked for."""
    problem = find_problem(ROOT, user=1000)
    assert problem is not None
    assert str(problem).splitlines() == [
        "a Debian root needs root",
        "only root may change the root of a process",
        "run it with sudo",
    ]


def test_a_missing_program_comes_with_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the package has another name."""
    put_programs(tmp_path, monkeypatch, "chroot")
    problem = find_problem(ROOT, user=0)
    assert problem is not None
    assert (problem.what, problem.remedy) == (
        "not installed: debootstrap, unshare",
        "as root: apt-get install debootstrap util-linux",
    )


@pytest.mark.parametrize(
    ("text", "works"),
    [
        ("enabled\ninterpreter /usr/libexec/qemu\nflags: PF\noffset 0\n", True),
        ("disabled\ninterpreter /usr/libexec/qemu\nflags: PF\n", False),
        ("enabled\ninterpreter /usr/bin/qemu\nflags: \n", False),
        (None, False),
    ],
    ids=["enabled", "disabled", "emulator looked for inside", "not registered"],
)
def test_another_processor_needs_an_emulator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, *, works: bool
) -> None:
    """One that the kernel keeps open; without it the message has the commands. This machine's processor needs none."""
    put_programs(tmp_path, monkeypatch, "chroot", "debootstrap", "unshare")
    handlers = tmp_path / "binfmt_misc"
    handlers.mkdir()
    if text is not None:
        (handlers / f"qemu-{FOREIGN.platform.architecture}").write_text(text)
    problem = find_problem(FOREIGN, user=0, handlers=handlers)
    assert (problem is None) is works
    assert find_problem(ROOT, user=0, handlers=handlers) is None
    if problem:
        assert problem.what == f"this machine does not run programs for {OTHER}"
        assert problem.remedy == (
            "as root: apt-get install qemu-user-static binfmt-support; "
            f"mount -t binfmt_misc binfmt_misc {handlers}; update-binfmts --enable"
        )


@pytest.mark.parametrize(
    ("printed", "cause", "remedy"),
    [
        ("E: No such script: /usr/share/debootstrap/scripts/x", "E: No such script", "name a suite of Debian"),
        ("E: Invalid Release file, no entry for main/binary-x/Packages", "E: Invalid", "name an architecture"),
        ("W: Cannot check Release signature; keyring x", "W: Cannot", "as root: apt-get install debian-archive"),
        ("E: Release signed by unknown key (x)", "E: Release", "as root: apt-get install debian-archive-keyring"),
        ("E: Invalid Release signature (key id x)", "E: Invalid", "name another mirror"),
        ("E: Failed getting release file http://x/Release", "E: Failed getting", "check the network"),
        ("E: Unable to locate package x", "E: Unable to locate", "name packages"),
        ("tar: x: Cannot write: No space left on device", "tar: x", "free some space"),
        ("E: something new", "E: something new", "see above"),
        ("it stopped", "it stopped", "see above"),
    ],
    ids=["suite", "architecture", "keyring", "key", "signature", "network", "package", "disk", "unknown", "none"],
)
def test_what_debian_says_becomes_the_message(printed: str, cause: str, remedy: str) -> None:
    """The line that says the most, and what to do about it."""
    error = explain(ROOT, ["I: Retrieving Release", printed, "I: the end"] if remedy != "see above" else [printed])
    assert error.what == f"cannot install Debian trixie for {HERE}"
    assert error.cause.startswith(cause)
    assert error.remedy.startswith(remedy)


def test_a_root_that_is_half_made_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And a whole one is not made again."""
    monkeypatch.setattr(debian_root, "_NEEDED_BYTES", 0)
    script = 'for folder; do :; done; mkdir -p "$folder/usr"; ls -d "$folder"/usr; echo "E: Failed to fetch x"; exit 1'
    monkeypatch.setattr(debian_root, "NAMESPACE", ("sh", "-c", script))
    with pytest.raises(RootError, match="cannot install Debian trixie"):
        make_root(ROOT, tmp_path)
    (shown,) = re.findall(r"^  (/.+)$", capsys.readouterr().err, re.MULTILINE)
    assert Path(shown).relative_to(tmp_path).parts[1:] == ("root", "usr")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / ROOT.name).mkdir()
    assert make_root(ROOT, tmp_path) == tmp_path / ROOT.name


def test_what_nobody_signed_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the keyring debootstrap would only warn."""
    commands: list[list[str]] = []
    monkeypatch.setattr(debian_root, "_NEEDED_BYTES", 0)

    def install(_: DebianRoot, command: list[str]) -> None:
        commands.append(command)
        Path(command[-1]).mkdir()

    monkeypatch.setattr(debian_root, "_install", install)
    make_root(FOREIGN, tmp_path)
    assert "--force-check-gpg" in commands[0][commands[0].index("debootstrap") :]


def test_a_root_is_not_removed_under_a_command(tmp_path: Path) -> None:
    """The removal waits for commands in it; others may enter meanwhile. Then it is gone at once."""
    folder = tmp_path / ROOT.name
    (folder / "usr").mkdir(parents=True)
    remover = multiprocessing.get_context("spawn").Process(target=remove_root, args=(ROOT, tmp_path), daemon=True)
    with locked(folder, shared=True), locked(folder, shared=True):
        remover.start()
        remover.join(2)
        assert (remover.is_alive(), (folder / "usr").is_dir()) == (True, True)
    remover.join(30)
    assert (remover.exitcode, list(tmp_path.iterdir())) == (0, [])
    with pytest.raises(RootError, match="no such root"):
        remove_root(ROOT, tmp_path)


def test_a_command_sees_the_repository_the_cache_and_what_is_named(root: Path, tmp_path: Path) -> None:
    """Only the cache and what is named for it can be written; of the environment it has what packages come with."""
    environ = {"PJRTWHEEL_CACHE": str(tmp_path / "cache"), "PIP_INDEX_URL": "x", "https_proxy": "y", "SECRET": "z"}
    (tmp_path / "dist").mkdir()
    visit = plan_visit(environ, write=[tmp_path / "dist"], read=[tmp_path], here=tmp_path / "dist")
    assert visit.folder == tmp_path / "dist"
    assert set(visit.readable) >= {root, tmp_path}
    assert visit.writable == (tmp_path / "cache", tmp_path / "dist")
    assert {name: visit.environ.get(name) for name in environ} == {**environ, "SECRET": None}
    elsewhere = plan_visit(environ, write=[], read=[], here=Path("/"))
    assert elsewhere.folder == root
    with pytest.raises(UsageError, match="no such file or folder"):
        plan_visit(environ, write=[tmp_path / "none"], read=[], here=root)


def test_the_script_mounts_outer_folders_first(tmp_path: Path) -> None:
    """A folder that can be written may be inside one that cannot; only that one is mounted to be read alone."""
    outer, inner = tmp_path / "outer", tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    folder = tmp_path / "root"
    visit = Visit(inner, (outer,), (inner,), {"A": "a b"})
    *_, script = enter(folder, visit, ["echo", "x y"], temporary=tmp_path / "temporary")
    lines = script.splitlines()
    places = [f"{folder}{path}" for path in (outer, inner)]
    assert lines[0] == "set -e"
    assert [line for line in lines if line.endswith(tuple(places))] == [
        f"mount --bind {outer} {places[0]}",
        f"mount -o remount,bind,ro {places[0]}",
        f"mount --bind {inner} {places[1]}",
    ]
    assert lines[-1] == f"exec chroot {folder} env -i -C {inner} 'A=a b' echo 'x y'"
    assert lines[2] == f"mount -o remount,bind,ro {folder}"
    *_, script = enter(folder, visit, ["true"], temporary=tmp_path / "temporary", change=True)
    assert f"mount -o remount,bind,ro {folder}" not in script.splitlines()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
def test_mounts_end_with_the_command(tmp_path: Path) -> None:
    """Also when it fails; nothing of the root can be written, and this machine's folders only where it was said."""
    if subprocess.run([*NAMESPACE, "mount", "--bind", "/", "/mnt"], check=False).returncode != 0:
        pytest.skip("this machine lets nobody mount")
    folder = tmp_path / "root"
    for name in ("bin", "lib", "lib64", "usr", "etc", "proc", "sys", "dev"):
        (folder / name).mkdir(parents=True)
    read, write = tmp_path / "read", tmp_path / "write"
    read.mkdir()
    write.mkdir()
    system = tuple(path.resolve() for name in ("usr", "bin", "lib", "lib64") if (path := Path("/", name)).is_dir())
    visit = Visit(write, (*system, read), (write,), {"PATH": "/usr/bin:/bin"})
    if Path("/bin").is_symlink():
        for name in ("bin", "lib", "lib64"):
            (folder / name).rmdir()
            (folder / name).symlink_to(f"usr/{name}")
    before = Path("/proc/self/mounts").read_text()
    attempts = f"touch here; touch /etc/x; touch {read}/x; touch /tmp/x && echo temporary; exit 7"
    with temporary_folder() as temporary:
        command = enter(folder, visit, ["sh", "-c", attempts], temporary=temporary)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (7, "temporary\n")
    assert done.stderr.count("Read-only file system") == 2
    assert [path.name for path in write.iterdir()] == ["here"]
    assert list(read.iterdir()) == []
    assert Path("/proc/self/mounts").read_text() == before
