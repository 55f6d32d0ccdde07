# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The file of withdrawals."""

from pathlib import Path

import pytest

from pjrtwheel.errors import PinError
from pjrtwheel.publish.yanked import read_reasons
from release_under_test import ROOT

TEXT = (ROOT / "tests/data/yanked.toml").read_text("utf-8")


def test_a_wheel_has_its_own_reason_or_that_of_its_release(tmp_path: Path) -> None:
    """The tag follows from the name; one with a build tag is of the release as well."""
    path = tmp_path / "yanked.toml"
    path.write_text(TEXT, "utf-8")
    names = ["jaxlib-1.2.3-py3-none-any.whl", "jaxlib_abacus-1.2.3-py3-none-any.whl", "jaxlib-1.2.4-py3-none-any.whl"]
    assert read_reasons(path, names) == {names[0]: "crashes", names[1]: "loses digits"}
    assert read_reasons(tmp_path / "none.toml", names) == {}


@pytest.mark.parametrize("old", ['tag = "v1.2.3"\n', 'reason = "crashes"\n'], ids=["about nothing", "no reason"])
def test_a_malformed_file_is_refused(tmp_path: Path, old: str) -> None:
    """Nothing would be withdrawn, or for no reason."""
    path = tmp_path / "yanked.toml"
    path.write_text(TEXT.replace(old, ""), "utf-8")
    with pytest.raises(PinError):
        read_reasons(path, [])
