# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The documents of a release: statement, envelope and bill of materials, whole and damaged."""

from __future__ import annotations

import base64
import json
import random
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.attest.bom import BOM_FILENAME, check_bom
from pjrtwheel.attest.checksums import SUMS_FILENAME, parse_sums
from pjrtwheel.attest.envelope import (
    check_signature,
    format_envelope,
    load_public_key,
    load_signer,
    make_key,
    parse_envelope,
)
from pjrtwheel.attest.make import make_release
from pjrtwheel.attest.release_folder import ReleaseFolder, check_commit, read_release_folder
from pjrtwheel.attest.release_set import find_release_set
from pjrtwheel.attest.statement import STATEMENT_FILENAME, format_statement, parse_statement
from pjrtwheel.attest.write import write_release_folder
from pjrtwheel.errors import AttestError, UsageError
from pjrtwheel.files import hash_file
from pjrtwheel.record.entries import RELEASE_FILENAME, format_entries, read_entries
from pjrtwheel.record.proofs import Level, Proof
from pjrtwheel.wheel.archive import ArchiveWriter, timestamp
from pjrtwheel.wheel.compress import Compression, find_compression, find_epoch
from pjrtwheel.wheel.plan import text_source
from sound_wheels import BINDINGS, COMMIT, ORIGIN, PLUGIN, TAG, make_dist, make_repository

GITHUB = {
    "GITHUB_SERVER_URL": "https://git.example.org",
    "GITHUB_REPOSITORY": "owner/name",
    "GITHUB_WORKFLOW_REF": f"owner/name/.github/workflows/release.yml@refs/tags/{TAG}",
    "GITHUB_RUN_ID": "17",
    "GITHUB_RUN_ATTEMPT": "2",
}


@pytest.fixture
def release(tmp_path: Path) -> ReleaseFolder:
    """Return a release that was made outside of a workflow, without a key."""
    root = make_repository(tmp_path / "repository")
    return make_release(root, TAG, make_dist(root, tmp_path / "dist"), tmp_path / TAG, environ={})


def remake(release: ReleaseFolder, name: str = "other", **options: Any) -> ReleaseFolder:
    """Make the same release once more, with other options."""
    folder = release.path.parent
    return make_release(folder / "repository", TAG, folder / "dist", folder / name, **{"environ": {}, **options})


def payload_of(release: ReleaseFolder) -> dict[str, Any]:
    """Return the statement of a release as others read it."""
    envelope = json.loads((release.path / STATEMENT_FILENAME).read_bytes())
    assert envelope["payloadType"] == "application/vnd.in-toto+json"
    return dict(json.loads(base64.b64decode(envelope["payload"])))


def test_the_statement_says_what_the_release_is_made_of(release: ReleaseFolder, tmp_path: Path) -> None:
    """All files with their digests, all pinned inputs, the commit, and what each wheel was built with."""
    digests = parse_sums((release.path / SUMS_FILENAME).read_text("utf-8"))
    builds = [("jaxlib", "linux_x86_64"), ("jaxlib-auto", "any"), ("jaxlib-cpu", "linux_x86_64")]
    pins = ["plugin.cpu.linux_x86_64", *(f"bindings.{tag}.linux_x86_64" for tag in BINDINGS)]
    urls = ["upstream-cpu@1.2.3?file_name=upstream_cpu-1.2.3-py3-none-manylinux_2_27_x86_64.whl"]
    urls += [f"jaxlib@1.2.3?file_name=jaxlib-1.2.3-{tag}-{tag}-manylinux_2_27_x86_64.whl" for tag in BINDINGS]
    release_file = "releases/1.2.3.toml"
    assert payload_of(release) == {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {"name": name, "digest": {"sha256": digests[name]}}
            for name in sorted(digests)
            if name != STATEMENT_FILENAME
        ],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "urn:pjrtwheel:build:1",
                "externalParameters": {
                    "tag": TAG,
                    "set": "1.2.3+split.1",
                    "release": "1.2.3",
                    "builds": [
                        {"distribution": name, "platform": platform, "provider": "none"}
                        if platform == "any"
                        else {"distribution": name, "platform": platform, "provider": "prebuilt", "compressionLevel": 6}
                        for name, platform in builds
                    ],
                },
                "resolvedDependencies": [
                    {"name": "repository", "digest": {"gitCommit": COMMIT}, "annotations": {"dirty": False}},
                    {"name": release_file, "digest": {"sha256": hash_file(tmp_path / "repository" / release_file)}},
                    *(
                        {"name": key, "digest": {"sha256": f"{number}" * 64}, "uri": f"pkg:pypi/{url}"}
                        for number, (key, url) in enumerate(zip(pins, urls, strict=True))
                    ),
                ],
            },
            "runDetails": {
                "builder": {"id": "urn:pjrtwheel:builder:local", "version": {"pjrtwheel": "0.1.0"}},
                "metadata": {"finishedOn": "2026-11-20T10:00:00Z"},
            },
        },
    }
    assert (release.tag, release.commit) == (TAG, COMMIT)


