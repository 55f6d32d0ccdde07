# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Declares rules_python and compute_library, as far as flags of ours refer to them."""

load("//:stub_repository.bzl", "stub_repository")

_FLAG = """
def _flag_impl(ctx):
    pass

string_flag = rule(implementation = _flag_impl, build_setting = config.string(flag = True))
bool_flag = rule(implementation = _flag_impl, build_setting = config.bool(flag = True))
"""

_SETTINGS = """
load("//:flag.bzl", "string_flag")

[string_flag(
    name = name,
    build_setting_default = "",
) for name in ["precompile", "bootstrap_impl"]]
"""

_COMPUTE_LIBRARY = """
load("//:flag.bzl", "bool_flag")

bool_flag(
    name = "openmp",
    build_setting_default = True,
)
"""

def python_init_rules():
    """Declares both."""
    stub_repository(
        name = "rules_python",
        files = {"BUILD.bazel": "", "flag.bzl": _FLAG, "python/config_settings/BUILD.bazel": _SETTINGS},
    )
    stub_repository(name = "compute_library", files = {"BUILD.bazel": _COMPUTE_LIBRARY, "flag.bzl": _FLAG})
