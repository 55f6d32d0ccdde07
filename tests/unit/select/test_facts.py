# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Reading facts about wheels, and versions in them."""

import json
from pathlib import Path

import pytest

from jaxlib_select import facts as facts_package
from jaxlib_select.errors import FactsError
from jaxlib_select.facts import load_facts, read_facts
from jaxlib_select.versions import in_range

FOLDER = Path(facts_package.__file__).parent


def test_the_newest_release_is_taken(tmp_path: Path) -> None:
    """By number, not by text; files about other packages do not count, and without any the installation is broken."""
    with pytest.raises(FactsError, match="no facts"):
        load_facts(folder=tmp_path)
    for name in ("0.9.1", "1.2.3", "1.2.10"):
        document: dict[str, object] = {"schema": 1, "release": name, "backends": []}
        (tmp_path / f"{name}.json").write_text(json.dumps(document), "utf-8")
    (tmp_path / "torch.json").write_text("{}", "utf-8")
    assert load_facts(folder=tmp_path).release == "1.2.10"
    assert load_facts("0.9.1", tmp_path).release == "0.9.1"
    with pytest.raises(FactsError, match=r"known releases: 0\.9\.1, 1\.2\.3, 1\.2\.10"):
        load_facts("1", tmp_path)


HEAD = '"schema": 1, "release": "1"'


@pytest.mark.parametrize(
    "text", ["", "[]", '{"schema": 2}', f'{{{HEAD}, "backends": [{{}}]}}', f'{{{HEAD}, "backends": 5}}']
)
def test_damaged_facts_are_named(text: str, tmp_path: Path) -> None:
    """With the file."""
    path = tmp_path / "1.json"
    path.write_text(text, "utf-8")
    with pytest.raises(FactsError, match=str(path)):
        read_facts(path)


def test_facts_about_pytorch_agree_with_ours_about_hardware() -> None:
    """Which chips are part of a processor, and which PCI ids an accelerator has, depends on the vendor alone."""
    ours = {backend.select.vendor: backend.select for backend in load_facts().backends if backend.select}
    torch = [backend.select for backend in read_facts(FOLDER / "torch.json").backends if backend.select]
    assert {select.vendor for select in torch} == {"cpu", "nvidia", "amd", "intel"}
    for select in torch:
        vendor = ours[select.vendor]
        assert (select.integrated, select.devices) == (vendor.integrated, vendor.devices)


@pytest.mark.parametrize(
    ("bounds", "inside", "outside"),
    [
        ("<7.5", [(7, 0)], [(7, 5)]),
        (">=10,<12", [(10, 0)], [(12, 0)]),
        ("==12", [(12, 0)], [(12, 1)]),
        ("<=9.0.0", [(9,)], [(9, 0, 1)]),
        (">9", [(9, 1)], [(9, 0)]),
        ("~=9.0.2", [(9, 0, 3)], [(9, 1)]),
        ("== 9.*, !=9.1.1", [(9, 1)], [(9, 1, 1), (10,)]),
        ("!=9.1", [(9,)], [(9, 1, 0)]),
    ],
)
def test_ranges(bounds: str, inside: list[tuple[int, ...]], outside: list[tuple[int, ...]]) -> None:
    """Zeros at the end do not count."""
    assert [version for version in [*inside, *outside] if in_range(version, bounds)] == inside


@pytest.mark.parametrize("bounds", ["", "7.5", "<", "~=7", "<7,,>5", ">7.*", "<7, >"])
def test_a_bad_range_is_refused(bounds: str) -> None:
    """It stands in a file that the build writes."""
    with pytest.raises(ValueError, match="no bound"):
        in_range((1,), bounds)
