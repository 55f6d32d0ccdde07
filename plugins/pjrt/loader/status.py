# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find out whether a plugin fits the installed jaxlib and JAX, and what it finds on this machine."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .accelerator import Accelerator, check_accelerator
from .errors import KernelsMissingError, LibraryDamagedError, UnusedError
from .extensions import extension_name
from .interpreter import check_interpreter
from .kernels import OTHER_PYTHON, describe_absence, modules
from .lock import check_jax, describe_lock, installed_version, pin
from .plugin import OpenedPlugin, Plugin, check_plugin, import_extension, open_plugin
from .report import Report, row
from .rivals import check_kernel_order, find_contest, find_rival, installed_plugins, stand_back
from .switch import is_disabled, switch_name


def examine_plugin(
    plugin: Plugin,
    details: Callable[[], Sequence[str]] = tuple,
    opener: Callable[[Plugin], OpenedPlugin] = open_plugin,
) -> Report:
    """Look at a plugin.

    Args:
        plugin: The plugin.
        details: Gives more lines, whether or not the plugin can be opened.
        opener: Checks and opens the plugin.
    """
    report = _begin(plugin)
    report.ask(lambda: describe(opener(plugin)))
    report.ask(details)
    return report


def examine_accelerator(accelerator: Accelerator) -> Report:
    """Look at an accelerator's plugin, the vendor's libraries and the hardware.

    Args:
        accelerator: The accelerator.
    """
    plugin = accelerator.plugin
    report = _begin(plugin)
    report.check(lambda: check_choice((plugin.name, "gpu"), os.environ.get("JAX_PLATFORMS", "")))
    report.ask(lambda: describe_rivals(accelerator))
    # Of a plugin that does not pass nothing is opened: the dynamic linker answers a truncated library with SIGBUS.
    if not report.check(lambda: check_plugin(plugin)):
        return report
    report.check(lambda: check_accelerator(accelerator))
    if report.check(accelerator.preload):
        report.ask(lambda: describe(open_plugin(plugin)))
    report.ask(lambda: [row("GPU code", " ".join(read_gpu_code(plugin.package)) or "not recorded")])
    report.ask(lambda: describe_kernels(accelerator))
    report.ask(accelerator.status)
    report.check(accelerator.find_device)
    report.check(accelerator.examine or accelerator.check)
    return report


def _begin(plugin: Plugin) -> Report:
    report = Report(plugin)
    report.ask(lambda: [describe_lock(plugin.distribution, plugin.package), row("runs with", describe_surroundings())])
    # First, so that the verdict does not advise to install what cannot be loaded either.
    report.check(lambda: check_interpreter(plugin.distribution, sys.abiflags, sys.version_info[:2]))
    report.check(lambda: check_jax(pin(plugin.package).removeprefix("=="), installed_version("jax")))
    report.check(lambda: check_switch(plugin.distribution))
    return report


def describe_surroundings() -> str:
    """Return the versions of Python and of what the plugin is part of."""
    versions = [f"{name} {installed_version(name) or 'not installed'}" for name in ("jaxlib", "jax")]
    return ", ".join([f"Python {platform.python_version()}", *versions])


def check_switch(distribution: str) -> None:
    """Check that the user has not switched the plugin off.

    Raises:
        UnusedError: It is off.
    """
    if is_disabled(os.environ, distribution):
        name = switch_name(distribution)
        raise UnusedError(f"{name} is set, so JAX stays as it was without {distribution}", remedy=f"unset {name}")


def check_choice(names: Sequence[str], jax_platforms: str) -> None:
    """Check that JAX's environment variable does not leave the platform out.

    Args:
        names: JAX's names of the platform.
        jax_platforms: The variable.

    Raises:
        UnusedError: It does.
    """
    asked = [entry.strip() for entry in jax_platforms.split(",") if entry.strip()]
    if asked and not set(names) & set(asked):
        raise UnusedError(
            f"JAX_PLATFORMS={jax_platforms} leaves JAX's platform {names[0]!r} out", remedy="unset JAX_PLATFORMS"
        )


def describe(opened: OpenedPlugin) -> list[str]:
    """Return what is known about any opened plugin, line by line.

    Raises:
        LibraryDamagedError: The plugin does not say what it is.
    """
    extension = import_extension()
    try:
        major, minor = extension.api_version(opened.api)
        names = [extension_name(kind) for kind, _ in extension.extensions(opened.api)]
        attributes = extension.attributes(opened.api)
    except RuntimeError as error:
        raise LibraryDamagedError(f"{opened.path} does not say what it is: {error}") from error
    return [
        row("library", str(opened.path)),
        row("PJRT API", f"{major}.{minor}"),
        row("extensions", ", ".join(names) or "none"),
        row("attributes", ", ".join(f"{name} {_readable(value)}" for name, value in attributes.items())),
    ]


def _readable(value: Any) -> str:
    return ".".join(map(str, value)) if isinstance(value, list) else str(value)


def describe_rivals(accelerator: Accelerator) -> list[str]:
    """Return which plugins stand back in favour of this one, in the words in which they tell the user.

    Raises:
        PluginError: This plugin stands back, or JAX would run it with the kernels of another.
    """
    plugin = accelerator.plugin
    contest = find_contest(plugin.package.name, accelerator.rivals, installed_plugins(), os.environ)
    rival = find_rival(plugin.distribution, plugin.name, contest, os.environ)
    if rival is not None:
        raise rival
    check_kernel_order(plugin.distribution, contest)
    others = sorted(set(contest.rivals.values()))
    texts = [stand_back(other, plugin.name, [plugin.distribution]).told() for other in others]
    return [row("" if number else "beside it", line) for text in texts for number, line in enumerate(text.splitlines())]


def describe_kernels(accelerator: Accelerator) -> list[str]:
    """Return the names of the kernels.

    Raises:
        KernelsMissingError: There are none for this Python.
    """
    found = modules(accelerator.kernels)
    if not found:
        raise KernelsMissingError(
            describe_absence(accelerator.plugin.distribution, sys.version_info[:2]),
            remedy=OTHER_PYTHON,
        )
    return [row("kernels", f"{' '.join(found)} (Python {sys.version_info.major}.{sys.version_info.minor})")]


def read_gpu_code(package: Path) -> list[str]:
    """Return for which GPUs the library holds code, as it was read from the library when the wheel was built."""
    try:
        return [str(name) for name in json.loads((package / "gpu_code.json").read_text("utf-8"))["code"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []
