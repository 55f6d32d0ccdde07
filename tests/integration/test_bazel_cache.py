# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A cache that several machines share, and somebody who may write into it."""

import hashlib
import io
import json
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from bazel_cache import doctor_action
from bazel_outputs import remove_outputs
from pjrtwheel.backend import find_backend
from pjrtwheel.bazel.invoke import BuildRequest, build
from pjrtwheel.errors import WheelError
from pjrtwheel.files import hash_file
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.verify import verify_wheels
from pjrtwheel.wheel.members import Member, format_record
from release_under_test import release_under_test

pytestmark = [pytest.mark.integration, pytest.mark.slow]

_EVIL = b"raise SystemExit('somebody else wrote this')\n"


def doctor_wheel(data: bytes) -> bytes:
    """Return a wheel with another `__main__.py`, which its RECORD describes."""
    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as new:
        members: dict[str, Member] = {}
        for entry in old.infolist():
            content = _EVIL if entry.filename.endswith("/__main__.py") else old.read(entry)
            if entry.filename.endswith(".dist-info/RECORD"):
                content = format_record(members, entry.filename).encode()
            else:
                members[entry.filename] = Member(len(content), hashlib.sha256(content).hexdigest())
            new.writestr(entry, content)
    return written.getvalue()


def doctor(files: dict[str, bytes]) -> Mapping[str, bytes]:
    """Return a wheel and its report, which agree with each other."""
    (name,) = {name for name in files if name.endswith(".whl")}
    wheel = doctor_wheel(files[name])
    report = json.loads(files["report.json"])
    report |= {"sha256": hashlib.sha256(wheel).hexdigest(), "size": len(wheel)}
    return {name: wheel, "report.json": json.dumps(report).encode()}


@pytest.fixture
def build_in(copy_checkout: Callable[[Path], Path], tmp_path: Path) -> Iterator[Callable[[str], tuple[Path, str]]]:
    """Return a function that builds jaxlib-cpu in a checkout of a name, with one cache for all of them.

    It returns the wheel, and all that Bazel printed.
    """
    checkouts: dict[str, Path] = {}

    def run(name: str) -> tuple[Path, str]:
        root = checkouts[name] = checkouts.get(name) or copy_checkout(tmp_path / name)
        backend = find_backend(root, "cpu")
        request = BuildRequest(root, release_under_test(), (backend,), PLATFORMS["linux_x86_64"], with_bindings=False)
        result = build(request, {**os.environ, "PJRTWHEEL_BAZEL_FLAGS": f"--disk_cache={tmp_path / 'cache'}"})
        (built,) = result.wheels
        verify_wheels([built.path], [backend])
        return built.path, result.log.text

    yield run
    for root in checkouts.values():
        remove_outputs(root)


def test_a_doctored_wheel_of_a_cache_is_refused(
    build_in: Callable[[str], tuple[Path, str]], built_wheels: Path, tmp_path: Path
) -> None:
    """A consistent one, which nothing in the wheel itself gives away; without that cache the next build succeeds."""
    first, _ = build_in("first")
    (expected,) = built_wheels.glob("jaxlib_cpu-*.whl")
    assert hash_file(first) == hash_file(expected)
    kept = shutil.copytree(tmp_path / "cache", tmp_path / "kept")
    assert doctor_action(tmp_path / "cache", "plugins/cpu/wheel/linux_x86_64-prebuilt", doctor) == 1
    with pytest.raises(WheelError) as caught:
        build_in("second")
    assert caught.value.what == f"{expected.name} is not what its inputs make: jaxlib_cpu/__main__.py"
    assert caught.value.cause.startswith("a cache of Bazel's returned another wheel")
    shutil.rmtree(tmp_path / "cache")
    kept.rename(tmp_path / "cache")
    second, log = build_in("second")
    assert "1 remote cache hit" in log  # as it calls one on the disk as well
    assert hash_file(second) == hash_file(expected)
