# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The extension from the built wheel against a plugin that is all ours, and its sources against CPython's headers."""

from __future__ import annotations

import ast
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.environment.interpreters import find_interpreters
from pjrtwheel.environment.processes import clean_environ

pytestmark = pytest.mark.integration


@pytest.fixture(scope="session")
def fake_plugin(root: Path, compile_library: Callable[..., Path]) -> Path:
    """Return a PJRT plugin without XLA; see tests/data/fake_plugin.c."""
    return compile_library("fake_plugin.so", root / "tests/data/fake_plugin.c")


@pytest.fixture(scope="session")
def run(root: Path, wheel_python: Path, fake_plugin: Path) -> Callable[[str], Any]:
    """Return a function: an expression over `np`, `_pjrt` and the fake plugin `p` → its value, as a literal."""
    setup = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "import numpy as np, ml_dtypes, fake_plugin; from jaxlib_cpu.pjrt import _pjrt;"
        "p = fake_plugin.FakePlugin(sys.argv[2]);"
        "exec(sys.argv[3]); print(repr(eval(sys.argv[4])))"
    )

    def evaluate(expression: str, statements: str = "") -> Any:
        command = [str(wheel_python), "-I", "-c", setup, str(root / "tests/data"), str(fake_plugin)]
        result = subprocess.run(
            [*command, statements, expression], capture_output=True, text=True, check=False, env=clean_environ()
        )
        assert result.returncode == 0, result.stderr
        return ast.literal_eval(result.stdout)

    return evaluate


RAISED = """
def raised(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:
        return type(error).__name__, str(error)
"""


# Says that it started, and notes whether an answer came.
WAITING = """
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((visibility("default"))) int answered;
__attribute__((constructor)) static void wait_for_answer(void) {
  int started = -1, answer = -1;
  const char *pipes = getenv("FAKE_PIPES");
  if (pipes != NULL && sscanf(pipes, "%d %d", &started, &answer) == 2 && write(started, "x", 1) == 1) {
    struct pollfd waiting = {.fd = answer, .events = POLLIN};
    answered = poll(&waiting, 1, 5000);
  }
}
"""


def test_what_a_plugin_says_about_itself(run: Callable[..., Any]) -> None:
    """Every kind of attribute, also one newer than the header; extensions of any kind, in order; the versions."""
    values = run("(_pjrt.api_version(p.api), _pjrt.extensions(p.api), _pjrt.attributes(p.api))")
    attributes = {"text": "fake", "number": 2, "list": [1, 20, 0], "ratio": 0.5, "flag": True, "newer": None}
    assert values == ((0, 115), [(1000, 24), (5, 48)], attributes)


def test_a_library_that_does_not_exist_is_named(run: Callable[..., Any]) -> None:
    """With the path and the dynamic linker's own words."""
    kind, text = run("raised(_pjrt.load, '/nowhere/plugin.so')", RAISED)
    assert kind == "OSError"
    assert text.startswith("cannot open /nowhere/plugin.so: ")
    assert "No such file or directory" in text


def test_a_library_without_entry_point_is_named(run: Callable[..., Any], compile_library: Callable[..., Path]) -> None:
    """It is a library, but no PJRT plugin."""
    path = compile_library("no_entry.so", "-x", "c", os.devnull)
    kind, text = run(f"raised(_pjrt.load, {str(path)!r})", RAISED)
    assert (kind, text) == ("PjrtError", f"not a PJRT plugin: {path} has no function GetPjrtApi")


def test_what_is_no_api_is_refused(run: Callable[..., Any]) -> None:
    """Any object but a capsule of that name."""
    assert run("raised(_pjrt.api_version, 3)[0], raised(_pjrt.extensions, p.capsule('fake_call'))[0]", RAISED) == (
        "ValueError",
        "ValueError",
    )


@pytest.mark.parametrize("size", [0, 40, 55])
def test_an_api_that_cannot_tell_its_errors_is_refused(run: Callable[..., Any], size: int) -> None:
    """Whether a library returns it or a capsule of someone else has it: its errors could not be read."""
    value = "(raised(_pjrt.load, p.path), raised(_pjrt.attributes, p.api), raised(_pjrt.api_version, p.api))"
    loaded, *capsules = run(value, f"{RAISED}\np.library.fake_set_api_size({size})")
    assert loaded[0] == "PjrtError"
    assert re.fullmatch("not a PJRT plugin: /.*/fake_plugin.so has no usable API", loaded[1])
    assert capsules == [("PjrtError", "not a PJRT plugin: this capsule has no usable API")] * 2


