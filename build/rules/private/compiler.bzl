# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Implementation of //build/rules:extension.bzl, and the targets of the repositories it needs."""

load("@jax_release//:release.bzl", "PLATFORMS")
load("//build/rules:providers.bzl", "CompilerInfo", "FlagInfo", "HeadersInfo", "PythonToolInfo")

def _c_headers_impl(ctx):
    root = "/".join([part for part in [ctx.label.workspace_root, ctx.label.package, ctx.attr.include] if part])
    return HeadersInfo(directories = [root], files = depset(ctx.files.srcs))

c_headers = rule(
    implementation = _c_headers_impl,
    doc = "C headers below one include directory.",
    attrs = {
        "include": attr.string(mandatory = True, doc = "Include directory, relative to the package."),
        "srcs": attr.label_list(allow_files = True, mandatory = True, doc = "The headers."),
    },
)

def _c_compiler_impl(ctx):
    return CompilerInfo(executable = ctx.file.executable, inputs = depset(ctx.files.srcs))

c_compiler = rule(
    implementation = _c_compiler_impl,
    doc = "A C compiler that finds all it needs by its own place.",
    attrs = {
        "executable": attr.label(allow_single_file = True, mandatory = True, doc = "The compiler."),
        "srcs": attr.label_list(allow_files = True, mandatory = True, doc = "The compiler, its headers and libraries."),
    },
)

COMMON_ATTRS = {
    "copts": attr.string_list(doc = "Options for the compiler."),
    "hdrs": attr.label_list(allow_files = [".h"], doc = "Own headers, found next to the sources."),
    "headers": attr.label_list(providers = [HeadersInfo], doc = "Headers of others."),
    "linkopts": attr.string_list(doc = "Options for the linker; they come last."),
    "srcs": attr.label_list(allow_files = [".c"], mandatory = True, doc = "C sources, compiled and linked in one action."),
    "_compiler": attr.label(default = "//build:compiler", providers = [CompilerInfo]),
    "_platform": attr.label(default = "//build:platform", providers = [FlagInfo]),
    "_tool": attr.label(default = "//build:compile_tool", providers = [PythonToolInfo]),
}

# No path of this machine, no time and no random id may get into the library. `-Werror` would make the build depend on
# the wisdom of the next compiler version; the pin rules that out.
_REPRODUCIBLE = ["-g0", "-ffile-prefix-map=./=", "-Wl,--build-id=none", "-Wl,-s"]
_BASE = ["-std=c11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-sanitize=all", "-Wall", "-Wextra", "-Werror"]

def compile_shared_libraries(ctx, outs):
    """Compiles and links C sources with the pinned compiler for the platform that wheels are built for.

    All libraries come from one action, because a second one takes a third of the time of the first.

    Args:
        ctx: Context of a rule with COMMON_ATTRS.
        outs: File names of the libraries, each with the options that only it is compiled with.

    Returns:
        The shared libraries.
    """
    platform = ctx.attr._platform[FlagInfo].value
    compiler, tool = ctx.attr._compiler[CompilerInfo], ctx.attr._tool[PythonToolInfo]
    headers = [target[HeadersInfo] for target in ctx.attr.headers]
    own = depset([header.dirname for header in ctx.files.hdrs]).to_list()
    outputs = {
        name: ctx.actions.declare_file("{}/{}/{}".format(ctx.label.name, platform, name))
        for name in outs
    }

    target = PLATFORMS[platform]["compiler_target"]
    if not target:
        fail("{}: no extension is compiled for {}, only jaxlib is built for it".format(ctx.label, platform))
    args = ctx.actions.args()
    args.add_all(["-P", "-s", "-B", "-m", "pjrtwheel.bazel.compile", compiler.executable, "cc"])
    args.add_all(["-target", target])
    args.add_all(_BASE + _REPRODUCIBLE + ctx.attr.copts)
    args.add_all(own + [path for info in headers for path in info.directories], before_each = "-I")
    args.add_all(ctx.files.srcs)
    args.add_all(ctx.attr.linkopts)
    for name, copts in outs.items():
        args.add("--")
        args.add(outputs[name])
        args.add_all(copts)
    ctx.actions.run(
        executable = tool.interpreter,
        arguments = [args],
        inputs = depset(
            ctx.files.srcs + ctx.files.hdrs,
            transitive = [tool.inputs, compiler.inputs] + [info.files for info in headers],
        ),
        outputs = outputs.values(),
        env = tool.environment,
        # What it gives cannot be checked without compiling again, so no cache is trusted with it.
        execution_requirements = {"no-cache": ""},
        mnemonic = "CompileExtension",
        progress_message = "Compiling {} for {}".format(", ".join(outs.keys()), platform),
    )
    return outputs.values()
