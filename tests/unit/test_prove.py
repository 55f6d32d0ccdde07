# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A set that is not proven is recorded as such, with the backend and the revision it was looked at from."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from pjrtwheel import prove as proving
from pjrtwheel.backend import find_backend
from pjrtwheel.prove import Level, prove
from pjrtwheel.prove.origin import Origin, find_origin
from pjrtwheel.release import load_release
from pjrtwheel.wheel.report import BuiltWheel, Report


def test_the_origin_is_read_before_anything_runs(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit that is made while programs run is not the one that was proven."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    order: list[str] = []

    def find(place: Path, environ: dict[str, str]) -> Origin:
        order.append("origin")
        return find_origin(place, environ)

    def read(wheel: Path, _: object) -> str:
        order.append(wheel.name)
        return "0.115"

    monkeypatch.setattr(proving, "find_origin", find)
    monkeypatch.setattr(proving, "read_api", read)
    report = Report(
        "a.whl", "jaxlib-cpu", "1", f"cp312-abi3-linux_{platform.machine()}", "00", 1, (), "ff", "prebuilt", {}, {}, 0
    )
    (proof,) = prove(
        [BuiltWheel(tmp_path / "a.whl", report)],
        root=root,
        release=load_release(root),
        backend=find_backend(root, "cpu"),
        smoke_tests=False,
    )
    assert order == ["origin", "a.whl"]
    assert (proof.backend, proof.level, proof.origin) == (
        "cpu",
        Level.LOAD,
        find_origin(root, {"SOURCE_DATE_EPOCH": "0"}),
    )
