# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a build needs of the disk, said before it starts."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from pjrtwheel.bazel.invoke import BuildRequest
from pjrtwheel.fetch.cache import wheel_path
from pjrtwheel.fetch.index import BUNDLE_VARIABLE
from pjrtwheel.files import display_path, free_space
from pjrtwheel.platforms import host_platform
from pjrtwheel.release.checks import fetched_pins
from pjrtwheel.release.model import Pin

# Upper bounds, measured with JAX 0.11.2: libraries are 2.8 to 3.7 times as large as the wheels that they come in.
_UNPACKED = 4
_TOOLS = 400_000_000  # the compiler, a Python and Bazel's own files
_PROOFS = 1_500_000_000  # environments with JAX and the largest plugin, one after the other


def list_inputs(request: BuildRequest) -> tuple[Pin, ...]:
    """Return the pinned inputs that a build takes from the package index, or from the cache or a bundle."""
    return fetched_pins(request.release, request.backends, request.platform, request.provider, host_platform())


def describe_need(request: BuildRequest, cache: Path, *, proofs: bool) -> str:
    """Say in one line what a build from prebuilt libraries may need below the cache, and what is free there.

    Wheels in `dist/` are counted here: they are links to Bazel's outputs, which are below the cache.
    """
    return describe_total_need([request], cache, proofs=proofs)


def describe_total_need(requests: Iterable[BuildRequest], cache: Path, *, proofs: bool) -> str:
    """Say in one line what several builds may need, one after the other: what they share is there once."""
    pins = {pin.sha256: pin for request in requests for pin in list_inputs(request)}.values()
    downloads = sum(pin.size for pin in pins if not wheel_path(cache, pin).is_file())
    unpacked = sum(pin.size for pin in pins if pin.key.startswith(("plugin.", "kernels.")))
    wheels = unpacked + sum(pin.size for pin in pins if pin.key.startswith("bindings."))
    needed = downloads + _UNPACKED * unpacked + wheels + _TOOLS + (_PROOFS if proofs else 0)
    free = free_space(cache)
    source = "from the bundle" if os.environ.get(BUNDLE_VARIABLE) else "downloads"
    need = f"needs up to {_gigabytes(needed)} below {display_path(cache)}, {_gigabytes(downloads)} of it {source}"
    return f"{'' if needed <= free else 'warning: '}{need}; {_gigabytes(free)} are free"


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB"
