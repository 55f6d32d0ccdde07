# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Foretell what JAX will do with what it finds: which platforms it will have, and which one by default.

The rules are those of `jax._src.xla_bridge.backends` in JAX 0.11, and those by which plugins refuse or stand back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jaxlib_select.installed.discovery import Lock, Plugin

SERVES, ABSENT, FAILS = "serves", "absent", "fails"

# JAX's aliases, in the order in which it tries their platforms.
ALIASES = {"gpu": ("cuda", "rocm", "oneapi")}

# The platforms that JAX registers without any plugin.
BUILT_IN = ("cpu", "tpu")

_TPU_PRIORITY = 300
_DEFAULT_PRIORITY = 400


@dataclass(frozen=True)
class World:
    """What lies outside the plugins.

    Attributes:
        variables: Environment variables.
        jaxlib: Release lock of the installed jaxlib; nothing if it has none.
        jaxlib_version: Its version; nothing if there is none.
        broken: Why JAX cannot be imported at all; empty if it can.
        no_hardware: Platform → why there is none of its hardware here; platforms with hardware are missing.
        unfit: Distribution, or platform that is built in → why its programs do not run on the hardware that is here.
        nvidia_nodes: Whether a device node of NVIDIA's driver exists, which is all that JAX looks at.
        nvidia_driver: Whether the driver is there and has a GPU to show, else plugins let JAX go on.
        tpu_library: The libtpu that JAX would open; nothing if there is none.
    """

    variables: Mapping[str, str] = field(default_factory=dict)
    jaxlib: Lock | None = None
    jaxlib_version: str | None = None
    broken: str = ""
    no_hardware: Mapping[str, str] = field(default_factory=dict)
    unfit: Mapping[str, str] = field(default_factory=dict)
    nvidia_nodes: bool = False
    nvidia_driver: bool = True
    tpu_library: Path | None = None


@dataclass(frozen=True)
class Forecast:
    """What becomes of one platform.

    Attributes:
        platform: JAX's name of it.
        provider: Distribution or module that registers it; `jaxlib` for what JAX brings itself.
        priority: The platform with the highest becomes the default.
        outcome: `serves`, `absent` (JAX goes on without it) or `fails` (the first use of JAX raises an error).
        reason: Why it does not serve; empty if it does.
    """

    platform: str
    provider: str
    priority: int
    outcome: str
    reason: str = ""


@dataclass(frozen=True)
class Prediction:
    """What JAX will do.

    Attributes:
        default: Its default platform; nothing if its first use raises an error.
        forecasts: Every platform that is registered, and what becomes of it; none if JAX cannot be imported.
        error: What the error says; empty if there is none.
    """

    default: str | None
    forecasts: tuple[Forecast, ...]
    error: str = ""


def predict(plugins: Sequence[Plugin], world: World) -> Prediction:
    """Foretell what JAX will do.

    Args:
        plugins: What it will find.
        world: What else counts.
    """
    if world.broken:
        return Prediction(None, (), world.broken)
    forecasts = {entry.platform: entry for entry in (_builtin_cpu(), _builtin_tpu(world))}
    for platform in dict.fromkeys(plugin.platform for plugin in plugins if plugin.platform is not None):
        chosen = _winner([plugin for plugin in plugins if plugin.platform == platform], world)
        if chosen is not None:
            forecasts[platform] = chosen
    broken = next((plugin.refused for plugin in plugins if plugin.refused and plugin.platform is not None), "")
    if broken:
        return Prediction(None, tuple(forecasts.values()), broken)
    asked = requested_platforms(world)
    default, error = _choose(asked, forecasts, world) if asked else _choose_by_priority(forecasts)
    return Prediction(default, tuple(forecasts.values()), error)


def requested_platforms(world: World) -> tuple[str, ...]:
    """Return the platforms that the user asked for, in order, with JAX's aliases expanded; none for all there are.

    On a TPU machine with libtpu JAX asks for `tpu,cpu` by itself.
    """
    value = world.variables.get("JAX_PLATFORMS")
    if value is None and world.tpu_library is not None and "tpu" not in world.no_hardware:
        value = "tpu,cpu"
    names = value.split(",") if value else ()
    return tuple(platform for name in names for platform in ALIASES.get(name, (name,)))


def is_switched_off(distribution: str, variables: Mapping[str, str]) -> bool:
    """Return whether the variable of one of our plugins leaves JAX as it was without it.

    >>> is_switched_off("jaxlib-cuda-12", {"JAXLIB_CUDA_12_DISABLE": "1"})
    True
    """
    value = variables.get(switch_name(distribution), "")
    return value.strip().lower() not in {"", "0", "false", "no", "off"}


def switch_name(distribution: str) -> str:
    """Return the name of that variable."""
    return f"{distribution.replace('-', '_').upper()}_DISABLE"


