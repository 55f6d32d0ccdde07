# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Repositories made of text."""

def _stub_repository_impl(ctx):
    for path, text in ctx.attr.files.items():
        ctx.file(path, text, executable = False)

stub_repository = repository_rule(
    implementation = _stub_repository_impl,
    doc = "A repository of small text files.",
    attrs = {"files": attr.string_dict(mandatory = True, doc = "Path to text.")},
)
