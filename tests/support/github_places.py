# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A GitHub Release of a small release, opened at the stand-in that the environment names, and its index."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from pjrtwheel.publish.destinations import Destination, Kind
from pjrtwheel.publish.github_release import GithubRelease
from pjrtwheel.publish.places import open_place

TAG = "v1.2.3+split.1"
WHEEL = "jaxlib_abacus-1.2.3+split.1-py3-none-any.whl"
PROJECTS = ("jaxlib", "jaxlib-abacus")
SERVER = "https://github.example"
WAITS: list[float] = []
_DESTINATION = Destination(Kind.GITHUB, "github", "a GitHub Release")


def open_at(pages: Path | None = None, tag: str = TAG) -> GithubRelease:
    """Return the place of a release, which does not really wait; withdrawals are next to its pages."""
    given = {"pages": str(pages), "yanked_file": str(pages / "yanked.toml")} if pages else {"yanked_file": os.devnull}
    place = open_place(_DESTINATION, argparse.Namespace(**given), os.environ, tag)
    assert isinstance(place, GithubRelease)
    place.wait = WAITS.append
    return place


def read_page(pages: Path) -> list[dict[str, object]]:
    """Return the files that the index has of a project."""
    files: list[dict[str, object]] = json.loads((pages / "simple/jaxlib-abacus/index.v1+json").read_text())["files"]
    return files
