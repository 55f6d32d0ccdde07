# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The line of CHANGELOG.md that says that there is a release."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

from pjrtwheel.errors import UsageError
from pjrtwheel.release.model import Release

CHANGELOG = "CHANGELOG.md"
_LINE_LENGTH = 120  # as in [tool.rumdl] of pyproject.toml


def describe_release(release: Release, backends: Iterable[str]) -> str:
    """Return the entry: the wheels that a release has, and the backends that it lacks."""
    names = list(backends)
    there = [name for name in names if release.platforms(name)]
    absent = [name for name in names if name not in there]
    lacking = f"; the package index has no library of it for {', '.join(absent)}" if absent else ""
    text = f"- (all) JAX {release.version}: wheels for {', '.join(there) or 'jaxlib alone'}{lacking}."
    return textwrap.fill(text, _LINE_LENGTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def add_entry(text: str, entry: str) -> str:
    """Return the changelog with an entry at the end of Unreleased, Added; one of the same release is replaced.

    Raises:
        UsageError: It has no such section.
    """
    section = re.search(r"^## \[Unreleased\]\n\n### Added\n\n((?:- .*\n(?:  .*\n)*)*)", text, re.MULTILINE)
    if section is None:
        raise UsageError(
            f"{CHANGELOG} has no section Unreleased that begins with Added", remedy="add the headings, and run it again"
        )
    subject = entry.split(":", 1)[0]
    entries = re.findall(r"^- .*\n(?:  .*\n)*", section[1], re.MULTILINE)
    kept = [known for known in entries if known.split(":", 1)[0] != subject]
    return text[: section.start(1)] + "".join([*kept, entry + "\n"]) + text[section.end(1) :]
