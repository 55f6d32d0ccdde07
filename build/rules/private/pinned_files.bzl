# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Targets of the repositories that `pinned_wheel` makes."""

load("//build/rules/private:compiler.bzl", "c_compiler", "c_headers")
load("//build/rules/private:kernels.bzl", "pjrt_kernels")
load("//build/rules/private:library.bzl", "pin_provenance", "prebuilt_library")

_PUBLIC = ["//visibility:public"]

def _licenses(members):
    return ["files/" + member for member in members if ".dist-info/" in member]

def pinned_file(pin, members):
    """Declares the wheel file itself as `:wheel`.

    Args:
        pin: The pin as a dict.
        members: Names of the files that were fetched.
    """
    if members != [pin["filename"]]:
        fail("expected one wheel, got {}".format(members))
    native.filegroup(name = "wheel", srcs = ["files/" + pin["filename"]], visibility = _PUBLIC)

def pinned_library(pin, members, member):
    """Declares a PJRT plugin library as `:library`.

    Args:
        pin: The pin as a dict.
        members: Names of the files that were fetched.
        member: The one that is the library.
    """
    prebuilt_library(
        name = "library",
        library = "files/" + member,
        licenses = _licenses(members),
        member = member,
        pin = pin,
        visibility = _PUBLIC,
    )

def pinned_requirement(pin, members, member):
    """Declares a PJRT plugin library that stays in the wheel of its own distribution, as `:library`.

    Args:
        pin: The pin as a dict.
        members: Not used; nothing was fetched.
        member: The file of that wheel that is the library.
    """
    prebuilt_library(
        name = "library",
        member = member,
        pin = pin,
        requirement = "{project}=={version}".format(**pin),
        visibility = _PUBLIC,
    )

def pinned_kernels(pin, members, package, python):
    """Declares the extension modules for one Python as `:kernels`.

    Args:
        pin: The pin as a dict.
        members: Names of the files that were fetched.
        package: The package in which JAX looks for them.
        python: The Python, by its ABI tag, such as cp312.
    """
    pjrt_kernels(
        name = "kernels",
        srcs = ["files/" + member for member in members if member.startswith(package + "/")],
        licenses = _licenses(members),
        package = package,
        provenance = pin_provenance(pin),
        python = python,
        visibility = _PUBLIC,
    )

def pinned_tool(pin, members, member):
    """Declares a program that is run during the build as `:tool`.

    Args:
        pin: The pin as a dict.
        members: Names of the files that were fetched.
        member: The one that is the program.
    """
    native.filegroup(name = "tool", srcs = ["files/" + member], visibility = _PUBLIC)

def pinned_headers(pin, members, include):
    """Declares C headers as `:headers`.

    Args:
        pin: The pin as a dict.
        members: Names of the files that were fetched.
        include: Directory inside the wheel that is searched for headers.
    """
    c_headers(
        name = "headers",
        srcs = ["files/" + member for member in members if member.startswith(include + "/")],
        include = "files/" + include,
        visibility = _PUBLIC,
    )

def pinned_compiler(pin, members):
    """Declares the C compiler as `:compiler`.

    Args:
        pin: The pin as a dict.
        members: Not used; they are found again by their place.
    """
    c_compiler(
        name = "compiler",
        srcs = native.glob(["files/ziglang/**"]),
        executable = "files/ziglang/zig",
        visibility = _PUBLIC,
    )
