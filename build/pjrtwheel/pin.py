# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Pin what a release takes from the package index, and write it down as `releases/<version>.toml`.

Everything but `pin_release` and its downloads is a function from values to values. The index is the one of the
machine's own pip configuration; pip picks the file, and the bytes that came are what is pinned.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from pjrtwheel.backend import load_backends
from pjrtwheel.errors import PinError
from pjrtwheel.fetch.cache import WheelCache, disk_errors
from pjrtwheel.files import hash_file, write_atomically
from pjrtwheel.platforms import find_platform
from pjrtwheel.release.model import SCHEMA, Pin, Release, XlaSource, parse_release, read_release
from pjrtwheel.release.planned import WantedFile, plan_inputs
from pjrtwheel.tables import TableError, read, read_toml, write

_NEWEST_GLIBC = 40  # manylinux_2_N tags up to this one are asked for: more than any wheel we take is tagged with


def find_xla(text: str, release: str) -> XlaSource:
    """Return the XLA revision of a release from the text of `releases/xla.toml`.

    Raises:
        PinError: The text is malformed, or knows no such release.
    """
    try:
        table = read_toml(dict[str, Any], text)
        if release not in table:
            raise PinError(
                f"no XLA revision is known for release {release!r}",
                cause=f"releases/xla.toml has: {', '.join(table)}",
                remedy="add the commit that JAX's own tree names at that release, and where you read it",
            )
        return read(XlaSource, table[release], f'"{release}"')
    except TableError as error:
        raise PinError("malformed file: releases/xla.toml", cause=str(error)) from error


def pip_arguments(wanted: WantedFile, directory: Path) -> tuple[str, ...]:
    """Return the arguments after `python -m pip` that download one wheel for another platform and Python."""
    architecture = find_platform(wanted.platform).architecture
    tags = [f"manylinux_2_{minor}_{architecture}" for minor in range(_NEWEST_GLIBC, 4, -1)]
    tags.append(f"manylinux2014_{architecture}")
    arguments = ["download", "--quiet", "--no-deps", "--only-binary=:all:", "--ignore-requires-python"]
    arguments += [f"--platform={tag}" for tag in tags]
    if wanted.python:
        digits = wanted.python.removeprefix("cp").removesuffix("t")  # the ABI says whether it has the GIL
        arguments += [f"--python-version={digits}", f"--abi={wanted.python}"]
    return (*arguments, "--implementation=cp", f"--dest={directory}", f"{wanted.project}=={wanted.version}")


def check_unchanged(old: Mapping[str, Pin], new: Sequence[Pin]) -> None:
    """Raise a `PinError` that lists the files with other bytes than those of their names that were pinned before."""
    before = {pin.filename: pin.sha256 for pin in old.values()}
    changed = [pin.filename for pin in new if before.get(pin.filename, pin.sha256) != pin.sha256]
    if changed:
        raise PinError(
            f"the package index offers other bytes than were pinned for {', '.join(changed)}",
            cause="a file on the index was replaced, or a mirror is damaged",
            remedy="find out why; to accept the new bytes, delete the release file and pin again",
        )


def render_release(version: str, build: int, xla: XlaSource, pins: Iterable[Pin]) -> str:
    """Return the text of a release file: the same pins give the same text, whatever their order."""
    lines = [
        f"# Written by `nox -s pin -- {version}`; do not edit.",
        f"schema = {SCHEMA}",
        f"release = {json.dumps(version)}",
        f"build = {build}",
        *("", "[xla]", *_toml_lines(xla)),
    ]
    for pin in sorted(pins, key=lambda pin: pin.key):
        lines += ["", "[[pin]]", *_toml_lines(pin)]
    return "\n".join(lines) + "\n"


def _toml_lines(entry: XlaSource | Pin) -> list[str]:
    """Return a line for each key of a table; JSON's escapes are a subset of those of TOML's basic strings."""
    return [f"{key} = {json.dumps(value)}" for key, value in write(entry).items()]


def keep_pins(old: Mapping[str, Pin], wanted: Iterable[WantedFile]) -> dict[str, Pin]:
    """Return those pins, by key, that are still what is wanted."""
    return {
        entry.key: old[entry.key]
        for entry in wanted
        if entry.key in old
        and old[entry.key].project == entry.project
        and fnmatchcase(old[entry.key].version, entry.version)
    }


def pin_release(
    root: Path, version: str, cache: Path, *, build: int | None = None, missing_only: bool = False
) -> Release:
    """Ask the package index for the inputs of a release and write `releases/<version>.toml`.

    What is downloaded stays in the cache for the builds that follow. The build tag of our `jaxlib` is that of the file
    so far, or 1, when absent. Pins that are still wanted may be kept, to ask for the missing ones only.

    Raises:
        PinError: The release or one of its files is unknown, or a file has changed. Nothing is written then.
    """
    path = root / "releases" / f"{version}.toml"
    xla = find_xla((root / "releases" / "xla.toml").read_text("utf-8"), version)
    inputs = (root / "releases" / "inputs.toml").read_text("utf-8")
    wanted = plan_inputs(inputs, load_backends(root).values(), version)
    before = read_release(path) if path.exists() else None
    old = before.pins if before else {}
    kept = keep_pins(old, wanted) if missing_only else {}
    pins = [kept.get(entry.key) or _download(entry, cache) for entry in wanted]
    check_unchanged(old, pins)
    if build is None:
        build = before.build if before else 1
    text = render_release(version, build, xla, pins)
    release = parse_release(text, path)
    write_atomically(path, text)
    return release


def _download(wanted: WantedFile, cache: Path) -> Pin:
    with disk_errors(cache):
        cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix=".pin-") as scratch:
        arguments = pip_arguments(wanted, Path(scratch))
        result = subprocess.run([sys.executable, "-m", "pip", *arguments], capture_output=True, text=True, check=False)
        files = list(Path(scratch).iterdir())
        if result.returncode or len(files) != 1:
            python = f", {wanted.python}" if wanted.python else ""
            raise PinError(
                f"no wheel of {wanted.project} {wanted.version} for {wanted.platform}{python}",
                cause=_last_error(result.stderr),
                remedy="check the version, and the index that pip is configured for (pip config list)",
            )
        digest, size = hash_file(files[0]), files[0].stat().st_size
        # As the wheel spells it, where a series such as 1.2.* was asked for.
        version = files[0].name.split("-")[1] if wanted.version.endswith(".*") else wanted.version
        pin = Pin(wanted.key, wanted.project, version, files[0].name, digest, size)
        WheelCache(cache, download=lambda _pin, _directory: files[0]).fetch(pin)
    return pin


def _last_error(text: str) -> str:
    """Return the last line in which pip reports an error, without its prefix."""
    errors = [line for line in text.splitlines() if line.startswith("ERROR: ")]
    return errors[-1].removeprefix("ERROR: ") if errors else "pip found no such file"
