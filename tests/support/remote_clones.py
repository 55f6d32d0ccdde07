# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Clones that share remote settings, and what is built in them."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bazel_actions import by_output, read_actions
from bazel_outputs import remove_outputs
from pjrtwheel.backend import find_backend
from pjrtwheel.bazel.invoke import BuildRequest, BuildResult, build
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.files import hash_file
from pjrtwheel.platforms import PLATFORMS
from release_under_test import release_under_test

# The kinds of actions that make wheels.
WHEEL_ACTIONS = ("AssembleWheel", "CompileExtension")


@dataclass(frozen=True, slots=True)
class Built:
    """What one build gave.

    Attributes:
        request: What was asked for.
        result: The result.
        wheels: Name and digest of each wheel.
        runners: Where each action that was no result of before was run, by kind and output, such as `remote`.
        keys: What the key of each of those is made of, by output.
    """

    request: BuildRequest
    result: BuildResult
    wheels: dict[str, str]
    runners: dict[tuple[str, str], str]
    keys: dict[str, dict[str, Any]]

    @property
    def where(self) -> dict[str, set[str]]:
        """Return where the actions of each kind were run."""
        return {
            kind: {runner for (found, _), runner in self.runners.items() if found == kind} for kind in WHEEL_ACTIONS
        }


@dataclass(slots=True)
class Clone:
    """A clone of the repository with a cache of its own, in which only downloads are shared with others."""

    root: Path
    cache: Path
    environ: dict[str, str] = field(default_factory=dict)

    def describe(self, text: str) -> None:
        """Give a wheel another description, so that it has to be made anew."""
        (self.root / "plugins/tpu/README.md").write_text(f"# jaxlib-tpu\n\n{text}\n", "utf-8")

    def comment(self, text: str) -> None:
        """Give a C file another comment, so that extensions have to be compiled anew, to the same bytes."""
        source = next(self.root.glob("plugins/pjrt/*.c"))
        source.write_text(f"{source.read_text('utf-8')}/* {text} */\n", "utf-8")

    def build(self, settings: Path | None, *, backends: Sequence[str] = ("tpu",), with_bindings: bool = False) -> Built:
        """Build with remote settings, or without."""
        log = self.cache.parent / "actions.json"
        request = BuildRequest(
            self.root,
            release_under_test(),
            tuple(find_backend(self.root, name) for name in backends),
            PLATFORMS["linux_x86_64"],
            with_bindings=with_bindings,
        )
        variables = {
            "PJRTWHEEL_CACHE": str(self.cache),
            "PJRTWHEEL_BAZEL_FLAGS": f"--execution_log_json_file={log}",
            "PJRTWHEEL_REMOTE": str(settings or ""),
        }
        result = build(request, {**os.environ, **self.environ, **variables})
        wheels = {wheel.path.name: hash_file(wheel.path) for wheel in result.wheels}
        actions = read_actions(log)
        return Built(request, result, wheels, dict(map(_place, actions)), by_output(actions))


def _place(action: dict[str, Any]) -> tuple[tuple[str, str], str]:
    output = re.sub(r"^bazel-out/[^/]*/bin/", "", action["listedOutputs"][0])
    return (action["mnemonic"], output), action["runner"]


@contextmanager
def make_clones(copy_checkout: Callable[[Path], Path], folder: Path) -> Iterator[Callable[..., Clone]]:
    """Yield a function: a name and environment variables → a new clone; their Bazel servers end with the block."""
    clones: list[Clone] = []

    def make(name: str, **variables: str) -> Clone:
        clone = Clone(copy_checkout(folder / name / "clone"), folder / name / "cache", environ=variables)
        clone.cache.mkdir()
        for kept in ("wheels", "wheelhouses"):
            (clone.cache / kept).symlink_to(cache_root(os.environ) / kept)
        clones.append(clone)
        return clone

    try:
        yield make
    finally:
        for clone in clones:
            remove_outputs(clone.root, clone.cache)


def write_settings(path: Path, *lines: str) -> Path:
    """Write a file of remote settings that only its owner can read, and return its path."""
    path.write_text("".join(f"{line}\n" for line in lines))
    path.chmod(0o600)
    return path
