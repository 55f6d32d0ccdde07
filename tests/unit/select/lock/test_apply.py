# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Installing from a lock file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from jaxlib_select.apply.installer import pip_installer, uv_installer
from jaxlib_select.apply.lock_file import apply_lock, choose_group, read_lock
from jaxlib_select.apply.pylock import lock_environment_of
from jaxlib_select.cli import main
from jaxlib_select.errors import InstallError, LockError
from jaxlib_select.installed.environment import Distribution, Environment, this_environment
from lock_files import HERE

PYTHON = Path("/venv/bin/python")


def test_a_lock_edited_by_hand_is_not_applied(
    make_lock: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless the user insists."""
    (tmp_path / "uv").touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    here = lock_environment_of(this_environment())
    path = make_lock(
        (f'platform = "{HERE.platform}"', f'platform = "{here.platform}"'),
        (f'\npython = "{HERE.python}"', f'\npython = "{here.python}"'),
    )
    assert main(["apply", str(path), "--dry-run"]) == LockError.exit_code
    assert capsys.readouterr().err.splitlines() == [
        f"error: {path} was changed by hand since it was written",
        f"       install it as it is: --force, or write it again: jaxlib-select lock jax -o {path}",
    ]
    assert main(["apply", str(path), "--dry-run", "--force"]) == 0
    assert f"-r {path}" in capsys.readouterr().out


def test_no_lock_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is absent, and one that nobody could have meant."""
    assert main(["lock", "--check", str(tmp_path / "pylock.toml")]) == 5
    assert capsys.readouterr().err.splitlines()[0] == f"error: cannot read {tmp_path / 'pylock.toml'}"
    assert main(["lock", "--check", str(tmp_path / "poetry.lock")]) == 2
    assert main(["lock"]) == 2


def environment(pip: str) -> Environment:
    """Return an environment with a version of pip."""
    return Environment(PYTHON, (3, 12, 0), (), Path("/venv"), {"pip": Distribution("pip", pip, Path("/site"), {})})


def test_each_installer_is_asked_in_its_own_way(make_lock: Callable[..., Path]) -> None:
    """Both uv and new versions of pip read the lock; the default group is theirs to find."""
    path = make_lock()
    lock = read_lock(path)
    found = []
    for installer in (uv_installer(PYTHON), pip_installer(PYTHON)):
        for group in ("cuda13", "cuda12"):
            with apply_lock(lock, group, environment("26.3"), installer, []) as ((command,), _):
                found.append(" ".join(command[command.index("install") + 1 :]))
    assert found == [
        f"--python /venv/bin/python -r {path}",
        f"--python /venv/bin/python -r {path} --group cuda12",
        f"-r {path}",
        f"--group {path}:cuda12",
    ]


def test_an_old_pip_gets_a_requirements_file(make_lock: Callable[..., Path]) -> None:
    """With the packages of the group, their hashes, and the folders where files lie."""
    path = make_lock(("https://example.org/jax-1.0", "file:///folder/jax-1.0"))
    with apply_lock(read_lock(path), "cuda12", environment("23.2.1"), pip_installer(PYTHON), []) as ((command,), _):
        file = Path(command[-1])
        lines = [line for line in file.read_text().splitlines() if not line.startswith(("#", " "))]
    assert lines == ["--find-links file:///folder", "cudnn==9.10 \\", "jax==1.0 \\", "jaxlib-cuda-12==1.0 \\"]
    assert command[-3:-1] == ("--no-deps", "-r")
    assert not file.parent.exists()


@pytest.fixture
def old_pip(
    make_lock: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Path], tuple[Path, Path]]:
    """Return a function: a lock for this Python in a folder, which a pip installs that takes no groups.

    With it comes the folder for temporary files, which is empty.
    """
    here = lock_environment_of(this_environment())
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setattr("jaxlib_select.cli.arguments.environment_from", lambda _: environment("23.2.1"))
    monkeypatch.setattr("jaxlib_select.cli.apply.lock_environment_of", lambda _: here)
    monkeypatch.setattr("jaxlib_select.cli.apply.find_installer", lambda *_, **__: pip_installer(PYTHON))

    def put(folder: Path) -> tuple[Path, Path]:
        made = make_lock(
            (f'platform = "{HERE.platform}"', f'platform = "{here.platform}"'),
            (f'\npython = "{HERE.python}"', f'\npython = "{here.python}"'),
        )
        folder.mkdir(exist_ok=True)
        return made.rename(folder / made.name), temporary

    return put


