# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Proofs of the same bytes: which of them `release.json` keeps, in whatever order they come."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pjrtwheel.dist_folder import add_proofs, add_wheels
from pjrtwheel.record.entries import Entry, format_entries, make_entry, merge_entries, parse_entries
from pjrtwheel.record.origin import Origin
from pjrtwheel.record.proofs import Level, Proof, TargetProof
from pjrtwheel.wheel.report import Report
from proven_wheels import COMPILED, MISSED, ORIGIN, RAN, UNTRIED, make_proof, make_small_entry, make_wheel


def test_entries_of_removed_wheels_are_forgotten() -> None:
    """Only what is in the folder is listed."""
    old = {name: make_small_entry(name) for name in ("a.whl", "b.whl")}
    new = make_small_entry("c.whl")
    assert merge_entries(old, [new], ["c.whl", "b.whl", "foreign.whl"]) == {"b.whl": old["b.whl"], "c.whl": new}


EMULATED = replace(COMPILED, emulated=True)


def merge_proofs(tmp_path: Path, old: Proof, new: Proof, *, same: bool = True) -> list[tuple[str | None, str, str]]:
    """Record a wheel twice, and return backend, level and date of the proofs that are left."""
    name = "jaxlib"
    entries: list[Entry] = [
        make_entry(make_wheel(tmp_path, name, content)[0].report, proof, ORIGIN)
        for content, proof in ((b"1", old), (b"1" if same else b"2", new))
    ]
    before = {entries[0].filename: entries[0]}
    (merged,) = merge_entries(before, entries[1:], before).values()
    assert merged.pjrt_api == merged.proof.pjrt_api
    return [(proof.backend, proof.level.value, proof.origin.date) for proof in merged.proofs()]


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        (make_proof(Level.DEVICE, RAN), make_proof(Level.LOAD, UNTRIED, date="two"), ("device", "one")),
        (make_proof(Level.DEVICE, RAN), make_proof(Level.DEVICE, RAN, date="two"), ("device", "two")),
        (make_proof(Level.DEVICE, RAN, RAN), make_proof(Level.DEVICE, RAN, date="two"), ("device", "one")),
        (make_proof(Level.AOT, COMPILED), make_proof(Level.DEVICE, RAN, date="two"), ("device", "two")),
        (make_proof(Level.STATIC, MISSED), make_proof(Level.STATIC, UNTRIED, date="two"), ("static", "one")),
        (make_proof(Level.STATIC, UNTRIED), make_proof(Level.STATIC, UNTRIED, date="two"), ("static", "two")),
    ],
    ids=["not run", "again", "on fewer Pythons", "stronger", "tried, and not run", "never tried"],
)
def test_evidence_about_the_same_bytes_stays(tmp_path: Path, old: Proof, new: Proof, kept: tuple[str, str]) -> None:
    """A later build that shows less of the same wheel takes nothing away; for other bytes only its own counts."""
    assert merge_proofs(tmp_path, old, new) == [("cpu", *kept)]
    assert merge_proofs(tmp_path, old, new, same=False) == [("cpu", new.level.value, "two")]


def compiled_for(*names: str, code: bool = True) -> tuple[TargetProof, ...]:
    """Return what was compiled ahead of time for some chips."""
    return tuple(TargetProof(name, "", ("sm_90a",) if code else (), 1.0, ()) for name in names)


MANY = make_proof(Level.AOT, COMPILED, targets=compiled_for("a100", "h100", "t4"))
FEW = make_proof(Level.AOT, COMPILED, date="two", targets=compiled_for("h100"))
TWICE = replace(RAN, results=RAN.results * 2)


def test_a_proof_of_a_published_wheel_enters_the_record(tmp_path: Path) -> None:
    """A machine with the accelerator adds what it showed; a wheel that the record has as other bytes is named."""
    dist = tmp_path / "dist"
    built = [make_wheel(tmp_path, name) for name in ("jaxlib_a", "jaxlib_b")]
    add_wheels([wheel for wheel, _ in built], [{wheel.report.wheel: proof for wheel, proof in built}], ORIGIN, dist)
    names = [wheel.report.wheel for wheel, _ in built]
    proofs = dict.fromkeys((*names, "jaxlib_c.whl"), make_proof(Level.DEVICE, RAN))
    digests = {names[0]: built[0][0].report.sha256, names[1]: "00", "jaxlib_c.whl": "00"}
    assert add_proofs(proofs, digests, dist) == (names[1], "jaxlib_c.whl")
    record = parse_entries((dist / "release.json").read_bytes())
    assert [(name, entry.proof.level) for name, entry in record.items()] == [
        (names[0], "device"),
        (names[1], "load"),
    ]


@pytest.mark.parametrize(
    ("strong", "weak"),
    [
        (MANY, FEW),
        (MANY, replace(FEW, targets=compiled_for("a100", "h100", "t4", code=False))),
        (make_proof(Level.DEVICE, TWICE), make_proof(Level.DEVICE, RAN, date="two")),
    ],
    ids=["fewer chips", "no code", "fewer programs"],
)
def test_fewer_chips_or_programs_are_a_weaker_proof(tmp_path: Path, strong: Proof, weak: Proof) -> None:
    """Of two proofs of one level on one Python the one that shows more stays, whichever comes later."""
    kept = [("cpu", strong.level.value, "one")]
    assert merge_proofs(tmp_path, strong, weak) == merge_proofs(tmp_path, weak, strong) == kept


