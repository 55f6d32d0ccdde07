# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which installations are tried, which wheels they must take, and what is said of the others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pjrtwheel.backend import Backend, load_backends
from pjrtwheel.cli import main
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.errors import FetchError, UsageError
from pjrtwheel.fetch.listing import IndexFile
from pjrtwheel.files import hash_file
from pjrtwheel.installs.combinations import (
    Combination,
    Outcome,
    Result,
    choose_pythons,
    list_combinations,
    sum_up,
    why_skipped,
)
from pjrtwheel.installs.run import install_command
from pjrtwheel.installs.stage import Stage, StagedSet, fetch_wheel, open_stage, read_set
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.wheel.names import parse_name
from release_folders import write_release_folder
from small_wheels import build_wheel, describe_wheel

PLATFORM = PLATFORMS["linux_x86_64"]
TAG = "manylinux_2_27_x86_64"
HERE = Interpreter(Path("python3.12"), "cp312", "3.12.1", "/usr")


@pytest.fixture
def abacus(root: Path) -> Backend:
    """Return a backend with vendor's wheels for one of its two extras."""
    extras = {"abacus": ("with-beads",), "abacus-local": ()}
    known = load_backends(root)["cpu"]
    return replace(known, name="abacus", distribution="jaxlib-abacus", jaxlib_extras=extras)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a stage with two sets, of which only the older one has the backend, for two Pythons and two platforms."""
    for version in ("1.2.2+split.1", "1.2.3+split.1"):
        for python in ("cp312", "cp313"):
            for tag in (TAG, "manylinux_2_27_aarch64"):
                name = f"jaxlib-{version}-{python}-{python}-{tag}.whl"
                build_wheel(tmp_path, describe_wheel(name), name=name)
    name = f"jaxlib_abacus-1.2.2+split.1-cp312-abi3-{TAG}.whl"
    build_wheel(tmp_path, describe_wheel(name), name=name)
    return tmp_path


def test_the_newest_set_for_the_platform_is_taken(folder: Path) -> None:
    """Or the one that is named, by its release or its version."""
    with open_stage(str(folder)) as stage:
        newest = read_set(stage, ["jaxlib-abacus"], None, PLATFORM)
        assert (newest.version, newest.release, newest.pythons) == ("1.2.3+split.1", "1.2.3", ("cp312", "cp313"))
        assert newest.find("jaxlib-abacus", "cp312") is None
        for release in ("1.2.2", "1.2.2+split.1"):
            older = read_set(stage, ["jaxlib-abacus"], release, PLATFORM)
            found = older.find("jaxlib-abacus", "cp313")
            assert found == parse_name(f"jaxlib_abacus-1.2.2+split.1-cp312-abi3-{TAG}.whl")
            assert older.wheels[found].sha256 == hash_file(folder / found.filename)
            assert fetch_wheel(stage, found, older.wheels[found], folder) == folder / found.filename
        selector = "jaxlib_select-0.1.0-py3-none-any.whl"  # of no set
        build_wheel(folder, describe_wheel(selector), name=selector)
        assert read_set(stage, [], None, PLATFORM).find("jaxlib-select", "cp312") == parse_name(selector)
        with pytest.raises(UsageError, match=r"has no jaxlib 9 for .*\nit has 1\.2\.2\+split\.1, 1\.2\.3\+split\.1"):
            read_set(stage, [], "9", PLATFORM)
    with pytest.raises(UsageError, match="is no stage"), open_stage(str(folder / "nothing")):
        pass


def test_a_folder_with_an_index_is_served_to_installers(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `publish folder` wrote it: they are given an address, at which nobody answers afterwards."""
    monkeypatch.setenv("PJRTWHEEL_CACHE", str(tmp_path / "cache"))
    release, site = write_release_folder(tmp_path / "release"), tmp_path / "site"
    publish = ["publish", "folder", str(release.path), "--no-dry-run", "--root", str(root)]
    assert main([*publish, "--site", str(site)]) == 0
    with open_stage(str(site)) as stage:
        assert stage.where == str(site)
        assert stage.url in install_command("pip", stage, HERE.path, [])[-1]
        staged = read_set(stage, ["jaxlib-abacus"], None, PLATFORM)
        found = staged.find("jaxlib-abacus", "cp313")
        assert found
        assert hash_file(fetch_wheel(stage, found, staged.wheels[found], tmp_path)) == staged.wheels[found].sha256
    with pytest.raises(FetchError, match="Connection refused"):
        read_set(stage, [], None, PLATFORM)


