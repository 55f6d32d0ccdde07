# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Dense and sparse linear algebra, through the handlers that jaxlib registers, against NumPy and SciPy in float64."""

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jax.experimental import sparse


def check() -> str:
    """Run each decomposition in single, double and complex precision."""
    rng = np.random.default_rng(3)
    general = rng.standard_normal((12, 12))
    symmetric = general @ general.T + 12 * np.eye(12)
    rhs = rng.standard_normal((12, 3))

    with jax.enable_x64(True):
        for dtype, rtol in ((np.float32, 2e-3), (np.float64, 1e-9), (np.complex64, 2e-3), (np.complex128, 1e-9)):
            a, s, b = (x.astype(dtype) for x in (general, symmetric, rhs))
            close = {"rtol": rtol, "atol": rtol}
            np.testing.assert_allclose(jax.jit(jnp.linalg.solve)(a, b), np.linalg.solve(general, rhs), **close)
            np.testing.assert_allclose(jax.jit(jnp.linalg.cholesky)(s), np.linalg.cholesky(symmetric), **close)
            np.testing.assert_allclose(jnp.linalg.inv(s), np.linalg.inv(symmetric), **close)
            np.testing.assert_allclose(
                np.sort(jnp.linalg.eigvalsh(s)), np.sort(np.linalg.eigvalsh(symmetric)), rtol=rtol
            )
            u, sv, vt = jax.jit(lambda x: jnp.linalg.svd(x, full_matrices=False))(a)
            np.testing.assert_allclose(sv, np.linalg.svd(general, compute_uv=False), **close)
            np.testing.assert_allclose((u * sv) @ vt, general, **close)
            q, r = jax.jit(jnp.linalg.qr)(a)
            np.testing.assert_allclose(q @ r, general, **close)
            np.testing.assert_allclose(q.conj().T @ q, np.eye(12), **close)
            values, vectors = jnp.linalg.eig(a)
            np.testing.assert_allclose(a @ vectors, vectors * values, rtol=rtol, atol=10 * rtol)
            p, low, up = jax.scipy.linalg.lu(a)
            np.testing.assert_allclose(p @ low @ up, general, **close)

        np.testing.assert_allclose(
            jax.scipy.linalg.solve_triangular(jnp.tril(symmetric), rhs, lower=True),
            scipy.linalg.solve_triangular(np.tril(symmetric), rhs, lower=True),
            rtol=1e-9,
        )
        t, z = jax.scipy.linalg.schur(general)
        np.testing.assert_allclose(z @ t @ z.T, general, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(jax.scipy.linalg.expm(general / 12), scipy.linalg.expm(general / 12), rtol=1e-8)

        thinned = np.where(np.abs(general) > 1, general, 0.0)
        multiplied = jax.jit(lambda m, v: m @ v)(sparse.BCOO.fromdense(thinned), rhs)
        np.testing.assert_allclose(multiplied, thinned @ rhs, rtol=1e-9)
    return "solve, cholesky, inv, eigh, svd, qr, eig, lu, schur, expm, sparse; 4 dtypes"
