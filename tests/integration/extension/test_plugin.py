# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The extension against a plugin that is all ours: opening it, asking it, and registering handlers and types."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from programs import RAISED

pytestmark = pytest.mark.integration


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
    found = run("(_pjrt.api_version(p.api), _pjrt.attributes(p.api))", "p.library.fake_set_api_size(56)")
    assert found == ((0, 115), {})


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
    good, refused = run("(good, status())", statements)
    assert good[0].startswith("jaxlib-cpu fits here")
    assert good[-3:] == [
        "PJRT API    0.115",
        "extensions  1000, FFI",
        "attributes  text fake, number 2, list 1.20.0, ratio 0.5, flag True, newer None",
    ]
    assert (refused[0].startswith("jaxlib-cpu does not fit here"), "not today" in refused[0]) == (True, True)


def test_other_threads_run_while_a_library_is_opened(
    root: Path, run: Callable[..., Any], compile_library: Callable[..., Path]
) -> None:
    """Its initializer here waits for a byte that only another Python thread can send."""
    path = compile_library("waiting.so", root / "tests/data/waiting.c")
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


# A function of programs: a library → the kilobytes of it that count as memory of the process.
RESIDENT = r"""
import re
def resident(path):
    with open("/proc/self/smaps") as mappings:
        return sum(map(int, re.findall(rf" {re.escape(str(path))}\n(?:.+\n)*?Rss: +(\d+) kB", mappings.read())))
"""


def test_what_only_the_start_of_a_library_needed_is_given_back(
    root: Path, run: Callable[..., Any], compile_library: Callable[..., Path]
) -> None:
    """All but the megabyte around a page that the process has changed, as a debugger does, and that is kept."""
    path = compile_library("large.so", root / "tests/data/large.c")
    statements = (
        f"{RAISED}{RESIDENT}\nimport ctypes, mmap\npath = {str(path)!r}\nlibrary = ctypes.CDLL(path)\n"
        "changed = ctypes.addressof(ctypes.c_char.in_dll(library, 'large')) + (12 << 20)\n"
        "page, protect = ctypes.c_void_p(changed & -mmap.PAGESIZE), ctypes.CDLL(None).mprotect\n"
        "assert protect(page, mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_WRITE) == 0\n"
        "ctypes.memset(changed, 7, 1); assert protect(page, mmap.PAGESIZE, mmap.PROT_READ) == 0\n"
        "before, refusal = resident(path), raised(_pjrt.load, path)[0]\n"
    )
    before, after, refusal, value = run("(before, resident(path), refusal, ctypes.string_at(changed, 1))", statements)
    assert (refusal, value) == ("PjrtError", b"\x07")
    assert before > 24 * 1024
    assert 4 <= after <= 2 * 1024


def test_opening_the_plugin_takes_little_memory(run: Callable[..., Any]) -> None:
    """Of its library and of jaxlib's: their initializers, which ran before, lie on 100 MB of them and more."""
    statements = (
        f"{RESIDENT}\nimport jax, jaxlib, jaxlib_cpu, pathlib\nplugin = jaxlib_cpu.PLUGIN\n"
        "ours, theirs = plugin.package / plugin.library, pathlib.Path(jaxlib.__file__).parent / 'libjax_common.so'\n"
        "before = resident(theirs); _pjrt.load(ours)\n"
    )
    before, ours, theirs = run("(before, resident(ours), resident(theirs))", statements)
    assert before > 50 * 1024
    assert ours + theirs < 50 * 1024


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


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("register_ffi_handler, p.api, 'refused', c, 'Host', 0", "an XLA FFI handler: this target is refused"),
        ("register_ffi_stages, p.api, 't', {}, 'Host', 0", "an XLA FFI target: execute stage is required"),
        ("register_ffi_type, p.api, 'refused', c, None, 'Host'", "an XLA FFI type: this type is refused"),
        ("register_ffi_handler, p.api, 'garbled', c, 'Host', 0", "an XLA FFI handler: no \ufffd text"),
        ("register_ffi_type, p.api, 'mute', c, None, 'Host'", "an XLA FFI type: no reason given"),
    ],
    ids=["PJRT's", "XLA's table", "type", "no UTF-8", "no text"],
)
def test_refusals_of_the_plugin_reach_the_caller(run: Callable[..., Any], call: str, text: str) -> None:
    """Whether they come through the PJRT C API or through XLA's own table, and whether they can be read or not."""
    statements = RAISED + "c = p.capsule('fake_mute_handler')"
    assert run(f"raised(_pjrt.{call})", statements) == ("PjrtError", f"cannot register {text}")


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("p.bind('fake_jaxlib_handler', names=['call'])", "TypeError"),
        ("p.bind('fake_jaxlib_handler', names=(1,))", "TypeError"),
        ("p.bind('fake_jaxlib_handler', dtypes=())", "TypeError"),
        ("_pjrt.register_ffi_stages(p.api, 't', (), 'Host', 0)", "TypeError"),
        ("_pjrt.register_ffi_stages(p.api, 't', {'execute': 1}, 'Host', 0)", "ValueError"),
        ("_pjrt.register_ffi_type(p.api, 't', 1, None, 'Host')", "ValueError"),
        ("_pjrt.api_version(3)", "ValueError"),
        ("_pjrt.extensions(p.capsule('fake_call'))", "ValueError"),
    ],
)
def test_arguments_of_a_wrong_type_are_refused(run: Callable[..., Any], call: str, error: str) -> None:
    """Whichever argument it is; an API is nothing but a capsule of that name."""
    assert run(f"raised(lambda: {call})[0]", RAISED) == error


@pytest.mark.parametrize(
    "arguments",
    ["'fake_mute_handler'", "'fake_jaxlib_handler', dtypes={}", "'fake_jaxlib_handler', describe=repr"],
    ids=["probe", "dtypes", "describe"],
)
def test_callbacks_are_bound_in_one_way_only(run: Callable[..., Any], arguments: str) -> None:
    """All handlers of a process share what they were first given: the same again is fine, another would go unused."""
    value = f"(p.bind('fake_jaxlib_handler', dtypes=dict(p.dtypes)), raised(lambda: p.bind({arguments}))[0])"
    assert run(value, RAISED) == (4711, "ValueError")


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
