# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Make sure that a backend which is named by its package is the one that serves, and not another for its platform."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from jaxlib_select.apply.installer import show
from jaxlib_select.doctor.backends import distributions_of, explain_absence, is_installed, platforms_of
from jaxlib_select.doctor.examine import examine_here, installer_of
from jaxlib_select.doctor.predict import Platform
from jaxlib_select.errors import BackendError


def check_provider(backend: str) -> None:
    """Make sure that the package is installed which a backend is named by, and that JAX takes that one.

    Args:
        backend: Its name; that of a platform is kept by whatever serves it.

    Raises:
        BackendError: It is not.
    """
    names = distributions_of(backend)
    if not names:
        return
    if not any(is_installed(name) for name in names):
        raise explain_absence(backend)
    report = examine_here()
    other = find_other(report.prediction.platforms, platforms_of(backend), names)
    if other is None:
        return
    remedy = "find out more: jaxlib-select doctor"
    if is_installed(other.provider):
        remedy = f"remove it: {show(installer_of(report.environment).uninstall((other.provider,)))}"
    raise BackendError(
        f"backend {backend!r} cannot be used here",
        cause=f"{other.provider} is for JAX's platform {other.platform!r} as well, and JAX takes that one",
        remedy=remedy,
    )


def find_other(found: Iterable[Platform], platforms: Collection[str], names: Collection[str]) -> Platform | None:
    """Return the platform that is provided by another distribution than those of these names."""
    return next((entry for entry in found if entry.platform in platforms and entry.provider not in names), None)
