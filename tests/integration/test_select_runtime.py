# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`jaxlib_select` inside programs, with the real JAX on our wheels, and a program that others wrote on top of it.

A second platform is had by giving JAX the CPU plugin once more, under another name.
"""

import json
import os
import subprocess
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.backend import find_backend
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.processes import clean_environ
from pjrtwheel.environment.venv import create_venv, install, requirement_group, wheelhouse
from pjrtwheel.fetch import cache_root
from pjrtwheel.prove.on_python import run_program
from pjrtwheel.record.proofs import Outcome
from pjrtwheel.release.model import Release
from pjrtwheel.wheel.names import parse_name

pytestmark = pytest.mark.integration

PRELUDE = """
import json, sys, threading, asyncio
import jaxlib_select as select

def here():
    import jax.extend.backend, jax.numpy as jnp
    (device,) = jnp.zeros(1).devices()
    platform = next(n for n, client in jax.extend.backend.backends().items() if client is device.client)
    return [select.get_default_backend(), platform]

def in_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(here()))
    thread.start()
    thread.join()
    return found[0]

said = []
"""


@pytest.fixture(scope="module")
def run_selecting(wheel_python: Path, root: Path) -> Callable[[str], Any]:
    """Return a function: a program that appends to `said` → what it appended, on the platforms `other` and `cpu`."""
    (library,) = (wheel_python.parent.parent / "lib").glob("python3*/site-packages/jaxlib_cpu/*plugin.so")

    def run(program: str) -> Any:
        text = PRELUDE + textwrap.dedent(program) + "\nprint(json.dumps(said))\n"
        variables = {"PYTHONPATH": str(root / "selector"), "PJRT_NAMES_AND_LIBRARY_PATHS": f"other:{library}"}
        command, environ = [str(wheel_python), "-c", text], clean_environ(**variables)
        result = subprocess.run(command, capture_output=True, text=True, check=False, env=environ)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

    return run


def test_blocks_are_nested_and_seen_by_their_own_thread_only(run_selecting: Callable[[str], Any]) -> None:
    """Leaving a block restores what was before, an exception or not."""
    assert run_selecting("""
        said.append(here())
        with select.using_backend("cpu"):
            said.append(here())
            try:
                with select.using_backend("other"):
                    said += [here(), in_thread()]
                    raise ValueError
            except ValueError:
                said.append(here())
        said.append(here())
    """) == [[None, "other"], ["cpu", "cpu"], ["other", "other"], [None, "other"], ["cpu", "cpu"], [None, "other"]]


def test_a_default_for_the_whole_program(run_selecting: Callable[[str], Any]) -> None:
    """All threads have it; a block comes before it; None gives the choice back to JAX."""
    assert run_selecting("""
        select.set_default_backend("cpu")
        said += [here(), in_thread()]
        with select.using_backend("other"):
            said.append(here())
        said.append(here())
        select.set_default_backend(None)
        said.append(here())
    """) == [["cpu", "cpu"], ["cpu", "cpu"], ["other", "other"], ["cpu", "cpu"], [None, "other"]]


def test_many_threads_at_once(run_selecting: Callable[[str], Any]) -> None:
    """Each one has what it chose, however they interleave."""
    assert run_selecting("""
        def work(name):
            for _ in range(20):
                with select.using_backend(name):
                    said.append(here() == [name, name])
        here()
        threads = [threading.Thread(target=work, args=(name,)) for name in ("cpu", "other") * 4]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        said = [len(said), all(said)]
    """) == [160, True]


def test_tasks_of_one_thread(run_selecting: Callable[[str], Any]) -> None:
    """The choice belongs to the task, whatever JAX's own device is, which belongs to the thread."""
    assert run_selecting("""
        async def work(name, pause):
            with select.using_backend(name):
                await asyncio.sleep(pause)
                said.append([name, select.get_default_backend()])
        async def main():
            await asyncio.gather(work("cpu", 0.2), work("other", 0.4))
            said.append(select.get_default_backend())
        here()
        asyncio.run(main())
    """) == [["cpu", "cpu"], ["other", "other"], None]


def test_a_missing_backend_comes_with_its_command(
    run_selecting: Callable[[str], Any], wheel_python: Path, release: Release
) -> None:
    """A `BackendError` that is a RuntimeError as well, with the command for this very environment."""
    said = run_selecting("""
        said += [select.available(), select.require("cpu", initialize=False), "jax" in sys.modules]
        for ask in (lambda: select.require("cuda12"), lambda: select.using_backend("cuda12").__enter__()):
            try:
                ask()
            except select.BackendError as error:
                said.append([isinstance(error, RuntimeError), error.cause, error.remedy])
    """)
    assert said[:3] == [["other", "cpu"], "cpu", False]  # what is available is known without starting JAX
    assert said[3] == said[4]
    is_runtime_error, cause, remedy = said[3]
    assert (is_runtime_error, cause.startswith("jaxlib-cuda-12 is not installed")) == (True, True)
    wanted = f"jax=={release.version} 'jaxlib-cuda-12[with-cuda]=={release.set_version}'"
    assert (str(wheel_python) in remedy, remedy.endswith(wanted)) == (True, True)


def test_other_absences(run_selecting: Callable[[str], Any]) -> None:
    """A platform without hardware, any GPU, and a name that nobody knows."""
    said = run_selecting("""
        for name in ("tpu", "gpu", "warp-drive"):
            for start in (False, True):
                try:
                    select.require(name, initialize=start)
                except select.BackendError as error:
                    said.append([error.what, error.cause])
    """)
    assert said[0::2] == said[1::2]
    assert [name in what for name, (what, _) in zip(("tpu", "gpu", "warp-drive"), said[0::2], strict=True)] == [
        True
    ] * 3
    assert "no TPU was found" in said[0][1]


@pytest.fixture(scope="module")
def downstream_python(
    built_wheels: Path, root: Path, release: Release, interpreter: Interpreter, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return the Python of an environment with the built wheels and what others have built upon JAX."""
    wheels = [wheel for wheel in built_wheels.glob("*.whl") if parse_name(wheel.name).fits(interpreter.tag)]
    wheels = [wheel for wheel in wheels if wheel.name.startswith(("jaxlib-", "jaxlib_cpu-"))]
    requirements = [f"jax=={release.version}", *requirement_group(root, "downstream")]
    folder = wheelhouse(interpreter, requirements, wheels, cache_root(os.environ))
    python = create_venv(interpreter, tmp_path_factory.mktemp("downstream") / "venv")
    ours = [parse_name(wheel.name).requirement for wheel in wheels]
    install(python, [*requirements, *ours], [folder, built_wheels])
    return python


def test_brainunits_page_on_our_wheels(downstream_python: Path, root: Path, tmp_path: Path) -> None:
    """The examples run unchanged, on the plugin, and print what the page shows."""
    page = root / "tests/downstream/brainunit_backends.py"
    program = tmp_path / "page.py"
    program.write_text(f"import runpy\n\n\ndef check():\n    return str(len(runpy.run_path({str(page)!r})))\n")
    proof = run_program(downstream_python, program, find_backend(root, "cpu"))
    assert proof.outcome is Outcome.PASSED, proof.detail
    command = [str(downstream_python), "-I", str(page)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, env=clean_environ()).stdout
    # But for two lines: the page was made in an environment with torch, before the package was renamed. The one about
    # `inside using_backend` is as the page shows it, though the comment next to the example says otherwise.
    assert printed == page.with_suffix(".txt").read_text("utf-8")
