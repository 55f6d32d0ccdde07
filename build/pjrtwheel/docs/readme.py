# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The README's picture, and what is generated in hand-written pages."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from pathlib import Path

from pjrtwheel.backend import load_backends
from pjrtwheel.conformance.comparison import Expected, load_expected
from pjrtwheel.docs.picture import render_pictures
from pjrtwheel.docs.releases import render_releases
from pjrtwheel.docs.wheels import read_measures
from pjrtwheel.errors import UsageError, count
from pjrtwheel.release.known import list_releases, load_release

_BEGIN = "<!-- {name}: begin, written by ./noxw update -->"
_END = "<!-- {name}: end -->"
README = "README.md"
QUICK_START = "docs/quick-start.md"
RELEASES = "docs/user/wheels.md"
DIFFERENCES = "docs/user/cpu.md"
_LINE_LENGTH = 120  # as in [tool.rumdl] of pyproject.toml


def render_differences(entries: Sequence[Expected]) -> str:
    """Return a Markdown list with one item per reason, in order of first appearance.

    >>> from pjrtwheel.conformance.run_file import CaseOutcome
    >>> print(render_differences([Expected("a_test.py::A::test_b", CaseOutcome("failed"), "No such call.")]))
    - No such call. (1 case in `a_test.py`)
    """
    reasons = dict.fromkeys(entry.reason for entry in entries)
    return "\n".join(_render_reason(reason, [e.case for e in entries if e.reason == reason]) for reason in reasons)


def _render_reason(reason: str, cases: Sequence[str]) -> str:
    files = sorted({f"`{case.split('::')[0]}`" for case in cases})
    line = f"- {reason} ({count(len(cases), 'case')} in {', '.join(files)})"
    return textwrap.fill(line, _LINE_LENGTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def load_all_expected(root: Path) -> list[Expected]:
    """Return the known differences of all backends, in order of the backends' names."""
    files = sorted((root / "tests" / "conformance").glob("*.toml"))
    return [entry for path in files for entry in load_expected(root, path.stem)]


def render_generated(root: Path) -> dict[str, str]:
    """Return the text of each file that has something generated in it, by its path in the repository.

    The quick start has the commands of the README, so that the site has them as well.

    Raises:
        UsageError: A page lacks the marks of its section.
    """
    texts = {path: (root / path).read_text("utf-8") for path in (README, QUICK_START, RELEASES, DIFFERENCES)}
    backends = tuple(load_backends(root).values())
    releases = [load_release(root, version) for version in reversed(list_releases(root))]
    table, differences = render_releases(releases, backends), render_differences(load_all_expected(root))
    return {
        QUICK_START: replace_section(texts[QUICK_START], "install", quote_install(texts[README])),
        RELEASES: replace_section(texts[RELEASES], "releases", table),
        DIFFERENCES: replace_section(texts[DIFFERENCES], "conformance", differences),
        **render_pictures(read_measures(root), backends),
    }


def quote_install(readme: str) -> str:
    r"""Return what the README says about installing, with links as they are below `docs/`.

    >>> quote_install("# A\n\n## Install it\n\n[so](docs/a.md), [made](#make)\n\n## B\n")
    '[so](a.md), [made](../README.md#make)'
    """
    section = re.search(r"^## Install .*?\n\n(.*?)\n\n(?=## )", readme, re.MULTILINE | re.DOTALL)
    if section is None:
        raise UsageError("the README lacks a section that begins with '## Install '")
    return re.sub(r"\]\((docs/|#)", lambda found: "](" if found[1] == "docs/" else "](../README.md#", section[1])


def replace_section(text: str, name: str, section: str) -> str:
    """Return a document with the text between two marks replaced; raise a `UsageError` when it lacks one."""
    begin, end = _BEGIN.format(name=name), _END.format(name=name)
    if begin not in text or end not in text:
        raise UsageError(f"the page lacks its marks {begin} and {end}")
    before, rest = text.split(begin, 1)
    return f"{before}{begin}\n{section}\n{end}{rest.split(end, 1)[1]}"