def test_a_workflow_names_itself_and_its_run(release: ReleaseFolder) -> None:
    """The builder is what a consumer compares with the workflow that is trusted."""
    other = remake(release, environ={**GITHUB, "SOURCE_DATE_EPOCH": "1"})
    predicate = payload_of(other)["predicate"]
    assert predicate["runDetails"] == {
        "builder": {
            "id": f"https://git.example.org/{GITHUB['GITHUB_WORKFLOW_REF']}",
            "version": {"pjrtwheel": "0.1.0"},
        },
        "metadata": {
            "finishedOn": "1970-01-01T00:00:01Z",
            "invocationId": "https://git.example.org/owner/name/actions/runs/17/attempts/2",
        },
    }
    repository = predicate["buildDefinition"]["resolvedDependencies"][0]
    assert repository["uri"] == f"git+https://git.example.org/owner/name@refs/tags/{TAG}"


def test_two_runs_give_the_same_bytes(release: ReleaseFolder) -> None:
    """That holds for a signed one as well."""
    key = release.path.parent / "key"
    make_key(key)
    signer = load_signer(key)
    folders = [release, remake(release), remake(release, "a", signer=signer), remake(release, "b", signer=signer)]
    first, second, third, fourth = ({path.name: path.read_bytes() for path in one.path.iterdir()} for one in folders)
    assert first == second
    assert third == fourth
    assert {name for name in first if first[name] != third[name]} == {STATEMENT_FILENAME, SUMS_FILENAME}


def test_the_bill_of_materials_lists_the_wheels_and_what_they_are_made_of(release: ReleaseFolder) -> None:
    """Inputs of one project that differ in their files are listed one by one; what is equal is listed once."""
    document = json.loads((release.path / BOM_FILENAME).read_bytes())
    digests = {entry.filename: entry.sha256 for entry in release.entries}
    listed = {part["bom-ref"]: (part["name"], part["hashes"][0]["content"]) for part in document["components"]}
    needs = {entry["ref"]: entry.get("dependsOn", []) for entry in document["dependencies"]}
    found = {listed[ref]: [listed[part] for part in needs[ref]] for ref in needs[f"release:{TAG}"]}
    inputs = {name: [("jaxlib", str(number) * 64)] for number, name in enumerate(sorted(digests)[:2], 1)}
    inputs[PLUGIN] = [("upstream-cpu", "0" * 64)]
    assert found == {
        (entry.distribution, digests[name]): inputs.get(name, []) for name, entry in release.wheels.items()
    }
    assert len(document["components"]) == 4 + 3
    assert "timestamp" not in document["metadata"]
    check_bom((release.path / BOM_FILENAME).read_bytes(), release.entries)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda _: b"\xff", "is damaged\nit is not text in UTF-8"),
        (lambda _: b"{}", "is no bill of materials"),
        (lambda data: data.replace(b'"CycloneDX"', b'"SPDX"'), "is no bill of materials"),
        (lambda data: data.replace(b'"pkg:pypi/jaxlib-cpu@', b'"pkg:pypi/jaxlib-gpu@'), "is about other wheels"),
    ],
)
def test_a_damaged_bill_of_materials_is_refused(
    release: ReleaseFolder, damage: Callable[[bytes], bytes], words: str
) -> None:
    """Its schema is CycloneDX's own, and its wheels are those of the release."""
    data = damage((release.path / BOM_FILENAME).read_bytes())
    with pytest.raises(AttestError, match=words):
        check_bom(data, release.entries)


