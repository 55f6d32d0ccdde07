# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Implementation of //build/rules:extension.bzl."""

load("//build/rules/private:compiler.bzl", "COMMON_ATTRS", "compile_shared_library")

def _limited_api(python_tag):
    """Returns the value of Py_LIMITED_API: major and minor version in the two highest bytes (PEP 384)."""
    digits = python_tag[len("cp"):]
    if not python_tag.startswith("cp3") or not digits.isdigit():
        fail("not a Python tag of CPython 3: {}".format(repr(python_tag)))
    minor = int(digits[1:])
    hexadecimal = "0123456789abcdef"
    return "0x03{}{}0000".format(hexadecimal[minor // 16], hexadecimal[minor % 16])

def _stable_abi_extension_impl(ctx):
    library = compile_shared_library(ctx, ["-DPy_LIMITED_API=" + _limited_api(ctx.attr.python_tag)])
    return DefaultInfo(files = depset([library]))

stable_abi_extension = rule(
    implementation = _stable_abi_extension_impl,
    doc = """Builds a Python extension for the stable ABI with the pinned compiler, for --//build:platform.

The library needs no glibc newer than 2.17 and holds nothing of the machine it was built on.""",
    attrs = dict(
        COMMON_ATTRS,
        python_tag = attr.string(mandatory = True, doc = "Oldest CPython to run on, such as cp312."),
    ),
)

def _shared_library_impl(ctx):
    return DefaultInfo(files = depset([compile_shared_library(ctx, [])]))

shared_library = rule(
    implementation = _shared_library_impl,
    doc = "Builds a plain shared library with the pinned compiler, for --//build:platform.",
    attrs = COMMON_ATTRS,
)
