# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The PJRT plugin library behind `//plugins/<backend>:library`, from each of the three providers."""

load("//build/rules:providers.bzl", "FlagInfo", "PjrtLibraryInfo")

_KEYS = ["project", "version", "filename", "sha256", "member"]

def _provenance(ctx):
    """Returns what is known of the library's origin; the same keys for every provider."""
    facts = ctx.attr.provenance
    unknown = [key for key in facts if key not in _KEYS]
    if unknown:
        fail("{}: unknown provenance {}, known are {}".format(ctx.label, unknown, _KEYS))
    provenance = {key: facts.get(key) for key in _KEYS}
    provenance["provider"] = ctx.attr._provider[FlagInfo].value
    provenance["xla_commit"] = None
    return dict(provenance, **_xla_provenance(ctx)) if ctx.attr.xla_commit else provenance

def _xla_provenance(ctx):
    """Returns what is known of the XLA that the library was built from, and how."""
    options = json.decode(ctx.attr._options[FlagInfo].value)
    is_pinned = not [key for key in ["commit", "overridden", "patches", "tree"] if key in options]
    is_unknown = "overridden" in options or "tree" in options
    xla = {
        "xla_commit": None if is_unknown else options.get("commit", ctx.attr.xla_commit),
        "xla_verified": is_pinned and ctx.attr.xla_verified,
    }
    return dict(xla, options = options) if options else xla

def _pjrt_library_impl(ctx):
    if bool(ctx.file.library) == bool(ctx.attr.requirement):
        fail("{}: either a library or the requirement that brings it".format(ctx.label))
    return [
        DefaultInfo(files = depset([ctx.file.library] if ctx.file.library else [])),
        PjrtLibraryInfo(
            library = ctx.file.library,
            licenses = ctx.files.licenses,
            provenance = _provenance(ctx),
            requirement = ctx.attr.requirement,
        ),
    ]

pjrt_library = rule(
    implementation = _pjrt_library_impl,
    doc = "A PJRT plugin library and where it came from, or the requirement that brings it.",
    attrs = {
        "library": attr.label(allow_single_file = True, doc = "The shared library, if the wheel carries it."),
        "licenses": attr.label_list(allow_files = True, doc = "Licence texts and notices that go with it."),
        "provenance": attr.string_dict(doc = "What is known of its origin: " + ", ".join(_KEYS)),
        "requirement": attr.string(doc = "The distribution that brings the library, if the wheel does not carry it."),
        "xla_commit": attr.string(doc = "The release's commit of XLA; only for a build from source."),
        "xla_verified": attr.bool(doc = "Whether that commit was read in JAX's own tree at the release's tag."),
        "_options": attr.label(default = "//build:source_options", providers = [FlagInfo]),
        "_provider": attr.label(default = "//build:provider_name", providers = [FlagInfo]),
    },
)

def pin_provenance(pin):
    """Returns what a pin says of the origin of a file.

    Args:
        pin: The pin of the wheel, as a dict.
    """
    return {key: pin[key] for key in ["project", "version", "filename", "sha256"]}

def prebuilt_library(name, pin, member, **kwargs):
    """Declares a library that was taken out of a wheel, or stays in it.

    Args:
        name: Name of the target.
        pin: The pin of the wheel, as a dict.
        member: Where the library lay in it.
        **kwargs: Passed on to pjrt_library.
    """
    pjrt_library(
        name = name,
        provenance = dict(pin_provenance(pin), member = member),
        **kwargs
    )

def file_library(name, filename, sha256, **kwargs):
    """Declares a library that was given by its path.

    Args:
        name: Name of the target.
        filename: Its file name.
        sha256: Its digest.
        **kwargs: Passed on to pjrt_library.
    """
    pjrt_library(
        name = name,
        provenance = {"filename": filename, "sha256": sha256},
        **kwargs
    )
