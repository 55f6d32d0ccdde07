# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a closed index has besides our wheels: `jax`, and every project that it and our wheels need, extras included.

Installers take a name from any index that they are given, and the highest version of all. Whoever asks several, one of
them public, may get what anybody uploaded there under a name of ours. An index that has everything can be the only one.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pjrtwheel.abis import python_version
from pjrtwheel.environment.processes import clean_environ
from pjrtwheel.environment.venv import find_uv, last_lines
from pjrtwheel.errors import FetchError, count, describe_size
from pjrtwheel.fetch.cache import WheelCache
from pjrtwheel.fetch.index import BUNDLE_VARIABLE, download_wheel
from pjrtwheel.fetch.listing import IndexFile, list_wheels
from pjrtwheel.fetch.settings import IndexSettings, local_path, read_settings, without_login
from pjrtwheel.products.index.projects import IndexedFile, Project, list_projects, offer_file
from pjrtwheel.release.model import Pin
from pjrtwheel.sets import BINDINGS, PURE_PYTHON
from pjrtwheel.wheel.metadata import read_field
from pjrtwheel.wheel.names import find_name, parse_name
from pjrtwheel.wheel.unpack import read_metadata

# The projects of an index → those that it needs besides.
ReadClosure = Callable[[Sequence[Project]], tuple[Project, ...]]
_OF_PROGRAMS = ("cp311", "cp312", "cp313", "cp314", "cp314t", "cp315", "cp315t")  # `pjrtwheel` needs no `jaxlib`
_AT_ONCE = 8  # pages of the package index
_COMPILE = ("pip", "compile", "-", "--universal", "--no-python-downloads", "--only-binary=:all:", "--quiet")
_PLAIN = ("--no-config", "--no-header", "--no-annotate", "--index-strategy=unsafe-best-match")  # pip's strategy


def read_closure(projects: Sequence[Project], *, copies: Path | None = None) -> tuple[Project, ...]:
    """Return the projects that wheels of ours need, with their files on the indexes that pip is configured for.

    They are the wheels for the Pythons and platforms of ours. Those on this disk are to lie next to the pages; the
    others are links.

    Args:
        projects: The projects of the index.
        copies: The cache that files are downloaded to, so that they lie next to the pages as well: those of the newest
            versions that fit together. Without it there are links to every version.

    Raises:
        FetchError: The package index does not have what is needed, cannot be reached, or states no hash.
    """
    ours = [file for project in projects for file in project.files if file.entry]
    ours.sort(key=attrgetter("version"))
    sets = [tuple(files) for _, files in groupby(ours, attrgetter("version"))]
    needed = [(found, _pythons(files)) for files in sets if (found := sorted(set(_requirements(files))))]
    if not needed:
        return ()
    settings = read_settings()
    resolved: dict[str, set[str]] = {}  # project → its versions
    wanted: dict[str, set[str]] = {}  # project → the Pythons that it is needed on
    for requirements, pythons in needed:
        for project, version in _resolve(requirements, pythons, settings):
            resolved.setdefault(project, set()).add(version)
            wanted.setdefault(project, set()).update(pythons)
    names = [name for file in ours if (name := find_name(file.filename))]
    platforms = {name.platform for name in names} - {None}

    def is_offered(file: IndexFile) -> bool:
        name = find_name(file.filename)
        if not name or name.distribution not in resolved or file.yanked is not None:
            return False
        if copies and name.version not in resolved[name.distribution]:
            return False
        of_any = name.tag.endswith(("-any", "_universal2"))  # the latter of macOS, for all of its processors
        of_platform = not platforms or of_any or name.platform in platforms
        pythons = wanted[name.distribution]
        return of_platform and (not pythons or name.tag.startswith("py") or any(map(name.fits, pythons)))

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        pages = pool.map(partial(list_wheels, settings=settings), sorted(resolved))
        offered = [file for page in pages for file in page if is_offered(file)]
    if copies:
        size = describe_size(sum(file.size for file in offered))
        print(f"copies of {count(len(offered), 'file')}, {size}: kept in {copies}", file=sys.stderr, flush=True)
    files = [_to_indexed(file, copies) for file in offered]
    return list_projects(files, "the package index")


