# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The picture of the README shows the wheels that were measured, to scale, in both themes."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from pjrtwheel.backend import load_backends
from pjrtwheel.docs.measures import Measure
from pjrtwheel.docs.picture import render_pictures
from pjrtwheel.docs.wheels import read_measures

SVG = "{http://www.w3.org/2000/svg}"
CUDA13 = {"jax-cuda13-pjrt", "jax-cuda13-plugin", "jaxlib-cuda-13"}


@pytest.fixture
def measures(root: Path) -> tuple[Measure, ...]:
    """Return what was measured."""
    return read_measures(root)


@pytest.fixture(params=["light", "dark"])
def picture(root: Path, measures: tuple[Measure, ...], request: pytest.FixtureRequest) -> ET.Element:
    """Return one of the two pictures."""
    pictures = render_pictures(measures, load_backends(root).values())
    assert sorted(pictures) == ["docs/images/wheels-dark.svg", "docs/images/wheels-light.svg"]
    return ET.fromstring(pictures[f"docs/images/wheels-{request.param}.svg"])  # noqa: S314 - our own


def boxes(picture: ET.Element) -> dict[str, float]:
    """Return the width of the box of each wheel, by file name."""
    found = {}
    for box in picture.iter(f"{SVG}rect"):
        if (title := box.find(f"{SVG}title")) is not None and title.text:
            found[title.text.split(":")[0]] = float(box.attrib["width"]) + 1  # and the gap to the next
    return found


def test_each_wheel_with_a_library_is_a_box_as_wide_as_its_download(
    picture: ET.Element, measures: tuple[Measure, ...]
) -> None:
    """Boxes too narrow to see are wider. libtpu is no part of JAX, and a third party makes the library of the CPU."""
    sizes = {row.wheel: row.size for row in measures if row.tag.endswith("x86_64")}
    wheels = boxes(picture)
    absent = {row.distribution for row in measures if row.wheel in sizes and row.wheel not in wheels}
    assert absent == {"libtpu", "jaxlib-tpu", "lammps-jax-pjrt-cpu"}
    scales = {width / sizes[wheel] for wheel, width in wheels.items() if width > 20}
    assert max(scales) == pytest.approx(min(scales), rel=0.01)


def test_sums_are_those_of_the_boxes(picture: ET.Element, measures: tuple[Measure, ...]) -> None:
    """Each side says how many wheels it has, and their size; so does the title, for those who cannot see."""
    rows = [row for row in measures if row.wheel in boxes(picture)]
    sides = [[row for row in rows if row.locked == ours] for ours in (False, True)]
    sums = [f"{len(side)} wheels, {sum(row.size for row in side) / 1e6:.1f} MB" for side in sides]
    texts = [element.text or "" for element in picture.iter(f"{SVG}text")]
    assert [text.removeprefix("together ") for text in texts if text.startswith("together ")] == sums
    title = picture.find(f"{SVG}title")
    assert title is not None
    assert re.findall(r"\d+ wheels, [\d.]+ MB", title.text or "") == sums


def test_a_wheel_that_changed_its_size_changes_the_picture(root: Path, measures: tuple[Measure, ...]) -> None:
    """So that a picture that is older than its data is noticed."""
    backends = load_backends(root).values()
    fewer = [row for row in measures if row.distribution not in CUDA13]
    assert render_pictures(fewer, backends) != render_pictures(measures, backends)


def test_nothing_is_loaded_and_all_text_is_inside(picture: ET.Element) -> None:
    """GitHub shows it as an image, which may load nothing; no text begins or ends beyond an edge."""
    assert [element.tag for element in picture.iter() if any("href" in name for name in element.attrib)] == []
    _, _, width, height = map(float, picture.attrib["viewBox"].split())
    for text in picture.iter(f"{SVG}text"):
        assert 0 <= float(text.attrib["x"]) <= width
        assert 0 <= float(text.attrib["y"]) <= height
