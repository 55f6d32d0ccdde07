# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Source mode, held to what the trees of XLA and JAX say (`tests/data/xla_facts.toml`); it needs none of them."""

import json
import re
import tomllib
from types import SimpleNamespace
from typing import Any

import pytest

from pjrtwheel.pin import XLA_FILE
from release_under_test import BACKENDS, ROOT

FACTS = tomllib.loads((ROOT / "tests/data/xla_facts.toml").read_text("utf-8"))
RELEASES = tomllib.loads((ROOT / XLA_FILE).read_text("utf-8"))
XLA = {"release": "1.2.3", "commit": "c0ffee", "sha256": "ab", "jax_commit": "beef"}
XLA |= {"toolchain_commit": "cafe", "toolchain_sha256": "cd"}


def run_starlark(name: str, **given: object) -> dict[str, Any]:
    """Return what a file of rules defines: Starlark is Python, but for its built-in names."""
    names: dict[str, Any] = {"struct": SimpleNamespace, "load": lambda *_: None, **given}
    exec((ROOT / "build/rules/private" / name).read_text("utf-8"), names)  # noqa: S102 - our own file
    return names


def refuse(text: str) -> None:
    """Do what Starlark's `fail` does."""
    raise ValueError(text)


def write_steps(bazel_version: str, environ: dict[str, str] | None = None, **attributes: str) -> dict[str, str]:
    """Return the files that the rule of the steps writes under some Bazel, with some variables."""
    rules = run_starlark(
        "xla_repository.bzl",
        **run_starlark("xla_steps.bzl"),
        attr=SimpleNamespace(string=lambda **_: None, label=lambda **_: None),
        fail=refuse,
        json=SimpleNamespace(decode=json.loads),
        format_error=lambda status, text: f"{status}: {text}",
        native=SimpleNamespace(bazel_version=bazel_version, module_name=None),
        repository_rule=lambda **_: None,
    )
    files: dict[str, str] = {}
    context = SimpleNamespace(
        attr=SimpleNamespace(**(XLA | attributes)),
        file=lambda path, text, **_: files.update({path: text}),
        os=SimpleNamespace(environ={"PJRTWHEEL_PROVIDER": "source", **(environ or {})}),
        read=lambda path: f"text of {path}",
    )
    rules["_xla_steps_impl"](context)
    return files


@pytest.mark.parametrize("commit", FACTS)
def test_steps_load_what_is_there(commit: str) -> None:
    """Each label and symbol that a step loads, of the trees that were read, is in XLA's, JAX's or the toolchain's."""
    facts = FACTS[commit]
    text = "".join(text for path, text in write_steps("7.7.0").items() if path.startswith("step"))
    loads = re.findall(r'^load\("(@\w+)//([^"]+)", (.+)\)$', text, re.MULTILINE)
    found = {f"{repository}//{path}": re.findall(r'"(\w+)"', names) for repository, path, names in loads}
    known = {f"@{name}" for name in facts["trees"]} | {label.split("//")[0] for label in facts["loaded_by_xla"]}
    assert {label: names for label, names in found.items() if label.split("//")[0] in known} == {
        **facts["symbols"], **facts["loaded_by_xla"],
    }  # fmt: skip


def test_workspace_calls_each_step() -> None:
    """A step that is written and not called would leave a repository undeclared."""
    called = re.findall(r"^(step\d+)\(\)$", (ROOT / "WORKSPACE").read_text("utf-8"), re.MULTILINE)
    assert [f"{name}.bzl" for name in called] == [path for path in write_steps("7.7.0") if path.startswith("step")]


def test_backends_build_what_jax_ships() -> None:
    """The target and all that it exports: XLA's own GPU plugin would lack Mosaic GPU."""
    built = {entry.source.label: list(entry.exports) for entry in BACKENDS.values() if entry.source}
    (exports,) = (facts["exports"] for facts in FACTS.values() if "exports" in facts)
    assert built == exports


def test_what_no_header_exports_is_compiled_to_be_visible() -> None:
    """Hidden, it is not in the library, whatever the version script says: the first real build had no entry point."""
    (unmarked,) = (facts["unmarked"] for facts in FACTS.values() if "unmarked" in facts)
    shown: dict[str, list[bool]] = {}
    for name, entry in BACKENDS.items():
        text = (ROOT / "plugins" / name / "xla.bazelrc").read_text("utf-8") if entry.source else ""
        files = re.findall(r"--per_file_copt=(\S+)@-fvisibility=default$", text, re.MULTILINE)
        if entry.source and entry.source.label in unmarked:
            shown[entry.source.label] = [bool(re.fullmatch(file, unmarked[entry.source.label])) for file in files]
    assert shown == {label: [True] for label in unmarked}


