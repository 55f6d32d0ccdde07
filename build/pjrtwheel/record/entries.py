# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`dist/release.json`: one entry for each wheel of the folder.

The dataclasses are the contract: `pjrtwheel.tables` reads and writes them, and `docs/release.schema.json` describes
them to others.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Literal

from pjrtwheel import tables
from pjrtwheel.errors import UsageError, WheelError, fit
from pjrtwheel.files import require_folder
from pjrtwheel.grouping import group
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.record.origin import Origin
from pjrtwheel.record.proofs import ORDER, Level, Outcome, Proof, PythonProof
from pjrtwheel.tables import metadata
from pjrtwheel.wheel.names import VARIANTS_SUFFIX, find_name, make_name
from pjrtwheel.wheel.report import FinishedWheel, Report

RELEASE_FILENAME = "release.json"
SCHEMA: Literal[2] = 2
_UNKNOWN = Origin(None, None, "", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(FinishedWheel):
    """One wheel.

    Attributes:
        distribution: Project name, such as `jaxlib-cpu`.
        version: Version of the wheel.
        tags: Tags of the file name, each by itself, such as `cp312-abi3-manylinux_2_27_x86_64`.
        proof: The strongest proof.
        other_proofs: Those with other backends, and the one that compiled for the most chips.
        built: From which state of the repository it was built; no commit where that was not recorded.
        pjrt_api: Version of the plugin's PJRT API in the strongest proof.
    """

    distribution: str
    version: str
    tags: tuple[str, ...] = field(metadata=metadata(pattern="[^-]+-[^-]+-[^-]+"))
    proof: Proof
    other_proofs: tuple[Proof, ...]
    built: Origin = _UNKNOWN
    pjrt_api: str | None = field(init=False)

    def __post_init__(self) -> None:
        """Repeat the version of the API, where people look for it."""
        object.__setattr__(self, "pjrt_api", self.proof.pjrt_api)

    @property
    def platform(self) -> str:
        """Name of the platform of its tags; `any` for a wheel that is for none in particular."""
        tags = [tag.rpartition("-")[2] for tag in self.tags]
        return next((platform.name for platform in PLATFORMS.values() if any(map(platform.has_tag, tags))), "any")

    @property
    def package(self) -> str:
        """Name of the package that is imported, such as `jaxlib_cpu`."""
        return self.distribution.replace("-", "_")

    @property
    def is_as_named(self) -> bool:
        """Whether its file name is that of a wheel in its own folder, of its project, version and tags."""
        name = find_name(self.filename)
        named = name and (name.distribution, name.version, sorted(map(str, name.tags)))
        return "/" not in self.filename and named == (self.distribution, self.version, sorted(self.tags))

    @property
    def has_library(self) -> bool:
        """Whether the wheel holds libraries, which a provider gave; others are pure Python."""
        return self.provider not in {"", "none"}

    def proofs(self) -> tuple[Proof, ...]:
        """Return all proofs, for each backend that the wheel was proven with, the strongest first."""
        return (self.proof, *self.other_proofs)

    def devices(self) -> dict[str, list[Proof]]:
        """Return what programs ran on → the proofs of that; a host is called by its processor."""
        return group(
            (proof.device or proof.machine.processor, proof)
            for proof in self.proofs()
            if proof.level is Level.DEVICE and proof.machine is not None
        )


@dataclass(frozen=True, slots=True)
class Record:
    """The wheels of a folder, as `release.json` lists them.

    Attributes:
        schema: Version of this format.
        wheels: One entry per wheel, in order of file name.
    """

    schema: Literal[2]
    wheels: tuple[Entry, ...]


def make_entry(report: Report, proof: Proof, built: Origin) -> Entry:
    """Combine what assembly reported, what proving showed, and from what the wheel was built."""
    reported = {shared.name: getattr(report, shared.name) for shared in fields(FinishedWheel)}
    return Entry(
        **reported,
        distribution=report.name.distribution,
        version=report.name.version,
        tags=tuple(sorted(map(str, report.name.tags))),
        proof=proof,
        other_proofs=(),
        built=built,
    )


def name_lists(entries: Iterable[Entry]) -> set[str]:
    """Return the names that the lists of the variants of wheels have (PEP 825), whether there are any or not."""
    return {f"{make_name(entry.distribution, entry.version, '').stem}{VARIANTS_SUFFIX}" for entry in entries}


def add_proofs_to(entry: Entry, proofs: Iterable[Proof]) -> Entry:
    """Return an entry with what further proofs of the same bytes show; see `_choose_proofs`."""
    first, *others = _choose_proofs([*entry.proofs(), *proofs])
    return replace(entry, proof=first, other_proofs=tuple(others))


def merge_entries(old: Mapping[str, Entry], new: Iterable[Entry], present: Iterable[str]) -> dict[str, Entry]:
    """Put new entries over old ones, and forget wheels that are no longer there.

    Evidence about the very same bytes stays, for each backend: bindings are proven with every plugin, and a
    build without proofs shows less of a wheel than one with them. So does that they come from a commit; of several
    commits that give the same bytes, the last one counts.
    """
    merged = dict(old)
    for entry in new:
        before = merged.get(entry.filename)
        same = before is not None and before.sha256 == entry.sha256
        merged[entry.filename] = _add_to(before, entry) if before and same else entry
    return {name: merged[name] for name in sorted(set(present) & set(merged))}


def _add_to(before: Entry, entry: Entry) -> Entry:
    """Return the later of two entries of the same bytes, with what is known by the earlier one."""
    known = (before.built.dirty is False, before.built.commit is not None)
    found = (entry.built.dirty is False, entry.built.commit is not None)
    again = entry.built.commit == before.built.commit
    built = before.built if known > found or (known == found and again) else entry.built
    return replace(add_proofs_to(entry, before.proofs()), built=built)


def require_record(folder: Path) -> Path:
    """Return the path of the `release.json` of a folder that a person named.

    Raises:
        UsageError: There is no such folder, or no such file in it.
    """
    remedy = "build wheels first, such as: ./noxw build_cpu; or give a folder that a build left"
    require_folder(folder, remedy)
    path = folder / RELEASE_FILENAME
    if not path.is_file():
        raise UsageError(f"no such file: {path}", remedy=remedy)
    return path


def read_entries(dist: Path) -> dict[str, Entry]:
    """Return the entries of the `release.json` of a folder by file name; none where there is no such file.

    Keys of a newer version are ignored.

    Raises:
        WheelError: The file is damaged; the message names the key.
    """
    path = dist / RELEASE_FILENAME
    return parse_entries(path.read_bytes(), str(path)) if path.is_file() else {}


def parse_entries(data: bytes, where: str) -> dict[str, Entry]:
    """Return the entries of a `release.json` from somewhere; see `read_entries`."""
    try:
        document = tables.read_json(Record, data, ignore_unknown=True)
    except tables.TableError as error:
        remedy = "restore it from a copy, or remove it and build the wheels again"
        raise WheelError(f"{where} is damaged", cause=str(error), remedy=remedy) from error
    return {entry.filename: entry for entry in document.wheels}


def format_entries(entries: Mapping[str, Entry]) -> str:
    """Return the text of `release.json`: in order of file name, with sorted keys and a final newline."""
    return tables.write_json(Record(SCHEMA, tuple(entries[name] for name in sorted(entries))))


def mixed_locks(entries: Iterable[Entry]) -> tuple[str, ...]:
    """Return the wheels of another set than the bindings of their version and platform, or than the first wheel.

    Installers would take them for each other's, and loaders refuse that. Sets of different versions may share a folder.
    """
    listed = list(entries)
    expected: dict[tuple[str, str], str] = {}
    for entry in sorted(listed, key=lambda entry: entry.distribution != "jaxlib"):
        expected.setdefault((entry.version, entry.platform), entry.lock_id)
    return tuple(entry.filename for entry in listed if expected[entry.version, entry.platform] != entry.lock_id)


def check_sets(entries: Iterable[Entry], place: str) -> None:
    """Raise a `WheelError` that names the wheels which another set has brought to a place, such as a folder."""
    mixed = mixed_locks(entries)
    if mixed:
        raise WheelError(
            f"{place} would mix sets: {fit(mixed)}",
            cause="other wheels of the same version, such as jaxlib, have another lock",
            remedy="build these again, or leave them out",
        )


def _choose_proofs(proofs: Iterable[Proof]) -> list[Proof]:
    """Return the best proofs of one wheel, the strongest first: one with each backend, and none that shows nothing.

    Programs that ran on a device do not take away for which chips others were compiled: both proofs stay then. So do
    one of a real machine next to one of an emulated machine, and one of a Python on which no stronger one ran. Of
    proofs that all show nothing, one is kept.
    """
    # By how much they show, then the later one last.
    ranked = sorted(proofs, key=lambda proof: (_strength(proof), proof.origin.date, tables.write_json(proof)))
    shows = [proof for proof in ranked if proof.level is not ORDER[0] or was_tried(proof) or compiled_chips(proof)]
    useful = shows or ranked[-1:]
    # What a proof can be the best at, with its backend: the last one in rank that claims it stays.
    best: dict[tuple[str | None, str], Proof] = {}
    for proof in useful:
        real = () if proof.emulated else ("on a real machine",)
        for claim in ("all", *real, *(python.python for python in _pythons_tried(proof))):
            best[proof.backend, claim] = proof
    for proof in sorted(useful, key=lambda proof: len(compiled_chips(proof))):
        if compiled_chips(proof):
            best[proof.backend, "compiled for chips"] = proof
    kept: list[Proof] = []
    for proof in reversed(useful):
        if proof in best.values() and proof not in kept:
            kept.append(proof)
    by_name = sorted(kept, key=lambda proof: proof.backend or "")
    return sorted(by_name, key=_strength, reverse=True)


def compiled_chips(proof: Proof) -> list[str]:
    """Return the chips for which code came out ahead of time."""
    return [target.name for target in proof.targets if target.code]


def was_tried(proof: Proof) -> bool:
    """Return whether a program ran for a proof, or was found not to be able to run."""
    return bool(_pythons_tried(proof))


def _strength(proof: Proof) -> tuple[int, bool, int, int, int]:
    """Return how much a proof shows.

    That is the level, then whether on a real machine, on how many Pythons, for how many chips, by how many programs.
    """
    outcomes = [result.outcome for python in proof.pythons for result in python.results]
    passed = outcomes.count(Outcome.PASSED)
    chips = len(compiled_chips(proof))
    return ORDER.index(proof.level), not proof.emulated, len(_pythons_tried(proof)), chips, passed


def _pythons_tried(proof: Proof) -> list[PythonProof]:
    return [python for python in proof.pythons if python.results or python.missed]
