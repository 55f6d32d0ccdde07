# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the extension does for GPUs: custom calls handed to a plugin, libraries opened and asked for their versions."""

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from programs import RAISED, run_code

pytestmark = pytest.mark.integration

Run = Callable[..., Any]

SETUP = f"""{RAISED}
import ctypes, sys
from jaxlib_cpu.pjrt import _pjrt

def capsule(address):
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return make(address, None, None)

class Call(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("name", ctypes.c_void_p), ("size", ctypes.c_size_t),
                ("api_version", ctypes.c_int), ("instantiate", ctypes.c_void_p), ("prepare", ctypes.c_void_p),
                ("initialize", ctypes.c_void_p), ("execute", ctypes.c_void_p), ("traits", ctypes.c_uint32)]

def last_call(path):
    library = ctypes.CDLL(path)
    call = Call.in_dll(library, "last_call")
    name = (ctypes.c_char * 100).in_dll(library, "last_name").value.decode()
    stages = [call.instantiate, call.prepare, call.initialize, call.execute]
    return call.struct_size, name, call.api_version, stages, call.traits
"""

VISIBLE = '__attribute__((visibility("default")))'


@pytest.fixture(scope="module")
def run(wheel_python: Path) -> Run:
    """Return a function: an expression over `_pjrt`, and statements before it → its value, as a literal."""

    def evaluate(expression: str, statements: str = "") -> Any:
        result = run_code(wheel_python, f"{SETUP}\n{statements}\nprint(repr({expression}))")
        assert result.returncode == 0, result.stderr
        return ast.literal_eval(result.stdout)

    return evaluate


@pytest.fixture(scope="module")
def gpu_plugin(root: Path, compile_library: Callable[..., Path]) -> Callable[[int, int], Path]:
    """Return a function: size of the extension, whether it handles traits → a plugin; see tests/data/gpu_plugin.c."""

    def compile_plugin(size: int, traits: int) -> Path:
        options = (f"-DEXTENSION_SIZE={size}", f"-DHANDLES_TRAITS={traits}")
        return compile_library(f"gpu_plugin_{size}_{traits}.so", root / "tests/data/gpu_plugin.c", *options)

    return compile_plugin


@pytest.fixture(scope="module")
def versions(root: Path, compile_library: Callable[..., Path]) -> Path:
    """Return a library with version functions; see tests/data/versions.c."""
    return compile_library("libversions.so.1", root / "tests/data/versions.c")


@pytest.mark.parametrize(
    ("size", "handles", "traits", "struct_size"),
    [(32, 1, 0, 64), (33, 0, 0, 64), (33, 1, 0, 68), (33, 1, 5, 68), (40, 1, 5, 68)],
)
def test_stages_and_traits_reach_the_plugin(
    run: Run, gpu_plugin: Callable[[int, int], Path], size: int, handles: int, traits: int, struct_size: int
) -> None:
    """Traits are sent only to plugins that look at them; what lies behind their struct they must not read."""
    path = str(gpu_plugin(size, handles))
    stages = "{'instantiate': capsule(16), 'prepare': capsule(32), 'execute': capsule(64)}"
    register = f"_pjrt.register_gpu_target(_pjrt.load({path!r}), 'my_call', {stages}, 1, {traits})"
    assert run(f"last_call({path!r})", register) == (struct_size, "my_call", 1, [16, 32, None, 64], traits)


@pytest.mark.parametrize(
    ("size", "handles", "name", "stages", "error"),
    [
        (32, 1, "'t'", "{'execute': capsule(8)}", "NotImplementedError"),
        (33, 0, "'t'", "{'execute': capsule(8)}", "NotImplementedError"),
        (24, 0, "'t'", "{'execute': capsule(8)}", "NotImplementedError"),
        (33, 1, "'t' * 200", "{'execute': capsule(8)}", "PjrtError"),
        (33, 1, "'t'", "capsule(8)", "TypeError"),
        (33, 1, "'t'", "{'execute': 8}", "ValueError"),
    ],
    ids=["no place for traits", "traits not handled", "no extension", "refused", "no stages", "no capsule"],
)
def test_what_a_plugin_cannot_take_is_refused(
    run: Run, gpu_plugin: Callable[[int, int], Path], size: int, handles: int, name: str, stages: str, error: str
) -> None:
    """Traits are not dropped: a handler that a command buffer may record would run outside of it, or not at all."""
    path = str(gpu_plugin(size, handles))
    call = f"raised(_pjrt.register_gpu_target, _pjrt.load({path!r}), {name}, {stages}, 1, 3)[0]"
    assert run(call) == error


@pytest.mark.parametrize(
    ("symbol", "form", "version"),
    [
        *(("as_size", "value", 91002), ("as_int", "value", 12090)),
        *(("by_pointer", "pointer", 11401), ("by_properties", "properties", (12, 9, 1))),
    ],
)
def test_libraries_tell_their_versions(run: Run, versions: Path, symbol: str, form: str, version: object) -> None:
    """In each of the forms in which vendors have them."""
    assert run(f"_pjrt.library_version({str(versions)!r}, {symbol!r}, {form!r})") == version


@pytest.mark.parametrize(
    ("symbol", "form", "error"),
    [
        ("fails", "pointer", ("PjrtError", "fails failed with status 35")),
        ("fails_late", "properties", ("PjrtError", "fails_late failed with status 7")),
        ("absent", "value", ("OSError", "PATH has no function absent")),
        ("as_int", "guess", ("ValueError", "unknown form of a version function: guess")),
    ],
)
def test_a_version_that_cannot_be_had_is_an_error(
    run: Run, versions: Path, symbol: str, form: str, error: tuple[str, str]
) -> None:
    """With the function and the reason."""
    kind, text = run(f"raised(_pjrt.library_version, {str(versions)!r}, {symbol!r}, {form!r})")
    assert (kind, text.replace(str(versions), "PATH")) == error


def test_a_preloaded_library_is_found_by_its_name(
    run: Run, compile_library: Callable[..., Path], tmp_path: Path
) -> None:
    """Whoever asks for that name later gets this very file, wherever it lies."""
    source = tmp_path / "named.c"
    source.write_text(f"{VISIBLE} int version(void) {{ return 3; }}", "utf-8")
    path = str(compile_library("libpjrtwheel_named.so.3", source, "-Wl,-soname,libpjrtwheel_named.so.3"))
    by_name = "_pjrt.library_version('libpjrtwheel_named.so.3', 'version', 'value')"
    assert run("raised(_pjrt.library_version, 'libpjrtwheel_named.so.3', 'version', 'value')[0]") == "OSError"
    assert run(by_name, f"_pjrt.preload({path!r}, False)") == 3


def test_symbols_serve_others_only_if_asked_to(run: Run, compile_library: Callable[..., Path], tmp_path: Path) -> None:
    """Some vendors' libraries use each other's functions without naming each other."""
    giver, taker = tmp_path / "giver.c", tmp_path / "taker.c"
    giver.write_text(f"{VISIBLE} int given(void) {{ return 5; }}", "utf-8")
    weak = "extern int given(void) __attribute__((weak));"
    taker.write_text(f"{weak} {VISIBLE} int taken(void) {{ return given ? given() : 0; }}", "utf-8")
    first, second = (str(compile_library(f"lib{source.stem}.so", source)) for source in (giver, taker))
    taken = f"_pjrt.library_version({second!r}, 'taken', 'value')"
    assert run(taken, f"_pjrt.preload({first!r}, True)") == 5
    assert run(taken, f"_pjrt.preload({first!r}, False)") == 0
