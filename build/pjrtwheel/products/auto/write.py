# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Write the wheels of `jaxlib-auto`, which hold nothing but metadata."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.products.auto.document import MEMBER, variant_document
from pjrtwheel.products.auto.variants import Variant
from pjrtwheel.wheel.metadata import wheel_metadata
from pjrtwheel.wheel.names import make_name
from pjrtwheel.wheel.report import BuiltWheel
from pjrtwheel.wheel.write.assemble import write_wheel
from pjrtwheel.wheel.write.plan import WheelPlan, text_source

DISTRIBUTION = "jaxlib-auto"


@dataclass(frozen=True, slots=True)
class Common:
    """What all wheels of a release share.

    Attributes:
        version: The JAX release.
        requires_python: Which Pythons the packages run on.
        readme: The description, in Markdown.
        license: Text of the licence.
        lock_id: Identity of the set whose packages are required.
    """

    version: str
    requires_python: str
    readme: str
    license: str
    lock_id: str


def write_variant(variant: Variant, common: Common, folder: Path) -> BuiltWheel:
    """Write one wheel.

    Args:
        variant: The wheel.
        common: What it shares with the others.
        folder: Where it is written.

    Raises:
        WheelError: The disk is full.
    """
    name = make_name(DISTRIBUTION, common.version, f"py3-none-{variant.platform}", label=variant.label)
    metadata = _metadata(variant, common)
    texts = {
        "METADATA": metadata,
        "WHEEL": wheel_metadata(name, purelib=True),
        "licenses/LICENSE": common.license,
        **({MEMBER: variant_document(variant)} if variant.label else {}),
    }
    members = tuple(text_source(f"{name.dist_info}/{path}", text) for path, text in texts.items())
    report = write_wheel(WheelPlan(name, members, metadata, common.lock_id, "none"), folder)
    return BuiltWheel(folder / report.wheel, report)


def _metadata(variant: Variant, common: Common) -> str:
    """Return METADATA."""
    fields = [
        ("Metadata-Version", "2.4"),
        ("Name", DISTRIBUTION),
        ("Version", common.version),
        ("Summary", "The accelerator package of a JAX release that fits this machine"),
        ("License-Expression", "Apache-2.0"),
        ("License-File", "LICENSE"),
        ("Requires-Python", common.requires_python),
        *(("Requires-Dist", need) for need in variant.requires),
        ("Description-Content-Type", "text/markdown"),
    ]
    return "".join(f"{key}: {value}\n" for key, value in fields) + f"\n{common.readme}"
