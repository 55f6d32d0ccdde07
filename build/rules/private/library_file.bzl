# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The repository of a library that the user gave by its path (`--xla PATH`)."""

load("//build/rules/private:host_python.bzl", "PYTHON_VARIABLE", "run_tool")

LIBRARY_VARIABLE = "PJRTWHEEL_LIBRARY"
DIGEST_VARIABLE = "PJRTWHEEL_LIBRARY_SHA256"

_BUILD = """load("@//build/rules/private:flags.bzl", "fixed_value")
load("@//build/rules/private:library.bzl", "file_library")

package(default_visibility = ["//visibility:public"])

file_library(
    name = "library",
    filename = "{filename}",
    library = "files/library.so",
    sha256 = "{sha256}",
)

fixed_value(
    name = "provider",
    value = "file-{sha256}",
)
"""

def _library_file_impl(ctx):
    path = ctx.os.environ.get(LIBRARY_VARIABLE, "")
    digest = ctx.os.environ.get(DIGEST_VARIABLE, "")
    found = json.decode(run_tool(ctx, "bazel.repositories", [
        "library",
        "--library=" + path,
        "--sha256=" + digest,
        "--output=files",
    ]))
    ctx.file("BUILD.bazel", _BUILD.format(**found), executable = False)

library_file = repository_rule(
    implementation = _library_file_impl,
    doc = """Takes the library named in PJRTWHEEL_LIBRARY.

Bazel does not watch a file outside of the workspace: PJRTWHEEL_LIBRARY_SHA256 changes when the file does.""",
    environ = [LIBRARY_VARIABLE, DIGEST_VARIABLE, PYTHON_VARIABLE],
)
