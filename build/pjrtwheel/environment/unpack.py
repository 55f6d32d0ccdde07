# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Fill a virtual environment from outside, by this machine's pip, for a Python that this machine need not run itself.

Under an emulator pip takes minutes for what takes seconds outside. Of the environment markers of what is required,
those of the requirements themselves are judged for the other Python; those in a wheel's METADATA are judged by pip,
which knows no other Python than its own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from packaging.requirements import Requirement

from pjrtwheel.environment.venv import last_lines, run_tool
from pjrtwheel.errors import ProofError
from pjrtwheel.platforms import Platform

# The oldest Linux that has a Python of ours as its own is Debian trixie.
_NEWEST_GLIBC_MINOR = 41


def python_tag_of(environment: Path) -> str:
    """Return the tag of the Python of an environment, as its folders show it.

    Raises:
        ProofError: It is no virtual environment.
    """
    return f"cp{_library_folder(environment).name.removeprefix('python').replace('.', '')}"  # python3.14t is cp314t


def unpack_into(
    environment: Path, platform: Platform, requirements: Sequence[str], *, folders: Iterable[Path] = ()
) -> None:
    """Install what is required into an environment on Linux, from the package index and some folders of wheels.

    Raises:
        ProofError: There are no wheels for that Python and platform, or the package index cannot be reached.
    """
    tag = python_tag_of(environment)
    wanted = list(select_requirements(requirements, tag, platform))
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--quiet"]
    command += [
        "--target",
        str(_library_folder(environment) / "site-packages"),
        "--no-compile",
        "--upgrade",
        "--only-binary=:all:",
    ]
    command += ["--implementation=cp", f"--python-version={tag.removeprefix('cp').removesuffix('t')}", f"--abi={tag}"]
    command += [f"--platform={name}" for name in list_platform_tags(platform)]
    command += [f"--find-links={folder.resolve()}" for folder in folders]
    result = run_tool([*command, *wanted])
    if result.returncode != 0:
        raise ProofError(
            f"cannot install for {tag} on {platform.name}: {' '.join(wanted)}",
            cause=last_lines(result.stderr or result.stdout),
            remedy="connect to the package index, and see that it has wheels for that Python and platform",
        )


def select_requirements(requirements: Iterable[str], tag: str, platform: Platform) -> Iterator[str]:
    """Yield the requirements that hold for a Python, without their markers.

    >>> from pjrtwheel.platforms import PLATFORMS
    >>> texts = ["numpy>=2", "backports.zstd==1; python_version < '3.14'"]
    >>> list(select_requirements(texts, "cp314", PLATFORMS["linux_aarch64"]))
    ['numpy>=2']
    """
    version = f"{tag[2]}.{tag[3:].removesuffix('t')}"
    markers = {"python_version": version, "python_full_version": f"{version}.0"}
    markers |= {"platform_machine": platform.architecture, "sys_platform": "linux", "platform_system": "Linux"}
    for requirement in map(Requirement, requirements):
        if requirement.marker is None or requirement.marker.evaluate(markers):
            requirement.marker = None
            yield str(requirement)


def list_platform_tags(platform: Platform) -> Iterator[str]:
    """Yield the tags of the wheels that a platform's machines install, the newest first."""
    for minor in range(_NEWEST_GLIBC_MINOR, 16, -1):
        yield f"manylinux_2_{minor}_{platform.architecture}"
    yield f"manylinux2014_{platform.architecture}"
    yield f"linux_{platform.architecture}"


def _library_folder(environment: Path) -> Path:
    found = list((environment / "lib").glob("python3.*"))
    if len(found) != 1:
        raise ProofError(f"no virtual environment: {environment}", remedy="make it with: python -m venv --without-pip")
    return found[0]
