# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""From plugins on an index to the tables about them."""

import csv
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from package_index import make_index
from pjrtwheel.docs.__main__ import main
from pjrtwheel.docs.plugins import FOLDER, read_names, write_tables
from pjrtwheel.errors import UsageError
from pjrtwheel.files import hash_file
from small_libraries import bare_elf, build_macho
from small_wheels import build_wheel, describe_wheel

MACOS = "bead-1.0-py3-none-macosx_10_9_arm64.whl"
LINUX = "abacus_pjrt-1.1-py3-none-manylinux_2_27_{}.whl"


def read_table(path: Path) -> dict[str, dict[str, str]]:
    """Return the rows of a table by their first column."""
    with path.open(encoding="utf-8", newline="") as file:
        return {next(iter(row.values())): row for row in csv.DictReader(file)}


def test_every_plugin_has_a_row_in_each_table_of_the_page(root: Path) -> None:
    """In one order, with a whole hash and a date that has been."""
    tables = {path.name: read_table(path) for path in (root / FOLDER).glob("*.csv")}
    page = (root / f"{FOLDER}.md").read_text("utf-8")
    files = tables.pop("files.csv")
    names = read_names(root)
    assert {name: tuple(rows) for name, rows in tables.items()} == dict.fromkeys(tables, names)
    assert [wheel.partition("-")[0].replace("_", "-") for wheel in files] == list(names)
    for row in files.values():
        assert len(bytes.fromhex(row["sha256"])) == 32
        assert date.fromisoformat(row["inspected on"]) <= datetime.now(UTC).date()
    assert [name for name in tables if f":file: plugins/{name}" not in page] == []
    assert "(plugins/files.csv)" in page


def test_the_newest_wheels_of_an_index_are_inspected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pre-releases are passed over; what could not be read is not called none. The names are kept for the next time."""
    monkeypatch.setenv("PJRTWHEEL_CACHE", str(tmp_path / "cache"))
    index = make_index(tmp_path / "index", monkeypatch)
    (tmp_path / "docs/vendor/plugins").mkdir(parents=True)
    (tmp_path / "docs/conf.py").touch()
    for name in (LINUX.format("aarch64"), LINUX.format("x86_64"), "abacus_pjrt-2.0rc1-py3-none-any.whl"):
        library = bare_elf(needed=["libc.so.6", "libabacus.so.1"])
        build_wheel(index, {**describe_wheel(name, ["jax>=1.0"]), "abacus/a.so": library}, name=name)
    library = build_macho(system=(14, 0), exports=("GetPjrtApi",))
    build_wheel(index, {**describe_wheel(MACOS), "bead/b.dylib": library}, name=MACOS)

    write_tables(tmp_path, ["Abacus_PJRT", "bead"], date(2026, 1, 2))

    folder = tmp_path / FOLDER
    tables = ("contents", "machine", "jax", "findings", "run")
    contents, machine, jax, findings, run = (read_table(folder / f"{name}.csv") for name in tables)
    assert (contents["abacus-pjrt"]["wheels for"], jax["abacus-pjrt"]["version"]) == (
        "linux_aarch64, linux_x86_64",
        "1.1",
    )
    assert machine["abacus-pjrt"] == {
        "plugin": "abacus-pjrt",
        "GPU code": "none",
        "missing libraries": "libabacus.so.1",
    }
    assert (machine["bead"]["GPU code"], jax["bead"]["PJRT API"], findings["bead"]["waste in MB"]) == ("not read",) * 3
    assert (contents["abacus-pjrt"]["JAX"], contents["bead"]["JAX"]) == ("jax>=1.0", "any")
    assert machine["bead"]["missing libraries"] == "none"
    assert run["abacus-pjrt"] == {"plugin": "abacus-pjrt", "checks": "failed: 1 failed", "extensions": "not read"}
    assert run["bead"] == {"plugin": "bead", "checks": "another system", "extensions": "not read"}
    tags = [findings[name]["platform tag"] for name in ("abacus-pjrt", "bead")]
    assert tags == ["holds", "wrong: needs macOS 14.0"]
    name = LINUX.format("x86_64")
    assert read_table(folder / "files.csv")[name]["sha256"] == hash_file(index / name)
    before = (folder / "findings.csv").read_bytes()
    assert main(["plugins", "--root", str(tmp_path)]) == 0
    assert (folder / "findings.csv").read_bytes() == before
    with pytest.raises(UsageError, match="no wheel of beads"):
        write_tables(tmp_path, ["beads"])
    assert read_names(tmp_path) == ("abacus-pjrt", "bead")
