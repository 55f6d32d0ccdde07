# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Withdrawing a release: which wheels, what is read back, and the file that says why."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from pjrtwheel.errors import PublishError, UsageError
from pjrtwheel.publish.destinations import Place, PublishedFile
from pjrtwheel.publish.yanked import add_yanked, read_yanked, yank_release
from release_folders import WHEELS
from upload_server import UploadServer

NAMES = ("a-1-py3-none-any.whl", "b-1-py3-none-any.whl")
TEXT = '# Whoever reads this.\n\n[[yanked]]\ntag = "v0"\nreason = "old"  # said by all\ndate = "2026-01-01"\n'


class Shelf:
    """A place in memory, which forgets to yank some files."""

    address = "memory"

    def __init__(self, *names: str, forgets: str = "") -> None:
        """Hold some files."""
        self.reasons: dict[str, str | None] = dict.fromkeys(names)
        self.forgets = forgets

    def list_files(self, _: object) -> dict[str, PublishedFile]:
        """Return all files."""
        return {name: PublishedFile(name, "", 1, "", reason) for name, reason in self.reasons.items()}

    def yank(self, names: list[str], reason: str) -> str:
        """Withdraw files."""
        self.reasons |= {name: reason for name in names if name != self.forgets}
        return "publish the index"


@pytest.mark.parametrize(
    "wheels",
    [WHEELS, ("jaxlib-1.2.3-2-cp312-cp312-manylinux_2_27_x86_64.whl", "jaxlib_abacus-1.2.3-py3-none-any.whl")],
    ids=["with a label", "with a build tag"],
)
def test_all_wheels_of_the_tag_are_yanked(wheels: tuple[str, ...]) -> None:
    """No document is."""
    shelf = Shelf("SHA256SUMS", *wheels)
    assert yank_release(cast("Place", shelf), "v1.2.3", "wrong bytes") == (len(wheels), "publish the index")
    assert shelf.reasons == {"SHA256SUMS": None, **dict.fromkeys(wheels, "wrong bytes")}


def test_what_is_not_there_or_was_not_yanked_is_an_error() -> None:
    """It is read back."""
    with pytest.raises(UsageError):
        yank_release(cast("Place", Shelf("SHA256SUMS")), "v9", "wrong bytes")
    with pytest.raises(PublishError) as caught:
        yank_release(cast("Place", Shelf(*WHEELS, forgets=WHEELS[1])), "v1.2.3", "wrong bytes")
    assert caught.value.what.endswith(f": {WHEELS[1]}")


@pytest.mark.parametrize(("reason", "status"), [("wrong bytes", PublishError), (" ", UsageError)])
def test_an_upload_api_has_no_call_for_that(
    command: Callable[..., Any], server: UploadServer, reason: str, status: type[PublishError | UsageError]
) -> None:
    """Each index has its own way; a reason is needed anywhere."""
    address = ("--index-url", f"{server.url}simple/")
    assert command("yank", "company", "v1.2.2+split.1", "--reason", reason, *address).status == status.exit_code


def test_a_withdrawal_is_added_to_what_is_there(tmp_path: Path) -> None:
    """Comments stay as well; the same withdrawal again changes nothing; another reason takes the place of the first."""
    path = tmp_path / "yanked.toml"
    path.write_text(TEXT, "utf-8")
    for _ in range(2):
        add_yanked(path, NAMES, "wrong sums", "2026-11-22")
    added = "".join(f'\n[[yanked]]\nreason = "wrong sums"\ndate = "2026-11-22"\nwheel = "{name}"\n' for name in NAMES)
    assert path.read_text("utf-8") == f"{TEXT}{added}"
    add_yanked(path, NAMES, "wrong sums, and slow", "2026-11-22")
    assert path.read_text("utf-8").startswith("# Whoever reads this.\n\n[[yanked]]\n")
    found = [(entry.tag or entry.wheel, entry.reason) for entry in read_yanked(path)]
    assert found == [("v0", "old"), *((name, "wrong sums, and slow") for name in NAMES)]
