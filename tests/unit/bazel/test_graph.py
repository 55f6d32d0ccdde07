# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the graph's files say, as far as it can be seen without Bazel."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pjrtwheel.backend import Backend, load_backends
from pjrtwheel.bazel.backends_bzl import describe_backend, render_backends

BACKENDS = load_backends(Path(__file__).resolve().parents[3])

# Assembly asks for packages of its own requirements; only modules of the tooling are of interest here.
PROGRAM = """
import sys, pjrtwheel.__main__, pjrtwheel.cli, pjrtwheel.cli.assemble
import pjrtwheel.wheel.write.assemble, pjrtwheel.wheel.write.manifest, pjrtwheel.wheel.report, pjrtwheel.gpucode
print(*sorted(m.__file__ for n, m in sys.modules.items() if n.split(".")[0] == "pjrtwheel"), sep="\\n")
"""


def tooling_of_the_graph(root: Path) -> set[Path]:
    """Return the modules that //build:pjrtwheel lists, read with Python's own parser: Starlark is a subset."""
    tree = ast.parse((root / "build/BUILD.bazel").read_text("utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    (target,) = (call for call in calls if any(ast.unparse(word) == "name='pjrtwheel'" for word in call.keywords))
    texts = [node.value for node in ast.walk(target) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    modules = {root / f"build/pjrtwheel/{text}.py" for text in texts}
    return modules | {path for text in texts if "*" in text for path in (root / "build").glob(text)}


def test_graph_knows_every_module_that_assembly_imports(root: Path) -> None:
    """A module that assembly needs and the graph does not list would be missing in the sandbox, or worse, stale."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": str(root / "build")},
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {Path(line) for line in done.stdout.splitlines()}
    assert root / "build/pjrtwheel/wheel/write/assemble.py" in imported
    assert imported - tooling_of_the_graph(root) == set()


@pytest.mark.parametrize("backend", BACKENDS.values(), ids=list(BACKENDS))
def test_every_backend_is_described_with_the_same_keys(backend: Backend) -> None:
    """The rules ask every backend the same questions, so that none of them asks which backend it is."""
    assert list(describe_backend(backend)) == list(describe_backend(BACKENDS["cpu"]))


@pytest.mark.parametrize("name", BACKENDS)
def test_every_backend_has_its_package_in_the_graph(root: Path, name: str) -> None:
    """Each backend's directory is a package that declares all its targets in one call."""
    text = (root / "plugins" / name / "BUILD.bazel").read_text("utf-8")
    assert f'pjrt_backend(name = "{name}")' in text.splitlines()


def test_table_is_python_too(root: Path) -> None:
    """What is written for Bazel can be read back; a tool that two backends share stands in it once."""
    table: dict[str, dict[str, object]] = {}
    exec(render_backends(load_backends(root)), table)  # noqa: S102 - our own file
    assert sorted(table["BACKENDS"]) == sorted(BACKENDS)
    assert table["TOOLS"] == {"cuobjdump": {"member": "nvidia/cu13/bin/cuobjdump"}}
