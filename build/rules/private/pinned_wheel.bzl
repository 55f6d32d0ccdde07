# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Repositories made from one pinned wheel."""

load("//build/rules/private:host_python.bzl", "run_tool")

LICENSE_PATTERNS = ["*.dist-info/licenses/*", "*.dist-info/LICENSE*", "*.dist-info/NOTICE*"]

def _pinned_wheel_impl(ctx):
    arguments = ["--release-file", str(ctx.path(ctx.attr.release)), "--pin", ctx.attr.pin, "--output", "files"]
    for pattern in ctx.attr.unpack:
        arguments += ["--unpack", pattern]
    if ctx.attr.unpack:
        for pattern in LICENSE_PATTERNS:
            arguments += ["--unpack-if-present", pattern]
    if not ctx.attr.download:
        arguments.append("--describe")
    result = json.decode(run_tool(ctx, "fetch", arguments))
    pin = result["pin"]
    ctx.file("pin.json", json.encode(pin), executable = False)
    lines = [
        'load("@//build/rules/private:pinned_files.bzl", "{}")'.format(ctx.attr.macro),
        "",
        "{}(".format(ctx.attr.macro),
        "    pin = {},".format(repr(pin)),
        "    members = {},".format(repr([]) if ctx.attr.macro == "pinned_compiler" else repr(result["members"])),
    ]
    for name, value in ctx.attr.arguments.items():
        lines.append("    {} = {},".format(name, repr(value)))
    ctx.file("BUILD.bazel", "\n".join(lines + [")", ""]), executable = False)

pinned_wheel = repository_rule(
    implementation = _pinned_wheel_impl,
    doc = "Fetches a wheel by its pin, when a target first needs it; the BUILD file is one call of a checked-in macro.",
    attrs = {
        "arguments": attr.string_dict(doc = "Further arguments of that macro."),
        "download": attr.bool(default = True, doc = "Whether the file is needed, or only what the pin says of it."),
        "macro": attr.string(mandatory = True, doc = "Macro of pinned_files.bzl that declares the targets."),
        "pin": attr.string(mandatory = True, doc = "Key in the pins file, such as plugin.cpu.linux_x86_64."),
        "release": attr.label(default = "@jax_release//:release.toml", doc = "The pins file."),
        "unpack": attr.string_list(doc = "Members to unpack (licences come along); the wheel itself when empty."),
    },
)
