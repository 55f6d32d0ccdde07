# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a plugin serves at all: settings, JAX's choice of platforms, other plugins, kernels for this Python."""

import contextlib
import sys
from pathlib import Path

import pytest

from folders import write_dist_info, write_files
from loaders import load_cpu
from release_under_test import BACKENDS

CUDA = r"jax_plugins\.xla_cuda\d*|jaxlib_cuda_\d+"
ALIASES = {"gpu": ["cuda", "rocm", "oneapi"]}


@pytest.mark.parametrize(
    ("platforms", "asked_for"),
    [(None, True), ("", True), ("cpu", False), ("cuda", True), ("cpu, cuda", True), ("gpu", True), ("rocm,cpu", False)],
)
def test_platforms_that_jax_shall_use(platforms: str | None, *, asked_for: bool) -> None:
    """All, those named, and those behind an alias."""
    expand = load_cpu("pjrt.settings").is_asked_for
    assert expand("cuda", platforms, lambda alias: ALIASES.get(alias, [alias])) is asked_for


@pytest.mark.parametrize(
    ("module", "other", "yields_to", "yielding"),
    [
        ("jaxlib_cuda_13", "", (), ()),
        ("jaxlib_cuda_13", "jaxlib_cpu", (), ()),
        ("jaxlib_cuda_13", "jaxlib_cuda_12", (), ("jaxlib-cuda-12",)),
        ("jaxlib_cuda_12", "jaxlib_cuda_13", ("jaxlib-cuda-13",), ()),
        ("jaxlib_cuda_13", "jax_plugins.xla_cuda12", ("jax-plugins.xla-cuda12",), ()),
    ],
    ids=["alone", "another platform", "the newer of ours", "the older of ours", "upstream"],
)
def test_who_has_the_platform(module: str, other: str, yields_to: tuple[str, ...], yielding: tuple[str, ...]) -> None:
    """Upstream's plugin leaves it to nobody, so ours does; of ours it is the one whose kernels JAX takes."""
    rivals = load_cpu("pjrt.rivals")
    plugins = {name: name.replace("_", "-") for name in (module, other) if name}
    found = rivals.find_rivals(module, CUDA, plugins, {})
    modules = {other: plugins[other]} if yields_to or yielding else {}
    assert found == rivals.Rivals(modules, yields_to, yielding)


@pytest.mark.parametrize(
    ("module", "off", "yields", "disabled"),
    [
        ("jaxlib_cuda_12", ("13",), False, ("jaxlib-cuda-13",)),
        ("jaxlib_cuda_13", ("12",), False, ()),
        ("jaxlib_cuda_12", ("14",), True, ("jaxlib-cuda-14",)),
        ("jaxlib_cuda_12", ("13", "14"), False, ("jaxlib-cuda-13", "jaxlib-cuda-14")),
    ],
    ids=["the newer", "the older", "one of two newer ones", "both newer ones"],
)
def test_a_plugin_that_is_disabled_wins_nothing(
    module: str, off: tuple[str, ...], disabled: tuple[str, ...], *, yields: bool
) -> None:
    """Nobody leaves it the platform, but its kernels are in the way of an older one's."""
    versions = {"12", "13", *off}
    plugins = {f"jaxlib_cuda_{version}": f"jaxlib-cuda-{version}" for version in versions}
    environ = {f"JAXLIB_CUDA_{version}_DISABLE": "1" for version in off}
    rivals = load_cpu("pjrt.rivals").find_rivals(module, CUDA, plugins, environ)
    assert (bool(rivals.yields_to), rivals.disabled) == (yields, disabled)


def test_kernels_of_a_plugin_that_is_disabled_are_in_the_way() -> None:
    """JAX has imported them before any plugin is asked."""
    rivals = load_cpu("pjrt.rivals")
    rivals.check_kernel_order("jaxlib-cuda-13", rivals.Rivals())
    with pytest.raises(load_cpu("pjrt.errors").TakeOverError) as caught:
        rivals.check_kernel_order("jaxlib-cuda-12", rivals.Rivals(disabled=("jaxlib-cuda-13",)))
    assert caught.value.remedy == "pip uninstall jaxlib-cuda-13"


