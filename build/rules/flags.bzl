# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Build settings: `--//build:platform=linux_aarch64` and the like."""

load(
    "//build/rules/private:flags.bzl",
    _fixed_value = "fixed_value",
    _string_flag = "string_flag",
    _string_list_flag = "string_list_flag",
)

fixed_value = _fixed_value
string_flag = _string_flag
string_list_flag = _string_list_flag
