# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A Debian root has a name for what is in it, is refused where it cannot be made, and sees only what it is to see."""

import os
import subprocess
from pathlib import Path

import pytest

import debian
from debian import ARCHITECTURES, NAMESPACE, RootError, enter, make_root, name_root
from folders import write_program
from pjrtwheel.platforms import host_platform

HERE = debian.host_architecture()
OTHER = next(name for name in ARCHITECTURES if name != HERE)


def test_the_name_is_that_of_the_content() -> None:
    """Suite, architecture and packages, in whatever order these are named."""
    assert ARCHITECTURES[HERE] == host_platform()
    assert name_root("trixie", HERE, ["a", "b"]) == name_root("trixie", HERE, ["b", "a", "b"])
    others = {name_root(*words) for words in (("trixie", HERE, "a"), ("trixie", OTHER, "a"), ("sid", HERE, "a"))}
    assert len(others | {name_root("trixie", HERE, ["a", "b"])}) == 4


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
    """One that the kernel keeps open; this machine's processor needs none, and every root needs some programs."""
    monkeypatch.setattr(debian, "PATH", str(tmp_path))
    with pytest.raises(RootError, match="not installed: debootstrap, unshare, chroot"):
        debian.require_machine(HERE)
    for name in ("chroot", "debootstrap", "unshare"):
        write_program(tmp_path / name, "")
    debian.require_machine(HERE, handlers=tmp_path)
    if text is not None:
        (tmp_path / f"qemu-{ARCHITECTURES[OTHER].architecture}").write_text(text)
    if works:
        debian.require_machine(OTHER, handlers=tmp_path)
    else:
        with pytest.raises(RootError, match=f"does not run programs for {OTHER}"):
            debian.require_machine(OTHER, handlers=tmp_path)


def test_a_root_that_is_half_made_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole one is not made again; what nobody signed is not installed."""
    monkeypatch.setattr(debian, "_NEEDED_BYTES", 0)
    script = 'case "$*" in *--force-check-gpg*) ;; *) exit 0 ;; esac; for folder; do :; done; mkdir "$folder"; exit 1'
    monkeypatch.setattr(debian, "NAMESPACE", ("sh", "-c", script))
    with pytest.raises(RootError, match="cannot install Debian"):
        make_root(tmp_path / "root", "trixie", HERE, [], None)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "root").mkdir()
    make_root(tmp_path / "root", "trixie", HERE, [], None)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
def test_mounts_end_with_the_command(tmp_path: Path) -> None:
    """Also when it fails; nothing of the root can be written, and this machine's folders only where it was said."""
    if subprocess.run([*NAMESPACE, "mount", "--bind", "/", "/mnt"], check=False).returncode != 0:
        pytest.skip("this machine lets nobody mount")
    folder = tmp_path / "root"
    for name in ("bin", "lib", "lib64", "usr", "etc", "proc", "sys", "dev"):
        (folder / name).mkdir(parents=True)
    read, write = tmp_path / "read", tmp_path / "read/write"
    write.mkdir(parents=True)
    system = [path.resolve() for name in ("usr", "bin", "lib", "lib64") if (path := Path("/", name)).is_dir()]
    if Path("/bin").is_symlink():
        for name in ("bin", "lib", "lib64"):
            (folder / name).rmdir()
            (folder / name).symlink_to(f"usr/{name}")
    before = Path("/proc/self/mounts").read_text()
    attempts = f"touch here; touch /etc/x; touch {read}/x; touch /tmp/x && echo $A temporary; exit 7"
    seen = {**dict.fromkeys([*system, read], False), write: True}
    environ = {"PATH": "/usr/bin:/bin", "A": "a b"}
    temporary = tmp_path / "temporary"
    command = enter(folder, seen, ["sh", "-c", attempts], environ=environ, here=write, temporary=temporary)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (7, "a b temporary\n")
    assert done.stderr.count("Read-only file system") == 2
    assert [path.name for path in write.iterdir()] == ["here"]
    assert [path.name for path in read.iterdir()] == ["write"]
    assert Path("/proc/self/mounts").read_text() == before
