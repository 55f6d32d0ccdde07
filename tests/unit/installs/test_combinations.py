# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which installations are tried, which wheels they must take, and what is said of the others."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from package_index import make_index, put_wheel
from pjrtwheel.abis import choose_pythons
from pjrtwheel.backend import Backend, load_backends
from pjrtwheel.cli import main
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.errors import FetchError, ProofError, UsageError
from pjrtwheel.fetch.listing import IndexFile
from pjrtwheel.files import hash_file
from pjrtwheel.installs.stage import StagedSet, check_staged, fetch_wheel, open_stage, read_set
from pjrtwheel.installs.tries import Combination, install_command, list_combinations, why_skipped
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.sets.promised import list_promised
from pjrtwheel.wheel.names import parse_name
from release_folders import write_release_folder
from small_wheels import build_wheel, describe_wheel
from tagged_repository import BINDINGS, PLUGIN, make_tagged_repository

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
    stage = open_stage(str(folder))
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
    with pytest.raises(UsageError, match=r"has no jaxlib 9 for .*\nit has 1\.2\.2\+split\.1 for linux_x86_64, 1\.2\.3"):
        read_set(stage, [], "9", PLATFORM)


def test_a_folder_with_an_index_is_an_index_to_installers(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `publish folder` wrote it, with what was withdrawn."""
    monkeypatch.setenv("PJRTWHEEL_CACHE", str(tmp_path / "cache"))
    put_wheel(index := make_index(tmp_path / "index", monkeypatch), "jax-1.2.3-py3-none-any.whl")
    monkeypatch.delenv("PIP_NO_INDEX")  # the wheels of the stage come from one
    monkeypatch.setenv("PIP_INDEX_URL", index.as_uri())
    release, site = write_release_folder(tmp_path / "release"), tmp_path / "site"
    publish = ["publish", "folder", str(release.path), "--no-dry-run", "--root", str(root)]
    assert main([*publish, "--site", str(site)]) == 0
    stage = open_stage(str(site))
    assert stage.where == str(site)
    assert install_command("pip", stage, HERE.path, [])[-1] == f"--index-url={(site / 'simple').as_uri()}/"
    staged = read_set(stage, ["jaxlib-abacus"], None, PLATFORM)
    found = staged.find("jaxlib-abacus", "cp313")
    assert found
    assert hash_file(fetch_wheel(stage, found, staged.wheels[found], tmp_path)) == staged.wheels[found].sha256
    decision = '[[yanked]]\ntag = "v1.2.3+split.1"\nreason = "beads fall off"\ndate = "2026-11-22"\n'
    (site / "yanked.toml").write_text(decision, "utf-8")
    assert main(["pages", "folder", "--root", str(root), "--site", str(site)]) == 0
    with pytest.raises(UsageError) as caught:
        read_set(open_stage(str(site)), [], None, PLATFORM)
    assert caught.value.cause == "it has none"


def test_the_credentials_of_a_stage_are_for_installers_alone(folder: Path) -> None:
    """They are in its address, and in nothing that is printed."""
    url = "https://me:secret@example.org/simple/"
    stage = open_stage(url)
    assert (stage.url, stage.where) == (url, "https://example.org/simple/")
    assert "secret" not in repr(stage)
    assert open_stage(str(folder)).where == str(folder)


def test_a_stage_that_cannot_be_read_is_named(folder: Path) -> None:
    """With what to do about it, which is nothing about the index of pip's own configuration."""
    address = "http://me:secret@127.0.0.1:9/simple/"
    with pytest.raises(FetchError) as failed:
        read_set(open_stage(address), [], None, PLATFORM)
    assert ("http://127.0.0.1:9/simple/" in failed.value.cause, "secret" in str(failed.value)) == (True, False)
    for place in (str(folder / "nothing"), "ftp://example.org/"):
        with pytest.raises(UsageError) as caught:
            open_stage(place)
        assert place in caught.value.what


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
        return why_skipped(combination, staged, [abacus.distribution], python, vendor_wheels=vendor_wheels)

    assert "--vendor-wheels" in why(first, HERE)
    assert why(first, HERE, vendor_wheels=True) == why(last, HERE) == ""
    assert "Python" in why(last, None)
    assert "stage" in why_skipped(last, staged, ["jaxlib-abacus", "jaxlib-bead"], HERE, vendor_wheels=True)


def test_a_python_without_wheels_is_refused() -> None:
    """Whoever asks for it learns which there are."""
    assert choose_pythons(["cp312", "cp313"], []) == ("cp312", "cp313")
    for asked in ("3.11", "cp311"):
        with pytest.raises(UsageError) as caught:
            choose_pythons(["cp312", "cp314t"], ["3.12", asked])
        assert (asked in caught.value.what, "3.12, 3.14t" in caught.value.remedy) == (True, True)


def test_a_run_that_tried_nothing_is_no_success(
    root: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The reasons are printed, the error says that they are all there is, and each result is in the file."""
    monkeypatch.setenv("PIP_INDEX_URL", tmp_path.as_uri())
    command = ["verify_installs", "--root", str(root), "--index", str(folder), "--json", str(tmp_path / "results.json")]
    assert main([*command, "--installer", "pip", "--release", "1.2.2"]) == ProofError.exit_code
    said = capsys.readouterr()
    extras = [extra for backend in load_backends(root).values() for extra in backend.jaxlib_extras]
    assert "jaxlib-auto, jaxlib-cpu, " in said.err  # free on that index
    assert said.out.splitlines() == [
        f"skipped {2 * len(extras):>2}, not at the stage: {', '.join(extras)} on Python 3.12, 3.13",
        f"1.2.2+split.1 from {folder}: 0 passed, 0 failed, {2 * len(extras)} skipped",
    ]
    results = json.loads((tmp_path / "results.json").read_text("utf-8"))
    assert [(result["combination"]["python"], result["detail"]) for result in results] == [
        (python, "not at the stage") for python in ("cp312", "cp313") for _ in extras
    ]


def test_a_backend_that_was_asked_for_has_to_be_at_the_stage(
    root: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is an error that says what is there; nothing is tried."""
    command = ["verify_installs", "--root", str(root), "--index", str(folder), "--release", "1.2.2"]
    assert main([*command, "--backend", "cpu"]) == ProofError.exit_code
    said = capsys.readouterr()
    assert (said.out, "jaxlib-cpu" in said.err, "set 1.2.2+split.1 has jaxlib" in said.err) == ("", True, True)


def test_what_the_release_file_promises_has_to_be_at_the_stage(tmp_path: Path) -> None:
    """The wheel of each backend and of each Python; another set is somebody else's, who promised nothing here."""
    repository = make_tagged_repository(tmp_path / "own")
    backends = list(load_backends(repository.root).values())
    promised = list_promised(repository.root, "1.2.3+split.1", backends, PLATFORM)
    assert [name.filename for name in promised] == [BINDINGS, PLUGIN]
    assert list_promised(repository.root, "1.2.3+split.2", backends, PLATFORM) == ()
    stage = open_stage(str(repository.dist))
    check_staged(read_set(stage, ["jaxlib-abacus"], None, PLATFORM), promised, ["jaxlib-abacus"])
    (repository.dist / BINDINGS).rename(repository.dist / BINDINGS.replace("cp312", "cp313"))
    (repository.dist / PLUGIN).unlink()
    with pytest.raises(ProofError) as caught:
        check_staged(read_set(stage, ["jaxlib-abacus"], None, PLATFORM), promised, ["jaxlib-abacus"])
    assert f"jaxlib-abacus, {BINDINGS}" in caught.value.what
