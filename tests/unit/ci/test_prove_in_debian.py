# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""An environment in a Debian root gets whatever proving a backend needs."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import prove_in_debian
from pjrtwheel.backend import load_backends
from pjrtwheel.prove.inputs import load_inputs
from release_under_test import release_under_test

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("name", sorted(load_backends(ROOT)))
def test_what_compiling_needs_is_unpacked_as_well(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without it, nothing is compiled for chips that are not there."""
    release, backend = release_under_test(), load_backends(ROOT)[name]
    wheel = tmp_path / f"{backend.distribution.replace('-', '_')}-1-cp312-abi3-manylinux_2_27_x86_64.whl"
    unpacked: list[str] = []

    def unpack_into(_folder: Path, _platform: object, requirements: list[str], *, folders: list[Path]) -> None:
        assert folders == [tmp_path]
        unpacked.extend(requirements)

    monkeypatch.setattr(prove_in_debian, "unpack_into", unpack_into)
    monkeypatch.setattr(prove_in_debian, "python_tag_of", lambda _: "cp313")
    wheels = SimpleNamespace(release=release, backend=backend, fetch_pair=lambda _: [wheel])
    order: Any = SimpleNamespace(root=SimpleNamespace(platform=None), wheels=wheels)
    assert prove_in_debian.unpack_wheels(order, tmp_path / "venv") == [wheel]
    inputs = load_inputs(ROOT, release, backend)
    assert unpacked == [*inputs.requirements, *inputs.aot_requirements, f"{backend.distribution}==1"]
    assert len(inputs.aot_requirements) >= len(backend.aot_requires)
