# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Verifying a release as those who receive it, from a folder and from an address; every damage is refused by name."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from package_index import NotingHandler, serve_folder
from pjrtwheel.attest.make import make_release
from pjrtwheel.attest.release_folder import SUMS_FILENAME, format_sums, parse_sums, read_release_folder
from pjrtwheel.attest.signature import format_envelope, load_signer, parse_envelope
from pjrtwheel.attest.statement import SHARED_PINS, STATEMENT_FILENAME, Statement, Subject, parse_statement
from pjrtwheel.attest.verify import _check_wheels, verify_release
from pjrtwheel.cli import main
from pjrtwheel.errors import AttestError
from pjrtwheel.files import hash_file
from pjrtwheel.record.entries import RELEASE_FILENAME, format_entries, read_entries
from pjrtwheel.tables import write_json
from signing_keys import make_key
from small_wheels import rewrite_wheel
from sound_wheels import COMMIT, PLUGIN, TAG

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def release(repository: Path, dist: Path, tmp_path: Path) -> Path:
    """Return the folder of a signed release whose files are linked to nothing else."""
    make_key(tmp_path / "key")
    make_release(repository, TAG, dist, tmp_path / TAG, signer=load_signer(tmp_path / "key"), environ={})
    shutil.rmtree(dist)
    return tmp_path / TAG


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function: arguments of `verify_release` → its exit status, and what it printed."""
    monkeypatch.setenv("PJRTWHEEL_CACHE", str(tmp_path / "cache"))

    def call(*arguments: str | Path) -> tuple[int, str, str]:
        status = main(["verify_release", *map(str, arguments)])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return call


def attest_again(folder: Path, *, key: Path | None = None) -> None:
    """Make statement and checksums fit what is in a folder, as whoever altered a wheel could."""
    entries = {
        name: replace(entry, sha256=hash_file(folder / name), size=(folder / name).stat().st_size)
        for name, entry in read_entries(folder).items()
    }
    (folder / RELEASE_FILENAME).write_text(format_entries(entries), "utf-8")
    digests = {
        path.name: hash_file(path)
        for path in sorted(folder.iterdir())
        if path.name not in {SUMS_FILENAME, STATEMENT_FILENAME}
    }
    statement = replace(
        read_statement(folder), subjects=tuple(Subject(name, {"sha256": digest}) for name, digest in digests.items())
    )
    line = format_envelope(write_json(statement).encode(), load_signer(key) if key else None)
    (folder / STATEMENT_FILENAME).write_bytes(line)
    digests[STATEMENT_FILENAME] = hash_file(folder / STATEMENT_FILENAME)
    (folder / SUMS_FILENAME).write_text(format_sums(digests), "utf-8")


def read_statement(folder: Path) -> Statement:
    """Return the statement of a release, whatever it is about."""
    return parse_statement(parse_envelope((folder / STATEMENT_FILENAME).read_bytes()).payload)


def test_a_sound_release_says_what_is_certain(release: Path, run: Run) -> None:
    """Tag, commit, builder and key are named; nothing is said of a signature that was not looked at."""
    key = release.parent / "key.pub"
    said = (
        f"{TAG}: 4 wheels and 5 documents, as SHA256SUMS and the statement list them\n"
        "every wheel is as its RECORD and lock say\n"
        f"built from commit {COMMIT}\n"
        "built by urn:pjrtwheel:builder:local\n"
    )
    assert run(release, "--key", key, "--tag", TAG) == (0, f"{said}signed by {key}\n", "")
    assert run(release) == (0, f"{said}signature not checked: no --key was given\n", "")


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda folder: _add_line(folder, "../x"), "SHA256SUMS is damaged in line 9"),
        (lambda folder: _add_line(folder, ".."), "SHA256SUMS is damaged in line 9"),
        (lambda folder: _add_line(folder, PLUGIN), "SHA256SUMS is damaged in line 9"),
        (lambda folder: (folder / SUMS_FILENAME).write_bytes(b"\xff"), "SHA256SUMS is damaged in line 1"),
        (lambda folder: _drop(folder, "sbom.cdx.json"), "missing: sbom.cdx.json"),
        (lambda folder: _drop(folder, STATEMENT_FILENAME), f"missing: {STATEMENT_FILENAME}"),
        (lambda folder: _drop(folder, RELEASE_FILENAME), "described otherwise by release.json"),
    ],
)
def test_damage_is_refused(release: Path, run: Run, damage: Callable[[Path], object], words: str) -> None:
    """Whatever was done to the folder, the message says which file it is about."""
    damage(release)
    status, out, err = run(release)
    assert (status, out) == (12, "")
    assert words in err


def _add_line(folder: Path, name: str) -> None:
    with (folder / SUMS_FILENAME).open("a") as file:
        file.write(f"{'0' * 64}  {name}\n")


def _drop(folder: Path, name: str) -> None:
    (folder / name).unlink()
    sums = folder / SUMS_FILENAME
    digests = parse_sums(sums.read_bytes())
    sums.write_text(format_sums({file: digest for file, digest in digests.items() if file != name}), "utf-8")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda name, data: data + b"print()\n" if name.endswith("__init__.py") else data,
            "jaxlib_cpu/__init__.py RECORD says",
        ),
        (
            lambda name, data: data.replace(b"1.2.3+split.1", b"1.2.3+split.2") if name.endswith("METADATA") else data,
            "has version '1.2.3+split.2', the file name says '1.2.3+split.1'",
        ),
        (lambda name, data: None if name.endswith("release_lock.json") else data, "holds no release_lock.json"),
        (lambda name, _: b"{}" if name.endswith("release_lock.json") else b"", "release_lock.json"),
        (
            lambda name, data: data.replace(b'"lock_id": "', b'"lock_id": "0') if name.endswith("lock.json") else data,
            "has the lock 0",
        ),
    ],
)
def test_a_wheel_that_contradicts_itself_is_refused(
    release: Path, run: Run, change: Callable[[str, bytes], bytes | None], words: str
) -> None:
    """Whoever publishes it can make checksums and statement fit, but not its RECORD and its lock at once."""
    rewrite_wheel(release / PLUGIN, change)
    attest_again(release)
    status, out, err = run(release)
    assert (status, out) == (12, "")
    assert words in verify_problems(release)
    assert f"{TAG} is not a sound release" in err


def verify_problems(folder: Path) -> str:
    """Return all that is wrong with a release, in words."""
    return "; ".join(_check_wheels(read_release_folder(folder)))


def test_a_lock_of_other_pins_is_refused(release: Path) -> None:
    """What all wheels share, as attested, gives the lock's id, and so the wheels are made from just these inputs."""
    found = read_release_folder(release)
    definition = found.statement.provenance.definition
    inputs = tuple(
        replace(entry, digest={"sha256": "0" * 64}) if entry.name == SHARED_PINS else entry
        for entry in definition.dependencies
    )
    provenance = replace(found.statement.provenance, definition=replace(definition, dependencies=inputs))
    other = replace(found, statement=replace(found.statement, provenance=provenance))
    ours = [name for name in found.wheels if "auto" not in name]
    problems = [f"the lock of {name} is not of the pins that are attested" for name in ours]
    assert _check_wheels(found) == []
    assert _check_wheels(other) == problems
    none = replace(definition, dependencies=tuple(entry for entry in inputs if entry.name != SHARED_PINS))
    silent = replace(found.statement, provenance=replace(provenance, definition=none))
    assert len(_check_wheels(replace(found, statement=silent))) == len(ours)


