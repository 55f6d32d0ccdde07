# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What `python -m jaxlib_tpu` has to say: whether libtpu fits the installed jaxlib, and which chips there are."""

from __future__ import annotations

import os
import platform
from dataclasses import replace
from pathlib import Path

from . import PRIORITY, ROOT, check_chips
from .backend import PLUGIN
from .hardware import chips, device_nodes
from .libtpu import PROJECT, check_libtpu, describe_remedy, installed_libtpu, library_path, required_version
from .pjrt.errors import PluginError
from .pjrt.examine import examine_plugin
from .pjrt.installed import package_directory
from .pjrt.library import check_library
from .pjrt.lock import check_release, install_command
from .pjrt.plugin import OpenedPlugin, Plugin, check_extension, load_library
from .pjrt.report import Report
from .pjrt.settings import check_not_left_out
from .pjrt.vendor import Vendor, VendorLibrary


def _check_plugin(plugin: Plugin) -> Path:
    """Check the installed libtpu without opening it, and return its file.

    Raises:
        PluginError: It does not fit.
    """
    lock = check_release(plugin.distribution, plugin.package, package_directory("jaxlib"))
    check_libtpu(plugin, os.environ)
    check_extension(plugin.distribution, f"install it again: {install_command(plugin.distribution, lock.release)}")
    path = library_path(os.environ)
    check_library(path, platform.machine(), describe_remedy(plugin))
    return path


def _open_libtpu(plugin: Plugin) -> OpenedPlugin:
    """Check the installed libtpu, and open it.

    Raises:
        PluginError: It does not fit, or is no plugin.
    """
    path = _check_plugin(plugin)
    lock = check_release(plugin.distribution, plugin.package, package_directory("jaxlib"))
    return OpenedPlugin(lock, path, load_library(path, describe_remedy(plugin)))


def _survey() -> Vendor:
    """Return the installed libtpu and the chips."""
    path = _path()
    libtpu = VendorLibrary(
        PROJECT,
        needed=True,
        path=path,
        origin="vendor" if path else "",
        version=installed_libtpu(),
        minimum=_required(),
    )
    return Vendor(libraries=(libtpu,), nodes=tuple(device_nodes(ROOT)), devices=tuple(chips(ROOT)))


def _path() -> Path | None:
    try:
        return library_path(os.environ)
    except PluginError:
        return None


def _required() -> str | None:
    try:
        return required_version(PLUGIN)
    except PluginError:
        return None


def examine_libtpu(*, opening: bool) -> Report:
    """Look at libtpu and at the machine.

    Args:
        opening: Whether to open libtpu.
    """
    report = examine_plugin(PLUGIN, PRIORITY, opening=opening, check=_check_plugin, opener=_open_libtpu, survey=_survey)
    report.library = replace(report.library, path=_path()) if not report.library.opened else report.library
    report.check(lambda: check_not_left_out(PLUGIN.name, report.settings))
    report.check(lambda: check_chips(ROOT))
    return report
