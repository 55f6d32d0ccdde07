# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Withdrawing a release: which wheels, in which order, and what is read back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.errors import PublishError, UsageError
from pjrtwheel.publish.place import PublishedFile
from pjrtwheel.publish.yank import yank_release
from release_folders import WHEELS
from upload_server import UploadServer

OLDER = "jaxlib-1.2.2+split.1-cp312-cp312-manylinux_2_27_x86_64.whl"
PROJECTS = ("jaxlib", "jaxlib-abacus", "jaxlib-bead")


@dataclass(slots=True)
class Shelf:
    """A place in memory, which forgets to yank some files."""

    files: dict[str, PublishedFile]
    forgets: Collection[str] = ()
    yanked: list[str] = field(default_factory=list)
    address: str = "memory"

    def list_files(self, projects: Collection[str]) -> Mapping[str, PublishedFile]:
        """Return all files."""
        assert set(projects) == set(PROJECTS)
        return self.files

    def yank(self, names: Collection[str], reason: str) -> None:
        """Withdraw files."""
        self.yanked += names
        for name in set(names) - set(self.forgets):
            self.files[name] = replace(self.files[name], yanked=reason)

    def check_uploads(self, *, credentials: bool) -> None:
        """Know nothing of uploads."""
        raise NotImplementedError

    def upload(self, file: Path, sha256: str) -> None:
        """Take nothing."""
        raise NotImplementedError

    def download(self, file: PublishedFile, target: Path) -> None:
        """Give nothing."""
        raise NotImplementedError

    def finish(self) -> None:
        """Do nothing."""


@pytest.fixture
def shelf() -> Shelf:
    """Return a place with two releases."""
    return Shelf({name: PublishedFile(name, "", 1, "") for name in (OLDER, *WHEELS)})


def test_all_wheels_of_the_tag_are_yanked_jaxlib_first(shelf: Shelf) -> None:
    """So that no installer takes a jaxlib whose plugins are gone; the other release stays."""
    assert yank_release(shelf, "v1.2.3+split.1", PROJECTS, "wrong bytes") == WHEELS
    assert shelf.yanked == list(WHEELS)
    reasons = {name: file.yanked for name, file in shelf.files.items()}
    assert reasons == {OLDER: None, **dict.fromkeys(WHEELS, "wrong bytes")}


def test_a_tag_that_is_not_there_is_named(shelf: Shelf) -> None:
    """Next to those that are."""
    with pytest.raises(UsageError) as caught:
        yank_release(shelf, "v9", PROJECTS, "wrong bytes")
    assert str(caught.value) == "nothing of v9 is at memory\nit has v1.2.2+split.1, v1.2.3+split.1"
    assert shelf.yanked == []


def test_what_was_not_yanked_is_an_error(shelf: Shelf) -> None:
    """It is read back."""
    shelf.forgets = [WHEELS[1]]
    with pytest.raises(PublishError, match="not yanked, as it is read back") as caught:
        yank_release(shelf, "v1.2.3+split.1", PROJECTS, "wrong bytes")
    assert caught.value.what.endswith(WHEELS[1])


def test_an_upload_api_says_what_to_do_instead(command: Callable[..., Any], server: UploadServer) -> None:
    """It has no call for that."""
    server.files[OLDER] = b"wheel"
    address = ("--index-url", f"{server.url}simple/")
    printed = command("yank", "company", "v1.2.2+split.1", "--reason", "wrong bytes", *address)
    assert (printed.status, len(printed.lines), printed.out) == (11, 3, "")
    assert printed.lines[0] == "company cannot yank 1 file for 'wrong bytes'"
    printed = command("yank", "company", "v1.2.2+split.1", "--reason", " ", *address)
    assert (printed.status, printed.lines[0]) == (2, "--reason is empty")
