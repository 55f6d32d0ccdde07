# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The repository of a library that the user gave by its path (`--xla PATH`)."""

load("//build/rules/private:host_python.bzl", "format_error")

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

_COPY = 'mkdir files && cp "$1" files/library.so && sha256sum files/library.so'

def _library_file_impl(ctx):
    path = ctx.os.environ.get(LIBRARY_VARIABLE, "")
    expected = ctx.os.environ.get(DIGEST_VARIABLE, "")
    done = ctx.execute(["sh", "-c", _COPY, "sh", path])
    if done.return_code != 0:
        fail(format_error(2, "cannot take the library {}\n{}".format(repr(path), done.stderr)))
    sha256 = done.stdout.split(" ")[0]
    if expected and sha256 != expected:  # as the front end saw it
        fail(format_error(2, "{} changed while it was read\n\nrun the command again".format(path)))
    filename = path.split("/")[-1]
    ctx.file("BUILD.bazel", _BUILD.format(filename = filename, sha256 = sha256), executable = False)

library_file = repository_rule(
    implementation = _library_file_impl,
    doc = """Takes the library named in PJRTWHEEL_LIBRARY.

Bazel does not watch a file outside of the workspace: PJRTWHEEL_LIBRARY_SHA256 changes when the file does.""",
    environ = [LIBRARY_VARIABLE, DIGEST_VARIABLE],
)
