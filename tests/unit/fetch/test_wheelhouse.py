# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The tools' own wheels: what is kept when pip fails, and what is thrown away."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from pjrtwheel.errors import FetchError
from pjrtwheel.fetch.wheelhouse import install_tools, wheelhouse_path

CONTENT = b"a wheel"
Pip = Callable[[Sequence[str]], tuple[int, str]]


@pytest.fixture
def requirements(tmp_path: Path) -> Path:
    """Return a requirements file that pins one wheel."""
    path = tmp_path / "requirements.txt"
    path.write_text(f"x==1 --hash=sha256:{hashlib.sha256(CONTENT).hexdigest()}\n", "utf-8")
    return path


@pytest.fixture
def wheelhouse(requirements: Path, tmp_path: Path) -> Path:
    """Return a wheelhouse that was filled before."""
    path = wheelhouse_path(tmp_path, requirements.read_text("utf-8"))
    path.mkdir(parents=True)
    (path / "x-1-py3-none-any.whl").write_bytes(CONTENT)
    return path


def offline(install_output: str) -> Pip:
    """Return a pip without a network, whose installations end as given."""

    def pip(command: Sequence[str]) -> tuple[int, str]:
        return (1, install_output if "install" in command else "NewConnectionError: Network is unreachable")

    return pip


def test_full_disk_costs_no_wheels(requirements: Path, wheelhouse: Path, tmp_path: Path) -> None:
    """When pip fails for a reason of its own, that reason is reported and the wheels stay for the next time."""
    with pytest.raises(FetchError) as caught:
        install_tools(requirements, tmp_path / "out", tmp_path, offline("ERROR: [Errno 28] No space left on device"))
    assert "no space" in caught.value.cause
    assert (wheelhouse / "x-1-py3-none-any.whl").read_bytes() == CONTENT


def test_damaged_wheel_is_named_with_its_folder(requirements: Path, wheelhouse: Path, tmp_path: Path) -> None:
    """Removing that fetches it again; what is damaged stays for whoever looks into it."""
    with pytest.raises(FetchError) as caught:
        install_tools(requirements, tmp_path / "out", tmp_path, offline("ERROR: HASHES DO NOT MATCH"))
    assert str(wheelhouse) in caught.value.remedy
