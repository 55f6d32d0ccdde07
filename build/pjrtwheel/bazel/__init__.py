# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find Bazel, run it, and read what it did."""

from __future__ import annotations

from pjrtwheel.bazel.events import BuildLog
from pjrtwheel.bazel.invoke import BuildRequest, BuildResult, build

__all__ = ["BuildLog", "BuildRequest", "BuildResult", "build"]
