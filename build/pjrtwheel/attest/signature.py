# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A statement in its envelope (DSSE), and bytes alone, which an ed25519 key may sign; keys are openssl's PEM files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import FormatError, UnverifiedSignatureError, VerificationError
from securesystemslib.signer import CryptoSigner, Signature, SSlibKey

from pjrtwheel.attest.statement import PAYLOAD_TYPE, STATEMENT_FILENAME
from pjrtwheel.errors import AttestError, UsageError, explain, fit
from pjrtwheel.tables import TableError, read_json

_GET_AGAIN = "get the release again, from who published it"
_MAKE_KEY = "make one with: openssl genpkey -algorithm ed25519 -out KEY"
_MAKE_PUBLIC_KEY = "of a private key: openssl pkey -in KEY -pubout -out KEY.pub"


def load_signer(path: Path) -> CryptoSigner:
    """Read a private key.

    Raises:
        UsageError: It is no ed25519 key, or needs a password.
    """
    key = _load(path, lambda data: serialization.load_pem_private_key(data, None), "private", _MAKE_KEY)
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError(f"{path} is no ed25519 key", remedy=_MAKE_KEY)
    return CryptoSigner(key)


def load_public_key(path: Path) -> SSlibKey:
    """Read a public key.

    Raises:
        UsageError: It is no public ed25519 key.
    """
    key = _load(path, serialization.load_pem_public_key, "public", _MAKE_PUBLIC_KEY)
    if not isinstance(key, Ed25519PublicKey):
        raise UsageError(f"{path} is no public ed25519 key", remedy=_MAKE_PUBLIC_KEY)
    return SSlibKey.from_crypto(key)


def _load(path: Path, load: Callable[[bytes], object], kind: str, remedy: str) -> object:
    """Read a key; what `cryptography` says of one that it does not take is for programmers."""
    try:
        return load(path.read_bytes())
    except OSError as error:
        cause = explain(error)
    except TypeError:
        cause = "it is protected by a password"
    except (ValueError, UnsupportedAlgorithm):
        cause = f"it is no {kind} key in PEM form, or damaged"
    raise UsageError(f"cannot read the {kind} key {path}", cause=cause, remedy=remedy)


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
        cause = f"no envelope with one statement: {explain(error)}"
        raise AttestError(f"{STATEMENT_FILENAME} is damaged", cause=cause, remedy=_GET_AGAIN) from error
    if envelope.payload_type != PAYLOAD_TYPE:
        raise AttestError(f"{STATEMENT_FILENAME} holds {envelope.payload_type!r}, expected {PAYLOAD_TYPE!r}")
    return envelope


def check_signature(envelope: Envelope, key: SSlibKey) -> None:
    """Make sure that a key has signed a statement.

    Raises:
        AttestError: There is no signature by this key, or none of these bytes.
    """
    if key.keyid not in envelope.signatures:
        signers = fit(known[:12] for known in envelope.signatures) or "nobody: the release was made without --key"
        raise AttestError(
            f"{STATEMENT_FILENAME} is not signed by this key",
            cause=f"given is {key.keyid[:12]}, signed by {signers}",
            remedy="ask who published it for the key, or verify what its workflow attested (docs/release/verify.md)",
        )
    try:
        envelope.verify([key], 1)
    except VerificationError as error:
        raise AttestError(
            f"the signature of {STATEMENT_FILENAME} is wrong",
            cause="the statement was altered after it was signed",
            remedy=_GET_AGAIN,
        ) from error


def sign_bytes(data: bytes, signer: CryptoSigner) -> bytes:
    """Return the 64 bytes of a signature (RFC 8032), as `openssl pkeyutl -sign -rawin` writes them."""
    return bytes.fromhex(signer.sign(data).signature)


def check_bytes(data: bytes, signature: bytes, key: SSlibKey, what: str) -> None:
    """Make sure that a key has signed some bytes.

    Raises:
        AttestError: It has not; `what` names the file of the signature.
    """
    try:
        key.verify_signature(Signature(key.keyid, signature.hex()), data)
    except UnverifiedSignatureError as error:
        raise AttestError(f"{what} is no signature by this key", remedy=_GET_AGAIN) from error
