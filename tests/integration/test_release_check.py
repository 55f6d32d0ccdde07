# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The check of a release on wheels that were really built: it finds what is missing or altered, and nothing else."""

from pathlib import Path

import pytest

from pjrtwheel.backend import load_backends
from pjrtwheel.dist_folder.folder import read_folder
from pjrtwheel.platforms import REFERENCE
from pjrtwheel.record.entries import RELEASE_FILENAME
from pjrtwheel.release.model import Release
from pjrtwheel.release_check.check import check_release
from pjrtwheel.sets.promised import promised_set
from pjrtwheel.sets.tags import tag_of

pytestmark = pytest.mark.integration

ABOUT_WHEELS = ("MISSING", "UNLISTED", "ALTERED", "LOCK")


def find(root: Path, release: Release, dist: Path) -> list[tuple[str, str]]:
    """Return the problems with the wheels of a folder; tag and proofs are of whatever state the repository is in."""
    problems = check_release(root, tag_of(release), dist).problems
    return [(problem.kind.name, problem.text) for problem in problems if problem.kind.name in ABOUT_WHEELS]


def test_real_wheels_are_what_the_release_promises(
    root: Path, release: Release, built_wheels: Path, tmp_path: Path
) -> None:
    """Names, METADATA, hashes and locks agree; one byte more is found."""
    promised = {name.filename for name in promised_set(release, load_backends(root).values(), REFERENCE)}
    built = read_folder(built_wheels)
    assert built.keys() <= promised
    missing = find(root, release, built_wheels)
    assert [kind for kind, _ in missing] == ["MISSING"] * len(promised - built.keys())
    for name in (*built, RELEASE_FILENAME):
        (tmp_path / name).symlink_to((built_wheels / name).resolve())
    (altered,) = (name for name, entry in built.items() if entry.distribution == "jaxlib-cpu")
    data = (tmp_path / altered).read_bytes()
    (tmp_path / altered).unlink()
    (tmp_path / altered).write_bytes(data + b"\0")
    *others, (kind, text) = find(root, release, tmp_path)
    assert (others, kind, text.split()[0]) == (missing, "ALTERED", altered)
