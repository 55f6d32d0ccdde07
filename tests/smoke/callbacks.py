# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Calls from compiled code back into Python, in every form JAX has."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import buffer_callback, io_callback


def check() -> str:
    """Call back purely, with effects, in order, batched, nested, with an exception, and with buffers."""
    shape = jax.ShapeDtypeStruct((3, 4), np.float32)
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    double = jax.jit(lambda x: jax.pure_callback(lambda x: np.asarray(x) * 2, shape, x) + 1)
    np.testing.assert_array_equal(double(x), 2 * x + 1)
    # A transposed result has strides that are not those of XLA's layout.
    wide = jax.ShapeDtypeStruct((4, 3), np.float32)
    turned = jax.jit(lambda x: jax.pure_callback(lambda x: np.asarray(x).T, wide, x))
    np.testing.assert_array_equal(turned(x), x.T)

    scalar = jax.ShapeDtypeStruct((), np.float32)
    batched = jax.vmap(lambda v: jax.pure_callback(np.sum, scalar, v, vmap_method="sequential"))
    np.testing.assert_array_equal(jax.jit(batched)(x), x.sum(axis=1))

    seen: list[int] = []
    ordered = jax.jit(
        lambda n: jax.lax.fori_loop(0, n, lambda i, c: (io_callback(_append(seen), None, i, ordered=True), c)[1], 0)
    )
    jax.block_until_ready(ordered(50))
    jax.effects_barrier()
    assert seen == list(range(50))

    loose: list[int] = []
    jax.jit(lambda v: io_callback(_append(loose), None, v))(7)
    jax.debug.callback(_append(loose), 8)
    jax.jit(lambda v: jax.debug.print("value {v}", v=v))(9)
    jax.effects_barrier()
    assert sorted(loose) == [7, 8]

    # JAX inside a callback needs the client again while it is still busy with the caller.
    nested = jax.jit(lambda x: jax.pure_callback(lambda x: np.asarray(jnp.sin(jnp.asarray(x))), shape, x))
    np.testing.assert_allclose(nested(x), np.sin(x), rtol=1e-5, atol=1e-6)

    def fail(_: object) -> np.ndarray:
        raise ValueError("raised on purpose")

    try:
        jax.block_until_ready(jax.jit(lambda x: jax.pure_callback(fail, shape, x))(x))
    except Exception as error:  # noqa: BLE001 - the type is jaxlib's own
        assert "raised on purpose" in str(error)
    else:
        raise AssertionError("an exception in a callback was lost")

    given: list[object] = []
    host = jax.default_backend() == "cpu"

    def fill(_ctx: object, out: object, inp: object) -> None:
        given.append((inp.shape, inp.dtype, out.shape, out.dtype))
        if host:  # other buffers are in the memory of the device, where NumPy does not reach
            np.asarray(out)[...] = np.asarray(inp) + 3

    added = jax.block_until_ready(jax.jit(buffer_callback.buffer_callback(fill, shape))(x))
    assert given == [(x.shape, x.dtype, x.shape, x.dtype)], given
    assert not host or np.array_equal(added, x + 3), added
    return f"pure, vmapped, ordered and unordered io, debug, nested JAX, exception, buffer{'' if host else ' (shape)'}"


def _append(target: list[int]):
    return lambda value: target.append(int(value))
