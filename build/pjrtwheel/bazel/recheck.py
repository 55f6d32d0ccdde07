# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Hold what Bazel returned to what it was to be made from, whichever cache or machine it came from.

Bazel takes the result of an action from a cache without looking at it. Manifests and downloaded inputs never come from
one: Bazel writes the first itself, and repository rules fetch the second by their hash.
"""

import contextlib
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pjrtwheel.errors import WheelError
from pjrtwheel.wheel.compress import worker_count
from pjrtwheel.wheel.recompute import check_against_inputs, identify_check
from pjrtwheel.wheel.report import BuiltWheel, read_built

_MANIFEST = ".manifest.json"  # as build/rules/private/wheels.bzl names it, next to the directory of the wheel


def check_results(
    directories: Iterable[Path], workspace: Path, output_base: Path, cache: Path
) -> tuple[BuiltWheel, ...]:
    """Return the wheels of a build, each held to its manifest; one that is another is removed from Bazel's folder.

    Otherwise Bazel would call it up to date in the next build, with or without the cache that it came from.

    Args:
        directories: Where the wheels are, below `output_base`.
        workspace: Where Bazel ran.
        output_base: Bazel's own folder for it.
        cache: Where it is noted which wheels of which inputs have passed, not to do it again for the same bytes.

    Raises:
        WheelError: A wheel is not what its inputs make, or a directory has not exactly one with its report.
    """
    passed = cache.absolute() / "rechecked"
    with (
        _inputs(workspace, output_base) as folder,
        contextlib.chdir(folder),
        ThreadPoolExecutor(worker_count()) as pool,
    ):
        return tuple(pool.map(lambda directory: _check(directory, passed), directories))


def _check(directory: Path, passed: Path) -> BuiltWheel:
    """Return the wheel in a directory, once it has passed."""
    manifest = directory.with_name(directory.name + _MANIFEST)
    try:
        built = read_built(directory)
        note = passed / identify_check(built.path, manifest)
        if not note.exists():
            check_against_inputs(built.path, manifest)
            passed.mkdir(parents=True, exist_ok=True)
            note.touch()
    except WheelError:
        _remove(directory)
        raise
    return built


def _remove(directory: Path) -> None:
    directory.chmod(0o755)  # Bazel takes the right to write away from what it made
    shutil.rmtree(directory)


@contextlib.contextmanager
def _inputs(workspace: Path, output_base: Path) -> Iterator[Path]:
    """Make a folder in which the paths of manifests lead to their files.

    Bazel's own such folder is that of the last command only, and another one may run already.
    """
    with tempfile.TemporaryDirectory(prefix="inputs-") as name:
        folder = Path(name)
        own = (output_base / "external", *output_base.glob("execroot/*/bazel-out"))
        for path in (*own, *workspace.iterdir()):
            place = folder / path.name
            if not place.is_symlink():  # Bazel's own come first, whatever a workspace has under their names
                place.symlink_to(path)
        yield folder
