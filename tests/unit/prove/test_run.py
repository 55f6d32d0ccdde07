# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A set that is not proven is recorded as such, with the backend and the revision it was looked at from."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from pjrtwheel import prove as proving
from pjrtwheel.backend import find_backend
from pjrtwheel.prove import Level, prove
from pjrtwheel.prove.origin import Origin
from pjrtwheel.release.model import load_release
from pjrtwheel.wheel.report import BuiltWheel, Report


def commit(folder: Path, message: str) -> str:
    """Commit nothing but a message, as somebody, and return the commit."""
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    git = ["git", "-C", str(folder), *who]
    subprocess.run([*git, "commit", "--quiet", "--allow-empty", "--message", message], check=True)
    return subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git on this machine")
def test_the_origin_is_read_before_anything_runs(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit that is made while programs run is not the one that was proven."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.2"\n')
    (tmp_path / ".gitignore").write_text("*\n")
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    proven = commit(tmp_path, "what is proven")

    def read(_wheel: Path, _backend: object) -> str:
        commit(tmp_path, "what came in the meantime")
        return "0.115"

    monkeypatch.setattr(proving, "read_api", read)
    tag = f"cp312-abi3-linux_{platform.machine()}"
    wheel = f"jaxlib_cpu-1-{tag}.whl"
    report = Report(wheel, "jaxlib-cpu", "1", tag, "00", 1, (), "ff", "prebuilt", {}, {}, 0)
    (proof,) = prove(
        [BuiltWheel(tmp_path / wheel, report)],
        root=tmp_path,
        release=load_release(root),
        backend=find_backend(root, "cpu"),
        smoke_tests=False,
    )
    assert (proof.backend, proof.level) == ("cpu", Level.LOAD)
    assert proof.origin == Origin(proven, dirty=False, version="1.2", date="1970-01-01T00:00:00Z")
