# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Implementation of //build/rules:xla.bzl."""

load("//build/rules/private:host_python.bzl", "format_error")
load("//build/rules/private:xla_steps.bzl", "STEPS")

PROVIDER_VARIABLE = "PJRTWHEEL_PROVIDER"

_HEADER = '"""A step of XLA\'s WORKSPACE, or nothing; written by a repository rule."""\n\n'

_ARCHIVE = """http_archive(
        name = "{name}",
        sha256 = "{sha256}",
        strip_prefix = "{name}-{commit}",
        urls = ["https://github.com/{owner}/{name}/archive/{commit}.tar.gz"],
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

def _archives(attr):
    if not attr.toolchain_commit or not attr.toolchain_sha256:
        fail(format_error(3, "\n".join([
            "no rules_ml_toolchain is known for the XLA of release {}".format(attr.release),
            "releases/xla.toml has no toolchain_commit and toolchain_sha256 for it",
            "add those that JAX's own tree names at that release, and pin it again: ./noxw pin " + attr.release,
        ])))
    return struct(
        loads = {"@bazel_tools//tools/build_defs/repo:http.bzl": ["http_archive"]},
        calls = [
            _ARCHIVE.format(name = "xla", owner = "openxla", commit = attr.commit, sha256 = attr.sha256),
            _ARCHIVE.format(
                name = "rules_ml_toolchain",
                owner = "google-ml-infra",
                commit = attr.toolchain_commit,
                sha256 = attr.toolchain_sha256,
            ),
        ],
    )

def _xla_steps_impl(ctx):
    steps = [struct(loads = {}, calls = [])] * (1 + len(STEPS))
    if ctx.os.environ.get(PROVIDER_VARIABLE) == "source":
        steps = [_archives(ctx.attr)] + STEPS
    for number, step in enumerate(steps):
        ctx.file("step{}.bzl".format(number), render_step(step.loads, step.calls), executable = False)
    ctx.file("BUILD.bazel", "", executable = False)

xla_steps = repository_rule(
    implementation = _xla_steps_impl,
    doc = """Writes step0.bzl, step1.bzl ...: what XLA wants a WORKSPACE to load and call.

A load() cannot be conditional, so the choice is made here: unless PJRTWHEEL_PROVIDER is `source` every step is empty,
@xla is never declared and nothing of it is fetched. --override_repository=xla=PATH puts another tree in its place.""",
    attrs = {
        "commit": attr.string(mandatory = True, doc = "Commit of XLA."),
        "release": attr.string(mandatory = True, doc = "The JAX release."),
        "sha256": attr.string(mandatory = True, doc = "Digest of that commit's source archive."),
        "toolchain_commit": attr.string(doc = "Commit of rules_ml_toolchain that goes with it, if known."),
        "toolchain_sha256": attr.string(doc = "Digest of that commit's source archive, if known."),
    },
    environ = [PROVIDER_VARIABLE],
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