@pytest.mark.parametrize("tag", [f"v9.9-{TAG}", f"{TAG}+2", TAG.removeprefix("v"), f"{TAG}\nsigned by key.pub"])
def test_the_tag_is_that_of_the_wheels(release: Path, tag: str) -> None:
    """Whatever the statement says: their version in it is not enough."""
    found = read_release_folder(release)
    definition = found.statement.provenance.definition
    renamed = replace(definition, parameters=replace(definition.parameters, tag=tag))
    statement = replace(found.statement, provenance=replace(found.statement.provenance, definition=renamed))
    with pytest.raises(AttestError) as caught:
        verify_release(replace(found, statement=statement), documents_only=True)
    assert caught.value.cause.endswith(f"that of its wheels {TAG}")


def test_key_and_tag_decide(release: Path, run: Run) -> None:
    """Another key, no signature, a statement that somebody else signed; and a sound release, but an older one."""
    assert run(release, "--tag", "v1.2.4")[0] == 12
    folder = release.parent
    make_key(folder / "other")
    assert run(release, "--key", folder / "other.pub")[0] == 12
    attest_again(release, key=folder / "other")
    assert run(release, "--key", folder / "other.pub")[0] == 0
    assert run(release, "--key", folder / "key.pub")[0] == 12
    attest_again(release)
    assert run(release, "--key", folder / "key.pub")[0] == 12


