# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What destinations take, and files of decisions that cannot be read."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.errors import PinError
from pjrtwheel.publish.destinations import (
    DESTINATIONS_FILE,
    Destination,
    DestinationKind,
    check_limits,
    load_destinations,
)
from pjrtwheel.publish.yanked import read_reasons
from release_entries import entry_of


def test_a_missing_or_damaged_file_is_an_error(tmp_path: Path) -> None:
    """Of those who decide, and not as Python has it."""
    with pytest.raises(PinError):
        load_destinations(tmp_path)
    path = tmp_path / DESTINATIONS_FILE
    path.parent.mkdir()
    path.write_bytes(b"\xff")
    for read in (lambda: load_destinations(tmp_path), lambda: read_reasons(path, [])):
        with pytest.raises(PinError):
            read()


ANY = Destination(DestinationKind.UPLOAD_API, "anywhere", "takes all", variants=True)
CPU = entry_of("jaxlib_cpu-1.2.3+split.1-cp312-abi3-manylinux_2_27_x86_64.whl", size=100)
VARIANT = entry_of("jaxlib_auto-1.2.3-1-py3-none-any-cpu.whl", size=50)


@pytest.mark.parametrize(
    ("limits", "documents", "number"),
    [
        ({}, 2000, 0),
        ({"file_limit": 100}, 0, 0),
        ({"file_limit": 99}, 0, 1),
        ({"file_count": 2}, 0, 0),
        ({"file_count": 2}, 1, 1),
        ({"file_count": 2, "documents": False}, 1, 0),
        ({"file_count": 5, "kind": DestinationKind.GITHUB}, 1, 0),  # METADATA of each wheel lies next to it
        ({"file_count": 5, "kind": DestinationKind.GITHUB}, 2, 1),
        ({"opt_in": True, "names": ("JAXlib.Auto",)}, 0, 1),
        ({"labels": False}, 0, 1),
        ({"file_limit": 40, "file_count": 1, "opt_in": True}, 0, 5),
        ({"file_limit": 100, "file_count": 1, "variants": False}, 0, 0),  # they do not count where they do not go
    ],
)
def test_all_that_a_destination_would_refuse_is_said(limits: dict[str, Any], documents: int, number: int) -> None:
    """A sentence for each: files that are too large, projects that are not ours there, labels, the number of files."""
    names = [str(name) for name in range(documents)]
    assert len(list(check_limits(replace(ANY, **limits), [CPU, VARIANT], names))) == number
