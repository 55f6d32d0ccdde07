# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Implementation of //build/rules:repositories.bzl."""

load("@jax_release//:release.bzl", "BACKENDS", "PLATFORMS", "RELEASE", "TOOLS")
load("//build/rules/private:backend.bzl", "kernels_repository", "prebuilt_repository", "tool_repository")
load("//build/rules/private:bindings.bzl", "bindings_repository")
load("//build/rules/private:library_file.bzl", "library_file")
load("//build/rules/private:pinned_wheel.bzl", "pinned_wheel")
load("//build/rules/private:python_tools.bzl", "python_tools")
load("//build/rules/private:xla_repository.bzl", "xla_license")

_PJRT_INCLUDE = "xla_plugins/xla_cpu_pjrt/include"
_FFI_INCLUDE = "jaxlib/include"

# What the compiler reads of its 20,000 files for C on Linux with glibc: each is an input of every compilation. Tests of
# the extension show when another version of it needs others.
_COMPILER_MEMBERS = [
    "ziglang/zig",
    "ziglang/lib/compiler_rt*",
    "ziglang/lib/include/*",
    "ziglang/lib/libc/glibc/*",
    "ziglang/lib/libc/include/aarch64-linux-any/*",
    "ziglang/lib/libc/include/aarch64-linux-gnu/*",
    "ziglang/lib/libc/include/any-linux-any/*",
    "ziglang/lib/libc/include/generic-glibc/*",
    "ziglang/lib/libc/include/x86-linux-any/*",
    "ziglang/lib/libc/include/x86-linux-gnu/*",
    "ziglang/lib/std/*",
]

def _header_repositories():
    pinned_wheel(
        name = "header_pjrt_c_api",
        arguments = {"include": _PJRT_INCLUDE},
        macro = "pinned_headers",
        pin = "header.pjrt_c_api",
        unpack = [_PJRT_INCLUDE + "/pjrt_c_api.h"],
    )

    # The headers are the same in every jaxlib wheel of a release: one is as good as another.
    host = RELEASE["host"]
    pinned_wheel(
        name = "header_xla_ffi",
        arguments = {"include": _FFI_INCLUDE},
        macro = "pinned_headers",
        pin = "bindings.{}.{}".format((RELEASE["pythons"][host] or ["none"])[0], host),
        unpack = [_FFI_INCLUDE + "/xla/ffi/api/*.h"],
    )

def _backend_repositories(name, facts, platform):
    bundled, member = facts["prebuilt"]["bundled"], facts["prebuilt"]["member"]
    pinned_wheel(
        name = prebuilt_repository(name, platform),
        arguments = {"member": member},
        download = bundled,
        macro = "pinned_library" if bundled else "pinned_requirement",
        pin = "plugin.{}.{}".format(name, platform),
        unpack = [member] if bundled else [],
    )
    for python in facts["pythons"][platform]:
        pinned_wheel(
            name = kernels_repository(name, python, platform),
            arguments = {"package": facts["kernels"]["package"], "python": python},
            macro = "pinned_kernels",
            pin = "kernels.{}.{}.{}".format(name, python, platform),
            unpack = [facts["kernels"]["package"] + "/*.so"],
        )

def pjrt_repositories():
    """Declares every repository of the prebuilt graph; each is fetched when a target first needs it.

    A backend or Python that the release does not pin gets its repository all the same: asking for it then ends with
    the release's own error.
    """
    python_tools(name = "python_tools", requirements = "//build:requirements.txt")
    library_file(name = "library_file")
    xla_license(name = "xla_license")
    pinned_wheel(
        name = "compiler",
        macro = "pinned_compiler",
        pin = "compiler." + RELEASE["host"],
        unpack = _COMPILER_MEMBERS,
    )
    _header_repositories()
    for name, facts in TOOLS.items():
        pinned_wheel(
            name = tool_repository(name),
            arguments = {"member": facts["member"]},
            macro = "pinned_tool",
            pin = "tool.{}.{}".format(name, RELEASE["host"]),
            unpack = [facts["member"]],
        )
    for platform in PLATFORMS:
        for name, facts in BACKENDS.items():
            if platform in facts["tags"]:
                _backend_repositories(name, facts, platform)
        for python in RELEASE["pythons"][platform] or ["none"]:
            pinned_wheel(
                name = bindings_repository(python, platform),
                macro = "pinned_file",
                pin = "bindings.{}.{}".format(python, platform),
            )
