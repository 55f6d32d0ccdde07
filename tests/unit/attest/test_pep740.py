# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Attestations next to wheels become what an index links to, and must be of these wheels."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from attestations import make_attestation
from pjrtwheel.attest.make import list_documents, make_release
from pjrtwheel.attest.pep740 import make_provenance
from pjrtwheel.attest.statement import STATEMENT_FILENAME
from pjrtwheel.errors import AttestError
from pjrtwheel.files import hash_file
from sound_wheels import PLUGIN, TAG, make_dist, make_repository

DIGEST = "a" * 64


def change_version(attestation: bytes) -> bytes:
    """Give the certificate of an attestation a version that there is not."""
    document = json.loads(attestation)
    certificate = base64.b64decode(document["verification_material"]["certificate"])
    changed = certificate.replace(b"\xa0\x03\x02\x01\x02", b"\xa0\x03\x02\x01\x1d", 1)
    assert changed != certificate
    document["verification_material"]["certificate"] = base64.b64encode(changed).decode()
    return json.dumps(document).encode()


def test_an_attestation_goes_with_its_wheel(tmp_path: Path) -> None:
    """It and the provenance object that names its publisher are files of the release, and subjects as all others."""
    root = make_repository(tmp_path / "repository")
    dist = make_dist(root, tmp_path / "dist")
    attestation = make_attestation(PLUGIN, hash_file(dist / PLUGIN))
    (dist / f"{PLUGIN}.publish.attestation").write_bytes(attestation)
    (dist / "other.whl.publish.attestation").write_bytes(attestation)
    release = make_release(root, TAG, dist, tmp_path / TAG, environ={})
    assert list_documents(release.entries, {path.name for path in dist.iterdir()}) == release.documents
    added = {f"{PLUGIN}.publish.attestation", f"{PLUGIN}.provenance"}
    assert {name for name in release.digests if name.startswith(f"{PLUGIN}.") or "attestation" in name} == added
    assert release.statement is not None
    assert set(release.statement.digests) == set(release.digests) - {STATEMENT_FILENAME}
    assert json.loads((tmp_path / TAG / f"{PLUGIN}.provenance").read_bytes()) == {
        "version": 1,
        "attestation_bundles": [
            {
                "publisher": {
                    "kind": "GitHub",
                    "repository": "owner/name",
                    "workflow": "release.yml",
                    "environment": None,
                },
                "attestations": [json.loads(attestation)],
            }
        ],
    }


def test_an_attestation_of_other_bytes_stops_the_release(tmp_path: Path) -> None:
    """The wheel was built again after it was attested."""
    root = make_repository(tmp_path / "repository")
    dist = make_dist(root, tmp_path / "dist")
    (dist / f"{PLUGIN}.publish.attestation").write_bytes(make_attestation(PLUGIN, DIGEST))
    with pytest.raises(AttestError, match="is of other bytes"):
        make_release(root, TAG, dist, tmp_path / TAG, environ={})
    assert not (tmp_path / TAG).exists()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is damaged"),
        (b"[]", "is damaged"),
        (b"{}", "\\nit lacks 'envelope'\\n"),
        (b'{"envelope": 1}', "\\na value in it is of another kind than expected\\n"),
        (b'{"envelope": {"statement": "!"}}', "is damaged"),
        (b'{"envelope": {"statement": "e30="}, "verification_material": {"certificate": ""}}', "is damaged"),
        (change_version(make_attestation("a.whl", DIGEST)), "29 is not a valid X509 version"),
        (make_attestation("a.whl", DIGEST, "https://example.org/"), "the certificate is of no workflow"),
        (make_attestation("b.whl", DIGEST), "is of other bytes"),
        (make_attestation("a.whl", "b" * 64), "is of other bytes"),
    ],
)
def test_a_damaged_attestation_is_refused(data: bytes, words: str) -> None:
    """The message names the file."""
    with pytest.raises(AttestError, match=words) as caught:
        make_provenance("a.whl", DIGEST, data)
    assert caught.value.what.startswith("a.whl.publish.attestation is ")
