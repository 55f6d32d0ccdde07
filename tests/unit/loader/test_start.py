# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a plugin's loader decides once the plugin is accepted: options, targets, the text of exceptions."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from loaders import load_cpu, put_loader

STAGES = {"execute": "e", "prepare": "p"}


@pytest.mark.parametrize(
    ("configured", "flags", "count"),
    [
        (-1, "", 1),
        (0, "", 0),
        (2, "--{}=8", 2),
        (-1, "--a=b --{}=8 --{}=3 --c", 3),
        (-1, "--not_{}=8", 1),
        (-1, "--{}=many", 1),
    ],
)
def test_number_of_devices(configured: int, flags: str, count: int) -> None:
    """JAX's own setting wins, then the last of XLA's flags, then one device."""
    written = flags.replace("{}", "xla_force_host_platform_device_count")
    assert load_cpu("options").device_count(configured, written) == count


@pytest.mark.parametrize(
    ("value", "disabled"), [(None, False), ("", False), ("0", False), ("False", False), ("1", True), ("yes", True)]
)
def test_disabling(value: str | None, disabled: bool) -> None:
    """The variable disables the plugin unless it says no."""
    environ = {} if value is None else {"JAXLIB_CPU_DISABLE": value}
    assert load_cpu("pjrt.settings").is_set(environ, "JAXLIB_CPU_DISABLE") is disabled


class Recorder:
    """A plugin's registry and jaxlib's, as lists of calls."""

    def __init__(self) -> None:
        """Start with no calls."""
        self.calls: list[tuple[Any, ...]] = []

    def extension(self) -> Any:
        """Return the extension's functions, recording."""
        names = ("register_ffi_handler", "register_ffi_stages", "register_ffi_type")
        return SimpleNamespace(**{name: self.function(name) for name in names})

    def function(self, name: str) -> Callable[..., None]:
        """Return a function that records its name and arguments."""
        return lambda *args: self.calls.append((name, *args))


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("capsule", ("register_ffi_handler", "api", "t", "capsule", "Host", 1)),
        ({"execute": "capsule"}, ("register_ffi_handler", "api", "t", "capsule", "Host", 1)),
        (STAGES, ("register_ffi_stages", "api", "t", STAGES, "Host", 1)),
    ],
    ids=["single", "execute only", "staged"],
)
def test_targets_go_to_jaxlib_and_to_the_plugin(target: Any, expected: tuple[Any, ...]) -> None:
    """Single handlers through the PJRT extension, staged ones through XLA's own table."""
    recorder = Recorder()
    targets = load_cpu("pjrt.targets")
    targets.TargetForwarder(recorder.extension(), "api", recorder.function("jaxlib"))("t", target, "Host", 1, 1)
    assert recorder.calls == [("jaxlib", "t", target, "Host", 1, 1), expected]


def test_a_queued_target_that_is_refused_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """The others still have to be registered, and the caller of this one has returned long before."""

    def refuse(name: str) -> None:
        raise NotImplementedError(f"no {name}")

    started = False
    forward = load_cpu("pjrt.targets").log_until(refuse, lambda: started)
    forward("first")
    assert caplog.messages == ["first: no first"]
    started = True
    with pytest.raises(NotImplementedError, match="no second"):
        forward("second")


LOCK = {"schema": 2, "release": "1.2.3", "version": "1.2.3", "build": 1, "provider": "prebuilt", "lock_id": "a" * 32}

# Stands for JAX's own, which keeps what a plugin registers and calls it at the first use of the platform.
BACKEND = """
factories = {}
def register_backend_factory(name, factory, *, priority, fail_quietly, make_topology):
    factories[name] = factory, priority, fail_quietly
"""

START = """
factory, priority, fail_quietly = jax.extend.backend.factories.pop(name)
try:
    factory()
except RuntimeError as error:
    print(priority, fail_quietly, error, sep="\\n")
"""
WITH_LIBRARY = """
import dataclasses, jaxlib_cpu as plugin, jax.extend.backend
plugin.PLUGIN = dataclasses.replace(plugin.PLUGIN, library={})
plugin.initialize(); name = "cpu"
"""
WITH_CHIPS = """
import jaxlib_tpu as plugin, jax.extend.backend
plugin.chips = lambda root: {} * ["chip"]
plugin.check_release = lambda *_: 1 / 0
plugin.initialize(); name = "tpu"
"""


