# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What Bazel keeps for a checkout that a test made."""

import os
from pathlib import Path

from pjrtwheel.bazel.workspace import prepare_workspace, remove_workspace
from pjrtwheel.fetch.cache import cache_root


def remove_outputs(checkout: Path, cache: Path | None = None) -> None:
    """End a checkout's Bazel servers, and remove what they built.

    Outputs lie in the cache, by the checkout's path: those of an earlier run at the same path would be up to date, and
    nothing would run that the test is about.

    Args:
        checkout: Its root.
        cache: Where it was built (default: the cache of these tests).
    """
    place = cache or cache_root(os.environ)
    remove_workspace(prepare_workspace(checkout, place), place, orphaned=False)