def test_a_bill_of_materials_of_other_bytes_is_refused(release: ReleaseFolder) -> None:
    """The digests of the wheels count, not their names alone."""
    others = [replace(entry, sha256="0" * 64) if entry.filename == PLUGIN else entry for entry in release.entries]
    with pytest.raises(AttestError, match="is about other wheels"):
        check_bom((release.path / BOM_FILENAME).read_bytes(), others)


def test_a_key_signs_and_its_public_part_verifies(tmp_path: Path) -> None:
    """The key can be read by its owner alone; openssl reads both parts."""
    public = make_key(tmp_path / "key")
    assert [path.stat().st_mode & 0o777 for path in (tmp_path / "key", public)] == [0o600, 0o644]
    envelope = parse_envelope(format_envelope(b"text", load_signer(tmp_path / "key")))
    check_signature(envelope, load_public_key(public))
    command = ["openssl", "pkey", "-in", str(tmp_path / "key"), "-pubout"]
    assert subprocess.run(command, capture_output=True, check=True).stdout == public.read_bytes()


def test_a_key_of_openssl_signs_as_well(tmp_path: Path) -> None:
    """That is the line in the documentation."""
    key, public = tmp_path / "key", tmp_path / "key.pub"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", key], check=True)
    subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-out", public], check=True)
    check_signature(parse_envelope(format_envelope(b"text", load_signer(key))), load_public_key(public))


@pytest.mark.parametrize("name", ["key", "key.pub"])
def test_keys_are_never_overwritten(tmp_path: Path, name: str) -> None:
    """A key that is lost is lost for every release that it has signed."""
    (tmp_path / name).write_text("precious", "utf-8")
    with pytest.raises(UsageError, match="is there, and keys are never overwritten"):
        make_key(tmp_path / "key")
    assert [(path.name, path.read_text("utf-8")) for path in tmp_path.iterdir()] == [(name, "precious")]


def test_what_is_no_key_is_refused(tmp_path: Path) -> None:
    """A key of another kind, the public part in place of the private one, a file that is not there."""
    make_key(tmp_path / "key")
    rsa = tmp_path / "rsa"
    subprocess.run(["openssl", "genrsa", "-out", rsa], check=True, capture_output=True)
    with pytest.raises(UsageError, match="is no ed25519 key"):
        load_signer(rsa)
    locked = tmp_path / "locked"
    protect = ["openssl", "pkey", "-aes256", "-passout", "pass:secret"]
    subprocess.run([*protect, "-in", tmp_path / "key", "-out", locked], check=True, capture_output=True)
    for load, path, cause in (
        (load_signer, "key.pub", "it is no private key in PEM form, or damaged"),
        (load_signer, "none", "No such file or directory"),
        (load_signer, ".", "Is a directory"),
        (load_signer, "locked", "it is protected by a password"),
        (load_public_key, "key", "it is no public key in PEM form, or damaged"),
        (load_public_key, "none", "No such file or directory"),
    ):
        with pytest.raises(UsageError, match="cannot read the") as caught:
            load(tmp_path / path)
        assert caught.value.cause == cause


def test_signatures_that_prove_nothing_are_refused(tmp_path: Path) -> None:
    """None, one of another key, and one of other bytes: each is named."""
    public = load_public_key(make_key(tmp_path / "key"))
    other = load_public_key(make_key(tmp_path / "other"))
    signed = format_envelope(b"text", load_signer(tmp_path / "key"))
    altered = signed.replace(base64.b64encode(b"text"), base64.b64encode(b"Text"))
    assert altered != signed
    for line, key, words in (
        (format_envelope(b"text"), public, r"is not signed\n"),
        (signed, other, "is not signed by this key"),
        (altered, public, "the signature of .* is wrong"),
    ):
        with pytest.raises(AttestError, match=words):
            check_signature(parse_envelope(line), key)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b"{}",
        b'{"payload": "!", "payloadType": "application/vnd.in-toto+json", "signatures": []}',
        b'{"payload": 1, "payloadType": "application/vnd.in-toto+json", "signatures": []}',
        b'{"payload": "", "payloadType": "application/vnd.in-toto+json", "signatures": [1]}',
        b'{"payload": "", "payloadType": "application/vnd.in-toto+json", "signatures": 1}',
        b'{"payload": "", "payloadType": "application/vnd.in-toto+json", "signatures": [{"sig": "!"}]}',
        b'{"payload": "", "payloadType": "application/vnd.in-toto+json", "signatures": [{"sig": "AA=="}]}',
        b'{"payload": "", "payloadType": "text/plain", "signatures": []}',
        b'{"payload": "", "payloadType": 7, "signatures": []}',
        b'{"payload": "", "payloadType": "application/vnd.in-toto+json", "signatures": []}\n{}',
    ],
)
def test_a_damaged_envelope_is_refused(line: bytes) -> None:
    """Whatever the damage is, the message names the file."""
    with pytest.raises(AttestError, match=STATEMENT_FILENAME):
        parse_envelope(line)