def start(folder: Path, program: str) -> tuple[list[str], str]:
    """Run a program that starts a plugin of a folder, with as much of JAX as registers it: lines and errors."""
    for module, text in {"jax": "", "jax/extend": "", "jax/extend/backend": BACKEND}.items():
        (folder / module).mkdir(parents=True)
        (folder / module / "__init__.py").write_text(text, "utf-8")
    command = [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(folder)!r})\n{program}{START}"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.stdout.splitlines(), result.stderr


@pytest.mark.parametrize(
    ("library", "error", "remedy"),
    [
        ("3", "TakeOverError", "pip install jax==1.2.3"),
        ("'gone.so'", "LibraryMissingError", "pip install --force-reinstall --no-deps jaxlib==1.2.3 jaxlib-cpu==1.2.3"),
    ],
    ids=["unexpected", "expected"],
)
def test_whatever_is_raised_is_a_refusal(tmp_path: Path, library: str, error: str, remedy: str) -> None:
    """JAX would log it and use its own client; the command names the release of the plugin's lock."""
    put_loader("cpu", tmp_path)
    (tmp_path / "jaxlib").mkdir()
    (tmp_path / "jaxlib/__init__.py").touch()
    for package in ("jaxlib_cpu", "jaxlib"):
        (tmp_path / package / "release_lock.json").write_text(json.dumps(LOCK), "utf-8")
    (*registered, what, cause, last), errors = start(tmp_path, WITH_LIBRARY.format(library))
    assert (registered, what.partition(":")[0], last, errors) == (["0", "False"], error, remedy, "")
    assert "JAXLIB_CPU_DISABLE=1" in cause


def test_the_release_of_a_plugin_is_that_of_its_lock(tmp_path: Path) -> None:
    """A command for the user never has a made-up version in it."""
    pin = load_cpu("pjrt.lock").pin
    assert pin(tmp_path) == ""
    (tmp_path / "release_lock.json").write_text("{}", "utf-8")
    assert pin(tmp_path) == ""
    (tmp_path / "release_lock.json").write_text(json.dumps(LOCK), "utf-8")
    assert pin(tmp_path) == "==1.2.3"


@pytest.mark.parametrize(("chips", "quiet", "lines"), [("4", "False", 0), ("0", "True", 1)], ids=["there", "absent"])
def test_whatever_is_raised_about_a_tpu_is_a_refusal(tmp_path: Path, chips: str, quiet: str, lines: int) -> None:
    """As in the other loaders; without a TPU JAX goes on, which one line says."""
    put_loader("tpu", tmp_path)
    (priority, fails_quietly, what, *_), errors = start(tmp_path, WITH_CHIPS.format(chips))
    assert (priority, fails_quietly, what.partition(":")[0]) == ("300", quiet, "TakeOverError")
    assert ("ZeroDivisionError" in what, len(errors.splitlines())) == (True, lines)


def test_triton_programs_are_compiled_by_the_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Through a module of JAX's own, as an older JAX has it; jaxlib has none of that name."""
    targets, handlers = load_cpu("pjrt.targets"), dict[str, Any]()
    register = handlers.__setitem__
    jaxlib = SimpleNamespace(register_custom_type_handler=register, register_custom_call_handler=register)
    monkeypatch.setattr(targets, "has_extension", lambda *_: True)
    monkeypatch.setattr(targets.private, "jaxlib", lambda _: jaxlib)
    monkeypatch.setattr(
        targets.private, "find", lambda *name: name == ("lib.triton", "register_compilation_handler") and register
    )
    unused = dict.fromkeys(("register_custom_type", "register_custom_call_target", "ffi_types", "ffi_handlers"), dict)
    extension = SimpleNamespace(compile_triton_to_asm=lambda *given: given, **unused)
    targets.register_handlers("CUDA", "api", extension)
    assert handlers["CUDA"]("text") == ("api", "text")
