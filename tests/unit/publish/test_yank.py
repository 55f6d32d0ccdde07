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
from pjrtwheel.publish.yank import Withdrawal, yank_release
from release_folders import WHEELS
from upload_server import UploadServer


@dataclass(slots=True)
class Shelf:
    """A place in memory, which forgets to yank some files."""

    files: dict[str, PublishedFile]
    forgets: Collection[str] = ()
    yanked: list[str] = field(default_factory=list)
    address: str = "memory"

    def list_files(self, projects: Collection[str]) -> Mapping[str, PublishedFile]:
        """Return all files."""
        assert not projects
        return self.files

    def yank(self, names: Collection[str], reason: str) -> str:
        """Withdraw files."""
        self.yanked += names
        for name in set(names) - set(self.forgets):
            self.files[name] = replace(self.files[name], yanked=reason)
        return "tell everybody"

    def check_uploads(self, commit: str, *, credentials: bool) -> None:
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
    """Return a place with a release, and a document of it."""
    return Shelf({name: PublishedFile(name, "", 1, "") for name in ("SHA256SUMS", *WHEELS)})


def test_all_wheels_of_the_tag_are_yanked_jaxlib_first(shelf: Shelf) -> None:
    """So that no installer takes a jaxlib whose plugins are gone; no document is."""
    assert yank_release(shelf, "v1.2.3+split.1", "wrong bytes") == Withdrawal(WHEELS, "tell everybody")
    assert shelf.yanked == list(WHEELS)
    reasons = {name: file.yanked for name, file in shelf.files.items()}
    assert reasons == {"SHA256SUMS": None, **dict.fromkeys(WHEELS, "wrong bytes")}


def test_all_wheels_of_a_second_set_without_a_label_are_yanked(shelf: Shelf) -> None:
    """Its jaxlib has a build tag, of which its plugins know nothing."""
    names = ("jaxlib-1.2.3-2-cp312-cp312-manylinux_2_27_x86_64.whl", "jaxlib_abacus-1.2.3-py3-none-any.whl")
    shelf.files = {name: PublishedFile(name, "", 1, "") for name in names}
    assert yank_release(shelf, "v1.2.3+2", "wrong bytes").wheels == names


def test_a_tag_that_is_not_there_is_named(shelf: Shelf) -> None:
    """Nothing is done."""
    shelf.files.clear()
    with pytest.raises(UsageError) as caught:
        yank_release(shelf, "v9", "wrong bytes")
    assert str(caught.value) == "nothing of v9 is at memory\ncheck the tag"
    assert shelf.yanked == []


def test_what_was_not_yanked_is_an_error(shelf: Shelf) -> None:
    """It is read back."""
    shelf.forgets = [WHEELS[1]]
    with pytest.raises(PublishError, match="not yanked, as it is read back") as caught:
        yank_release(shelf, "v1.2.3+split.1", "wrong bytes")
    assert caught.value.what.endswith(WHEELS[1])


def test_an_upload_api_says_what_to_do_instead(command: Callable[..., Any], server: UploadServer) -> None:
    """It has no call for that."""
    address = ("--index-url", f"{server.url}simple/")
    printed = command("yank", "company", "v1.2.2+split.1", "--reason", "wrong bytes", *address)
    assert (printed.status, len(printed.lines), printed.out) == (11, 3, "")
    assert printed.lines[0] == "company cannot withdraw a release"
    printed = command("yank", "company", "v1.2.2+split.1", "--reason", " ", *address)
    assert (printed.status, printed.lines[0]) == (2, "--reason is empty")
