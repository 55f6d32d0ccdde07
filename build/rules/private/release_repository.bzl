# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The repository that tells the graph which release is built, and which files of the tooling its actions need."""

load("//build/rules/private:host_python.bzl", "PYTHON_VARIABLE", "build_directory", "run_tool")

RELEASE_VARIABLE = "PJRTWHEEL_RELEASE"

# Folders below folders of the tooling; Starlark has neither recursion nor loops without an end.
_DEPTH = 4

_BZL = """\"\"\"The release that was chosen, and the files of the tooling by the action; written by a repository rule.\"\"\"

RELEASE = {}

SOURCES = {}
"""

def _watch_tooling(ctx, build):
    """Makes Bazel run the rule again when a module changes: its imports decide which files an action needs."""
    folders = [build.get_child("pjrtwheel")]
    for _ in range(_DEPTH):
        entries = [entry for folder in folders for entry in folder.readdir()]
        for entry in entries:
            if entry.basename.endswith(".py"):
                ctx.path(Label("//build:" + str(entry)[len(str(build)) + 1:]))
        folders = [entry for entry in entries if "." not in entry.basename and entry.basename != "__pycache__"]

def _release_repository_impl(ctx):
    build = build_directory(ctx)
    _watch_tooling(ctx, build)
    version = ctx.os.environ.get(RELEASE_VARIABLE, "")
    found = json.decode(run_tool(ctx, "bazel.repositories", [
        "release",
        "--root=" + str(build.dirname),
        "--release=" + version,
    ]))
    ctx.file("release.bzl", _BZL.format(repr(found["release"]), repr(found["sources"])), executable = False)
    release_file = ctx.path(Label("//releases:{}.toml".format(found["release"]["version"])))
    ctx.file("release.toml", ctx.read(release_file), executable = False)
    ctx.file("BUILD.bazel", 'exports_files(["release.toml"], visibility = ["//visibility:public"])\n', executable = False)

release_repository = repository_rule(
    implementation = _release_repository_impl,
    doc = "Reads releases/<PJRTWHEEL_RELEASE>.toml, by default that of the newest release, into release.bzl.",
    environ = [RELEASE_VARIABLE, PYTHON_VARIABLE],
)
