# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Bazel itself: not there, or given something it cannot build."""

import zipfile
from pathlib import Path

import pytest

from pjrtwheel.backend import find_backend
from pjrtwheel.bazel import invoke
from pjrtwheel.bazel.invoke import BuildRequest, BuildResult
from pjrtwheel.bazel.workspace import lock_builds
from pjrtwheel.errors import ElfError, FetchError
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.platforms import PLATFORMS
from release_under_test import release_under_test

pytestmark = pytest.mark.integration


def request_of(
    root: Path, provider: str = "prebuilt", platform: str = "linux_x86_64", library: Path | None = None
) -> BuildRequest:
    """Return a request for the plugin alone."""
    release, cpu = release_under_test(), find_backend(root, "cpu")
    return BuildRequest(root, release, (cpu,), PLATFORMS[platform], provider, library, with_bindings=False)


def build(request: BuildRequest) -> BuildResult:
    """Build while no other test builds in this checkout, which would change the release under its hands."""
    with lock_builds(request.root, cache_root()):
        return invoke.build(request)


def test_an_error_inside_an_action_is_the_error_of_the_build(root: Path, built_wheels: Path) -> None:
    """What assembly says of a bad library comes out of the graph with its own class and lines."""
    assert built_wheels.is_dir()
    with pytest.raises(ElfError, match=r"pjrt_c_api_cpu_plugin\.so .* is not an ELF file"):
        build(request_of(root, "file", library=root / "LICENSE"))


def test_an_unpinned_library_is_the_error_of_the_build(root: Path, built_wheels: Path) -> None:
    """What the release says of a pin it has not comes out of a repository rule with its own class and lines."""
    assert built_wheels.is_dir()
    with pytest.raises(FetchError, match=r"has no 'plugin\.cpu\.linux_aarch64'"):
        build(request_of(root, platform="linux_aarch64"))


def test_a_library_by_its_path_names_the_wheels_provider(root: Path, built_wheels: Path, tmp_path: Path) -> None:
    """The digest of the given library is its provider's name, so that wheels of two libraries never pass for a set."""
    (wheel,) = built_wheels.glob("jaxlib_cpu-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        library = Path(archive.extract("jaxlib_cpu/pjrt_c_api_cpu_plugin.so", tmp_path))
    (built,) = build(request_of(root, "file", library=library)).wheels
    assert built.report.provider == f"file-{built.report.provenance['sha256']}"
