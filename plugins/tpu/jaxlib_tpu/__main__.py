# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m jaxlib_tpu`: say whether libtpu fits the installed jaxlib, and how many TPU chips there are."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

from . import PLUGIN
from .hardware import count_chips
from .libtpu import check_libtpu, describe_remedy, installed_libtpu, library_path
from .pjrt.library import check_library
from .pjrt.lock import check_release, install_command, jaxlib_directory
from .pjrt.plugin import OpenedPlugin, Plugin, check_extension, load_library
from .pjrt.status import row, show


def open_libtpu(plugin: Plugin) -> OpenedPlugin:
    """Check the installed libtpu, and open it.

    Raises:
        RuntimeError: It does not fit, or is no plugin.
    """
    lock = check_release(plugin.distribution, plugin.package, jaxlib_directory())
    check_libtpu(plugin.distribution, os.environ)
    check_extension(plugin.distribution, f"install it again: {install_command(plugin.distribution, lock.release)}")
    path = library_path(os.environ)
    remedy = describe_remedy(plugin.distribution)
    check_library(path, platform.machine(), remedy)
    return OpenedPlugin(lock, path, load_library(path, remedy))


def main() -> int:
    """Print the status; return 0 if libtpu fits, else 1."""
    lines = [row("libtpu", installed_libtpu() or "not installed"), row("chips", str(count_chips(Path("/"))))]
    status: int = show(PLUGIN, lambda _: lines, "whatever libtpu is installed", open_libtpu)
    return status


if __name__ == "__main__":
    sys.exit(main())
