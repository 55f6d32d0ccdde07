# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Turn complete deflate streams into parts of a longer one (RFC 1951).

libdeflate compresses whole streams only, while a zip member is a single stream. To compress a member in parallel, each
chunk becomes a stream of its own, and the streams are joined: the last block of each but the last stream is marked as
not final, and an empty stored block behind it brings the next stream to a byte boundary.

The format does not say where the last block starts, so it is searched: by its header, which is fast and finds most
blocks of machine code, then by inflating the stream, which finds nearly all. After a miss zlib compresses the chunk
itself, because zlib can end a part by rule.
"""

from __future__ import annotations

import zlib

from pjrtwheel.wheel.deflate.block_ends import RAW
from pjrtwheel.wheel.deflate.block_headers import open_by_header
from pjrtwheel.wheel.deflate.block_silence import open_by_silence


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
