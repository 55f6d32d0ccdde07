# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read which chip's machine code a serialized PJRT executable holds, from its bytes alone."""

from __future__ import annotations

from pjrtwheel.prove.executable.code import find_code

__all__ = ["find_code"]
