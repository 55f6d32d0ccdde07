# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Host callbacks of the extension: arrays of every type go in and out, and errors come back."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.environment.processes import clean_environ

pytestmark = pytest.mark.integration


def test_the_id_of_the_user_data_is_learned(run: Callable[..., Any]) -> None:
    """From jaxlib's handler, which differs between builds of XLA."""
    assert run("p.type_id") == 4711


DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128", "bfloat16", "float8_e5m2", "float8_e4m3fn"),
    *("float8_e4m3b11fnuz", "float8_e5m2fnuz", "float8_e4m3fnuz", "float8_e4m3", "float8_e3m4", "float8_e8m0fnu"),
)


def test_arrays_of_every_type_go_in_and_out(run: Callable[..., Any]) -> None:
    """The callback sees the values, of the right type and read-only; its results arrive whatever their strides."""
    statements = (
        "def call(name):\n"
        "    dtype = np.dtype(getattr(ml_dtypes, name, None) or name)\n"
        "    given = np.array([[1, 2, 1], [4, 1, 2]]).astype(dtype); out = np.zeros((3, 2), dtype)\n"
        "    seen = []\n"
        "    def callback(x):\n"
        "        seen.append((x.dtype == dtype, x.shape, x.flags.writeable, bool((x == given).all())))\n"
        "        return (x.T,)\n"
        "    return p.call(callback, [given], [out]), seen, bool((out == given.T).all())\n"
    )
    expected = ("", [(True, (2, 3), False, True)], True)
    assert run(f"{{name: call(name) for name in {DTYPES}}}", statements) == dict.fromkeys(DTYPES, expected)


@pytest.mark.parametrize(
    ("dtype", "packed", "values"),
    [
        ("int4", [0x21, 0x8F, 0x07], [1, 2, -1, -8, 7]),
        ("uint4", [0x21, 0x8F, 0x07], [1, 2, 15, 8, 7]),
        ("int2", [0b10_11_01_00, 0b01], [0, 1, -1, -2, 1]),
        ("uint2", [0b10_11_01_00, 0b01], [0, 1, 3, 2, 1]),
        ("float4_e2m1fn", [0x21, 0xAF, 0x07], [0.5, 1.0, -6.0, -1.0, 6.0]),
    ],
)
def test_types_of_less_than_a_byte_are_packed(
    run: Callable[..., Any], dtype: str, packed: list[int], values: list[float]
) -> None:
    """XLA keeps several elements in one byte, from the low bits up; NumPy keeps one in each."""
    statements = (
        f"dtype = np.dtype(ml_dtypes.{dtype}); given = np.zeros(5, dtype); out = np.full(5, 3, dtype)\n"
        f"given.view(np.uint8)[:{len(packed)}] = {packed}\n"
        "seen = []\n"
        "def callback(x):\n"
        "    seen.extend(x.astype(float).tolist())\n"
        "    return (x,)\n"
    )
    value = f"(p.call(callback, [given], [out]), seen, out.view(np.uint8)[:{len(packed)}].tolist())"
    assert run(value, statements) == ("", values, packed)


def test_shapes_without_elements_or_dimensions(run: Callable[..., Any]) -> None:
    """A scalar is an array of no dimensions; a buffer of no elements has no address worth reading."""
    statements = "scalar, none = np.array(3, np.float32), np.zeros((0, 4), np.int32); out = scalar.copy()"
    value = "(p.call(lambda a, b: (a * 2, b), [scalar, none], [out, none.copy()]), out.tolist())"
    assert run(value, statements) == ("", 6.0)


def test_shapes_that_cannot_be_are_refused(run: Callable[..., Any]) -> None:
    """Before any memory is touched, for arguments and results."""
    claims = ("-1", "2, -3", "2**62, 8", "2**40, 2**40, 2**40", "2**60", "1, rank=-1")
    buffers = ", ".join(f"fake_plugin.claim({claim})" for claim in claims)
    statements = f"out = lambda: (np.zeros(1, np.int8),); buffers = [{buffers}]"
    text = (
        "CpuCallback error calling callback: "
        "ValueError: a buffer of a CPU callback has a negative dimension, or too many elements"
    )
    value = "[(p.call(print, [buffer], []), p.call(out, [], [buffer])) for buffer in buffers]"
    assert run(value, statements) == [(text, text)] * len(claims)


