# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The file of withdrawals: what is added to it, and what stays of what persons wrote."""

from __future__ import annotations

from pathlib import Path

from pjrtwheel.publish.yanked import add_yanked, read_yanked

WHEELS = ("a-1-py3-none-any.whl", "b-1-py3-none-any.whl")
TEXT = '# Whoever reads this.\n\n[[yanked]]\ntag = "v0"\nreason = "old"  # said by all\ndate = "2026-01-01"\n'


def test_a_withdrawal_is_added_to_what_is_there(tmp_path: Path) -> None:
    """Comments stay as well; the same withdrawal again changes nothing."""
    path = tmp_path / "yanked.toml"
    path.write_text(TEXT, "utf-8")
    for _ in range(2):
        add_yanked(path, WHEELS, "wrong sums", "2026-11-22")
    added = "".join(
        f'\n[[yanked]]\nreason = "wrong sums"\ndate = "2026-11-22"\nwheel = "{wheel}"\n' for wheel in WHEELS
    )
    assert path.read_text("utf-8") == f"{TEXT}{added}"


def test_another_reason_takes_the_place_of_the_first(tmp_path: Path) -> None:
    """The words at the beginning of the file stay."""
    path = tmp_path / "yanked.toml"
    path.write_text(TEXT, "utf-8")
    for reason in ("wrong sums", "wrong sums, and slow"):
        add_yanked(path, WHEELS, reason, "2026-11-22")
    assert path.read_text("utf-8").startswith("# Whoever reads this.\n\n[[yanked]]\n")
    found = [(entry.tag or entry.wheel, entry.reason) for entry in read_yanked(path)]
    assert found == [("v0", "old"), *((wheel, "wrong sums, and slow") for wheel in WHEELS)]
