# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The packages of the tooling import what is known before them only, and ARCHITECTURE.md is true.

Its paths exist, and its rooms are in the order of imports.
"""

import ast
import re
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

NAME = "pjrtwheel"
TOOLING = f"build/{NAME}"


@pytest.fixture(scope="module")
def text(root: Path) -> str:
    """Return the document."""
    return (root / "ARCHITECTURE.md").read_text("utf-8")


def rows(text: str, heading: str) -> list[list[str]]:
    """Return the cells of the table below a heading, row by row."""
    section = text.split(f"\n## {heading}\n")[1].split("\n## ", maxsplit=1)[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[1:]]


def rooms(text: str) -> list[set[str]]:
    """Return the parts of the tooling in each row that names any, in the order of the table."""
    found = [set(re.findall(r"`pjrtwheel/(\w+)(?:/|\.py)`", row[0])) for row in rows(text, "Room by room")]
    return [names for names in found if names]


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


def test_every_path_exists(root: Path, text: str) -> None:
    """A path that was moved is moved here as well."""
    paths = set(
        re.findall(
            r"`(?!build/__init__)((?:build|pjrtwheel|plugins|selector|tests|releases|docs)/[\w./-]*|noxfile\.py|noxw)`",
            text,
        )
    )
    examples = {path for path in paths if re.search(r"VENDOR|RELEASE|VERSION|NAME|/X\.", path)}
    places = {path: root / re.sub("^pjrtwheel/", f"{TOOLING}/", path) for path in paths - examples}
    assert sorted(path for path, place in places.items() if not place.exists()) == []
    assert len(places) > 40


def test_every_part_of_the_tooling_has_a_row(root: Path, text: str) -> None:
    """And none that is gone."""
    folder = root / TOOLING
    parts = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    assert set().union(*rooms(text)) == parts - {"__init__", "__main__"}


def test_imports_point_upwards_in_the_table(root: Path, text: str) -> None:
    """To what is known before; within a row they may go either way."""
    level = {name: number for number, names in enumerate(rooms(text)) for name in names}
    graph = import_graph(root / TOOLING)
    known = [(own, name) for own in graph.keys() & level.keys() for name in graph[own] & level.keys()]
    downwards = [(own, name) for own, name in known if level[name] > level[own]]
    assert sorted(downwards) == []


def test_no_package_imports_what_imports_it(root: Path) -> None:
    """Neither directly nor by way of others."""
    try:
        order = list(TopologicalSorter(import_graph(root / TOOLING)).static_order())
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' <- '.join(error.args[1])}")
    assert order.index("environment") < order.index("probe") < order.index("prove") < order.index("dist_folder")


def test_the_checks_do_not_know_the_proofs(root: Path) -> None:
    """PJRT's checks and JAX's tests are packages of their own, and neither needs the other."""
    graph = import_graph(root / TOOLING)
    assert graph["probe"] & {"prove", "conformance"} == graph["conformance"] & {"prove", "probe"} == set()


def test_what_runs_in_the_environment_under_test_needs_nothing_of_ours(root: Path) -> None:
    """The environment has the standard library and JAX, which is imported by name while it runs."""
    files = (root / TOOLING / "prove/inside").glob("*.py")
    found = {parts[0] for path in files for parts in imported_by(path, ())}
    assert found - sys.stdlib_module_names == set()


def test_verify_reads_libraries_by_itself(root: Path) -> None:
    """What repair gets wrong must not look right to the checks.

    `inspect` alone asks repair, for what it would drop.
    """
    folders = [root / TOOLING / name for name in ("verify", "binaries")]
    files = (path for folder in folders for path in folder.glob("*.py") if path.stem != "inspection")
    found = {parts[-1] for path in files for parts in imported_by(path, ()) if parts[:2] == (NAME, "elf")}
    assert found == set()
    checks = root / TOOLING / "verify/__init__.py"
    assert "inspection" not in {parts[2] for parts in imported_by(checks, ()) if parts[:2] == (NAME, "verify")}


def test_no_folder_has_a_name_that_tools_pass_over(root: Path) -> None:
    """Such as `dist` and `build`: pytest collects nothing there, and ruff checks nothing."""
    passed_over = {"dist", "build", "venv", "node_modules", "site-packages", "buck-out"}
    folders = {
        path.parent
        for name in ("build/pjrtwheel", "selector", "plugins", "tests")
        for path in (root / name).rglob("*.py")
    }
    assert folders
    assert [folder for folder in folders if passed_over & set(folder.relative_to(root).parts[1:])] == []
