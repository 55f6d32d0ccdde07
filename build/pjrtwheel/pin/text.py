# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Write a pins file, and read the two files of decisions and sources that are kept by hand."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import tomli_w

from pjrtwheel.errors import PinError
from pjrtwheel.release.model import OVERRIDES_FILE, SCHEMA, Override, Release, XlaSource
from pjrtwheel.tables import TableError, read, read_toml, write

XLA_FILE = "releases/xla.toml"


def find_xla(text: str, release: str) -> XlaSource | None:
    """Return the XLA revision of a release from the text of `releases/xla.toml`; nothing if nobody knows it.

    Raises:
        PinError: The text is malformed.
    """
    with _malformed(XLA_FILE):
        table = read_toml(dict[str, Any], text)
        return read(XlaSource, table[release], f'"{release}"') if release in table else None


def find_overrides(text: str, release: str) -> tuple[Override, ...]:
    """Return the overrides of a release from the text of `releases/overrides.toml`.

    Raises:
        PinError: The text is malformed.
    """
    with _malformed(OVERRIDES_FILE):
        tables = read_toml(dict[str, dict[str, dict[str, Any]]], text).get(release, {})
        return tuple(read(Override, table, f'"{release}".{name}', backend=name) for name, table in tables.items())


@contextmanager
def _malformed(path: str) -> Generator[None]:
    try:
        yield
    except TableError as error:
        raise PinError(f"malformed file: {path}", cause=str(error), remedy="correct it, or restore it") from error


def render_release(release: Release) -> str:
    """Return the text of a pins file: the same inputs give the same text, whatever their order."""
    ordered = replace(
        release,
        absent=tuple(sorted(release.absent, key=lambda entry: entry.key)),
        commits=dict(sorted(release.commits.items())),
    )
    known = {key: value for key, value in write(ordered).items() if key not in {"pins", "digest", "path"}}
    table = {key: value for key, value in known.items() if value or isinstance(value, (int, str))}
    pins = [write(release.pins[key]) for key in sorted(release.pins)]
    document = {"schema": SCHEMA, **_sorted(table), "pin": pins}
    return f"# Written by `nox -s pin -- {release.version}`; do not edit.\n" + tomli_w.dumps(document)


def _sorted(table: dict[str, Any]) -> dict[str, Any]:
    """Return a table with its single values first, as TOML wants it, and its tables in order of name."""
    single = {key: value for key, value in table.items() if not isinstance(value, (dict, list))}
    return {**single, **{key: table[key] for key in sorted(table.keys() - single.keys())}}
