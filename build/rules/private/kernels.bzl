# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The extension modules that JAX imports in addition to a PJRT plugin: one package of the index for each Python."""

load("//build/rules:providers.bzl", "KernelsInfo")

def _pjrt_kernels_impl(ctx):
    return [
        DefaultInfo(files = depset(ctx.files.srcs)),
        KernelsInfo(
            files = ctx.files.srcs,
            licenses = ctx.files.licenses,
            package = ctx.attr.package,
            provenance = dict(ctx.attr.provenance, python = ctx.attr.python),
            python = ctx.attr.python,
        ),
    ]

pjrt_kernels = rule(
    implementation = _pjrt_kernels_impl,
    doc = "Extension modules for one Python, and where they came from.",
    attrs = {
        "licenses": attr.label_list(allow_files = True, doc = "Licence texts and notices that go with them."),
        "package": attr.string(mandatory = True, doc = "The package in which JAX looks for them."),
        "provenance": attr.string_dict(mandatory = True, doc = "What is known of their origin."),
        "python": attr.string(mandatory = True, doc = "The Python, by its ABI tag, such as cp312."),
        "srcs": attr.label_list(allow_files = [".so"], mandatory = True, doc = "The modules and the libraries they need."),
    },
)