@pytest.mark.parametrize(
    "change",
    [
        {"_type": "https://in-toto.io/Statement/v0.1"},
        {"predicateType": "https://slsa.dev/provenance/v0.2"},
        {"subject": [{"name": "a", "digest": {"sha256": "0" * 64}}] * 2},
        {"subject": [{"name": "a", "digest": {"sha256": "0"}}]},
        {"subject": [{"name": "a", "digest": {"sha512": "0" * 64}}]},
        {"predicate": {}},
    ],
)
def test_another_statement_is_refused(release: ReleaseFolder, change: dict[str, Any]) -> None:
    """One of another kind, about a file twice, without its sha256, or without provenance."""
    text = json.dumps(payload_of(release) | change)
    with pytest.raises(AttestError, match="holds no statement about a release"):
        parse_statement(text.encode())


@pytest.mark.parametrize("digest", [None, {}, {"gitCommit": ""}, {"gitCommit": "main"}])
def test_a_statement_without_a_commit_is_refused(release: ReleaseFolder, digest: dict[str, str] | None) -> None:
    """Nothing could be built again from it."""
    statement = payload_of(release)
    dependencies = [] if digest is None else [{"name": "repository", "digest": digest}]
    statement["predicate"]["buildDefinition"]["resolvedDependencies"] = dependencies
    with pytest.raises(AttestError, match="holds no statement about a release"):
        parse_statement(json.dumps(statement).encode())


def test_a_builder_is_one_line_of_a_terminal(release: ReleaseFolder) -> None:
    """It is printed, and could say below itself that somebody signed."""
    statement = payload_of(release)
    statement["predicate"]["runDetails"]["builder"]["id"] += "\nsigned by /trusted/key.pub"
    with pytest.raises(AttestError, match="holds no statement about a release"):
        parse_statement(json.dumps(statement).encode())


def test_a_statement_about_other_files_is_refused(release: ReleaseFolder) -> None:
    """The checksums may be right, and the statement that of another release."""
    assert release.statement is not None
    fewer = replace(release.statement, subjects=release.statement.subjects[1:])
    path = release.path / STATEMENT_FILENAME
    before = hash_file(path)
    path.write_bytes(format_envelope(format_statement(fewer)))
    sums = release.path / SUMS_FILENAME
    sums.write_text(sums.read_text("utf-8").replace(before, hash_file(path)), "utf-8")
    with pytest.raises(AttestError) as caught:
        read_release_folder(release.path)
    assert caught.value.what == f"{STATEMENT_FILENAME} is about other files than {SUMS_FILENAME}"
    assert release.statement.subjects[0].name in caught.value.cause


def rebuild(dist: Path, project: str, **origin: Any) -> None:
    """Say of the wheels of one project that they were built from somewhere else."""
    entries = read_entries(dist)
    for name, entry in entries.items():
        if entry.distribution == project:
            entries[name] = replace(entry, built=replace(entry.built, **origin))
    (dist / RELEASE_FILENAME).write_text(format_entries(entries), "utf-8")