def test_the_credentials_of_a_stage_are_for_installers_alone(folder: Path) -> None:
    """They are in its address, and in nothing that is printed."""
    url = "https://me:secret@example.org/simple/"
    with open_stage(url) as stage:
        assert (stage.url, stage.where) == (url, "https://example.org/simple/")
        assert "secret" not in repr(stage)
    with open_stage(str(folder)) as stage:
        assert stage.where == str(folder)


def test_every_python_extra_and_installer_is_tried(abacus: Backend) -> None:
    """Extras say whether the vendor's wheels come along."""
    assert list(list_combinations(["cp312"], [abacus], ["pip", "uv"])) == [
        Combination("cp312", "abacus", "abacus", "pip", vendor=True),
        Combination("cp312", "abacus", "abacus", "uv", vendor=True),
        Combination("cp312", "abacus", "abacus-local", "pip", vendor=False),
        Combination("cp312", "abacus", "abacus-local", "uv", vendor=False),
    ]
    alone = replace(abacus, prebuilt=replace(abacus.prebuilt, bundled=False), jaxlib_extras={"abacus": ()})
    assert [combination.vendor for combination in list_combinations(["cp312"], [alone], ["uv"])] == [True]


def test_what_cannot_run_here_says_why(abacus: Backend) -> None:
    """No wheel, no Python, or gigabytes that nobody asked for."""
    wheel = parse_name(f"jaxlib_abacus-1.2.3-cp312-abi3-{TAG}.whl")
    staged = StagedSet("1.2.3", {wheel: IndexFile(wheel.filename, "00", 1)})
    first, *_, last = list_combinations(["cp312"], [abacus], ["pip"])

    def why(combination: Combination, python: Interpreter | None, *, vendor_wheels: bool = False) -> str:
        return why_skipped(combination, staged, abacus.distribution, {"cp312": python}, vendor_wheels=vendor_wheels)

    assert why(first, HERE) == "downloads the vendor's wheels: --vendor-wheels"
    assert why(first, HERE, vendor_wheels=True) == why(last, HERE) == ""
    assert why(last, None) == "no such Python on this machine"
    other = why_skipped(last, staged, "jaxlib-bead", {"cp312": HERE}, vendor_wheels=True)
    assert other == "the stage has no jaxlib-bead 1.2.3 for it"


def test_a_python_without_wheels_is_refused() -> None:
    """Whoever asks for it learns which there are."""
    assert choose_pythons(["cp312", "cp313"], []) == ("cp312", "cp313")
    with pytest.raises(UsageError, match="no wheels for cp311"):
        choose_pythons(["cp312"], ["3.11"])


def test_installers_are_given_the_stage_next_to_the_package_index() -> None:
    """An index or a folder; uv forgets what it knows of our wheels."""
    wanted = ["jax==1.2.3", "jaxlib[abacus]==1.2.3+split.1"]
    url, python = "http://127.0.0.1:1/simple/", Path("venv/bin/python")
    assert install_command("pip", Stage(url, url), python, wanted)[-3:] == [f"--extra-index-url={url}", *wanted]
    assert install_command("pip", Stage("/w", ""), python, wanted)[-3:] == ["--find-links=/w", *wanted]
    fresh = ["--refresh-package=jax", "--refresh-package=jaxlib"]
    assert install_command("uv", Stage(url, url), python, wanted)[-5:] == [*fresh, f"--index={url}", *wanted]


def test_outcomes_are_counted(abacus: Backend) -> None:
    """All three, also where there is none."""
    (first, *_) = list_combinations(["cp312"], [abacus], ["pip"])
    results = [Result(first, outcome, "") for outcome in (Outcome.PASSED, Outcome.SKIPPED, Outcome.PASSED)]
    assert sum_up(results) == "2 passed, 0 failed, 1 skipped"
