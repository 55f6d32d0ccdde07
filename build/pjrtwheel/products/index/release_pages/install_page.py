# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The page that says how to install: the picker, and the tables that have the same without a script."""

from __future__ import annotations

from collections.abc import Iterable

import jinja2

from pjrtwheel.products.index.release_pages import picker
from pjrtwheel.products.index.release_pages.places import FOLDER, MAIN_PAGE
from pjrtwheel.products.index.release_pages.releases import Release


def render_install_page(templates: jinja2.Environment, releases: tuple[Release, ...], release: Release | None) -> str:
    """Return the page that says how to install a release; that of the newest has the picker, for all of them."""
    offer = picker.read_offer()
    is_known = release is not None and picker.is_known(release)
    is_main = release is None or release.newest
    return templates.get_template("install.html").render(
        page="install",
        base=f"{FOLDER}/" if is_main else "",
        home=MAIN_PAGE if is_main else f"../{MAIN_PAGE}",
        releases=releases,
        release=release,
        offer=offer,
        systems=[(system, _alike(picker.answer(offer, release, system))) for system in offer.systems]
        if release and is_known
        else [],
        index=picker.INDEX,
        data=picker.picker_data(offer, releases) if is_main and any(map(picker.is_known, releases)) else None,
        names=_names(release) if release and not is_known else [],
    )


def _alike(answers: Iterable[picker.Answer]) -> list[list[picker.Answer]]:
    """Return answers that give the same commands together, in the order of the first of each."""
    groups: dict[tuple[tuple[str, ...], ...], list[picker.Answer]] = {}
    for answer in answers:
        groups.setdefault(tuple(answer.commands.values()), []).append(answer)
    return list(groups.values())


def _names(release: Release) -> list[str]:
    """Return what to install of a release about which the selector knows nothing: each plugin by its name."""
    names = dict.fromkeys(wheel.project for wheel in release.plugins() or release.wheels)
    return [picker.quote(f"{name}=={release.version}") for name in names]
