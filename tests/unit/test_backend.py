# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Reading backend.toml files."""

from __future__ import annotations

from pathlib import Path

import pytest

from pjrtwheel.backend import find_backend, load_backends, parse_backend
from pjrtwheel.errors import UsageError


def test_text_that_is_no_toml_is_named(tmp_path: Path) -> None:
    """The error names the file and where TOML gave up."""
    with pytest.raises(UsageError) as caught:
        parse_backend("= 1", tmp_path / "backend.toml")
    assert caught.value.what == f"not a TOML file: {tmp_path / 'backend.toml'}"
    assert "line 1" in caught.value.cause


def test_missing_key_is_named(root: Path, tmp_path: Path) -> None:
    """A backend file without one of its keys is refused by the name of that key."""
    text = (root / "plugins" / "cpu" / "backend.toml").read_text("utf-8").replace("pjrt_name", "pjrtname")
    with pytest.raises(UsageError, match="lacks or misspells 'pjrt_name'"):
        parse_backend(text, tmp_path / "backend.toml")


def test_new_directory_is_all_a_backend_needs(root: Path, tmp_path: Path) -> None:
    """A second directory below plugins/ is found, named after itself, in order of name."""
    text = (root / "plugins" / "cpu" / "backend.toml").read_text("utf-8")
    for name in ("tpu9", "abacus"):
        (tmp_path / "plugins" / name).mkdir(parents=True)
        (tmp_path / "plugins" / name / "backend.toml").write_text(text, "utf-8")
    assert [(name, backend.name) for name, backend in load_backends(tmp_path).items()] == [
        ("abacus", "abacus"),
        ("tpu9", "tpu9"),
    ]


def test_unknown_backend_lists_the_known_ones(root: Path) -> None:
    """A backend that does not exist is answered with those that do."""
    with pytest.raises(UsageError) as caught:
        find_backend(root, "gpu")
    assert caught.value.what == "unknown backend: 'gpu'"
    assert "cpu" in caught.value.remedy


@pytest.mark.parametrize("name", sorted(load_backends(Path(__file__).resolve().parents[2])))
def test_names_of_a_backend_agree(root: Path, name: str) -> None:
    """Distribution, import package and extra are three spellings of one name."""
    backend = find_backend(root, name)
    assert backend.package == backend.distribution.replace("-", "_")
    assert backend.distribution == f"jaxlib-{backend.extra}"
    assert set(backend.prebuilt.platforms) <= set(backend.tags)
