# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Implementation of //build/rules:extension.bzl."""

load("@jax_release//:release.bzl", "FREE_THREADED", "PLATFORMS")
load("//build/rules:providers.bzl", "FlagInfo")
load("//build/rules/private:compiler.bzl", "COMMON_ATTRS", "compile_shared_library")

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
    abi = ctx.attr.abi
    name = ctx.attr.module + PLATFORMS[ctx.attr._platform[FlagInfo].value]["suffixes"][abi]
    return DefaultInfo(files = depset([compile_shared_library(ctx, name, [_macro(ctx.attr.python_tag, abi)])]))

_python_extension = rule(
    implementation = _python_extension_impl,
    doc = "Builds a Python extension for one ABI with the pinned compiler, for --//build:platform.",
    attrs = dict(
        COMMON_ATTRS,
        abi = attr.string(mandatory = True, doc = "ABI tag: a stable one, or that of one free-threaded CPython."),
        module = attr.string(mandatory = True, doc = "Name of the module; its file ends in what the ABI is known by."),
        python_tag = attr.string(mandatory = True, doc = "Oldest CPython to run on, such as cp312."),
    ),
)

def python_extension(name, python_tag, visibility = None, **kwargs):
    """Builds a Python extension for every ABI that wheels are tagged with; all of its files lie in one group.

    The files need no glibc newer than 2.17 and hold nothing of the machine they were built on.

    Args:
        name: Name of the group.
        python_tag: Oldest CPython with the GIL to run on, such as cp312.
        visibility: Visibility of the group.
        **kwargs: `module`, and what every rule of C code takes.
    """
    targets = []
    for python, abi in [(python_tag, "abi3")] + FREE_THREADED.items():
        target = "{}_{}".format(name, abi)
        _python_extension(name = target, abi = abi, python_tag = python, **kwargs)
        targets.append(":" + target)
    native.filegroup(name = name, srcs = targets, visibility = visibility)

def _shared_library_impl(ctx):
    return DefaultInfo(files = depset([compile_shared_library(ctx, ctx.attr.out, [])]))

shared_library = rule(
    implementation = _shared_library_impl,
    doc = "Builds a plain shared library with the pinned compiler, for --//build:platform.",
    attrs = dict(
        COMMON_ATTRS,
        out = attr.string(mandatory = True, doc = "File name of the library."),
    ),
)
