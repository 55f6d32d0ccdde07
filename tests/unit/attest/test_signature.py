# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Keys, envelopes and statements: who signed, and what is refused before anybody trusts it."""

import base64
import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.attest.release_folder import SUMS_FILENAME, ReleaseFolder, read_release_folder
from pjrtwheel.attest.signature import check_signature, format_envelope, load_public_key, load_signer, parse_envelope
from pjrtwheel.attest.statement import STATEMENT_FILENAME, Subject, parse_statement
from pjrtwheel.errors import AttestError, UsageError
from pjrtwheel.files import hash_file
from pjrtwheel.tables import read_json, write, write_json
from signing_keys import make_key
from sound_wheels import COMMIT

KIND = b'"payloadType": "application/vnd.in-toto+json"'


def test_what_is_no_key_is_refused(tmp_path: Path) -> None:
    """A key of another kind or with a password, the public part in place of the private one, no file at all."""
    make_key(tmp_path / "key")
    subprocess.run(["openssl", "genrsa", "-out", tmp_path / "rsa"], check=True, capture_output=True)
    protect = ["openssl", "pkey", "-aes256", "-passout", "pass:secret", "-in", str(tmp_path / "key")]
    subprocess.run([*protect, "-out", tmp_path / "locked"], check=True, capture_output=True)
    for name in ("rsa", "key.pub", "none", ".", "locked"):
        with pytest.raises(UsageError):
            load_signer(tmp_path / name)
    for name in ("key", "none"):
        with pytest.raises(UsageError):
            load_public_key(tmp_path / name)


def test_signatures_that_prove_nothing_are_refused(tmp_path: Path) -> None:
    """None, one of another key, and one of other bytes: each is named."""
    public = load_public_key(make_key(tmp_path / "key"))
    other = load_public_key(make_key(tmp_path / "other"))
    signed = format_envelope(b"text", load_signer(tmp_path / "key"))
    altered = signed.replace(base64.b64encode(b"text"), base64.b64encode(b"Text"))
    assert altered != signed
    for line, key, words in (
        (format_envelope(b"text"), public, "is not signed by this key"),
        (signed, other, "is not signed by this key"),
        (altered, public, "is wrong"),
    ):
        with pytest.raises(AttestError, match=words):
            check_signature(parse_envelope(line), key)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b'{"payload": "!", %s, "signatures": []}' % KIND,
        b'{"payload": "", %s, "signatures": [1]}' % KIND,
        b'{"payload": "", %s, "signatures": [{"sig": "!"}]}' % KIND,
        b'{"payload": "", %s, "signatures": [{"sig": "AA=="}]}' % KIND,
        b'{"payload": "", "payloadType": "text/plain", "signatures": []}',
        b'{"payload": "", %s, "signatures": []}\n{}' % KIND,
    ],
)
def test_a_damaged_envelope_is_refused(line: bytes) -> None:
    """Whatever the damage is, the message names the file."""
    with pytest.raises(AttestError, match=STATEMENT_FILENAME):
        parse_envelope(line)


def change_repository(statement: dict[str, Any], digest: dict[str, str] | None) -> None:
    """Put another digest of the repository into a statement, or none."""
    dependencies = [] if digest is None else [{"name": "repository", "digest": digest}]
    statement["predicate"]["buildDefinition"]["resolvedDependencies"] = dependencies


STATEMENTS: dict[str, Callable[[dict[str, Any]], None]] = {
    "old": lambda statement: statement.update({"_type": "https://in-toto.io/Statement/v0.1"}),
    "other provenance": lambda statement: statement.update({"predicateType": "https://slsa.dev/provenance/v0.2"}),
    "no sha256": lambda statement: statement.update({"subject": [{"name": "a", "digest": {"sha256": "0"}}]}),
    "no provenance": lambda statement: statement.update({"predicate": {}}),
    "no repository": lambda statement: change_repository(statement, None),
    "no commit": lambda statement: change_repository(statement, {}),
    "a branch": lambda statement: change_repository(statement, {"gitCommit": "main"}),
    "two lines": lambda statement: statement["predicate"]["runDetails"]["builder"].update({"id": "me\nsigned by /key"}),
}


@pytest.mark.parametrize("change", STATEMENTS.values(), ids=STATEMENTS)
def test_another_statement_is_refused(release: ReleaseFolder, change: Callable[[dict[str, Any]], None]) -> None:
    """Of another kind, without what a build needs, or with a builder that says below itself that somebody signed."""
    statement = write(release.statement)
    parse_statement(json.dumps(statement).encode())
    change(statement)
    with pytest.raises(AttestError):
        parse_statement(json.dumps(statement).encode())


def put_statement(release: ReleaseFolder, **changes: Any) -> None:
    """Write another statement into a release, under a right checksum."""
    path, sums = release.path / STATEMENT_FILENAME, release.path / SUMS_FILENAME
    before = hash_file(path)
    path.write_bytes(format_envelope(write_json(replace(release.statement, **changes)).encode()))
    sums.write_text(sums.read_text("utf-8").replace(before, hash_file(path)), "utf-8")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda subjects: subjects[1:], "jaxlib-1.2.3+split.1-cp312"),
        (lambda subjects: (Subject(subjects[0].name, {"sha256": "0" * 64}), *subjects), "jaxlib-1.2.3+split.1-cp312"),
        (lambda subjects: (*subjects, subjects[0]), ""),
    ],
)
def test_a_statement_about_other_files_is_refused(release: ReleaseFolder, change: Any, named: str) -> None:
    """The checksums may be right, and the statement that of another release, or about a file twice."""
    put_statement(release, subjects=change(release.statement.subjects))
    with pytest.raises(AttestError) as caught:
        read_release_folder(release.path)
    assert SUMS_FILENAME in caught.value.what
    assert named in caught.value.cause


def test_a_statement_of_another_commit_is_refused(release: ReleaseFolder) -> None:
    """Than `release.json` says of the wheels, although all digests are right."""
    text = write_json(release.statement.provenance).replace(COMMIT, "d" * 40)
    provenance = read_json(type(release.statement.provenance), text)
    put_statement(release, provenance=provenance)
    with pytest.raises(AttestError) as caught:
        read_release_folder(release.path)
    assert ("d" * 12 in caught.value.what, COMMIT[:12] in caught.value.cause) == (True, True)
