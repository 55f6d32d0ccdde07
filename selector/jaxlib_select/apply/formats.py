# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The formats of a lock file: `pylock.toml`, `requirements.txt`, and a part of a uv project's `pyproject.toml`."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jaxlib_select.apply.installer import by_option, name_of
from jaxlib_select.apply.pylock import Group, Table, drop_superseded, filename
from jaxlib_select.choose.decision import Decision
from jaxlib_select.errors import UsageError

PYLOCK, REQUIREMENTS, UV = "pylock", "requirements", "uv"
FORMATS = (PYLOCK, REQUIREMENTS, UV)


def format_of(path: Path) -> str:
    """Return the format that belongs to a file's name; a `UsageError` if there is none."""
    name = path.name
    if name == "pylock.toml" or (name.startswith("pylock.") and name.endswith(".toml") and name.count(".") == 2):
        return PYLOCK
    if name.endswith((".txt", ".in")):
        return REQUIREMENTS
    raise UsageError(f"not the name of a lock: {name!r}", remedy="call it pylock.toml, pylock.NAME.toml or NAME.txt")


def write_requirements(group: Group, options: Sequence[str]) -> str:
    """Return a requirements file with hashes: the one format that every tool reads, for one backend."""
    lines = _option_lines(options)
    for package in sorted(group.packages, key=lambda table: str(table["name"])):
        marker = f" ; {package['marker']}" if package.get("marker") else ""
        pinned = f"{package['name']}=={package['version']}{marker}"
        lines.append(" \\\n    ".join([pinned, *(f"--hash=sha256:{value}" for value in _hashes(package))]))
    return "\n".join(lines) + "\n"


def only_about(name: str, text: str) -> str:
    r"""Return of a requirements file what it says about one distribution, and its options.

    >>> only_about("b", "--no-index\na==1\n    --hash=sha256:0\nb==2\n    --hash=sha256:1\n")
    '--no-index\nb==2\n    --hash=sha256:1\n'
    """
    entries = re.findall(r"(?m)^\S.*\n(?: .*\n)*", text)  # what belongs to an entry is indented
    return "".join(entry for entry in entries if entry.startswith("--") or name_of(entry) == name)


def write_uv_snippet(decisions: Sequence[Decision], options: Sequence[str] = ()) -> str:
    """Return what to add to the `pyproject.toml` of a uv project: one extra per group, which exclude each other."""
    extras = {decision.group: [*decision.requirements, *decision.constraints] for decision in decisions}
    tables: dict[str, object] = {"project": {"optional-dependencies": extras}}
    uv: dict[str, object] = {"conflicts": [[{"extra": name} for name in extras]]} if len(extras) > 1 else {}
    indexes = {decision.backend: decision.index_url for decision in decisions if decision.index_url is not None}
    own = [{"name": name, "url": url, "explicit": True} for name, url in indexes.items()]
    if indexes:
        uv["sources"] = _sources(decisions)
    locations = _locations(options)
    uv.update({**locations, "index": [*own, *locations.get("index", [])]} if own else locations)
    if uv:
        tables["tool"] = {"uv": uv}
    return f"# Add this to pyproject.toml, then: uv sync --extra {decisions[0].group}\n{write_toml(tables)}"


def _locations(options: Sequence[str]) -> dict[str, Any]:
    """Return the settings of uv that say where wheels are."""
    values: dict[str, list[str]] = {}
    for option, *given in by_option(options):
        values.setdefault(option, []).extend(given)
    index: list[dict[str, Any]] = [{"url": url, "default": True} for url in values.get("--index-url", [])]
    found = {"index": index, "find-links": values.get("--find-links", []), "no-index": "--no-index" in values}
    return {key: value for key, value in found.items() if value}


def _sources(decisions: Sequence[Decision]) -> dict[str, list[dict[str, str]]]:
    """Return for each requirement from an index of its own which extra takes it from where."""
    found: dict[str, list[dict[str, str]]] = {}
    for decision in decisions:
        for name in map(name_of, decision.requirements if decision.index_url is not None else ()):
            found.setdefault(name, []).append({"index": decision.backend, "extra": decision.group})
    return found


def _option_lines(options: Sequence[str]) -> list[str]:
    """Return options as lines of a requirements file."""
    # Folders as URLs: neither uv nor pip takes a path with spaces here.
    return [
        " ".join(Path(word).as_uri() if Path(word).is_absolute() else word for word in words)
        for words in by_option(options)
    ]


def _hashes(package: Table) -> list[str]:
    wheels = drop_superseded(package.get("wheels", []))
    built = any(filename(wheel).count("-") == 5 for wheel in wheels)
    files = [*wheels, *([package["sdist"]] if "sdist" in package and not built else [])]
    return sorted({str(file["hashes"]["sha256"]) for file in files})


_BARE = re.compile(r"[A-Za-z0-9_-]+")


def write_toml(document: Mapping[str, object], path: Sequence[str] = ()) -> str:
    """Return a TOML document, or that part of one whose table has these keys."""
    plain = {key: value for key, value in document.items() if not isinstance(value, Mapping) and not _is_tables(value)}
    blocks = [_entries(plain, _value)] if plain else []
    for key, value in document.items():
        where = (*path, key)
        if isinstance(value, Mapping):
            body = write_toml(value, where)
            # A table with nothing but tables needs no header of its own.
            blocks.append(body if body.startswith("[") else f"[{'.'.join(map(_key, where))}]\n{body}".rstrip())
        elif _is_tables(value) and isinstance(value, (list, tuple)):
            blocks += [f"[[{'.'.join(map(_key, where))}]]\n{_entries(item, _value_in_list)}".rstrip() for item in value]
    return "\n\n".join(block for block in blocks if block) + ("" if path else "\n")


def _entries(table: Mapping[str, object], write: Callable[[object], str]) -> str:
    return "\n".join(f"{_key(key)} = {write(value)}" for key, value in table.items())


def _is_tables(value: object) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(item, Mapping) for item in value)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _value(key)


def _value_in_list(value: object) -> str:
    """Return a value of a table in a list of them: tables in it are written inline, one a line."""
    if _is_tables(value) and isinstance(value, (list, tuple)):
        return "[\n" + "".join(f"    {_value(item)},\n" for item in value) + "]"
    return _value(value)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        # JSON's escapes are TOML's, but for the delete character.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, dt.datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, Mapping):
        entries: list[str] = [f"{_key(key)} = {_value(item)}" for key, item in value.items()]
        return f"{{ {', '.join(entries)} }}" if entries else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    raise TypeError(f"no TOML value: {value!r}")
