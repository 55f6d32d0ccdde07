# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Implementation of //build/rules:backend.bzl."""

load("@jax_release//:release.bzl", "BACKENDS", "RELEASE")
load("//build/rules:providers.bzl", "BackendInfo")
load("//build/rules/private:kernels.bzl", "pjrt_kernels")
load("//build/rules/private:library.bzl", "pjrt_library")
load("//build/rules/private:wheels.bzl", "kernels_wheel", "pjrt_wheel")

def _backend_target_impl(ctx):
    return BackendInfo(
        library_name = ctx.attr.library_name,
        licenses = ctx.files.licenses,
        loader = depset(ctx.files.loader),
        package = ctx.attr.package,
        readme = ctx.file.readme,
        table = ctx.file.table,
    )

_backend_target = rule(
    implementation = _backend_target_impl,
    doc = "The facts and files of one accelerator.",
    attrs = {
        "library_name": attr.string(mandatory = True, doc = "File name of the PJRT plugin inside the package."),
        "licenses": attr.label_list(allow_files = True, doc = "Licence texts of the library."),
        "loader": attr.label_list(allow_files = True, mandatory = True, doc = "Files of the import package."),
        "package": attr.string(mandatory = True, doc = "Name of the import package."),
        "readme": attr.label(allow_single_file = True, mandatory = True, doc = "Long description of the wheel."),
        "table": attr.label(allow_single_file = [".toml"], mandatory = True, doc = "backend.toml"),
    },
)

def prebuilt_repository(backend, platform):
    """Returns the name of the repository with a backend's library from the package index.

    Args:
        backend: Name of the backend.
        platform: Name of the platform.
    """
    return "plugin_{}_{}".format(backend, platform)

def kernels_repository(backend, python, platform):
    """Returns the name of the repository with a backend's kernels for one Python.

    Args:
        backend: Name of the backend.
        python: The Python, by its ABI tag, such as cp312.
        platform: Name of the platform.
    """
    return "kernels_{}_{}_{}".format(backend, python, platform)

def tool_repository(tool):
    """Returns the name of the repository with a program that is run during the build, on this machine.

    Args:
        tool: Name of the tool.
    """
    return "tool_" + tool

def _kernels_from_source(name, facts, python):
    """Declares the kernels that JAX's own targets make for a Python."""
    pjrt_kernels(
        name = name,
        srcs = facts["kernels"]["source"],
        licenses = ["@xla_license//:LICENSE"],
        package = facts["kernels"]["package"],
        provenance = {"jax_commit": RELEASE["jax_commit"]},
        python = python,
        tags = ["manual"],
    )
    return ":" + name

def _kernels_wheels(name, facts, tools, visibility):
    """Declares a wheel of kernels for each Python and platform, and the group of those for --//build:platform."""
    group = {}
    for platform in facts["tags"]:
        group[platform] = []
        for python in facts["pythons"][platform]:
            wheel = "kernels_{}_{}".format(python, platform)
            kernels = {"//conditions:default": "@{}//:kernels".format(kernels_repository(name, python, platform))}
            if facts["kernels"]["source"]:
                source = _kernels_from_source("source_" + wheel, facts, python)
                kernels["//build:is_bindings_source"] = source
            native.alias(name = wheel + "_modules", actual = select(kernels), tags = ["manual"])
            kernels_wheel(
                name = wheel,
                backend = ":backend",
                kernels = ":{}_modules".format(wheel),
                tags = ["manual"],  # builds for --//build:platform only
                tools = tools,
                visibility = visibility,
            )
            group[platform].append(":" + wheel)
    native.filegroup(
        name = "kernels",
        srcs = select({"//build:is_" + platform: wheels for platform, wheels in group.items()}),
        visibility = visibility,
    )

def _source_library(name, label):
    pjrt_library(
        name = name,
        library = label,
        licenses = ["@xla_license//:LICENSE"],
        tags = ["manual"],
        xla_commit = RELEASE["xla"]["commit"] or "unknown",
        xla_verified = bool(RELEASE["xla"]["verified"]),
    )
    return ":" + name

def pjrt_backend(name, visibility = ["//visibility:public"]):
    """Declares all targets of a backend from what `backend.toml` says of it.

    Args:
        name: Name of the backend and of its directory. It gets `:backend` (facts and loader), `:library` (from the
            provider that --//build:provider chooses), `:wheel`, and `:kernels`, the wheels with its kernels.
        visibility: Visibility of those targets.
    """
    directory = native.package_name().rpartition("/")[2]
    if name != directory:
        fail("pjrt_backend has the name {}, its directory {}: give it the directory's".format(name, directory))
    facts = BACKENDS[name]
    _backend_target(
        name = "backend",
        library_name = facts["library"],
        licenses = facts["license_files"],
        loader = native.glob([facts["package"] + "/**", "targets/*.toml"], exclude = ["**/__pycache__/**"]),
        package = facts["package"],
        readme = "README.md",
        table = "backend.toml",
        visibility = visibility,
    )
    native.alias(
        name = "prebuilt_library",
        actual = select({
            "//build:is_" + platform: "@{}//:library".format(prebuilt_repository(name, platform))
            for platform in facts["tags"]
        }, no_match_error = "there are no wheels of {} for this platform".format(name)),
    )
    libraries = {"//build:is_prebuilt": ":prebuilt_library"}
    if facts["source"]:
        libraries["//build:is_source"] = _source_library("source_library", facts["source"]["label"])
    if facts["prebuilt"]["bundled"]:
        libraries["//build:is_file"] = "@library_file//:library"
    native.alias(
        name = "library",
        actual = select(libraries, no_match_error = "the library of {} does not come from this provider".format(name)),
        visibility = visibility,
    )
    tools = {"@{}//:tool".format(tool_repository(tool)): tool for tool in facts["tools"]}
    _kernels_wheels(name, facts, tools, visibility)
    pjrt_wheel(
        name = "wheel",
        backend = ":backend",
        library = ":library",
        shared_loaders = {"//plugins/{}:loader".format(directory): directory for directory in ["pjrt"] + facts["shared"]},
        tools = tools,
        visibility = visibility,
    )
