# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Open vendors' libraries by their paths, in an order in which none is left to `LD_LIBRARY_PATH`.

The dynamic linker takes a library that is open already wherever one of the same name (DT_SONAME) is asked for later,
and looks along `LD_LIBRARY_PATH` before the paths of the asking library (DT_RUNPATH). So what is opened first counts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .library import find_misfit
from .vendor import LibraryPathFile, VendorLibrary


@dataclass(frozen=True, slots=True)
class Wanted:
    """A library to open.

    Attributes:
        soname: Its name for the dynamic linker, such as `libcudnn.so.9`.
        first: Folders to look into before the dynamic linker does.
        last: Folders for the case that it finds none.
        symbol: A function of it, by which it is distinguished from other files of its name; empty if none is known.
    """

    soname: str
    first: tuple[Path, ...] = ()
    last: tuple[Path, ...] = ()
    symbol: str = ""


@dataclass(frozen=True, slots=True)
class Preloaded:
    """What became of libraries that were to be opened.

    Attributes:
        opened: Name → the path it was opened by, or the bare name where the dynamic linker found it.
        failed: Name → why none could be opened, in the dynamic linker's words.
        rejected: What was passed over, because it has only the name of a library: a sentence for each file.
    """

    opened: dict[str, str]
    failed: dict[str, str]
    rejected: tuple[str, ...] = ()


def candidates(wanted: Wanted) -> tuple[str, ...]:
    """Return by what to open a library: files that exist, and the bare name for the dynamic linker's own search."""
    first, last = (
        tuple(str(folder / wanted.soname) for folder in folders if (folder / wanted.soname).is_file())
        for folders in (wanted.first, wanted.last)
    )
    return (*first, wanted.soname, *last)


def places(first: Sequence[Path | str], last: Sequence[Path | str]) -> str:
    """Return where libraries are looked for, for a message."""
    return ", ".join([*map(str, first), "the dynamic linker's search path", *map(str, last)])


def shadowed(folders: Iterable[Path], library_path: str, known: Sequence[Wanted]) -> tuple[Wanted, ...]:
    """Return what else lies in `folders` that the dynamic linker would take from `LD_LIBRARY_PATH` instead.

    That is what libraries open by themselves later, such as the parts of cuDNN. Those in `known` are opened anyway.
    """
    foreign = {entry.name for part in library_path.split(":") if part for entry in Path(part).glob("lib*.so.*")}
    foreign -= {wanted.soname for wanted in known}
    return tuple(Wanted(name, (folder,)) for folder in folders for name in sorted(foreign) if (folder / name).is_file())


def preload(libraries: Sequence[Wanted], open_library: Callable[[str], None]) -> Preloaded:
    """Open libraries in their order, each by the first of its candidates that opens.

    What fails is tried again after the others, in case it needs one of them.

    Args:
        libraries: What to open, best in an order in which dependencies come first.
        open_library: Opens one by its path or name; raises OSError if it cannot.
    """
    opened: dict[str, str] = {}
    failed: dict[str, str] = {}
    files = [(name, wanted.symbol) for wanted in libraries for name in candidates(wanted) if os.sep in name]
    misfits = {name: reason for name, symbol in files if (reason := find_misfit(Path(name), symbol)) is not None}
    waiting = list(libraries)
    while waiting:
        for wanted in waiting:
            name, reasons = _open_first(candidates(wanted), misfits, open_library)
            if name is not None:
                opened[wanted.soname] = name
            else:
                failed[wanted.soname] = "; ".join(reasons)
        again = [wanted for wanted in waiting if wanted.soname not in opened]
        waiting = again if len(again) < len(waiting) else []
    left = {name: reason for name, reason in failed.items() if name not in opened}
    return Preloaded(opened, left, tuple(misfits.values()))


def _open_first(
    names: Sequence[str], misfits: Mapping[str, str], open_library: Callable[[str], None]
) -> tuple[str | None, list[str]]:
    """Return the first name that opens, and why those before it did not."""
    reasons = []
    for name in names:
        if name in misfits:
            reasons.append(misfits[name])
            continue
        try:
            open_library(name)
        except OSError as error:
            reasons.append(str(error))
        else:
            return name, reasons
    return None, reasons


def survey(
    libraries: Sequence[Wanted], preloaded: Preloaded | None, library_path: str, *, needed: bool
) -> list[VendorLibrary]:
    """Return what is known about libraries: what became of them, or, if none is to be opened, what folders show."""
    folders = [Path(part) for part in library_path.split(":") if part]
    return [
        VendorLibrary(
            name=wanted.soname,
            needed=needed,
            path=path,
            origin=_origin(path, wanted, folders),
            opened=None if preloaded is None else wanted.soname in preloaded.opened,
            problem="" if preloaded is None else preloaded.failed.get(wanted.soname, ""),
            on_library_path=_on_library_path(wanted, folders),
        )
        for wanted in libraries
        for path in [_file_of(wanted, preloaded, folders)]
    ]


def _file_of(wanted: Wanted, preloaded: Preloaded | None, folders: Sequence[Path]) -> Path | None:
    """Return the file that was opened, or that would be as far as folders show it."""
    if preloaded is None:
        files = [folder / wanted.soname for folder in (*wanted.first, *folders)]
        return next((file for file in files if file.is_file() and not find_misfit(file, wanted.symbol)), None)
    name = preloaded.opened.get(wanted.soname)
    return None if name is None else Path(name) if os.sep in name else _linked_file(name)


def _origin(path: Path | None, wanted: Wanted, folders: Sequence[Path]) -> str:
    if path is None:
        return ""
    if path.parent in (*wanted.first, *wanted.last):
        return "vendor"
    return "LD_LIBRARY_PATH" if path.parent in folders else "system"


def _on_library_path(wanted: Wanted, folders: Sequence[Path]) -> tuple[LibraryPathFile, ...]:
    files = [folder / wanted.soname for folder in folders]
    return tuple(LibraryPathFile(file, find_misfit(file, wanted.symbol) or "") for file in files if file.is_file())


def _linked_file(name: str) -> Path | None:
    """Return the file of a library that is open already, whose name may go on with its version; None if it is not."""
    lines = Path("/proc/self/maps").read_text("utf-8", "surrogateescape").splitlines()
    paths = (Path(line.split(maxsplit=5)[5]) for line in lines if "/" in line)
    return next((path for path in paths if path.name.startswith(name)), None)
