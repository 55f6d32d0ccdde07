# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Several plugins for one platform, of which JAX can take only one, and accelerators beside each other."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlib_select.doctor.case import Case
from jaxlib_select.doctor.forecast import FAILS, count_by_platform
from jaxlib_select.doctor.report import NOTE, Finding
from jaxlib_select.installed.environment import Environment


def doubled_backends(case: Case) -> Iterator[Finding]:
    """Several plugins for one platform, or plugins for several accelerators."""
    for platform, labels in _rivals(case).items():
        keep = _kept(case, labels)
        others = [name for label in labels if label != keep for name in belongings(label, case.environment)]
        what = f"{' and '.join(labels)} are both for JAX's platform {platform!r}, and JAX can take only one"
        yield Finding(case.weigh(platform, FAILS), "doubled-backend", what, case.uninstall(others))
    accelerators = sorted({p.label for p in case.plugins if p.platform not in (None, "cpu") and p.location is not None})
    platforms = {p.platform for p in case.plugins if p.platform not in (None, "cpu")}
    if len(platforms) > 1:
        yield Finding(
            NOTE, "several-backends", f"plugins for several accelerators are installed: {', '.join(accelerators)}"
        )


def find_surplus(case: Case) -> set[str]:
    """Return the labels of the plugins that are to be removed, since another one is for the same platform."""
    return {label for labels in _rivals(case).values() for label in labels if label != _kept(case, labels)}


def belongings(distribution: str, environment: Environment) -> tuple[str, ...]:
    """Return a plugin's distribution and the one of its kernels, which upstream has apart."""
    stem, separator, _ = distribution.rpartition("-pjrt")
    kernels = f"{stem}-plugin"
    return (distribution, kernels) if separator and kernels in environment.distributions else (distribution,)


def _rivals(case: Case) -> dict[str, list[str]]:
    """Return the plugins for each platform that has several."""
    by_platform = count_by_platform(case.plugins, case.world)
    labels = {platform: sorted({rival.label for rival in rivals}) for platform, rivals in by_platform.items()}
    return {platform: found for platform, found in labels.items() if len(found) > 1}


def _kept(case: Case, labels: list[str]) -> str:
    wanted = case.decision.package if case.decision is not None else ""
    return wanted if wanted in labels else labels[-1]
