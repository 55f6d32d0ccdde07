# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The command line and environment that Bazel is run with."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.backend import find_backend, load_backends
from pjrtwheel.bazel.invoke import BuildRequest, Invocation, run_bazel
from pjrtwheel.bazel.locate import Bazel
from pjrtwheel.bazel.workspace import Workspace
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.progress import Step
from release_under_test import release_under_test

OLD, NEW = Bazel("bazel", (4, 2, 3)), Bazel("bazel", (7, 7, 1), "7.7.1")
Invoke = Callable[..., Invocation]


@pytest.fixture
def invoke(root: Path) -> Invoke:
    """Return a function: a Bazel and an environment → how it is run for all wheels of a backend."""

    def make(bazel: Bazel, environ: dict[str, str], backend: str = "cpu", **options: Any) -> Invocation:
        platform = PLATFORMS["linux_x86_64"]
        request = BuildRequest(root, release_under_test(), (find_backend(root, backend),), platform, **options)
        return Invocation(request, bazel, Workspace(root, Path("/c/bazel/1")), environ)

    return make


def test_each_version_has_its_output_base(root: Path, invoke: Invoke) -> None:
    """Two versions of Bazel never share one, nor do two backends that are built from source."""
    assert invoke(OLD, {}).startup_flags()[1] == "--output_base=/c/bazel/1/4.2.3/wheels"
    assert invoke(OLD, {}).startup_flags(Path("/farm"))[-1] == "--bazelrc=/farm"
    flags = invoke(NEW, {}, provider="source").startup_flags()
    assert flags[1] == "--output_base=/c/bazel/1/7.7.1/source-cpu"
    assert flags[3:] == (f"--bazelrc={root}/plugins/cpu/xla.bazelrc",)


@pytest.mark.parametrize("name", sorted(load_backends(Path(__file__).resolve().parents[3])))
def test_every_configuration_exists(invoke: Invoke, name: str) -> None:
    """Each configuration of a backend is defined in a file of its directory, or of one that it shares."""
    invocation = invoke(NEW, {}, name, provider="source")
    files = [flag.partition("=")[2] for flag in invocation.startup_flags() if flag.startswith("--bazelrc=")]
    lines = [line for file in files for line in Path(file).read_text("utf-8").splitlines() if line[:1] not in {"", "#"}]
    (backend,) = invocation.request.backends
    own = {line.split()[0].partition(":")[2] for line in lines}
    assert set(backend.source.configs if backend.source else ()) <= own
    assert bool(own) == bool(backend.source)


def test_environment_names_the_library_and_its_digest(invoke: Invoke, tmp_path: Path) -> None:
    """Bazel sees from the digest that a file outside of the workspace has changed."""
    library = tmp_path / "a.so"
    library.write_bytes(b"")
    environ = invoke(NEW, {"PJRTWHEEL_PYTHON": "/p"}, provider="file", library=library).environment()
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert (environ["PJRTWHEEL_LIBRARY"], environ["PJRTWHEEL_LIBRARY_SHA256"]) == (str(library), empty)
    assert (environ["PJRTWHEEL_PYTHON"], environ["USE_BAZEL_VERSION"]) == ("/p", "7.7.1")
    assert invoke(OLD, {}).environment()["PJRTWHEEL_LIBRARY"] == ""


def test_environment_shows_that_the_interpreter_was_upgraded(invoke: Invoke, tmp_path: Path) -> None:
    """At the same path, which is all that Bazel would see."""
    python = tmp_path / "python"
    python.touch(mode=0o755)
    seen = [invoke(NEW, {"PJRTWHEEL_PYTHON": str(python)}).environment()]
    os.utime(python, (1, 1))
    seen.append(invoke(NEW, {"PJRTWHEEL_PYTHON": str(python)}).environment())
    assert seen[0]["PJRTWHEEL_PYTHON_CHANGED"] != seen[1]["PJRTWHEEL_PYTHON_CHANGED"]


def test_waiting_for_another_build_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One server builds one thing after the other, and its client waits; nothing else of what it prints is shown."""
    said = "Another command (pid=7) is running. Waiting for it to complete on the server...\nINFO: done\n"
    command = [sys.executable, "-c", f"print({said!r}, end='')"]
    assert run_bazel(command, tmp_path, os.environ, step=Step("Bazel")) == (0, said)
    assert capsys.readouterr().err == "waiting for another build in this checkout ...\n"


CLIENT = """
import time
from pathlib import Path
try:
    Path("begun").touch()
    time.sleep(60)
except KeyboardInterrupt:
    Path("ended").touch()
"""
BUILD = """
import os, sys
from pathlib import Path
from pjrtwheel.bazel.invoke import run_bazel
from pjrtwheel.progress import Step
from pjrtwheel.program import run_main
sys.exit(run_main(lambda words: run_bazel(words, Path(), os.environ, step=Step("Bazel"))[0], None))
"""


def test_bazel_is_interrupted_when_we_are_terminated(root: Path, tmp_path: Path) -> None:
    """It would go on for hours, and we would wait for it."""
    command = [sys.executable, "-c", BUILD, sys.executable, "-c", CLIENT]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "build"), *sys.path])}
    with subprocess.Popen(command, cwd=tmp_path, env=environ, stderr=subprocess.PIPE, text=True) as process:
        while not (tmp_path / "begun").exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.terminate()
        _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors, (tmp_path / "ended").exists()) == (130, "error: interrupted\n", True)
