# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Writing down what the wheels of a release serve."""

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

import abacus_backend
from abacus_backend import add_aarch64
from jaxlib_select.facts import Select, Source, known_releases, load_facts
from pjrtwheel.backend import load_backends, parse_backend
from pjrtwheel.cli import main
from pjrtwheel.errors import UsageError
from pjrtwheel.products.facts import (
    KnownCode,
    choose_toolkit,
    code_of_record,
    code_of_set,
    find_unknown,
    format_facts,
    make_facts,
    read_old,
    read_select,
    toolkit_of,
)
from pjrtwheel.record.entries import Entry, format_entries
from pjrtwheel.release.known import give_label, load_release
from pjrtwheel.release.model import Absent, Pin, Release
from release_entries import entry_of
from release_under_test import ROOT, release_under_test

DEFAULT_RELEASE = release_under_test().version
ABACUS = add_aarch64(abacus_backend.BACKEND) + (ROOT / "tests/data/abacus_select.toml").read_text("utf-8")
BACKEND = parse_backend(ABACUS, Path("plugins/abacus/backend.toml"))
PIN = Pin("plugin.abacus.linux_x86_64", "p", "0.9", "p-0.9-py3-none-any.whl", "ab" * 32, 1)
RELEASE = Release(
    dict.fromkeys(("plugin.abacus.linux_x86_64", "plugin.abacus.linux_aarch64", "plugin.other.linux_x86_64"), PIN),
    digest="",
    path=Path("releases/1.toml"),
    version="1",
    build=1,
)
EMPTY = dataclasses.replace(RELEASE, pins={})
X86, ARM = ("abacus", "linux_x86_64"), ("abacus", "linux_aarch64")
CODE = KnownCode(("bead_5",), Source("a.whl", "0" * 64))
BOTH = {X86: CODE, ARM: KnownCode(("bead_6",), Source("b.whl", "11"))}


def entry(
    tag: str, version: str = "1", distribution: str = "jaxlib-abacus", attributes: Mapping[str, str] | None = None
) -> Entry:
    """Return an entry of release.json."""
    wheel = f"{distribution.replace('-', '_')}-{version}-cp312-abi3-{tag}.whl"
    made = entry_of(wheel, filename="a.whl", gpu_code=("bead_5",))
    return dataclasses.replace(made, proof=dataclasses.replace(made.proof, pjrt_attributes=attributes or {}))


def test_code_is_taken_from_the_wheels_of_the_set() -> None:
    """By distribution, version and platform tag; those of another set of the release may have another library."""
    entries = [
        entry("manylinux_2_27_x86_64"),
        entry("manylinux_2_27_aarch64", version="2"),
        entry("manylinux_2_27_x86_64", distribution="jaxlib"),
        entry("win_amd64"),
    ]
    assert code_of_set([BACKEND], entries, RELEASE) == {X86: CODE}


@pytest.mark.parametrize(("provider", "counts"), [("prebuilt", False), ("source", True), ("file-00ff", True)])
def test_a_wheel_without_a_pin_counts_if_somebody_built_its_library(provider: str, *, counts: bool) -> None:
    """One with upstream's library is left over from before the pin went away."""
    wheel = dataclasses.replace(entry("manylinux_2_27_x86_64"), provider=provider)
    assert code_of_set([BACKEND], [wheel], EMPTY) == ({X86: CODE} if counts else {})
    assert code_of_set([BACKEND], [wheel], RELEASE) == {X86: CODE}


def test_everything_known_about_a_backend_is_written() -> None:
    """What selection needs, and from which file the code was read; empty keys are left out of `select`."""
    facts = json.loads(format_facts(make_facts([BACKEND], RELEASE, BOTH)))
    assert (facts["schema"], facts["release"], facts["requires_python"]) == (1, "1", ">=3.12")
    assert facts["backends"] == json.loads((ROOT / "tests/data/abacus_facts.json").read_text("utf-8"))


def test_a_platform_without_a_wheel_is_not_named() -> None:
    """The release has no library for it, unless somebody built one from source."""
    release = dataclasses.replace(RELEASE, pins={"plugin.abacus.linux_x86_64": PIN})
    (facts,) = make_facts([BACKEND], release, {X86: CODE}).backends
    assert facts.tags == {"linux_x86_64": "manylinux_2_27_x86_64"}
    built = make_facts([BACKEND], release, BOTH)
    assert built.backends[0].tags == BACKEND.tags
    assert code_of_record(built, release) == {X86: CODE}


def test_what_a_release_lacks_is_written_with_the_cause() -> None:
    """For each platform that the backend has elsewhere; who built it from source nevertheless does not lack it."""
    causes = {"linux_x86_64": "no abacus-pjrt 1", "linux_aarch64": "no file for aarch64"}
    absent = tuple(Absent(f"plugin.abacus.{platform}", "p", "1", cause) for platform, cause in causes.items())
    for known, there in (({}, causes.keys()), ({X86: CODE}, {"linux_aarch64"})):
        (facts,) = make_facts([BACKEND], dataclasses.replace(EMPTY, absent=absent), known).backends
        assert set(facts.tags) == causes.keys() - there
        assert facts.absent == {platform: causes[platform] for platform in there}


def test_what_an_override_gave_goes_with_it() -> None:
    """Also after it was recorded, with or without code."""
    for known in (CODE, KnownCode((), None)):
        old = make_facts([BACKEND], RELEASE, {X86: known})
        assert code_of_record(old, RELEASE)[X86] == known
        assert code_of_record(old, EMPTY) == {}


