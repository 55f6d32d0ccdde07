# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Factories of tiny wheels and interpreters."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from folders import write_program
from small_wheels import build_wheel


@pytest.fixture
def make_wheel(tmp_path: Path) -> Callable[..., Path]:
    """Return the factory of wheels; see `build_wheel`."""

    def make(files: Mapping[str, bytes], *, name: str = "demo-1.0-py3-none-any.whl", record: str | None = None) -> Path:
        directory = tmp_path / "wheels"
        directory.mkdir(exist_ok=True)
        return build_wheel(directory, files, name=name, record=record)

    return make


@pytest.fixture
def make_python(tmp_path: Path) -> Callable[..., Path]:
    """Return a function: a version → a program that describes itself as the interpreter of an empty environment."""

    def make(version: tuple[int, int, int] = (3, 12, 1), platform: tuple[str, str] = ("linux", "x86_64")) -> Path:
        environment = json.dumps([str(tmp_path / "python"), version, [], str(tmp_path), platform])
        return write_program(tmp_path / "python", f"echo '{environment}'")

    return make
