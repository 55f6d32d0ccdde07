# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Releases of JAX that there are not: the facts of the newest one under other versions, and less of them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jaxlib_select import facts as facts_package
from jaxlib_select import tables
from jaxlib_select.facts import Backend, load_facts


@pytest.fixture
def add_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function: release, and what it lacks (`oneapi="no file"`) → its facts, from now on with no others."""
    model, folder = load_facts(), tmp_path / "facts"
    folder.mkdir()
    shutil.copy(facts_package.FOLDER / "torch.json", folder)
    monkeypatch.setattr(facts_package, "FOLDER", folder)

    def lose(backend: Backend, cause: str) -> Backend:
        return replace(backend, tags={}, code={}, sources={}, absent=dict.fromkeys(backend.tags, cause))

    def add(release: str, **lacking: str) -> None:
        listed = [replace(backend, version=release) for backend in model.backends]
        backends = [lose(entry, lacking[entry.name]) if entry.name in lacking else entry for entry in listed]
        document: dict[str, Any] = tables.write(replace(model, release=release, backends=tuple(backends)))
        (folder / f"{release}.json").write_text(json.dumps(document), "utf-8")
        facts_package._read_once.cache_clear()

    return add