def _requirements(files: Iterable[IndexedFile]) -> Iterator[str]:
    """Yield what the wheels of one version need from others; what their extras need as if it had no marker."""
    for file in files:
        if file.project == BINDINGS:
            yield f"jax=={file.version.public}"
        for line in read_field(file.metadata.decode(), "Requires-Dist"):
            need = Requirement(line)
            of_extra = "extra" in str(need.marker)
            if of_extra:
                need.marker = None
            # A bundle has what proofs install, which is no vendor's libraries.
            if not _is_ours(need.name) and not (of_extra and BUNDLE_VARIABLE in os.environ):
                yield str(need)


def _is_ours(project: str) -> bool:
    """Whether the name is one of ours, also if the index lacks it: nobody else's wheel may get in under it."""
    name = canonicalize_name(project)
    return f"{name}-".startswith(f"{BINDINGS}-") or name in PURE_PYTHON


def _pythons(files: Sequence[IndexedFile]) -> set[str]:
    """Return the ABI tags of the Pythons that wheels of one version are for: those of `jaxlib`, or of our programs."""
    names = (find_name(file.filename) for file in files if file.project == BINDINGS)
    tags = {name.tag.split("-")[1] for name in names if name} - {"none"}
    return tags or {python for python in _OF_PROGRAMS for file in files if file.project in PURE_PYTHON}


def _resolve(requirements: Sequence[str], pythons: set[str], settings: IndexSettings) -> Iterator[tuple[str, str]]:
    """Yield names and versions of what fits together on any platform and Python, but for names of ours."""
    for line in compile_requirements(requirements, pythons, settings).splitlines():
        name, _, version = line.partition(" ")[0].partition("==")
        if not _is_ours(name):
            yield name, version


def compile_requirements(
    requirements: Sequence[str], pythons: Iterable[str], settings: IndexSettings, *options: str
) -> str:
    """Return what uv writes of what fits together on any platform and Python.

    Args:
        requirements: What is needed.
        pythons: ABI tags of the Pythons that it is for; if there are none, the one that uv finds, and newer ones.
        settings: The indexes and folders to take it from.
        options: More of `uv pip compile`.

    Raises:
        FetchError: The indexes do not have it, or cannot be reached.
    """
    command = [str(find_uv()), *_COMPILE, *_PLAIN, *(f"--find-links={folder}" for folder in settings.folders), *options]
    if versions := sorted(map(python_version, pythons)):
        command.append("--python-version={}.{}".format(*versions[0]))
    if not settings.urls:
        command.append("--no-index")
    # Not in the command, which every user of this machine can read: addresses may have passwords.
    variables = {"UV_DEFAULT_INDEX": "".join(settings.urls[:1]), "UV_INDEX": " ".join(settings.urls[1:])}
    variables |= {"SSL_CERT_FILE": settings.certificate} if settings.certificate else {}
    environ, text = clean_environ(**variables), "\n".join(requirements)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, env=environ)
    if done.returncode:
        raise FetchError(
            "the package index does not have what our wheels need, or cannot be reached",
            cause=last_lines(done.stderr.partition("hint:")[0], 2),
            remedy="see which index pip is configured for: python3 -m pip config list",
        )
    return done.stdout


def _to_indexed(file: IndexFile, copies: Path | None) -> IndexedFile:
    """Return a file as the pages of an index have it; its bytes stay where they are, unless copies are wanted."""
    source, name = local_path(file.url), parse_name(file.filename)
    if copies and not source:
        print(f"downloading {file.filename} ...", file=sys.stderr, flush=True)
        pin = Pin(f"closure.{name.stem}", name.distribution, name.version, file.filename, file.sha256, file.size)
        source = WheelCache(copies, partial(download_wheel, url=file.url)).fetch(pin)
    if source:
        there = replace(file, size=source.stat().st_size, url="", metadata_sha256="")
        return offer_file(there, metadata=read_metadata(source), source=source)
    return offer_file(replace(file, url=without_login(file.url)))
