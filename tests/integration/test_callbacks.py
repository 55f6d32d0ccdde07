# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""JAX programs on the installed wheels: callbacks, FFI targets and the client's configuration."""

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.release.model import Release
from programs import free_port, run_code

pytestmark = pytest.mark.integration

SETUP = """
import jax, jax.numpy as jnp, numpy as np
from jax._src import xla_bridge
on_plugin = xla_bridge.using_pjrt_c_api
"""


@pytest.fixture(scope="module")
def evaluate(wheel_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """Return a function: program → the value of its variable `answer`, and what it wrote to stderr."""
    work = tmp_path_factory.mktemp("work")

    def run(program: str, **environ: str) -> tuple[Any, str]:
        result = run_code(wheel_python, f"{SETUP}{program}\nprint(repr(answer))", folder=work, environ=environ)
        assert result.returncode == 0, result.stderr
        return ast.literal_eval(result.stdout.splitlines()[-1]), result.stderr

    return run


def test_the_plugin_serves_without_a_word(evaluate: Callable[..., Any]) -> None:
    """JAX's default platform is the plugin, and nothing is said about it being experimental."""
    program = "answer = (float(jnp.ones(3).sum()), jax.default_backend(), len(jax.devices()), on_plugin())"
    assert evaluate(program) == ((3.0, "cpu", 1, True), "")


@pytest.mark.parametrize("disabled", ["0", "1"])
def test_the_switch_leaves_jax_as_it_was(evaluate: Callable[..., Any], disabled: str) -> None:
    """The built-in client serves, callbacks included."""
    program = "answer = (on_plugin(), int(jax.pure_callback(lambda: np.int32(5), jax.ShapeDtypeStruct((), np.int32))))"
    assert evaluate(program, JAXLIB_CPU_DISABLE=disabled)[0] == (disabled == "0", 5)


@pytest.mark.parametrize(
    ("program", "environ", "count"),
    [
        ("jax.config.update('jax_num_cpu_devices', 3)", {}, 3),
        ("", {"JAX_NUM_CPU_DEVICES": "2"}, 2),
        ("", {"XLA_FLAGS": "--xla_force_host_platform_device_count=5"}, 5),
        ("jax.config.update('jax_num_cpu_devices', 2)", {"XLA_FLAGS": "--xla_force_host_platform_device_count=5"}, 2),
    ],
    ids=["config", "environment", "XLA flag", "both"],
)
def test_number_of_devices(evaluate: Callable[..., Any], program: str, environ: dict[str, str], count: int) -> None:
    """As with the built-in client."""
    for disabled in ("0", "1"):
        assert evaluate(f"{program}\nanswer = len(jax.devices())", **environ, JAXLIB_CPU_DISABLE=disabled)[0] == count


@pytest.mark.parametrize("asynchronous", ["true", "false"])
def test_jax_inside_a_callback_does_not_hang(evaluate: Callable[..., Any], asynchronous: str) -> None:
    """Whatever the setting, on one device and on four that wait for each other."""
    program = """
jax.config.update("jax_num_cpu_devices", 4)
def nested(x): return np.asarray(jax.jit(jnp.matmul)(jnp.sin(x), jnp.ones((x.shape[-1],), x.dtype)))
def call(x): return jax.pure_callback(nested, jax.ShapeDtypeStruct(x.shape[:1], x.dtype), x)
mesh = jax.make_mesh((4,), ("d",), axis_types=(jax.sharding.AxisType.Auto,)); spec = jax.P("d")
many = jax.jit(jax.shard_map(lambda x: jax.lax.psum(call(x), "d"), mesh=mesh, in_specs=spec, out_specs=jax.P()))
one = jax.jit(lambda x: call(x) + x.sum())
x = jnp.ones((8, 300))
answer = [(float(one(x)[0]), float(many(x)[0])) for _ in range(3)]
expected = (300 * np.sin(1.0) + 2400, 4 * 300 * np.sin(1.0))
answer = bool(np.allclose(answer, [expected] * 3, rtol=1e-4))
"""
    assert evaluate(program, JAX_CPU_ENABLE_ASYNC_DISPATCH=asynchronous)[0] is True


def test_an_exception_reaches_the_caller_with_its_text(evaluate: Callable[..., Any]) -> None:
    """In the same words on both clients, but for the numbers of lines."""
    program = """
import logging, re; logging.disable(logging.CRITICAL)
def fail(x): raise ValueError("no é")
try:
    jax.jit(lambda x: jax.pure_callback(fail, x, x))(1.0)
except jax.errors.JaxRuntimeError as error:
    answer = re.sub("line [0-9]+", "line N", str(error))
"""
    plugin, builtin = (evaluate(program, JAXLIB_CPU_DISABLE=disabled)[0] for disabled in "01")
    assert plugin == builtin
    assert plugin.startswith("INTERNAL: CpuCallback error calling callback: Traceback (most recent call last):\n")
    assert plugin.endswith("in fail\nValueError: no é")


def test_types_through_the_real_library(evaluate: Callable[..., Any]) -> None:
    """XLA's own idea of how such an array is laid out in memory is the extension's."""
    names = ("int4", "uint2", "float4_e2m1fn", "bfloat16", "float8_e4m3fn", "complex64", "bool")
    program = f"""
def reverse_twice(name):
    x = (jnp.arange(5) % 3).astype(name)
    y = jax.jit(lambda x: jax.pure_callback(lambda v: np.asarray(v)[::-1], x, x)[::-1])(x)
    return str(y.dtype), bool((y == x).all())
answer = [reverse_twice(name) for name in {names}]
"""
    assert evaluate(program)[0] == [(name, True) for name in names]


def test_costs_are_those_of_the_built_in_client(evaluate: Callable[..., Any]) -> None:
    """The plugin leaves the analysis out; jaxlib has it."""
    program = "answer = jax.jit(lambda x: x @ x + 1).lower(jnp.ones((8, 8))).compile().cost_analysis()"
    plugin, builtin = (evaluate(program, JAXLIB_CPU_DISABLE=disabled)[0] for disabled in "01")
    assert plugin == builtin
    assert plugin["flops"] == 1088


COUNTER = """
import ctypes
library = ctypes.CDLL({path!r})
make = ctypes.pythonapi.PyCapsule_New
make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
def data(name): return make(ctypes.addressof(ctypes.c_char.in_dll(library, name)), None, None)
if {late}: jax.devices()
jax.ffi.register_ffi_type("counter", dict(type_id=data("counter_type_id"), type_info=data("counter_type_info")))
jax.ffi.register_ffi_target("counter", dict(instantiate=jax.ffi.pycapsule(library.counter_instantiate),
                                            execute=jax.ffi.pycapsule(library.counter_execute)))
count = lambda: jax.ffi.ffi_call("counter", jax.ShapeDtypeStruct((), np.int32), has_side_effect=True)()
jax.devices()  # what is compiled before there is a client may be compiled once more, and counts anew
first, second = jax.jit(count), jax.jit(lambda: count() + 10)
answer = [int(first()), int(first()), int(second()), int(first())]
"""


@pytest.fixture(scope="module")
def counter(root: Path, compile_library: Callable[..., Path]) -> Path:
    """Return a user's library with a staged target; see tests/data/ffi_counter.c."""
    return compile_library("counter.so", "-fvisibility=default", root / "tests/data/ffi_counter.c")


@pytest.mark.parametrize("late", [False, True], ids=["before the client", "after the client"])
@pytest.mark.parametrize("disabled", ["0", "1"], ids=["plugin", "built-in"])
def test_a_users_staged_target_with_state(
    evaluate: Callable[..., Any], counter: Path, disabled: str, *, late: bool
) -> None:
    """Each executable has a state of its own, on both clients."""
    program = COUNTER.format(path=str(counter), late=late)
    assert evaluate(program, JAXLIB_CPU_DISABLE=disabled)[0] == [1, 2, 11, 3]


def test_an_untyped_target_is_refused_by_name(evaluate: Callable[..., Any]) -> None:
    """At the call that registers it."""
    program = """
import ctypes
jax.devices()
try:
    jax.ffi.register_ffi_target("old", jax.ffi.pycapsule(ctypes.CDLL(None).abs), api_version=0)
except NotImplementedError as error:
    answer = str(error)
"""
    assert "'old' has api_version=0" in evaluate(program)[0]


def test_hlo_passes_reach_the_plugin(evaluate: Callable[..., Any]) -> None:
    """A pass registered for `cpu` sees the program, and is gone once it is cleared."""
    program = """
import jax.extend.xla as xla
seen = []
xla.register_hlo_module_transformation(lambda module: seen.append(len(module) > 0), name="look", platforms="cpu")
jax.jit(lambda x: x + 1)(1.0); during = len(seen)
cleared = xla.clear_hlo_module_transformation("look", platforms="cpu")
jax.jit(lambda x: x + 2)(1.0)
answer = (during > 0, cleared, len(seen) == during)
"""
    assert evaluate(program)[0] == (True, True, True)


def test_a_jax_that_cannot_be_completed_is_refused(evaluate: Callable[..., Any], release: Release) -> None:
    """JAX would log the reason and go on with its built-in client."""
    program = """
from jaxlib import _jax
_jax.custom_call_targets = lambda platform: {}
try:
    jnp.ones(1)
except RuntimeError as error:
    answer = str(error)
"""
    text = evaluate(program)[0]
    named = ("TakeOverError", "KeyError: 'xla_ffi_python_cpu_callback'", "JAXLIB_CPU_DISABLE=1")
    assert [value for value in (*named, f"uv pip install jax=={release.version}") if value not in text] == []


def test_memory_of_others_is_taken_over_or_copied(evaluate: Callable[..., Any]) -> None:
    """Only aligned memory can be shared; what was copied no longer changes with the original."""
    program = """
def take(offset, copy):
    room = np.zeros(256, np.uint8); start = -room.ctypes.data % 64 + offset
    given = room[start:start + 48].view(np.float32).reshape(3, 4); given[...] = 1
    taken = jnp.from_dlpack(given, copy=copy); given[...] = 2
    return taken.shape, float(taken[0, 0])
answer = [take(offset, copy) for offset in (0, 16) for copy in (None, True)]
"""
    assert evaluate(program)[0] == [((3, 4), 2.0), *[((3, 4), 1.0)] * 3]


def test_several_processes_get_the_built_in_client(evaluate: Callable[..., Any]) -> None:
    """With one line that says so."""
    program = f"""
jax.distributed.initialize("127.0.0.1:{free_port()}", 1, 0)
answer = (on_plugin(), float(jnp.linalg.det(jnp.eye(3))))
"""
    answer, log = evaluate(program)
    assert answer == (False, 1.0)
    assert (len(log.splitlines()), "jax.distributed" in log) == (1, True)


@pytest.mark.parametrize("drop", ["", "jax.extend.backend.clear_backends()"], ids=["exit", "clear_backends"])
def test_a_numpy_view_may_outlive_the_backends(evaluate: Callable[..., Any], drop: str) -> None:
    """JAX drops its clients at exit and on demand; a view that goes later must not read a client that is gone."""
    program = f"""
import jax.extend
array = jnp.arange(1000.0) * 2
view = array._value  # what printing and resharding make; its base refers to the buffer, not to the client
answer = type(view.base).__name__, float(view.sum())
del array
{drop}
jax.clear_caches()
"""
    # The allocator overwrites what is freed, so that a read of it shows every time.
    tunables = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0:glibc.malloc.perturb=165"}
    assert evaluate(program, **tunables)[0] == ("PyCapsule", 999000.0)
