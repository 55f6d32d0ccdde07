# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a build system returned, as far as it can be seen without one."""

from pathlib import Path

import pytest

from folders import write_files
from pjrtwheel.bazel.recheck import check_results
from pjrtwheel.errors import WheelError


@pytest.mark.parametrize("files", [{}, {"a.whl": "", "b.whl": "", "report.json": "{}"}], ids=["empty", "two wheels"])
def test_a_folder_that_is_not_one_wheel_is_forgotten(tmp_path: Path, files: dict[str, str]) -> None:
    """Bazel would call it up to date in the next build."""
    directory = tmp_path / "base/execroot/main/bazel-out/wheel"
    directory.mkdir(parents=True)
    write_files(directory, files)
    directory.chmod(0o555)
    with pytest.raises(WheelError):
        check_results([directory], tmp_path, tmp_path / "base", is_shared=False)
    assert not directory.exists()