def test_a_dry_run_leaves_nothing_behind(
    old_pip: Callable[[Path], tuple[Path, Path]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the command reads would be written when it runs, and is said to be so."""
    path, temporary = old_pip(tmp_path)
    assert main(["apply", str(path), "--group", "cuda12", "--dry-run", "--force"]) == 0
    printed = capsys.readouterr()
    (command,) = printed.out.splitlines()
    file = command.rpartition(" ")[2]
    assert printed.err == f"note: {file} is made from {path} when this runs, and removed after it\n"
    assert list(temporary.iterdir()) == []


def test_an_error_leaves_nothing_behind_either(
    old_pip: Callable[[Path], tuple[Path, Path]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither one of the installer, nor one while its file is written."""
    path, temporary = old_pip(tmp_path)
    words = ["apply", str(path), "--group", "cuda12", "--force"]
    seen: list[Path] = []

    def fail(*_: object) -> None:
        seen.extend(temporary.rglob("*.txt"))
        raise InstallError("no network")

    monkeypatch.setattr("jaxlib_select.cli.apply.run_installer", fail)
    assert main(words) == InstallError.exit_code
    monkeypatch.setattr("jaxlib_select.apply.lock_file.write_requirements", fail)
    assert main([*words, "--dry-run"]) == InstallError.exit_code
    assert [file.name for file in seen] == ["requirements.txt"]
    assert list(temporary.iterdir()) == []


def test_a_folder_of_the_users_is_never_taken_for_a_temporary_one(
    old_pip: Callable[[Path], tuple[Path, Path]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever its name is, the lock in it stays, and nothing says that it was made for the command."""
    path, temporary = old_pip(tmp_path / "jaxlib-select-mine")
    text = path.read_bytes()
    monkeypatch.setattr("jaxlib_select.cli.arguments.environment_from", lambda _: environment("26.3"))
    assert main(["apply", str(path), "--group", "cuda13", "--dry-run", "--force"]) == 0
    printed = capsys.readouterr()
    assert (printed.out.splitlines()[0].endswith(f"-r {path}"), printed.err) == (True, "")
    assert path.read_bytes() == text
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert list(temporary.iterdir()) == []


def test_a_group_that_the_lock_has_not(make_lock: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    """The message lists those there are."""
    path = make_lock()
    assert choose_group(read_lock(path), None) == "cuda13"
    assert [choose_group(read_lock(path), name) for name in ("cuda12", "cuda-12", "cuda_12")] == ["cuda12"] * 3
    assert main(["apply", str(path), "--group", "rocm7"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"error: {path} has no group 'rocm7'",
        "       it has: cuda13, cuda12",
    ]


def test_a_lock_is_written_whole_or_not_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder that is not there is an error, not a traceback, and one that comes before anything is resolved."""
    absent = tmp_path / "absent/pylock.toml"
    assert main(["lock", "jax", "-o", str(absent), "--index-url", "http://127.0.0.1:9"]) == 5
    said = [f"error: cannot write {absent}", f"       there is no folder {absent.parent}"]
    assert capsys.readouterr().err.splitlines() == said
    assert main(["lock", "jax", "--format", "uv", "-o", str(tmp_path / "absent/x.toml")]) == 5
    assert main(["lock", "jax", "--format", "uv", "-o", str(tmp_path / "x.toml")]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["x.toml"]