def test_the_commit_is_the_one_that_all_wheels_were_built_from(tmp_path: Path) -> None:
    """Wherever they were proven; a person may demand which one it is."""
    root = make_repository(tmp_path / "repository")
    dist = make_dist(root, tmp_path / "dist")
    proof = Proof(Level.STATIC, None, (), replace(ORIGIN, commit="d" * 40))
    entries = {name: replace(entry, proof=proof) for name, entry in read_entries(dist).items()}
    (dist / RELEASE_FILENAME).write_text(format_entries(entries), "utf-8")
    assert make_release(root, TAG, dist, tmp_path / "any", environ={}).commit == COMMIT
    assert make_release(root, TAG, dist, tmp_path / "this", commit=COMMIT, environ={}).commit == COMMIT
    with pytest.raises(UsageError) as caught:
        make_release(root, TAG, dist, tmp_path / "out", commit="d" * 40, environ={})
    assert caught.value.what == f"the wheels were not all built from {'d' * 40}"
    assert caught.value.cause == f"they were built from {COMMIT[:12]}"
    rebuild(dist, "jaxlib-cpu", commit="d" * 40)
    with pytest.raises(UsageError) as caught:
        make_release(root, TAG, dist, tmp_path / "out", environ={})
    assert caught.value.cause == f"they were built from {COMMIT[:12]}, {'d' * 12}"
    assert not (tmp_path / "out").exists()


def test_one_dirty_wheel_makes_the_release_dirty(tmp_path: Path) -> None:
    """Its statement says so, because nobody could build all of it again."""
    root = make_repository(tmp_path / "repository")
    dist = make_dist(root, tmp_path / "dist")
    rebuild(dist, "jaxlib-cpu", dirty=True)
    statement = make_release(root, TAG, dist, tmp_path / "out", environ={}).statement
    assert statement is not None
    assert (statement.commit, statement.dirty) == (COMMIT, True)


def test_a_statement_of_another_commit_is_refused(release: ReleaseFolder) -> None:
    """Than `release.json` says of the wheels, although all digests are right."""
    assert release.statement is not None
    other = "d" * 40
    entries = [replace(entry, built=replace(ORIGIN, commit=other)) for entry in release.entries]
    with pytest.raises(AttestError) as caught:
        check_commit(release.statement, entries)
    assert caught.value.what == f"{STATEMENT_FILENAME} says that the wheels were built from {COMMIT[:12]}"
    assert caught.value.cause == f"release.json says from {other[:12]}"


def test_wheels_without_a_commit_are_refused(tmp_path: Path) -> None:
    """They were built outside of git, and nobody could build them again."""
    root = make_repository(tmp_path / "repository")
    dist = make_dist(root, tmp_path / "dist", origin=replace(ORIGIN, commit=None, dirty=None))
    with pytest.raises(UsageError, match="not all built from one commit\nthey were built from no commit"):
        make_release(root, TAG, dist, tmp_path / "out", environ={})


@pytest.mark.parametrize("level", [1, 6, 9, 12])
def test_level_and_date_of_a_wheel_are_read_from_its_bytes(tmp_path: Path, level: int) -> None:
    """No wheel says them, and the same members give the same wheel with them."""
    path = tmp_path / "a-1-py3-none-any.whl"
    draw = random.Random(0)  # noqa: S311 - any text that deflates will do
    text = "".join(f"{draw.randrange(9) * 'word'} {draw.randrange(99)} {number % 7 * 'ab'}\n" for number in range(9000))
    with ArchiveWriter(
        path, stamp=timestamp({"SOURCE_DATE_EPOCH": "1700000000"}), compression=Compression(level)
    ) as archive:
        archive.add(text_source("a.py", text))
    assert (find_compression(path), find_epoch(path)) == (level, 1700000000)


def test_wheels_of_one_build_that_differ_in_level_are_refused(tmp_path: Path) -> None:
    """One set of options builds them again."""
    root = make_repository(tmp_path / "repository")
    dist = make_dist(root, tmp_path / "dist", levels={BINDINGS[0]: 9})
    with pytest.raises(AttestError, match="the wheels of jaxlib for linux_x86_64 were not built alike"):
        make_release(root, TAG, dist, tmp_path / "out", environ={})


def test_a_folder_without_a_statement_has_no_tag(release: ReleaseFolder) -> None:
    """Its files are held to their checksums all the same."""
    folder = release.path.parent
    found = find_release_set(folder / "repository", TAG, folder / "dist")
    bare = write_release_folder(found, folder / "dist", folder / "bare", {})
    assert (bare.tag, bare.commit, bare.statement) == ("", "", None)
