# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Our wheels on free-threaded Pythons: those of the release run them without the GIL, older ones are refused.

`PATH` may name them: `PATH=/opt/python3.14t/bin:$PATH`.
"""

import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from pjrtwheel.environment.interpreters import Interpreter, find_interpreters
from pjrtwheel.environment.processes import clean_environ
from pjrtwheel.release.model import Release
from plugin_status import verdict_of

pytestmark = [pytest.mark.integration, pytest.mark.slow]

# For these there is neither a jaxlib of the release nor a module of ours.
TOO_OLD = ("cp313t",)

CALLBACKS = """
import sys, threading, jax, jax.numpy as jnp, numpy as np
from jax._src import xla_bridge
from jax.experimental import io_callback
seen, failures = [], []
def fail(x):
    raise ValueError("no")
def work(number):
    try:
        double = jax.jit(lambda x: jax.pure_callback(
            lambda a: np.asarray(a) * 2 + number, jax.ShapeDtypeStruct((8,), np.float32), x).sum())
        note = jax.jit(lambda x: io_callback(lambda a: seen.append(number), None, x))
        failing = jax.jit(lambda x: jax.pure_callback(fail, jax.ShapeDtypeStruct((8,), np.float32), x))
        for turn in range(50):
            x = jnp.full((8,), turn, jnp.float32)
            assert float(double(x)) == 8 * (2 * turn + number)
            note(x)
            try:
                failing(x).block_until_ready()
            except Exception as error:
                assert "ValueError: no" in str(error), error
            else:
                raise AssertionError("no error")
    except BaseException as error:
        failures.append(repr(error))
threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
jax.effects_barrier()
print((xla_bridge.using_pjrt_c_api(), len(seen), failures, sys._is_gil_enabled()))
"""


def find_first(tags: tuple[str, ...]) -> Interpreter:
    """Return the first of these Pythons that is here, or skip the test."""
    found = find_interpreters(tags)
    present = [interpreter for interpreter in found.values() if interpreter]
    if not present:
        pytest.skip(f"no free-threaded Python is installed here: none of {', '.join(found)} on PATH, in pyenv or uv")
    return present[0]


@pytest.fixture(scope="module")
def python(
    release: Release, built_wheels: Path, install_wheels: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return the Python of an environment with our wheels, of a free-threaded one that the release has."""
    interpreter = find_first(tuple(tag for tag in release.pythons("linux_x86_64") if tag.endswith("t")))
    return install_wheels(built_wheels, tmp_path_factory.mktemp("free_threaded"), interpreter=interpreter)


@pytest.fixture(scope="module")
def old() -> Interpreter:
    """Return a free-threaded Python that is too old."""
    return find_first(TOO_OLD)


@pytest.fixture(scope="module")
def old_python(old: Interpreter, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of an environment with the newest JAX that the package index has for it."""
    folder = tmp_path_factory.mktemp("old") / "venv"
    subprocess.run([str(old.path), "-I", "-m", "venv", str(folder)], check=True)
    made = folder / "bin/python"
    subprocess.run([str(made), "-m", "pip", "install", "--quiet", "--only-binary=:all:", "jax"], check=True)
    return made


@pytest.fixture(scope="module")
def copied(built_wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder into which the plugin was unpacked, past all installers."""
    folder = tmp_path_factory.mktemp("copied")
    (wheel,) = built_wheels.glob("jaxlib_cpu-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def run(python: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a Python."""
    command = [str(python), "-X", "faulthandler", *arguments]
    return subprocess.run(command, env=clean_environ(**environ), capture_output=True, text=True, check=False)


def test_threads_use_the_extension_at_the_same_time(
    root: Path, python: Path, compile_library: Callable[..., Path]
) -> None:
    """Registering and calling back; importing the extension does not switch the GIL on."""
    library = compile_library("fake_plugin.so", root / "tests/data/fake_plugin.c")
    result = run(python, str(root / "tests/data/threads.py"), str(library))
    assert result.returncode == 0, result.stdout + result.stderr
    assert " without the GIL: 0 failures" in result.stdout


def test_callbacks_of_many_threads(python: Path) -> None:
    """Results, side effects and exceptions of real JAX; the GIL stays off although nobody asked for that."""
    result = run(python, "-c", CALLBACKS)
    assert result.stdout == "(True, 400, [], False)\n", result.stderr


def test_a_copied_plugin_is_refused(old: Interpreter, old_python: Path, copied: Path) -> None:
    """The first use of JAX ends with the reason: no crash, and no other client; the status says the same."""
    version = f"3.{old.tag.removeprefix('cp3').removesuffix('t')}"
    named = (f"({version}t)", "_pjrt.abi3.so", f"use python{version} in place of python{version}t")
    use = ("-c", "import jax; print(jax.devices())")
    assert run(old_python, *use).stdout == "[CpuDevice(id=0)]\n"
    refused = run(old_python, *use, PYTHONPATH=str(copied))
    assert (refused.returncode, refused.stdout) == (1, "")
    status = run(old_python, "-m", "jaxlib_cpu", PYTHONPATH=str(copied))
    assert (status.returncode, status.stderr) == (1, "")
    assert [text for text in named if text not in refused.stderr or text not in status.stdout] == []
    assert named[-1] in verdict_of(status.stdout)
