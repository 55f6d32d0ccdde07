# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which backends of a bump are tested."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pjrtwheel import bump
from pjrtwheel.backend import Backend, load_backends
from pjrtwheel.bump.model import Bump, BumpRequest
from pjrtwheel.bump.steps import Steps
from pjrtwheel.errors import BazelError
from pjrtwheel.platforms import host_platform
from pjrtwheel.release.model import Pin, Release


def test_only_what_was_built_is_tested(
    root: Path, tmp_path: Path, after: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a backend whose build failed, of which an older wheel may be there, nor one of another machine."""
    good, failing, elsewhere = list(load_backends(root).values())[:3]
    here = host_platform().name
    pins = [
        Pin(f"plugin.{backend.name}.{platform}", "x", "1.2", "x-1.2-py3-none-any.whl", "ab" * 32, 1)
        for backend, platform in ((good, here), (failing, here), (elsewhere, "macos_arm64"))
    ]
    release = replace(after, pins={pin.key: pin for pin in pins})
    request = BumpRequest(root, tmp_path, tmp_path, tests=tmp_path)
    current = Bump(root, tmp_path, tmp_path, release, None, load_backends(root))
    tested: list[str] = []

    def build_wheels(_: Bump, backend: Backend) -> str:
        if backend == failing:
            raise BazelError("no")
        return ""

    def run_subset(_: Bump, backend: Backend, __: Path) -> tuple[()]:
        tested.append(backend.name)
        return ()

    monkeypatch.setattr(bump, "build_wheels", build_wheels)
    monkeypatch.setattr(bump, "load_subset", lambda *_: ("a_test",))
    monkeypatch.setattr(bump, "run_subset", run_subset)
    steps = Steps()
    built = bump._build(request, current, [good, failing, elsewhere], steps)
    assert bump._run_tests(request, current, built, steps) == {good.name: ()}
    assert tested == [good.name]
    assert [step.name for step in steps.done] == [
        f"build {elsewhere.name}",
        f"build {good.name}",
        f"build {failing.name}",
        f"conformance {good.name}",
    ]
