# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a build system returned, as far as it can be seen without one."""

from pathlib import Path

import pytest

from folders import write_files
from pjrtwheel.bazel.events import Action
from pjrtwheel.bazel.recheck import check_filled, check_results
from pjrtwheel.errors import BazelError, WheelError


def action(name: str, mnemonic: str = "AssembleWheel") -> Action:
    """Return an action that writes one folder."""
    return Action(mnemonic, f"//a:{name}", f"bazel-out/{name}")


def test_an_action_without_a_wheel_is_an_error_and_is_forgotten(tmp_path: Path) -> None:
    """A folder that is empty, or not there, would be up to date in the next build."""
    made = write_files(tmp_path / "execroot/main/bazel-out", {"full/a.whl": "", "other/a.o": ""})
    (made / "empty").mkdir()
    (made / "empty").chmod(0o555)
    fine = (action("full"), action("other", "CompileExtension"))
    check_filled(fine, tmp_path)
    with pytest.raises(BazelError) as caught:
        check_filled((*fine, action("empty"), action("absent")), tmp_path)
    assert caught.value.what == "Bazel returned no wheel for //a:empty, //a:absent"
    assert sorted(path.name for path in made.iterdir()) == ["full", "other"]


@pytest.mark.parametrize("files", [{}, {"a.whl": "", "b.whl": "", "report.json": "{}"}], ids=["empty", "two wheels"])
def test_a_folder_that_is_not_one_wheel_is_forgotten(tmp_path: Path, files: dict[str, str]) -> None:
    """Bazel would call it up to date in the next build."""
    directory = tmp_path / "base/execroot/main/bazel-out/wheel"
    directory.mkdir(parents=True)
    write_files(directory, files)
    directory.chmod(0o555)
    with pytest.raises(WheelError):
        check_results([directory], tmp_path, tmp_path / "base", tmp_path / "cache")
    assert not directory.exists()
