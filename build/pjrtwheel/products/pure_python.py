# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Build wheels of pure Python the standard way: PyPA's `build` with the project's own backend, checked by `wheel`.

Both run as programs of the environment of this tooling, so nothing is downloaded.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from pjrtwheel.backend import Backend, load_backends
from pjrtwheel.dist_folder.folder import add_pure_python
from pjrtwheel.errors import WheelError
from pjrtwheel.wheel import names
from pjrtwheel.wheel.metadata import read_field
from pjrtwheel.wheel.report import BuiltWheel, report_finished

_EARLIEST = "315532800"  # 1980-01-01, the first moment a zip file can state
_LEFTOVERS = shutil.ignore_patterns("__pycache__", "build", "*.egg-info")


def build_pure_wheel(source: Path, folder: Path, lock_id: str = "") -> BuiltWheel:
    """Build the wheel of a project; the same source and SOURCE_DATE_EPOCH (1980 where unset) give the same bytes.

    The project stays as it is. The lock is that of the set whose packages it requires, if it does.

    Raises:
        WheelError: The build failed.
    """
    with tempfile.TemporaryDirectory(prefix="pure-python-") as name:
        scratch = Path(name)
        # A copy, because setuptools writes into its source, and packs what an earlier build left there.
        copy = shutil.copytree(source, scratch / "source", ignore=_LEFTOVERS, copy_function=_copy)
        options = ("--wheel", "--no-isolation", "--outdir", scratch / "out")
        _run("build", *options, copy, folder=scratch, failure=f"the wheel of {source} could not be built")
        (built,) = (scratch / "out").glob("*.whl")
        folder.mkdir(parents=True, exist_ok=True)
        wheel = Path(shutil.copy(built, folder))
    requires = read_field(read_dist_info(wheel)["METADATA"], "Requires-Dist")
    return BuiltWheel(wheel, report_finished(wheel, lock_id, "none", requires))


def build_selector(root: Path, dist: Path) -> BuiltWheel:
    """Build the wheel into a folder, and list it in the `release.json` there.

    Raises:
        VerifyError: The wheel breaks a promise.
        WheelError: The build failed, or the disk is full.
    """
    with tempfile.TemporaryDirectory(prefix="select-") as scratch:
        wheel = build_pure_wheel(root / "selector", Path(scratch))
        add_pure_python([wheel], tuple(load_backends(root).values()), root, dist)
    return BuiltWheel(dist / wheel.path.name, wheel.report)


def requires_python(backends: Iterable[Backend]) -> str:
    """Return which Pythons the wheels of all backends run on: that of the newest stable ABI among them."""
    newest = max((backend.python_tag for backend in backends), key=lambda tag: int(tag.removeprefix("cp3")))
    return names.requires_python(newest)


def read_dist_info(wheel: Path) -> dict[str, str]:
    """Unpack a wheel and return the files of its `.dist-info` by path.

    Unpacking compares every file with RECORD, and raises a `WheelError` for a wheel that is damaged.
    """
    with tempfile.TemporaryDirectory(prefix="unpacked-") as name:
        _run("wheel", "unpack", "--dest", name, wheel.resolve(), folder=Path(name), failure=f"{wheel} is damaged")
        (folder,) = Path(name).glob("*/*.dist-info")
        files = (path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in files}


def _copy(source: str, target: str) -> None:
    """Copy a file; its permissions become the same on every machine, since the wheel has them, too."""
    shutil.copyfile(source, target)
    Path(target).chmod(0o644)


def _run(module: str, *arguments: str | Path, folder: Path, failure: str) -> None:
    """Run a module as a program, away from the repository, whose folder `build` is not PyPA's."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", module, *map(str, arguments)],
        cwd=folder,
        env={"SOURCE_DATE_EPOCH": _EARLIEST, **os.environ},
        umask=0o022,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        lines = [line for line in done.stdout.splitlines() if line.strip()]
        raise WheelError(failure, cause="".join(lines[-1:]))
