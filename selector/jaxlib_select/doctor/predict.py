# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Predict what JAX will do with what it finds: which platforms it will have, and which one by default.

The rules are those of `jax._src.xla_bridge.backends` in JAX 0.11. Our plugins say themselves whether they serve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jaxlib_select.installed.plugins import (
    ABSENT,
    DEGRADED,
    NOT_IMPORTED,
    REFUSED,
    UNREGISTERED,
    UNUSED,
    VENDOR_LIBRARY,
    Plugin,
)

SERVES, FAILS = "serves", "fails"  # or ABSENT: what becomes of a platform

# JAX's aliases, in the order in which it tries their platforms.
ALIASES = {"gpu": ("cuda", "rocm", "oneapi")}

# Variables by which the user asks JAX for platforms.
ASKING = ("JAX_PLATFORMS", "JAX_PLATFORM_NAME")

# The platforms that JAX registers without any plugin, with their priorities; and that of known plugins.
BUILT_IN = {"cpu": 0, "tpu": 300}
_PRIORITY = 500


@dataclass(frozen=True, slots=True)
class Conditions:
    """What JAX's behaviour depends on, aside from the plugins.

    Attributes:
        variables: Environment variables.
        broken: Why JAX cannot be imported at all; empty if it can.
        described: Whether another machine is meant, which plugins cannot describe.
        no_hardware: Platform → why there is none of its hardware here; platforms with hardware are missing.
        unfit: Distribution, or platform that is built in → why its programs do not run on the hardware that is here.
        nvidia_nodes: Whether a device node of NVIDIA's driver exists, which is all that JAX looks at.
        nvidia_driver: Whether the driver is there and shows a GPU; without one, plugins let JAX continue on the CPU.
        tpu_library: The libtpu that JAX would open; None if there is none.
        flags: Why XLA ends the process over `XLA_FLAGS`; empty if it does not.
    """

    variables: Mapping[str, str] = field(default_factory=dict)
    broken: str = ""
    described: bool = False
    no_hardware: Mapping[str, str] = field(default_factory=dict)
    unfit: Mapping[str, str] = field(default_factory=dict)
    nvidia_nodes: bool = False
    nvidia_driver: bool = True
    tpu_library: Path | None = None
    flags: str = ""


@dataclass(frozen=True, slots=True)
class Platform:
    """What becomes of one platform.

    Attributes:
        platform: JAX's name of it.
        provider: Distribution or module that registers it; `jaxlib` for what JAX brings itself.
        priority: The platform with the highest becomes the default.
        outcome: `serves`, `absent` (JAX ignores it) or `fails` (the first use of JAX raises an error).
        reason: Why it does not serve, or not all programs; empty if it does.
    """

    platform: str
    provider: str
    priority: int
    outcome: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Prediction:
    """What JAX will do.

    Attributes:
        default: Its default platform; None if its first use raises an error.
        platforms: Every platform that is registered, and what becomes of it; none if JAX cannot be imported.
        error: What the error says; empty if there is none.
    """

    default: str | None
    platforms: tuple[Platform, ...]
    error: str = ""

    def find(self, name: str | None) -> Platform | None:
        """Return what becomes of a platform."""
        return next((entry for entry in self.platforms if entry.platform == name), None)


def predict(plugins: Sequence[Plugin], conditions: Conditions) -> Prediction:
    """Predict what JAX will do.

    Args:
        plugins: What it will find.
        conditions: What else counts.
    """
    if conditions.broken:
        return Prediction(None, (), conditions.broken)
    platforms = {"cpu": Platform("cpu", "jaxlib", BUILT_IN["cpu"], SERVES), "tpu": _built_in_tpu(conditions)}
    found: dict[str, Platform] = {}
    # Ours leave a platform to others, so that these come first.
    for plugin in sorted(plugins, key=lambda plugin: plugin.ours):
        if is_candidate(plugin) and plugin.answer.find("RivalError") is None:
            entry = _platform(plugin, conditions)
            found.setdefault(entry.platform, entry)
    for plugin in plugins:  # what JAX goes on without, and says so in its log alone
        unused = plugin.answer.find(UNREGISTERED)
        if plugin.platform is not None and unused is not None and unused.effect == UNUSED:
            entry = Platform(plugin.platform, plugin.label, plugin.priority or _PRIORITY, ABSENT, unused.what)
            found.setdefault(plugin.platform, entry)
    order = [plugin.platform for plugin in plugins if plugin.platform in found]
    platforms.update({name: found[name] for name in order if name})
    broken = next((plugin.refused for plugin in plugins if plugin.refused and plugin.platform is not None), "")
    if broken or conditions.flags:
        return Prediction(None, tuple(platforms.values()), broken or conditions.flags)
    asked = _requested_platforms(conditions)
    default, error = _choose(asked, platforms, conditions) if asked else _choose_by_priority(platforms)
    named = conditions.variables.get("JAX_PLATFORM_NAME", "").lower()
    if named and default is not None:  # of the platforms that are there, and only then
        there = {name for name, entry in platforms.items() if entry.outcome == SERVES and name in (asked or platforms)}
        default = next((name for name in ALIASES.get(named, (named,)) if name in there), None)
        error = "" if default else f"JAX_PLATFORM_NAME={named} asks for {named!r}, and there is {', '.join(there)}"
    return Prediction(default, tuple(platforms.values()), error)


