# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Write `plugins/backends.bzl` from the `backend.toml` files: `python -m pjrtwheel.bazel.backends_bzl [--check]`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pjrtwheel.backend import Backend, load_backends, merge_tools
from pjrtwheel.errors import BazelError, count
from pjrtwheel.files import write_atomically
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.program import run_main

Value = str | int | bool | Sequence["Value"] | Mapping[str, "Value"]

TARGET = Path("plugins/backends.bzl")
REFRESH = "PYTHONPATH=build python3 -m pjrtwheel.bazel.backends_bzl"
HEADER = f'''# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Every backend and what the graph needs to know of it.

Generated from the `backend.toml` files; do not edit. To refresh it: {REFRESH}
"""
'''


def to_starlark(value: Value, indent: int = 0) -> str:
    """Return a Starlark expression.

    >>> print(to_starlark({"a": ["b"], "c": []}))
    {
        "a": [
            "b",
        ],
        "c": [],
    }
    """
    inner = "    " * (indent + 1)
    if isinstance(value, bool | int):
        return str(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if not value:
        return "{}" if isinstance(value, Mapping) else "[]"
    if isinstance(value, Mapping):
        rows = (f"{json.dumps(key)}: {to_starlark(item, indent + 1)}" for key, item in value.items())
        brackets = "{}"
    else:
        rows = (to_starlark(item, indent + 1) for item in value)
        brackets = "[]"
    body = "".join(f"{inner}{row},\n" for row in rows)
    return f"{brackets[0]}\n{body}{'    ' * indent}{brackets[1]}"


def describe_backend(backend: Backend) -> dict[str, Value]:
    """Return what the graph needs to know of one backend; the same keys for all, so that no rule has to ask."""
    kernels = backend.kernels
    return {
        "distribution": backend.distribution,
        "package": backend.package,
        "library": backend.library,
        "platforms": list(backend.tags),
        "member": backend.prebuilt.member,
        "bundled": backend.prebuilt.bundled,
        "source": backend.source.label if backend.source else "",
        "shared": backend.shared,
        "kernels_package": kernels.package if kernels else "",
        "kernels_pythons": kernels.pythons if kernels else (),
        "kernels_platforms": kernels.platforms if kernels else (),
        "tools": tuple(backend.tools),
    }


def render_backends(backends: Mapping[str, Backend]) -> str:
    """Return the text of `plugins/backends.bzl`."""
    tables: dict[str, Value] = {
        "PLATFORMS": {name: {"compiler_target": entry.compiler_target} for name, entry in PLATFORMS.items()},
        "TOOLS": {name: {"member": tool.member} for name, tool in merge_tools(backends.values()).items()},
        "BACKENDS": {name: describe_backend(backend) for name, backend in backends.items()},
    }
    return HEADER + "".join(f"\n{name} = {to_starlark(table)}\n" for name, table in tables.items())


def check_backends(root: Path) -> None:
    """Compare the file with what the `backend.toml` files say now.

    Raises:
        BazelError: The file is missing or stale.
    """
    path = root / TARGET
    if not path.is_file() or path.read_text("utf-8") != render_backends(load_backends(root)):
        raise BazelError(
            f"{TARGET} is stale", cause="a backend.toml was added or changed since", remedy=f"refresh it: {REFRESH}"
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Write or check the file, and return the exit status."""
    return run_main(_run, argv)


def _run(argv: Sequence[str]) -> int:
    """Parse the arguments, and write or check the file."""
    parser = argparse.ArgumentParser(prog="python -m pjrtwheel.bazel.backends_bzl", description=__doc__)
    parser.add_argument("--root", type=Path, default=Path(), help="the repository (default: here)")
    parser.add_argument("--check", action="store_true", help="write nothing, fail when the file is stale")
    arguments = parser.parse_args(argv)
    if arguments.check:
        check_backends(arguments.root)
    else:
        backends = load_backends(arguments.root)
        write_atomically(arguments.root / TARGET, render_backends(backends))
        print(f"{TARGET}: {count(len(backends), 'backend')}, {', '.join(backends)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