def test_running_on_a_device_takes_no_compiled_chips_away(tmp_path: Path) -> None:
    """Nor does compiling for fewer chips on more Pythons: the record has both proofs."""
    ran = make_proof(Level.DEVICE, RAN, date="two")
    kept = [("cpu", "device", "two"), ("cpu", "aot", "one")]
    assert merge_proofs(tmp_path, MANY, ran) == merge_proofs(tmp_path, ran, MANY) == kept
    widely = replace(FEW, pythons=(COMPILED, COMPILED))
    assert merge_proofs(tmp_path, MANY, widely) == [("cpu", "aot", "two"), ("cpu", "aot", "one")]


def test_an_emulated_machine_shows_less_than_a_real_one(tmp_path: Path) -> None:
    """Of one level the real one counts, even for fewer chips or Pythons; of a lower level its proof stays as well."""
    real = replace(FEW, origin=replace(FEW.origin, date="real"), targets=())
    both = make_proof(Level.AOT, EMULATED, EMULATED, date="emulated")
    assert (real.emulated, both.emulated) == (False, True)
    assert merge_proofs(tmp_path, real, both) == merge_proofs(tmp_path, both, real) == [("cpu", "aot", "real")]
    opened = make_proof(Level.LOAD, RAN, date="real")
    kept = [("cpu", "aot", "emulated"), ("cpu", "load", "real")]
    assert merge_proofs(tmp_path, opened, both) == merge_proofs(tmp_path, both, opened) == kept


def test_a_python_of_another_machine_is_kept(tmp_path: Path) -> None:
    """A machine with one Python adds it to what another one showed on more Pythons, until a stronger proof has it."""
    most = make_proof(Level.DEVICE, RAN, replace(RAN, python="cp313"))
    newest = make_proof(Level.DEVICE, replace(RAN, python="cp315"), date="two")
    kept = [("cpu", "device", "one"), ("cpu", "device", "two")]
    assert merge_proofs(tmp_path, most, newest) == merge_proofs(tmp_path, newest, most) == kept
    every = replace(most, pythons=(*most.pythons, *newest.pythons), origin=replace(most.origin, date="three"))
    assert merge_proofs(tmp_path, newest, every) == [("cpu", "device", "three")]


PROOFS = st.builds(
    make_proof,
    st.sampled_from(Level),
    st.sampled_from([RAN, replace(RAN, python="cp314"), TWICE, COMPILED, EMULATED, MISSED, UNTRIED]),
    backend=st.sampled_from([None, "cpu", "cuda13"]),
    date=st.sampled_from(["one", "two"]),
    targets=st.lists(st.sampled_from(["a100", "h100", "t4"]), unique=True).map(lambda names: compiled_for(*names)),
)


@given(proofs=st.lists(PROOFS, min_size=2, max_size=5), data=st.data())
def test_the_order_of_proofs_does_not_matter(proofs: list[Proof], data: st.DataObject) -> None:
    """Whichever machine's folder is merged first, or twice: the record of a wheel is the same, byte for byte."""
    report = Report("a.whl", "a", "1", "cp312-abi3-linux_x86_64", "00", 1, (), "ff", "prebuilt", {}, {}, 0)

    def record(ordered: list[Proof]) -> str:
        merged: dict[str, Entry] = {}
        for proof in ordered:
            merged = merge_entries(merged, [make_entry(report, proof, ORIGIN)], ["a.whl"])
        return format_entries(merged)

    assert record(proofs) == record(data.draw(st.permutations(proofs))) == record([*proofs, *proofs])


def test_bindings_keep_a_proof_for_each_backend(tmp_path: Path) -> None:
    """The strongest is first, whichever was built last; one for which nothing ran is none."""
    cpu, cuda = make_proof(Level.DEVICE, RAN), make_proof(Level.AOT, COMPILED, backend="cuda13")
    expected = [("cpu", "device", "one"), ("cuda13", "aot", "one")]
    assert merge_proofs(tmp_path, cpu, cuda) == merge_proofs(tmp_path, cuda, cpu) == expected
    untried = make_proof(Level.STATIC, UNTRIED, backend="tpu")
    assert merge_proofs(tmp_path, cpu, untried) == merge_proofs(tmp_path, untried, cpu) == expected[:1]


FIRST = Origin("1" * 40, dirty=False, version="1", date="one")
SECOND = Origin("2" * 40, dirty=False, version="1", date="two")
DIRTY = Origin("2" * 40, dirty=True, version="1", date="two")
NOWHERE = Origin(None, None, "1", "two")


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        (FIRST, SECOND, SECOND),
        (FIRST, replace(FIRST, date="two"), FIRST),
        (FIRST, DIRTY, FIRST),
        (FIRST, NOWHERE, FIRST),
        (NOWHERE, DIRTY, DIRTY),
        (DIRTY, FIRST, FIRST),
    ],
    ids=["another commit", "the same", "dirty", "outside git", "from outside git", "clean at last"],
)
def test_same_bytes_are_of_the_last_commit_that_is_known_to_give_them(
    tmp_path: Path, before: Origin, after: Origin, kept: Origin
) -> None:
    """Other bytes are of their own, however little is known of it."""
    wheel, proof = make_wheel(tmp_path, "jaxlib_a")
    other, _ = make_wheel(tmp_path, "jaxlib_a", b"other")
    name = wheel.report.wheel
    built = {name: make_entry(wheel.report, proof, before)}
    assert merge_entries(built, [make_entry(wheel.report, proof, after)], [name])[name].built == kept
    assert merge_entries(built, [make_entry(other.report, proof, after)], [name])[name].built == after
