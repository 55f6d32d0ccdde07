# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Wheels that say that they are others are not proven."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pjrtwheel.errors import ProofError, WheelError
from pjrtwheel.prove.library import require_own_names

INFO = "jaxlib_abacus-1.0+split.1.dist-info"
NAME = "jaxlib_abacus-1.0+split.1-cp312-abi3-manylinux_2_27_x86_64.whl"
METADATA = "Metadata-Version: 2.4\nName: {}\nVersion: {}\n"


def test_other_spellings_are_the_same_name(make_wheel: Callable[..., Path]) -> None:
    """PEP 503 and PEP 440 allow several."""
    require_own_names(
        [make_wheel({f"{INFO}/METADATA": METADATA.format("JAXlib.abacus", "1.0+SPLIT.1").encode()}, name=NAME)]
    )


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        (METADATA.format("jaxlib-gpu", "1.0+split.1"), "jaxlib-gpu 1.0+split.1"),
        (METADATA.format("jaxlib-abacus", "1.1"), "jaxlib-abacus 1.1"),
        (METADATA.format("jaxlib-abacus", "bogus"), "jaxlib-abacus bogus"),
        ("", "nothing"),
    ],
)
def test_a_wheel_of_another_name_is_refused(make_wheel: Callable[..., Path], metadata: str, said: str) -> None:
    """Installers take a file by its name."""
    with pytest.raises(ProofError) as caught:
        require_own_names([make_wheel({f"{INFO}/METADATA": metadata.encode()}, name=NAME)])
    assert caught.value.what == f"METADATA of {NAME} says that it is {said}"


def test_a_damaged_wheel_is_refused(tmp_path: Path) -> None:
    """By its file name."""
    (tmp_path / NAME).write_bytes(b"no zip")
    with pytest.raises(WheelError, match="is a damaged wheel"):
        require_own_names([tmp_path / NAME])
