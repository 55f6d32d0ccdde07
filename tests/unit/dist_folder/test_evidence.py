# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Proofs of the same bytes: which of them `release.json` keeps, in whatever order they come."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pjrtwheel.dist_folder.folder import add_proofs, add_wheels
from pjrtwheel.record.entries import Entry, format_entries, make_entry, merge_entries, read_entries
from pjrtwheel.record.origin import Origin
from pjrtwheel.record.proofs import Level, Proof, TargetProof
from pjrtwheel.wheel.report import Report
from proven_wheels import COMPILED, MISSED, ORIGIN, RAN, UNTRIED, make_small_entry, make_wheel
from proven_wheels import make_proof as make_proof_of_a_day

make_proof = partial(make_proof_of_a_day, date="one")  # the days are in order of the alphabet


def test_entries_of_removed_wheels_are_forgotten() -> None:
    """Only what is in the folder is listed."""
    old = {name: make_small_entry(name) for name in ("a.whl", "b.whl")}
    new = make_small_entry("c.whl")
    assert merge_entries(old, [new], ["c.whl", "b.whl", "foreign.whl"]) == {"b.whl": old["b.whl"], "c.whl": new}


EMULATED = replace(COMPILED, emulated=True)
TWICE = replace(RAN, results=RAN.results * 2)


def compiled_for(*names: str, code: bool = True) -> tuple[TargetProof, ...]:
    """Return what was compiled ahead of time for some chips."""
    return tuple(TargetProof(name, "", ("sm_90a",) if code else (), 1.0, ()) for name in names)


DEVICE, AOT, LOAD, STATIC = Level.DEVICE, Level.AOT, Level.LOAD, Level.STATIC
later = partial(make_proof, date="two")
RUN = make_proof(DEVICE, RAN)
MANY = make_proof(AOT, COMPILED, targets=compiled_for("a100", "h100", "t4"))
FEW = make_proof(AOT, COMPILED, date="two", targets=compiled_for("h100"))
NO_CODE = make_proof(AOT, COMPILED, date="two", targets=compiled_for("a100", "h100", "t4", code=False))
ON_THREE = replace(RAN, python="cp313"), replace(RAN, python="cp315")
REAL = make_proof(AOT, COMPILED)
ON_EMULATED = later(AOT, EMULATED, EMULATED)
# Two proofs of the same bytes: backend, level and date of those that are kept, the strongest first.
PAIRS = {
    "not run": (RUN, later(LOAD, UNTRIED), ["cpu device one"]),
    "again": (RUN, later(DEVICE, RAN), ["cpu device two"]),
    "on fewer Pythons": (make_proof(DEVICE, RAN, RAN), later(DEVICE, RAN), ["cpu device one"]),
    "by fewer programs": (make_proof(DEVICE, TWICE), later(DEVICE, RAN), ["cpu device one"]),
    "stronger": (REAL, later(DEVICE, RAN), ["cpu device two"]),
    "tried, and not run": (make_proof(STATIC, MISSED), later(STATIC, UNTRIED), ["cpu static one"]),
    "never tried": (make_proof(STATIC, UNTRIED), later(STATIC, UNTRIED), ["cpu static two"]),
    "for fewer chips": (MANY, FEW, ["cpu aot one"]),
    "without code": (MANY, NO_CODE, ["cpu aot one"]),
    "on a device": (MANY, later(DEVICE, RAN), ["cpu device two", "cpu aot one"]),
    "on more Pythons": (MANY, replace(FEW, pythons=(COMPILED, COMPILED)), ["cpu aot two", "cpu aot one"]),
    "on an emulated machine": (REAL, ON_EMULATED, ["cpu aot one"]),
    "more, on an emulated machine": (make_proof(LOAD, RAN), ON_EMULATED, ["cpu aot two", "cpu load one"]),
    "on another Python": (
        make_proof(DEVICE, RAN, ON_THREE[0]),
        later(DEVICE, ON_THREE[1]),
        ["cpu device one", "cpu device two"],
    ),
    "on every Python": (make_proof(DEVICE, ON_THREE[1]), later(DEVICE, RAN, *ON_THREE), ["cpu device two"]),
    "with another backend": (RUN, later(AOT, COMPILED, backend="cuda13"), ["cpu device one", "cuda13 aot two"]),
    "not run with another backend": (RUN, make_proof(STATIC, UNTRIED, backend="tpu"), ["cpu device one"]),
}


