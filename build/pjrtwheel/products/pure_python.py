# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Build wheels of pure Python the standard way: PyPA's `build` with the project's own backend.

It runs as a program of the environment of this tooling, so nothing is downloaded.
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
from pjrtwheel.errors import UsageError, WheelError
from pjrtwheel.files import copy_atomically
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.wheel import names
from pjrtwheel.wheel.archive import open_archive, timestamp
from pjrtwheel.wheel.metadata import read_field
from pjrtwheel.wheel.plan import text_source
from pjrtwheel.wheel.report import BuiltWheel, report_finished
from pjrtwheel.wheel.unpack import read_metadata
from pjrtwheel.wrap import COMPILED, find_extension

_EARLIEST = "315532800"  # 1980-01-01, the first moment a zip file can state
_LEFTOVERS = shutil.ignore_patterns("__pycache__", "bdist.*", "lib", "*.egg-info")
# What an installed `pjrtwheel` has of the repository, in its folder `root`.
_PARTS = (
    *("pyproject.toml", "releases/*.toml", "plugins/*/*.toml", "plugins/*/targets/*.toml"),
    *("plugins/pjrt/*.pyi", "plugins/pjrt/loader/*.*", "plugins/pjrt/template/*"),
    *("selector/jaxlib_select/*.py", "selector/jaxlib_select/cli/*.py", "tests/smoke/*.py", "tests/aot/*.py"),
)


def build_pure_wheel(source: Path, folder: Path) -> BuiltWheel:
    """Build the wheel of a project; the same source and SOURCE_DATE_EPOCH (1980 where unset) give the same bytes.

    The project stays as it is.

    Raises:
        WheelError: The build failed.
    """
    with tempfile.TemporaryDirectory(prefix="pure-python-") as name:
        scratch = Path(name)
        # A copy, because setuptools writes into its source, and packs what an earlier build left there.
        copy = shutil.copytree(source, scratch / "source", ignore=_LEFTOVERS, copy_function=_copy)
        done = _run_build("--wheel", "--no-isolation", "--outdir", str(scratch / "out"), str(copy), folder=scratch)
        if done.returncode != 0:
            said = [line for line in done.stdout.splitlines() if line.strip()]
            raise WheelError(f"the wheel of {source} could not be built", cause="".join(said[-1:]))
        (built,) = (scratch / "out").glob("*.whl")
        folder.mkdir(parents=True, exist_ok=True)
        wheel = Path(shutil.copy(built, folder))
    requires = read_field(read_metadata(wheel).decode(), "Requires-Dist")
    return BuiltWheel(wheel, report_finished(wheel, "", "none", requires))


def build_project(source: Path, root: Path, dist: Path) -> BuiltWheel:
    """Build the wheel of a project into a folder, and list it in the `release.json` there.

    Raises:
        VerifyError: The wheel breaks a promise.
        WheelError: The build failed, or the disk is full.
    """
    with tempfile.TemporaryDirectory(prefix="project-") as scratch:
        wheel = build_pure_wheel(source, Path(scratch))
        add_pure_python([wheel], tuple(load_backends(root).values()), root, dist)
    return BuiltWheel(dist / wheel.path.name, wheel.report)


def build_tooling(root: Path, plugins: Path, dist: Path) -> BuiltWheel:
    """Build the wheel of `pjrtwheel` into a folder, as `build_project` does.

    The compiled extension in it is that of plugin wheels of another folder, one for each platform.

    Raises:
        UsageError: That folder has no plugin wheel.
    """
    with tempfile.TemporaryDirectory(prefix="tooling-") as name:
        scratch, source = Path(name), Path(name, "source")
        shutil.copytree(root / "build/pjrtwheel", source / "build/pjrtwheel", ignore=_LEFTOVERS)
        inside = source / "build/pjrtwheel/root"
        for path in (path for pattern in _PARTS for path in root.glob(pattern)):
            copy_atomically(path, inside / path.relative_to(root))
        for part in ("LICENSE", "build/README.md", "pyproject.toml"):
            copy_atomically(root / part, source / part)
        extensions = {one: find_extension(root, plugins, PLATFORMS[one], scratch / one) for one in PLATFORMS}
        if not any(extensions.values()):
            raise UsageError(f"no plugin wheel in {plugins}", remedy="build one, such as: ./noxw build_cpu")
        for platform, files in ((platform, files) for platform, files in extensions.items() if files):
            target = inside / COMPILED / f"{platform}.zip"
            with open_archive(target, stamp=timestamp(os.environ)) as archive:
                for file in files:
                    archive.add(text_source(f"pjrtwheel/pjrt/{file.name}", file.read_bytes()))
        return build_project(source, root, dist)


def requires_python(backends: Iterable[Backend]) -> str:
    """Return which Pythons the wheels of all backends run on: that of the newest stable ABI among them."""
    newest = max((backend.python_tag for backend in backends), key=lambda tag: int(tag.removeprefix("cp3")))
    return names.requires_python(newest)


def _copy(source: str, target: str) -> None:
    """Copy a file; its permissions become the same on every machine, since the wheel has them, too."""
    shutil.copyfile(source, target)
    Path(target).chmod(0o644)


def _run_build(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run PyPA's `build` as a program, away from the repository, whose folder `build` it is not."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "build", *arguments],
        cwd=folder,
        env={"SOURCE_DATE_EPOCH": _EARLIEST, **os.environ},
        umask=0o022,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
