# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The settings of places are options next to those of the command."""

from __future__ import annotations

import argparse
from pathlib import Path

from pjrtwheel.cli import publish


def test_the_folder_of_a_place_is_not_that_of_the_release() -> None:
    """Both are called FOLDER by those who use them."""
    parser = argparse.ArgumentParser()
    publish.configure_parser(parser)
    args = parser.parse_args(["folder", "checked", "--folder", "stage"])
    assert (args.destination, args.release, args.folder) == ("folder", Path("checked"), "stage")
