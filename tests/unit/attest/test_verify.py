# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Verifying a release as those who receive it, from a folder and from an address; every damage is refused by name."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from package_index import NotingHandler, serve_folder
from pjrtwheel.attest.make import make_release
from pjrtwheel.attest.release_folder import (
    SIGNATURE_FILENAME,
    SUMS_FILENAME,
    format_sums,
    parse_sums,
    read_release_folder,
)
from pjrtwheel.attest.signature import format_envelope, load_public_key, load_signer, parse_envelope
from pjrtwheel.attest.statement import (
    BOM_FILENAME,
    SHARED_PINS,
    STATEMENT_FILENAME,
    Statement,
    Subject,
    parse_statement,
)
from pjrtwheel.attest.verify import _check_wheels, verify_release
from pjrtwheel.cli import main
from pjrtwheel.errors import AttestError
from pjrtwheel.files import hash_file
from pjrtwheel.record.entries import RELEASE_FILENAME, format_entries, read_entries
from pjrtwheel.tables import write_json
from signing_keys import make_key
from small_wheels import rewrite_wheel
from sound_wheels import COMMIT, ORIGIN, PLUGIN, TAG, WHEELS

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def release(repository: Path, dist: Path, tmp_path: Path) -> Path:
    """Return the folder of a signed release whose files are linked to nothing else."""
    make_key(tmp_path / "key")
    signer = load_signer(tmp_path / "key")
    make_release(repository, TAG, dist, tmp_path / TAG, signer=signer, locks=False, environ={})
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


def attest_again(
    folder: Path, *, key: Path | None = None, entries: bool = True, statement: bytes | None = None
) -> None:
    """Make statement and checksums fit what is in a folder, as whoever altered a wheel could.

    Args:
        folder: The release.
        key: The key that signs the statement.
        entries: Whether `release.json` is made to fit as well.
        statement: The statement, whatever it is about.
    """
    (folder / SIGNATURE_FILENAME).unlink(missing_ok=True)
    found = {
        name: replace(entry, sha256=hash_file(folder / name), size=(folder / name).stat().st_size)
        for name, entry in read_entries(folder).items()
    }
    if entries:
        (folder / RELEASE_FILENAME).write_text(format_entries(found), "utf-8")
    digests = {
        path.name: hash_file(path)
        for path in sorted(folder.iterdir())
        if path.name not in {SUMS_FILENAME, STATEMENT_FILENAME}
    }
    subjects = tuple(Subject(name, {"sha256": digest}) for name, digest in digests.items())
    payload = statement or write_json(replace(read_statement(folder), subjects=subjects)).encode()
    line = format_envelope(payload, load_signer(key) if key else None)
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
        f"{TAG}: 4 wheels and 6 documents, as SHA256SUMS and the statement list them\n"
        "every wheel is as its RECORD and lock say\n"
        f"built from commit {COMMIT}\n"
        "built by urn:pjrtwheel:builder:local\n"
    )
    assert run(release, "--key", key, "--tag", TAG) == (0, f"{said}signed by {key}\n", "")
    status, out, err = run(release)
    assert (status, out, "nobody knows who made it" in err) == (14, said, True)
    found = json.loads(run(release, "--key", key, "--tag", TAG, "--json")[1])
    assert found == {
        "schema": 1,
        "tag": TAG,
        "commit": COMMIT,
        "builder": "urn:pjrtwheel:builder:local",
        "date": ORIGIN.date,
        "wheels": WHEELS,
        "documents": list(read_release_folder(release).documents),
        "opened": True,
        "key": load_public_key(key).keyid,
        "listing": None,
    }
    assert json.loads(run(release, "--json", "--documents-only")[1]) == {**found, "key": "", "opened": False}


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda folder: _add_line(folder, "../x"), "SHA256SUMS is damaged in line 9"),
        (lambda folder: _add_line(folder, "jaxlib_cpu-1.2.3-py3-none-\u0430ny.whl"), "SHA256SUMS is damaged in line 9"),
        (lambda folder: _edit_sums(folder, lambda text: text.replace("\n", "\r\n")), "SHA256SUMS is damaged in line 1"),
        (lambda folder: _edit_sums(folder, lambda text: text.rstrip()), "SHA256SUMS is damaged in line 8"),
        (
            lambda folder: _edit_sums(folder, lambda text: text.replace("\n", "\x85", 1)),
            "SHA256SUMS is damaged in line 1",
        ),
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