def test_tokens_are_none(run: Callable[..., Any]) -> None:
    """On the way in and out."""
    statements = "seen = []\ndef callback(*x):\n    seen.extend(x)\n    return x"
    assert run("(p.call(callback, [None, None], [None, None]), seen)", statements) == ("", [None, None])


def test_what_a_callback_keeps_stays_as_it_was(run: Callable[..., Any]) -> None:
    """XLA uses the buffer for something else as soon as the callback returns."""
    statements = "kept = []; given = np.ones(4, np.float32)\np.call(lambda x: (kept.append(x), ())[1], [given], [])"
    assert run("(given.fill(7), kept[0].tolist())[1]", statements) == [1.0] * 4


@pytest.mark.parametrize(
    ("function", "text"),
    [
        ("lambda: 3", "TypeError: CPU callback expected a tuple result, got 3"),
        ("lambda: ()", "ValueError: CPU callback expected a tuple with 1 results, got 0"),
        ("lambda: (np.zeros(3, np.float32),)", "ValueError: Mismatched result shape"),
        ("lambda: (np.zeros(2),)", "TypeError: Cannot cast array data from dtype('float64') to dtype('float32')"),
    ],
    ids=["no tuple", "count", "shape", "type"],
)
def test_a_wrong_result_is_an_error(run: Callable[..., Any], function: str, text: str) -> None:
    """Never memory of the wrong size or type."""
    value = f"p.call({function}, [], [np.zeros(2, np.float32)])"
    assert run(value).startswith(f"CpuCallback error calling callback: {text}")


def test_an_exception_is_an_error_with_its_frames(run: Callable[..., Any]) -> None:
    """Type, text and the function that raised; the next call works."""
    statements = "def fail():\n    raise KeyError('no é')\nfirst = p.call(fail, [], [])"
    first, second = run("(first, p.call(lambda: (), [], []))", statements)
    assert first.startswith("CpuCallback error calling callback: Traceback (most recent call last):\n")
    assert first.endswith("in fail\nKeyError: 'no é'")
    assert second == ""


def test_a_call_without_its_user_data_is_an_error(run: Callable[..., Any]) -> None:
    """So is one with an index beyond it."""
    assert run("(p.call(None, [], []), p.call(len, [], [], index=1))") == (
        "no user data of this type",
        "CPU callback without a valid attribute `index`",
    )


def test_references_are_balanced(run: Callable[..., Any]) -> None:
    """Neither good calls nor failing ones keep anything."""
    statements = (
        "import gc, sys\n"
        "given = np.ones((3, 2), ml_dtypes.bfloat16); out = np.zeros((2, 3), ml_dtypes.bfloat16)\n"
        "def good(x, t): return x.T, None\n"
        "def bad(x, t): raise ValueError\n"
        "def wrong(x, t): return x, None\n"
        "watched = (good, bad, wrong, np.ndarray, given.dtype, bytes)\n"
        "def state():\n"
        "    gc.collect()\n"
        "    return [sys.getrefcount(it) for it in watched], len(gc.get_objects())\n"
        "def calls(count):\n"
        "    for _ in range(count):\n"
        "        for function in (good, bad, wrong): p.call(function, [given, None], [out, None])\n"
        "calls(100); (counts, objects) = state(); calls(2000); (counts_after, objects_after) = state()\n"
    )
    same, more_objects = run("(counts == counts_after, objects_after - objects)", statements)
    assert same
    assert more_objects < 10, "6000 calls"


def test_threads_use_it_at_the_same_time(root: Path, wheel_python: Path, fake_plugin: Path) -> None:
    """Registering and calling back, with the GIL here; test_free_threaded.py does the same without it."""
    command = [str(wheel_python), str(root / "tests/data/threads.py"), str(fake_plugin)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=clean_environ(), timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
