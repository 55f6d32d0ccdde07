# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Describe chips that are not here, so that JAX compiles programs for them.

What is known of a chip is in a file of the wheel. The proofs of a build describe their chips with the same function.
"""

from __future__ import annotations

import importlib
import os
import re
import tomllib
from pathlib import Path
from typing import Any

from . import private
from .errors import ChipError
from .plugin import Plugin

_GRID = re.compile(r"[1-9]\d*(x[1-9]\d*){0,2}")


def read_chips(package: Path) -> dict[str, dict[str, Any]]:
    """Return what a wheel's files say of each chip; its own complete those that it shares with other wheels."""
    chips: dict[str, dict[str, Any]] = {}
    for path in sorted(package.glob("*/*.toml"), key=lambda path: path.parent.name == "targets"):
        chips[path.stem] = {**chips.get(path.stem, {}), **tomllib.loads(path.read_text("utf-8"))}
    return dict(sorted(chips.items()))


def find_chip(plugin: Plugin, name: str) -> dict[str, Any]:
    """Return what is known of a chip, whose name may have an arrangement behind it.

    Raises:
        ChipError: The wheel knows no such chip.
    """
    chips, chip = read_chips(plugin.package), name.partition(":")[0]
    if chip not in chips:
        import difflib

        near = difflib.get_close_matches(chip.lower(), chips, 1, 0.7)  # not thor for hopper
        known = f"it knows {', '.join(chips)}" if chips else "it compiles only for devices that are here"
        meant = f"take {near[0]}" if near else ""
        raise ChipError(f"{plugin.distribution} knows no chip {chip!r}", cause=known, remedy=meant)
    return chips[chip]


def describe_chips(plugin: Plugin, name: str) -> Any:
    """Return devices that need not be here, as JAX compiles programs for them.

    Args:
        plugin: The plugin.
        name: A chip, such as `h100`, and behind a colon the arrangement of several: `h100:8`, `h100:2x8` (two machines
            with eight each), or for a TPU the grid that JAX knows, `v5e:2x4`.

    Raises:
        ChipError: The wheel knows no such chip, or XLA no such arrangement of it.
    """
    chip = find_chip(plugin, name)
    for variable, value in chip.get("environment", {}).items():
        os.environ.setdefault(variable, value)  # what the library reads when it is opened
    topologies = importlib.import_module("jax.experimental.topologies")
    try:
        topology, options = _arrange(chip["topologies"], name.partition(":")[2] or "single")
        return topologies.get_topology_desc(topology, chip["platform"], **chip.get("options", {}), **options)
    except (ValueError, private.jaxlib("xla_client").XlaRuntimeError) as error:
        raise ChipError(f"{plugin.distribution} cannot arrange {name!r}", cause=str(error)) from error


def _arrange(known: dict[str, Any], arrangement: str) -> tuple[str, dict[str, Any]]:
    """Return JAX's name of an arrangement, and its options: of a grid, or of one that the chip's file names.

    Raises:
        ValueError: It is neither.
    """
    if arrangement in known:
        return known[arrangement].get("name", ""), known[arrangement].get("options", {})
    if not _GRID.fullmatch(arrangement):
        raise ValueError(f"{arrangement!r} is no grid, such as 8 or 2x4")
    family = known["single"].get("name", "").partition(":")[0]
    if family:
        return f"{family}:{arrangement}", {}
    # Slices, machines of each, devices of each.
    return "", {"topology": "x".join(["1", "1", *arrangement.split("x")][-3:])}
