# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Repositories made of text, and the flags that some of them have."""

# flag.bzl of a repository: rules for flags that nothing reads.
FLAG = """
def _flag_impl(ctx):
    pass

string_flag = rule(implementation = _flag_impl, build_setting = config.string(flag = True))
bool_flag = rule(implementation = _flag_impl, build_setting = config.bool(flag = True))
"""

def declare_flags(bools = [], strings = []):
    """Returns the text of a BUILD file with flags.

    Args:
        bools: Names of those that are true or false.
        strings: Names of those that take any text.
    """
    lines = ['load("@rules_python//:flag.bzl", "bool_flag", "string_flag")']
    lines += ['bool_flag(name = "{}", build_setting_default = False)'.format(name) for name in bools]
    lines += ['string_flag(name = "{}", build_setting_default = "")'.format(name) for name in strings]
    return "\n".join(lines) + "\n"

def _stub_repository_impl(ctx):
    for path, text in ctx.attr.files.items():
        ctx.file(path, text, executable = False)

stub_repository = repository_rule(
    implementation = _stub_repository_impl,
    doc = "A repository of small text files.",
    attrs = {"files": attr.string_dict(mandatory = True, doc = "Path to text.")},
)
