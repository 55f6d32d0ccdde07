# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Source mode with a stub of XLA: its labels, the steps of its WORKSPACE, and a wheel from a library we build."""

import dataclasses
import io
import json
import os
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

from bazel_outputs import remove_outputs
from git_repository import git
from pjrtwheel.abis import FREE_THREADED, STABLE_ABI, extension_suffix
from pjrtwheel.backend import find_backend
from pjrtwheel.bazel.invoke import BuildRequest, BuildResult, build
from pjrtwheel.bazel.source import SourceOptions
from pjrtwheel.errors import BazelError, PinError
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.release.known import give_label, list_releases, load_release
from pjrtwheel.release.model import Release
from pjrtwheel.release.wheels import make_lock

pytestmark = [pytest.mark.integration, pytest.mark.slow]

OLDEST_GLIBC = (2, 17)
LIBRARY = "jaxlib_cpu/pjrt_c_api_cpu_plugin.so"

Build = Callable[..., BuildResult]
"""Build the wheel of the plugin for a platform, and of another backend when it is named."""


def newest_with_xla(root: Path) -> Release:
    """Return the newest release of which the XLA revision is known."""
    releases = (load_release(root, version) for version in reversed(list_releases(root)))
    return next(release for release in releases if release.xla)


def state_revision(stub: Path, commit: str, sha256: str) -> None:
    """Let the stub of JAX name the XLA that it was built from."""
    text = f'XLA_COMMIT = "{commit}"\nXLA_SHA256 = "{sha256}"\n'
    (stub / "jax/third_party/xla/revision.bzl").write_text(text, "utf-8")


