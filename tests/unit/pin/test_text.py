# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The text of a pins file, and the two files that are kept by hand."""

from dataclasses import replace
from pathlib import Path

import pytest
from packaging.version import Version

from pjrtwheel.errors import PinError
from pjrtwheel.pin import find_overrides, find_xla, render_release
from pjrtwheel.pin.choose import Inputs
from pjrtwheel.release.known import list_releases, load_release
from pjrtwheel.release.model import Absent, Override, Pin, Release, XlaSource, parse_release
from pjrtwheel.tables import TableError, load_toml, read_toml
from release_under_test import ROOT

PATH = Path("releases/1.2.3.toml")
FIRST = Pin("bindings.cp313.linux_x86_64", "jaxlib", "1.2.3", "jaxlib-1.2.3-cp313-cp313-linux_x86_64.whl", "cd" * 32, 5)
SECOND = Pin("header.pjrt_c_api", "pjrt-header", "7", "pjrt_header-7-py3-none-any.whl", "ef" * 32, 6)
RELEASE = Release(
    pins={FIRST.key: FIRST, SECOND.key: SECOND},
    digest="",
    path=PATH,
    version="1.2.3",
    build=4,
    commits={"jax": "ab" * 20, "jaxlib": "cd" * 20},
    extras={"abacus": {"with-beads": ("beads>=5,<6", "rods")}},
    absent=(
        Absent("plugin.abacus.linux_aarch64", "abacus-pjrt", "1.2.3", "the index has none"),
        Absent("kernels.abacus.cp315.linux_x86_64", "abacus-kernels", "1.2.3", "nor these"),
    ),
    overrides=(Override("abacus", "1.2.2", 'its "own" is late'),),
    xla=XlaSource("c0ffee", "ab" * 32, "7.7.0", verified=False, origin='a "quoted" place'),
)


def test_text_is_read_back_as_it_was_written() -> None:
    """Writing and reading are each other's inverse, quotes included; what is absent is in order of key."""
    text = render_release(RELEASE)
    found = parse_release(text, PATH)
    assert replace(found, digest="") == replace(RELEASE, absent=RELEASE.absent[::-1])
    assert render_release(found) == text


def test_order_of_the_answers_does_not_change_the_text() -> None:
    """The digest of the file depends on what is pinned alone."""
    other = replace(
        RELEASE,
        pins=dict(reversed(RELEASE.pins.items())),
        absent=RELEASE.absent[::-1],
        commits=dict(reversed(RELEASE.commits.items())),
    )
    assert render_release(other) == render_release(RELEASE)


@pytest.mark.parametrize("version", list_releases(ROOT))
def test_release_in_the_repository_was_written_by_the_command(version: str) -> None:
    """The file is byte for byte what the command writes, so it was not edited by hand; the hand-kept parts are true."""
    release = load_release(ROOT, version)
    assert release.path.read_text("utf-8") == render_release(release)
    assert release.xla == find_xla((ROOT / "releases/xla.toml").read_text("utf-8"), version)
    assert release.overrides == find_overrides((ROOT / "releases/overrides.toml").read_text("utf-8"), version)


@pytest.mark.parametrize(
    ("label", "build", "version", "tag"),
    [("split", 4, "1.2.3+split.4", ""), ("acme.gpu", 0, "1.2.3+acme.gpu.0", ""), ("", 0, "1.2.3", "0")],
)
def test_label_and_number_survive_the_file(label: str, build: int, version: str, tag: str) -> None:
    """An empty label and number zero are written too; without a label the number is jaxlib's build tag."""
    found = parse_release(render_release(replace(RELEASE, label=label, build=build)), PATH)
    assert (found.label, found.set_version, found.build_tag) == (label, version, tag)
    assert str(Version(found.set_version)) == version  # in normal form, as file names have it


@pytest.mark.parametrize("label", ["Split", "split-1", "split_a", "1", "split.01", "a..b", "."])
def test_a_label_that_versions_do_not_have_in_normal_form_is_refused(label: str) -> None:
    """Installers would call the wheels otherwise than we do."""
    with pytest.raises(PinError, match="malformed pins file") as caught:
        parse_release(render_release(replace(RELEASE, label=label)), PATH)
    assert caught.value.cause.startswith("label: ")
    with pytest.raises(TableError, match=r"^label: "):
        read_toml(Inputs, f'label = "{label}"\ninput = []\n')


def test_the_label_of_new_releases_is_a_fact_of_the_repository() -> None:
    """Pinning takes it from `releases/inputs.toml`, so pinning again gives what is there."""
    label = load_toml(Inputs, ROOT / "releases/inputs.toml").label
    assert {load_release(ROOT, version).label for version in list_releases(ROOT)} == {label}
    assert read_toml(Inputs, "input = []\n").label == ""