def test_an_old_api_is_read_as_far_as_it_goes(run: Callable[..., Any]) -> None:
    """It ends after the functions for errors, before the attributes."""
    assert run("(_pjrt.api_version(p.api), _pjrt.attributes(p.api))", "p.library.fake_set_api_size(56)") == (
        (0, 115),
        {},
    )


def without_override(lines: list[str]) -> list[str]:
    """Leave out that the library is of another release, which is so for some releases."""
    return [line for line in lines if not line.startswith("override ")]


def test_the_status_command_says_what_the_plugin_says(run: Callable[..., Any]) -> None:
    """Versions, extensions by PJRT's names, and attributes; a plugin that refuses to tell does not fit."""
    statements = (
        "import dataclasses, jaxlib_cpu\n"
        "from jaxlib_cpu.pjrt.examine import examine_plugin\n"
        "from jaxlib_cpu.pjrt.report import to_text\n"
        "plugin = dataclasses.replace(jaxlib_cpu.PLUGIN, library=p.path)\n"
        "status = lambda: to_text(examine_plugin(plugin, 0, opening=True))\n"
        "good = status(); p.library.fake_refuse_attributes()\n"
    )
    lines = [
        "PJRT API    0.115",
        "extensions  1000, FFI",
        "attributes  text fake, number 2, list 1.20.0, ratio 0.5, flag True, newer None",
        "jaxlib-cpu fits here: JAX uses it for its platform 'cpu'",
    ]
    good, refused = (without_override(lines) for lines in run("(good, status())", statements))
    path = good[2].removeprefix("library     ")
    assert good[3:] == lines
    assert refused == [
        *good[:2],
        f"problem     {path} does not say what it is: cannot read the plugin's attributes: not today",
        f"jaxlib-cpu does not fit here: {path} does not say what it is: cannot read the plugin's attributes: not today",
    ]


def test_other_threads_run_while_a_library_is_opened(
    run: Callable[..., Any], compile_library: Callable[..., Path], tmp_path: Path
) -> None:
    """Its initializer here waits for a byte that only another Python thread can send."""
    source = tmp_path / "waiting.c"
    source.write_text(WAITING, "utf-8")
    path = compile_library("waiting.so", source)
    statements = (
        f"{RAISED}\nimport ctypes, os, threading\n"
        "started, answer = os.pipe(), os.pipe()\n"
        "os.environ['FAKE_PIPES'] = f'{started[1]} {answer[0]}'\n"
        "def reply():\n"
        "    os.read(started[0], 1); os.write(answer[1], b'x')\n"
        "thread = threading.Thread(target=reply, daemon=True); thread.start()\n"
        f"refusal = raised(_pjrt.load, {str(path)!r})[0]; thread.join()\n"
    )
    assert run(f"(refusal, ctypes.c_int.in_dll(ctypes.CDLL({str(path)!r}), 'answered').value)", statements) == (
        "PjrtError",
        1,
    )


def test_single_handlers_and_stages_are_registered(run: Callable[..., Any]) -> None:
    """A single handler becomes the execute stage; all five stages arrive where they belong; traits are kept."""
    statements = (
        "c = p.capsule('fake_mute_handler'); stages = ('instantiate', 'prepare', 'initialize', 'execute', 'record')\n"
        "_pjrt.register_ffi_stages(p.api, 'all', dict.fromkeys(stages, c), 'Host', 1)\n"
        "_pjrt.register_ffi_stages(p.api, 'two', {'prepare': c, 'execute': c}, 'Host', 0)\n"
    )
    targets = "[p.library.fake_target(name) for name in (b'call', b'all', b'two', b'none')]"
    assert run(targets, statements) == [0b01000, 0b11111 | 1 << 8, 0b01010, -1]


