# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Implementation of //build/rules:xla.bzl."""

load("@bazel_tools//tools/build_defs/repo:git.bzl", "git_repository")
load("//build/rules/private:host_python.bzl", "format_error")
load("//build/rules/private:xla_steps.bzl", "JAX_LOCKS", "LOCKS", "STEPS", "XLA_LOCKS")

PROVIDER_VARIABLE = "PJRTWHEEL_PROVIDER"
OWN_VARIABLE = "PJRTWHEEL_XLA"
WHEEL_VARIABLE = "ML_WHEEL_TYPE"  # JAX's own: set where its wheels are built

# Two declare the archives.
STEP_COUNT = 2 + len(STEPS)

_HEADER = '"""A step of XLA\'s WORKSPACE, or nothing; written by a repository rule."""\n\n'

# What JAX pins, XLA among it, is in its own tree. A commit of git is a digest of all that is in it.
_JAX = """git_repository(
        name = "jax",
        commit = "{commit}",
        remote = "https://github.com/jax-ml/jax",
    )"""

# A mirror first, as JAX has it.
_TOOLCHAIN = """http_archive(
        name = "rules_ml_toolchain",
        sha256 = "{sha256}",
        strip_prefix = "rules_ml_toolchain-{commit}",
        urls = [
            prefix + "github.com/google-ml-infra/rules_ml_toolchain/archive/{commit}.tar.gz"
            for prefix in ["https://storage.googleapis.com/mirror.tensorflow.org/", "https://"]
        ],
    )"""

def render_step(loads, calls):
    """Returns the text of a .bzl file with one function `step`.

    Args:
        loads: Label to list of symbols.
        calls: Expressions to evaluate; there may be none.
    """
    lines = [
        "load({})\n".format(", ".join(['"{}"'.format(text) for text in [label] + symbols]))
        for label, symbols in loads.items()
    ]
    body = ["    {}\n".format(call) for call in calls or ["pass"]]
    return _HEADER + "".join(lines + ["\n"] if lines else []) + "def step():\n" + "".join(body)

def check_revision(release, pinned, commit, sha256):
    """Fails unless JAX's own tree names the XLA that the release was pinned with.

    Args:
        release: The JAX release.
        pinned: Commit of XLA, and digest of its archive, that releases/xla.toml has for it.
        commit: The one that JAX's tree names.
        sha256: Its digest there.
    """
    if (commit, sha256) != pinned:
        fail(format_error(3, "\n".join([
            "JAX {} was built from another XLA than is pinned for it".format(release),
            "its own tree names {} ({}), releases/xla.toml has {} ({})".format(commit, sha256, *pinned),
            "correct that file, and pin it again: ./noxw pin " + release,
        ])))

def replace_xla(pinned, commit, patches):
    """Declares another @xla than JAX did, from git: a commit is a digest of all that is in it.

    Args:
        pinned: The commit that JAX declared.
        commit: The one to take instead, without JAX's patches; empty to keep both.
        patches: Labels of further patches.
    """
    declared = {} if commit else native.existing_rule("xla") or {}
    jax_patches = ["@jax" + patch if patch.startswith("//") else patch for patch in declared.get("patch_file", [])]
    git_repository(
        name = "xla",
        commit = commit or pinned,
        patch_args = ["-p1"],
        patches = jax_patches + patches,
        remote = "https://github.com/openxla/xla",
    )

def _archives(attr, own):
    """Returns the steps that declare what all others load from: JAX, its toolchains, and XLA with JAX's patches."""
    if not attr.toolchain_commit or not attr.toolchain_sha256:
        fail(format_error(3, "\n".join([
            "no rules_ml_toolchain is known for the XLA of release {}".format(attr.release),
            "releases/xla.toml has no toolchain_commit and toolchain_sha256 for it",
            "add those that JAX's own tree names at that release, and pin it again: ./noxw pin " + attr.release,
        ])))
    declared = struct(
        loads = {
            "@bazel_tools//tools/build_defs/repo:git.bzl": ["git_repository"],
            "@bazel_tools//tools/build_defs/repo:http.bzl": ["http_archive"],
        },
        calls = [
            _JAX.format(commit = attr.jax_commit),
            _TOOLCHAIN.format(commit = attr.toolchain_commit, sha256 = attr.toolchain_sha256),
        ],
    )
    xla = struct(
        loads = {
            "@jax//third_party/xla:revision.bzl": ["XLA_COMMIT", "XLA_SHA256"],
            "@jax//third_party/xla:workspace.bzl": ["repo"],
            "@//build/rules/private:xla_repository.bzl": ["check_revision", "replace_xla"],
        },
        calls = [
            "check_revision({}, XLA_COMMIT, XLA_SHA256)".format(
                ", ".join([repr(attr.release), repr((attr.commit, attr.sha256))]),
            ),
            "repo()",
        ] + own,
    )
    return [declared, xla]

