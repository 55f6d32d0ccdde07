# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Evidence says from which state of the repository it comes, and claims none where that is not known."""

from dataclasses import replace
from pathlib import Path

import pytest

from git_repository import git
from pjrtwheel.record.origin import Origin, counts_for, describe_changes, find_origin

AT = {"SOURCE_DATE_EPOCH": "1795254000"}
DATE = "2026-11-21T09:40:00Z"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder that is no repository yet, below one that is."""
    folder = tmp_path / "around" / "ours"
    folder.mkdir(parents=True)
    (folder / "pyproject.toml").write_text('[project]\nversion = "1.2"\n')
    return folder


def test_the_commit_is_that_of_this_very_repository(folder: Path) -> None:
    """Also whether files were changed; another repository around a copy says nothing about it."""
    for place in (folder.parent, folder):
        assert find_origin(folder, AT) == Origin(None, None, "1.2", DATE)
        git(place, "init", "--quiet")
        git(place, "add", "--all")
        git(place, "commit", "--quiet", "--message", "one")
    commit = git(folder, "rev-parse", "HEAD").strip()
    clean = Origin(commit, dirty=False, version="1.2", date=DATE)
    assert (find_origin(folder, AT), describe_changes(folder)) == (clean, "")
    (folder / "new.py").touch()
    assert find_origin(folder, AT) == replace(clean, dirty=True)
    assert describe_changes(folder).endswith(": new.py")


def test_kept_evidence_counts_for_a_release_only_from_its_own_commits(folder: Path) -> None:
    """Outside of a commit nothing better could be found, so anything that was kept will do."""
    git(folder, "init", "--quiet")
    commits: list[str] = []
    for name in ("one", "two", "elsewhere"):
        git(folder, "checkout", "--quiet", *(["--detach", commits[0]] if name == "elsewhere" else ["-B", "main"]))
        git(folder, "commit", "--quiet", "--allow-empty", "--message", name)
        commits.append(git(folder, "rev-parse", "HEAD").strip())
    git(folder, "checkout", "--quiet", "main")
    one, two, elsewhere = (Origin(commit, dirty=False, version="1", date=DATE) for commit in commits)
    absent = replace(one, commit="c" * 40)  # as in a shallow clone
    changed, nowhere = replace(two, dirty=True), replace(one, commit=None, dirty=None)
    kept = (one, two, elsewhere, absent, changed, nowhere)
    assert [counts_for(origin, two, folder) for origin in kept] == [True, True, False, False, False, False]
    assert all(counts_for(origin, here, folder) for here in (changed, nowhere) for origin in kept)


def test_without_git_there_is_no_commit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That is no error: a release may be unpacked from an archive."""
    monkeypatch.setenv("PATH", str(folder))
    assert find_origin(folder, AT) == Origin(None, None, "1.2", DATE)
