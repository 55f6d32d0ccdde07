# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a plugin serves at all: settings, JAX's choice of platforms, other plugins, kernels for this Python."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

Loader = Callable[[str], ModuleType]

CUDA = r"jax_plugins\.xla_cuda\d*|jaxlib_cuda_\d+"
ALIASES = {"gpu": ["cuda", "rocm", "oneapi"]}


@pytest.mark.parametrize(
    ("platforms", "asked_for"),
    [(None, True), ("", True), ("cpu", False), ("cuda", True), ("cpu, cuda", True), ("gpu", True), ("rocm,cpu", False)],
)
def test_platforms_that_jax_shall_use(cpu_loader: Loader, platforms: str | None, asked_for: bool) -> None:  # noqa: FBT001
    """All, those named, and those behind an alias."""
    expand = cpu_loader("pjrt.settings").is_asked_for
    assert expand("cuda", platforms, lambda alias: ALIASES.get(alias, [alias])) is asked_for


@pytest.mark.parametrize(
    ("module", "others", "modules", "yields_to", "yielding"),
    [
        ("jaxlib_cuda_13", {}, [], (), ()),
        ("jaxlib_cuda_13", {"jaxlib_cpu": "jaxlib-cpu", "jax_plugins.mine": "mine"}, [], (), ()),
        ("jaxlib_cuda_13", {"jaxlib_cuda_12": "jaxlib-cuda-12"}, ["jaxlib_cuda_12"], (), ("jaxlib-cuda-12",)),
        ("jaxlib_cuda_12", {"jaxlib_cuda_13": "jaxlib-cuda-13"}, ["jaxlib_cuda_13"], ("jaxlib-cuda-13",), ()),
        (
            "jaxlib_cuda_13",
            {"jax_plugins.xla_cuda12": "jax-cuda12-pjrt"},
            ["jax_plugins.xla_cuda12"],
            ("jax-cuda12-pjrt",),
            (),
        ),
    ],
    ids=["alone", "others", "the newer of ours", "the older of ours", "upstream"],
)
def test_who_has_the_platform(
    cpu_loader: Loader,
    module: str,
    others: dict[str, str],
    modules: list[str],
    yields_to: tuple[str, ...],
    yielding: tuple[str, ...],
) -> None:
    """Upstream's plugin leaves it to nobody, so ours does; of ours it is the one whose kernels JAX takes."""
    rivals = cpu_loader("pjrt.rivals")
    found = rivals.find_rivals(module, CUDA, {module: module.replace("_", "-"), **others}, {})
    assert found == rivals.Rivals({name: others[name] for name in modules}, yields_to, yielding)


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
    cpu_loader: Loader,
    module: str,
    off: tuple[str, ...],
    yields: bool,  # noqa: FBT001
    disabled: tuple[str, ...],
) -> None:
    """Nobody leaves it the platform, but its kernels are in the way of an older one's."""
    versions = {"12", "13", *off}
    plugins = {f"jaxlib_cuda_{version}": f"jaxlib-cuda-{version}" for version in versions}
    environ = {f"JAXLIB_CUDA_{version}_DISABLE": "1" for version in off}
    rivals = cpu_loader("pjrt.rivals").find_rivals(module, CUDA, plugins, environ)
    assert (bool(rivals.yields_to), rivals.disabled) == (yields, disabled)


def test_upstreams_plugin_has_no_variable_of_ours(cpu_loader: Loader) -> None:
    """Whatever the environment holds."""
    environ = {"JAX_PLUGINS.XLA_CUDA12_DISABLE": "1"}
    rivals = cpu_loader("pjrt.rivals").find_rivals("jaxlib_cuda_13", CUDA, {"jax_plugins.xla_cuda12": "x"}, environ)
    assert (rivals.modules, rivals.yields_to, rivals.disabled) == ({"jax_plugins.xla_cuda12": "x"}, ("x",), ())


def test_kernels_of_a_plugin_that_is_disabled_are_in_the_way(cpu_loader: Loader) -> None:
    """JAX has imported them before any plugin is asked."""
    rivals = cpu_loader("pjrt.rivals")
    rivals.check_kernel_order("jaxlib-cuda-13", rivals.Rivals())
    with pytest.raises(cpu_loader("pjrt.errors").TakeOverError) as caught:
        rivals.check_kernel_order("jaxlib-cuda-12", rivals.Rivals(disabled=("jaxlib-cuda-13",)))
    assert str(caught.value).splitlines() == [
        "TakeOverError: jaxlib-cuda-12 cannot take the place of jaxlib-cuda-13, which is disabled",
        "JAX would run the kernels of jaxlib-cuda-13 with this plugin, because they are still installed",
        "pip uninstall jaxlib-cuda-13",
    ]


@pytest.mark.parametrize(
    ("rival", "removal"),
    [("jax-cuda12-pjrt", "jax-cuda12-pjrt jax-cuda12-plugin"), ("jaxlib-cuda-13", "jaxlib-cuda-13")],
    ids=["upstream", "ours"],
)
def test_what_a_plugin_says_that_is_not_used(cpu_loader: Loader, rival: str, removal: str) -> None:
    """One message with both commands; upstream's kernels go with its plugin."""
    rivals = cpu_loader("pjrt.rivals")
    error = rivals.find_rival("jaxlib-cuda-12", "cuda", rivals.Rivals(yields_to=(rival,)), {})
    assert error.sentences().splitlines() == [
        f"jaxlib-cuda-12 is not used: {rival} is for JAX's platform 'cuda' as well, and JAX can take only one",
        f"to keep {rival} instead: pip uninstall jaxlib-cuda-12",
        f"pip uninstall {removal}",
    ]


@pytest.mark.parametrize(
    ("named", "rival"),
    [("", False), ("mine:/mine.so", False), ("mine:/mine.so,cuda:/cuda.so", True)],
    ids=["nothing", "another", "this one"],
)
def test_a_platform_that_the_environment_names_is_left_to_it(
    cpu_loader: Loader,
    named: str,
    rival: bool,  # noqa: FBT001
) -> None:
    """JAX registers that library after all plugins."""
    rivals = cpu_loader("pjrt.rivals")
    environ = {"PJRT_NAMES_AND_LIBRARY_PATHS": named}
    error = rivals.find_rival("jaxlib-cuda-12", "cuda", rivals.Rivals(), environ)
    assert (error and error.sentences().splitlines()) == (
        [
            "jaxlib-cuda-12 is not used: something else registers JAX's platform 'cuda'",
            "unset PJRT_NAMES_AND_LIBRARY_PATHS, or take 'cuda' out of its value",
        ]
        if rival
        else None
    )


@pytest.mark.parametrize(
    ("platforms", "passed_over", "goes_on"),
    [
        ("", True, True),
        ("", False, True),
        ("cpu", False, True),
        ("cuda", True, False),
        ("cuda", False, False),
        ("cuda,cpu", True, True),
        ("cpu, cuda", True, True),
        ("cuda,cpu", False, False),
        ("gpu", True, False),
        ("gpu,cpu", True, False),
    ],
)
def test_what_jax_does_without_an_accelerator_that_was_named(
    cpu_loader: Loader,
    platforms: str,
    passed_over: bool,  # noqa: FBT001
    goes_on: bool,  # noqa: FBT001
) -> None:
    """It fails for each platform that was named and is not there; of an alias it wants all."""
    without = cpu_loader("pjrt.settings").goes_on_without
    assert without("cuda", platforms, lambda alias: ALIASES.get(alias, [alias]), passed_over=passed_over) is goes_on


def test_plugins_are_found_as_jax_finds_them(
    cpu_loader: Loader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through entry points, and below the namespace package `jax_plugins`."""
    info = tmp_path / "jax_cuda12_pjrt-1.2.3.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: jax-cuda12-pjrt\nVersion: 1.2.3\n", "utf-8")
    (info / "entry_points.txt").write_text("[jax_plugins]\nxla_cuda12 = jax_plugins.xla_cuda12\n", "utf-8")
    for name in ("xla_cuda12", "xla_mine"):
        (tmp_path / "jax_plugins" / name).mkdir(parents=True)
        (tmp_path / "jax_plugins" / name / "__init__.py").touch()
    before = cpu_loader("pjrt.rivals").installed_plugins()
    monkeypatch.syspath_prepend(str(tmp_path))
    found = cpu_loader("pjrt.rivals").installed_plugins()
    assert {name: dist for name, dist in found.items() if name not in before} == {
        "jax_plugins.xla_cuda12": "jax-cuda12-pjrt",
        "jax_plugins.xla_mine": "jax_plugins.xla_mine",
    }


def test_kernels_of_other_pythons_do_not_count(
    cpu_loader: Loader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All lie side by side; Python's own suffix tells them apart."""
    kernels = cpu_loader("pjrt.kernels")
    package = kernels.Kernels("pjrtwheel_kernels", "extension")
    assert (kernels.find_kernels(package).modules, kernels.import_module(package, "_prng")) == ((), None)
    folder = tmp_path / "pjrtwheel_kernels"
    folder.mkdir()
    own = kernels.importlib.machinery.EXTENSION_SUFFIXES[0]
    for name in (
        f"_prng{own}",
        f"_linalg{own}",
        "_prng.cpython-399-x86_64-linux-gnu.so",
        "_prng.cpython-399t-x86_64-linux-gnu.so",
        "_rnn.so",
    ):
        (folder / name).touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    own_python = ".".join(map(str, kernels.sys.version_info[:2]))
    found = kernels.find_kernels(package)
    assert (found.location, found.modules, found.pythons) == (
        folder,
        ("_linalg", "_prng"),
        (own_python, "3.99", "3.99t"),
    )


@pytest.mark.parametrize(
    ("files", "remedy"),
    [
        ([], "pip install --force-reinstall --no-deps jaxlib-cuda-12"),
        (
            ["_prng.cpython-398-x86_64-linux-gnu.so", "_prng.cpython-399-x86_64-linux-gnu.so"],
            "use a Python that it has them for: 3.98, 3.99",
        ),
    ],
    ids=["none", "of others"],
)
def test_a_python_without_kernels_is_one_line_in_the_log(
    cpu_loader: Loader,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    files: list[str],
    remedy: str,
) -> None:
    """With its version, what still works, and where it would be otherwise."""
    (tmp_path / "pjrtwheel_none").mkdir()
    for name in files:
        (tmp_path / "pjrtwheel_none" / name).touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "version_info", (3, 15, 0, "final", 0))
    kernels = cpu_loader("pjrt.kernels")
    assert kernels.find_extension("jaxlib-cuda-12", kernels.Kernels("pjrtwheel_none", "extension")) is None
    assert caplog.messages == [
        (
            "jaxlib-cuda-12 has no GPU kernels for Python 3.15: JAX runs, but solvers, sparse matrices, Mosaic and "
            f"host callbacks fail on the GPU; {remedy}"
        )
    ]


@pytest.mark.parametrize("version", [None, "1.2.3"])
def test_kernels_of_the_same_release_do_no_harm(cpu_loader: Loader, version: str | None) -> None:
    """Upstream's have other file names, and Python prefers the more specific ones."""
    kernels = cpu_loader("pjrt.kernels")
    kernels.check_kernels(kernels.Kernels("jax_cuda12_plugin", ""), "jaxlib-cuda-12", "1.2.3", version)


def test_kernels_of_another_release_are_refused(cpu_loader: Loader) -> None:
    """They would keep jaxlib from using either."""
    kernels = cpu_loader("pjrt.kernels")
    with pytest.raises(cpu_loader("pjrt.errors").VersionMismatchError) as caught:
        kernels.check_kernels(kernels.Kernels("jax_cuda12_plugin", ""), "jaxlib-cuda-12", "1.2.3", "1.1.2")
    assert str(caught.value).splitlines() == [
        (
            "VersionMismatchError: jax-cuda12-plugin 1.1.2 is installed in addition to jaxlib-cuda-12 1.2.3, "
            "which has kernels of its own"
        ),
        "jaxlib takes kernels of exactly its own version, and finds the version of the other ones",
        "pip uninstall jax-cuda12-plugin",
    ]


@pytest.mark.parametrize(
    ("plugin", "version", "refused"),
    [("12", "1.2.3", True), ("12", "1.2.2", False), ("12", None, False), ("13", "1.2.3", False)],
    ids=["newer ones", "of another release", "gone", "its own"],
)
def test_kernels_that_were_left_behind(
    cpu_loader: Loader,
    plugin: str,
    version: str | None,
    refused: bool,  # noqa: FBT001
) -> None:
    """Those of CUDA 13 come first in jaxlib, whoever installed them, if they are of its own release."""
    kernels = cpu_loader("pjrt.kernels")
    packages = ["jax_cuda13_plugin", "jax_cuda12_plugin"]
    installed = {"jax-cuda13-plugin": version}.get

    def check() -> None:
        ours = kernels.Kernels(f"jax_cuda{plugin}_plugin", "")
        kernels.check_precedence(ours, f"jaxlib-cuda-{plugin}", "1.2.3", packages, installed)

    if not refused:
        check()
        return
    with pytest.raises(cpu_loader("pjrt.errors").TakeOverError) as caught:
        check()
    assert caught.value.sentences().splitlines() == [
        "jaxlib takes the kernels of jax-cuda13-plugin before those of jaxlib-cuda-12",
        "they are made for another version of the vendor's libraries, and would run with this plugin",
        "pip uninstall jax-cuda13-plugin",
    ]
