# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Lock files in the formats of other tools: requirements, and the snippet for uv."""

import re
import tomllib
from pathlib import Path

import pytest

from jaxlib_select.apply.formats import format_of, write_requirements, write_uv_snippet
from jaxlib_select.apply.lock_file import read_lock
from jaxlib_select.apply.pylock import Group
from jaxlib_select.choose.decision import Decision
from jaxlib_select.errors import UsageError
from lock_files import package


def test_the_names_of_locks() -> None:
    """Those of PEP 751, and requirements files."""
    names = {"pylock.toml": "pylock", "pylock.gpu.toml": "pylock", "requirements.txt": "requirements"}
    assert {name: format_of(Path(name)) for name in names} == names
    with pytest.raises(UsageError):
        format_of(Path("pylock.a.b.toml"))


def test_requirements_with_hashes(tmp_path: Path) -> None:
    """Pinned, with every hash, the options in front; it says nothing of a machine, so it is not compared with one."""
    path = tmp_path / "requirements.txt"
    group = Group("cuda13", "cuda13", (), (package("jax"), package("a", marker="sys_platform == 'linux'")))
    path.write_text(write_requirements(group, ["--index-url", "https://i/cu130", "--find-links", "/my w"]))
    assert path.read_text().splitlines() == [
        "--index-url https://i/cu130",
        "--find-links file:///my%20w",
        "a==1.0 ; sys_platform == 'linux' \\",
        f"    --hash=sha256:{sum(b'a-1.0-py3-none-any.whl'):064x}",
        "jax==1.0 \\",
        f"    --hash=sha256:{sum(b'jax-1.0-py3-none-any.whl'):064x}",
    ]
    with pytest.raises(UsageError, match=re.escape(str(path))):
        read_lock(path)


def test_the_snippet_for_uv() -> None:
    """One extra per backend, which exclude each other."""
    jax = Decision("jaxlib-cuda-13", "cuda13", ("jaxlib-cuda-13==1.2.3",), (), ("nvidia-cublas>=13.2",))
    cpu = Decision("jaxlib-cpu", "cpu", ("jaxlib-cpu==1.2.3",), ())
    text = write_uv_snippet([jax, cpu])
    assert "uv sync --extra cuda13" in text.splitlines()[0]
    extras = {"cuda13": ["jaxlib-cuda-13==1.2.3", "nvidia-cublas>=13.2"], "cpu": ["jaxlib-cpu==1.2.3"]}
    conflicts = [[{"extra": "cuda13"}, {"extra": "cpu"}]]
    document = {"project": {"optional-dependencies": extras}, "tool": {"uv": {"conflicts": conflicts}}}
    assert tomllib.loads(text) == document


def test_where_wheels_are_goes_into_the_snippet_for_uv() -> None:
    """A backend's own index is for its packages."""
    torch = Decision("torchvision", "cu126", ("torch==2.9.0", "torchvision"), (), index_url="https://i/cu126")
    options = ["--no-index", "--find-links", "/dist", "--index-url", "https://main"]
    own = {"name": "cu126", "url": "https://i/cu126", "explicit": True}
    assert tomllib.loads(write_uv_snippet([torch], options))["tool"]["uv"] == {
        "index": [own, {"url": "https://main", "default": True}],
        "find-links": ["/dist"],
        "no-index": True,
        "sources": {name: [{"index": "cu126", "extra": "cu126"}] for name in ("torch", "torchvision")},
    }
