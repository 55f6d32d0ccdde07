# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the loaders need of JAX's private modules (`jax._src`), all in one place.

JAX lets anyone register a backend (`jax.extend.backend`, which is expensive to import), but has no public name for the
platforms that the user asked for, for a client with the options of JAX's configuration, or for the callbacks that want
to know of each plugin. These are the names of JAX 0.11. Each function says what it returns in a JAX without its name;
only without a way to make a client the plugin cannot serve.

What is jaxlib's is imported from jaxlib: the lock ensures that it is the one the plugin was made for.
"""

from __future__ import annotations

import functools
import importlib
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

logger = logging.getLogger(__name__)


def find(module: str, name: str, default: Any = None) -> Any:
    """Return what JAX calls `jax._src.<module>.<name>`, or `default` if this JAX does not have it."""
    try:
        return getattr(importlib.import_module(f"jax._src.{module}"), name)
    except (ImportError, AttributeError):
        logger.debug("this JAX has no jax._src.%s.%s", module, name)
        return default


def jaxlib(module: str) -> Any:
    """Return a module of jaxlib's."""
    return importlib.import_module(f"jaxlib.{module}")


def kernel_packages(platform: str) -> list[str]:
    """Return the packages in which jaxlib looks for the kernels of a platform, in its order. Else: nowhere."""
    try:
        return list(jaxlib("plugin_support")._PLUGIN_MODULE_NAMES.get(platform, ()))  # noqa: SLF001
    except (ImportError, AttributeError):
        return []


def setting(module: str, name: str, default: Any) -> Any:
    """Return the value of a setting of JAX's; `default` if this JAX does not have it."""
    return getattr(find(module, name), "value", default)


def visible_devices() -> str:
    """Return which of NVIDIA's GPUs JAX is to use: `all`, or their numbers with commas.

    Where JAX is not imported yet, its environment variable says so: importing it takes longer than all else.
    """
    if "jax" not in sys.modules:
        return os.environ.get("JAX_CUDA_VISIBLE_DEVICES", "all")
    return str(setting("xla_bridge", "CUDA_VISIBLE_DEVICES", "all"))


def wrap(module: str, name: str, wrapper: Callable[[Any], Any]) -> None:
    """Replace a function of JAX's by what `wrapper` makes of it; nothing happens if this JAX does not have it."""
    original = find(module, name)
    if original is not None:
        setattr(importlib.import_module(f"jax._src.{module}"), name, wrapper(original))


def asked_platforms() -> str:
    """Return `jax_platforms` as the user set it; empty for all there are. Else: JAX's environment variable."""
    value: str | None = setting("config", "jax_platforms", os.environ.get("JAX_PLATFORMS"))
    return value or ""


def expand_alias(alias: str) -> Sequence[str]:
    """Return the platforms behind a name, such as `cuda` and `rocm` behind `gpu`. Else: the name itself."""
    platforms: Sequence[str] = find("xla_bridge", "expand_platform_alias", lambda name: [name])(alias)
    return platforms


def has_platform(name: str) -> bool:
    """Return whether JAX has a client for a platform: its own, or that of another plugin. Else: no."""
    return name in find("xla_bridge", "_backend_factories", {})


def register_backend(name: str, factory: Callable[..., Any], *, priority: int, **options: Any) -> None:
    """Register a platform as `jax.extend.backend.register_backend_factory` does. Else: by that function.

    Its package is not imported because JAX 0.12 imports Pallas with it, which adds settings to those that JAX traces
    functions under: what was traced before would be traced and compiled again.
    """
    register = find("xla_bridge", "register_backend_factory")
    if register is None:
        register = importlib.import_module("jax.extend.backend").register_backend_factory
    register(name, factory, priority=priority, **options)


def make_client(name: str, options: Callable[[], Mapping[str, Any]]) -> Any:
    """Create a client of a plugin, with the options of JAX's configuration and for all processes of the program.

    Args:
        name: JAX's name of the platform.
        options: Gives what to add to those options; JAX leaves out its own in a program of several processes without.
    """
    return importlib.import_module("jax._src.xla_bridge").make_pjrt_c_api_client(name, options=options)


def make_builtin_client() -> Any:
    """Create JAX's built-in client for the CPU."""
    return importlib.import_module("jax._src.xla_bridge").make_cpu_client()


@functools.cache
def _counting_client() -> Any:
    return jaxlib("xla_client").make_cpu_client(num_devices=1)


def analyse_costs(module: Any) -> dict[str, float]:
    """Return what jaxlib counts of a program; it reads no device, but wants a client of its own, which is made once."""
    costs: dict[str, float] = jaxlib("_jax").hlo_module_cost_analysis(_counting_client(), module)
    return costs


def has_processes() -> bool:
    """Return whether the program has several processes (`jax.distributed`). Else: no."""
    return getattr(find("distributed", "global_state"), "client", None) is not None


def announce(name: str, api: Any) -> None:
    """Announce a plugin that is opened late to the callbacks that want every plugin, such as `custom_partitioning`."""
    registration = find("xla_bridge", "_backend_factories", {}).get(name)
    if registration is not None:
        registration.c_api = api
    for callback in find("xla_bridge", "_plugin_callbacks", ()):
        callback(c_api=api)
