# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Compress a stream of chunks into one deflate stream, on all cores.

The result depends on the chunks and the level, never on the number of threads.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import deflate

from pjrtwheel.wheel.deflate.join import open_end

# Chunks share no history: at this length that costs 0.04 % of a compressed plugin library.
CHUNK_SIZE = 8 << 20

# libdeflate's levels. From 10 on it looks for the shortest stream: a plugin library becomes 2 % smaller in five times
# the time, which pays for wheels that many will download.
LEVEL = 6
HIGHEST_LEVEL = 12


def worker_count() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


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
    chunks: Iterable[tuple[memoryview, bool]], pool: ThreadPoolExecutor, ahead: int, level: int = LEVEL
) -> Iterator[bytes]:
    """Compress chunks in threads and yield the results in order.

    Args:
        chunks: Each chunk, and whether it is the last.
        pool: The threads; libdeflate and zlib both run outside the interpreter lock.
        ahead: How many chunks may be read ahead of the one that is yielded; bounds the memory.
        level: Level of libdeflate, 0 to 12.
    """
    pending: deque[Future[bytes]] = deque()
    for chunk, final in chunks:
        pending.append(pool.submit(compress_chunk, chunk, final=final, level=level))
        if len(pending) > ahead:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()
