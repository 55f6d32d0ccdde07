# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The Python that actions run, with the packages that the tooling needs."""

load("//build/rules:providers.bzl", "PythonToolInfo")
load("//build/rules/private:host_python.bzl", "PYTHON_VARIABLE", "run_tool")

_BUILD = """package(default_visibility = ["//visibility:public"])

exports_files(["runtime/bin/python"])

filegroup(
    name = "runtime",
    srcs = glob(["runtime/**"]),
)

# Scripts in bin/ hold the path of an interpreter, and RECORD their digests; nobody runs or reads them.
filegroup(
    name = "packages",
    srcs = glob(["site/**"], exclude = ["site/bin/**", "site/*.dist-info/RECORD", "**/__pycache__/**"]),
)
"""

def _python_tools_impl(ctx):
    ctx.path(Label("//build:pjrtwheel/bazel/copy_runtime.py"))  # another copy when this changes
    run_tool(ctx, "bazel.copy_runtime", ["--output", "runtime"])
    requirements = ctx.path(ctx.attr.requirements)
    run_tool(ctx, "fetch.wheelhouse", ["--requirements", str(requirements), "--output", "site"])
    ctx.file("BUILD.bazel", _BUILD, executable = False)

python_tools = repository_rule(
    implementation = _python_tools_impl,
    doc = "A copy of an interpreter of this machine, and hash-pinned packages installed for it by its own pip.",
    attrs = {"requirements": attr.label(mandatory = True, doc = "Requirements with hashes.")},
    environ = [PYTHON_VARIABLE, "PJRTWHEEL_PYTHON_CHANGED"],
)

def _python_tool_impl(ctx):
    interpreter = ctx.file.interpreter
    site = interpreter.owner.workspace_root + "/site"
    roots = ["build"] + ([site] if ctx.files.packages else [])
    return PythonToolInfo(
        environment = {
            # Before the path that was linked into the interpreter, which leads to where it was installed.
            "LD_LIBRARY_PATH": interpreter.dirname.rsplit("/", 1)[0] + "/lib",
            "PJRTWHEEL_MARKED": "1",  # errors in the form that `pjrtwheel.bazel` finds again in Bazel's output
            "PYTHONPATH": ":".join(roots),
        },
        inputs = depset([interpreter] + ctx.files.runtime + ctx.files.srcs + ctx.files.packages),
        interpreter = interpreter,
    )

python_tool = rule(
    implementation = _python_tool_impl,
    doc = "What an action needs to run `python -m <module of srcs>`.",
    attrs = {
        "interpreter": attr.label(allow_single_file = True, mandatory = True, doc = "The Python to run, in bin/."),
        "packages": attr.label_list(allow_files = True, doc = "Installed packages of the same repository as the interpreter."),
        "runtime": attr.label_list(allow_files = True, doc = "What the interpreter needs: its libraries in lib/, and the standard library."),
        "srcs": attr.label_list(allow_files = [".py", ".in"], mandatory = True, doc = "Modules below build/, and their templates."),
    },
)
