# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The packages of the tooling import downwards only."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

NAME = "pjrtwheel"


def imported_by(path: Path, package: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the parts of every name that a file imports, at its top or in a function."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else ()
            base += tuple(node.module.split(".")) if node.module else ()
            yield from ((*base, alias.name) for alias in node.names)


def import_graph(folder: Path) -> dict[str, set[str]]:
    """Return which packages of a folder each of them imports; a module that lies at the top counts as one."""
    layers = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    graph: dict[str, set[str]] = {layer: set() for layer in layers - {"__init__"}}
    for path in folder.rglob("*.py"):
        place = path.relative_to(folder)
        own = place.with_suffix("").parts[0]
        if own != "__init__":
            found = imported_by(path, (NAME, *place.parent.parts))
            graph[own] |= {parts[1] for parts in found if parts[0] == NAME and parts[1:] and parts[1] in layers} - {own}
    return graph


def test_no_package_imports_what_imports_it(root: Path) -> None:
    """Neither directly nor by way of others."""
    try:
        order = list(TopologicalSorter(import_graph(root / "build" / NAME)).static_order())
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' <- '.join(error.args[1])}")
    assert order.index("environment") < order.index("probe") < order.index("prove") < order.index("publish")


def test_the_checks_do_not_know_the_proofs(root: Path) -> None:
    """PJRT's checks and JAX's tests are packages of their own, and neither needs the other."""
    graph = import_graph(root / "build" / NAME)
    assert graph["probe"] & {"prove", "conformance"} == graph["conformance"] & {"prove", "probe"} == set()


def test_what_runs_in_the_environment_under_test_needs_nothing_of_ours(root: Path) -> None:
    """The environment has the standard library and JAX, which is imported by name while it runs."""
    package = root / "build" / NAME
    files = [*(package / "prove/inside").glob("*.py"), package / "conformance/inside.py"]
    found = {parts[0] for path in files for parts in imported_by(path, ())}
    assert found - sys.stdlib_module_names == set()


def test_verify_reads_libraries_by_itself(root: Path) -> None:
    """What repair gets wrong must not look right to the checks; constants may be shared."""
    files = (root / "build" / NAME / "verify").glob("*.py")
    found = {parts[-1] for path in files for parts in imported_by(path, (NAME, "verify")) if parts[:2] == (NAME, "elf")}
    assert found == {"LINKER_DEFINED", "largest_page"}


@pytest.mark.parametrize("text", ["from pjrtwheel.b import f", "import pjrtwheel.b.c", "from ..b import c"])
def test_a_circle_is_found(tmp_path: Path, text: str) -> None:
    """However the import is written."""
    texts = {"a/__init__": "", "a/x": text, "b/__init__": "f = 1", "b/c": "def g():\n    from pjrtwheel import a"}
    for name, content in texts.items():
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
    with pytest.raises(CycleError):
        list(TopologicalSorter(import_graph(tmp_path)).static_order())
