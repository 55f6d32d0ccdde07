# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Change a sample into an input: the same seed and number give the same bytes on every machine."""

import random
from collections.abc import Callable, Sequence

_NUMBERS = (0, 1, 0x7F, 0xFF, 0x1000, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
_TOKENS = (
    *(b"\r", b"\n", b"\r\n", b"\n\n", b"\0", b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\x1b[2J", b'"', b"'", b",", b":"),
    *(b"-1", b"0", b"1e999", b"9" * 5000, b"NaN", b"null", b"true", b"[]", b"{}", b'""', b"[" * 100, b'{"a":' * 100),
    *(
        b"../",
        b"/",
        b"\\",
        b"sha256=",
        b"\x7fELF",
        b"PK\x01\x02",
        b"PK\x03\x04",
        b"PK\x05\x06",
        b"PK\x07\x08",
        "\u0661\u2028\u202e".encode(),
    ),
)


def _flip(rng: random.Random, data: bytearray) -> None:
    """Change one bit."""
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _set_byte(rng: random.Random, data: bytearray) -> None:
    """Write any byte over another."""
    data[rng.randrange(len(data))] = rng.randrange(256)


def _set_number(rng: random.Random, data: bytearray) -> None:
    """Write a number at the edge of its range where a little-endian one may be."""
    size = rng.choice((2, 4, 8))
    at = rng.randrange(len(data)) // size * size
    number = (rng.choice(_NUMBERS) + rng.choice((0, 0, 1, -1, len(data)))) % (1 << 8 * size)
    data[at : at + size] = number.to_bytes(size, "little")


def _insert(rng: random.Random, data: bytearray) -> None:
    """Insert what has a meaning in one of the formats."""
    at = rng.randrange(len(data) + 1)
    data[at:at] = rng.choice(_TOKENS)


def _replace(rng: random.Random, data: bytearray) -> None:
    """Write such a token over what is there."""
    token, at = rng.choice(_TOKENS), rng.randrange(len(data))
    data[at : at + len(token)] = token


def _delete(rng: random.Random, data: bytearray) -> None:
    """Remove a few bytes."""
    at = rng.randrange(len(data))
    del data[at : at + rng.randint(1, 16)]


def _repeat(rng: random.Random, data: bytearray) -> None:
    """Say something twice."""
    at = rng.randrange(len(data))
    data[at:at] = data[at : at + rng.randint(1, 64)]


def _truncate(rng: random.Random, data: bytearray) -> None:
    """End early."""
    del data[rng.randrange(len(data)) :]


def _shift(rng: random.Random, data: bytearray) -> None:
    """Put something in front of all, or zeros into it."""
    at = rng.choice((0, rng.randrange(len(data))))
    data[at:at] = rng.choice((b"#!/bin/sh\n", bytes(8), bytes(data)))


def _rename(rng: random.Random, data: bytearray) -> None:
    """Turn two bytes into the number of the Unicode Path field of a zip file, or into the flag of a descriptor."""
    at = rng.randrange(len(data))
    data[at : at + 2] = rng.choice((b"\x75\x70", b"\x08\x00"))


_EDITS: tuple[Callable[[random.Random, bytearray], None], ...] = (
    *(_flip, _set_byte, _set_number, _set_number, _insert, _insert),
    *(_replace, _delete, _repeat, _truncate, _shift, _rename),
)


def mutate(samples: Sequence[bytes], seed: str) -> bytes:
    """Return one of the samples after one to six edits; sometimes the end of another takes the place of its own.

    Args:
        samples: Whole inputs.
        seed: Decides about everything.
    """
    rng = random.Random(seed)  # noqa: S311 - the same inputs each time are what is wanted
    data = bytearray(rng.choice(samples))
    if len(samples) > 1 and rng.random() < 0.1:
        other = rng.choice(samples)
        data[rng.randrange(len(data) + 1) :] = other[rng.randrange(len(other) + 1) :]
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        if data:
            rng.choice(_EDITS)(rng, data)
    return bytes(data)
