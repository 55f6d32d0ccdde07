# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""An index with several releases, and its pages."""

from pathlib import Path

import pytest

from pjrtwheel.products.index import write_index
from pjrtwheel.products.index.projects import Project, list_projects, read_release
from release_index import make_release_dist


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an index with several releases."""
    dist = make_release_dist(tmp_path_factory.mktemp("dist"))
    write_index(dist, dist / "simple")
    return dist / "simple"


@pytest.fixture(scope="session")
def projects(index: Path) -> tuple[Project, ...]:
    """Return its projects."""
    return list_projects(read_release(index.parent), "the index")


@pytest.fixture(scope="session")
def pages(index: Path) -> dict[str, str]:
    """Return its pages for people as text."""
    paths = {path.relative_to(index).as_posix(): path for path in index.rglob("*") if path.is_file()}
    return {name: path.read_text("utf-8") for name, path in paths.items() if name.startswith("about")}