def _requested_platforms(conditions: Conditions) -> tuple[str, ...]:
    """Return the platforms that the user asked for, in order, with JAX's aliases expanded; none for all there are.

    On a TPU machine with libtpu JAX asks for `tpu,cpu` by itself.
    """
    value = conditions.variables.get("JAX_PLATFORMS")
    if value is None and conditions.tpu_library is not None and "tpu" not in conditions.no_hardware:
        value = "tpu,cpu"
    names = value.split(",") if value else ()
    return tuple(platform for name in names for platform in ALIASES.get(name, (name,)))


def is_candidate(plugin: Plugin) -> bool:
    """Return whether a plugin registers its platform with JAX, if no other does; otherwise JAX ignores it."""
    if plugin.platform is None or plugin.location is None or plugin.refused:
        return False
    if not plugin.ours:
        return plugin.answer.library.path is not None and plugin.answer.find(effect=UNUSED) is None
    return not plugin.answer.settings.disabled and plugin.answer.find(NOT_IMPORTED) is None


def _built_in_tpu(conditions: Conditions) -> Platform:
    """JAX registers TPU by itself, and is quiet when it fails, unless there is a TPU: then it asks for `tpu,cpu`."""
    no_library = "" if conditions.tpu_library is not None else "there is no libtpu"
    absent, unfit = conditions.no_hardware.get("tpu", "") or no_library, conditions.unfit.get("tpu", "")
    outcome = ABSENT if absent else FAILS if unfit else SERVES
    return Platform("tpu", "jaxlib", BUILT_IN["tpu"], outcome, absent or unfit)


def _platform(plugin: Plugin, conditions: Conditions) -> Platform:
    """Return what becomes of the platform of a plugin that registers it."""
    name, answer = plugin.platform or "", plugin.answer
    refused = answer.find(effect=REFUSED)
    missing = answer.absence or answer.find(effect=ABSENT)
    absent, unfit = missing.what if missing is not None else "", ""
    quiet = bool(absent)
    if conditions.described or not plugin.ours:
        absent, unfit = conditions.no_hardware.get(name, ""), conditions.unfit.get(plugin.label, "")
        # JAX itself leaves `cuda` out where NVIDIA's driver has no node.
        quiet = bool(absent) or (name == "cuda" and not (conditions.nvidia_nodes and conditions.nvidia_driver))
    quiet = quiet and (refused is None or refused.code != UNREGISTERED)  # that fails as it is imported
    reason = absent or (refused.what if refused is not None else unfit)
    outcome = SERVES if not reason else ABSENT if quiet else FAILS
    if absent and refused is not None and refused.code == VENDOR_LIBRARY:  # as the plugin itself says
        reason = f"{absent}; on one its first use would fail: {refused.what}"
    degraded = answer.find(effect=DEGRADED)
    reason = degraded.what if outcome == SERVES and degraded is not None else reason
    priority = plugin.priority
    if priority is None:
        priority = BUILT_IN.get(name, _PRIORITY)
    return Platform(name, plugin.label, priority, outcome, reason)


def _choose_by_priority(platforms: Mapping[str, Platform]) -> tuple[str | None, str]:
    failing = next((entry for entry in platforms.values() if entry.outcome == FAILS), None)
    if failing is not None:
        return None, f"{failing.platform}: {failing.reason}"
    serving = [entry for entry in platforms.values() if entry.outcome == SERVES]
    return max(serving, key=lambda entry: entry.priority).platform, ""


def _choose(asked: Sequence[str], platforms: Mapping[str, Platform], conditions: Conditions) -> tuple[str | None, str]:
    """Choose the first platform that was asked for; each of them must serve."""
    request = f"JAX_PLATFORMS={conditions.variables.get('JAX_PLATFORMS', 'tpu,cpu')}"
    if aliases := [name for name in request.partition("=")[2].split(",") if name in ALIASES]:
        request += f" stands for {', '.join(ALIASES[aliases[0]])}, and"
    serving: list[str] = []
    for name in asked:
        if name == "cuda" and not conditions.nvidia_nodes:
            continue  # whether there is a plugin for it or not
        if name not in platforms:
            return None, f"{request} asks for {name!r}, which nothing installed registers"
        if platforms[name].outcome != SERVES:
            return None, f"{request} asks for {name!r}: {platforms[name].reason}"
        serving.append(name)
    if not serving:
        return None, f"{request} asks for nothing but 'cuda', and there is no device node of NVIDIA's driver"
    return serving[0], ""
