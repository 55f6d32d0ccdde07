# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The examples of brainunit's page "Backends overview", unchanged; a test compares what they print with the page."""

# How backend selection works
import numpy as np
import jax.numpy as jnp
import brainunit as u

q_np  = u.Quantity(np.array([1.0]), unit=u.meter)
q_jax = u.Quantity(jnp.array([2.0]), unit=u.meter)

print('q_np.backend        =', q_np.backend)
print('q_jax.backend       =', q_jax.backend)
print('(q_np + q_np).bk    =', (q_np + q_np).backend)   # single -> wins
print('(q_np + q_jax).bk   =', (q_np + q_jax).backend)  # mixed  -> default

with u.using_backend('numpy'):
    print('inside using_backend:', (q_np + q_jax).backend)  # 'numpy'

print('outside:', (q_np + q_jax).backend)                    # back to 'jax'

u.set_default_backend('numpy')
print(u.get_default_backend())
print((q_np + q_jax).backend)

u.set_default_backend(None)   # restore default
print(u.get_default_backend())

# Backend capabilities and limitations
from brainunit import BackendError

q_np = u.Quantity(np.array([1.0, 2.0, 3.0]), unit=u.meter)
try:
    u.lax.slice(q_np, (0,), (1,))
except BackendError as exc:
    print('expected:', exc)

# convert and retry
print(u.lax.slice(q_np.to_jax(), (0,), (1,)))

# Optional dependencies and graceful failure
print('is_jax_array(jnp.zeros(1))      =', u.is_jax_array(jnp.zeros(1)))
print('is_numpy_array(np.zeros(1))     =', u.is_numpy_array(np.zeros(1)))
print('is_cupy_array on a non-cupy obj =', u.is_cupy_array([1, 2, 3]))
print('is_torch_array on a non-torch   =', u.is_torch_array([1, 2, 3]))
print('is_dask_array on a non-dask     =', u.is_dask_array([1, 2, 3]))
print('is_ndonnx_array on non-ndonnx   =', u.is_ndonnx_array([1, 2, 3]))


def pick_backend():
    for name, module in [('torch', 'torch'), ('cupy', 'cupy'),
                          ('jax', 'jax'),    ('numpy', 'numpy')]:
        try:
            __import__(module)
            return name
        except ImportError:
            continue
    raise RuntimeError('no array backend available')

print('preferred backend:', pick_backend())

# Conversion between backends
q_np = u.Quantity(np.array([1.0, 2.0]), unit=u.meter)
q_jax = q_np.to_jax()         # NumPy -> JAX
q_back = q_jax.to_numpy()     # JAX  -> NumPy

print(q_np.backend, '->', q_jax.backend, '->', q_back.backend)
