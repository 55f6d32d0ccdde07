# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Open a plugin library and make it known to jaxlib, or to JAX why not."""

from __future__ import annotations

import importlib
import logging
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from . import private
from .errors import LibraryDamagedError, OtherSetError, PluginError, Remedy, TakeOverError
from .installed import find_extension, package_directory, pip_command
from .library import check_library, needed_libraries, vendor_libraries
from .lock import Lock, check_release, pin, reinstall_pair
from .settings import goes_on_without, is_asked_for

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Plugin:
    """A plugin wheel, as its loader knows it.

    Attributes:
        name: Name under which JAX knows the plugin, such as `cpu`.
        distribution: Name of the wheel's distribution.
        package: Directory of the wheel's package.
        library: File name of the library in it.
        disable_variable: The environment variable that disables it.
        compilers: Projects of the package index that it may need to compile where there is no accelerator.
        provider: Where the library came from: `prebuilt`, `source` or `file`.
    """

    name: str
    distribution: str
    package: Path
    library: str
    disable_variable: str
    compilers: tuple[str, ...] = ()
    provider: str = ""


@dataclass(frozen=True, slots=True)
class OpenedPlugin:
    """A plugin that passed all checks and is open.

    Attributes:
        path: Its library.
        api: The capsule of its API.
    """

    path: Path
    api: Any


def check_plugin(plugin: Plugin) -> Lock:
    """Check all that can be checked without opening the library, and return the release lock.

    Raises:
        PluginError: The plugin must not be used; which leaf says why.
    """
    lock = check_release(plugin.distribution, plugin.package, package_directory("jaxlib"))
    remedy = reinstall_pair(plugin.distribution, lock.version)
    check_library(plugin.package / plugin.library, platform.machine(), remedy)
    check_extension(plugin.distribution, remedy)
    return lock


def check_extension(distribution: str, remedy: Remedy) -> None:
    """Check that the extension can be imported.

    Raises:
        LibraryDamagedError: It cannot.
    """
    if (file := find_extension()) is not None:  # the dynamic linker answers a truncated one with SIGBUS, too
        check_library(file, platform.machine(), remedy, name="extension")
    try:
        import_extension()
    except ImportError as error:
        raise LibraryDamagedError(
            f"cannot import the extension of {distribution}: {error}",
            cause="the file is missing, damaged or of another machine",
            remedy=remedy,
        ) from error


def import_extension() -> Any:
    """Return the extension that lies next to this module in a wheel.

    Raises:
        ImportError: It is absent, or not for this Python.
    """
    return importlib.import_module("._pjrt", __package__)


def open_plugin(plugin: Plugin) -> OpenedPlugin:
    """Check a plugin and open its library.

    Raises:
        PluginError: The plugin must not or cannot be used.
    """
    remedy = reinstall_pair(plugin.distribution, check_plugin(plugin).version)
    return load_library(plugin.package / plugin.library, remedy)


def load_library(path: Path, remedy: Remedy) -> OpenedPlugin:
    """Open a library.

    Raises:
        LibraryDamagedError: It cannot be opened, as a library that it needs is missing or another one; or is no plugin.
    """
    try:
        return OpenedPlugin(path, import_extension().load(path))
    except OSError as error:  # of a whole file: what it needs is not here, and installing it again does not bring that
        needed = ", ".join(vendor_libraries(needed_libraries(path))) or "no library"
        raise LibraryDamagedError(str(error), cause=f"it is linked with {needed}, and the system's own") from error
    except RuntimeError as error:
        raise LibraryDamagedError(str(error), cause="the library is not the one of the wheel", remedy=remedy) from error


def hand_to_jaxlib(plugin: Plugin, api: Any) -> None:
    """Make an opened plugin known to jaxlib and to JAX's profiler."""
    private.jaxlib("xla_client").load_pjrt_plugin_with_c_api(plugin.name, api)
    private.jaxlib("_profiler").register_plugin_profiler(api)


def unfit(plugin: Plugin, error: Exception) -> PluginError:
    """Return the refusal for any error: itself, or of an unexpected one, as JAX raises that is not of this release."""
    if isinstance(error, PluginError):
        return error
    return TakeOverError(
        f"{plugin.distribution} cannot serve this JAX: {type(error).__name__}: {error}",
        cause="it needs the JAX release that it was made for",
        remedy=pip_command(f"install jax{pin(plugin.package)}"),
    )


def refuse(plugin: Plugin, error: PluginError, priority: int, *, quiet: bool = False) -> None:
    """Let the first use of the platform fail with `error`.

    JAX logs what `initialize()` raises and goes on with the client it had before. That would be a silent fall back, so
    the error is raised where JAX lets it through; if it is to be `quiet`, only where the platform is named by the user.
    A plugin of another set of wheels is quiet, with one line; a platform that JAX has itself stays as it is then.
    """
    builtin, platforms = private.has_platform(plugin.name), private.asked_platforms()
    goes_on = builtin or goes_on_without(plugin.name, platforms, private.expand_alias, passed_over=False)
    if goes_on:
        error.add_way_out(plugin.disable_variable)
    if isinstance(error, OtherSetError):
        quiet = True
        if is_asked_for(plugin.name, platforms, private.expand_alias):
            log_refusal(plugin.distribution, error, goes_on=goes_on)
        if builtin:
            return

    def raise_error(*_: Any, **__: Any) -> NoReturn:
        raise error.with_traceback(None)

    private.register_backend(plugin.name, raise_error, priority=priority, fail_quietly=quiet, make_topology=raise_error)


def log_refusal(distribution: str, error: PluginError, *, goes_on: bool = True) -> None:
    """Log one line: why the platform is not used, what that means for the program, and the fix.

    All that the error has to say is shown where the platform is asked for. `goes_on`: JAX can do without it.
    """
    logger.warning("%s", summarize(distribution, error, None if goes_on else private.asked_platforms()))


def summarize(distribution: str, error: PluginError, stopping: str | None) -> str:
    """Return that line; `stopping` is the value of `jax_platforms` without which JAX could go on, None if it does."""
    what = " ".join(error.what.splitlines())
    named = what.startswith(distribution)
    consequence = f"JAX goes on without {distribution if named else 'it'}"
    if stopping is not None:
        reason = f"JAX_PLATFORMS (jax_platforms) is {stopping!r}"
        consequence = f"JAX cannot go on, because {reason}: set it to 'cpu', or leave it empty"
    return f"{what if named else f'{distribution}: {what}'}; {consequence}{error.fix()}"
