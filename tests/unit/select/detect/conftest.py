# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A host that a test describes."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from folders import write_files
from hosts import MakeHost, Programs
from jaxlib_select.machine.host import Host, ProcessResult


@pytest.fixture
def make_host(tmp_path: Path) -> MakeHost:
    """Return a factory of hosts: path → text of its files, answers of programs by a word of their command."""

    def make(
        files: Mapping[str, str | bytes] | None = None,
        programs: Mapping[str, ProcessResult] | None = None,
        **given: object,
    ) -> Host:
        write_files(tmp_path, {name.lstrip("/"): content for name, content in (files or {}).items()})
        return Host(root=str(tmp_path), run=Programs(programs or {}), can_open=os.path.exists, **given)  # type: ignore[arg-type]

    return make
