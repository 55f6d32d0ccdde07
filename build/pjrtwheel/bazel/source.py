# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A user's own XLA: what `--xla source` builds in place of the release's, and with which options."""

import functools
import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pjrtwheel.backend import Backend
from pjrtwheel.errors import UsageError
from pjrtwheel.files import hash_file

_COMMIT = re.compile("[0-9a-f]{40}")
_CHIP = re.compile(r"\w[\w.-]*")
_UNSAFE = re.compile(r"[^\w.-]")
_BINDINGS = frozenset({"--config=xla_bindings", "--config=xla_abi3"})
_MARK = "workspace0.bzl"  # at the top of every tree of XLA


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """How a library is built from source, as far as it is not the release's way.

    Attributes:
        commit: Commit of openxla/xla; empty for the release's.
        tree: A tree of XLA on this disk; nothing for one of a commit.
        patches: Patches to that commit, in their order.
        chips: What to compile for, in the words of the backend's compiler; empty for the backend's own choice.
        debug_symbols: Whether libraries have line numbers, and keep them and their symbols.
        bazel_options: Further options of `bazel build`.
    """

    commit: str = ""
    tree: Path | None = None
    patches: tuple[Path, ...] = ()
    chips: tuple[str, ...] = ()
    debug_symbols: bool = False
    bazel_options: tuple[str, ...] = ()

    @property
    def makes_bindings(self) -> bool:
        """Whether jaxlib and kernels come from JAX's source, which one build makes for one Python."""
        return not _BINDINGS.isdisjoint(self.bazel_options)

    def flags(self, backend: Backend) -> list[str]:
        """Return the options of `bazel build` that follow."""
        flags = [f"--override_repository=xla={self.tree}"] if self.tree else []
        if self.chips and backend.source:
            flags.append(f"--repo_env={backend.source.chips}={','.join(self.chips)}")
        flags += ["--config=xla_debug"] if self.debug_symbols else []
        return [*flags, *self.bazel_options]

    def to_archive(self) -> str:
        """Return the XLA that a repository rule fetches, and names for copies of its patches; empty if as released."""
        patches = {str(path): f"{hash_file(path)}-{_UNSAFE.sub('_', path.name)}" for path in self.patches}
        return json.dumps({"commit": self.commit, "patches": patches}) if self.commit or patches else ""


AS_RELEASED = SourceOptions()


@functools.cache
def describe_source(options: SourceOptions) -> dict[str, Any]:
    """Return the options that are given, as provenance states them: files by their bytes, wherever they are."""
    stated = {
        "commit": options.commit,
        "tree": _hash_tree(options.tree) if options.tree else "",
        "patches": [{"name": path.name, "sha256": hash_file(path)} for path in options.patches],
        "chips": options.chips,
        "debug_symbols": options.debug_symbols,
        "bazel_options": options.bazel_options,
    }
    return {name: value for name, value in stated.items() if value}


def name_provider(options: SourceOptions) -> str:
    """Return the name of the provider, which is a part of the lock: `source`, with a digest of the options given."""
    stated = json.dumps(describe_source(options), sort_keys=True)
    return "source" if options == AS_RELEASED else f"source-{hashlib.sha256(stated.encode()).hexdigest()}"


def _hash_tree(tree: Path) -> str:
    """Return a digest of the files of a tree, by name and bytes, without what git keeps there."""
    digest = hashlib.sha256()
    for path in sorted(tree.rglob("*")):
        name = path.relative_to(tree)
        if path.is_file() and name.parts[0] != ".git":
            digest.update(f"{hash_file(path)}  {name.as_posix()}\n".encode())
    return digest.hexdigest()


def check_source(options: SourceOptions, provider: str, label: str | None) -> None:
    """Raise a `UsageError` unless options can be, and are for a build from source with a label of its own."""
    if options == AS_RELEASED:
        return
    if provider != "source":
        raise UsageError(f"--xla {provider} takes no options of XLA's build", remedy="add --xla source")
    if not label:
        raise UsageError(
            "a build with options of its own needs a label of its own", remedy="name it, such as --label mine"
        )
    if options.commit and not _COMMIT.fullmatch(options.commit):
        raise UsageError(f"not a commit: {options.commit!r}", remedy="give its 40 hexadecimal digits, in lower case")
    if options.tree and (options.commit or options.patches):
        raise UsageError("--xla-tree is built as it is", remedy="check out the commit there, and apply the patches")
    if options.tree and not (options.tree / _MARK).is_file():
        raise UsageError(f"not a tree of XLA: {options.tree}", cause=f"it has no {_MARK}")
    if missing := [str(path) for path in options.patches if not path.is_file()]:
        raise UsageError(f"no such patch: {', '.join(missing)}")
    if wrong := [chip for chip in options.chips if not _CHIP.fullmatch(chip)]:
        raise UsageError(f"not a chip: {', '.join(map(repr, wrong))}", remedy="such as --chips sm_80,sm_87")


def check_chips(options: SourceOptions, backend: Backend) -> None:
    """Raise a `UsageError` if a backend does not choose chips when it is built."""
    if options.chips and not (backend.source and backend.source.chips):
        raise UsageError(
            f"backend {backend.name} is not built for some chips and not for others", remedy="leave out --chips"
        )
