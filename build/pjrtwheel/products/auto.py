# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Build `jaxlib-auto`: a plain wheel for the CPU, and variants (PEP 817, a draft) of which uv takes what fits.

They hold nothing but metadata, and are written by our own writer: setuptools gives a wheel without extension modules no
platform tag, and neither it nor `wheel pack` puts a variant's label into a file name. variantlib writes the documents
of PEP 825: `variant.json`, and the list of a release.
"""

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from variantlib.api import make_variant_dist_info
from variantlib.models.variant import VariantDescription, VariantProperty
from variantlib.models.variant_info import ProviderInfo, VariantInfo
from variantlib.variants_json import VariantsJson

from pjrtwheel.backend import Backend, load_backends
from pjrtwheel.dist_folder.folder import add_pure_python, withdraw
from pjrtwheel.errors import UsageError
from pjrtwheel.files import write_atomically
from pjrtwheel.products.pure_python import requires_python
from pjrtwheel.products.variants import Variant, make_variants
from pjrtwheel.record.entries import Entry, read_entries
from pjrtwheel.release.model import Release
from pjrtwheel.sets import AUTO
from pjrtwheel.wheel.assemble import write_wheel
from pjrtwheel.wheel.metadata import wheel_metadata
from pjrtwheel.wheel.names import VARIANTS_SUFFIX, WheelName, make_name
from pjrtwheel.wheel.plan import WheelPlan, text_source
from pjrtwheel.wheel.report import BuiltWheel

_STEM = AUTO.replace("-", "_")
_MEMBER = "variant.json"
_METADATA = """\
Metadata-Version: 2.4
Name: {name.distribution}
Version: {name.version}
Summary: The accelerator package of a JAX release that fits this machine
License-Expression: Apache-2.0
License-File: LICENSE
Requires-Python: {requires_python}
{requires}Description-Content-Type: text/markdown

{readme}"""
# In order of priority. Namespace → what provides it, and its entry point, which uv wants to be given. uv brings the
# providers along under these names and never installs them; a version outside its own would switch one off.
_PROVIDERS = {
    "tpu": ("tpu-variant-provider", "tpu_variant_provider.plugin:TpuVariantPlugin"),
    "nvidia": ("nvidia-variant-provider>=0.0.1,<1", "nvidia_variant_provider.plugin:NvidiaVariantPlugin"),
}


def build_auto(root: Path, dist: Path, release: Release) -> list[Variant]:
    """Build the wheels for what a folder has of a release, into that folder; the plain one comes first.

    Raises:
        UsageError: Nothing, or nothing for the CPU, was built into the folder, or its wheels are of several sets.
        VerifyError: A wheel breaks a promise.
        WheelError: `release.json` is damaged.
    """
    version = release.set_version
    # A variant that asks for a wheel that is gone would serve nobody.
    entries = [entry for entry in read_entries(dist).values() if (dist / entry.filename).is_file()]
    backends = list(load_backends(root).values())
    variants = make_variants(backends, entries, release)
    lock_id = _find_lock(backends, entries, version)
    readme, licence = (root / path for path in ("selector/auto/README.md", "LICENSE"))
    texts = {"readme": readme.read_text("utf-8"), "requires_python": requires_python(backends)}
    with tempfile.TemporaryDirectory(prefix="auto-") as scratch:
        built = [
            _write(variant, version, lock_id, texts, licence.read_text("utf-8"), Path(scratch)) for variant in variants
        ]
        add_pure_python(built, backends, root, dist)
    write_atomically(dist / list_filename(version), release_document(variants))
    # Last, as until now nothing is missing there: of an earlier run, what this one did not build, uv would still find.
    names = {path.name for path in dist.glob(f"{_STEM}-{version}-*.whl")}
    withdraw(names - {wheel.report.filename for wheel in built}, dist)
    return variants


def _find_lock(backends: Iterable[Backend], entries: Iterable[Entry], version: str) -> str:
    """Return the lock that the wheels of a version share."""
    names = {backend.distribution for backend in backends}
    locks = {entry.lock_id for entry in entries if entry.version == version and entry.distribution in names}
    if not locks:
        raise UsageError(f"no wheel of {version} was built into the folder", remedy="build it, or name another: --dist")
    if len(locks) != 1:
        raise UsageError(f"the wheels of {version} belong to {len(locks)} sets", remedy="build all of them again")
    return locks.pop()


def variant_name(variant: Variant, version: str) -> WheelName:
    """Return the name of a variant's wheel, or of the plain one."""
    return make_name(AUTO, version, f"py3-none-{variant.platform}", label=variant.label)


def list_filename(version: str) -> str:
    """Return the name of the list of all variants of a release, which lies next to the wheels."""
    return f"{_STEM}-{version}{VARIANTS_SUFFIX}"


def release_document(variants: Iterable[Variant]) -> str:
    """Return the list of all variants of a release, which lies next to the wheels; the plain wheel is none of them."""
    document = VariantsJson(_info())
    document.variants = {variant.label: _describe(variant) for variant in variants if variant.label}
    return f"{document.to_str()}\n"


def _write(
    variant: Variant, version: str, lock_id: str, texts: Mapping[str, str], licence: str, folder: Path
) -> BuiltWheel:
    """Write one wheel."""
    name = variant_name(variant, version)
    requires = "".join(f"Requires-Dist: {need}\n" for need in variant.requires)
    metadata = _METADATA.format(name=name, requires=requires, **texts)
    files = {"METADATA": metadata, "WHEEL": wheel_metadata(name, purelib=True), "licenses/LICENSE": licence}
    if variant.label:
        files[_MEMBER] = f"{make_variant_dist_info(_describe(variant), _info())}\n"
    members = tuple(text_source(f"{name.dist_info}/{path}", text) for path, text in files.items())
    report = write_wheel(WheelPlan(name, members, metadata, lock_id, "none"), folder)
    return BuiltWheel(folder / report.filename, report)


def _info() -> VariantInfo:
    providers = {name: ProviderInfo(requires=[need], plugin_api=api) for name, (need, api) in _PROVIDERS.items()}
    return VariantInfo(namespace_priorities=list(providers), providers=providers)


def _describe(variant: Variant) -> VariantDescription:
    properties = [VariantProperty(*text.split("::")) for text in variant.properties]
    return VariantDescription(properties, label=variant.label)
