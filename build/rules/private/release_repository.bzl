# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The repository with what the graph is laid out by: release, backends, platforms, files of the tooling."""

load("//build/rules/private:host_python.bzl", "PYTHON_VARIABLE", "build_directory", "run_tool")

RELEASE_VARIABLE = "PJRTWHEEL_RELEASE"
BACKENDS_VARIABLE = "PJRTWHEEL_BACKENDS"

# Packages below packages of the tooling; Starlark has neither recursion nor loops without an end.
_DEPTH = 5

def _watch_tooling(ctx, build):
    """Makes Bazel run the rule again when a module changes: its imports decide which files an action needs."""
    folders = [build.get_child("pjrtwheel")]
    for _ in range(_DEPTH):
        entries = [entry for folder in folders for entry in folder.readdir()]
        for entry in entries:
            if entry.basename.endswith(".py"):
                ctx.path(Label("//build:" + str(entry)[len(str(build)) + 1:]))
        folders = [entry for entry in entries if entry.get_child("__init__.py").exists]
    if folders:
        fail("packages below {}, too deep to be watched: raise _DEPTH".format(folders[0]))

def _watch_backends(ctx, plugins):
    """Makes Bazel run the rule again when a backend.toml changes; that one was added is seen in BACKENDS_VARIABLE."""
    for folder in plugins.readdir():
        if folder.get_child("backend.toml").exists and folder.get_child("BUILD.bazel").exists:
            ctx.path(Label("//plugins/{}:backend.toml".format(folder.basename)))

def _release_repository_impl(ctx):
    build = build_directory(ctx)
    _watch_tooling(ctx, build)
    _watch_backends(ctx, build.dirname.get_child("plugins"))
    version = ctx.os.environ.get(RELEASE_VARIABLE, "")
    found = json.decode(run_tool(ctx, "bazel.repositories", [
        "--root=" + str(build.dirname),
        "--release=" + version,
    ]))
    lines = ['"""What the graph is laid out by; written by a repository rule."""']
    lines += ["{} = {}".format(name, repr(value)) for name, value in found.items()]
    ctx.file("release.bzl", "\n\n".join(lines) + "\n", executable = False)
    release_file = ctx.path(Label("//releases:{}.toml".format(found["RELEASE"]["version"])))
    ctx.file("release.toml", ctx.read(release_file), executable = False)
    ctx.file("BUILD.bazel", 'exports_files(["release.toml"], visibility = ["//visibility:public"])\n', executable = False)

release_repository = repository_rule(
    implementation = _release_repository_impl,
    doc = """Writes release.bzl, whose constants describe the chosen release, all backends and their platforms.

The release is that of PJRTWHEEL_RELEASE, by default the newest. Starlark cannot read TOML: the tooling does.""",
    environ = [RELEASE_VARIABLE, BACKENDS_VARIABLE, PYTHON_VARIABLE],
)
