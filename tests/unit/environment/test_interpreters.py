# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Interpreters are found by asking them."""

import sys
import sysconfig
from pathlib import Path

import pytest

from folders import write_program
from pjrtwheel.environment.interpreters import candidate_paths, find_interpreter, probe

THIS = f"cp{sys.version_info[0]}{sys.version_info[1]}{'t' if sysconfig.get_config_var('Py_GIL_DISABLED') else ''}"


def test_candidates_come_from_every_store_in_order(tmp_path: Path) -> None:
    """PATH wins, then pyenv and uv, the newest patch release first."""
    pyenv = (f".pyenv/versions/{version}" for version in ("3.12.1", "3.12.9", "3.13.0"))
    for folder in (*pyenv, "uv/cpython-3.12.4-linux"):
        (tmp_path / folder).mkdir(parents=True)
    environ = {"PATH": "/first::/second", "UV_PYTHON_INSTALL_DIR": str(tmp_path / "uv")}
    found = [str(path) for path in candidate_paths("cp312", environ, tmp_path) if path.name == "python3.12"]
    assert found[:5] == [
        "/first/python3.12",
        "/second/python3.12",
        f"{tmp_path}/.pyenv/versions/3.12.9/bin/python3.12",
        f"{tmp_path}/.pyenv/versions/3.12.1/bin/python3.12",
        f"{tmp_path}/uv/cpython-3.12.4-linux/bin/python3.12",
    ]
    assert next(candidate_paths("cp313t", {"PATH": "/bin"}, tmp_path)) == Path("/bin/python3.13t")


def test_shims_that_fail_lie_or_talk_nonsense_are_passed_over(tmp_path: Path) -> None:
    """The first candidate that really is the wanted Python is taken, whatever the others are named."""
    broken = write_program(tmp_path / "a" / "python", "exit 127")
    silent = write_program(tmp_path / "b" / "python", "true")
    real = write_program(tmp_path / "c" / "python", f'exec "{sys.executable}" "$@"')
    found = find_interpreter(THIS, [tmp_path / "missing", broken, silent, real])
    assert found is not None
    assert (found.tag, found.prefix) == (THIS, sys.base_prefix)
    assert find_interpreter("cp38", [Path(sys.executable)]) is None


@pytest.mark.skipif(not Path("/proc/thread-self/exe").exists(), reason="this system does not show what it runs")
def test_an_emulator_is_noticed(tmp_path: Path) -> None:
    """The kernel runs a file for one processor, while Python's own file is for another one."""
    other = tmp_path / "python"
    header = bytearray(Path(sys.executable).read_bytes()[:64])
    header[18] ^= 0xFF
    other.write_bytes(header)
    real = write_program(tmp_path / "real", f'exec "{sys.executable}" "$@"')
    lie = tmp_path / "lie.py"
    lie.write_text(f"import sys; sys.executable = {str(other)!r}; exec(sys.argv.pop(1))")
    emulated = write_program(tmp_path / "emulated", f'exec "{sys.executable}" -I "{lie}" "$3" "$4"')
    assert [found.emulated for path in (real, emulated) if (found := probe(path))] == [False, True]
