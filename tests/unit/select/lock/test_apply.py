# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Installing from a lock file."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from jaxlib_select.apply.installer import pip_installer, uv_installer
from jaxlib_select.apply.lock_file import apply_lock, choose_group, read_lock
from jaxlib_select.apply.pylock import lock_environment_of
from jaxlib_select.errors import InstallError, LockError
from jaxlib_select.installed.environment import Distribution, Environment, this_environment
from lock_files import HERE
from select_commands import Select, lacking

PYTHON = Path("/venv/bin/python")


def test_a_lock_edited_by_hand_is_not_applied(
    make_lock_here: Callable[[], Path], select: Select, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless the user insists."""
    path = make_lock_here()
    (path.parent / "uv").touch(0o755)
    monkeypatch.setenv("PATH", str(path.parent), prepend=os.pathsep)
    said = select("apply", path, "--dry-run")
    assert (said.status, lacking(said.err, str(path), "--force")) == (LockError.exit_code, [])
    said = select("apply", path, "--dry-run", "--force")
    assert (said.status, f"-r {path}" in said.out) == (0, True)


def test_no_lock_at_all(tmp_path: Path, select: Select) -> None:
    """A file that is absent, and one that nobody could have meant."""
    said = select("lock", "--check", tmp_path / "pylock.toml")
    assert (said.status, str(tmp_path / "pylock.toml") in said.err) == (LockError.exit_code, True)
    assert select("lock", "--check", tmp_path / "poetry.lock").status == 2
    assert select("lock").status == 2
    assert select("lock", "jax", "torch==2.14.0").status == 2  # its groups are the backends of one package


def environment(pip: str) -> Environment:
    """Return an environment with a version of pip."""
    return Environment(PYTHON, (3, 12, 0), (), Path("/venv"), {"pip": Distribution("pip", pip, Path("/site"), {})})


def test_each_installer_is_asked_in_its_own_way(make_lock: Callable[..., Path]) -> None:
    """Both uv and new versions of pip read the lock; the default group is theirs to find."""
    path = make_lock()
    found = []
    for installer in (uv_installer(PYTHON), pip_installer(PYTHON)):
        for group in ("cuda13", "cuda12"):
            with apply_lock(read_lock(path), group, environment("26.3"), installer) as ((command,), _):
                found.append(" ".join(command[command.index("install") + 1 :]))
    with_uv = f"--python /venv/bin/python -r {path}"
    assert found == [with_uv, f"{with_uv} --group cuda12", f"-r {path}", f"--group {path}:cuda12"]


def test_an_old_pip_gets_a_requirements_file(make_lock: Callable[..., Path]) -> None:
    """With the packages of the group, their hashes, and the folders where files lie."""
    path = make_lock(("https://example.org/jax-1.0", "file:///folder/jax-1.0"))
    with apply_lock(read_lock(path), "cuda12", environment("23.2.1"), pip_installer(PYTHON)) as ((command,), _):
        *_, no_deps, option, file = command
        lines = [line for line in Path(file).read_text().splitlines() if not line.startswith(("#", " "))]
    assert lines == ["--find-links file:///folder", "cudnn==9.10 \\", "jax==1.0 \\", "jaxlib-cuda-12==1.0 \\"]
    assert (no_deps, option, Path(file).parent.exists()) == ("--no-deps", "-r", False)


@pytest.fixture
def make_lock_here(make_lock: Callable[..., Path]) -> Callable[[], Path]:
    """Return a function: a lock for this platform and this Python."""
    here = lock_environment_of(this_environment())
    changes = ("platform", HERE.platform, here.platform), ("\npython", HERE.python, here.python)
    return lambda: make_lock(*((f'{key} = "{before}"', f'{key} = "{after}"') for key, before, after in changes))


@pytest.fixture
def old_pip(make_lock_here: Callable[[], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Return a lock for this Python, which a pip installs that takes no groups, and an empty folder for others."""
    path, temporary = make_lock_here(), tmp_path / "temporary"
    temporary.mkdir()
    here = lock_environment_of(this_environment())
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setattr("jaxlib_select.cli.arguments.environment_from", lambda _: environment("23.2.1"))
    monkeypatch.setattr("jaxlib_select.cli.apply.lock_environment_of", lambda _: here)
    monkeypatch.setattr("jaxlib_select.cli.apply.find_installer", lambda *_, **__: pip_installer(PYTHON))
    return path, temporary


def test_a_dry_run_leaves_nothing_behind(old_pip: tuple[Path, Path], select: Select) -> None:
    """What the command reads would be written when it runs, and is said to be so; a lock of the user's stays."""
    path, temporary = old_pip
    said = select("apply", path, "--group", "cuda12", "--dry-run", "--force")
    file = said.out.splitlines()[0].rpartition(" ")[2]
    assert (said.status, lacking(said.err, file, str(path))) == (0, [])
    assert (list(temporary.iterdir()), path.exists()) == ([], True)


def test_an_error_leaves_nothing_behind_either(
    old_pip: tuple[Path, Path], select: Select, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither one of the installer, nor one while its file is written."""
    path, temporary = old_pip
    words = ["apply", path, "--group", "cuda12", "--force"]
    seen: list[Path] = []

    def fail(*_: object) -> None:
        seen.extend(temporary.rglob("*.txt"))
        raise InstallError("no network")

    monkeypatch.setattr("jaxlib_select.cli.apply.run_installer", fail)
    assert select(*words).status == InstallError.exit_code
    monkeypatch.setattr("jaxlib_select.apply.lock_file.write_requirements", fail)
    assert select(*words, "--dry-run").status == InstallError.exit_code
    assert ([file.name for file in seen], list(temporary.iterdir())) == (["requirements.txt"], [])


def test_a_group_that_the_lock_has_not(make_lock: Callable[..., Path], select: Select) -> None:
    """The message lists those there are."""
    path = make_lock()
    found = [choose_group(read_lock(path), name) for name in (None, "cuda12", "cuda-12", "cuda_12")]
    assert found == ["cuda13", "cuda12", "cuda12", "cuda12"]
    said = select("apply", path, "--group", "rocm7")
    assert (said.status, lacking(said.err, str(path), "'rocm7'", "cuda13, cuda12")) == (2, [])


def test_a_lock_is_written_whole_or_not_at_all(tmp_path: Path, select: Select) -> None:
    """A folder that is not there is an error, not a traceback, and one that comes before anything is resolved."""
    absent = tmp_path / "absent/pylock.toml"
    said = select("lock", "jax", "-o", absent, "--index-url", "http://127.0.0.1:9")
    assert (said.status, str(absent) in said.err) == (LockError.exit_code, True)
    assert select("lock", "jax", "--format", "uv", "-o", tmp_path / "absent/x.toml").status == LockError.exit_code
    assert select("lock", "jax", "--format", "uv", "-o", tmp_path / "x.toml").status == 0
    assert [path.name for path in tmp_path.iterdir()] == ["x.toml"]
