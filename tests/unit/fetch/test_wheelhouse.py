# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The tools' own wheels: what is kept when pip fails."""

from pathlib import Path

import pytest

from pjrtwheel.errors import FetchError
from pjrtwheel.fetch.wheelhouse import install_tools, wheelhouse_path


def test_damaged_wheel_is_named_with_its_folder(tmp_path: Path) -> None:
    """Removing that fetches it again; what is damaged stays for whoever looks into it."""
    requirements = tmp_path / "requirements.txt"
    requirements.write_text(f"x==1 --hash=sha256:{'ab' * 32}\n", "utf-8")
    wheels = wheelhouse_path(tmp_path, requirements.read_text("utf-8"))
    wheels.mkdir(parents=True)
    (wheels / "x-1-py3-none-any.whl").write_bytes(b"damaged")
    with pytest.raises(FetchError) as caught:
        install_tools(requirements, tmp_path / "out", tmp_path)
    assert str(wheels) in caught.value.remedy
    assert (wheels / "x-1-py3-none-any.whl").read_bytes() == b"damaged"
