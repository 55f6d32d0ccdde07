# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The Python that actions run, with the packages that the tooling needs."""

load("//build/rules:providers.bzl", "PythonToolInfo")
load("//build/rules/private:host_python.bzl", "PYTHON_VARIABLE", "find_python", "run_tool")

_BUILD = """package(default_visibility = ["//visibility:public"])

exports_files(["python"])

# Scripts in bin/ hold the path of the interpreter; nobody runs them.
filegroup(
    name = "packages",
    srcs = glob(["site/**"], exclude = ["site/bin/**", "**/__pycache__/**"]),
)
"""

def _python_tools_impl(ctx):
    ctx.symlink(find_python(ctx)["base"], "python")
    requirements = ctx.path(ctx.attr.requirements)
    run_tool(ctx, "fetch.wheelhouse", ["--requirements", str(requirements), "--output", "site"])
    ctx.file("BUILD.bazel", _BUILD, executable = False)

python_tools = repository_rule(
    implementation = _python_tools_impl,
    doc = "An interpreter of this machine, and hash-pinned packages installed for it by its own pip.",
    attrs = {"requirements": attr.label(mandatory = True, doc = "Requirements with hashes.")},
    environ = [PYTHON_VARIABLE],
)

def _python_tool_impl(ctx):
    interpreter = ctx.file.interpreter
    roots = ["build"] + ([interpreter.dirname + "/site"] if ctx.files.packages else [])
    return PythonToolInfo(
        inputs = depset([interpreter] + ctx.files.srcs + ctx.files.packages),
        interpreter = interpreter,
        pythonpath = ":".join(roots),
    )

python_tool = rule(
    implementation = _python_tool_impl,
    doc = "What an action needs to run `python -m <module of srcs>`.",
    attrs = {
        "interpreter": attr.label(allow_single_file = True, mandatory = True, doc = "The Python to run."),
        "packages": attr.label_list(allow_files = True, doc = "Installed packages of the same repository as the interpreter."),
        "srcs": attr.label_list(allow_files = [".py"], mandatory = True, doc = "Modules below build/."),
    },
)
