# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The wheel of `jaxlib-select`: listed, installed from the index, and run without anything else."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from package_index import serve_folder
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.venv import find_uv
from pjrtwheel.files import hash_file
from pjrtwheel.products.index import write_index
from pjrtwheel.products.pure_python import build_project
from pjrtwheel.record.entries import RELEASE_FILENAME, format_entries, read_entries

pytestmark = pytest.mark.integration


@pytest.fixture
def dist(root: Path, tmp_path: Path) -> Path:
    """Return a folder with the wheel and its record: the one that PJRTWHEEL_DIST has, to be published, else built."""
    folder, given = tmp_path / "dist", Path(os.environ.get("PJRTWHEEL_DIST", tmp_path))
    entries = {name: entry for name, entry in read_entries(given).items() if entry.distribution == "jaxlib-select"}
    if not entries:
        build_project(root / "selector", root, folder)
        return folder
    folder.mkdir()
    for name in entries:
        shutil.copy(given / name, folder)
    (folder / RELEASE_FILENAME).write_text(format_entries(entries), "utf-8")
    return folder


def test_the_wheel_is_installed_from_the_index_and_runs(
    root: Path, dist: Path, tmp_path: Path, interpreter: Interpreter
) -> None:
    """The same bytes each time, an entry in the record, a project of the index, and a command that needs no package."""
    ((name, entry),) = read_entries(dist).items()
    assert hash_file(build_project(root / "selector", root, tmp_path / "again").path) == hash_file(dist / name)
    assert (entry.distribution, entry.tags, entry.requires) == ("jaxlib-select", ("py3-none-any",), ())
    write_index(dist, dist / "simple")
    site = tmp_path / "site"
    uv = find_uv()
    with serve_folder(dist / "simple") as address:
        where = ["--index-url", address, "--python", interpreter.path, "--target", site]
        subprocess.run(list(map(str, [uv, "pip", "install", "--quiet", *where, "jaxlib-select"])), check=True)
    command = [str(site / "bin" / "jaxlib-select"), "detect", "--json"]
    environ = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(site)}
    assert json.loads(subprocess.check_output(command, env=environ))["os"] == "linux"
