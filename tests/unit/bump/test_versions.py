# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which release comes next, and the line of the changelog about it."""

from __future__ import annotations

import pytest

from pjrtwheel.bump.changelog import add_entry, describe_release
from pjrtwheel.bump.versions import newer_versions, previous_release
from pjrtwheel.errors import PinError, UsageError
from pjrtwheel.fetch.listing import IndexFile
from pjrtwheel.pin.choose import find_named, offered_versions
from pjrtwheel.release.model import Release

CHANGELOG = """# Changelog

## [Unreleased]

### Added

- (build) One thing, of which there is more to say than one line
  has room for.
- (all) JAX 1.2: wheels of an earlier attempt,
  in two lines.

### Changed

- (all) JAX 1.2: this one stays.
"""


def test_withdrawn_and_unreadable_files_offer_nothing() -> None:
    """A version counts while one of its files is there; the order is that of versions, not of text."""
    names = ["jax-0.9-py3-none-any.whl", "jax-0.10-py3-none-any.whl", "jax-0.10rc1-py3-none-any.whl", "jax.whl"]
    files = [IndexFile(name, "ab", 1) for name in names]
    gone = IndexFile("jax-0.11-py3-none-any.whl", "ab", 1, yanked=True)
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
    assert (missing.value.what, missing.value.cause) == (
        "the package index has no release 1.3 of jax",
        "the newest it has: 1.2.0, 1.1",
    )
    with pytest.raises(UsageError, match="no version of JAX: 'newest'"):
        find_named("newest", ["1.1"])


def test_entry_of_the_changelog_replaces_that_of_an_earlier_attempt(after: Release) -> None:
    """Only in the section for additions; a second time changes nothing."""
    entry = describe_release(after, ["abacus", "cpu", "soroban"])
    assert entry == "- (all) JAX 1.2: wheels for abacus, cpu; the package index has no library of it for soroban."
    text = add_entry(CHANGELOG, entry)
    earlier = "- (all) JAX 1.2: wheels of an earlier attempt,\n  in two lines.\n"
    assert text == CHANGELOG.replace(earlier, f"{entry}\n")
    assert add_entry(text, entry) == text


def test_entry_of_a_whole_release_names_what_there_is(before: Release) -> None:
    """It goes behind the others."""
    entry = describe_release(before, ["abacus", "soroban"])
    assert entry == "- (all) JAX 1.1: wheels for abacus, soroban."
    added, changed = CHANGELOG.split("\n### Changed")
    assert add_entry(CHANGELOG, entry) == f"{added}{entry}\n\n### Changed{changed}"


def test_changelog_without_the_section() -> None:
    """Nobody guesses where the line should go."""
    with pytest.raises(UsageError, match=r"CHANGELOG\.md has no section Unreleased that begins with Added"):
        add_entry("# Changelog\n", "- (all) JAX 1.2: wheels.")
