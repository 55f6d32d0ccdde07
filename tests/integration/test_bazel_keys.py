# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the keys of actions depend on: two machines share results only if nothing of either is in them."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bazel_actions import by_output, read_actions
from pjrtwheel.backend import find_backend
from pjrtwheel.bazel import shutdown
from pjrtwheel.bazel.invoke import BuildRequest, build
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.platforms import PLATFORMS
from release_under_test import release_under_test

pytestmark = pytest.mark.integration

Keys = Callable[[str, dict[str, str]], dict[str, dict[str, Any]]]
"""Build in a new clone of a name, with environment variables, and return what its actions were made of."""


@pytest.fixture
def build_keys(copy_checkout: Callable[[Path], Path], tmp_path: Path) -> Iterator[Keys]:
    """Return a function that builds in a clone, home and cache of its own; only downloads are shared."""
    caches: dict[Path, Path] = {}

    def run(name: str, variables: dict[str, str]) -> dict[str, dict[str, Any]]:
        folder = tmp_path / name
        root = copy_checkout(folder / "clone")
        cache, home = caches.setdefault(root, folder / "cache"), folder / "home"
        for path in (cache, home):
            path.mkdir()
        for kept in ("wheels", "wheelhouses"):
            (cache / kept).symlink_to(cache_root(os.environ) / kept)
        log = folder.resolve() / "actions.json"
        request = BuildRequest(
            root, release_under_test(), find_backend(root, "tpu"), PLATFORMS["linux_x86_64"], with_bindings=False
        )
        environ = {**os.environ, "HOME": str(home), "PJRTWHEEL_CACHE": str(cache), **variables}
        build(request, {**environ, "PJRTWHEEL_BAZEL_FLAGS": f"--execution_log_json_file={log}"})
        actions = read_actions(log)
        assert {action["runner"] for action in actions} <= {"linux-sandbox", "processwrapper-sandbox"}
        return by_output(actions)

    yield run
    with pytest.MonkeyPatch.context() as patch:
        for root, cache in caches.items():
            patch.setenv("PJRTWHEEL_CACHE", str(cache))
            shutdown.main(["--root", str(root)])


def copy_python(target: Path) -> Path:
    """Copy the interpreter behind the tests with its pip to another place, and return the program."""
    base = Path(os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable))
    library = Path(os.__file__).resolve().parent
    packages = Path(sysconfig.get_path("purelib", vars={"base": sys.base_prefix}))
    copied = target / sys.platlibdir / library.name
    (target / "bin").mkdir(parents=True)
    shutil.copy(base, target / "bin" / base.name)
    shutil.copytree(library, copied, ignore=shutil.ignore_patterns("__pycache__", "test", "site-packages"))
    for pip in packages.glob("pip*"):
        shutil.copytree(pip, copied / packages.name / pip.name, ignore=shutil.ignore_patterns("__pycache__"))
    return target / "bin" / base.name


def test_keys_hold_nothing_of_the_machine(build_keys: Keys, built_wheels: Path, tmp_path: Path) -> None:
    """Neither folders, homes, users, time zones and languages, nor the place of the same Python change one."""
    assert built_wheels.is_dir()  # filled the cache with downloads
    first = build_keys("here", {"TZ": "UTC", "LANG": "C", "USER": "ada", "LOGNAME": "ada"})
    python = copy_python(tmp_path / "elsewhere/python")
    other = {"TZ": "Asia/Tokyo", "LANG": "C.UTF-8", "USER": "bob", "LOGNAME": "bob", "PJRTWHEEL_PYTHON": str(python)}
    second = build_keys("elsewhere/deeper", {**other, "CC": "/no/compiler", "PYTHONPATH": "/no/modules"})
    assert {key["mnemonic"] for key in first.values()} == {"AssembleWheel", "CompileExtension"}
    assert second == first
    text = str(first)
    assert not [place for place in (str(tmp_path), str(Path.home()), sys.base_prefix) if place in text]