@pytest.mark.parametrize(
    ("rival", "removal"),
    [("jax-cuda12-pjrt", "jax-cuda12-pjrt jax-cuda12-plugin"), ("jaxlib-cuda-13", "jaxlib-cuda-13")],
    ids=["upstream", "ours"],
)
def test_what_a_plugin_says_that_is_not_used(rival: str, removal: str) -> None:
    """One message with both commands; upstream's kernels go with its plugin."""
    rivals = load_cpu("pjrt.rivals")
    error = rivals.find_rival("jaxlib-cuda-12", "cuda", rivals.Rivals(yields_to=(rival,)), {})
    assert (rival in error.what, error.remedy) == (True, f"pip uninstall {removal}")
    assert error.note.endswith("pip uninstall jaxlib-cuda-12")


@pytest.mark.parametrize(
    ("named", "rival"), [("", False), ("mine:/mine.so", False), ("mine:/mine.so,cuda:/cuda.so", True)]
)
def test_a_platform_that_the_environment_names_is_left_to_it(named: str, *, rival: bool) -> None:
    """JAX registers that library after all plugins."""
    rivals = load_cpu("pjrt.rivals")
    environ = {"PJRT_NAMES_AND_LIBRARY_PATHS": named}
    error = rivals.find_rival("jaxlib-cuda-12", "cuda", rivals.Rivals(), environ)
    assert (error is not None, "PJRT_NAMES_AND_LIBRARY_PATHS" in getattr(error, "remedy", "")) == (rival, rival)


@pytest.mark.parametrize(
    ("platforms", "passed_over", "goes_on"),
    [
        *(("", False, True), ("cpu", False, True)),
        *(("cuda", True, False), ("cuda,cpu", True, True), ("cpu, cuda", True, True), ("cuda,cpu", False, False)),
        *(("gpu", True, False), ("gpu,cpu", True, False)),
    ],
)
def test_what_jax_does_without_an_accelerator_that_was_named(
    platforms: str, *, passed_over: bool, goes_on: bool
) -> None:
    """It fails for each platform that was named and is not there; of an alias it wants all."""
    without = load_cpu("pjrt.settings").goes_on_without
    assert without("cuda", platforms, lambda alias: ALIASES.get(alias, [alias]), passed_over=passed_over) is goes_on


def test_plugins_are_found_as_jax_finds_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through entry points, and below the namespace package `jax_plugins`."""
    points = "[jax_plugins]\nxla_cuda12 = jax_plugins.xla_cuda12\n"
    write_dist_info(tmp_path, "jax-cuda12-pjrt", "1.2.3", entry_points=points)
    write_files(tmp_path / "jax_plugins", {"xla_cuda12/__init__.py": "", "xla_mine/__init__.py": ""})
    before = load_cpu("pjrt.rivals").installed_plugins()
    monkeypatch.syspath_prepend(str(tmp_path))
    found = load_cpu("pjrt.rivals").installed_plugins()
    assert {name: dist for name, dist in found.items() if name not in before} == {
        "jax_plugins.xla_cuda12": "jax-cuda12-pjrt",
        "jax_plugins.xla_mine": "jax_plugins.xla_mine",
    }


def test_kernels_of_other_pythons_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a path that another Python has as well; Python's own suffix distinguishes them."""
    kernels = load_cpu("pjrt.kernels")
    package = kernels.Kernels("pjrtwheel_kernels", "extension")
    assert (kernels.find_kernels(package).modules, kernels.import_module(package, "_prng")) == ((), None)
    folder = tmp_path / "pjrtwheel_kernels"
    folder.mkdir()
    own = kernels.importlib.machinery.EXTENSION_SUFFIXES[0]
    others = [f"_prng.cpython-{tag}-x86_64-linux-gnu.so" for tag in ("399", "399t")]
    for name in (f"_prng{own}", f"_linalg{own}", *others, "_rnn.so"):
        (folder / name).touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    own_python = ".".join(map(str, kernels.sys.version_info[:2]))
    found = kernels.find_kernels(package)
    assert (found.location, found.modules) == (folder, ("_linalg", "_prng"))
    assert found.pythons == (own_python, "3.99", "3.99t")


