# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Publishing: whole or not at all, and several writers at once."""

from __future__ import annotations

import hashlib
import io
import json
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from pjrtwheel import files
from pjrtwheel.errors import WheelError
from pjrtwheel.files import hash_file
from pjrtwheel.prove.level import Level
from pjrtwheel.prove.origin import Origin
from pjrtwheel.prove.results import Kind, Outcome, ProgramResult, Proof, PythonProof, TargetProof
from pjrtwheel.publish import add_proofs, check_space, publish
from pjrtwheel.publish.release_file import Entry, format_entries, make_entry, merge_entries, parse_entries
from pjrtwheel.publish.summary import describe_level, describe_pythons, make_table, render_table
from pjrtwheel.wheel.report import BuiltWheel, Report

ORIGIN = Origin("0" * 40, dirty=False, version="0.1.0", date="2026-11-21T09:40:00Z")


def make_wheel(folder: Path, name: str, content: bytes = b"zip", lock: str = "ff") -> tuple[BuiltWheel, Proof]:
    """Write a file in place of a wheel, with its report and proof."""
    filename = f"{name}-1.0-cp312-abi3-manylinux_2_27_x86_64.whl"
    path = folder / filename
    path.write_bytes(content)
    report = Report(
        wheel=filename,
        distribution=name.replace("_", "-"),
        version="1.0",
        tag="cp312-abi3-manylinux_2_27_x86_64",
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        requires=("jaxlib==1.0",),
        lock_id=lock,
        provider="prebuilt",
        provenance={"project": "upstream"},
        changes={"a.so": ("dropped .symtab",)},
        stripped_bytes=7,
        gpu_code=("sm_90",),
    )
    pythons = (PythonProof("cp314", "", (), "no interpreter"),)
    return BuiltWheel(path, report), Proof(
        Level.LOAD, "0.115", pythons, ORIGIN, backend="cpu", pjrt_attributes={"xla_version": "2"}
    )


def publish_one(folder: str, dist: str, name: str) -> None:
    """Publish one wheel; the work of one process."""
    wheel, proof = make_wheel(Path(folder), name, name.encode() * 100_000)
    publish([wheel], {wheel.report.wheel: proof}, Path(dist))


def test_the_record_says_all_that_is_promised(tmp_path: Path) -> None:
    """One entry of release.json, key by key."""
    wheel, proof = make_wheel(tmp_path, "jaxlib_cpu")
    publish([wheel], {wheel.report.wheel: proof}, tmp_path / "dist")
    document = json.loads((tmp_path / "dist" / "release.json").read_text())
    assert document == {
        "schema": 2,
        "wheels": [
            {
                "filename": "jaxlib_cpu-1.0-cp312-abi3-manylinux_2_27_x86_64.whl",
                "distribution": "jaxlib-cpu",
                "version": "1.0",
                "sha256": hashlib.sha256(b"zip").hexdigest(),
                "size": 3,
                "tags": ["cp312-abi3-manylinux_2_27_x86_64"],
                "requires": ["jaxlib==1.0"],
                "lock_id": "ff",
                "provider": "prebuilt",
                "provenance": {"project": "upstream"},
                "pjrt_api": "0.115",
                "gpu_code": ["sm_90"],
                "proof": {
                    "backend": "cpu",
                    "level": "load",
                    "origin": {
                        "commit": "0" * 40,
                        "dirty": False,
                        "version": "0.1.0",
                        "date": "2026-11-21T09:40:00Z",
                    },
                    "pjrt_api": "0.115",
                    "pjrt_attributes": {"xla_version": "2"},
                    "pythons": [
                        {
                            "python": "cp314",
                            "interpreter": "",
                            "level": "static",
                            "summary": "not run: no interpreter",
                            "reason": "no interpreter",
                            "missed": [],
                            "emulated": False,
                            "programs": [],
                        }
                    ],
                    "emulated": False,
                    "targets": [],
                },
                "other_proofs": [],
                "stripped_bytes": 7,
                "changes": {"a.so": ["dropped .symtab"]},
            }
        ],
    }
    assert sorted(path.name for path in (tmp_path / "dist").iterdir()) == [wheel.report.wheel, "release.json"]


