# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The command line and environment that Bazel is run with."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pjrtwheel.backend import find_backend
from pjrtwheel.bazel.events import BuildLog
from pjrtwheel.bazel.invoke import BuildRequest, build_environment, output_directories, run_bazel, startup_flags
from pjrtwheel.bazel.locate import Bazel
from pjrtwheel.bazel.remote import Remote
from pjrtwheel.bazel.workspace import Workspace
from pjrtwheel.errors import BazelError
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.progress import Step
from release_under_test import release_under_test

OLD, NEW = Bazel("bazel", (4, 2, 3)), Bazel("bazel", (7, 7, 1), "7.7.1")
WORKSPACE = Workspace(Path("/c/workspaces/1"), Path("/c/bazel/1"))


def request_of(root: Path, provider: str = "prebuilt", library: Path | None = None) -> BuildRequest:
    """Return a request for all wheels of the CPU line."""
    return BuildRequest(
        root, release_under_test(), (find_backend(root, "cpu"),), PLATFORMS["linux_x86_64"], provider, library
    )


def test_each_version_has_its_output_base(root: Path) -> None:
    """Two versions of Bazel never share one, nor do two backends that are built from source."""
    assert startup_flags(WORKSPACE, OLD, request_of(root))[1] == "--output_base=/c/bazel/1/4.2.3/wheels"
    assert startup_flags(WORKSPACE, OLD, request_of(root), Remote(Path("/farm")))[-1] == "--bazelrc=/farm"
    workspace = Workspace(root, Path("/c/bazel/1"))
    flags = startup_flags(workspace, NEW, request_of(root, "source"))
    assert flags[1] == "--output_base=/c/bazel/1/7.7.1/source-cpu"
    assert flags[3:] == (f"--bazelrc={root}/plugins/cpu/xla.bazelrc",)


def test_environment_names_the_library_and_its_digest(root: Path, tmp_path: Path) -> None:
    """Bazel sees from the digest that a file outside of the workspace has changed."""
    library = tmp_path / "a.so"
    library.write_bytes(b"")
    environ = build_environment(request_of(root, "file", library), NEW, {"PJRTWHEEL_PYTHON": "/p"})
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert (environ["PJRTWHEEL_LIBRARY"], environ["PJRTWHEEL_LIBRARY_SHA256"]) == (str(library), empty)
    assert (environ["PJRTWHEEL_PYTHON"], environ["USE_BAZEL_VERSION"]) == ("/p", "7.7.1")
    assert build_environment(request_of(root), OLD, {})["PJRTWHEEL_LIBRARY"] == ""


def test_environment_shows_that_the_interpreter_was_upgraded(root: Path, tmp_path: Path) -> None:
    """At the same path, which is all that Bazel would see."""
    python = tmp_path / "python"
    python.touch(mode=0o755)
    seen = [build_environment(request_of(root), NEW, {"PJRTWHEEL_PYTHON": str(python)})]
    os.utime(python, (1, 1))
    seen.append(build_environment(request_of(root), NEW, {"PJRTWHEEL_PYTHON": str(python)}))
    assert seen[0]["PJRTWHEEL_PYTHON_CHANGED"] != seen[1]["PJRTWHEEL_PYTHON_CHANGED"]


def test_outputs_in_the_order_of_the_targets() -> None:
    """A target without any output is an error: nothing would be published for it."""
    log = BuildLog({"//:a": (Path("/none/a/x.whl"),), "//:b": (Path("/none/b/x.whl"),)}, (), "")
    assert output_directories(log, ("//:b", "//:a")) == (Path("/none/b"), Path("/none/a"))
    with pytest.raises(BazelError):
        output_directories(log, ("//:c",))


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
