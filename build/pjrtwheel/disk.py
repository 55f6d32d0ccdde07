# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a build needs of the disk, said before it starts."""

from __future__ import annotations

from pathlib import Path

from pjrtwheel.bazel.invoke import BuildRequest
from pjrtwheel.fetch.cache import wheel_path
from pjrtwheel.files import display_path, free_space
from pjrtwheel.platforms import host_platform
from pjrtwheel.release.checks import fetched_pins

# Upper bounds, measured with JAX 0.11.2: libraries are 2.8 to 3.7 times as large as the wheels that they come in.
_UNPACKED = 4
_TOOLS = 400_000_000  # the compiler, a Python and Bazel's own files
_PROOFS = 1_500_000_000  # environments with JAX and the largest plugin, one after the other


def describe_need(request: BuildRequest, cache: Path, *, proofs: bool) -> str:
    """Say in one line what a build from prebuilt libraries may need below the cache, and what is free there.

    Wheels in `dist/` are counted here: they are links to Bazel's outputs, which are below the cache.
    """
    release, host = request.release, host_platform()
    pins = fetched_pins(release, request.backends, request.platform, request.provider, host)
    downloads = sum(pin.size for pin in pins if not wheel_path(cache, pin).is_file())
    unpacked = sum(pin.size for pin in pins if pin.key.startswith(("plugin.", "kernels.")))
    wheels = unpacked + sum(pin.size for pin in pins if pin.key.startswith("bindings."))
    needed = downloads + _UNPACKED * unpacked + wheels + _TOOLS + (_PROOFS if proofs else 0)
    free = free_space(cache)
    need = f"needs up to {_gigabytes(needed)} below {display_path(cache)}, {_gigabytes(downloads)} of it downloads"
    return f"{'' if needed <= free else 'warning: '}{need}; {_gigabytes(free)} are free"


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB"
