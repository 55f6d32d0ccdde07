# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Promotion: the bytes that a stage serves go on, all of them or none."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from release_folders import WHEELS
from upload_server import Fault, UploadServer

Command = Callable[..., Any]
ORDER = sorted(WHEELS, key=lambda name: (name.startswith("jaxlib-"), name))


@pytest.fixture
def promote(publish: Command, stage_server: UploadServer, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Return a function: a folder and options → how promoting it from `stage`, which is `stage_server`, ended."""
    monkeypatch.setenv("PJRTWHEEL_STAGE_INDEX_URL", f"{stage_server.url}simple/")
    return lambda folder, *options: publish(folder, "--from", "stage", *options)


@pytest.fixture(autouse=True)
def staged(stage_server: UploadServer, folder: Path) -> dict[str, bytes]:
    """Put a whole release on the stage."""
    stage_server.files = {name: (folder / name).read_bytes() for name in WHEELS}
    return dict(stage_server.files)


def test_the_bytes_of_the_stage_arrive(
    promote: Command,
    server: UploadServer,
    stage_server: UploadServer,
    staged: dict[str, bytes],
    folder: Path,
    tmp_path: Path,
) -> None:
    """Each is read once, and none is left on this disk; the stage gets nothing."""
    printed = promote(folder)
    assert (printed.status, printed.err, server.uploads, server.files) == (0, "", ORDER, staged)
    assert (sorted(stage_server.downloads), stage_server.uploads) == (sorted(WHEELS), [])
    assert list((tmp_path / "cache").rglob("*.whl")) == []


@pytest.mark.parametrize("options", [(), ("--dry-run",)])
@pytest.mark.parametrize("name", [ORDER[0], ORDER[-1]])
@pytest.mark.parametrize("content", [None, b"other"], ids=["missing", "other bytes"])
def test_a_stage_that_is_not_the_release_is_refused(
    promote: Command,
    server: UploadServer,
    stage_server: UploadServer,
    folder: Path,
    name: str,
    content: bytes | None,
    options: tuple[str, ...],
) -> None:
    """What was tested there is not what is to be promoted; a dry run says so as well."""
    del stage_server.files[name]
    if content:
        stage_server.files[name] = content
    printed = promote(folder, *options)
    assert (printed.status, server.uploads, stage_server.downloads) == (11, [], [])
    assert name in printed.lines[1]


def test_a_stage_that_serves_other_bytes_than_it_says_is_refused(
    promote: Command, server: UploadServer, stage_server: UploadServer, folder: Path
) -> None:
    """All of it is downloaded and compared before the first file is sent."""
    stage_server.files[ORDER[-1]] += b"!"
    stage_server.faults[ORDER[-1]] = Fault.ALTERED
    printed = promote(folder)
    assert (printed.status, server.uploads) == (11, [])
    assert ORDER[-1] in printed.lines[0]


@pytest.mark.parametrize(("options", "status"), [((), 2), (("--repository", "mine"), 11)])
def test_what_uploads_need_is_asked_for_before_the_stage_is_read(
    command: Command,
    server: UploadServer,
    stage_server: UploadServer,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    status: int,
) -> None:
    """The stage may hold gigabytes."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".pypirc").write_text("[distutils]\nindex-servers = mine\n[mine]\nusername = me\n", "utf-8")
    monkeypatch.setenv("PJRTWHEEL_STAGE_INDEX_URL", f"{stage_server.url}simple/")
    printed = command("publish", "company", folder, "--from", "stage", "--index-url", f"{server.url}simple/", *options)
    assert (printed.status, stage_server.downloads) == (status, [])