def test_a_second_build_replaces_its_own_entry_and_keeps_others(tmp_path: Path) -> None:
    """Entries are merged by file name."""
    dist = tmp_path / "dist"
    published = []
    for name, content in (("jaxlib_a", b"1"), ("jaxlib_b", b"1"), ("jaxlib_a", b"2")):
        wheel, proof = make_wheel(tmp_path, name, content)
        published.append(publish([wheel], {wheel.report.wheel: proof}, dist))
    assert [(entry.distribution, entry.sha256) for entry in published[-1]] == [
        ("jaxlib-a", hashlib.sha256(b"2").hexdigest()),
        ("jaxlib-b", hashlib.sha256(b"1").hexdigest()),
    ]


def test_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    """Eight processes publish into one folder; every wheel and every entry is there."""
    names = [f"jaxlib_{letter}" for letter in "abcdefgh"]
    context = multiprocessing.get_context("fork")
    writers = [
        context.Process(target=publish_one, args=(str(tmp_path), str(tmp_path / "dist"), name)) for name in names
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * len(names)
    entries = parse_entries((tmp_path / "dist" / "release.json").read_bytes())
    wheels = {path.name: hash_file(path) for path in (tmp_path / "dist").glob("*.whl")}
    assert {name: entry.sha256 for name, entry in entries.items()} == wheels
    assert len(wheels) == len(names)
    assert list((tmp_path / "dist").glob(".partial-*")) == []


def test_leftovers_of_a_killed_run_are_cleaned(tmp_path: Path) -> None:
    """A staging folder without a living owner goes; that of a living one stays."""
    dist = tmp_path / "dist"
    dead, living = dist / ".partial-dead", dist / ".partial-living"
    for folder in (dead, living):
        folder.mkdir(parents=True)
        (folder / "half.whl").write_bytes(b"half")
    wheel, proof = make_wheel(tmp_path, "jaxlib_cpu")
    with files.locked(living):
        publish([wheel], {wheel.report.wheel: proof}, dist)
    assert (dead.exists(), living.exists()) == (False, True)


def wait_for(folder: Path, pattern: str) -> Path:
    """Return the file that another process makes, which it does within seconds or not at all."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        for found in folder.glob(pattern):
            return found
        time.sleep(0.01)
    raise AssertionError(f"nothing like {pattern} in {folder}")


def test_a_killed_run_leaves_nothing_partial(tmp_path: Path) -> None:
    """A process killed while it copies leaves no file in the folder, and the next run clears what it left aside."""
    wheel, proof = make_wheel(tmp_path, "jaxlib_cpu", b"x" * 100_000)
    content = wheel.path.read_bytes()
    wheel.path.unlink()
    os.mkfifo(wheel.path)  # a source that never ends keeps the copy half done
    dist = tmp_path / "dist"
    writer = multiprocessing.get_context("fork").Process(
        target=publish, args=([wheel], {wheel.report.wheel: proof}, dist)
    )
    writer.start()
    # Open for reading too: opening does not wait for a writer that may have failed.
    with open(os.open(wheel.path, os.O_RDWR), "wb") as source:  # noqa: PTH123 - a descriptor has no path
        source.write(content[:60_000])
        source.flush()
        partial = wait_for(dist, ".partial-*/.*.partial").parent
        writer.kill()
        writer.join()
    assert (writer.exitcode, list(dist.iterdir())) == (-9, [partial])
    wheel.path.unlink()
    wheel.path.write_bytes(content)
    publish([wheel], {wheel.report.wheel: proof}, dist)
    assert sorted(path.name for path in dist.iterdir()) == [wheel.report.wheel, "release.json"]
    assert not partial.exists()


_PUBLISH_ON_SMALL_DISK = """
mount -t tmpfs -o size=2m none "$1" && mkdir "$1/dist" && exec "$2" - "$1" "$3" <<'END'
import sys
from pathlib import Path
sys.path[:0] = sys.argv[2].split(":")
from pjrtwheel.errors import WheelError
from test_publish import files, make_wheel, publish
folder = Path(sys.argv[1])
wheel, proof = make_wheel(folder.parent, "jaxlib_cpu", bytes(5_000_000))
try:
    publish([wheel], {wheel.report.wheel: proof}, folder / "dist")
except WheelError as error:
    print(error.what, error.cause, sep=": ")
try:
    with files.staging_folder(folder / "dist") as place:
        (place / "file").write_bytes(bytes(5_000_000))
except WheelError as error:
    print(error.what, error.cause, sep=": ")
print(sorted(path.name for path in folder.rglob("*")))
END
"""


def test_a_disk_that_is_really_full(tmp_path: Path, root: Path) -> None:
    """The error says what is needed, where that is known, and what is free once what was begun is gone."""
    small = tmp_path / "small"
    small.mkdir()
    paths = f"{root / 'build'}:{Path(__file__).parent}"
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", _PUBLISH_ON_SMALL_DISK, "sh"]
    if subprocess.run([*command[:4], "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine allows no private mounts")
    result = subprocess.run([*command, str(small), sys.executable, paths], capture_output=True, text=True, check=True)
    full = f"no space left on the disk of {small / 'dist'}"
    assert result.stdout.splitlines() == [
        f"{full}: 5 MB are needed, and 2 MB are free",
        f"{full}: 2 MB are free",
        "['dist']",
    ]


def test_a_disk_that_is_too_small_is_noticed_before_anything_long(tmp_path: Path) -> None:
    """The message says how much is needed; what is in place needs none."""
    wheel, proof = make_wheel(tmp_path, "jaxlib_cpu")
    dist = tmp_path / "new" / "dist"
    large = replace(wheel, report=replace(wheel.report, size=10**18))
    with pytest.raises(WheelError) as caught:
        check_space([large, wheel], dist)
    assert caught.value.what == f"no space left on the disk of {dist}"
    assert (caught.value.cause or "").startswith("1000000000000 MB are needed, and ")
    assert not dist.parent.exists()
    publish([wheel], {wheel.report.wheel: proof}, dist)
    check_space([large], dist)


def test_a_wheel_that_changed_is_not_published(tmp_path: Path) -> None:
    """What is published is what was verified."""
    wheel, proof = make_wheel(tmp_path, "jaxlib_cpu")
    wheel.path.write_bytes(b"other")
    with pytest.raises(WheelError, match="the file was changed after it was assembled"):
        publish([wheel], {wheel.report.wheel: proof}, tmp_path / "dist")
    assert list((tmp_path / "dist").iterdir()) == []


def test_the_same_bytes_are_not_copied_again(tmp_path: Path) -> None:
    """Publishing again leaves the file in place untouched."""
    wheel, proof = make_wheel(tmp_path, "jaxlib_cpu")
    publish([wheel], {wheel.report.wheel: proof}, tmp_path / "dist")
    before = (tmp_path / "dist" / wheel.report.wheel).stat().st_ino
    publish([wheel], {wheel.report.wheel: proof}, tmp_path / "dist")
    assert (tmp_path / "dist" / wheel.report.wheel).stat().st_ino == before


def test_a_read_only_wheel_is_published_writable(tmp_path: Path) -> None:
    """Build outputs are often read-only; users must be able to remove what is in dist."""
    wheel, proof = make_wheel(tmp_path, "jaxlib_cpu")
    wheel.path.chmod(0o444)
    publish([wheel], {wheel.report.wheel: proof}, tmp_path / "dist")
    assert (tmp_path / "dist" / wheel.report.wheel).stat().st_mode & 0o777 == 0o644


def test_a_folder_with_spaces_and_letters(tmp_path: Path) -> None:
    """Paths are never taken apart."""
    dist = tmp_path / "ein Ordner" / "größer"
    wheel, proof = make_wheel(tmp_path, "jaxlib_cpu")
    publish([wheel], {wheel.report.wheel: proof}, dist)
    assert sorted(path.name for path in dist.iterdir()) == [wheel.report.wheel, "release.json"]


def test_entries_of_removed_wheels_are_forgotten() -> None:
    """Only what is in the folder is listed."""
    old = {name: make_small_entry(name) for name in ("a.whl", "b.whl")}
    new = make_small_entry("c.whl")
    assert merge_entries(old, [new], ["c.whl", "b.whl", "foreign.whl"]) == {"b.whl": old["b.whl"], "c.whl": new}


def make_small_entry(filename: str, distribution: str = "jaxlib", version: str = "1", lock_id: str = "a") -> Entry:
    """Return an entry of which only the name of the wheel matters, and to what it belongs."""
    proof = Proof(Level.STATIC, None, (), ORIGIN)
    return Entry(filename, distribution, version, "00", 1, ("py3-none-any",), lock_id, 0, (), proof, ())


RAN = PythonProof("cp312", "3.12.1", (ProgramResult("jit", Outcome.PASSED, Level.DEVICE, 1.0, ""),))
COMPILED = PythonProof("cp312", "3.12.1", (ProgramResult("aot h100", Outcome.PASSED, Level.AOT, 1.0, "", Kind.TARGET),))
MISSED = PythonProof(
    "cp312", "3.12.1", (), "load: no libamdhip64.so", ("device: no AMD GPU", "load: no libamdhip64.so")
)
UNTRIED = PythonProof("cp312", "", (), "smoke tests switched off")
EMULATED = replace(COMPILED, emulated=True)


def make_proof(
    level: Level,
    *pythons: PythonProof,
    backend: str | None = "cpu",
    date: str = "one",
    targets: tuple[TargetProof, ...] = (),
) -> Proof:
    """Return a proof of some wheel."""
    return Proof(level, "0.115", pythons, Origin(None, None, "0.1.0", date), targets, backend)


def merge_proofs(tmp_path: Path, old: Proof, new: Proof, *, same: bool = True) -> list[tuple[str | None, str, str]]:
    """Record a wheel twice, and return backend, level and date of the proofs that are left."""
    name = "jaxlib"
    entries: list[Entry] = [
        make_entry(make_wheel(tmp_path, name, content)[0].report, proof)
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
    publish([wheel for wheel, _ in built], {wheel.report.wheel: proof for wheel, proof in built}, dist)
    names = [wheel.report.wheel for wheel, _ in built]
    proofs = dict.fromkeys((*names, "jaxlib_c.whl"), make_proof(Level.DEVICE, RAN))
    digests = {names[0]: built[0][0].report.sha256, names[1]: "00", "jaxlib_c.whl": "00"}
    assert add_proofs(proofs, digests, dist) == (names[1], "jaxlib_c.whl")
    record = parse_entries((dist / "release.json").read_bytes())
    assert [(name, entry.proof.level) for name, entry in record.items()] == [
        (names[0], "device"),
        (names[1], "load"),
    ]


def test_a_folder_without_a_record_stays_without(tmp_path: Path) -> None:
    """Wheels that were carried to another machine alone can be proven there all the same."""
    (tmp_path / "a.whl").touch()
    assert add_proofs({"a.whl": make_proof(Level.DEVICE, RAN)}, {"a.whl": "00"}, tmp_path) == ("a.whl",)
    assert [path.name for path in tmp_path.iterdir()] == ["a.whl"]


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
    """Whichever machine's folder is merged first: the record of the same wheel is the same, byte for byte."""
    report = Report("a.whl", "a", "1", "cp312-abi3-linux_x86_64", "00", 1, (), "ff", "prebuilt", {}, {}, 0)

    def record(ordered: list[Proof]) -> str:
        merged: dict[str, Entry] = {}
        for proof in ordered:
            merged = merge_entries(merged, [make_entry(report, proof)], ["a.whl"])
        return format_entries(merged)

    assert record(proofs) == record(data.draw(st.permutations(proofs)))


def test_bindings_keep_a_proof_for_each_backend(tmp_path: Path) -> None:
    """The strongest is first, whichever was built last; one for which nothing ran is none."""
    cpu, cuda = make_proof(Level.DEVICE, RAN), make_proof(Level.AOT, COMPILED, backend="cuda13")
    expected = [("cpu", "device", "one"), ("cuda13", "aot", "one")]
    assert merge_proofs(tmp_path, cpu, cuda) == merge_proofs(tmp_path, cuda, cpu) == expected
    untried = make_proof(Level.STATIC, UNTRIED, backend="tpu")
    assert merge_proofs(tmp_path, cpu, untried) == merge_proofs(tmp_path, untried, cpu) == expected[:1]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"[" * 100_000,
        b"\xff",
        b'{"schema": 1, "wheels": []}',
        b'{"schema": 2, "wheels": 1}',
        b'{"schema": 2}',
    ],
)
def test_a_broken_record_is_made_again(data: bytes) -> None:
    """A record that cannot be read never stops a build."""
    assert parse_entries(data) == {}


