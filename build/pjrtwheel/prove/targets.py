# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read `plugins/<name>/targets/*.toml`: chips that a plugin compiles for where they are not at hand."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pjrtwheel.backend import Backend
from pjrtwheel.errors import UsageError

EVERY = "*"

# What JAX hands on to a plugin: a text, or the bounds of a grid.
Option = str | list[int]


@dataclass(frozen=True, slots=True)
class Topology:
    """An arrangement of chips.

    Attributes:
        label: What to call it, such as `single`.
        name: The topology's name in JAX, such as `v5e:2x2`; empty where options say it.
        options: Options of this topology alone.
        programs: The programs to compile for it; none means all that need no more devices.
    """

    label: str
    name: str
    options: Mapping[str, Option]
    programs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a program cannot be compiled for a chip.

    Attributes:
        pattern: Regular expression that the error must match.
        reason: The same for people.
    """

    pattern: str
    reason: str


@dataclass(frozen=True, slots=True)
class Target:
    """One chip.

    Attributes:
        name: Name of the file, such as `h100`.
        summary: What it is, such as `NVIDIA H100 SXM`.
        platform: The platform's name in JAX.
        code: The code that every executable must hold, and no other, such as `sm_90a`.
        topologies: For which arrangements programs are compiled.
        options: Options of every topology.
        environment: Variables that the compiling process needs.
        fails: Program, or `*` for all → why it cannot be compiled.
    """

    name: str
    summary: str
    platform: str
    code: tuple[str, ...]
    topologies: tuple[Topology, ...]
    options: Mapping[str, Option]
    environment: Mapping[str, str]
    fails: Mapping[str, Failure]

    def failure_of(self, program: str) -> Failure | None:
        """Return why a program cannot be compiled, if it is expected not to be."""
        return self.fails.get(program, self.fails.get(EVERY))


def parse_target(text: str, path: Path, shared: Sequence[str] = ()) -> Target:
    """Turn the text of a target's file into a `Target`.

    Args:
        text: The text.
        path: Where it stands.
        shared: The texts that it completes: what backends share about this chip.

    Raises:
        UsageError: A text is not TOML; a key is missing, unknown or of the wrong type; a pattern is none.
    """
    try:
        table = functools.reduce(_overlay, map(tomllib.loads, (*shared, text)))
        target = Target(
            name=path.stem,
            summary=_text(table.pop("summary")),
            platform=_text(table.pop("platform")),
            code=_texts(table.pop("code")),
            topologies=tuple(_topology(label, entry) for label, entry in table.pop("topologies").items()),
            options=_options(table.pop("options", {})),
            environment=_mapping(table.pop("environment", {})),
            fails={program: _failure(entry) for program, entry in table.pop("fails", {}).items()},
        )
        _nothing_left(table)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"not a TOML file: {path}", cause=str(error)) from error
    except (AttributeError, KeyError, TypeError, re.error) as error:
        raise UsageError(f"target file {path} lacks or misspells {error}") from error
    return target


def load_targets(root: Path, backend: Backend) -> tuple[Target, ...]:
    """Read the targets of a backend and of the directories it shares, in order of name.

    Where both have a file about a chip, the backend's own says only what differs.

    Raises:
        UsageError: A file is malformed.
    """
    folders = [root / "plugins" / name / "targets" for name in (*backend.shared, backend.name)]
    paths: dict[str, list[Path]] = {}
    for path in (path for folder in folders for path in folder.glob("*.toml")):
        paths.setdefault(path.stem, []).append(path)
    return tuple(_read_target(files) for _, files in sorted(paths.items()))


def _read_target(files: Sequence[Path]) -> Target:
    *shared, own = files
    return parse_target(own.read_text("utf-8"), own, [path.read_text("utf-8") for path in shared])


def _overlay(table: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return a table with the entries of another one, which take precedence; tables in both are put together alike."""
    merged = {**table, **other}
    return merged | {
        key: _overlay(table[key], other[key])
        for key in table.keys() & other.keys()
        if isinstance(table[key], dict) and isinstance(other[key], dict)
    }


def _topology(label: str, table: dict[str, Any]) -> Topology:
    topology = Topology(
        label=label,
        name=_text(table.pop("name", "")),
        options=_options(table.pop("options", {})),
        programs=_texts(table.pop("programs", [])),
    )
    _nothing_left(table)
    return topology


def _failure(table: dict[str, Any]) -> Failure:
    failure = Failure(pattern=_text(table.pop("pattern")), reason=_text(table.pop("reason")))
    _nothing_left(table)
    re.compile(failure.pattern)
    return failure


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r}, which is no text")
    return value


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r}, which is no list")
    return tuple(_text(item) for item in value)


def _mapping(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise TypeError(f"{value!r}, which is no table")
    return {key: _text(item) for key, item in value.items()}


def _options(value: object) -> dict[str, Option]:
    if not isinstance(value, dict):
        raise TypeError(f"{value!r}, which is no table")
    return {key: _integers(item) if isinstance(item, list) else _text(item) for key, item in value.items()}


def _integers(items: list[object]) -> list[int]:
    numbers = [item for item in items if isinstance(item, int)]
    if numbers != items:
        raise TypeError(f"{items!r}, which is no list of integers")
    return numbers


def _nothing_left(table: Mapping[str, object]) -> None:
    if table:
        raise KeyError(", ".join(sorted(table)))