def lock_problem(plugin: Plugin, world: World) -> str:
    """Return why the locks of one of our plugins and of jaxlib do not fit; empty if they do, or if it has none."""
    if plugin.lock is None or (world.jaxlib is None and world.jaxlib_version is None):
        return ""
    if world.jaxlib is None:
        if world.jaxlib_version not in (None, plugin.lock.release):
            return f"it is for jaxlib {plugin.lock.release}, and jaxlib {world.jaxlib_version} is installed"
        return "the installed jaxlib has no release lock: it was not built together with the plugin"
    if plugin.lock.release != world.jaxlib.release:
        return f"it is for jaxlib {plugin.lock.release}, and jaxlib {world.jaxlib.release} is installed"
    if plugin.lock.lock_id != world.jaxlib.lock_id:
        return f"it is of the build {plugin.lock.lock_id}, and jaxlib is of the build {world.jaxlib.lock_id}"
    return ""


def _builtin_cpu() -> Forecast:
    return Forecast("cpu", "jaxlib", 0, SERVES)


def _builtin_tpu(world: World) -> Forecast:
    """JAX registers TPU by itself, and is quiet when it fails, unless there is a TPU: then it asks for `tpu,cpu`."""
    absent = world.no_hardware.get("tpu", "") or ("" if world.tpu_library is not None else "there is no libtpu")
    unfit = world.unfit.get("tpu", "")
    return Forecast("tpu", "jaxlib", _TPU_PRIORITY, ABSENT if absent else FAILS if unfit else SERVES, absent or unfit)


def _winner(rivals: Sequence[Plugin], world: World) -> Forecast | None:
    """Return the forecast of the plugin that gets a platform; nothing if none of them registers it."""
    live = [forecast for plugin in _by_claim(rivals) for forecast in [_forecast(plugin, world)] if forecast is not None]
    return live[0] if live else None


def _by_claim(rivals: Sequence[Plugin]) -> list[Plugin]:
    """Order plugins for one platform: ours stand back behind others, and among ours the newer comes first."""
    return sorted(rivals, key=lambda plugin: (plugin.lock is not None, -_generation(plugin)))


def _generation(plugin: Plugin) -> int:
    digits = re.search(r"(\d+)$", plugin.module)
    return int(digits.group(1)) if digits else 0


def _forecast(plugin: Plugin, world: World) -> Forecast | None:
    """Return what becomes of one plugin; nothing if it registers no platform."""
    platform = plugin.platform or ""
    ours = plugin.lock is not None
    if plugin.refused or _stays_away(plugin, world):
        return None
    absent = world.no_hardware.get(platform, "")
    problem = lock_problem(plugin, world)
    if ours and platform != "tpu" and (not plugin.libraries or plugin.lacks_extension):
        problem = problem or "its library or extension module is missing or damaged"
    reason = problem or absent or world.unfit.get(plugin.label, "")
    # Without hardware our plugins let JAX go on, and JAX itself skips `cuda` where NVIDIA's driver has no node.
    quiet = bool(absent) or (platform == "cuda" and not (world.nvidia_nodes and world.nvidia_driver))
    outcome = SERVES if not reason else ABSENT if quiet else FAILS
    priority = plugin.priority if plugin.priority is not None else _DEFAULT_PRIORITY
    return Forecast(platform, plugin.label, priority, outcome, reason)


def _stays_away(plugin: Plugin, world: World) -> bool:
    """Return whether a plugin registers nothing, with a line in the log at most."""
    if plugin.location is None:
        return True
    if plugin.lock is not None:
        return is_switched_off(plugin.distribution or plugin.module, world.variables)
    return not plugin.libraries and bool(plugin.module)


def _choose_by_priority(forecasts: Mapping[str, Forecast]) -> tuple[str | None, str]:
    failing = next((entry for entry in forecasts.values() if entry.outcome == FAILS), None)
    if failing is not None:
        return None, f"{failing.platform}: {failing.reason}"
    serving = [entry for entry in forecasts.values() if entry.outcome == SERVES]
    return max(serving, key=lambda entry: entry.priority).platform, ""


def _choose(asked: Sequence[str], forecasts: Mapping[str, Forecast], world: World) -> tuple[str | None, str]:
    """Choose the first platform that was asked for; each of them must serve."""
    asking = f"JAX_PLATFORMS={world.variables.get('JAX_PLATFORMS', 'tpu,cpu')}"
    serving: list[str] = []
    for platform in asked:
        forecast: Forecast | None = forecasts.get(platform)
        if platform == "cuda" and not world.nvidia_nodes:
            continue  # whether there is a plugin for it or not
        if forecast is None:
            return None, f"{asking} asks for {platform!r}, which nothing installed registers"
        if forecast.outcome != SERVES:
            return None, f"{asking} asks for {platform!r}: {forecast.reason}"
        serving.append(platform)
    if not serving:
        return None, f"{asking} asks for nothing but 'cuda', and there is no device node of NVIDIA's driver"
    return serving[0], ""


def count_by_platform(plugins: Sequence[Plugin], world: World) -> dict[str, list[Plugin]]:
    """Return the plugins that would register each platform, except those that register nothing."""
    found: dict[str, list[Plugin]] = {}
    for plugin in plugins:
        if plugin.platform is not None and not plugin.refused and not _stays_away(plugin, world):
            found.setdefault(plugin.platform, []).append(plugin)
    return found