@pytest.mark.parametrize(("first", "second", "kept"), PAIRS.values(), ids=PAIRS)
def test_evidence_about_the_same_bytes_stays(tmp_path: Path, first: Proof, second: Proof, kept: list[str]) -> None:
    """A proof that shows less takes nothing away, whichever comes later; for other bytes only their own counts."""

    def merge(old: Proof, new: Proof, content: bytes = b"1") -> list[str]:
        entries = [
            make_entry(make_wheel(tmp_path, "jaxlib", data)[0].report, proof, ORIGIN)
            for data, proof in ((b"1", old), (content, new))
        ]
        before = {entries[0].filename: entries[0]}
        (merged,) = merge_entries(before, entries[1:], before).values()
        assert merged.pjrt_api == merged.proof.pjrt_api
        return [f"{proof.backend} {proof.level} {proof.origin.date}" for proof in merged.proofs()]

    assert merge(first, second) == merge(second, first) == kept
    assert merge(first, second, b"2") == [f"{second.backend} {second.level} {second.origin.date}"]


def test_a_proof_of_a_published_wheel_enters_the_record(tmp_path: Path) -> None:
    """A machine with the accelerator adds what it showed; a wheel that the record has as other bytes is named."""
    dist = tmp_path / "dist"
    built = [make_wheel(tmp_path, name) for name in ("jaxlib_a", "jaxlib_b")]
    add_wheels([wheel for wheel, _ in built], [{wheel.report.filename: proof for wheel, proof in built}], ORIGIN, dist)
    names = [wheel.report.filename for wheel, _ in built]
    shown = make_proof(Level.DEVICE, RAN, date=ORIGIN.date)
    proofs = dict.fromkeys((*names, "jaxlib_c.whl"), shown)
    digests = {names[0]: built[0][0].report.sha256, names[1]: "00", "jaxlib_c.whl": "00"}
    assert add_proofs(proofs, digests, dist) == (names[1], "jaxlib_c.whl")
    record = read_entries(dist)
    assert [(name, entry.proof.level) for name, entry in record.items()] == [(names[0], "device"), (names[1], "load")]


PROOFS = st.builds(
    make_proof,
    st.sampled_from(Level),
    st.sampled_from([RAN, replace(RAN, python="cp314"), TWICE, COMPILED, EMULATED, MISSED, UNTRIED]),
    backend=st.sampled_from([None, "cpu", "cuda13"]),
    date=st.sampled_from(["one", "two"]),
    targets=st.lists(st.sampled_from(["a100", "h100", "t4"]), unique=True).map(lambda names: compiled_for(*names)),
)


# Nothing is stronger than an emulated proof of the lowest level, which shows something all the same.
RUNNING = make_proof(Level.AOT, RAN)
COMPILING = make_proof(Level.STATIC, EMULATED, targets=compiled_for("a100", "h100"))
OPENING = make_proof(Level.LOAD, EMULATED, targets=compiled_for("h100"))


@example(orders=([RUNNING, COMPILING, OPENING], [RUNNING, OPENING, COMPILING]))
@given(
    orders=st.lists(PROOFS, min_size=2, max_size=5).flatmap(
        lambda all_: st.tuples(st.just(all_), st.permutations(all_))
    )
)
def test_the_order_of_proofs_does_not_matter(orders: tuple[list[Proof], list[Proof]]) -> None:
    """Whichever machine's folder is merged first, or twice: the record of a wheel is the same, byte for byte."""
    report = Report("a-1-cp312-abi3-linux_x86_64.whl", "00", 1, "ff", (), "prebuilt")

    def record(ordered: list[Proof]) -> str:
        merged: dict[str, Entry] = {}
        for proof in ordered:
            merged = merge_entries(merged, [make_entry(report, proof, ORIGIN)], [report.filename])
        return format_entries(merged)

    first, other = orders
    assert record(first) == record(other) == record([*first, *first])


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
    name = wheel.report.filename
    built = {name: make_entry(wheel.report, proof, before)}
    assert merge_entries(built, [make_entry(wheel.report, proof, after)], [name])[name].built == kept
    assert merge_entries(built, [make_entry(other.report, proof, after)], [name])[name].built == after
