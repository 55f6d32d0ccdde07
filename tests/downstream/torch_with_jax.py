# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch and JAX at work in one process: they compute, in threads too, share arrays, and call each other."""

import gc
import importlib
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

# bfloat16 is a type that NumPy has not; the complex one has two parts.
TYPES = ("float32", "float64", "float16", "bfloat16", "int8", "int32", "int64", "uint8", "bool", "complex64")
THREADS = 4
ROUNDS = 5


def check(order: tuple[str, str]) -> str:
    """Import both and let each compute before the other is imported; then compute, exchange arrays and call back.

    Args:
        order: `("torch", "jax")` or the other way round.
    """
    first = {"torch": use_torch, "jax": use_jax}
    for name in order:
        importlib.import_module(name)
        compare(first[name])
    import jax

    jax.config.update("jax_enable_x64", True)  # noqa: FBT003
    checks = (in_threads, from_torch, unaligned_from_torch, to_torch, call_torch_back, torch_gradient)
    for entry in checks:
        entry()
    devices = ", ".join(sorted(map(str, jax.devices())))
    return f"{' before '.join(order)}: {len(checks)} checks, {len(TYPES)} types both ways, {devices}"


def compare(compute: Callable[..., tuple[Any, Any, Any]], seed: int = 0) -> None:
    """Compare a product, singular values and a Fourier transform with NumPy's in float64."""
    left, right = np.random.default_rng(seed).standard_normal((2, 96, 96))
    product, values, spectrum = compute(left.astype("float32"), right.astype("float32"))
    np.testing.assert_allclose(np.asarray(product), left @ right, atol=1e-3)
    np.testing.assert_allclose(np.asarray(values), np.linalg.svd(left, compute_uv=False), atol=1e-3)
    np.testing.assert_allclose(np.asarray(spectrum), np.fft.fft2(left), atol=1e-2)


def use_torch(left: np.ndarray, right: np.ndarray) -> tuple[Any, Any, Any]:
    """Compute with PyTorch."""
    import torch

    x, y = torch.from_numpy(left), torch.from_numpy(right)
    return x @ y, torch.linalg.svdvals(x), torch.fft.fft2(x)


def use_jax(left: np.ndarray, right: np.ndarray) -> tuple[Any, Any, Any]:
    """Compute the same with JAX, compiled."""
    import jax
    import jax.numpy as jnp

    return jax.jit(lambda x, y: (x @ y, jnp.linalg.svd(x, compute_uv=False), jnp.fft.fft2(x)))(left, right)


def in_threads() -> None:
    """Let threads use both by turns: two OpenMP or thread pools and two copies of a BLAS are at work at once."""
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for turn in range(ROUNDS):
                compare((use_torch, use_jax)[(seed + turn) % 2], seed)
        except BaseException as error:  # noqa: BLE001 - a thread's own error would be printed only
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


def from_torch() -> None:
    """Give PyTorch's tensors to JAX; they live on after PyTorch has let them go."""
    import jax
    import jax.numpy as jnp
    import torch

    for name in TYPES:
        tensor = torch.arange(24).remainder(2).reshape(4, 6).to(getattr(torch, name))
        array = jax.dlpack.from_dlpack(tensor)
        assert (array.dtype, array.shape) == (jnp.dtype(name), (4, 6))
        expected = tensor.to(torch.complex128).numpy()
        del tensor
        gc.collect()
        np.testing.assert_array_equal(np.asarray(array).astype("complex128"), expected)
    copied = jax.dlpack.from_dlpack(torch.zeros(3), copy=True)
    np.testing.assert_array_equal(jax.jit(lambda x: x + 1)(copied), np.ones(3))


def unaligned_from_torch() -> None:
    """Give JAX a tensor that does not begin where XLA wants its memory to, and one that is transposed."""
    import jax
    import torch

    base = torch.arange(25, dtype=torch.float32)
    np.testing.assert_array_equal(jax.dlpack.from_dlpack(base[1:]), np.arange(1, 25))
    np.testing.assert_array_equal(jax.dlpack.from_dlpack(base.reshape(5, 5).T), np.arange(25).reshape(5, 5).T)


def to_torch() -> None:
    """Give JAX's arrays to PyTorch: the same memory, which lives on after JAX has let the array go."""
    import jax
    import jax.numpy as jnp
    import torch

    for name in TYPES:
        array = jax.jit(lambda dtype=name: (jnp.arange(24) % 2).reshape(4, 6).astype(dtype))()
        tensor = torch.from_dlpack(array)
        assert (tensor.dtype, tuple(tensor.shape)) == (getattr(torch, name), (4, 6))
        assert tensor.data_ptr() == array.unsafe_buffer_pointer()
        del array
        gc.collect()
        np.testing.assert_array_equal(tensor.to(torch.complex64).numpy(), np.arange(24).reshape(4, 6) % 2)


def call_torch_back() -> None:
    """Call PyTorch from a compiled program of JAX, on the thread of XLA that runs it."""
    import jax
    import torch

    def svd(matrix: np.ndarray) -> np.ndarray:
        return torch.linalg.svdvals(torch.from_numpy(np.array(matrix))).numpy()

    matrix = np.random.default_rng(1).standard_normal((64, 64))
    shape = jax.ShapeDtypeStruct((64,), np.float64)
    values = jax.jit(lambda x: jax.pure_callback(svd, shape, x * 2) / 2)(matrix)
    np.testing.assert_allclose(values, np.linalg.svd(matrix, compute_uv=False))


def torch_gradient() -> None:
    """Let PyTorch's automatic differentiation, which has threads of its own, run through a function of JAX."""
    import jax
    import torch

    class Sine(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return torch.from_dlpack(jax.numpy.sin(jax.dlpack.from_dlpack(x.detach())))

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            (x,) = ctx.saved_tensors
            return torch.from_dlpack(jax.numpy.cos(jax.dlpack.from_dlpack(x.detach()))) * gradient

    x = torch.linspace(0, 1, 32, dtype=torch.float64, requires_grad=True)
    Sine.apply(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.cos(x.detach().numpy()))
