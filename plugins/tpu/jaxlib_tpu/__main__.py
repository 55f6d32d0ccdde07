# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m jaxlib_tpu`: say whether libtpu fits the installed jaxlib, and how many TPU chips there are."""

from __future__ import annotations

import os
import platform
import sys

from . import PLUGIN, ROOT, check_chips
from .hardware import count_chips
from .libtpu import check_libtpu, describe_remedy, installed_libtpu, library_path
from .pjrt.command import run
from .pjrt.library import check_library
from .pjrt.lock import check_release, install_command, jaxlib_directory
from .pjrt.plugin import OpenedPlugin, Plugin, check_extension, load_library
from .pjrt.report import Report, row
from .pjrt.status import check_choice, examine_plugin


def open_libtpu(plugin: Plugin) -> OpenedPlugin:
    """Check the installed libtpu, and open it.

    Raises:
        RuntimeError: It does not fit, or is no plugin.
    """
    lock = check_release(plugin.distribution, plugin.package, jaxlib_directory())
    check_libtpu(plugin, os.environ)
    check_extension(plugin.distribution, f"install it again: {install_command(plugin.distribution, lock.release)}")
    path = library_path(os.environ)
    remedy = describe_remedy(plugin)
    check_library(path, platform.machine(), remedy)
    return OpenedPlugin(lock, path, load_library(path, remedy))


def describe_machine() -> list[str]:
    """Return the installed libtpu and the number of chips."""
    return [row("libtpu", installed_libtpu() or "not installed"), row("chips", str(count_chips(ROOT)))]


def examine() -> Report:
    """Look at libtpu and at the machine."""
    report = examine_plugin(PLUGIN, describe_machine, open_libtpu)
    report.check(lambda: check_choice([PLUGIN.name], os.environ.get("JAX_PLATFORMS", "")))
    report.check(lambda: check_chips(ROOT))
    return report


if __name__ == "__main__":
    sys.exit(run(PLUGIN, sys.argv[1:], examine))
