# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Bring pinned wheels onto this machine: cache first, then the machine's own pip; standard library only."""

from pjrtwheel.fetch.cache import WheelCache, cache_root
from pjrtwheel.fetch.index import download_wheel
from pjrtwheel.fetch.unpack import unpack_wheel

__all__ = ["WheelCache", "cache_root", "download_wheel", "unpack_wheel"]
