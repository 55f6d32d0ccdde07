# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What `python -m jaxlib_tpu` has to say: whether libtpu fits the installed jaxlib, and which chips there are."""

from __future__ import annotations

import os
import platform
from dataclasses import replace
from pathlib import Path

from . import PRIORITY, ROOT, find_device
from .backend import PLUGIN
from .hardware import chips, device_nodes
from .libtpu import PROJECT, check_libtpu, describe_remedy, library_path, required_version
from .pjrt.errors import LibraryMissingError
from .pjrt.examine import examine_plugin
from .pjrt.installed import installed_version, package_directory
from .pjrt.library import check_library
from .pjrt.lock import check_release, reinstall_pair
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
    check_extension(plugin.distribution, reinstall_pair(plugin.distribution, lock.version))
    path = library_path(os.environ)
    if path is None:
        raise LibraryMissingError(f"there is no package {PROJECT}", remedy=describe_remedy(plugin))
    check_library(path, platform.machine(), describe_remedy(plugin))
    return path


def _open_libtpu(plugin: Plugin) -> OpenedPlugin:
    """Check the installed libtpu, and open it.

    Raises:
        PluginError: It does not fit, or is no plugin.
    """
    return load_library(_check_plugin(plugin), describe_remedy(plugin))


def _survey() -> Vendor:
    """Return the installed libtpu and the chips."""
    path = library_path(os.environ)
    libtpu = VendorLibrary(
        PROJECT,
        needed=True,
        path=path,
        origin="vendor" if path else "",
        version=installed_version(PROJECT),
        minimum=required_version(PLUGIN),
    )
    return Vendor(libraries=(libtpu,), nodes=tuple(device_nodes(ROOT)), devices=tuple(chips(ROOT)))


def examine_libtpu(*, opening: bool) -> Report:
    """Look at libtpu and at the machine."""
    report = examine_plugin(PLUGIN, PRIORITY, opening=opening, check=_check_plugin, opener=_open_libtpu, survey=_survey)
    if not report.library.opened:
        report.library = replace(report.library, path=library_path(os.environ))
    report.check(lambda: check_not_left_out(PLUGIN.name, report.settings))
    report.check(find_device)
    return report