def test_handlers_that_are_newer_than_the_plugin_are_registered(run: Callable[..., Any]) -> None:
    """XLA passes over them without a word; each is called through a function that states the plugin's version."""
    statements = (
        "c = p.capsule('fake_newer_handler'); _pjrt.register_ffi_handler(p.api, 'call', c, 'Host', 3)\n"
        "_pjrt.register_ffi_stages(p.api, 'two', {'prepare': c, 'execute': c}, 'Host', 0)\n"
        "answers = [p.call(None, [], []) for _ in range(3)]\n"
    )
    assert run("answers, p.library.fake_newer_calls()", statements) == (["", "the second call fails", ""], 3)
    stated = "[p.library.fake_stated_version(*place) for place in ((b'call', 3), (b'two', 1), (b'two', 3))]"
    assert run(f"[p.library.fake_target(name) for name in (b'call', b'two')], {stated}", statements) == (
        [0b01000 | 3 << 8, 0b01010],
        [4, 4, 4],
    )


def test_handlers_as_old_as_the_plugin_are_registered_themselves(run: Callable[..., Any]) -> None:
    """Nothing is between them and XLA."""
    statements = (
        "p.library.fake_set_ffi_version(9)\n"
        "c = p.capsule('fake_newer_handler'); _pjrt.register_ffi_handler(p.api, 'call', c, 'Host', 0)\n"
        "p.library.fake_set_ffi_version(4)\n"
    )
    assert run("p.library.fake_stated_version(b'call', 3)", statements) == 9


def test_a_newer_handler_may_be_registered_any_number_of_times(run: Callable[..., Any]) -> None:
    """It keeps the function that was registered in its place, and takes no other."""
    statements = (
        "c = p.capsule('fake_newer_handler')\n"
        "for _ in range(2000): _pjrt.register_ffi_handler(p.api, 'call', c, 'Host', 0)\n"
    )
    assert run("p.call(None, [], []), p.library.fake_stated_version(b'call', 3)", statements) == ("", 4)


def test_handlers_that_are_newer_than_the_plugin_are_limited_in_number(run: Callable[..., Any]) -> None:
    """There is a function for each of 1024; a further one is refused, and so is every later one."""
    statements = RAISED + (
        "distinct = [p.newer_handler() for _ in range(1025)]\n"
        "for c in distinct[:1024]: _pjrt.register_ffi_handler(p.api, 'call', c, 'Host', 0)\n"
    )
    refusal = ("NotImplementedError", "no more than 1024 XLA FFI handlers can be newer than the PJRT plugin")
    call = "raised(_pjrt.register_ffi_handler, p.api, 'call', distinct[{}], 'Host', 0)".format
    expected = [refusal, refusal, None, ""]
    assert run(f"[{call(1024)}, {call(1024)}, {call(7)}, p.call(None, [], [])]", statements) == expected


def test_refusals_of_the_plugin_reach_the_caller(run: Callable[..., Any]) -> None:
    """Whether they come through the PJRT C API or through XLA's own table."""
    statements = RAISED + "c = p.capsule('fake_mute_handler')"
    assert run("raised(_pjrt.register_ffi_handler, p.api, 'refused', c, 'Host', 0)", statements) == (
        "PjrtError",
        "cannot register an XLA FFI handler: this target is refused",
    )
    assert run("raised(_pjrt.register_ffi_stages, p.api, 't', {}, 'Host', 0)", statements) == (
        "PjrtError",
        "cannot register an XLA FFI target: execute stage is required",
    )
    assert run("raised(_pjrt.register_ffi_type, p.api, 'refused', c, None, 'Host')", statements) == (
        "PjrtError",
        "cannot register an XLA FFI type: this type is refused",
    )


