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
    "_lock": attr.label(default = "//build:lock", providers = [FlagInfo]),
    "_options": attr.label(default = "//build:assemble_options", providers = [FlagInfo]),
    "_platform": attr.label(default = "//build:platform", providers = [FlagInfo]),
    "_provider": attr.label(default = "//build:provider_name", providers = [FlagInfo]),
    "_tool": attr.label(default = "//build:assemble_tool", providers = [PythonToolInfo]),
}

def _output_name(ctx):
    """Returns a name per platform and provider: going back to one that was built before is not a build."""
    return "{}/{}-{}".format(ctx.label.name, ctx.attr._platform[FlagInfo].value, ctx.attr._provider[FlagInfo].value)

def _assemble(ctx, facts, inputs, message):
    """Writes the manifest and lets the tool turn it into a directory with a wheel and a report."""
    platform = ctx.attr._platform[FlagInfo].value
    tool = ctx.attr._tool[PythonToolInfo]

    name = _output_name(ctx)
    manifest = ctx.actions.declare_file(name + ".manifest.json")
    output = ctx.actions.declare_directory(name)
    content = dict(
        facts,
        schema = 1,
        platform = platform,
        provider = ctx.attr._provider[FlagInfo].value,
        release = ctx.file.release.path,
    )
    lock = ctx.attr._lock[FlagInfo].value
    if lock:
        content["lock"] = json.decode(lock)
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
    """Returns the place in the wheel of a file of the loader: the part of its path from the package, or of a chip."""
    if file.dirname.endswith("/targets"):
        return "{}/targets/{}".format(backend.package, file.basename)
    marker = "/{}/".format(backend.package)
    if marker not in file.path:
        fail("{} does not lie below a directory {}".format(file.path, backend.package))
    return backend.package + "/" + file.path.split(marker, 1)[1]

def _plugin_files(ctx, backend, library):
    """Returns the members of the wheel that are known by name."""
    files = {_member(backend, file): file for file in backend.loader.to_list()}
    for target, directory in ctx.attr.shared_loaders.items():
        for file in target.files.to_list():
            files["{}/{}/{}".format(backend.package, directory, file.basename)] = file
    for file in ctx.files.extension:
        files["{}/pjrt/{}".format(backend.package, file.basename)] = file
    if library.library:
        files["{}/{}".format(backend.package, backend.library_name)] = library.library
    return files

def _assemble_backend(ctx, kind, files, prefix, origin, more_facts, more_inputs, message):
    """Assembles a wheel of a backend, with what every one of them has.

    Args:
        ctx: Context of the rule, which has _BACKEND_ATTRS.
        kind: Kind of the manifest.
        files: Members by path, or kernels by file name.
        prefix: What keeps licence texts of upstream's apart from our own.
        origin: KernelsInfo or PjrtLibraryInfo: what is known of what the wheel was made from.
        more_facts: What only such a manifest says.
        more_inputs: Files that only that names.
        message: What Bazel shows.
    """
    backend = ctx.attr.backend[BackendInfo]
    licenses = {file.basename: file for file in ctx.files.licenses}
    licenses.update({"{}.{}".format(prefix, file.basename): file for file in origin.licenses + backend.licenses})
    tools = {name: target.files.to_list()[0] for target, name in ctx.attr.tools.items()}
    provenance = ctx.actions.declare_file(_output_name(ctx) + ".provenance.json")
    stated = dict(origin.provenance, licenses = [file.basename for file in origin.licenses])
    ctx.actions.write(provenance, json.encode_indent(stated, indent = "  ") + "\n")
    facts = dict(
        more_facts,
        kind = kind,
        backend = backend.table.path,
        provenance = provenance.path,
        files = {member: files[member].path for member in sorted(files)},
        licenses = {name: licenses[name].path for name in sorted(licenses)},
        tools = {name: tools[name].path for name in sorted(tools)},
    )
    inputs = [backend.table, provenance] + files.values() + licenses.values() + tools.values() + more_inputs
    return _assemble(ctx, facts = facts, inputs = inputs, message = message)

_BACKEND_ATTRS = dict(
    _ASSEMBLE_ATTRS,
    backend = attr.label(mandatory = True, providers = [BackendInfo], doc = "The accelerator."),
    licenses = attr.label_list(allow_files = True, default = ["//:LICENSE"], doc = "Our own licence texts."),
    tools = attr.label_keyed_string_dict(
        allow_files = True,
        doc = "Programs that assembly runs, by the name it knows them under.",
    ),
)

def _pjrt_wheel_impl(ctx):
    backend, library = ctx.attr.backend[BackendInfo], ctx.attr.library[PjrtLibraryInfo]
    return _assemble_backend(
        ctx,
        kind = "plugin",
        files = _plugin_files(ctx, backend, library),
        prefix = backend.library_name.rsplit(".", 1)[0],
        origin = library,
        more_facts = {"readme": backend.readme.path, "requirement": library.requirement},
        more_inputs = [backend.readme],
        message = "Assembling the wheel of {}".format(backend.package),
    )

pjrt_wheel = rule(
    implementation = _pjrt_wheel_impl,
    doc = """The wheel of one backend; a directory with its report.

It holds the loader, shared loader code, the extension, and the library unless the wheel only requires it.""",
    attrs = dict(
        _BACKEND_ATTRS,
        extension = attr.label(
            allow_files = [".so"],
            default = "//plugins/pjrt:extension",
            doc = "The extension, a file for each ABI of Python, put into <package>/pjrt.",
        ),
        library = attr.label(mandatory = True, providers = [PjrtLibraryInfo], doc = "The PJRT plugin library."),
        shared_loaders = attr.label_keyed_string_dict(
            allow_files = True,
            default = {"//plugins/pjrt:loader": "pjrt"},
            doc = "Loader code that backends share, by the subpackage of <package> it becomes.",
        ),
    ),
    provides = [WheelInfo],
)

def _kernels_wheel_impl(ctx):
    kernels = ctx.attr.kernels[KernelsInfo]
    return _assemble_backend(
        ctx,
        kind = "kernels",
        files = {file.basename: file for file in kernels.files},
        prefix = kernels.package,
        origin = kernels,
        more_facts = {"python": kernels.python},
        more_inputs = [],
        message = "Assembling the wheel of {} for {}".format(kernels.package, kernels.python),
    )

kernels_wheel = rule(
    implementation = _kernels_wheel_impl,
    doc = "The kernels of one backend for one Python; a directory with its report.",
    attrs = dict(
        _BACKEND_ATTRS,
        kernels = attr.label(mandatory = True, providers = [KernelsInfo], doc = "Extension modules that JAX imports itself."),
    ),
    provides = [WheelInfo],
)

def _bindings_wheel_impl(ctx):
    tables = [target[BackendInfo].table for target in ctx.attr.backends]
    return _assemble(
        ctx,
        facts = {
            "kind": "bindings",
            "python": ctx.attr.python,
            "wheel": ctx.file.wheel.path,
            "backends": [table.path for table in tables],
            "jax_commit": ctx.attr.jax_commit,
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
        jax_commit = attr.string(doc = "Commit of JAX that the wheel was built from; nothing for one of the package index."),
        python = attr.string(mandatory = True, doc = "The Python, by its ABI tag, such as cp312 or cp314t."),
        wheel = attr.label(allow_single_file = [".whl"], mandatory = True, doc = "Upstream's wheel."),
    ),
    provides = [WheelInfo],
)