def _without_hash(entry: dict[str, Any]) -> Any:
    return {key: value for key, value in entry.items() if key != "sha256"}


@pytest.mark.parametrize(
    ("damage", "place"),
    [
        (_without_hash, "wheels[0] lacks sha256"),
        (lambda entry: {**entry, "proof": {**entry["proof"], "level": "certain"}}, "wheels[0].proof.level: 'certain'"),
        (lambda entry: {**entry, "other_proofs": [{"level": "aot"}]}, "wheels[0].other_proofs[0] lacks pjrt_api"),
        (lambda entry: {**entry, "size": "3"}, "wheels[0].size: expected an integer, found '3'"),
        (lambda _: None, "wheels[0]: expected"),
    ],
    ids=["missing key", "unknown level", "half another proof", "wrong type", "no table"],
)
def test_a_broken_entry_takes_no_other_with_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: Callable[[dict[str, Any]], Any], place: str
) -> None:
    """The good entries stay, the build goes on, a copy is kept, and the wheel without an entry is named."""
    dist = tmp_path / "dist"
    for name in ("jaxlib_a", "jaxlib_b"):
        wheel, proof = make_wheel(tmp_path, name)
        publish([wheel], {wheel.report.wheel: proof}, dist)
    record = dist / "release.json"
    document = json.loads(record.read_text("utf-8"))
    document["wheels"][0] = damage(document["wheels"][0])
    damaged = json.dumps(document)
    record.write_text(damaged, "utf-8")
    wheel, proof = make_wheel(tmp_path, "jaxlib_c")
    entries = publish([wheel], {wheel.report.wheel: proof}, dist)
    assert [entry.distribution for entry in entries] == ["jaxlib-b", "jaxlib-c"]
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith(f"warning: {record} is damaged ({place}")
    assert first.endswith("; a copy is kept as release.json.damaged-1")
    assert (dist / "release.json.damaged-1").read_text("utf-8") == damaged
    assert second == (
        "warning: jaxlib_a-1.0-cp312-abi3-manylinux_2_27_x86_64.whl has no entry in release.json: "
        "build it again, or remove it"
    )


