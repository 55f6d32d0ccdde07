# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a closed index has besides our wheels, where pip is configured for a folder."""

from dataclasses import replace
from pathlib import Path

import pytest

from package_index import make_index, put_wheel
from pjrtwheel.errors import FetchError
from pjrtwheel.products.index.closure import read_closure
from pjrtwheel.products.index.projects import IndexedFile, Project, list_projects
from release_entries import entry_of
from small_wheels import describe_wheel

TAG = "manylinux_2_27_x86_64"
JAXLIB = f"jaxlib-1.2.3+split.1-cp312-cp312-{TAG}.whl"
PLUGIN = f"jaxlib_abacus-1.2.3+split.1-cp312-abi3-{TAG}.whl"
ABSENT = "jaxlib-bead==1.2.3+split.1; extra == 'bead'"  # a name of ours that this index lacks
EXTRA = "beads>=2; extra == 'with-beads'"


@pytest.fixture
def projects() -> tuple[Project, ...]:
    """Return a set whose plugin has an extra."""
    needs = {JAXLIB: ["numpy>=2", ABSENT], PLUGIN: ["jaxlib==1.2.3+split.1", EXTRA]}
    files = []
    for name, requires in needs.items():
        metadata = next(data for path, data in describe_wheel(name, requires).items() if path.endswith("/METADATA"))
        files.append(IndexedFile(name, "00", 1, metadata=metadata, entry=entry_of(name)))
    return list_projects(files, "the index")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with what these need, and more."""
    folder = make_index(tmp_path / "index", monkeypatch)
    put_wheel(folder, "jax-1.2.3-py3-none-any.whl", requires=["jaxlib<=1.2.3", "opt-einsum"])
    for name in ("jaxlib-1.2.3-cp312-cp312", "numpy-2.1-cp312-cp312", "numpy-2.1-cp311-cp311", "beads-2-py3-none"):
        put_wheel(folder, f"{name}-{TAG}.whl")
    for name in ("numpy-2.0-cp312-cp312-win_amd64", "opt_einsum-3-py3-none-any", "jaxlib_bead-99-py3-none-any"):
        put_wheel(folder, f"{name}.whl")
    put_wheel(folder, f"numpy-1.9-cp312-cp312-{TAG}.whl")
    return folder


def names_of(found: tuple[Project, ...]) -> dict[str, list[str]]:
    """Return the files of projects by the names of these."""
    return {project.name: [file.filename for file in project.files] for project in found}


def test_everything_that_our_wheels_need_is_offered(
    projects: tuple[Project, ...], index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Extras count; a name of ours never does, nor wheels for other Pythons and platforms; copies are of what fits."""
    beads, einsum = {"beads": [f"beads-2-py3-none-{TAG}.whl"]}, {"opt-einsum": ["opt_einsum-3-py3-none-any.whl"]}
    newest, older = (f"numpy-{version}-cp312-cp312-{TAG}.whl" for version in ("2.1", "1.9"))
    jax = {"jax": ["jax-1.2.3-py3-none-any.whl"]}
    found = read_closure(projects)
    assert names_of(found) == {**beads, **jax, "numpy": [older, newest], **einsum}
    assert {file.source for project in found for file in project.files} < set(index.iterdir())
    assert names_of(read_closure(projects, copies=tmp_path)) == {**beads, **jax, "numpy": [newest], **einsum}
    monkeypatch.setenv("PJRTWHEEL_BUNDLE", str(tmp_path))  # has no vendor's libraries
    assert names_of(read_closure(projects)) == {**jax, "numpy": [older, newest], **einsum}


def test_programs_find_what_they_need_on_an_older_python(projects: tuple[Project, ...], index: Path) -> None:
    """`pjrtwheel` runs without JAX, also on a Python that no `jaxlib` is for; what only JAX needs is as before."""
    name = "pjrtwheel-0.1.0-py3-none-any.whl"
    zstd = [f"zstd-1-{python}-{TAG}.whl" for python in ("cp311-cp311", "cp312-cp312", "cp314-cp314t")]
    for wheel in (*zstd, f"zstd-1-cp310-cp310-{TAG}.whl"):
        put_wheel(index, wheel)
    metadata = next(data for path, data in describe_wheel(name, ["zstd"]).items() if path.endswith("/METADATA"))
    program = IndexedFile(name, "00", 1, metadata=metadata, entry=entry_of(name))
    ours = [file for project in projects for file in project.files]
    found = names_of(read_closure(list_projects([*ours, program], "the index")))
    assert found["zstd"] == zstd
    assert found["numpy"] == [f"numpy-{version}-cp312-cp312-{TAG}.whl" for version in ("1.9", "2.1")]


def test_what_the_index_lacks_is_an_error(projects: tuple[Project, ...], index: Path) -> None:
    """With the name; where nothing is needed, nothing is asked."""
    (index / f"beads-2-py3-none-{TAG}.whl").unlink()
    with pytest.raises(FetchError) as caught:
        read_closure(projects)
    assert "beads" in caught.value.cause
    alone = [replace(file, metadata=b"") for project in projects for file in project.files if file.filename == PLUGIN]
    assert read_closure(list_projects(alone, "the index")) == ()
