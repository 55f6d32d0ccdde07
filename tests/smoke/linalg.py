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
    missing: set[str] = set()
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
            found = attempt("eig", lambda a=a: jnp.linalg.eig(a), missing)
            if found:
                values, vectors = found
                np.testing.assert_allclose(a @ vectors, vectors * values, rtol=rtol, atol=10 * rtol)
            p, low, up = jax.scipy.linalg.lu(a)
            np.testing.assert_allclose(p @ low @ up, general, **close)

        np.testing.assert_allclose(
            jax.scipy.linalg.solve_triangular(jnp.tril(symmetric), rhs, lower=True),
            scipy.linalg.solve_triangular(np.tril(symmetric), rhs, lower=True),
            rtol=1e-9,
        )
        found = attempt("schur", lambda: jax.scipy.linalg.schur(general), missing)
        if found:
            t, z = found
            np.testing.assert_allclose(z @ t @ z.T, general, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(jax.scipy.linalg.expm(general / 12), scipy.linalg.expm(general / 12), rtol=1e-8)

        thinned = np.where(np.abs(general) > 1, general, 0.0)
        multiplied = jax.jit(lambda m, v: m @ v)(sparse.BCOO.fromdense(thinned), rhs)
        np.testing.assert_allclose(multiplied, thinned @ rhs, rtol=1e-9)
        rows = sparse.CSR.fromdense(thinned)
        np.testing.assert_allclose(jax.jit(lambda v: rows @ v)(rhs[:, 0]), thinned @ rhs[:, 0], rtol=1e-9)
        np.testing.assert_allclose(jax.jit(lambda m: rows @ m)(rhs), thinned @ rhs, rtol=1e-9)
    assert not missing or jax.default_backend() != "cpu", missing
    done = [
        name
        for name in ("solve", "cholesky", "inv", "eigh", "svd", "qr", "eig", "lu", "schur", "expm", "sparse")
        if name not in missing
    ]
    return f"{', '.join(done)}; 4 dtypes" + (f"; JAX has none here: {', '.join(sorted(missing))}" if missing else "")


def attempt(name, function, missing):
    """Return what a function gives, or nothing where JAX has no implementation of it for this accelerator."""
    try:
        return function()
    except NotImplementedError:
        missing.add(name)
        return None
