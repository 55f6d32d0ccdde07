# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The repository that tells the graph which release is built."""

load("//build/rules/private:host_python.bzl", "PYTHON_VARIABLE", "run_tool", "workspace_root")

RELEASE_VARIABLE = "PJRTWHEEL_RELEASE"

def _release_repository_impl(ctx):
    # Naming the files makes Bazel run the rule again when one of them changes.
    for label in ctx.attr.sources:
        ctx.path(label)
    version = ctx.os.environ.get(RELEASE_VARIABLE, "")
    root = workspace_root(ctx)
    text = run_tool(ctx, "bazel.release_bzl", ["--root", str(root), "--release", version])
    ctx.file("release.bzl", text, executable = False)
    version = [line for line in text.splitlines() if line.startswith("    \"version\": ")][0].split("\"")[3]
    release_file = ctx.path(Label("//releases:{}.toml".format(version)))
    ctx.file("release.toml", ctx.read(release_file), executable = False)
    ctx.file("BUILD.bazel", 'exports_files(["release.toml"], visibility = ["//visibility:public"])\n', executable = False)

release_repository = repository_rule(
    implementation = _release_repository_impl,
    doc = "Reads releases/<PJRTWHEEL_RELEASE>.toml, by default that of the newest release, into release.bzl.",
    attrs = {
        "sources": attr.label_list(
            default = ["//build:pjrtwheel/release/model.py", "//build:pjrtwheel/bazel/release_bzl.py"],
            doc = "Files that decide what the release file means.",
        ),
    },
    environ = [RELEASE_VARIABLE, PYTHON_VARIABLE],
)
