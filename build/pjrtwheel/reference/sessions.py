# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The sessions of `noxfile.py`, and the parser of the arguments that each takes after `--`."""

from __future__ import annotations

import argparse
import functools
import importlib.util
import inspect
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import nox.registry

from pjrtwheel.cli import PROGRAM, make_parser

_IMPORTED_FROM = ("benchmarks", "build", "ci", "selector", "tests/fuzz", "tests/support")
ENVIRONMENT = "environment_"


@dataclass(frozen=True, slots=True)
class Session:
    """One session.

    Attributes:
        name: As `nox -s` takes it.
        tag: The first tag; empty if there is none.
        summary: What it says of itself.
        program: What reads its arguments; empty if it takes none, or those of another program.
        given: The arguments that come before the user's.
        parser: The parser of both; nothing where there is no program of ours.
        choices: The words that it takes instead.
        pytest: Whether it hands its arguments on to pytest.
    """

    name: str
    tag: str
    summary: str
    program: str = ""
    given: tuple[str, ...] = ()
    parser: argparse.ArgumentParser | None = None
    choices: tuple[str, ...] = ()
    pytest: bool = False

    def parse(self, arguments: Sequence[str]) -> None:
        """Parse arguments as the session would; `parser.error` says what is wrong with them.

        Raises:
            ValueError: It takes no such arguments.
        """
        if self.parser is not None:
            self.parser.parse_args([*self.given, *arguments])
        elif not self.pytest and not set(arguments) <= set(self.choices):
            raise ValueError(f"{self.name} does not take {' '.join(arguments)}")


def load_sessions(root: Path) -> dict[str, Session]:
    """Return all sessions by name, in the order of the noxfile."""
    noxfile = load_noxfile(root)
    return {name: _describe(root, noxfile, name) for name in nox.registry.get()}


@functools.cache
def load_noxfile(root: Path) -> ModuleType:
    """Import the noxfile, which makes its sessions known to nox."""
    with _as_program("nox"):
        return _import_file(root / "noxfile.py")


def _describe(root: Path, noxfile: ModuleType, name: str) -> Session:
    function = nox.registry.get()[name]
    tag = function.tags[0] if function.tags else ""
    summary = inspect.getdoc(function.func) or ""
    if name in noxfile.COMMANDS:
        command, *given = noxfile.COMMANDS[name][2]
        return Session(name, tag, summary, f"{PROGRAM} {command}", tuple(given), make_parser(command))
    if name in noxfile.DEBIAN:
        script, *given = noxfile.DEBIAN[name][1]
        return Session(name, tag, summary, f"ci/{script}", tuple(given), _parser_of(root, f"ci/{script}"))
    if name in noxfile.PROGRAMS:
        program = noxfile.PROGRAMS[name]
        return Session(name, tag, summary, program, (), _parser_of(root, program))
    choices = {"lint": noxfile.CHECKS, "format": noxfile.FORMATTERS}.get(name, ())
    return Session(name, tag, summary, choices=tuple(choices), pytest='"pytest"' in inspect.getsource(function.func))


def _parser_of(root: Path, file: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = _import_file(root / file).make_parser()
    return parser


def _import_file(path: Path) -> ModuleType:
    """Import a script of the repository under a name of its own, with its neighbours on the path."""
    spec = importlib.util.spec_from_file_location(f"reference_{path.parent.name}_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot import {path}")
    root = next(folder for folder in path.parents if (folder / "noxfile.py").is_file())
    sys.path += [str(root / folder) for folder in _IMPORTED_FROM if str(root / folder) not in sys.path]
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@contextmanager
def _as_program(name: str) -> Iterator[None]:
    """Let this process seem to be a program without arguments: the noxfile looks at those of nox."""
    before, sys.argv = sys.argv, [name]
    try:
        yield
    finally:
        sys.argv = before
