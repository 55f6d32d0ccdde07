# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A user's own XLA: what the options of `--xla source` do, and which of them are refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel import cli
from pjrtwheel.backend import find_backend
from pjrtwheel.bazel.invoke import BuildRequest, Invocation
from pjrtwheel.bazel.locate import Bazel
from pjrtwheel.bazel.source import AS_RELEASED, SourceOptions, describe_source, name_provider
from pjrtwheel.bazel.workspace import Workspace
from pjrtwheel.errors import UsageError
from pjrtwheel.files import hash_file
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.release.known import give_label
from pjrtwheel.release.wheels import make_lock
from release_under_test import ROOT, release_under_test

COMMIT = "0123456789abcdef" * 2 + "01234567"
Invoke = Callable[..., Invocation]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a tree of XLA, as far as one is known by its files, with a patch next to it."""
    (tmp_path / "xla/.git").mkdir(parents=True)
    (tmp_path / "xla/workspace0.bzl").write_text("", "utf-8")
    (tmp_path / "a fix.patch").write_text("--- a\n", "utf-8")
    return tmp_path / "xla"


@pytest.fixture
def invoke(root: Path) -> Invoke:
    """Return a function: options → how Bazel is run for a backend whose chips can be chosen."""

    def make(options: SourceOptions, pythons: tuple[str, ...] = ()) -> Invocation:
        backend, arm = find_backend(root, "cuda12"), PLATFORMS["linux_aarch64"]
        request = BuildRequest(root, release_under_test(), (backend,), arm, "source", source=options, pythons=pythons)
        return Invocation(request, Bazel("bazel", (7, 7, 1)), Workspace(root, Path("/c")), {})

    return make


def test_options_reach_bazel(invoke: Invoke, tree: Path) -> None:
    """As its own: another repository, a variable that XLA's rules read, a configuration, and what the user wrote."""
    patch = tree.with_name("a fix.patch")
    options = SourceOptions("", tree, (), ("sm_87", "compute_90"), debug_symbols=True, bazel_options=("--copt=-DX=1",))
    flags = invoke(options).build_flags()
    assert flags[flags.index("--config=xla_cuda12") + 1 : -2] == (
        f"--override_repository=xla={tree}",
        "--repo_env=HERMETIC_CUDA_COMPUTE_CAPABILITIES=sm_87,compute_90",
        "--config=xla_debug",
        "--copt=-DX=1",
    )
    assert flags[-2] == f"--//build:source_name={name_provider(options)}"
    assert json.loads(flags[-1].partition("=")[2]) == json.loads(json.dumps(describe_source(options)))
    assert "build:xla_debug " in (ROOT / "ci/bazelrc/xla.bazelrc").read_text("utf-8")
    bindings = invoke(SourceOptions(bazel_options=("--config=xla_bindings",)), pythons=("cp313",))
    commit = f"--@jax//jaxlib/tools:jaxlib_git_hash={bindings.request.release.commits['jaxlib']}"
    assert {"--repo_env=HERMETIC_PYTHON_VERSION=3.13", commit} <= set(bindings.build_flags())
    overridden = SourceOptions(bazel_options=("--override_repository=xla=/my/xla",))
    assert json.loads(invoke(overridden).build_flags()[-1].partition("=")[2])["overridden"] is True
    own = SourceOptions(COMMIT, patches=(patch,))
    given = json.loads(invoke(own).environment()["PJRTWHEEL_XLA"])
    assert given == {"commit": COMMIT, "patches": {str(patch): f"{hash_file(patch)}-a_fix.patch"}}
    assert invoke(AS_RELEASED).environment()["PJRTWHEEL_XLA"] == ""
    assert invoke(AS_RELEASED).build_flags()[-2:] == ("--//build:source_name=source", "--//build:source_options={}")


def test_each_option_is_in_the_lock(tree: Path) -> None:
    """By what files hold, wherever they are; what git keeps of a tree is none of it."""
    patch = tree.with_name("a fix.patch")
    several: list[dict[str, Any]] = [
        *({}, {"commit": COMMIT}, {"tree": tree}, {"patches": (patch,)}, {"patches": (patch, patch)}),
        *({"chips": ("sm_87",)}, {"debug_symbols": True}, {"bazel_options": ("--copt=-O3",)}),
    ]
    names = [name_provider(SourceOptions(**options)) for options in several]
    release = give_label(release_under_test(), "mine")
    locks = [make_lock(release, name) for name in names]
    assert len({lock.lock_id for lock in locks}) == len(several)
    assert {lock.version for lock in locks} == {f"{release.version}+mine.{release.build}"}
    assert names[0] == "source"
    before, moved = describe_source(SourceOptions(tree=tree)), tree.rename(tree.with_name("moved"))
    (moved / ".git/HEAD").touch()
    assert describe_source(SourceOptions(tree=moved)) == before
    (moved / "more.bzl").touch()
    assert describe_source(SourceOptions(tree=moved, debug_symbols=True))["tree"] != before["tree"]


SOURCE = ("--xla", "source", "--label", "mine")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--xla-commit", COMMIT], "--xla prebuilt"),
        (["--xla", "source", "--debug-symbols"], "a label of its own"),
        ([*SOURCE, "--xla-commit", COMMIT[:12]], repr(COMMIT[:12])),
        ([*SOURCE, "--xla-tree", "/no/tree"], "/no/tree"),
        ([*SOURCE, "--xla-patch", "/no/patch"], "/no/patch"),
        ([*SOURCE, "--xla-tree", "/", "--xla-patch", "/no/patch"], "--xla-tree"),
        ([*SOURCE, "--chips", "sm_87,,"], "''"),
        ([*SOURCE, "--chips", "sm_87"], "backend cpu"),
        ([*SOURCE, "--python", "all", "--bazel-option=--config=xla_bindings"], "one Python"),
        (["--label", "Mine"], "'Mine'"),
        (["--label", release_under_test().label], repr(release_under_test().label)),
        (["--label", "mine", "--set", "1.2.3"], "--label"),
    ],
)
def test_what_cannot_be_is_refused(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], named: str
) -> None:
    """Before Bazel is started, in at most three lines."""
    assert cli.main(["build", "cpu", "--root", str(root), "--dist", str(tmp_path), *options]) == UsageError.exit_code
    said = capsys.readouterr().err.partition("error: ")[2].splitlines()
    assert named in said[0]
    assert len(said) <= 3
