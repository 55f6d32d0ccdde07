# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The page that says how to install: the picker, and the tables that have the same without a script."""

from __future__ import annotations

from collections.abc import Iterable

import jinja2

from pjrtwheel.products.index.release_pages import picker
from pjrtwheel.products.index.release_pages.releases import Release


def render_install_page(
    templates: jinja2.Environment, releases: tuple[Release, ...], release: Release | None, *, base: str, home: str
) -> str:
    """Return the page that says how to install a release; that of the newest has the picker, for all of them.

    Args:
        templates: The templates.
        releases: All releases of the index.
        release: The one that the page is about; nothing if the index has none.
        base: Address of the folder of the other pages, as this one links to it.
        home: Address of the page of the newest release.
    """
    offer = picker.read_offer()
    is_known = release is not None and picker.is_known(release)
    is_main = release is None or release.newest
    return templates.get_template("install.html").render(
        page="install",
        base=base,
        home=home,
        releases=releases,
        release=release,
        offer=offer,
        systems=[(system, _alike(picker.answer(offer, release, system))) for system in offer.systems]
        if release and is_known
        else [],
        index=picker.INDEX,
        data=picker.picker_data(offer, releases) if is_main and any(map(picker.is_known, releases)) else None,
        names=_require_plugins(release) if release and not is_known else [],
    )


def _alike(answers: Iterable[picker.Answer]) -> list[list[picker.Answer]]:
    """Return answers that give the same commands together, in the order of the first of each."""
    groups: dict[tuple[tuple[str, ...], ...], list[picker.Answer]] = {}
    for answer in answers:
        groups.setdefault(tuple(answer.commands.values()), []).append(answer)
    return list(groups.values())


def _require_plugins(release: Release) -> list[str]:
    """Return what to install of a release about which the selector knows nothing: each plugin by its name."""
    names = dict.fromkeys(wheel.project for wheel in release.plugins() or release.wheels)
    return [picker.quote(f"{name}=={release.version}") for name in names]