@pytest.mark.parametrize("pythons", [(), ("398", "399")], ids=["none", "of others"])
def test_a_python_without_kernels_is_one_line_in_the_log(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    pythons: tuple[str, ...],
) -> None:
    """With its version, and the command that brings kernels for it."""
    (tmp_path / "pjrtwheel_none").mkdir()
    for python in pythons:
        (tmp_path / f"pjrtwheel_none/_prng.cpython-{python}-x86_64-linux-gnu.so").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "version_info", (3, 15, 0, "final", 0))
    kernels = load_cpu("pjrt.kernels")
    assert kernels.find_extension("jaxlib-cuda-12", kernels.Kernels("pjrtwheel_none", "extension")) is None
    (line,) = caplog.messages
    remedy = "pip install --force-reinstall --no-deps jaxlib-cuda-12-kernels"
    assert ("Python 3.15" in line, line.endswith(remedy)) == (True, True)


def test_kernels_of_another_release_are_refused() -> None:
    """They would keep jaxlib from using either; those of the same release have other file names."""
    kernels = load_cpu("pjrt.kernels")
    ours = kernels.Kernels("jax_cuda12_plugin", "")
    for version in (None, "1.2.3"):
        kernels.check_kernels(ours, "jaxlib-cuda-12", "1.2.3", version)
    with pytest.raises(load_cpu("pjrt.errors").VersionMismatchError) as caught:
        kernels.check_kernels(ours, "jaxlib-cuda-12", "1.2.3", "1.1.2")
    assert ("1.1.2" in caught.value.what, caught.value.remedy) == (True, "pip uninstall jax-cuda12-plugin")


@pytest.mark.parametrize(
    ("plugin", "owner", "version", "refused"),
    [
        ("12", "jaxlib-cuda-13-kernels", "1.2.2+own.1", True),
        ("12", "jax-cuda13-plugin", "1.2.3", True),
        ("12", "jax-cuda13-plugin", "1.2.2", False),
        ("12", "", "", False),
        ("13", "jaxlib-cuda-13-kernels", "1.2.3+own.1", False),
    ],
    ids=["newer ones", "upstream's", "of another release", "gone", "its own"],
)
def test_kernels_that_were_left_behind(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    plugin: str,
    owner: str,
    version: str,
    *,
    refused: bool,
) -> None:
    """Those of CUDA 13 come first in jaxlib, which compares the version of upstream's alone."""
    kernels, error = load_cpu("pjrt.kernels"), load_cpu("pjrt.errors").TakeOverError
    ours, packages = kernels.Kernels(f"jax_cuda{plugin}_plugin", ""), ["jax_cuda13_plugin", "jax_cuda12_plugin"]
    monkeypatch.syspath_prepend(str(tmp_path))
    if owner:
        files = {"METADATA": f"Name: {owner}\nVersion: {version}\n", "top_level.txt": "jax_cuda13_plugin\n"}
        write_files(tmp_path, {f"{owner.replace('-', '_')}-{version}.dist-info/{name}": files[name] for name in files})
        write_files(tmp_path, {"jax_cuda13_plugin/a.so": ""})
    owners = load_cpu("pjrt.installed").owners_of
    with pytest.raises(error, match=f"pip uninstall {owner}") if refused else contextlib.nullcontext():
        kernels.check_precedence(ours, f"jaxlib-cuda-{plugin}", "1.2.3", packages, owners)


@pytest.mark.parametrize(("version", "code"), [("1.2.3+own.2", "LockMismatch"), ("1.2.2+own.1", "VersionMismatch")])
def test_kernels_of_another_set_are_refused(version: str, code: str) -> None:
    """As a jaxlib of another set is; the command brings the whole set."""
    lock = load_cpu("pjrt.lock")
    plugin = lock.Lock("1.2.3", 1, "prebuilt", "ab", "1.2.3+own.1")
    kernels = lock.Lock(version.partition("+")[0], 1, "prebuilt", "cd", version)
    with pytest.raises(getattr(load_cpu("pjrt.errors"), f"{code}Error")) as caught:
        lock.check_locks("jaxlib-cuda-12", plugin, kernels, name="jaxlib-cuda-12-kernels")
    assert f"jaxlib-cuda-12-kernels {version} " in f"{caught.value.what} "
    assert caught.value.remedy.endswith("--no-deps jaxlib==1.2.3+own.1 jaxlib-cuda-12==1.2.3+own.1")


def test_loader_and_tooling_agree_on_the_name_of_kernels() -> None:
    """Wheels are built under it, and the loader looks for it and for the package in it."""
    backend = next(entry for entry in BACKENDS.values() if entry.kernels)
    name = load_cpu("pjrt.installed").kernels_of(backend.distribution)
    assert (name, name.replace("-", "_")) == (backend.kernels_distribution, backend.kernels_package)
