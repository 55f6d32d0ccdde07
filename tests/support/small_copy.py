# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Copy this repository with little to build: in one release a plugin and bindings for two platforms; few tests."""

import re
import shutil
import subprocess
from pathlib import Path

from release_under_test import ROOT

# What the small release has: a plugin, and bindings that are built by a job of their own.
PLUGIN, ALONE, PYTHON = "linux_x86_64", "linux_aarch64", "cp312"
_TESTS = (
    "tests/integration/conftest.py",
    "tests/integration/test_release_pages.py",
    "tests/integration/test_select_wheel.py",
    "tests/unit/test_files.py",
)


def copy_small(target: Path, version: str) -> None:
    """Copy what git knows here, changes that are not committed included, and leave little of it."""
    _copy(target)
    _shrink(target, version)


def _copy(target: Path) -> None:
    command = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)


def _shrink(root: Path, version: str) -> None:
    """Leave a plugin and bindings for two platforms in a release, and a few tests."""
    path = root / f"releases/{version}.toml"
    path.write_text("".join(filter(_is_kept, re.split(r"(?m)^(?=\[)", path.read_text("utf-8")))), "utf-8")
    policy = root / "releases/policy.toml"  # an x86_64 machine cannot open a library for arm64
    policy.write_text(policy.read_text("utf-8").replace('jaxlib_alone = "load"', 'jaxlib_alone = "static"'), "utf-8")
    for path in (
        path for folder in ("unit", "integration", "workflows") for path in root.glob(f"tests/{folder}/**/*.py")
    ):
        if str(path.relative_to(root)) not in _TESTS:
            path.unlink()
    path = root / "pyproject.toml"
    text = re.sub(r"(?m)^fail_under = .*", "fail_under = 0", path.read_text("utf-8"))
    path.write_text(re.sub(r'(?ms)^lint = \[.*?("ruff==[^"]*").*?^\]', r"lint = [\1]", text), "utf-8")
    path = root / "noxfile.py"  # what lint checks here says nothing of the workflows
    checks = 'CHECKS = {"ruff": ("ruff", "check", "build")}'
    path.write_text(re.sub(r"(?ms)^CHECKS = \{.*?^\}", checks, path.read_text("utf-8")), "utf-8")


def _is_kept(table: str) -> bool:
    """Return whether a table of the release file is not about something that the small release lacks."""
    if not table.startswith(("[[pin]]", "[[absent]]")):
        return True
    kind, *rest = table.partition('key = "')[2].partition('"')[0].split(".")
    kept = {"bindings": [[PYTHON, PLUGIN], [PYTHON, ALONE]], "plugin": [["cpu", PLUGIN]]}
    return table.startswith("[[pin]]") and (kind in {"compiler", "header"} or rest in kept.get(kind, []))
