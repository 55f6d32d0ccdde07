# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the dynamic linker would find a library, without loading it."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlib_select.detect.world import World

# The linker's own folders, those of distributions, and where WSL2, NixOS and Tegra keep what they hand in.
_FOLDERS = (
    "/lib64",
    "/usr/lib64",
    "/lib/{arch}-linux-gnu",
    "/usr/lib/{arch}-linux-gnu",
    "/usr/lib/{arch}-linux-gnu/nvidia",
    "/usr/lib/{arch}-linux-gnu/tegra",
    "/lib",
    "/usr/lib",
    "/usr/lib/wsl/lib",
    "/run/opengl-driver/lib",
)


def find_library(world: World, name: str) -> str | None:
    """Return a file that the linker may take for a library, or nothing if it is nowhere.

    Args:
        world: Where to look.
        name: Name of the file, such as `libcuda.so.1`.
    """
    for folder in (*_search_path(world), *_FOLDERS):
        path = f"{folder.format(arch=world.machine)}/{name}"
        if world.exists(path):
            return path
    return name if _is_cached(world, name) else None


def _search_path(world: World) -> Iterator[str]:
    """Yield the folders of LD_LIBRARY_PATH, braces made harmless."""
    for folder in world.environ.get("LD_LIBRARY_PATH", "").replace(";", ":").split(":"):
        if folder:
            yield folder.replace("{", "{{").replace("}", "}}")


def _is_cached(world: World, name: str) -> bool:
    """Return whether the linker's cache has a library: names stand there as texts that end with a zero byte."""
    return b"\0" + name.encode() + b"\0" in b"\0" + (world.read_bytes("/etc/ld.so.cache") or b"")
