# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find out whether a plugin fits the installed jaxlib and JAX, and what it finds on this machine."""

from __future__ import annotations

import functools
import json
import os
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from .accelerator import PRIORITY, Accelerator, check_accelerator, check_rivals, read_gpu_code, rivals_of
from .api import PluginLibrary, describe_library, needed_by
from .installed import check_interpreter, check_jax, is_free_threaded, package_directory
from .kernels import check_python, find_kernels
from .lock import pin, read_installed
from .plugin import OpenedPlugin, Plugin, check_plugin, open_plugin
from .report import PythonVersion, Report
from .rivals import Rivals
from .settings import check_not_disabled, check_not_left_out, read_settings
from .vendor import Vendor


def examine_plugin(
    plugin: Plugin,
    priority: int,
    *,
    opening: bool,
    check: Callable[[Plugin], object] = check_plugin,
    opener: Callable[[Plugin], OpenedPlugin] = open_plugin,
    survey: Callable[[], Vendor] | None = None,
) -> Report:
    """Look at a plugin.

    Args:
        plugin: The plugin.
        priority: Where its platform comes among JAX's defaults.
        opening: Whether to open its library.
        check: Checks all that can be checked without opening it.
        opener: Does that, and opens it.
        survey: Looks for the vendor's libraries and devices, whether or not the plugin can be opened.
    """
    report = start_report(plugin, [plugin.name], priority)
    if opening:
        report.library = report.ask(lambda: describe_library(opener(plugin))) or report.library
    else:
        report.check(lambda: check(plugin))
    report.library = replace(report.library, needed=needed_by(report.library.path))
    report.vendor = report.ask(survey) if survey is not None else None
    return report


def examine_accelerator(accelerator: Accelerator, *, opening: bool) -> Report:
    """Look at an accelerator's plugin, the vendor's libraries and the hardware; without opening, at files alone."""
    plugin = accelerator.plugin
    report = start_report(plugin, [plugin.name, "gpu"], PRIORITY)
    report.gpu_code = tuple(read_gpu_code(plugin.package))
    report.kernels = report.ask(lambda: find_kernels(accelerator.kernels))
    report.rivals = report.ask(lambda: rivals_of(accelerator))
    report.check(lambda: check_rivals(plugin, report.rivals or Rivals()))
    # Of a plugin that does not pass nothing is opened: the dynamic linker answers a truncated library with SIGBUS.
    if not report.check(lambda: check_plugin(plugin)):
        report.check(accelerator.find_device if opening else accelerator.find_node)
        return report
    report.library = replace(report.library, needed=needed_by(report.library.path))
    report.check(lambda: check_accelerator(accelerator))
    if opening and report.check(accelerator.preload):
        report.library = report.ask(lambda: describe_library(open_plugin(plugin))) or report.library
    if report.kernels is not None:
        report.check(functools.partial(check_python, plugin.distribution, report.kernels))
    report.vendor = report.ask(lambda: accelerator.survey(opening))
    report.check(accelerator.find_device if opening else accelerator.find_node)
    if opening:
        report.check(accelerator.examine or accelerator.check)
    return report


def start_report(plugin: Plugin, names: Sequence[str], priority: int) -> Report:
    """Return what is known of any plugin before its library is looked at."""
    report = Report(
        plugin=plugin,
        own=read_installed(plugin.distribution, plugin.package),
        jaxlib=read_installed("jaxlib", package_directory("jaxlib")),
        jax=read_installed("jax", package_directory("jax")),
        python=PythonVersion(platform.python_version(), sys.executable, free_threaded=is_free_threaded()),
        settings=read_settings(plugin.disable_variable, names, os.environ),
        priority=priority,
        library=PluginLibrary(plugin.package / plugin.library),
        override=_read_override(plugin.package),
    )
    # First, so that the verdict does not advise to install what cannot be loaded either.
    report.check(lambda: check_interpreter(plugin.distribution))
    report.check(lambda: check_jax(pin(plugin.package).removeprefix("=="), report.jax.version))
    report.check(lambda: check_not_disabled(plugin.distribution, report.settings))
    report.check(lambda: check_not_left_out(plugin.name, report.settings))
    return report


def _read_override(package: Path) -> str:
    """Return why the library is of another release than the wheel, as recorded in it; empty if it is not."""
    try:
        entry = json.loads((package / "provenance.json").read_text("utf-8"))["override"]
        return f"library of {entry['version']}: {entry['reason']}"
    except (OSError, ValueError, KeyError, TypeError):
        return ""
