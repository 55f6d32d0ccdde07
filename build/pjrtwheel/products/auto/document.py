# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The documents of wheel variants (PEP 825), written by variantlib: `variant.json`, and the list of a release.

uv brings the providers along under these names and never installs them; a version outside its own would switch one off.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pjrtwheel.products.auto.variants import Variant

if TYPE_CHECKING:
    from variantlib.models.variant import VariantDescription
    from variantlib.models.variant_info import VariantInfo

MEMBER = "variant.json"

# In order of priority. Namespace → what provides it, and its entry point, which uv wants to be given.
_PROVIDERS = {
    "tpu": ("tpu-variant-provider", "tpu_variant_provider.plugin:TpuVariantPlugin"),
    "nvidia": ("nvidia-variant-provider>=0.0.1,<1", "nvidia_variant_provider.plugin:NvidiaVariantPlugin"),
}


def variant_document(variant: Variant) -> str:
    """Return the `variant.json` of one wheel."""
    from variantlib.api import make_variant_dist_info  # noqa: PLC0415 - only those who make variants have it

    return f"{make_variant_dist_info(_describe(variant), _info())}\n"


def release_document(variants: Iterable[Variant]) -> str:
    """Return the list of all variants of a release, which lies beside the wheels."""
    from variantlib.variants_json import VariantsJson  # noqa: PLC0415 - as above

    document = VariantsJson(_info())
    document.variants = {variant.label: _describe(variant) for variant in variants}
    return f"{document.to_str()}\n"


def _info() -> VariantInfo:
    """Return what all wheels have in common."""
    from variantlib.models.variant_info import ProviderInfo, VariantInfo  # noqa: PLC0415 - as above

    providers = {name: ProviderInfo(requires=[need], plugin_api=api) for name, (need, api) in _PROVIDERS.items()}
    return VariantInfo(namespace_priorities=list(providers), providers=providers)


def _describe(variant: Variant) -> VariantDescription:
    """Return the properties of a wheel."""
    from variantlib.models.variant import VariantDescription, VariantProperty  # noqa: PLC0415 - as above

    properties = [VariantProperty(*text.split("::")) for text in variant.properties]
    return VariantDescription(properties, label=variant.label)
