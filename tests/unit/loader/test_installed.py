# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which Pythons a plugin's loader refuses, and in which words."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

Loader = Callable[[str], ModuleType]

REFUSAL = [
    "InterpreterError: jaxlib-cpu cannot be loaded by a free-threaded Python (3.14t)",
    "it is made for the stable ABI of CPython 3.12, which a Python without the GIL does not have",
    "use a Python with the GIL: python3.14 in place of python3.14t",
]


@pytest.mark.parametrize("abiflags", ["", "d"])
def test_a_python_with_the_gil_is_accepted(cpu_loader: Loader, monkeypatch: pytest.MonkeyPatch, abiflags: str) -> None:
    """Debug builds have the same ABI since CPython 3.8."""
    monkeypatch.setattr(sys, "abiflags", abiflags)
    cpu_loader("pjrt.installed").check_interpreter("jaxlib-cpu")


@pytest.mark.parametrize("abiflags", ["t", "td"])
def test_a_free_threaded_python_is_refused(cpu_loader: Loader, monkeypatch: pytest.MonkeyPatch, abiflags: str) -> None:
    """There is no wheel for it, so the remedy is no pip command."""
    monkeypatch.setattr(sys, "abiflags", abiflags)
    monkeypatch.setattr(sys, "version_info", (3, 14, 0, "final", 0))
    with pytest.raises(cpu_loader("pjrt.errors").InterpreterError) as caught:
        cpu_loader("pjrt.installed").check_interpreter("jaxlib-cpu")
    assert str(caught.value).splitlines() == [line.replace("3.14t", f"3.14{abiflags}") for line in REFUSAL]


def test_it_is_refused_before_anything_is_compared(
    cpu_loader: Loader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A matching jaxlib, which the other refusals ask for, would not help."""
    monkeypatch.setattr(sys, "abiflags", "t")
    monkeypatch.setattr(sys, "version_info", (3, 14, 0, "final", 0))
    with pytest.raises(cpu_loader("pjrt.errors").InterpreterError) as caught:
        cpu_loader("pjrt.lock").check_release("jaxlib-cpu", tmp_path / "absent", None)
    assert str(caught.value).splitlines() == REFUSAL


def test_the_status_advises_nothing_else(cpu_loader: Loader, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever else is missing, as JAX is here, is not the fix; and it is said once."""
    monkeypatch.setattr(sys, "abiflags", "t")
    monkeypatch.setattr(sys, "version_info", (3, 14, 0, "final", 0))
    report = cpu_loader("pjrt.examine").examine_plugin(cpu_loader("").PLUGIN, 0, opening=True)
    assert [str(problem) for problem in report.problems].count("\n".join(REFUSAL)) == 1
    assert report.verdict() == f"jaxlib-cpu does not fit here. To fix it: {REFUSAL[-1]}"
