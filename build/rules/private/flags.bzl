# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Implementation of //build/rules:flags.bzl."""

load("//build/rules:providers.bzl", "FlagInfo")

def _string_flag_impl(ctx):
    value = ctx.build_setting_value
    if ctx.attr.values and value not in ctx.attr.values:
        fail("--{}={}: unknown value (known: {})".format(
            str(ctx.label).lstrip("@"),
            value,
            ", ".join(ctx.attr.values),
        ))
    return FlagInfo(value = value)

string_flag = rule(
    implementation = _string_flag_impl,
    doc = "A string that can be set on the command line.",
    build_setting = config.string(flag = True),
    attrs = {
        "values": attr.string_list(doc = "All values allowed; empty if any is."),
    },
)

def _string_list_flag_impl(ctx):
    return FlagInfo(value = ctx.build_setting_value)

string_list_flag = rule(
    implementation = _string_list_flag_impl,
    doc = "A list of strings that can be set on the command line, separated by commas.",
    build_setting = config.string_list(flag = True),
)

def _fixed_value_impl(ctx):
    return FlagInfo(value = ctx.attr.value)

fixed_value = rule(
    implementation = _fixed_value_impl,
    doc = "A value that a repository rule found out, given on as if it were a flag.",
    attrs = {"value": attr.string(mandatory = True, doc = "The value.")},
)
