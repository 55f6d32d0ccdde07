# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a person sees while something takes long: live lines on a terminal, and otherwise a line every ten seconds.

Functions that take long have a parameter `progress`, which is `LINES` unless `open_progress` gave them another one at
the edge. They say which step begins and what runs in it; how that is shown is no concern of theirs.
"""

from __future__ import annotations

from pjrtwheel.progress.board import Progress
from pjrtwheel.progress.choose import LINES, open_progress
from pjrtwheel.progress.step import Item, Step

__all__ = ["LINES", "Item", "Progress", "Step", "open_progress"]
