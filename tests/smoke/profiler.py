# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A profiler trace of a compiled function holds events of this process."""

import gzip
from pathlib import Path

import jax
import jax.numpy as jnp


def check() -> str:
    """Trace a loop and look into the files that were written."""

    @jax.jit
    def work(x):
        return jax.lax.fori_loop(0, 50, lambda _, v: jnp.sin(v @ v), x)

    x = jnp.ones((64, 64)) / 64
    work(x).block_until_ready()
    with jax.profiler.trace("trace", create_perfetto_trace=False):
        with jax.profiler.TraceAnnotation("our_annotation"):
            work(x).block_until_ready()
    (plane,) = Path("trace").rglob("*.xplane.pb")
    content = plane.read_bytes()
    assert b"our_annotation" in content
    events = [gzip.decompress(path.read_bytes()) for path in Path("trace").rglob("*.trace.json.gz")]
    assert all(b"traceEvents" in text for text in events)
    return f"xplane of {len(content)} bytes"