def test_a_folder_without_a_release_is_the_users_mistake(tmp_path: Path, run: Run) -> None:
    """So is one that is not there, a file, or an address of another kind."""
    (tmp_path / "file").touch()
    for place in (tmp_path, tmp_path / "none", tmp_path / "file", "ftp://example.org/v1"):
        status, out, err = run(place)
        assert (status, out, str(place) in err) == (2, "", True)


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Return the address of a server on loopback, below which the folders of this test are."""
    NotingHandler.asked.clear()
    with serve_folder(tmp_path, NotingHandler) as address:
        yield address.rstrip("/")


def test_an_address_is_as_good_as_a_folder(release: Path, run: Run, address: str) -> None:
    """Wheels are downloaded once and kept by hash; the plus sign in names is quoted."""
    first = run(f"{address}/{TAG}", "--key", release.parent / "key.pub")
    assert (first[0], first[1].splitlines()[0].startswith(f"{TAG}: 4 wheels")) == (0, True)
    asked = [path for path in NotingHandler.asked if path.endswith(".whl")]
    assert len(asked) == 4
    assert all("%2B" in path for path in asked)
    NotingHandler.asked.clear()
    assert run(f"{address}/{TAG}/{SUMS_FILENAME}", "--key", release.parent / "key.pub") == first
    assert [path for path in NotingHandler.asked if path.endswith(".whl")] == []
    assert run((release.as_uri()), "--key", release.parent / "key.pub") == first


def test_documents_alone_are_verified_without_a_wheel(release: Path, run: Run, address: str) -> None:
    """What is said then does not pretend more."""
    status, out, _ = run(f"{address}/{TAG}/", "--documents-only")
    assert (status, out.splitlines()[1]) == (0, "the documents alone were verified, and no wheel")
    assert [path for path in NotingHandler.asked if path.endswith(".whl")] == []
    for wheel in release.glob("*.whl"):
        wheel.unlink()
    assert run(release, "--documents-only") == (status, out, "")


def test_a_release_is_found_by_its_tag_below_an_index(release: Path, run: Run, address: str) -> None:
    """A static index of several releases has the files of each in a folder of its own."""
    place = release.parent / "site" / "files" / TAG
    place.parent.mkdir(parents=True)
    release.rename(place)
    assert run(f"{address}/site/", "--tag", TAG)[0] == 0
    status, _, err = run(f"{address}/site/")
    assert (status, f"cannot read {address}/site/SHA256SUMS" in err, "404" in err) == (4, True, True)


@pytest.mark.parametrize(
    ("name", "status", "words"),
    [(PLUGIN, 4, "bytes, pinned are"), ("sbom.cdx.json", 12, "is not the file that SHA256SUMS lists")],
)
def test_a_server_that_lies_is_refused(
    release: Path, run: Run, address: str, name: str, status: int, words: str
) -> None:
    """Nothing that it sent stays in the cache."""
    (release / name).write_bytes(b"something else")
    found = run(f"{address}/{TAG}")
    assert (found[0], words in found[2]) == (status, True)
    digest = parse_sums((release / SUMS_FILENAME).read_bytes())[name]
    assert not list((release.parent / "cache").glob(f"wheels/{digest}/*"))


def test_a_hostile_digest_reaches_no_path(release: Path, run: Run, address: str) -> None:
    """The digest in release.json is a path in the cache only if SHA256SUMS has the same."""
    document = release / RELEASE_FILENAME
    before = hash_file(document)
    digest = hash_file(release / PLUGIN)
    document.write_text(document.read_text("utf-8").replace(digest, "../../evil"), "utf-8")
    sums = release / SUMS_FILENAME
    sums.write_text(sums.read_text("utf-8").replace(before, hash_file(document)), "utf-8")
    status, _, err = run(f"{address}/{TAG}")
    assert (status, f"missing: {PLUGIN}" in err) == (12, True)
    assert not list(release.parent.rglob("*evil*"))


def test_a_server_that_is_down_is_named(release: Path, run: Run) -> None:
    """The address is the user's, the message names it."""
    for place in ("http://127.0.0.1:9/none", (release / "none").as_uri()):
        status, _, err = run(place)
        assert (status, "none/SHA256SUMS" in err) == (4, True)