def test_refusals_without_readable_text_reach_the_caller(run: Callable[..., Any]) -> None:
    """What is no UTF-8 is replaced, and what is no text at all is named."""
    statements = RAISED + "c = p.capsule('fake_mute_handler')"
    assert run("raised(_pjrt.register_ffi_handler, p.api, 'garbled', c, 'Host', 0)", statements) == (
        "PjrtError",
        "cannot register an XLA FFI handler: no \ufffd text",
    )
    assert run("raised(_pjrt.register_ffi_type, p.api, 'mute', c, None, 'Host')", statements) == (
        "PjrtError",
        "cannot register an XLA FFI type: no reason given",
    )


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("p.bind('fake_jaxlib_handler', names=['call'])", ("TypeError", "argument 2 must be tuple, not list")),
        ("p.bind('fake_jaxlib_handler', names=(1,))", ("TypeError", "bad argument type for built-in operation")),
        ("p.bind('fake_jaxlib_handler', dtypes=())", ("TypeError", "argument 5 must be dict, not tuple")),
        ("_pjrt.register_ffi_stages(p.api, 't', (), 'Host', 0)", ("TypeError", "argument 3 must be dict, not tuple")),
        (
            "_pjrt.register_ffi_stages(p.api, 't', {'execute': 1}, 'Host', 0)",
            ("ValueError", "PyCapsule_GetName called with invalid PyCapsule object"),
        ),
        (
            "_pjrt.register_ffi_type(p.api, 't', 1, None, 'Host')",
            ("ValueError", "PyCapsule_GetName called with invalid PyCapsule object"),
        ),
    ],
    ids=["names", "name", "dtypes", "stages", "stage", "type"],
)
def test_arguments_of_a_wrong_type_are_refused(run: Callable[..., Any], call: str, error: tuple[str, str]) -> None:
    """By CPython's own words, whichever argument it is."""
    assert run(f"raised(lambda: {call})", RAISED) == error


@pytest.mark.parametrize(
    "arguments",
    ["'fake_mute_handler'", "'fake_jaxlib_handler', dtypes={}", "'fake_jaxlib_handler', describe=repr"],
    ids=["probe", "dtypes", "describe"],
)
def test_callbacks_are_bound_in_one_way_only(run: Callable[..., Any], arguments: str) -> None:
    """All handlers of a process share what they were first given: the same again is fine, another would go unused."""
    value = f"(p.bind('fake_jaxlib_handler', dtypes=dict(p.dtypes)), raised(lambda: p.bind({arguments})))"
    refusal = ("ValueError", "host callbacks are in use already, with another probe, dtypes or describe")
    assert run(value, RAISED) == (4711, refusal)


@pytest.mark.parametrize(
    ("call", "what"),
    [
        ("_pjrt.register_ffi_stages, p.api, 't', {}, 'Host', 0", "FFI targets with several stages"),
        ("_pjrt.register_ffi_type, p.api, 't', c, None, 'Host'", "FFI types"),
    ],
    ids=["stages", "type"],
)
def test_an_older_ffi_is_not_misread(run: Callable[..., Any], call: str, what: str) -> None:
    """The layout of these arguments is that of XLA FFI 0.4."""
    statements = RAISED + "c = p.capsule('fake_mute_handler'); p.library.fake_set_ffi_version(3)"
    assert run(f"raised({call})", statements) == (
        "NotImplementedError",
        f"{what} need XLA FFI 0.4 or newer; this PJRT plugin has 0.3",
    )


def test_types_get_their_id(run: Callable[..., Any]) -> None:
    """With and without the functions that manage their values."""
    statements = (
        "import ctypes; p.data = ctypes.create_string_buffer(64)\n"
        "make = ctypes.pythonapi.PyCapsule_New; make.restype = ctypes.py_object\n"
        "make.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)\n"
        "c = make(ctypes.addressof(p.data), None, None)"
    )
    values = "[_pjrt.register_ffi_type(p.api, 't', c, info, 'Host') for info in (None, c)]"
    assert run(values, statements) == [100, 101]


def test_the_id_of_the_user_data_is_learned(run: Callable[..., Any]) -> None:
    """From jaxlib's handler, which differs between builds of XLA."""
    assert run("p.type_id") == 4711


DTYPES = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "bfloat16",
    "float8_e5m2",
    "float8_e4m3fn",
    "float8_e4m3b11fnuz",
    "float8_e5m2fnuz",
    "float8_e4m3fnuz",
    "float8_e4m3",
    "float8_e3m4",
    "float8_e8m0fnu",
)


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_of_every_type_go_in_and_out(run: Callable[..., Any], dtype: str) -> None:
    """The callback sees the values, of the right type and read-only; its results arrive whatever their strides."""
    statements = (
        f"dtype = np.dtype(getattr(ml_dtypes, {dtype!r}, None) or {dtype!r})\n"
        "given = np.array([[1, 2, 1], [4, 1, 2]]).astype(dtype); out = np.zeros((3, 2), dtype)\n"
        "seen = []\n"
        "def callback(x):\n"
        "    seen.append((x.dtype == dtype, x.shape, x.flags.writeable, bool((x == given).all())))\n"
        "    return (x.T,)\n"
    )
    value = "(p.call(callback, [given], [out]), seen, bool((out == given.T).all()))"
    assert run(value, statements) == ("", [(True, (2, 3), False, True)], True)


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