@pytest.fixture(scope="module")
def checkout(copy_checkout: Callable[[Path], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of what Bazel reads, which the tests may edit."""
    return copy_checkout(tmp_path_factory.mktemp("source") / "checkout")


@pytest.fixture(scope="module")
def environ(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the environment with the stub, and with a cache that has the real one's downloads but nothing built."""
    folder = tmp_path_factory.mktemp("source_state")
    (folder / "cache").mkdir()
    for name in ("wheels", "wheelhouses"):
        (folder / "cache" / name).symlink_to(cache_root(os.environ) / name)
    # Next to each other, at a plain path: Bazel's option takes no space.
    shutil.copytree(root / "tests/data/stub_xla", folder / "stub")
    xla = newest_with_xla(root).xla
    assert xla
    state_revision(folder / "stub", xla.commit, xla.sha256)
    flags = [f"--override_repository={path.name}={path}" for path in (folder / "stub").iterdir() if path.is_dir()]
    return {**os.environ, "PJRTWHEEL_CACHE": str(folder / "cache"), "PJRTWHEEL_BAZEL_FLAGS": " ".join(flags)}


@pytest.fixture(scope="module")
def build_source(checkout: Path, environ: dict[str, str], built_wheels: Path) -> Iterator[Build]:
    """Return a function that builds from the stub; the wheels that were built before have filled the cache."""
    assert built_wheels.is_dir()

    def build_(platform: str, backend: str = "cpu") -> BuildResult:
        return build(source_request(checkout, platform, backend), environ)

    yield build_
    remove_outputs(checkout, Path(environ["PJRTWHEEL_CACHE"]))


def source_request(checkout: Path, platform: str, backend: str = "cpu") -> BuildRequest:
    """Return a request for the plugin alone, built from source."""
    chosen = find_backend(checkout, backend)
    return BuildRequest(
        checkout, newest_with_xla(checkout), (chosen,), PLATFORMS[platform], "source", with_bindings=False
    )


def open_wheel(result: BuildResult) -> zipfile.ZipFile:
    """Return the only wheel of a build, or that of the plugin, which comes before its kernels."""
    return zipfile.ZipFile(result.wheels[0].path)


def newest_glibc(library: ELFFile) -> tuple[int, ...]:
    """Return the newest version of glibc whose symbols a library needs."""
    needs = library.get_section_by_name(".gnu.version_r")
    assert isinstance(needs, GNUVerNeedSection)
    names = [version.name for _, versions in needs.iter_versions() for version in versions]
    return max(tuple(map(int, re.findall(r"\d+", name))) for name in names)


def test_origin_is_told(build_source: Build) -> None:
    """The wheel does not claim the pinned commit for a library that was built from another tree."""
    wheel = open_wheel(build_source("linux_x86_64"))
    unknown = dict.fromkeys(("project", "version", "filename", "sha256", "member", "xla_commit"))
    assert json.loads(wheel.read("jaxlib_cpu/provenance.json")) == {
        **unknown, "provider": "source", "xla_verified": False, "options": {"overridden": True}, "licenses": ["LICENSE"]
    }  # fmt: skip
    assert json.loads(wheel.read("jaxlib_cpu/release_lock.json"))["provider"] == "source"


@pytest.mark.parametrize("platform", [name for name, entry in PLATFORMS.items() if entry.compiler_target])
def test_compiled_files_fit_the_platform(build_source: Build, platform: str) -> None:
    """What our own rule compiles is for the platform's architecture, and runs on systems as old as is promised."""
    wheel = open_wheel(build_source(platform))
    abis, architecture = (STABLE_ABI, *FREE_THREADED.values()), PLATFORMS[platform].architecture
    names = [f"jaxlib_cpu/pjrt/_pjrt{extension_suffix(abi, architecture)}" for abi in abis]
    libraries = [ELFFile(io.BytesIO(wheel.read(name))) for name in (*names, LIBRARY)]
    assert {library["e_machine"] for library in libraries} == {PLATFORMS[platform].machine}
    assert all(newest_glibc(library) <= OLDEST_GLIBC for library in libraries[:-1])


def test_only_what_changed_is_built_again(build_source: Build, checkout: Path) -> None:
    """No change, or one of the front end: no action; one of the loader: a wheel assembled, nothing compiled."""
    build_source("linux_x86_64")
    assert build_source("linux_x86_64").log.actions == ()
    for module in ("build.py", "cli/build.py", "bazel/invoke.py", "prove/on_python.py"):
        with (checkout / "build/pjrtwheel" / module).open("a") as file:
            file.write("# changed\n")
    assert build_source("linux_x86_64").log.actions == ()
    with (checkout / "plugins/cpu/jaxlib_cpu/options.py").open("a") as file:
        file.write("# changed\n")
    actions = build_source("linux_x86_64").log.actions
    assert [(action.mnemonic, action.label) for action in actions] == [("AssembleWheel", "//plugins/cpu:wheel")]


def test_a_backend_brings_its_configurations(build_source: Build) -> None:
    """Its flags, those of the directory it shares, its kernels, and JAX's own target: without all exports no wheel."""
    result = build_source("linux_x86_64", "cuda12")
    wheel, kernels = open_wheel(result), result.wheels[1]
    assert json.loads(wheel.read("jaxlib_cuda_12/provenance.json"))["provider"] == "source"
    assert "jaxlib_cuda_12/xla_cuda_plugin.so" in wheel.namelist()
    assert "jax_cuda12_plugin/_solver.cpython-312-x86_64-linux-gnu.so" in zipfile.ZipFile(kernels.path).namelist()
    lock = zipfile.ZipFile(kernels.path).read("jaxlib_cuda_12_kernels/release_lock.json")
    assert lock == wheel.read("jaxlib_cuda_12/release_lock.json")


def test_bindings_and_kernels_come_from_jax(checkout: Path, environ: dict[str, str]) -> None:
    """From targets of its own, for one Python; the wheels say so."""
    options = SourceOptions(bazel_options=("--//build:bindings=source",))
    plain = source_request(checkout, "linux_x86_64", "cuda12")
    request = dataclasses.replace(plain, source=options, with_bindings=True, pythons=("cp312",))
    built = {wheel.report.name.distribution: wheel.report for wheel in build(request, environ).wheels}
    assert {report.provider for report in built.values()} == {request.provider_name}
    origins = [built[name].provenance for name in ("jaxlib", "jaxlib-cuda-12-kernels")]
    assert {(one["jax_commit"], one.get("project")) for one in origins} == {(plain.release.commits["jaxlib"], None)}
    assert origins[0]["filename"].startswith(f"jaxlib-{request.release.version}-cp312-")


def test_a_commit_with_a_patch_is_built(checkout: Path, environ: dict[str, str], tmp_path: Path) -> None:
    """From git, for a set with a label of its own; what does not apply is said in a line."""
    stub = Path(environ["PJRTWHEEL_CACHE"]).parent / "stub"
    for command in (["init"], ["add", "-A"], ["commit", "-m", "A stub"]):
        git(stub / "xla", *command)
    source = stub / "xla/xla/pjrt/c/stub_plugin.c"
    text = source.read_text("utf-8")
    source.write_text(text.replace("this is a stub", "this is another"), "utf-8")
    (tmp_path / "a fix.patch").write_text(git(stub / "xla", "diff") + "\n", "utf-8")
    source.write_text(text, "utf-8")
    commit = git(stub / "xla", "rev-parse", "HEAD")
    overrides = [flag for flag in environ["PJRTWHEEL_BAZEL_FLAGS"].split() if "repository=xla=" not in flag]
    config = {"KEY_0": f"url.{stub}/xla.insteadOf", "VALUE_0": "https://github.com/openxla/xla", "COUNT": "1"}
    environ = environ | {f"GIT_CONFIG_{name}": value for name, value in config.items()}
    environ["PJRTWHEEL_BAZEL_FLAGS"] = " ".join(overrides)
    options = SourceOptions(commit, patches=(tmp_path / "a fix.patch",), debug_symbols=True)
    plain = source_request(checkout, "linux_x86_64")
    request = dataclasses.replace(plain, release=give_label(plain.release, "mine"), source=options)
    request = dataclasses.replace(request, lock=make_lock(request.release, request.provider_name))
    wheel = open_wheel(build(request, environ))
    assert b"this is another" in wheel.read(LIBRARY)
    assert ELFFile(io.BytesIO(wheel.read(LIBRARY))).get_section_by_name(".comment")
    lock = json.loads(wheel.read("jaxlib_cpu/release_lock.json"))
    assert (lock["provider"], lock["version"]) == (request.provider_name, request.release.set_version)
    assert json.loads(wheel.read("jaxlib_cpu/provenance.json"))["options"]["commit"] == commit
    wrong = tmp_path / "wrong.patch"
    wrong.write_text((tmp_path / "a fix.patch").read_text("utf-8").replace("no_client", "a_client"), "utf-8")
    with pytest.raises(BazelError) as caught:
        build(dataclasses.replace(request, source=SourceOptions(commit, patches=(wrong,))), environ)
    assert "-wrong.patch: " in caught.value.cause


def test_another_xla_than_jax_names_is_refused(build_source: Build, environ: dict[str, str]) -> None:
    """Before anything of it is fetched: what a person wrote down is held to JAX's own tree."""
    stub = Path(environ["PJRTWHEEL_CACHE"]).parent / "stub"
    before = (stub / "jax/third_party/xla/revision.bzl").read_text("utf-8")
    state_revision(stub, "f00d", "ab")
    with pytest.raises(PinError) as caught:
        build_source("linux_x86_64")
    assert caught.value.cause.startswith("its own tree names f00d (ab), releases/xla.toml has ")
    (stub / "jax/third_party/xla/revision.bzl").write_text(before, "utf-8")