def test_a_proof_of_one_wheel_loses_no_damaged_entry_of_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever replaces the file keeps a copy of a damaged one."""
    other, wheel = (make_wheel(tmp_path, name)[0] for name in ("jaxlib_a", "jaxlib_b"))
    for built in (other, wheel):
        publish([built], {built.report.wheel: make_proof(Level.STATIC, UNTRIED)}, tmp_path / "dist")
    record = tmp_path / "dist" / "release.json"
    document = json.loads(record.read_text("utf-8"))
    del document["wheels"][0]["sha256"]
    damaged = json.dumps(document)
    record.write_text(damaged, "utf-8")
    shown = {wheel.report.wheel: make_proof(Level.DEVICE, RAN)}
    assert add_proofs(shown, {wheel.report.wheel: wheel.report.sha256}, tmp_path / "dist") == ()
    assert (tmp_path / "dist" / "release.json.damaged-1").read_text("utf-8") == damaged
    assert "release.json is damaged (wheels[0] lacks sha256); a copy is kept" in capsys.readouterr().err


def test_a_wheel_that_is_not_the_recorded_one_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run killed between its renames leaves a wheel with the entry of its predecessor."""
    dist = tmp_path / "dist"
    wheel, proof = make_wheel(tmp_path, "jaxlib_a")
    publish([wheel], {wheel.report.wheel: proof}, dist)
    (dist / wheel.report.wheel).write_bytes(b"other")
    other, proof = make_wheel(tmp_path, "jaxlib_b")
    publish([other], {other.report.wheel: proof}, dist)
    assert capsys.readouterr().err == (
        f"warning: {wheel.report.wheel} is not the file that release.json describes: build it again, or remove it\n"
    )


