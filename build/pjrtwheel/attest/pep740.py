# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Attestations of single files (PEP 740): held to their files, and made into what an index links to as `provenance`.

A workflow makes them, and signs with its own identity, which the certificate in them names. Who trusts the signature is
up to those who verify it (`pypi-attestations verify`); no signature is verified here.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Any

from cryptography import x509

from pjrtwheel.errors import AttestError, explain, fit
from pjrtwheel.tables import TableError, read_json, write_json
from pjrtwheel.wheel.names import ATTESTATION_SUFFIX

_CERTIFICATE_ERRORS = (
    x509.DuplicateExtension,
    x509.ExtensionNotFound,
    x509.InvalidVersion,
    x509.UnsupportedGeneralNameType,
)
_WORKFLOW = re.compile(r"https://[^/]+/([^/]+/[^/]+)/\.github/workflows/([^/@]+)@.+")


def make_provenance(name: str, sha256: str, attestation: bytes) -> bytes:
    """Return the provenance object of a file from its attestation.

    Args:
        name: The file.
        sha256: Its digest.
        attestation: What lies next to it.

    Raises:
        AttestError: The attestation is damaged, of another file, or not by a workflow of GitHub.
    """
    try:
        document = read_json(dict[str, Any], attestation)
        statement = read_json(dict[str, Any], base64.b64decode(document["envelope"]["statement"], validate=True))
        subjects = {entry["name"]: entry["digest"]["sha256"] for entry in statement["subject"]}
        certificate = base64.b64decode(document["verification_material"]["certificate"], validate=True)
        publisher = _read_publisher(x509.load_der_x509_certificate(certificate))
    except (TableError, KeyError, TypeError, ValueError, *_CERTIFICATE_ERRORS) as error:
        raise AttestError(
            f"{name}{ATTESTATION_SUFFIX} is damaged", cause=explain(error), remedy="attest it again"
        ) from error
    if subjects != {name: sha256}:
        raise AttestError(
            f"{name}{ATTESTATION_SUFFIX} is of other bytes",
            cause=f"it is about {fit(f'{file} ({digest[:12]})' for file, digest in subjects.items())}",
            remedy="attest the file that is published, or remove the attestation",
        )
    bundle = {"publisher": publisher, "attestations": [document]}
    return write_json({"version": 1, "attestation_bundles": [bundle]}).encode()


def _read_publisher(certificate: x509.Certificate) -> Mapping[str, Any]:
    """Return which workflow of which repository a certificate was given to."""
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    addresses = names.get_values_for_type(x509.UniformResourceIdentifier)
    found = _WORKFLOW.fullmatch(addresses[0]) if len(addresses) == 1 else None
    if found is None:
        raise ValueError(f"the certificate is of no workflow: {', '.join(addresses) or 'it names no address'}")
    return {"kind": "GitHub", "repository": found[1], "workflow": found[2], "environment": None}
