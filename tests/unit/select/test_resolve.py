# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The registry of resolvers: those that are shipped, and those of others."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from jaxlib_select.choose.decision import Candidate, Decision
from jaxlib_select.choose.policy import read_policy
from jaxlib_select.choose.resolve import Resolver, find_resolver, resolve
from jaxlib_select.errors import FactsError, PolicyError, ResolverError, UsageError
from jaxlib_select.machine.model import Machine
from machines import L4, PLAIN

InstallResolver = Callable[[str, str], None]


@pytest.fixture
def install_resolver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InstallResolver:
    """Return a function: package and source of its resolver → a distribution on the path that brings it."""

    def install(package: str, source: str) -> None:
        module = f"{package}_select"
        sys.modules.pop(module, None)  # of another test
        (tmp_path / f"{module}.py").write_text(source, "utf-8")
        folder = tmp_path / f"{module}-1.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1\n", "utf-8")
        entry_points = f"[jaxlib_select.resolvers]\n{package} = {module}:RESOLVER\n"
        (folder / "entry_points.txt").write_text(entry_points, "utf-8")
        monkeypatch.syspath_prepend(str(tmp_path))

    return install


def test_the_resolver_in_the_readme_works(root: Path, install_resolver: InstallResolver) -> None:
    """Ten lines of a third party decide about its package, under the same policy as all others."""
    text = (root / "selector/README.md").read_text("utf-8")
    (source,) = re.findall(r"```python\n(# cupy_select.py\n.*?)```", text, re.DOTALL)
    install_resolver("cupy", source)
    assert len([line for line in source.splitlines() if line.strip() and not line.startswith("#")]) <= 10
    assert resolve("cupy", L4).to_json() == {
        "package": "cupy-cuda13x",
        "backend": "cuda13",
        "requirements": ["cupy-cuda13x"],
        "constraints": [],
        "index_url": None,
        "warnings": [],
        "environment": {},
        "hidden": [],
        "candidates": [
            {"backend": "cuda13", "chosen": True, "reason": "needs a GPU and CUDA 13"},
            {"backend": "cpu", "chosen": False, "reason": "always works"},
        ],
    }
    assert resolve("CuPy", L4, read_policy(["cupy=cpu"], {}, None)).package == "numpy"
    assert resolve("cupy==14.0.1", L4).requirements == ("cupy-cuda13x==14.0.1",)
    mute = replace(L4, nvidia=replace(L4.nvidia, cuda=None))
    for machine in (PLAIN, mute):  # a driver may not state its version
        assert resolve("cupy==14.0.1", machine).requirements == ("numpy",)
        forced = resolve("cupy", machine, read_policy(["cupy=cuda13"], {}, None))
        assert (forced.package, forced.warnings) == ("cupy-cuda13x", ("there is no GPU with CUDA 13 here",))
        with pytest.raises(PolicyError, match="an accelerator is required for cupy"):
            resolve("cupy", machine, read_policy(["require-gpu"], {}, None))
    with pytest.raises(UsageError, match="unknown backend for cupy: 'rocm7'"):
        resolve("cupy", L4, read_policy(["rocm7"], {}, None))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("raise ImportError('no beads')", "the resolver of abacus cannot be loaded\nImportError: no beads"),
        ("RESOLVER = 5", "the resolver of abacus is a int, not a jaxlib_select.Resolver"),
        (
            "from jaxlib_select import Resolver\nRESOLVER = Resolver(lambda *_: 1 / 0)",
            "the resolver of abacus failed\nZeroDivisionError: division by zero",
        ),
        (
            "from jaxlib_select import Resolver\nRESOLVER = Resolver(lambda *_: 'cpu')",
            "the resolver of abacus returned str, not a Decision",
        ),
        (
            "from jaxlib_select import Resolver\nRESOLVER = Resolver(lambda *_: exit(0))",
            "the resolver of abacus failed\nSystemExit: 0",
        ),
        ("exit(0)", "the resolver of abacus cannot be loaded\nSystemExit: 0"),
        (
            "from jaxlib_select import Resolver\nRESOLVER = Resolver(lambda *_: 0, backends=lambda: 1 / 0)",
            "the resolver of abacus failed\nZeroDivisionError: division by zero",
        ),
        (
            "import jaxlib_select as s\ndef f(*_): raise ValueError('a\\nb\\n\\x1b[2J')\nRESOLVER = s.Resolver(f)",
            "the resolver of abacus failed\nValueError: a b ?[2J\nreport it to its author",
        ),
    ],
    ids=["import", "kind", "decide", "answer", "exit", "exit at import", "backends", "lines"],
)
def test_a_resolver_that_fails_is_named(source: str, message: str, install_resolver: InstallResolver) -> None:
    """Whatever a plug-in does, the user learns whose fault it is, and other packages are not disturbed."""
    install_resolver("abacus", source)
    with pytest.raises(ResolverError) as caught:
        resolve("abacus", PLAIN)
    assert str(caught.value).startswith(message)
    assert resolve("jax", PLAIN).package == "jaxlib-cpu"


BEADS = Candidate("beads", chosen=True, reason="always works")
BEAD = Decision("abacus", "beads", ("abacus",), (BEADS,))


