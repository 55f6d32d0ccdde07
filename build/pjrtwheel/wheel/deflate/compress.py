# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Compress chunks into one deflate stream (RFC 1951), on all cores; the number of threads does not change the result.

libdeflate compresses whole streams only, while a zip member is a single stream. To compress a member in parallel, each
chunk becomes a stream of its own, and the streams are joined: the last block of each but the last stream is marked as
not final, and an empty stored block after it brings the next stream to a byte boundary.

The last block is searched: by its header, which is fast and finds most blocks of machine code, then by inflating the
stream, which finds nearly all. After a miss zlib compresses the chunk itself, because zlib can end a part by rule.
"""

from __future__ import annotations

import os
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import deflate

from pjrtwheel.wheel.deflate.last_block import RAW, open_by_header, open_by_silence

# Chunks share no history: at this length that costs 0.04 % of a compressed plugin library.
CHUNK_SIZE = 8 << 20

# libdeflate's levels. From 10 on it looks for the shortest stream: a plugin library becomes 2 % smaller in five times
# the time, which pays for wheels that many will download.
LEVEL = 6
HIGHEST_LEVEL = 12


def worker_count() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


@dataclass(frozen=True, slots=True)
class Compression:
    """How members are compressed.

    Attributes:
        level: Level of libdeflate, 0 to 12.
        workers: Number of threads; it does not change the result.
    """

    level: int = LEVEL
    workers: int = field(default_factory=worker_count)


def compress_chunk(chunk: memoryview, *, final: bool, level: int = LEVEL) -> bytes:
    """Compress one chunk.

    Args:
        chunk: The bytes.
        final: Whether the deflate stream ends with this chunk.
        level: Level of libdeflate, 0 to 12.
    """
    stream = bytes(deflate.deflate_compress(chunk, level))
    return stream if final else open_end(stream, chunk)


def compress_chunks(
    chunks: Iterable[tuple[memoryview, bool]], pool: ThreadPoolExecutor, compression: Compression
) -> Iterator[bytes]:
    """Compress chunks in threads and yield the results in order.

    As many chunks as there are threads are read ahead of the one that is yielded, which bounds the memory.

    Args:
        chunks: Each chunk, and whether it is the last.
        pool: The threads; libdeflate and zlib both run outside the interpreter lock.
        compression: The level, and the number of threads.
    """
    pending: deque[Future[bytes]] = deque()
    for chunk, final in chunks:
        pending.append(pool.submit(compress_chunk, chunk, final=final, level=compression.level))
        if len(pending) > compression.workers:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()


def open_end(stream: bytes, chunk: memoryview) -> bytes:
    """Return a part that another deflate stream may follow.

    Args:
        stream: A complete deflate stream.
        chunk: What it inflates to.
    """
    for search in (open_by_header, open_by_silence):
        part = search(stream, chunk)
        if part is not None:
            return part
    return _deflate_by_rule(chunk)


def _deflate_by_rule(chunk: memoryview) -> bytes:
    """Compress with zlib, which ends a part on request (Z_SYNC_FLUSH)."""
    deflater = zlib.compressobj(6, zlib.DEFLATED, RAW)
    return deflater.compress(chunk) + deflater.flush(zlib.Z_SYNC_FLUSH)
