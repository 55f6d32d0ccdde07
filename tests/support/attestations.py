# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Attestations in the form of PEP 740, signed by nobody: the certificate is its own, the signature empty."""

from __future__ import annotations

import base64
import datetime as dt
import json
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

WORKFLOW = "https://github.com/owner/name/.github/workflows/release.yml@refs/tags/v1.2.3"


def make_attestation(name: str, sha256: str, workflow: str = WORKFLOW) -> bytes:
    """Return an attestation of a file by a workflow."""
    subject = [{"name": name, "digest": {"sha256": sha256}}]
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subject,
        "predicateType": "https://example.org/attestations/publish/v1",
        "predicate": None,
    }
    attestation: dict[str, Any] = {
        "version": 1,
        "envelope": {"statement": _encode(json.dumps(statement).encode()), "signature": ""},
        "verification_material": {"certificate": _encode(_make_certificate(workflow)), "transparency_entries": []},
    }
    return json.dumps(attestation).encode()


def _make_certificate(workflow: str) -> bytes:
    key = Ed25519PrivateKey.from_private_bytes(bytes(32))
    day = dt.datetime(2026, 11, 20, tzinfo=dt.UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a test")])
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(day)
        .not_valid_after(day + dt.timedelta(minutes=10))
        .add_extension(x509.SubjectAlternativeName([x509.UniformResourceIdentifier(workflow)]), critical=True)
    )
    return builder.sign(key, None).public_bytes(Encoding.DER)


def _encode(data: bytes) -> str:
    return base64.b64encode(data).decode()
