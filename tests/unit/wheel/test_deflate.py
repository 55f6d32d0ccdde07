# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Joining deflate streams: whatever was compressed apart inflates as one."""

# ruff: noqa: S311 - equal bytes in each run are what these tests need
import random
import zlib

import deflate
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pjrtwheel.wheel import compress
from pjrtwheel.wheel.compress import RAW, compress_chunk, find_last_block, open_end

# Noise gives stored blocks, repetition fixed codes, the rest dynamic ones.
pieces = st.one_of(
    st.binary(max_size=200),
    st.builds(lambda seed, size: random.Random(seed).randbytes(size), st.integers(0, 9), st.integers(0, 80_000)),
    st.builds(lambda unit, count: unit * count, st.binary(max_size=9), st.integers(0, 50_000)),
    st.builds(
        lambda seed, size: bytes(random.Random(seed).choices(b"abcdefgh \n", k=size)),
        st.integers(0, 9),
        st.integers(0, 60_000),
    ),
)
chunks = st.lists(pieces, max_size=3).map(b"".join)


def machine_code(size: int) -> bytes:
    """Return bytes about as compressible as a library, with statistics that change from block to block."""
    generator = random.Random(size)
    words = [generator.randbytes(generator.randint(1, 8)) for _ in range(3000)]
    picked: list[bytes] = []
    total = 0
    while total < size:
        first = generator.randrange(2000)
        run = generator.choices(words[first : first + 900], k=5000)
        total += sum(map(len, run))
        picked += run
    return b"".join(picked)[:size]


@given(st.lists(chunks, min_size=1, max_size=4), st.integers(0, 12))
def test_parts_inflate_as_one_stream(contents: list[bytes], setting: int) -> None:
    """Any chunks, compressed apart with any setting, are one stream together."""
    parts = [
        compress_chunk(
            memoryview(content), final=content is contents[-1] and index == len(contents) - 1, setting=setting
        )
        for index, content in enumerate(contents)
    ]
    inflater = zlib.decompressobj(RAW)
    assert inflater.decompress(b"".join(parts)) == b"".join(contents)
    assert (inflater.eof, inflater.unused_data) == (True, b"")


@pytest.mark.parametrize("size", [100_000, 319_999, 320_001, 1_000_000, 3_000_000])
def test_last_block_is_found_in_long_streams(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In what libraries are made of, the last block is found: zlib never has to compress again."""
    content = machine_code(size)
    stream = bytes(deflate.deflate_compress(content, 6))
    monkeypatch.setattr(compress, "_deflate_by_rule", lambda _: pytest.fail("the last block was not found"))
    part = open_end(stream, memoryview(content))
    assert zlib.decompress(part + b"\x03\0", RAW) == content
    assert len(part) - len(stream) in {4, 5}


@pytest.mark.parametrize("size", range(200_000, 2_000_000, 100_003))
def test_last_block_is_found_at_every_bit(size: int) -> None:
    """Wherever in a byte it begins: nothing but its final bit changes, and the end."""
    content = machine_code(size)
    stream = bytes(deflate.deflate_compress(content, 6))
    part = find_last_block(stream, memoryview(content))
    assert part is not None
    changed = [old ^ new for old, new in zip(stream[:-1], part, strict=False) if old != new]
    assert [bits.bit_count() for bits in changed] == [1]


@given(chunks)
def test_a_search_misses_but_does_not_lie(content: bytes) -> None:
    """Whatever a search returns is the chunk, open at its end."""
    stream = bytes(deflate.deflate_compress(content, 6))
    part = find_last_block(stream, memoryview(content))
    assert part is None or zlib.decompress(part + b"\x03\0", RAW) == content


def test_stream_of_another_chunk_is_never_accepted() -> None:
    """A stream that does not inflate to the chunk is not used, however well formed it is."""
    content = machine_code(100_000)
    stream = bytes(deflate.deflate_compress(content, 6))
    other = content[:-1] + b"x" if not content.endswith(b"x") else content[:-1] + b"y"
    assert zlib.decompress(open_end(stream, memoryview(other)) + b"\x03\0", RAW) == other
