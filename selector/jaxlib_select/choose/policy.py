# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which backend the user asks for, per package: command line before environment before pyproject.toml."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jaxlib_select import variables
from jaxlib_select.errors import UsageError
from jaxlib_select.facts import OURS
from jaxlib_select.names import normalize, squeeze

AUTO = "auto"
CPU = "cpu"
PREFER_GPU = "prefer-gpu"
REQUIRE_GPU = "require-gpu"
GENERAL = (AUTO, CPU, PREFER_GPU, REQUIRE_GPU)
ALIASES = {"gpu": REQUIRE_GPU}  # as `jaxlib_select.require` and JAX say it

_FOREIGN = {"torch": "UV_TORCH_BACKEND"}  # variables of other tools that say the same about one package
_TABLE = "[tool.jaxlib-select.backends]"
_KEYS = ("backends", "index")
_FILE = "pyproject.toml"


@dataclass(frozen=True)
class Choice:
    """What is asked for.

    Attributes:
        backend: `auto`, `cpu`, `prefer-gpu`, `require-gpu`, or the name of a backend or of its packaging.
        origin: Who said so, for messages.
        lasting: Whether it is a default for all packages, some of which may lack that backend.
        warnings: What the user should know about how it was understood.
    """

    backend: str
    origin: str = "the default"
    lasting: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class PolicySource:
    """What one source says: a default, and exceptions by package."""

    default: Choice | None = None
    packages: Mapping[str, Choice] = field(default_factory=dict)


@dataclass(frozen=True)
class Policy:
    """What all sources say, the strongest first, and whose wheels are to be installed."""

    sources: tuple[PolicySource, ...] = ()
    provider: str = OURS

    def choose(self, *names: str) -> Choice:
        """Return what holds for a package: the first source that says anything about it."""
        keys = [normalize(name) for name in names]
        for source in self.sources:
            choice = next((source.packages[key] for key in keys if key in source.packages), source.default)
            if choice:
                return choice
        return Choice(AUTO)


def read_policy(arguments: Sequence[str], environ: Mapping[str, str], folder: Path | None) -> Policy:
    """Collect what the user wants: by `--backend`, in the environment, and in pyproject.toml, upwards from a folder.

    Raises:
        UsageError: One place contradicts itself, or pyproject.toml cannot be read.
    """
    table = find_table(folder) if folder else {}
    return Policy((from_arguments(arguments), _from_environment(environ), _from_table(table.get("backends", {}))))


def read_index(environ: Mapping[str, str], folder: Path | None) -> str:
    """Return the index with our wheels that the environment or pyproject.toml names; empty without one.

    Raises:
        UsageError: pyproject.toml cannot be read, or has something else in its place.
    """
    return str(environ.get(variables.INDEX) or (find_table(folder) if folder else {}).get("index", ""))


def from_arguments(arguments: Sequence[str]) -> PolicySource:
    """Read the values of `--backend`; a `UsageError` if one is incomplete, or two contradict each other."""
    found: dict[str, str] = {}
    for argument in arguments:
        package, equals, backend = argument.rpartition("=")
        if not backend.strip() or bool(equals) != bool(package.strip()):
            raise UsageError(f"--backend {argument!r} is incomplete", remedy="expected BACKEND or PACKAGE=BACKEND")
        key = normalize(package.strip())
        if squeeze(found.setdefault(key, backend)) != squeeze(backend):
            whom = f" for {key}" if key else ""
            raise UsageError(
                f"--backend says both {found[key]!r} and {backend!r}{whom}", remedy="give one, or PACKAGE=BACKEND each"
            )
    return _source(found, lambda key: f"--backend {key}={found[key]}" if key else f"--backend {found[key]}")


def _from_environment(environ: Mapping[str, str]) -> PolicySource:
    """Read the variables of this program and of other tools; a `UsageError` for an unknown one."""
    variables.check_names(environ)
    names = {package: name for package, name in _FOREIGN.items() if environ.get(name)}
    for name in environ:
        if name.startswith(variables.BACKEND) and environ[name]:
            names[normalize(name[len(variables.BACKEND) :])] = name
    if environ.get(variables.DEFAULT):
        names[""] = variables.DEFAULT
    return _source({key: environ[name] for key, name in names.items()}, lambda key: names[key], lasting=True)


def _from_table(table: Mapping[str, object]) -> PolicySource:
    """Read the table of pyproject.toml; a `UsageError` if a value is no string."""
    for key, value in table.items():
        if not isinstance(value, str):
            raise UsageError(f"pyproject.toml: {_TABLE} {key} is {value!r}", remedy="expected a string such as 'auto'")
    found = {"" if key == "default" else normalize(key): str(value) for key, value in table.items()}
    return _source(found, lambda key: f"pyproject.toml, {_TABLE} {key or 'default'}", lasting=True)


def find_table(folder: Path) -> Mapping[str, Any]:
    """Return our table of the nearest pyproject.toml, from a folder upwards; empty if there is none.

    Raises:
        UsageError: The file cannot be read, is no TOML, or has something else where the table belongs.
    """
    path = next((place / _FILE for place in (folder, *folder.parents) if (place / _FILE).is_file()), None)
    try:
        text = path.read_text("utf-8") if path is not None else ""
        if "jaxlib-select" not in text:  # few projects have the table
            return {}
        import tomllib

        return _table_of(tomllib.loads(text))
    except (OSError, ValueError) as error:  # TOMLDecodeError is one
        raise UsageError(f"cannot read {path}", cause=str(error)) from error


def _table_of(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the table `[tool.jaxlib-select]` of a document, empty if it has none."""
    tool = document.get("tool", {})
    table = tool.get("jaxlib-select", {}) if isinstance(tool, dict) else None
    if not isinstance(table, dict) or not isinstance(table.get("backends", {}), dict):
        raise ValueError("tool.jaxlib-select or its backends is no table")  # noqa: TRY004  # the file's fault
    if not table.keys() <= {*_KEYS}:
        raise ValueError(f"unknown keys in [tool.jaxlib-select]: {', '.join(table)}; known: {', '.join(_KEYS)}")
    return table


def _source(found: Mapping[str, str], origin: Callable[[str], str], *, lasting: bool = False) -> PolicySource:
    """Turn values by package into choices; the empty key is the default."""
    choices = {key: Choice(value.strip(), origin(key), lasting=lasting and not key) for key, value in found.items()}
    return PolicySource(choices.pop("", None), choices)


def find_name(choice: Choice, known: Sequence[str]) -> str | None:
    """Return a choice in the package's spelling; None if the package has no such backend.

    >>> find_name(Choice("CUDA_12"), ("cuda12", "cuda13")), find_name(Choice("gpu"), ())
    ('cuda12', 'require-gpu')
    """
    wanted = squeeze(ALIASES.get(choice.backend.lower(), choice.backend))
    return next((name for name in (*GENERAL, *known) if squeeze(name) == wanted), None)