def lock_of(name: str, **wheel: Any) -> bytes:
    """Return a lock with one package, which is a wheel or the folder of the lock."""
    package = {"name": name, **({"wheels": [wheel]} if wheel else {"directory": {"path": "."}})}
    return tomli_w.dumps({"lock-version": "1.0", "created-by": "me", "packages": [package]}).encode()


@pytest.mark.parametrize("name", ["jaxlib-1.2.3+split.1.tar.gz", "setup.py", "pylock.toml", "pylock.a.b.toml"])
def test_only_files_that_a_release_has_are_accepted(release: Path, run: Run, name: str) -> None:
    """Whoever publishes it could list any other, which installers may then find next to the wheels."""
    (release / name).touch()
    attest_again(release)
    status, out, err = run(release)
    assert (status, out, f"no file of a release: {name}" in err) == (12, "", True)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        (BOM_FILENAME, b"\x1b[2J not json \xff"),
        (BOM_FILENAME, b'{"components": 1}'),
        (BOM_FILENAME, b'{"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1}'),
        ("pylock.cpu.toml", b"\xff\xfe"),
        ("pylock.cpu.toml", lock_of("jax", url="file:///jax.whl", hashes={"sha256": "0"})),
        ("pylock.cpu.toml", lock_of("jax", url="https://example.org/jax.whl", hashes={"md5": "0"})),
        ("pylock.cpu.toml", lock_of("jax")),
        ("pylock.cpu.toml", lock_of("jaxlib", url="https://example.org/jaxlib.whl", hashes={"sha256": "0"})),
        ("pylock.cpu.toml", lock_of("jaxlib-cpu", path=PLUGIN, hashes={"sha256": "0"})),
    ],
)
def test_lock_and_bill_of_materials_are_about_these_wheels(release: Path, run: Run, name: str, data: bytes) -> None:
    """Whoever signs the release signs them as well, and an installer believes the lock."""
    (release / name).write_bytes(data)
    attest_again(release)
    status, out, err = run(release)
    assert (status, out, name in err) == (12, "", True)


def test_sizes_are_those_of_the_files(release: Path, run: Run) -> None:
    """An index and a server of downloads believe what `release.json` says."""
    text = (release / RELEASE_FILENAME).read_text("utf-8")
    size = f'"size": {(release / PLUGIN).stat().st_size}'
    (release / RELEASE_FILENAME).write_text(text.replace(size, f"{size}0"), "utf-8")
    attest_again(release, entries=False)
    assert f"described otherwise by release.json: {PLUGIN}" in run(release)[2]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("tag", f"{TAG}\nsigned by key.pub"),
        ("tag", f"{TAG}\x1b[2K"),
        ("set", "1.2.3 "),
        ("distribution", "jaxlib\u202ecpu"),
        ("id", "urn:pjrtwheel:builder:local\nsigned by key.pub"),
        ("gitCommit", "main"),
        ("finishedOn", "yesterday"),
        ("finishedOn", "\ud800"),
        ("finishedOn", "\u0662026-11-20T10:00:00Z"),
        ("name", "repository\nsigned by key.pub"),
        ("name", " jaxlib.whl"),
    ],
)
def test_every_printed_field_of_a_statement_has_a_form(release: Path, run: Run, key: str, value: str) -> None:
    """What a terminal obeys, and what reads as another line, gets neither into the output nor into JSON."""
    statement = parse_envelope((release / STATEMENT_FILENAME).read_bytes()).payload.decode()
    altered = re.sub(f'"{key}": "[^"]*"', lambda _: f'"{key}": {json.dumps(value)}', statement, count=1)
    assert altered != statement
    attest_again(release, statement=altered.encode())
    status, out, err = run(release)
    assert (status, out, f"{key}: " in err) == (12, "", True)
    assert all(line.isprintable() and not line.startswith("signed by") for line in err.splitlines())