def test_the_toolkit_is_the_one_that_the_library_states() -> None:
    """In any proof, and for all platforms; it stays as recorded where no library was asked."""
    backend = dataclasses.replace(BACKEND, toolkit_attribute="bead_version")
    stated = entry("manylinux_2_27_x86_64", attributes={"bead_version": "13010", "xla_version": "2"})
    assert toolkit_of(backend, stated) == "13.1"
    assert toolkit_of(BACKEND, stated) == ""
    assert choose_toolkit(backend, ["13.1", "", "9.2"]) == "13.1"
    assert (choose_toolkit(backend, []), choose_toolkit(BACKEND, [""])) == ("", "")
    listed = dataclasses.replace(entry("manylinux_2_27_x86_64"), other_proofs=(stated.proof,))
    known = code_of_set([backend], [listed], RELEASE)
    assert known == {X86: dataclasses.replace(CODE, toolkit="13.1")}
    old = make_facts([backend], RELEASE, BOTH | known)
    assert old.backends[0].select == Select("merchant", 0, driver=(1, 0), toolkit=(13, 1))
    recorded = code_of_record(old, RELEASE)
    assert make_facts([backend], RELEASE, recorded) == old
    assert make_facts([backend], RELEASE, recorded | {X86: CODE}) == old  # as that for aarch64 was recorded with it
    assert read_select(dataclasses.replace(BACKEND, select=None), "1.0", known.values()) is None
    with pytest.raises(UsageError, match="bead_version"):
        make_facts([backend], RELEASE, BOTH)


def test_a_key_of_the_table_is_another_one_since_a_release() -> None:
    """For that release and those after it, the last one wins; versions are compared as numbers."""
    backend = dataclasses.replace(BACKEND, since={"1.9": {"driver": "2.0"}, "1.10.0": {"driver": "3.1", "rank": 7}})
    found = [read_select(backend, version) for version in ("1.8.9", "1.9", "1.9.2", "1.10.0", "1.10.0.1")]
    drivers = [(select.driver, select.rank) for select in found if select]
    assert drivers == [((1, 0), 0), ((2, 0), 0), ((2, 0), 0), ((3, 1), 7), ((3, 1), 7)]
    with pytest.raises(UsageError) as caught:
        read_select(dataclasses.replace(BACKEND, since={"1.9": {"rang": 1}}), "2.0")
    assert "select.rang" in caught.value.cause


@pytest.mark.parametrize(
    ("old", "new", "cause"), [("rank = 0", "rang = 0", "select.rang"), ('vendor = "merchant"', "", "select.vendor")]
)
def test_a_table_that_the_selector_cannot_read_is_refused(old: str, new: str, cause: str) -> None:
    """By its own dataclass, with the file and the key."""
    assert old in ABACUS
    backend = parse_backend(ABACUS.replace(old, new), Path("plugins/abacus/backend.toml"))
    with pytest.raises(UsageError, match=r"plugins/abacus/backend\.toml") as caught:
        make_facts([backend], RELEASE, BOTH)
    assert cause in caught.value.cause


def test_damaged_facts_are_refused(tmp_path: Path) -> None:
    """They may mean something else by the same keys, or hold what is recorded nowhere else."""
    document = {**json.loads(format_facts(make_facts([BACKEND], RELEASE, BOTH))), "schema": 2}
    for text in (json.dumps(document), "{"):
        (tmp_path / "facts.json").write_text(text, "utf-8")
        with pytest.raises(UsageError, match=r"facts\.json"):
            read_old(tmp_path / "facts.json")


@pytest.mark.parametrize("release", known_releases())
def test_the_shipped_facts_are_those_of_the_repository(release: str, root: Path) -> None:
    """Nobody types them: with the recorded code, the release and the backend files give this very text.

    A backend that came since is not in it until the command is run again, so that a new directory breaks nothing.
    """
    path = root / f"selector/jaxlib_select/facts/{release}.json"
    old = read_old(path)
    assert old is not None
    known, listed = load_release(root, release), {backend.name for backend in old.backends}
    backends = [backend for backend in load_backends(root).values() if backend.name in listed]
    assert format_facts(make_facts(backends, known, code_of_record(old, known))) == path.read_text()


def test_backends_that_nobody_wrote_facts_about_are_found(root: Path, tmp_path: Path) -> None:
    """As of a vendor who added one and goes on to build it, or of a release that was just pinned."""
    backends = load_backends(root)
    version = known_releases()[0]
    assert find_unknown(root, version, backends.values()) == ()
    assert find_unknown(root, version, [*backends.values(), BACKEND]) == ("abacus",)
    assert find_unknown(tmp_path, "0.0.1", [backends["cpu"]]) == ("cpu",)


def test_the_command_writes_the_file(root: Path, tmp_path: Path) -> None:
    """In a repository with one backend, whose wheels are in dist/."""
    (tmp_path / "releases").symlink_to(root / "releases")
    (tmp_path / "plugins/abacus").mkdir(parents=True)
    (tmp_path / "plugins/abacus/backend.toml").write_text(ABACUS, "utf-8")
    (tmp_path / "dist").mkdir()
    version = give_label(load_release(root, DEFAULT_RELEASE), "mine").set_version
    wheels = {
        arch: dataclasses.replace(entry(f"manylinux_2_27_{arch}", version), filename=f"{arch}.whl")
        for arch in ("x86_64", "aarch64")
    }
    (tmp_path / "dist/release.json").write_text(format_entries(wheels), "utf-8")
    assert main(["facts", "--release", DEFAULT_RELEASE, "--root", str(tmp_path), "--label", "mine"]) == 0
    (abacus,) = load_facts(DEFAULT_RELEASE, tmp_path / "selector/jaxlib_select/facts").backends
    assert {abacus.version: dict(abacus.code)} == {version: {"linux_x86_64": ("bead_5",), "linux_aarch64": ("bead_5",)}}
