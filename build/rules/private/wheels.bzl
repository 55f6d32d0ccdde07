# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Implementation of //build/rules:wheels.bzl."""

load("//build/rules:providers.bzl", "BackendInfo", "FlagInfo", "PjrtLibraryInfo", "PythonToolInfo", "WheelInfo")

_ASSEMBLE_ATTRS = {
    "release": attr.label(
        allow_single_file = [".toml"],
        default = "@jax_release//:release.toml",
        doc = "The release file.",
    ),
    "_epoch": attr.label(default = "//build:source_date_epoch", providers = [FlagInfo]),
    "_platform": attr.label(default = "//build:platform", providers = [FlagInfo]),
    "_tool": attr.label(default = "//build:assemble_tool", providers = [PythonToolInfo]),
}

def _assemble(ctx, provider, facts, inputs, message):
    """Writes the manifest and lets the tool turn it into a directory with a wheel and a report."""
    platform = ctx.attr._platform[FlagInfo].value
    tool = ctx.attr._tool[PythonToolInfo]

    # A directory per platform and provider: going back to one that was built before is not a build.
    name = "{}/{}-{}".format(ctx.label.name, platform, provider)
    manifest = ctx.actions.declare_file(name + ".manifest.json")
    output = ctx.actions.declare_directory(name)
    content = dict(facts, schema = 1, platform = platform, release = ctx.file.release.path, provider = provider)
    ctx.actions.write(manifest, json.encode_indent(content, indent = "  ") + "\n")

    args = ctx.actions.args()
    args.add_all(["-P", "-s", "-B", "-m", "pjrtwheel", "assemble"])
    args.add("--manifest", manifest)
    args.add_all(["--output", output.path])
    epoch = ctx.attr._epoch[FlagInfo].value
    ctx.actions.run(
        executable = tool.interpreter,
        arguments = [args],
        inputs = depset([manifest, ctx.file.release] + inputs, transitive = [tool.inputs]),
        outputs = [output],
        env = dict({"PYTHONPATH": tool.pythonpath}, **({"SOURCE_DATE_EPOCH": epoch} if epoch else {})),
        mnemonic = "AssembleWheel",
        progress_message = message,
    )
    return [DefaultInfo(files = depset([output])), WheelInfo(directory = output)]

def _member(backend, file):
    """Returns the place in the wheel of a file of the loader: the part of its path from the package on."""
    marker = "/{}/".format(backend.package)
    if marker not in file.path:
        fail("{} does not lie below a directory {}".format(file.path, backend.package))
    return backend.package + "/" + file.path.split(marker, 1)[1]

def _license_name(library, file):
    """Returns a name that keeps the licence of the library apart from our own."""
    return "{}.{}".format(library.library.basename.rsplit(".", 1)[0], file.basename)

def _pjrt_wheel_impl(ctx):
    backend, library = ctx.attr.backend[BackendInfo], ctx.attr.library[PjrtLibraryInfo]
    loader = backend.loader.to_list()
    files = {_member(backend, file): file for file in loader}
    for file in ctx.files.shared_loader + [ctx.file.extension]:
        files["{}/pjrt/{}".format(backend.package, file.basename)] = file
    files["{}/{}".format(backend.package, backend.library_name)] = library.library
    licenses = {file.basename: file for file in ctx.files.licenses}
    licenses.update({_license_name(library, file): file for file in library.licenses})
    return _assemble(
        ctx,
        provider = library.provider,
        facts = {
            "kind": "plugin",
            "backend": backend.table.path,
            "readme": backend.readme.path,
            "provenance": library.provenance.path,
            "files": {member: files[member].path for member in sorted(files)},
            "licenses": {name: licenses[name].path for name in sorted(licenses)},
        },
        inputs = [backend.table, backend.readme, library.provenance] + files.values() + licenses.values(),
        message = "Assembling the wheel of {}".format(backend.package),
    )

pjrt_wheel = rule(
    implementation = _pjrt_wheel_impl,
    doc = "The wheel of one backend: loader, shared loader code, extension and library; a directory with its report.",
    attrs = dict(
        _ASSEMBLE_ATTRS,
        backend = attr.label(mandatory = True, providers = [BackendInfo], doc = "The accelerator."),
        extension = attr.label(
            allow_single_file = [".so"],
            default = "//plugins/pjrt:extension",
            doc = "The stable-ABI extension, put into <package>/pjrt.",
        ),
        library = attr.label(mandatory = True, providers = [PjrtLibraryInfo], doc = "The PJRT plugin library."),
        licenses = attr.label_list(allow_files = True, default = ["//:LICENSE"], doc = "Our own licence texts."),
        shared_loader = attr.label_list(
            allow_files = True,
            default = ["//plugins/pjrt:loader"],
            doc = "Loader code that all backends share, put into <package>/pjrt.",
        ),
    ),
    provides = [WheelInfo],
)

def _bindings_wheel_impl(ctx):
    tables = [target[BackendInfo].table for target in ctx.attr.backends]
    return _assemble(
        ctx,
        provider = ctx.attr._provider[FlagInfo].value,
        facts = {
            "kind": "bindings",
            "python": ctx.attr.python,
            "wheel": ctx.file.wheel.path,
            "backends": [table.path for table in tables],
        },
        inputs = [ctx.file.wheel] + tables,
        message = "Assembling the wheel of jaxlib for {}".format(ctx.attr.python),
    )

bindings_wheel = rule(
    implementation = _bindings_wheel_impl,
    doc = "Upstream's jaxlib for one Python, with our lock and one extra per backend; a directory with its report.",
    attrs = dict(
        _ASSEMBLE_ATTRS,
        backends = attr.label_list(mandatory = True, providers = [BackendInfo], doc = "All accelerators."),
        python = attr.string(mandatory = True, doc = "Python tag, such as cp312."),
        wheel = attr.label(allow_single_file = [".whl"], mandatory = True, doc = "Upstream's wheel."),
        _provider = attr.label(default = "//build:provider_name", providers = [FlagInfo]),
    ),
    provides = [WheelInfo],
)