def _take_patches(ctx, own):
    """Copies the user's patches, under names that have their digests, and returns the step that declares the user's own XLA."""
    if not own:
        return []
    for path, name in own["patches"].items():
        ctx.file(name, ctx.read(path), executable = False)
    patches = ["@xla_steps//:" + name for name in own["patches"].values()]
    return ["replace_xla({}, {}, {})".format(repr(ctx.attr.commit), repr(own["commit"]), repr(patches))]

def _xla_steps_impl(ctx):
    steps = [struct(loads = {}, calls = [])] * STEP_COUNT
    if ctx.os.environ.get(PROVIDER_VARIABLE) == "source":
        # Bazel 4 has no version here either, but builds no XLA: only a stub of it.
        if not native.bazel_version and hasattr(native, "module_name"):
            fail(format_error(5, "\n".join([
                "this Bazel cannot build XLA: it does not tell rules its version",
                "without it they take it for Bazel 9; Debian's packages are built so",
                "install bazelisk (npm install -g @bazel/bazelisk), or name a Bazel in the variable BAZEL",
            ])))
        own = json.decode(ctx.os.environ.get(OWN_VARIABLE, "") or "{}")
        steps = _archives(ctx.attr, _take_patches(ctx, own)) + STEPS
    locks = repr(JAX_LOCKS if ctx.os.environ.get(WHEEL_VARIABLE) else XLA_LOCKS)
    for number, step in enumerate(steps):
        text = render_step(step.loads, step.calls).replace(LOCKS, locks)
        ctx.file("step{}.bzl".format(number), text, executable = False)
    ctx.file("BUILD.bazel", "", executable = False)

xla_steps = repository_rule(
    implementation = _xla_steps_impl,
    doc = """Writes step0.bzl, step1.bzl ...: what XLA wants a WORKSPACE to load and call.

A load() cannot be conditional, so the choice is made here: unless PJRTWHEEL_PROVIDER is `source` every step is empty,
neither @jax nor @xla is declared, and nothing of them is fetched. PJRTWHEEL_XLA has the commit and the patches of a
user's own XLA; --override_repository=xla=PATH puts another tree in the place of one.""",
    attrs = {
        "commit": attr.string(mandatory = True, doc = "Commit of XLA."),
        "jax_commit": attr.string(mandatory = True, doc = "Commit of JAX."),
        "release": attr.string(mandatory = True, doc = "The JAX release."),
        "sha256": attr.string(mandatory = True, doc = "Digest of that commit's source archive."),
        "toolchain_commit": attr.string(doc = "Commit of rules_ml_toolchain that goes with it, if known."),
        "toolchain_sha256": attr.string(doc = "Digest of that commit's source archive, if known."),
    },
    environ = [OWN_VARIABLE, PROVIDER_VARIABLE, WHEEL_VARIABLE],
)

def _xla_license_impl(ctx):
    ctx.symlink(ctx.attr.file, "LICENSE")
    ctx.file("BUILD.bazel", 'exports_files(["LICENSE"], visibility = ["//visibility:public"])\n', executable = False)

# XLA's own package does not export the file.
xla_license = repository_rule(
    implementation = _xla_license_impl,
    doc = "XLA's licence, as @<name>//:LICENSE.",
    attrs = {"file": attr.label(allow_single_file = True, default = "@xla//:LICENSE", doc = "The file in XLA's tree.")},
)