def test_stale_folders_that_cannot_be_opened_stop_nothing(tmp_path: Path) -> None:
    """What another user's run left is not ours to remove; a link that leads nowhere is the example here."""
    dist = tmp_path / "dist"
    dist.mkdir()
    (dist / ".partial-loop").symlink_to(".partial-loop")
    wheel, proof = make_wheel(tmp_path, "jaxlib_cpu")
    assert len(publish([wheel], {wheel.report.wheel: proof}, dist)) == 1


def test_stale_folders_are_found_by_their_literal_name(tmp_path: Path) -> None:
    """A prefix is no pattern."""
    for name in ("[x]-old", "x-other"):
        (tmp_path / name).mkdir()
    files.remove_stale_folders(tmp_path, "[x]-")
    assert [path.name for path in tmp_path.iterdir()] == ["x-other"]


def test_the_record_survives_its_text(tmp_path: Path) -> None:
    """What is read back is what was written."""
    wheel, proof = make_wheel(tmp_path, "jaxlib_cpu")
    entries = {wheel.report.wheel: make_entry(wheel.report, proof)}
    assert parse_entries(format_entries(entries).encode()) == entries


@pytest.mark.parametrize(
    ("targets", "cell"),
    [
        ({}, "aot"),
        ({"h100": ["sm_90a"]}, "aot: 1 target (h100)"),
        (
            {"h100": ["sm_90a"], "t4": ["sm_75"], "v100": []},
            "aot: 2 targets (h100, t4), 1 target failed as expected (v100)",
        ),
        ({"tpu7x": ["tpu6"], "v5e": ["tpu4-lite"]}, "aot: 2 targets (tpu7x, v5e)"),
    ],
    ids=["none", "one", "several, and one that cannot be", "names that differ from those of the code"],
)
def test_the_level_shows_what_was_compiled_for(targets: dict[str, list[str]], cell: str) -> None:
    """Chips go by their own names, and those that gave no code are counted apart."""
    listed = tuple(TargetProof(name, "", tuple(code), 1.0, ()) for name, code in targets.items())
    proof = Proof(Level.AOT, None, (), ORIGIN, listed, "tpu")
    assert describe_level(replace(make_small_entry("a.whl", "jaxlib-tpu"), proof=proof)) == cell