@pytest.mark.parametrize(
    "dims",
    ["-1", "2, -3", "2**62, 8", "2**40, 2**40, 2**40", "2**60", "1, rank=-1"],
    ids=lambda dims: dims.replace(" ", ""),
)
def test_shapes_that_cannot_be_are_refused(run: Callable[..., Any], dims: str) -> None:
    """Before any memory is touched, for arguments and results."""
    statements = f"buffer = fake_plugin.claim({dims}); out = lambda: (np.zeros(1, np.int8),)"
    text = (
        "CpuCallback error calling callback: "
        "ValueError: a buffer of a CPU callback has a negative dimension, or too many elements"
    )
    assert run("(p.call(print, [buffer], []), p.call(out, [], [buffer]))", statements) == (text, text)


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
        (
            "lambda: (np.zeros(3, np.float32),)",
            (
                "ValueError: Mismatched result shape for 0-th return value from CPU callback; "
                "expected array with dimensions (2,), got (3,)"
            ),
        ),
        (
            "lambda: (np.zeros(2),)",
            "TypeError: Cannot cast array data from dtype('float64') to dtype('float32') according to the rule 'equiv'",
        ),
    ],
    ids=["no tuple", "count", "shape", "type"],
)
def test_a_wrong_result_is_an_error(run: Callable[..., Any], function: str, text: str) -> None:
    """Never memory of the wrong size or type."""
    value = f"p.call({function}, [], [np.zeros(2, np.float32)])"
    assert run(value) == f"CpuCallback error calling callback: {text}"


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


# Macro of the ABI → the oldest Python whose headers have it. A free-threaded Python's own headers are those of the same
# version with the GIL, but for this macro.
ABIS = {"Py_LIMITED_API=0x030c0000": (3, 12), "Py_GIL_DISABLED": (3, 13), "Py_TARGET_ABI3T=0x030f0000": (3, 15)}


@pytest.mark.parametrize("macro", ABIS)
def test_declarations_agree_with_cpython(root: Path, compile_library: Callable[..., Path], macro: str) -> None:
    """The compiler refuses a declaration of stable_abi.h that differs from the same one in Python.h."""
    found = find_interpreters(f"cp3{minor}" for minor in range(ABIS[macro][1], 16))
    question = "import sysconfig; print(sysconfig.get_path('include'))"
    asked = [[str(entry.path), "-I", "-c", question] for entry in found.values() if entry]
    includes = [Path(subprocess.check_output(command, text=True).strip()) for command in asked]
    headers = [include for include in includes if (include / "Python.h").exists()]
    if not headers:
        pytest.skip(f"no Python with headers is installed here: none of {', '.join(found)}")
    compare = root / "tests/data/stable_abi_check.c"
    for include in headers:
        compile_library("compare.o", f"-D{macro}", f"-I{include}", f"-I{include.parent}", compare, shared=False)


@pytest.mark.parametrize(
    "flag",
    [(), ("-DPy_LIMITED_API=0x030b0000",), ("-DPy_TARGET_ABI3T=0x030e0000",)],
    ids=["absent", "too old", "too old without the GIL"],
)
def test_the_build_must_say_which_stable_abi(
    root: Path, compile_library: Callable[..., Path], flag: tuple[str, ...]
) -> None:
    """It comes from backend.toml, never from a source file."""
    refusals = (
        r"Py_LIMITED_API is set by the build",
        r"needs the stable ABI of CPython 3\.12",
        r"the free-threaded stable ABI begins with CPython 3\.15",
    )
    with pytest.raises(AssertionError, match="|".join(refusals)):
        compile_library("module.o", *flag, root / "plugins/pjrt/module.c", shared=False)
