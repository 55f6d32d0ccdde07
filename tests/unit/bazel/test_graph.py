# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the graph's files say, as far as it can be seen without Bazel."""

import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from pjrtwheel.bazel import repositories
from pjrtwheel.bazel.repositories import list_sources
from pjrtwheel.platforms import PLATFORMS, host_platform
from pjrtwheel.release.known import list_releases, load_release
from release_under_test import BACKENDS, ROOT

PROGRAM = """
import sys
began_with = {*sys.modules}
import pjrtwheel.__main__, pjrtwheel.cli, pjrtwheel.cli.assemble
import pjrtwheel.wheel.assemble, pjrtwheel.wheel.plan, pjrtwheel.wheel.report, pjrtwheel.gpucode
print(*sorted(m.__file__ for n, m in sys.modules.items() if n.split(".")[0] == "pjrtwheel"), sep="\\n")
print(*{n.split(".")[0] for n in {*sys.modules} - began_with}, file=sys.stderr)
"""


def test_graph_knows_every_module_that_assembly_imports(root: Path) -> None:
    """A module that assembly needs and the graph does not list would be missing in the sandbox, or worse, stale."""
    environ = {**os.environ, "PYTHONPATH": str(root / "build")}
    command = [sys.executable, "-c", PROGRAM]
    said = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    imported = {Path(line).relative_to(root / "build").as_posix() for line in said.stdout.splitlines()}
    assert "pjrtwheel/wheel/assemble.py" in imported
    assert imported == set(list_sources(root / "build")["assemble"])
    owners = importlib.metadata.packages_distributions()
    used = {name: {canonicalize_name(owner) for owner in owners.get(name, ())} for name in said.stderr.split()}
    lines = (root / "build/requirements.txt").read_text("utf-8").splitlines()
    listed = {canonicalize_name(line.partition("==")[0]) for line in lines}
    assert [name for name, of in used.items() if of and not of & listed] == [], "not among the packages of actions"


def test_front_end_is_no_input_of_a_wheel(root: Path) -> None:
    """Editing it builds no wheel anew; the compiler depends on next to nothing."""
    listed = list_sources(root / "build")
    folders = {path.split("/")[1] for path in listed["assemble"]}
    assert folders.isdisjoint({"bazel", "build.py", "fetch", "dist", "prove", "publish", "verify"})
    assert "pjrtwheel/cli/build.py" not in listed["assemble"]
    assert listed["compile"] == [f"pjrtwheel/{name}.py" for name in ("__init__", "bazel/__init__", "bazel/compile")]


@pytest.mark.parametrize("version", ["", *list_releases(ROOT)])
def test_graph_is_described_as_json(root: Path, capsys: pytest.CaptureFixture[str], version: str) -> None:
    """A repository rule writes each entry as a constant; without a name the release is the newest."""
    assert repositories.main(["--root", str(root), "--release", version]) == 0
    answer = json.loads(capsys.readouterr().out)
    release = load_release(root, version)
    assert (answer["RELEASE"]["version"], answer["RELEASE"]["host"]) == (release.version, host_platform().name)
    assert answer["RELEASE"]["xla"]["commit"] == (release.xla.commit if release.xla else "")
    assert list(answer["BACKENDS"]) == list(BACKENDS)
    assert list(answer["PLATFORMS"]) == list(PLATFORMS)
    assert len(answer["TOOLS"]) == 1  # one, for two backends
