# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Install what the tooling itself needs: `python -m pjrtwheel.fetch.wheelhouse --requirements FILE --output DIR`.

The wheels are kept in the cache, so that the second installation on a machine needs no network.
"""

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path

from pjrtwheel.errors import FetchError
from pjrtwheel.fetch.cache import cache_root, file_lock
from pjrtwheel.fetch.index import explain_output, run_pip
from pjrtwheel.files import staging_folder
from pjrtwheel.platforms import host_platform
from pjrtwheel.program import CommandParser, program

_COMMON = ("--only-binary=:all:", "--require-hashes", "--disable-pip-version-check", "--no-input", "--no-cache-dir")


def wheelhouse_path(root: Path, requirements: str) -> Path:
    """Return where the wheels for these requirements, this Python and this machine are kept."""
    identity = f"{requirements}\n{sys.implementation.cache_tag} {host_platform().name}"
    return root / "wheelhouses" / hashlib.sha256(identity.encode()).hexdigest()[:32]


def _run(action: str, requirements: Path, *options: str) -> tuple[int, str]:
    common = (*_COMMON, "--requirement", str(requirements))
    return run_pip((sys.executable, "-P", "-m", "pip", action, *common, *options))


def _fill_wheelhouse(requirements: Path, root: Path) -> Path:
    """Return a directory with every required wheel, downloading them unless that was done before.

    The directory appears whole or not at all.

    Raises:
        FetchError: A wheel could not be downloaded.
    """
    target = wheelhouse_path(root, requirements.read_text("utf-8"))
    if target.is_dir():
        return target
    with file_lock(root / "locks" / target.name):
        if target.is_dir():
            return target
        with staging_folder(target.parent) as staging:
            status, output = _run("download", requirements, "--dest", str(staging))
            if status != 0:
                raise explain_output(f"cannot download the tools of {requirements.name}", output)
            staging.rename(target)
    return target


def install_tools(requirements: Path, output: Path, root: Path) -> None:
    """Install the requirements into a directory, from the cache alone.

    Raises:
        FetchError: A wheel could not be downloaded or installed.
    """
    wheels = _fill_wheelhouse(requirements, root)
    options = ("--no-index", "--find-links", str(wheels), "--no-compile", "--upgrade", "--no-warn-conflicts")
    status, text = _run("install", requirements, *options, "--target", str(output))
    if status != 0:
        error = explain_output(f"cannot install the tools of {requirements.name}", text)
        remedy = error.remedy or f"remove the wheels, which are fetched again then: {wheels}"
        raise FetchError(error.what, cause=error.cause, remedy=remedy)


@program
def main(argv: Sequence[str] | None = None) -> int:
    """Install, and return the exit status."""
    parser = CommandParser(prog="python -m pjrtwheel.fetch.wheelhouse", description=__doc__)
    parser.add_argument("--requirements", type=Path, required=True, help="requirements with hashes")
    parser.add_argument("--output", type=Path, required=True, help="directory to install into")
    arguments = parser.parse_all(argv)
    install_tools(arguments.requirements, arguments.output, cache_root())
    return 0


if __name__ == "__main__":
    sys.exit(main())
