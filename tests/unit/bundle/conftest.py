# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A small bundle."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pjrtwheel.bundle.manifest import MANIFEST, SCHEMA, BundledFile, Kind, Manifest, format_manifest
from pjrtwheel.bundle.pages import describe_file, write_pages
from pjrtwheel.fetch.bundled import BUNDLE_VARIABLE
from pjrtwheel.platforms import host_platform
from small_wheels import build_wheel, describe_wheel

WHEELS = ("Demo-1.0-py3-none-any.whl", "other-2.0-py3-none-any.whl")


@pytest.fixture
def bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a whole bundle for this Python with two wheels, one of which requires the other; no session uses it."""
    for name in (BUNDLE_VARIABLE, "PIP_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PJRTWHEEL_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "a bundle"
    (folder / "wheels").mkdir(parents=True)
    for name, requires in zip(WHEELS, ((), ("demo",)), strict=True):
        build_wheel(folder / "wheels", describe_wheel(name, requires, python=">=3.11"), name=name)
    wheels = [describe_file(folder, f"wheels/{name}", Kind.TOOL) for name in WHEELS]
    write_manifest(folder, (*wheels, *write_pages(folder, wheels)))
    return folder


def write_manifest(folder: Path, files: tuple[BundledFile, ...]) -> None:
    """Write what is in a bundle for this Python and this machine."""
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    manifest = Manifest(SCHEMA, "0" * 40, host_platform().name, (tag,), (), ("1.2.3 cpu linux_x86_64",), files)
    (folder / MANIFEST).write_text(format_manifest(manifest), "utf-8")
