# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m <package>`: say whether a plugin fits the installed jaxlib, and what it finds on this machine."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from .accelerator import Accelerator, check_accelerator, find_absence
from .errors import PluginError
from .kernels import modules
from .plugin import OpenedPlugin, Plugin, import_extension, open_plugin, unfit
from .switch import is_disabled, switch_name


def show(
    plugin: Plugin,
    details: Callable[[OpenedPlugin], Sequence[str]],
    instead: str,
    opener: Callable[[Plugin], OpenedPlugin] = open_plugin,
) -> int:
    """Print the status of a plugin; return 0 if it can serve, else 1.

    Args:
        plugin: The plugin.
        details: Gives more lines about an opened plugin.
        instead: What JAX uses when the plugin is switched off.
        opener: Checks and opens the plugin.
    """
    try:
        opened = opener(plugin)
        lines = [*describe(plugin, opened), *details(opened)]
    except Exception as error:  # noqa: BLE001  # the status of a broken installation is no traceback
        return _fail(plugin, error)
    print("\n".join(lines))
    if is_disabled(os.environ, plugin.distribution):
        print(f"disabled by {switch_name(plugin.distribution)}: JAX uses {instead}")
    return 0


def _fail(plugin: Plugin, error: Exception) -> int:
    """Print why a plugin cannot serve: what the loader or the extension says, or the error that nobody foresaw."""
    known = error if isinstance(error, RuntimeError) else unfit(plugin, error)
    print(f"{plugin.distribution}: {known}", file=sys.stderr)
    return 1


def describe(plugin: Plugin, opened: OpenedPlugin) -> list[str]:
    """Return what is known about any opened plugin, line by line.

    Raises:
        RuntimeError: The plugin does not say what it is.
    """
    lock, api, extension = opened.lock, opened.api, import_extension()
    major, minor = extension.api_version(api)
    return [
        f"{plugin.distribution} {lock.release}, build {lock.build}, lock {lock.lock_id}, {lock.provider}",
        row("library", str(opened.path)),
        row("PJRT API", f"{major}.{minor}"),
        row("extensions", " ".join(f"{kind}:{size}" for kind, size in extension.extensions(api))),
        row("attributes", " ".join(f"{name}={value}" for name, value in extension.attributes(api).items())),
    ]


def row(label: str, text: str) -> str:
    """Return one line of the status."""
    return f"{label:<11} {text}"


def show_accelerator(accelerator: Accelerator) -> int:
    """Print the status of an accelerator's plugin.

    Args:
        accelerator: The accelerator.

    Returns:
        0 if JAX can use it, or would if there were one here; 1 if something is wrong with it.
    """
    plugin = accelerator.plugin
    try:
        check_accelerator(accelerator)
        accelerator.preload()
        result = show(plugin, lambda _: _describe_machine(accelerator), "no such platform")
        problem = find_absence(accelerator) or _find_problem(accelerator) if result == 0 else None
    except Exception as error:  # noqa: BLE001  # as in `initialize`, of which this is to say what it does
        return _fail(plugin, error)
    if problem is not None:
        print(problem)
        return 0 if problem.quiet else 1
    return result


def _describe_machine(accelerator: Accelerator) -> list[str]:
    found = modules(accelerator.kernels)
    here = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    return [
        row("GPU code", " ".join(read_gpu_code(accelerator.plugin.package)) or "not recorded"),
        row("kernels", f"{' '.join(found)} ({here})" if found else f"none for {here}"),
        *accelerator.status(),
    ]


def _find_problem(accelerator: Accelerator) -> PluginError | None:
    try:
        accelerator.check()
    except PluginError as error:
        return error
    return None


def read_gpu_code(package: Path) -> list[str]:
    """Return for which GPUs the library holds code, as it was read from the library when the wheel was built."""
    try:
        return [str(name) for name in json.loads((package / "gpu_code.json").read_text("utf-8"))["code"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []
