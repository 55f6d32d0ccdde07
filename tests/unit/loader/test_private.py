# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the loaders need of JAX's own: in one module, and no crash where a JAX has it not."""

import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace

import pytest

from loaders import load_cpu, load_module


@pytest.fixture
def jax(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function: modules of `jax._src` by name → nothing else is there of JAX."""

    def put(**modules: object) -> None:
        for name in [name for name in sys.modules if name == "jax" or name.startswith("jax.")]:
            monkeypatch.delitem(sys.modules, name)
        for name, content in {
            "jax": None,
            "jax._src": None,
            **{f"jax._src.{key}": modules[key] for key in modules},
        }.items():
            module = ModuleType(name)
            module.__path__ = []
            vars(module).update(vars(content) if content is not None else {})
            monkeypatch.setitem(sys.modules, name, module)

    return put


def test_a_jax_without_any_of_the_names_is_answered_for(
    jax: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the environment, by the name itself, or by nothing; a registry that is not there is left alone."""
    private = load_cpu("pjrt.private")
    jax(config=SimpleNamespace(), xla_bridge=SimpleNamespace())
    monkeypatch.setenv("JAX_PLATFORMS", "cuda")
    assert private.asked_platforms() == "cuda"
    assert private.expand_alias("gpu") == ["gpu"]
    assert private.setting("xla_bridge", "CUDA_VISIBLE_DEVICES", "all") == "all"
    assert private.has_processes() is False
    private.wrap("hardware_utils", "has_visible_nvidia_gpu", lambda original: original)
    private.announce("cuda", object())


def test_names_that_jax_has_are_used(jax: Callable[..., None]) -> None:
    """A plugin that is opened late reaches the callbacks that want every plugin, and its registration."""
    private, announced = load_cpu("pjrt.private"), []
    registration = SimpleNamespace(c_api=None)
    jax(
        config=SimpleNamespace(jax_platforms=SimpleNamespace(value="gpu")),
        xla_bridge=SimpleNamespace(
            expand_platform_alias=lambda _: ["cuda", "rocm"],
            make_pjrt_c_api_client=lambda name, options: (name, options()),
            _backend_factories={"cuda": registration},
            _plugin_callbacks=[lambda *, c_api: announced.append(c_api)],
        ),
    )
    assert private.expand_alias(private.asked_platforms()) == ["cuda", "rocm"]
    assert private.make_client("cuda", dict) == ("cuda", {})
    private.announce("cuda", "api")
    assert (registration.c_api, announced) == ("api", ["api"])


def test_jax_is_made_to_ask_only_as_long_as_it_cannot_go_on(jax: Callable[..., None]) -> None:
    """Without a device node it leaves `cuda` out, and ends in an AssertionError if nothing else was asked for."""
    jax(hardware_utils=SimpleNamespace(has_visible_nvidia_gpu=lambda: False))
    waits = [True]
    load_module("cuda13", "cuda.hardware").insist(lambda: bool(waits))
    sees_gpu = sys.modules["jax._src.hardware_utils"].has_visible_nvidia_gpu
    assert sees_gpu() is True
    waits.clear()
    assert sees_gpu() is False
