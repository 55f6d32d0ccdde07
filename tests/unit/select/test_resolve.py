# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The registry of resolvers: those that are shipped, and those of others."""

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from folders import write_dist_info
from jaxlib_select.choose.decision import Candidate, Decision
from jaxlib_select.choose.resolve import Resolver, resolve
from jaxlib_select.errors import FactsError, PolicyError, ResolverError, UsageError
from machines import L4, PLAIN
from select_commands import asked

InstallResolver = Callable[[str, str], None]


@pytest.fixture
def install_resolver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InstallResolver:
    """Return a function: package and source of its resolver → a distribution on the path that brings it."""

    def install(package: str, source: str) -> None:
        module = f"{package}_select"
        sys.modules.pop(module, None)  # of another test
        (tmp_path / f"{module}.py").write_text(source, "utf-8")
        entry_points = f"[jaxlib_select.resolvers]\n{package} = {module}:RESOLVER\n"
        write_dist_info(tmp_path, module, "1", entry_points=entry_points)
        monkeypatch.syspath_prepend(str(tmp_path))

    return install


def test_the_resolver_in_the_readme_works(root: Path, install_resolver: InstallResolver) -> None:
    """Ten lines of a third party decide about its package, under the same policy as all others."""
    text = (root / "selector/README.md").read_text("utf-8")
    (source,) = re.findall(r"```python\n(# cupy_select.py\n.*?)```", text, re.DOTALL)
    install_resolver("cupy", source)
    assert len([line for line in source.splitlines() if line.strip() and not line.startswith("#")]) <= 10
    decision = resolve("cupy", L4)
    assert (decision.package, decision.backend, decision.requirements) == ("cupy-cuda13x", "cuda13", ("cupy-cuda13x",))
    assert [(candidate.backend, candidate.chosen) for candidate in decision.candidates] == [
        ("cuda13", True),
        ("cpu", False),
    ]
    assert resolve("CuPy", L4, asked("cupy=cpu")).package == "numpy"
    assert resolve("cupy==14.0.1", L4).requirements == ("cupy-cuda13x==14.0.1",)
    for machine in (PLAIN, replace(L4, nvidia=replace(L4.nvidia, cuda=None))):  # a driver may not state its version
        assert resolve("cupy==14.0.1", machine).requirements == ("numpy",)
        forced = resolve("cupy", machine, asked("cupy=cuda13"))
        assert (forced.package, len(forced.warnings)) == ("cupy-cuda13x", 1)
        with pytest.raises(PolicyError):
            resolve("cupy", machine, asked("require-gpu"))
    with pytest.raises(UsageError, match="'rocm7'"):
        resolve("cupy", L4, asked("rocm7"))


RESOLVER = "from jaxlib_select import Resolver\nRESOLVER = Resolver"


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("raise ImportError('no beads')", "ImportError: no beads"),
        ("RESOLVER = 5", "int"),
        (f"{RESOLVER}(lambda *_: 'cpu')", "str"),
        (f"{RESOLVER}(lambda *_: exit(0))", "SystemExit: 0"),
        ("exit(0)", "SystemExit: 0"),
        (f"{RESOLVER}(lambda *_: 0, backends=lambda: 1 / 0)", "ZeroDivisionError: division by zero"),
        (f"def f(*_): raise ValueError('a\\nb\\n\\x1b[2J')\n{RESOLVER}(f)", "ValueError: a b ?[2J"),
    ],
    ids=["import", "kind", "answer", "exit", "exit at import", "backends", "lines"],
)
def test_a_resolver_that_fails_is_named(source: str, cause: str, install_resolver: InstallResolver) -> None:
    """Whatever a plug-in does, the user learns whose fault it is, and other packages are not disturbed."""
    install_resolver("abacus", source)
    with pytest.raises(ResolverError) as caught:
        resolve("abacus", PLAIN)
    assert ("abacus" in caught.value.what, cause in str(caught.value)) == (True, True)
    assert resolve("jax", PLAIN).package == "jaxlib-cpu"


BEADS = Candidate("beads", chosen=True, reason="always works")
BEAD = Decision("abacus", "beads", ("abacus",), (BEADS,))


@pytest.mark.parametrize("candidates", [(), None, (BEADS, BEADS)])
def test_a_decision_that_nobody_can_use_is_refused(candidates: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is printed or installed by it; lists are as good as tuples."""
    decisions = [replace(BEAD, candidates=candidates), replace(BEAD, requirements=["abacus"], environment={"X": "1"})]  # type: ignore[arg-type]
    resolver = Resolver(lambda *_: decisions.pop(0))
    monkeypatch.setattr("jaxlib_select.choose.resolve.find_resolver", lambda _: resolver)
    with pytest.raises(ResolverError, match="the resolver of abacus"):
        resolve("abacus", PLAIN)
    assert list(resolve("abacus", PLAIN).requirements) == ["abacus"]


def test_no_resolver_passes_over_a_gpu_that_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even one that has never heard of it."""
    beads = Candidate("beads", chosen=False, reason="no beads here")
    decision = replace(BEAD, backend="cpu", candidates=(beads, Candidate("cpu", chosen=True, reason="always")))
    monkeypatch.setattr("jaxlib_select.choose.resolve.find_resolver", lambda _: Resolver(lambda *_: decision))
    with pytest.raises(PolicyError, match=r"abacus(.|\n)*beads: no beads here"):
        resolve("abacus", PLAIN, asked("require-gpu"))
    assert resolve("abacus", PLAIN, asked("prefer-gpu")) is decision


@pytest.mark.parametrize("package", ["jax[cuda12]", "", "jax torch", "jax=1.2.3"])
def test_what_cannot_name_a_package_is_shown_as_it_was_written(package: str) -> None:
    """Whatever it is."""
    with pytest.raises(UsageError, match=re.escape(repr(package))):
        resolve(package, PLAIN)


def test_what_a_resolver_says_in_our_words_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when its facts are damaged."""

    def complain() -> tuple[str, ...]:
        raise FactsError("damaged facts: abacus.json")

    resolver = Resolver(lambda *_: BEAD, backends=complain)
    monkeypatch.setattr("jaxlib_select.choose.resolve.find_resolver", lambda _: resolver)
    with pytest.raises(FactsError, match="damaged facts"):
        resolve("abacus", PLAIN)


def test_an_unknown_package_lists_the_known_ones() -> None:
    """And says how others come in."""
    with pytest.raises(UsageError, match=r"'tensorflow'\n.*jax, jaxlib, torch, torchaudio, torchvision"):
        resolve("tensorflow", PLAIN)


def test_a_release_can_be_named() -> None:
    """As the version of the package."""
    assert resolve("jax==1.2.3", PLAIN).requirements == ("jax==1.2.3", "jaxlib-cpu==1.2.3+split.1")
    assert resolve(" JAX == 1.2.3", PLAIN) == resolve("jax==1.2.3", PLAIN)
    assert resolve("jaxlib", PLAIN).requirements == ("jaxlib==1.2.3", "jaxlib-cpu==1.2.3+split.1")
