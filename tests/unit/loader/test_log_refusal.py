# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The one line in the log about an accelerator that is not there."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

Loader = Callable[[str, str], ModuleType]


@pytest.mark.parametrize(
    ("kind", "what", "options", "stopping", "named"),
    [
        ("NoDeviceError", "no TPU found", {}, None, ("jaxlib-tpu: no TPU found",)),
        ("NoDeviceError", "no TPU found", {"remedy": "F=1 tries"}, None, ("F=1 tries",)),
        ("NoDeviceError", "no TPU", {"remedy": "unset V", "hidden": True}, "tpu", ("'tpu'", "To fix it: unset V")),
        ("LockMismatchError", "jaxlib-tpu 1 and it", {"remedy": "pip"}, None, ("jaxlib-tpu 1 and", "fix it: pip")),
        ("LibraryDamagedError", "cannot import it:\nno file", {}, None, ("cannot import it: no file",)),
    ],
    ids=["absent", "absent, with a hint", "hidden and asked for", "named in the error", "of two lines"],
)
def test_what_happened_what_it_means_and_the_fix(
    load_module: Loader, kind: str, what: str, options: dict[str, object], stopping: str | None, named: tuple[str, ...]
) -> None:
    """All in one line, which names the wheel in front and no class."""
    error = getattr(load_module("tpu", "pjrt.errors"), kind)(what, **options)
    line = load_module("tpu", "pjrt.plugin").summarize("jaxlib-tpu", error, stopping)
    assert [text for text in named if text not in line] == []
    assert (line.startswith("jaxlib-tpu"), "\n" in line, kind in line) == (True, False, False)


@pytest.mark.parametrize(
    ("platforms", "builtin", "registered", "lines"),
    [
        ("", False, [True], 1),  # quiet: JAX raises it only where the platform is named
        ("abacus", False, [True], 1),
        ("cpu", False, [True], 0),
        ("", True, [], 1),  # the client that JAX has itself stays
        ("abacus", True, [], 1),
    ],
)
def test_a_plugin_of_another_set_is_quiet(
    cpu_loader: Callable[[str], ModuleType],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    platforms: str,
    *,
    builtin: bool,
    registered: list[bool],
    lines: int,
) -> None:
    """It takes no platform down that others serve, and says so once where JAX would have used it."""
    plugin, private = cpu_loader("pjrt.plugin"), cpu_loader("pjrt.private")
    quiet: list[bool] = []
    backend = ModuleType("jax.extend.backend")
    backend.register_backend_factory = lambda *_, fail_quietly, **__: quiet.append(fail_quietly)  # type: ignore[attr-defined]
    for module in (ModuleType("jax"), ModuleType("jax.extend"), backend):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(private, "asked_platforms", lambda: platforms)
    monkeypatch.setattr(private, "expand_alias", lambda name: [name])
    monkeypatch.setattr(private, "has_platform", lambda _: builtin)
    error = cpu_loader("pjrt.errors").OtherSetError("jaxlib-abacus is of another set", remedy="remove it")
    plugin.refuse(plugin.Plugin("abacus", "jaxlib-abacus", Path("abacus"), "abacus.so", "X"), error, 400)
    assert (quiet, len(caplog.messages)) == (registered, lines)
