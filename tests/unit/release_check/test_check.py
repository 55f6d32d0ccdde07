# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A release that is whole passes; whatever is wrong with one is found, with everything else that is."""

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from console_blocks import alike, shown
from pjrtwheel.backend import load_backends
from pjrtwheel.cli import main
from pjrtwheel.errors import UsageError, WheelError
from pjrtwheel.products.auto import list_filename, release_document
from pjrtwheel.products.variants import make_variants
from pjrtwheel.publish.destinations import Destination, DestinationKind
from pjrtwheel.record.proofs import Level, Outcome, ProgramResult, PythonProof
from pjrtwheel.release.known import load_release
from pjrtwheel.release_check.check import NOT_YET, check_release
from release_entries import origin_of, proof_of
from tagged_repository import (
    ALONE,
    BINDINGS,
    PLUGIN,
    SELECTOR,
    TAG,
    TOOLING,
    VERSION,
    TaggedRepository,
    make_tagged_repository,
)

Change = Callable[[TaggedRepository], object]


@pytest.fixture
def small(tmp_path: Path) -> TaggedRepository:
    """Return a release with which nothing is wrong."""
    return make_tagged_repository(tmp_path)


def find(small: TaggedRepository, tag: str = TAG, destination: Destination | None = None) -> list[tuple[str, str]]:
    """Return kind and text of every problem."""
    outcome = check_release(small.root, tag, small.dist, destination)
    return [(problem.kind.name, problem.text) for problem in outcome.problems]


def assert_found(found: list[tuple[str, str]], *expected: tuple[str, str]) -> None:
    """Compare problems with kinds, and with values that they have to name."""
    assert [kind for kind, _ in found] == [kind for kind, _ in expected]
    assert [(text, part) for (_, text), (_, part) in zip(found, expected, strict=True) if part not in text] == []


def write_list(small: TaggedRepository) -> Path:
    """Write the list of the variants that `jaxlib-auto` has in this release, as `build_auto` does."""
    entries = [entry for entry in small.entries().values() if entry.distribution != "jaxlib-auto"]
    release = load_release(small.root, VERSION.partition("+")[0])
    variants = make_variants(load_backends(small.root).values(), entries, release)
    path = small.dist / list_filename(VERSION)
    path.write_text(release_document(variants), "utf-8")
    return path


def test_a_whole_release_passes_with_one_line(small: TaggedRepository, capsys: pytest.CaptureFixture[str]) -> None:
    """With its wheels, their size and levels, and the programs that failed as expected."""
    fails = ProgramResult("fft", Outcome.EXPECTED, Level.DEVICE, 1.0, "the chip has no doubles")
    proof = small.entries()[PLUGIN].proof
    small.change(
        PLUGIN, proof=replace(proof, pythons=(replace(proof.pythons[0], results=(*proof.pythons[0].results, fails)),))
    )
    size = sum(entry.size for entry in small.entries().values()) / 1e6
    assert main(["release_check", "--tag", TAG, "--root", str(small.root), "--dist", str(small.dist)]) == 0
    line = f"{TAG}: 3 wheels, {size:.1f} MB, 2 device, 1 load, 1 program failed as expected: fft\n"
    assert capsys.readouterr().out.startswith(line)


