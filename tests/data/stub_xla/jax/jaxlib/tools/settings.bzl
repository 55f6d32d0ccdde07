# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A setting of the command line that nothing reads."""

def _string_setting(_ctx):
    """Give nothing to those who ask."""
    return []

string_setting = rule(
    implementation = _string_setting,
    build_setting = config.string(flag = True),
    doc = "A text that is given on the command line.",
)
