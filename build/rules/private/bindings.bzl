# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The jaxlib wheels of a release."""

load("@jax_release//:release.bzl", "BACKENDS", "PLATFORMS", "RELEASE")
load("//build/rules/private:wheels.bzl", "bindings_wheel")

def bindings_repository(python, platform):
    """Returns the name of the repository with upstream's jaxlib wheel.

    Args:
        python: The Python, by its ABI tag, such as cp312.
        platform: Name of the platform.
    """
    return "bindings_{}_{}".format(python, platform)

def bindings_wheels(name, pythons, visibility = ["//visibility:public"]):
    """Declares one jaxlib wheel per Python and platform, and a group of those for --//build:platform.

    Args:
        name: Name of the group.
        pythons: Platform name to Python tags, as in the release.
        visibility: Visibility of all targets.
    """
    group = {}
    for platform in PLATFORMS:
        # Nothing pinned: a wheel that cannot be fetched gives the error, instead of an empty group that builds.
        group[platform] = []
        for python in pythons[platform] or ["none"]:
            wheel = "{}_{}".format(python, platform)
            native.alias(
                name = wheel + "_bindings",
                actual = select({
                    "//build:is_bindings_source": "@jax//jaxlib/tools:jaxlib_wheel",
                    "//conditions:default": "@{}//:wheel".format(bindings_repository(python, platform)),
                }),
                tags = ["manual"],
            )
            bindings_wheel(
                name = wheel,
                backends = ["//plugins/{}:backend".format(backend) for backend in BACKENDS],
                jax_commit = select({
                    "//build:is_bindings_source": RELEASE["jax_commit"],
                    "//conditions:default": "",
                }),
                python = python,
                tags = ["manual"],  # builds for --//build:platform only
                visibility = visibility,
                wheel = ":{}_bindings".format(wheel),
            )
            group[platform].append(":" + wheel)
    native.filegroup(
        name = name,
        srcs = select({"//build:is_" + platform: wheels for platform, wheels in group.items()}),
        visibility = visibility,
    )
