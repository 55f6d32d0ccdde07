# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A statement in its envelope (DSSE), which an ed25519 key may sign; keys are PEM files as openssl writes them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import FormatError, VerificationError
from securesystemslib.signer import CryptoSigner, SSlibKey

from pjrtwheel.attest.statement import PAYLOAD_TYPE, STATEMENT_FILENAME
from pjrtwheel.errors import AttestError, UsageError, explain, fit
from pjrtwheel.tables import TableError, read_json

_GET_AGAIN = "get the release again, from who published it"
_MAKE_KEY = "make one with: ./noxw -s attest -- --new-key FILE"


def make_key(path: Path) -> Path:
    """Make an ed25519 key that only its owner can read, and return the path of its public part, `<path>.pub`.

    Raises:
        UsageError: One of the two files is there; keys are never overwritten.
    """
    key, public = Ed25519PrivateKey.generate(), path.with_name(f"{path.name}.pub")
    private_text = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public_text = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    for place in (path, public):
        if os.path.lexists(place):
            raise UsageError(f"{place} is there, and keys are never overwritten", remedy="name another file")
    try:
        for place, text, mode in ((path, private_text, 0o600), (public, public_text, 0o644)):
            with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
                file.write(text)
    except OSError as error:
        raise UsageError(f"cannot write the key {path}", cause=explain(error), remedy="name another file") from error
    return public


def load_signer(path: Path) -> CryptoSigner:
    """Read a private key.

    Raises:
        UsageError: It is no ed25519 key, or needs a password.
    """
    try:
        key = serialization.load_pem_private_key(path.read_bytes(), None)
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise UsageError(
            f"cannot read the key {path}", cause=_explain_key(error, "private"), remedy=_MAKE_KEY
        ) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError(f"{path} is no ed25519 key", remedy=_MAKE_KEY)
    return CryptoSigner(key)


def load_public_key(path: Path) -> SSlibKey:
    """Read a public key.

    Raises:
        UsageError: It is no public ed25519 key.
    """
    try:
        key = serialization.load_pem_public_key(path.read_bytes())
    except (OSError, ValueError, UnsupportedAlgorithm) as error:
        raise UsageError(
            f"cannot read the public key {path}",
            cause=_explain_key(error, "public"),
            remedy="of a private key: openssl pkey -in KEY -pubout -out KEY.pub",
        ) from error
    if not isinstance(key, Ed25519PublicKey):
        raise UsageError(f"{path} is no public ed25519 key")
    return SSlibKey.from_crypto(key)


def _explain_key(error: Exception, kind: str) -> str:
    """Return why a key cannot be read: what `cryptography` says is for programmers."""
    match error:
        case OSError():
            return explain(error)
        case TypeError():
            return "it is protected by a password"
        case UnsupportedAlgorithm():
            return "it is of an unknown kind"
    return f"it is no {kind} key in PEM form, or damaged"


def format_envelope(payload: bytes, signer: CryptoSigner | None = None) -> bytes:
    """Return the line that holds a statement, signed if there is a key; without one it has no signatures."""
    envelope = Envelope(payload, PAYLOAD_TYPE, {})
    if signer:
        envelope.sign(signer)
    return json.dumps(envelope.to_dict(), sort_keys=True).encode() + b"\n"


def parse_envelope(data: bytes) -> Envelope:
    """Read an envelope; its signatures are not looked at.

    Raises:
        AttestError: It is damaged, or holds something else than a statement.
    """
    try:
        envelope = Envelope.from_dict(read_json(dict[str, Any], data))
    except (TableError, KeyError, TypeError, ValueError, AttributeError, FormatError) as error:
        raise AttestError(
            f"{STATEMENT_FILENAME} is damaged",
            cause=f"no envelope with one statement: {explain(error)}",
            remedy=_GET_AGAIN,
        ) from error
    if envelope.payload_type != PAYLOAD_TYPE:
        raise AttestError(f"{STATEMENT_FILENAME} holds {envelope.payload_type!r}, expected {PAYLOAD_TYPE!r}")
    return envelope


def check_signature(envelope: Envelope, key: SSlibKey) -> None:
    """Make sure that a key has signed a statement.

    Raises:
        AttestError: There is no signature, or none by this key of these bytes.
    """
    if not envelope.signatures:
        raise AttestError(
            f"{STATEMENT_FILENAME} is not signed",
            cause="the release was made without --key",
            remedy="verify it without --key, or by what its workflow has attested (docs/release/verify.md)",
        )
    if key.keyid not in envelope.signatures:
        raise AttestError(
            f"{STATEMENT_FILENAME} is not signed by this key",
            cause=f"signed by {fit(known[:12] for known in envelope.signatures)}, given is {key.keyid[:12]}",
            remedy="ask who published it for the key",
        )
    try:
        envelope.verify([key], 1)
    except VerificationError as error:
        raise AttestError(
            f"the signature of {STATEMENT_FILENAME} is wrong",
            cause="the statement was altered after it was signed",
            remedy=_GET_AGAIN,
        ) from error