def test_the_row_of_bindings_names_the_backends(tmp_path: Path) -> None:
    """Each level, and what each Python showed, is said of the plugin that it was shown with."""
    wheel, _ = make_wheel(tmp_path, "jaxlib")
    proofs = [make_proof(Level.DEVICE, RAN), make_proof(Level.AOT, COMPILED, backend="cuda13")]
    entries = [make_entry(wheel.report, proof) for proof in proofs]
    (merged,) = merge_entries({wheel.report.wheel: entries[0]}, entries[1:], [wheel.report.wheel]).values()
    untried = make_entry(wheel.report, make_proof(Level.STATIC, UNTRIED))
    assert (describe_level(untried), describe_pythons(untried)) == ("static", "3.12: not run: smoke tests switched off")
    assert describe_level(merged) == "device with cpu; aot with cuda13"
    assert describe_pythons(merged) == "3.12 with cpu: 1 program passed; 3.12 with cuda13: 1 target passed"


def test_pythons_that_showed_the_same_share_their_words() -> None:
    """In the order in which they were proven."""
    passed = ProgramResult("jit", Outcome.PASSED, Level.DEVICE, 1.0, "")
    pythons = [PythonProof(python, "", (passed, passed)) for python in ("cp312", "cp313")]
    proof = Proof(Level.DEVICE, None, (*pythons, PythonProof("cp314", "", (), "no interpreter")), ORIGIN, (), "cpu")
    entry = replace(make_small_entry("a.whl", "jaxlib-cpu"), proof=proof)
    assert describe_pythons(entry) == "3.12, 3.13: 2 programs passed; 3.14: not run: no interpreter"


def test_the_table_has_a_row_for_each_wheel(tmp_path: Path) -> None:
    """The table and its cells come from the entries alone."""
    made = [make_wheel(tmp_path, name) for name in ("jaxlib_a", "jaxlib_b")]
    entries = publish(
        [wheel for wheel, _ in made], {wheel.report.wheel: proof for wheel, proof in made}, tmp_path / "dist"
    )
    assert make_table(entries, tmp_path).row_count == 2
    assert describe_pythons(entries[0]) == "3.14: not run: no interpreter"


def test_names_stay_whole_in_a_log(tmp_path: Path) -> None:
    """However much is said of the Pythons, each row has the file's name in one piece."""
    wheel, _ = make_wheel(tmp_path, "jaxlib_of_some_length")
    long = [replace(UNTRIED, python=f"cp3{minor}", reason="a long reason for it") for minor in range(10, 30)]
    entry = make_entry(wheel.report, make_proof(Level.STATIC, *long))
    console = Console(width=170, record=True, file=io.StringIO())
    render_table([entry], Path("wheels [old]"), console)
    text = console.export_text()
    assert wheel.report.wheel in text
    assert text.splitlines()[0].strip() == "wheels [old]/", "the folder is that which was given"
