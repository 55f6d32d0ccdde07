# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which release comes next."""

import pytest

from pjrtwheel.bump import newer_versions, previous_release
from pjrtwheel.errors import PinError, UsageError
from pjrtwheel.fetch.listing import IndexFile
from pjrtwheel.pin.choose import find_named, offered_versions


def test_withdrawn_and_unreadable_files_offer_nothing() -> None:
    """A version counts while one of its files is there; the order is that of versions, not of text."""
    names = ["jax-0.9-py3-none-any.whl", "jax-0.10-py3-none-any.whl", "jax-0.10rc1-py3-none-any.whl", "jax.whl"]
    files = [IndexFile(name, "ab", 1) for name in names]
    gone = IndexFile("jax-0.11-py3-none-any.whl", "ab", 1, yanked="")
    assert offered_versions([*files, gone]) == ("0.9", "0.10rc1", "0.10")


@pytest.mark.parametrize(
    ("offered", "known", "newer"),
    [
        (["1.9", "1.10", "1.10.0.1"], ["1.9"], ("1.10", "1.10.0.1")),
        (["1.9", "1.10rc1", "1.10.dev3"], ["1.9"], ()),
        (["1.9", "1.8.5"], ["1.8", "1.9"], ()),
        (["1.9"], [], ("1.9",)),
    ],
    ids=["fourth number", "pre-releases", "later fix of an older one", "nothing pinned"],
)
def test_newer_than_all_that_is_pinned(offered: list[str], known: list[str], newer: tuple[str, ...]) -> None:
    """A release that is older than the newest file is nobody's next one, whenever it came out."""
    assert newer_versions(offered, known) == newer


@pytest.mark.parametrize(("version", "before"), [("1.10", "1.9"), ("1.9", "1.8"), ("1.8", ""), ("2", "1.10")])
def test_release_before(version: str, before: str) -> None:
    """The newest one that is older, also for a release that is pinned already."""
    assert previous_release(version, ["1.10", "1.8", "1.9"]) == before


def test_release_that_is_named() -> None:
    """It is spelled as the index does; what the index lacks is an error that names the newest."""
    assert find_named("1.2", ["1.1", "1.2.0"]) == "1.2.0"
    with pytest.raises(PinError) as missing:
        find_named("1.3", ["1.1", "1.2.0"])
    assert missing.value.cause.endswith("1.2.0, 1.1")
    with pytest.raises(UsageError):
        find_named("newest", ["1.1"])
