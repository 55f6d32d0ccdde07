# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Implementation of //build/rules:wheels.bzl."""

load(
    "//build/rules:providers.bzl",
    "BackendInfo",
    "FlagInfo",
    "KernelsInfo",
    "PjrtLibraryInfo",
    "PythonToolInfo",
    "WheelInfo",
)

_ASSEMBLE_ATTRS = {
    "release": attr.label(
        allow_single_file = [".toml"],
        default = "@jax_release//:release.toml",
        doc = "The pins file.",
    ),
    "_epoch": attr.label(default = "//build:source_date_epoch", providers = [FlagInfo]),
    "_options": attr.label(default = "//build:assemble_options", providers = [FlagInfo]),
    "_platform": attr.label(default = "//build:platform", providers = [FlagInfo]),
    "_tool": attr.label(default = "//build:assemble_tool", providers = [PythonToolInfo]),
}

def _output_name(ctx, provider):
    """Returns a name per platform and provider: going back to one that was built before is not a build."""
    return "{}/{}-{}".format(ctx.label.name, ctx.attr._platform[FlagInfo].value, provider)

def _assemble(ctx, provider, facts, inputs, message):
    """Writes the manifest and lets the tool turn it into a directory with a wheel and a report."""
    platform = ctx.attr._platform[FlagInfo].value
    tool = ctx.attr._tool[PythonToolInfo]

    name = _output_name(ctx, provider)
    manifest = ctx.actions.declare_file(name + ".manifest.json")
    output = ctx.actions.declare_directory(name)
    content = dict(facts, schema = 1, platform = platform, release = ctx.file.release.path, provider = provider)
    ctx.actions.write(manifest, json.encode_indent(content, indent = "  ") + "\n")

    args = ctx.actions.args()
    args.add_all(["-P", "-s", "-B", "-m", "pjrtwheel", "assemble"])
    args.add("--manifest", manifest)
    args.add_all(["--output", output.path])
    args.add_all(ctx.attr._options[FlagInfo].value)
    epoch = ctx.attr._epoch[FlagInfo].value
    ctx.actions.run(
        executable = tool.interpreter,
        arguments = [args],
        inputs = depset([manifest, ctx.file.release] + inputs, transitive = [tool.inputs]),
        outputs = [output],
        env = dict(tool.environment, **({"SOURCE_DATE_EPOCH": epoch} if epoch else {})),
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

def _plugin_files(ctx, backend, library):
    """Returns the members of the wheel that are known by name, except kernels."""
    files = {_member(backend, file): file for file in backend.loader.to_list()}
    for target, directory in ctx.attr.shared_loaders.items():
        for file in target.files.to_list():
            files["{}/{}/{}".format(backend.package, directory, file.basename)] = file
    for file in ctx.files.extension:
        files["{}/pjrt/{}".format(backend.package, file.basename)] = file
    if library.library:
        files["{}/{}".format(backend.package, backend.library_name)] = library.library
    return files

def _licenses(ctx, library, kernels):
    """Returns the licence texts by names that keep those of the library and the kernels apart from our own."""
    licenses = {file.basename: file for file in ctx.files.licenses}
    for file in library.licenses:
        licenses["{}.{}".format(library.library.basename.rsplit(".", 1)[0], file.basename)] = file
    for info in kernels:
        licenses.update({"{}.{}".format(info.package, file.basename): file for file in info.licenses})
    return licenses

def _write_provenance(ctx, library, kernels):
    """Writes the document that says where library and kernels came from."""
    document = ctx.actions.declare_file(_output_name(ctx, library.provider) + ".provenance.json")
    content = dict(
        library.provenance,
        licenses = [file.basename for file in library.licenses],
        kernels = [info.provenance for info in kernels],
    )
    ctx.actions.write(document, json.encode_indent(content, indent = "  ") + "\n")
    return document

def _pjrt_wheel_impl(ctx):
    backend, library = ctx.attr.backend[BackendInfo], ctx.attr.library[PjrtLibraryInfo]
    kernels = [target[KernelsInfo] for target in ctx.attr.kernels]
    files = _plugin_files(ctx, backend, library)
    licenses = _licenses(ctx, library, kernels)
    provenance = _write_provenance(ctx, library, kernels)
    tools = {name: target.files.to_list()[0] for target, name in ctx.attr.tools.items()}
    facts = {
        "kind": "plugin",
        "backend": backend.table.path,
        "readme": backend.readme.path,
        "provenance": provenance.path,
        "files": {member: files[member].path for member in sorted(files)},
        "kernels": {info.python: [file.path for file in info.files] for info in kernels},
        "licenses": {name: licenses[name].path for name in sorted(licenses)},
        "tools": {name: tools[name].path for name in sorted(tools)},
    }
    if library.requirement:
        facts["requirement"] = library.requirement
    lock = ctx.attr._lock[FlagInfo].value
    if lock:
        facts["lock"] = json.decode(lock)
    return _assemble(
        ctx,
        provider = library.provider,
        facts = facts,
        inputs = [backend.table, backend.readme, provenance] + files.values() + licenses.values() + tools.values() +
                 [file for info in kernels for file in info.files],
        message = "Assembling the wheel of {}".format(backend.package),
    )

pjrt_wheel = rule(
    implementation = _pjrt_wheel_impl,
    doc = """The wheel of one backend; a directory with its report.

It holds the loader, shared loader code, the extension, the library unless the wheel only requires it, and kernels.""",
    attrs = dict(
        _ASSEMBLE_ATTRS,
        backend = attr.label(mandatory = True, providers = [BackendInfo], doc = "The accelerator."),
        extension = attr.label(
            allow_files = [".so"],
            default = "//plugins/pjrt:extension",
            doc = "The extension, a file for each ABI of Python, put into <package>/pjrt.",
        ),
        kernels = attr.label_list(providers = [KernelsInfo], doc = "Extension modules that JAX imports itself."),
        library = attr.label(mandatory = True, providers = [PjrtLibraryInfo], doc = "The PJRT plugin library."),
        licenses = attr.label_list(allow_files = True, default = ["//:LICENSE"], doc = "Our own licence texts."),
        shared_loaders = attr.label_keyed_string_dict(
            allow_files = True,
            default = {"//plugins/pjrt:loader": "pjrt"},
            doc = "Loader code that backends share, by the subpackage of <package> it becomes.",
        ),
        tools = attr.label_keyed_string_dict(
            allow_files = True,
            doc = "Programs that assembly runs, by the name it knows them under.",
        ),
        _lock = attr.label(default = "//build:lock", providers = [FlagInfo]),
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
        python = attr.string(mandatory = True, doc = "The Python, by its ABI tag, such as cp312 or cp314t."),
        wheel = attr.label(allow_single_file = [".whl"], mandatory = True, doc = "Upstream's wheel."),
        _provider = attr.label(default = "//build:provider_name", providers = [FlagInfo]),
    ),
    provides = [WheelInfo],
)
