# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Put finished wheels into `dist/` and keep `dist/release.json` true."""

from __future__ import annotations

from pjrtwheel.dist.folder import add_proofs, check_space, add_wheels
from pjrtwheel.dist.release_file import Entry
from pjrtwheel.dist.summary import print_summary

__all__ = ["Entry", "add_proofs", "check_space", "print_summary", "add_wheels"]