@pytest.mark.parametrize(
    ("decision", "fault"),
    [
        (replace(BEAD, candidates=()), "without exactly one Candidate that is chosen"),
        (replace(BEAD, candidates=None), "without exactly one Candidate that is chosen"),  # type: ignore[arg-type]
        (replace(BEAD, candidates=(BEADS, BEADS)), "without exactly one Candidate that is chosen"),
        (replace(BEAD, environment=None), "whose environment is no mapping"),  # type: ignore[arg-type]
        (replace(BEAD, environment={"X": 1}), "with something else where strings belong"),  # type: ignore[dict-item]
        (replace(BEAD, requirements="abacus"), "with something else where strings belong"),  # type: ignore[arg-type]
        (replace(BEAD, requirements=(None,)), "with something else where strings belong"),  # type: ignore[arg-type]
        (replace(BEAD, index_url=5), "with something else where strings belong"),  # type: ignore[arg-type]
    ],
)
def test_a_decision_that_nobody_can_use_is_refused(
    decision: Decision, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is printed or installed by it."""
    monkeypatch.setattr("jaxlib_select.choose.resolve.find_resolver", lambda _: Resolver(lambda *_: decision))
    with pytest.raises(ResolverError) as caught:
        resolve("abacus", PLAIN)
    assert caught.value.what == f"the resolver of abacus returned a Decision {fault}"


def test_no_resolver_passes_over_a_gpu_that_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even one that has never heard of it."""
    candidates = (
        Candidate("beads", chosen=False, reason="no beads here"),
        Candidate("cpu", chosen=True, reason="always"),
    )
    decision = replace(BEAD, backend="cpu", candidates=candidates)
    monkeypatch.setattr("jaxlib_select.choose.resolve.find_resolver", lambda _: Resolver(lambda *_: decision))
    with pytest.raises(PolicyError) as caught:
        resolve("abacus", PLAIN, read_policy(["require-gpu"], {}, None))
    assert str(caught.value) == ("an accelerator is required for abacus, but none can be used\nbeads: no beads here")
    assert resolve("abacus", PLAIN, read_policy(["prefer-gpu"], {}, None)) is decision


@pytest.mark.parametrize("package", ["jax[cuda12]", "", "jax torch", "jax=1.2.3"])
def test_what_cannot_name_a_package_is_shown_as_it_was_written(package: str) -> None:
    """And what would be one."""
    with pytest.raises(UsageError) as caught:
        resolve(package, PLAIN)
    assert (caught.value.what, caught.value.remedy) == (
        f"not the name of a package: {package!r}",
        "expected NAME or NAME==VERSION",
    )


def test_what_a_resolver_says_in_our_words_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when its facts are damaged."""

    def complain() -> tuple[str, ...]:
        raise FactsError("damaged facts: abacus.json")

    monkeypatch.setattr(
        "jaxlib_select.choose.resolve.find_resolver", lambda _: Resolver(lambda *_: BEAD, backends=complain)
    )
    with pytest.raises(FactsError, match="damaged facts"):
        resolve("abacus", PLAIN)


def test_a_usable_decision_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists are as good as tuples."""
    decision = replace(BEAD, requirements=["abacus"], environment={"X": "1"})  # type: ignore[arg-type]
    monkeypatch.setattr("jaxlib_select.choose.resolve.find_resolver", lambda _: Resolver(lambda *_: decision))
    assert resolve("abacus", PLAIN) is decision


def test_an_unknown_package_lists_the_known_ones() -> None:
    """And says how others come in."""
    with pytest.raises(UsageError) as caught:
        resolve("tensorflow", PLAIN)
    assert caught.value.what == "no resolver knows the package 'tensorflow'"
    assert caught.value.remedy.startswith("known: jax, jaxlib, torch, torchaudio, torchvision")


def test_the_shipped_resolvers_are_registered_like_any_other(root: Path) -> None:
    """The entry points of our own distribution name what is found without looking them up."""
    text = (root / "selector/pyproject.toml").read_text("utf-8")
    for name in re.findall(r'^(\w+) = "jaxlib_select\.resolvers\.\w+:RESOLVER"$', text, re.MULTILINE):
        assert find_resolver(name).name == name
    assert text.count(":RESOLVER") == 2


def test_a_release_can_be_named() -> None:
    """A release of which nothing is known is refused, with those that are."""
    assert resolve("jax", PLAIN, release="1.2.3").requirements == ("jax==1.2.3", "jaxlib-cpu==1.2.3+split.1")
    assert resolve(" JAX == 1.2.3", PLAIN) == resolve("jax", PLAIN, release="1.2.3")
    assert resolve("jaxlib", PLAIN).requirements == ("jaxlib==1.2.3", "jaxlib-cpu==1.2.3+split.1")
    with pytest.raises(FactsError, match=r"nothing is known about JAX release '0\.4\.1'"):
        resolve("jax", PLAIN, release="0.4.1")


@pytest.mark.parametrize("machine", [Machine("linux", "aarch64"), Machine("darwin", "arm64")], ids=["arm", "macos"])
def test_where_the_cpu_has_no_wheel_of_ours_jax_has_its_own(machine: Machine) -> None:
    """Installers would not find ours."""
    decision = resolve("jax", machine)
    assert (decision.package, decision.requirements, len(decision.warnings)) == ("jaxlib-cpu", ("jax==1.2.3",), 1)


def test_a_decision_becomes_json() -> None:
    """The documented keys, in a form that JSON has."""
    document = json.loads(json.dumps(resolve("jax", L4).to_json()))
    assert {key: document[key] for key in ("package", "requirements", "constraints", "index_url", "warnings")} == {
        "package": "jaxlib-cuda-13",
        "requirements": ["jax==1.2.3", "jaxlib-cuda-13[with-cuda]==1.2.3+split.1"],
        "constraints": [],
        "index_url": None,
        "warnings": [],
    }
    assert document["candidates"][0] == {
        "backend": "cuda13",
        "chosen": True,
        "reason": "has code for L4 (compute capability 8.9), and the driver serves CUDA 13.0",
    }