@pytest.mark.parametrize("text", ['{"payload": 1, "payload": 2}', '{"a": NaN}', "[" * 9999])
def test_json_that_readers_take_differently_is_refused(release: Path, run: Run, text: str) -> None:
    """Keys that occur twice, and what only Python reads; and other encodings than UTF-8."""
    for data in (text.encode(), b"\xef\xbb\xbf" + text.encode(), text.encode("utf-16")):
        (release / STATEMENT_FILENAME).write_bytes(data)
        sums = parse_sums((release / SUMS_FILENAME).read_bytes())
        sums[STATEMENT_FILENAME] = hash_file(release / STATEMENT_FILENAME)
        (release / SUMS_FILENAME).write_text(format_sums(sums), "utf-8")
        status, out, err = run(release)
        assert (status, out, f"{STATEMENT_FILENAME} is damaged" in err) == (12, "", True)


def test_openssl_checks_the_signature_of_the_sums(release: Path, run: Run) -> None:
    """So nothing of ours is needed; and with a key, we look at it as well."""
    command = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", "../key.pub", "-rawin", "-in", SUMS_FILENAME]
    command += ["-sigfile", SIGNATURE_FILENAME]
    subprocess.run(command, cwd=release, check=True, capture_output=True)
    (release / SIGNATURE_FILENAME).write_bytes(bytes(64))
    status, _, err = run(release, "--key", release.parent / "key.pub", "--tag", TAG)
    assert (status, f"{SIGNATURE_FILENAME} is no signature by this key" in err) == (12, True)


def _edit_sums(folder: Path, edit: Callable[[str], str]) -> None:
    sums = folder / SUMS_FILENAME
    sums.write_bytes(edit(sums.read_text("utf-8")).encode())


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
    by_other, by_key = (("--tag", TAG, "--key", folder / name) for name in ("other.pub", "key.pub"))
    assert run(release, *by_other)[0] == 12
    attest_again(release, key=folder / "other")
    assert run(release, *by_other)[0] == 0
    assert run(release, *by_key)[0] == 12
    attest_again(release)
    assert run(release, *by_key)[0] == 12


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
    expected = ("--key", release.parent / "key.pub", "--tag", TAG)
    first = run(f"{address}/{TAG}", *expected)
    assert (first[0], first[1].splitlines()[0].startswith(f"{TAG}: 4 wheels")) == (0, True)
    asked = [path for path in NotingHandler.asked if path.endswith(".whl")]
    assert len(asked) == 4
    assert all("%2B" in path for path in asked)
    NotingHandler.asked.clear()
    assert run(f"{address}/{TAG}/{SUMS_FILENAME}", *expected) == first
    assert [path for path in NotingHandler.asked if path.endswith(".whl")] == []
    assert run((release.as_uri()), *expected) == first


def test_documents_alone_are_verified_without_a_wheel(release: Path, run: Run, address: str) -> None:
    """What is said then does not pretend more."""
    status, out, err = run(f"{address}/{TAG}/", "--documents-only")
    assert (status, out.splitlines()[1]) == (14, "the documents alone were verified, and no wheel")
    assert [path for path in NotingHandler.asked if path.endswith(".whl")] == []
    for wheel in release.glob("*.whl"):
        wheel.unlink()
    assert run(release, "--documents-only") == (status, out, err)


def test_a_release_is_found_by_its_tag_below_an_index(release: Path, run: Run, address: str) -> None:
    """A static index of several releases has the files of each in a folder of its own."""
    place = release.parent / "site" / "files" / TAG
    place.parent.mkdir(parents=True)
    release.rename(place)
    assert run(f"{address}/site/", "--tag", TAG)[0] == 14
    status, _, err = run(f"{address}/site/")
    assert (status, f"cannot read {address}/site/SHA256SUMS" in err, "404" in err) == (4, True, True)


@pytest.mark.parametrize(
    ("name", "status", "words"),
    [(PLUGIN, 4, "has 14 bytes and the sha256 "), ("sbom.cdx.json", 12, "is not the file that SHA256SUMS lists")],
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
    assert (status, "release.json is damaged" in err) == (12, True)
    assert not list(release.parent.rglob("*evil*"))


def test_a_server_that_is_down_is_named(release: Path, run: Run) -> None:
    """The address is the user's, the message names it."""
    for place in ("http://127.0.0.1:9/none", (release / "none").as_uri()):
        status, _, err = run(place)
        assert (status, "none/SHA256SUMS" in err) == (4, True)