def test_bindings_and_kernels_are_built_from_what_is_there() -> None:
    """JAX's target for jaxlib, all modules of kernels, and the lock files of the packages that the tools need."""
    used = [label for entry in BACKENDS.values() if entry.kernels for label in entry.kernels.source]
    rules = [
        *write_steps("7.7.0", {"ML_WHEEL_TYPE": "release"}).values(),
        (ROOT / "build/rules/private/bindings.bzl").read_text("utf-8"),
    ]
    used += re.findall(r"[\"'](@jax//[^\"':]+:(?:requirements_lock_\w+\.txt|\w+_wheel))[\"']", "".join(rules))
    assert "@jax//build:requirements" not in "".join(write_steps("7.7.0").values())
    (labels,) = (facts["labels"] for facts in FACTS.values() if "labels" in facts)
    assert set(used) == set(labels)


def test_settings_are_known_where_they_are_set() -> None:
    """Each setting, variable and definition is read, or set as well, by a file of a tree."""
    known = {name for facts in FACTS.values() for name in facts["settings"]}
    text = "".join(path.read_text("utf-8") for path in ROOT.glob("*/*/xla.bazelrc"))
    text += "".join(f"--repo_env={entry.source.chips}" for entry in BACKENDS.values() if entry.source)
    assert set(re.findall(r"--(?:(?:repo_env|action_env|define)=|copt=-D)?(@[^\s=]+|(?<=[=D])\w+)", text)) == known


def test_chips_that_are_promised_are_built_for() -> None:
    """Where a variable names them, and the backend's own table does."""
    texts = {path.parent.name: path.read_text("utf-8") for path in ROOT.glob("plugins/*/xla.bazelrc")}
    chips = {name: found for name, text in texts.items() if (found := re.findall(r"AMDGPU_TARGETS=(\S+)", text))}
    promised = {name: set((BACKENDS[name].select or {})["supported"]) for name in chips}
    assert promised
    assert not any(wanted - set(chips[name][0].split(",")) for name, wanted in promised.items())


@pytest.mark.parametrize("release", [name for name, entry in RELEASES.items() if entry["commit"] in FACTS])
def test_releases_say_what_the_trees_say(release: str) -> None:
    """A verified XLA is one that JAX's own tree names; JAX's Bazel counts, and XLA's where that is not known."""
    stated, facts = RELEASES[release], FACTS[RELEASES[release]["commit"]]
    assert stated["verified"] is ("jax" in facts)
    assert stated["bazel"] == facts["bazel"].get("@jax//.bazelversion", stated["bazel"])
    assert stated["toolchain_commit"] == facts["toolchain"]


def test_a_bazel_that_does_not_tell_its_version_is_refused() -> None:
    """As Debian's 7.7.1: rules of XLA's take it for Bazel 9, and fail by a load that is not there."""
    with pytest.raises(ValueError, match=r"^5: this Bazel cannot build XLA: it does not tell rules its version\n"):
        write_steps("")


def test_archives_have_mirrors_and_toolchains_are_known() -> None:
    """JAX declares XLA, with its patches and mirrors; what it pins in its WORKSPACE we declare ourselves."""
    (first, second) = list(write_steps("7.7.0").values())[:2]
    assert 'commit = "beef"' in first
    assert "mirror.tensorflow.org" in first
    assert "check_revision('1.2.3', ('c0ffee', 'ab'), XLA_COMMIT, XLA_SHA256)\n    repo()\n" in second
    with pytest.raises(ValueError, match=r"^3: no rules_ml_toolchain is known"):
        write_steps("7.7.0", toolchain_commit="")


def test_an_xla_of_ones_own_takes_the_place_of_jaxs() -> None:
    """At another commit without JAX's patches, else with them; the user's come last, as copies that Bazel watches."""
    patches = {"/a fix.patch": "ab-a_fix.patch"}
    files = write_steps("7.7.0", {"PJRTWHEEL_XLA": json.dumps({"commit": "f00d", "patches": patches})})
    assert files["ab-a_fix.patch"] == "text of /a fix.patch"
    last = list(files.values())[2].splitlines()[-1]
    declared: list[dict[str, Any]] = []
    jax = {"xla": {"patch_file": ["//third_party/xla:b.patch"]}}
    rules = run_starlark(
        "xla_repository.bzl",
        STEPS=(),
        attr=SimpleNamespace(string=lambda **_: None, label=lambda **_: None),
        git_repository=lambda **given: declared.append(given),
        native=SimpleNamespace(existing_rule=jax.get),
        repository_rule=lambda **_: None,
    )
    eval(last, rules)  # noqa: S307 - our own file
    rules["replace_xla"]("c0ffee", "", ["@xla_steps//:c.patch"])
    assert [(given["commit"], given["patches"]) for given in declared] == [
        ("f00d", ["@xla_steps//:ab-a_fix.patch"]),
        ("c0ffee", ["@jax//third_party/xla:b.patch", "@xla_steps//:c.patch"]),
    ]
