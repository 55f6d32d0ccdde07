# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Implementation of //build/rules:extension.bzl."""

load("@jax_release//:release.bzl", "FREE_THREADED", "PLATFORMS")
load("//build/rules:providers.bzl", "FlagInfo")
load("//build/rules/private:compiler.bzl", "COMMON_ATTRS", "compile_shared_libraries")

def _version(python_tag):
    """Returns a version as CPython's macros have it: major and minor version in the two highest bytes (PEP 384)."""
    digits = python_tag[len("cp"):]
    if not python_tag.startswith("cp3") or not digits.isdigit():
        fail("not a Python tag of CPython 3: {}".format(repr(python_tag)))
    minor = int(digits[1:])
    hexadecimal = "0123456789abcdef"
    return "0x03{}{}0000".format(hexadecimal[minor // 16], hexadecimal[minor % 16])

def _macro(python_tag, abi):
    """Returns the option that makes stable_abi.h declare an ABI."""
    if abi == "abi3":
        return "-DPy_LIMITED_API=" + _version(python_tag)
    if abi == "abi3t":
        return "-DPy_TARGET_ABI3T=" + _version(python_tag)
    return "-DPy_GIL_DISABLED"

def _python_extension_impl(ctx):
    suffixes = PLATFORMS[ctx.attr._platform[FlagInfo].value]["suffixes"]
    outs = {
        ctx.attr.module + suffixes[abi]: [_macro(python_tag, abi)]
        for python_tag, abi in [(ctx.attr.python_tag, "abi3")] + FREE_THREADED.items()
    }
    return DefaultInfo(files = depset(compile_shared_libraries(ctx, outs)))

python_extension = rule(
    implementation = _python_extension_impl,
    doc = """Builds a Python extension for every ABI that wheels are tagged with, for --//build:platform.

The files need no glibc newer than 2.17 and hold nothing of the machine they were built on.""",
    attrs = dict(
        COMMON_ATTRS,
        module = attr.string(mandatory = True, doc = "Name of the module; its files end in what each ABI is known by."),
        python_tag = attr.string(mandatory = True, doc = "Oldest CPython with the GIL to run on, such as cp312."),
    ),
)

def _shared_library_impl(ctx):
    return DefaultInfo(files = depset(compile_shared_libraries(ctx, {ctx.attr.out: []})))

shared_library = rule(
    implementation = _shared_library_impl,
    doc = "Builds a plain shared library with the pinned compiler, for --//build:platform.",
    attrs = dict(
        COMMON_ATTRS,
        out = attr.string(mandatory = True, doc = "File name of the library."),
    ),
)