def test_the_line_names_waivers_and_the_destination(
    small: TaggedRepository, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the release guide shows it."""
    shutil.copy(root / "releases/destinations.toml", small.root / "releases")
    now = datetime.now(UTC).date()
    rest = f'reason = "it is at home"\ndate = "{now}"\nuntil = "{now}"\n'
    with (small.root / "releases/policy.toml").open("a", encoding="utf-8") as policy:
        policy.write(f'[[waiver]]\nwheel = "jaxlib-abacus"\nlevel = "aot"\n{rest}')
        policy.write(f'[[waiver]]\nwheel = "jaxlib"\nplatforms = ["macos_arm64"]\nlevel = "static"\n{rest}')
    small.commit()
    for name, level in {BINDINGS: Level.DEVICE, PLUGIN: Level.AOT, ALONE: Level.STATIC}.items():
        prove(small, name, level)
    command = ["release_check", "--tag", TAG, "--root", str(small.root), "--dist", str(small.dist), "--to", "github"]
    assert main(command) == 0, capsys.readouterr().err
    page = shown(root / "docs/release/publish.md", "./noxw release_check --tag")
    assert alike(page, capsys.readouterr().out.strip())


def lose(small: TaggedRepository, name: str) -> None:
    """Remove a wheel and its entry."""
    (small.dist / name).unlink()
    small.forget(name)


def replace_with(small: TaggedRepository, name: str, other: str) -> None:
    """Put another wheel under a name, and describe it as its bytes, as whoever hides that would."""
    data = (small.dist / other).read_bytes()
    (small.dist / name).write_bytes(data)
    small.change(name, sha256=hashlib.sha256(data).hexdigest(), size=len(data))


def prove(small: TaggedRepository, name: str, level: Level) -> None:
    """Leave a wheel with a proof of some level."""
    small.change(name, proof=proof_of(level, small.git("rev-parse", "HEAD")))


def fail_elsewhere(small: TaggedRepository) -> None:
    """Add a Python to the proof of the plugin on which a program failed, as `build --keep` records it."""
    proof = small.entries()[PLUGIN].proof
    failed = ProgramResult("fft", Outcome.FAILED, Level.DEVICE, 1.0, "wrong result")
    small.change(PLUGIN, proof=replace(proof, pythons=(*proof.pythons, PythonProof("cp313", "3.13.1", (failed,), ""))))


def hide_untracked(small: TaggedRepository, path: str) -> None:
    """Add a file, and have git not list such ones."""
    small.git("config", "status.showUntrackedFiles", "no")
    small.write(path, "")


SOROBAN = f"jaxlib_soroban-{VERSION}-cp312-abi3-manylinux_2_27_x86_64.whl"
OTHER = "other-1-py3-none-any.whl"
CHANGES: dict[str, tuple[Change, list[tuple[str, str]]]] = {
    "a missing file": (lambda small: (small.dist / PLUGIN).unlink(), [("MISSING", PLUGIN)]),
    "a file that is not listed": (lambda small: small.forget(PLUGIN), [("MISSING", PLUGIN)]),
    "a file too many": (lambda small: small.add_wheel(SOROBAN), [("UNLISTED", SOROBAN)]),
    "an unlisted file": (lambda small: (small.dist / OTHER).write_bytes(b"zip"), [("UNLISTED", OTHER)]),
    "a renamed file": (
        lambda small: (small.dist / PLUGIN).rename(small.dist / OTHER),
        [("MISSING", PLUGIN), ("UNLISTED", OTHER)],
    ),
    "a file under the name of another": (lambda small: replace_with(small, PLUGIN, BINDINGS), [("ALTERED", PLUGIN)]),
    "an entry of another file": (
        lambda small: small.change(BINDINGS, tags=("cp313-cp313-manylinux_2_27_x86_64",)),
        [("ALTERED", BINDINGS)],
    ),
    "an altered file": (lambda small: (small.dist / PLUGIN).write_bytes(b"zip"), [("ALTERED", PLUGIN)]),
    "another lock": (
        lambda small: small.add_wheel(
            PLUGIN, Level.DEVICE, lock=replace(small.lock(), lock_id="ff" * 16), provider="prebuilt"
        ),
        [("LOCK", f"{PLUGIN}: lock ffffffff")],
    ),
    "two locks": (
        lambda small: small.add_wheel(ALONE, Level.DEVICE, lock=small.lock("source"), provider="source"),
        [("LOCK", f"{BINDINGS} and 1 more: lock "), ("LOCK", f"{ALONE}: lock ")],
    ),
    "no lock inside": (
        lambda small: small.change(small.add_wheel(PLUGIN, Level.DEVICE).filename, lock_id=small.lock().lock_id),
        [("ALTERED", f"{PLUGIN} carries no lock")],
    ),
    "a dirty tree": (lambda small: small.write("CHANGELOG.md", "JAX 1.2.3\n"), [("TREE", "CHANGELOG.md")]),
    "an untracked file that git hides": (
        lambda small: hide_untracked(small, "plugins/new.py"),
        [("TREE", "plugins/new.py")],
    ),
    "an index that git cannot read": (
        lambda small: (small.root / ".git/index").write_bytes(b"damaged"),
        [("TREE", "")],
    ),
    "a tag on another commit": (lambda small: small.commit(tag="other"), [("TREE", f"tag {TAG} is on ")]),
    "no tag": (lambda small: small.git("tag", "--delete", TAG), [("TAG", TAG)]),
    "a program that failed on one Python": (
        fail_elsewhere,
        [("LEVEL", f"{PLUGIN}: static"), ("ORIGIN", "fft failed on cp313")],
    ),
    "a proof of less": (lambda small: prove(small, PLUGIN, Level.AOT), [("LEVEL", f"{PLUGIN}: aot, where device")]),
}


@pytest.mark.parametrize(("change", "expected"), CHANGES.values(), ids=CHANGES)
def test_each_fault_is_found(small: TaggedRepository, change: Change, expected: list[tuple[str, str]]) -> None:
    """By itself, and nothing else is said to be wrong."""
    change(small)
    assert_found(find(small), *expected)


def test_of_a_wrong_tag_nothing_else_is_judged(small: TaggedRepository, capsys: pytest.CaptureFixture[str]) -> None:
    """All else would be about another release than the one that is there, and have another status."""
    (small.dist / PLUGIN).unlink()
    for tag in ("v1.2.3+split.2", "v9.9.9"):
        ((kind, text),) = find(small, tag)
        assert (kind, tag in text) == ("TAG", True)
    command = ["release_check", "--tag", "v1.2.3", "--root", str(small.root), "--dist", str(small.dist)]
    assert (main(command), len(capsys.readouterr().err.splitlines())) == (NOT_YET, 3)


def test_outside_git_nothing_can_be_known(small: TaggedRepository) -> None:
    """Neither the commit nor whether the proofs are of it."""
    (small.root / ".git").rename(small.root.parent / "gone")
    assert [kind for kind, _ in find(small)] == ["TREE", *["LEVEL"] * 3, "BUILT", "ORIGIN"]


def test_a_changelog_without_the_release_is_found(small: TaggedRepository) -> None:
    """A longer version is another one."""
    small.write("CHANGELOG.md", "- JAX 1.2.3.4 and 11.2.3 and 1.2.3+split.10\n")
    small.commit()
    assert [kind for kind, _ in find(small)] == ["CHANGELOG"]


def test_a_second_set_needs_an_entry_of_its_own(small: TaggedRepository) -> None:
    """The release was named for the first one."""
    inputs = small.root / "releases/1.2.3.toml"
    inputs.write_text(inputs.read_text("utf-8").replace("build = 1", "build = 2"), "utf-8")
    release = load_release(small.root, "1.2.3")
    tag = f"v{release.set_version}"
    small.commit(tag=tag)
    assert "CHANGELOG" in {kind for kind, _ in find(small, tag)}
    small.write("CHANGELOG.md", "- JAX 1.2.3+split.2: beads are round.\n")
    small.commit(tag=tag)
    assert "CHANGELOG" not in {kind for kind, _ in find(small, tag)}


@pytest.mark.parametrize(
    ("commit", "origin", "fault"),
    [("own", {"dirty": True}, "uncommitted"), ("0" * 40, {}, "0" * 12), (None, {}, "no commit")],
)
def test_a_proof_from_elsewhere_does_not_count(
    small: TaggedRepository, commit: str | None, origin: dict[str, Any], fault: str
) -> None:
    """It is a problem by itself, and the wheel has shown nothing."""
    at = small.git("rev-parse", "HEAD") if commit == "own" else commit
    small.change(PLUGIN, proof=proof_of(Level.DEVICE, at, **origin))
    assert_found(find(small), ("LEVEL", f"{PLUGIN}: static"), ("ORIGIN", fault))
    small.change(PLUGIN, proof=replace(proof_of(Level.DEVICE, small.git("rev-parse", "HEAD")), pythons=()))
    assert_found(find(small), ("LEVEL", f"{PLUGIN}: static"), ("ORIGIN", PLUGIN))  # nothing shows the level


@pytest.mark.parametrize(
    ("commit", "dirty", "faults"),
    [
        (None, None, ["no commit"]),
        ("0" * 40, False, ["0" * 12, "2 commits"]),
        ("own", True, ["uncommitted"]),
        ("earlier", False, ["2 commits"]),
    ],
)
def test_all_wheels_have_to_be_built_from_one_commit_of_the_release(
    small: TaggedRepository, commit: str | None, *, dirty: bool | None, faults: list[str]
) -> None:
    """Otherwise nobody could build them again, and `attest` would refuse them; a proof of an earlier commit counts."""
    earlier = small.git("rev-parse", "HEAD")
    head = small.commit()
    for name in small.entries():
        small.change(name, built=origin_of(head))
    assert find(small) == []
    at = {"own": head, "earlier": earlier}.get(commit, commit) if commit else None
    small.change(PLUGIN, built=replace(origin_of(at), dirty=dirty))
    assert_found(find(small), *(("BUILT", fault) for fault in faults))


def test_other_releases_may_share_the_folder(small: TaggedRepository) -> None:
    """What is wrong with them is theirs."""
    small.add_wheel("jaxlib-1.1+split.1-cp312-cp312-manylinux_2_27_x86_64.whl")
    small.add_wheel(SELECTOR)
    assert find(small) == []


def test_all_wheels_of_the_automatic_choice_have_to_be_there(small: TaggedRepository) -> None:
    """If any is, with the list of them; a stale one is a problem."""
    lock = small.lock()
    small.add_wheel(f"jaxlib_auto-{VERSION}-py3-none-any-stale.whl", lock=lock)
    assert_found(
        find(small),
        ("MISSING", f"jaxlib_auto-{VERSION}-variants.json"),
        ("MISSING", f"jaxlib_auto-{VERSION}-py3-none-any-null.whl"),
        ("MISSING", f"jaxlib_auto-{VERSION}-py3-none-any.whl"),
        ("UNLISTED", f"jaxlib_auto-{VERSION}-py3-none-any-stale.whl"),
    )
    lose(small, f"jaxlib_auto-{VERSION}-py3-none-any-stale.whl")
    for label in ("", "-null"):  # without a lock inside, as they are made
        small.change(small.add_wheel(f"jaxlib_auto-{VERSION}-py3-none-any{label}.whl").filename, lock_id=lock.lock_id)
    write_list(small)
    assert find(small) == []


@pytest.mark.parametrize("text", ["{}", '{"providers": {"other": {"requires": ["other"]}}}', None])
def test_the_list_of_variants_has_to_follow_from_the_wheels(small: TaggedRepository, text: str | None) -> None:
    """By it, installers decide which wheel they take, and what they run before that."""
    for label in ("", "-null"):
        small.add_wheel(f"jaxlib_auto-{VERSION}-py3-none-any{label}.whl", lock=small.lock())
    path = write_list(small)
    path.write_text(path.read_text("utf-8")[:-1] if text is None else text, "utf-8")
    assert_found(find(small), ("ALTERED", path.name))


def test_a_destination_is_held_to_what_is_published_there(small: TaggedRepository) -> None:
    """All documents of the release, which are not in the folder yet; no variants where none are taken."""
    write_list(small)
    for label in ("", "-null"):
        small.add_wheel(f"jaxlib_auto-{VERSION}-py3-none-any{label}.whl", lock=small.lock())
    documents = ("variants.json", "sbom.cdx.json", "provenance.intoto.jsonl", "release.json", "SHA256SUMS")
    place = Destination(DestinationKind.FOLDER, "small", "takes few files", file_count=8 + len(documents))
    assert find(small, destination=place) == []
    assert_found(find(small, destination=replace(place, variants=True)), ("DESTINATION", "has 15"))
    assert_found(find(small, destination=replace(place, documents=False, file_count=3)), ("DESTINATION", "has 8"))


@pytest.mark.parametrize(("command", "wheel"), [("select", SELECTOR), ("tooling", TOOLING)])
def test_what_belongs_to_no_release_of_jax_has_one_of_its_own(
    small: TaggedRepository, command: str, wheel: str
) -> None:
    """One wheel, and no demand on it that its destination cannot meet."""
    tag = f"{command}-v0.1.0"
    small.git("tag", tag)
    assert_found(find(small, tag), ("MISSING", wheel))
    small.add_wheel(wheel)
    assert find(small, tag) == []
    assert [kind for kind, _ in find(small, f"{command}-v0.2.0")] == ["TAG"]


def test_what_the_selector_asks_for_has_to_be_where_it_is_published(small: TaggedRepository) -> None:
    """Versions with a label are not on an index that takes none; elsewhere they may be."""
    tag = "select-v0.1.0"
    backend = {"name": "a", "distribution": "jaxlib-a", "version": VERSION, "family": "a", "tags": {}, "variants": {}}
    facts = json.dumps({"schema": 1, "release": "1.2.3", "backends": [backend]})
    small.write("selector/jaxlib_select/facts/1.2.3.json", facts)
    small.commit(tag=tag)
    small.add_wheel(SELECTOR)
    public = Destination(DestinationKind.UPLOAD_API, "public", "takes no labels", labels=False)
    assert_found(find(small, tag, public), ("DESTINATION", f"jaxlib-a=={VERSION}"))
    assert find(small, tag) == []


def test_problems_of_a_kind_are_listed_together(small: TaggedRepository, capsys: pytest.CaptureFixture[str]) -> None:
    """With the fix."""
    command = ["release_check", "--tag", TAG, "--root", str(small.root), "--dist", str(small.dist)]
    (small.dist / PLUGIN).unlink()
    (small.dist / ALONE).unlink()
    assert main(command) == NOT_YET
    printed = capsys.readouterr()
    assert (len(printed.err.splitlines()), printed.out) == (4, "")


def test_a_folder_that_cannot_be_read_is_an_error(small: TaggedRepository) -> None:
    """Not a problem of the release."""
    with pytest.raises(UsageError, match=r"no such folder: .*/other"):
        check_release(small.root, TAG, small.dist / "other")
    (small.dist / "release.json").write_text("{}")
    with pytest.raises(WheelError, match="is damaged"):
        check_release(small.root, TAG, small.dist)
