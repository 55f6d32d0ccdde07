# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The resolver of PyTorch: versions, and what goes along with them."""

import pytest

from jaxlib_select.apply.groups import make_choices
from jaxlib_select.choose.policy import Policy
from jaxlib_select.choose.resolve import resolve
from jaxlib_select.errors import PolicyError
from machines import H100
from select_commands import asked, lacking


@pytest.mark.parametrize(
    ("package", "version", "requirements"),
    [
        ("torch", "", ("torch==2.14.*",)),
        ("torch", "==2.14.1", ("torch==2.14.1",)),
        ("torch", "==2.14", ("torch==2.14",)),
        ("torch", "==2.14.0+cu130", ("torch==2.14.0+cu130",)),
        ("torchvision", "", ("torch==2.14.*", "torchvision")),
        ("torchvision", "==0.29.0", ("torch==2.14.*", "torchvision==0.29.0")),
        ("torchaudio", "==2.14.0", ("torch==2.14.*", "torchaudio==2.14.0")),
    ],
)
def test_a_version_is_kept(package: str, version: str, requirements: tuple[str, ...]) -> None:
    """That of a companion as well: an installer that cannot have both says so."""
    assert resolve(f"{package}{version}", H100).requirements == requirements


@pytest.mark.parametrize("release", ["2.6.0", "2", "2.1", "2.140.0", "new"])
def test_a_version_of_which_nothing_is_known_is_refused(release: str) -> None:
    """Its builds are for other GPUs and other versions of CUDA."""
    with pytest.raises(PolicyError) as caught:
        resolve(f"torch=={release}", H100)
    assert lacking(caught.value.what, f"torch {release}", "cu130", "torch 2.14.*") == []
    assert lacking(caught.value.cause, "2.14.* for cpu, cu126, cu130, cu132, xpu", "2.11.* for cu128") == []


def test_an_older_version_of_another_backend_can_be_asked_for() -> None:
    """By the name of that backend."""
    assert resolve("torch==2.11.0", H100, asked("torch=cu128")).requirements == ("torch==2.11.0",)


def test_a_lock_leaves_out_backends_without_the_version() -> None:
    """They are for machines that need an older one."""
    backends = [decision.backend for decision in make_choices("torch==2.14.0", H100, Policy()).decisions]
    assert sorted(backends) == ["cpu", "cu126", "cu130", "cu132", "xpu"]
