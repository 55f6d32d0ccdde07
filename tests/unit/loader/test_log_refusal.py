# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The one line in the log about an accelerator that is not there."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from loaders import load_module


def test_what_happened_what_it_means_and_the_fix() -> None:
    """All in one line, which names the wheel in front and no class; not what JAX does where it cannot go on."""
    errors, summarize = load_module("tpu", "pjrt.errors"), load_module("tpu", "pjrt.plugin").summarize
    hidden = errors.NoDeviceError("no TPU", remedy="unset V", hidden=True)
    absent, damaged = errors.NoDeviceError("no TPU", remedy="try F=1"), errors.LibraryDamagedError("no TPU:\nread")
    for error in (absent, hidden, damaged):
        line = summarize("jaxlib-tpu", error, None)
        assert line.startswith("jaxlib-tpu: no TPU")
        assert [word for word in ("JAX goes on", error.remedy) if word not in line] == []
        assert "\n" not in line
    assert "'tpu'" in summarize("jaxlib-tpu", hidden, "tpu")


@pytest.mark.parametrize(
    ("platforms", "builtin", "registered", "lines"),
    # Quiet: JAX raises it only where the platform is named. A client that JAX has itself stays.
    [("", False, [True], 1), ("abacus", False, [True], 1), ("cpu", False, [True], 0), ("abacus", True, [], 1)],
)
def test_a_plugin_of_another_set_is_quiet(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    platforms: str,
    builtin: bool,
    registered: list[bool],
    lines: int,
) -> None:
    """It takes no platform down that others serve, and says so once where JAX would have used it."""
    plugin, private = load_module("cpu", "pjrt.plugin"), load_module("cpu", "pjrt.private")
    quiet: list[bool] = []
    backend = ModuleType("jax.extend.backend")
    backend.register_backend_factory = lambda *_, fail_quietly, **__: quiet.append(fail_quietly)  # type: ignore[attr-defined]
    for module in (ModuleType("jax"), ModuleType("jax.extend"), backend):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(private, "asked_platforms", lambda: platforms)
    monkeypatch.setattr(private, "expand_alias", lambda name: [name])
    monkeypatch.setattr(private, "has_platform", lambda _: builtin)
    error = load_module("cpu", "pjrt.errors").OtherSetError("jaxlib-abacus is of another set", remedy="remove it")
    plugin.refuse(plugin.Plugin("abacus", "jaxlib-abacus", Path("abacus"), "abacus.so", "X"), error, 400)
    assert (quiet, len(caplog.messages)) == (registered, lines)
