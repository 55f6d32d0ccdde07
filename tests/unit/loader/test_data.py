# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a loader knows, and what `backend.toml` says to the tooling, must be the same where it is written twice."""

import re
from pathlib import Path

import pytest

from loaders import load_module, load_toolkit
from pjrtwheel.backend import Backend, load_backends
from pjrtwheel.release.known import list_releases, load_release
from pjrtwheel.release.wheels import extras_of
from release_under_test import BACKENDS, ROOT

VERSIONS = list_releases(ROOT)
CUDA = [item for item in BACKENDS.values() if "cuda" in item.shared]


@pytest.mark.parametrize("backend", BACKENDS.values(), ids=BACKENDS)
def test_plugins_know_the_variables_of_each_other(backend: Backend) -> None:
    """A rival's is worked out from its package."""
    assert load_module(backend.name, "pjrt.settings").disable_variable(backend.package) == backend.disable


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("backend", CUDA, ids=lambda item: item.name)
def test_libraries_come_from_the_wheels_that_the_extra_requires(backend: Backend, version: str) -> None:
    """A command in a message installs what the extra would."""
    (extra,) = extras_of(backend, load_release(ROOT, version)).values()
    required = {re.split(r"[<>=]", requirement)[0] for requirement in extra}
    projects = {library.project for library in load_toolkit(backend.name).libraries}
    assert projects <= required


@pytest.mark.parametrize("backend", [item for item in BACKENDS.values() if item.kernels], ids=lambda item: item.name)
def test_a_plugin_is_its_own_rival_by_name(backend: Backend) -> None:
    """The pattern matches the package itself and upstream's, so two wheels of ours see each other."""
    pattern = load_module(backend.name, "").ACCELERATOR.rivals
    upstream = backend.prebuilt.member.rpartition("/")[0].replace("/", ".")
    names = (backend.package, upstream, "jaxlib_cpu")
    assert [name for name in names if re.fullmatch(pattern, name)] == [backend.package, upstream]


@pytest.mark.parametrize("backend", CUDA, ids=lambda item: item.name)
def test_a_message_names_wheels_that_there_are(backend: Backend) -> None:
    """The lower versions are those of the other backends for the platform."""
    majors = sorted(
        load_toolkit(other.name).major
        for other in BACKENDS.values()
        if other.shared == backend.shared and other.pjrt_name == backend.pjrt_name
    )
    toolkit = load_toolkit(backend.name)
    assert list(toolkit.older) == [major for major in majors if major < toolkit.major]


def test_tpu_chips_are_those_that_the_selector_serves() -> None:
    """Both lists have every chip once."""
    hardware, select = load_module("tpu", "hardware"), BACKENDS["tpu"].select
    assert select is not None
    ids = [f"{hardware.GOOGLE}:{chip}".replace("0x", "") for chip in hardware.CHIPS]
    assert sorted(ids) == sorted(select["devices"])


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("backend", CUDA, ids=lambda item: item.name)
def test_oldest_libraries_are_those_of_the_extra(backend: Backend, version: str) -> None:
    """Up to the minor version; of CUPTI before CUDA 13, which counts its versions in another way, nothing follows."""
    (extra,) = extras_of(backend, load_release(ROOT, version)).values()
    floors = {match[1]: match[2].split(".") for line in extra if (match := re.match(r"([\w-]+)>=([\d.]+)", line))}
    toolkit, versions = load_toolkit(backend.name), load_module(backend.name, "cuda.versions")
    projects = {library.soname.partition(".so")[0]: library.project for library in toolkit.libraries}
    components = [item for item in versions.COMPONENTS if toolkit.minimum.get(item.name, 0) >= item.major]
    promised = {
        item.name: int(floors[projects[item.stem]][0]) * item.major + int(floors[projects[item.stem]][1]) * item.minor
        for item in components
    }
    known = {item.name: versions.rounded_to_minor(item, toolkit.minimum[item.name]) for item in components}
    assert len(known) >= 4
    assert known == promised


def test_the_extension_is_built_for_the_python_of_every_backend(root: Path) -> None:
    """Bazel cannot read backend.toml, so the tag is in both; it chooses the stable ABI and names the wheel."""
    tags = re.findall(r'python_tag = "(\w+)"', (root / "plugins/pjrt/BUILD.bazel").read_text("utf-8"))
    backends = load_backends(root)
    assert tags
    assert {name: [backend.python_tag] for name, backend in backends.items()} == dict.fromkeys(backends, tags)
