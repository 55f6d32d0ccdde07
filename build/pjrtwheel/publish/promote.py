# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Take a release from the stage where it was tested: those very bytes go on, and nothing is built again."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pjrtwheel.errors import PublishError, UsageError, count, shorten
from pjrtwheel.files import hash_file, require_space
from pjrtwheel.publish.plan import LocalFile
from pjrtwheel.publish.run import Publication

_SHOWN = 3


def check_stage(stage: Publication) -> None:
    """Make sure that a stage lists the whole release under its digests, before anything is taken from it.

    Raises:
        UsageError: It is no stage.
        PublishError: Files are missing there, or are others than those of the release folder.
    """
    name = stage.destination.name
    if not stage.destination.stage:
        raise UsageError(f"{name} is no stage", remedy="releases/destinations.toml says which destinations are")
    plan = stage.examine()
    missing = [f"{file.name} is missing" for file in plan.to_send]
    if problems := [*plan.problems, *missing]:
        raise PublishError(
            f"{name} does not have {plan.tag} as the folder describes it; nothing was sent",
            cause=shorten(problems, _SHOWN, "; "),
            remedy=f"publish the folder to {name}, test it there, and promote it then",
        )


def take_from_stage(stage: Publication, target: Path) -> Callable[[LocalFile], Path]:
    """Download a whole release from a stage into a folder, and return where each file of it is from then on.

    What the stage does not take, such as documents, comes from the release folder.

    Raises:
        PublishError: What the stage serves is not what the release folder describes.
        WheelError: There is no room for it.
    """
    files = stage.files
    require_space(target, sum(file.size for file in files))
    present = stage.place.list_files(tuple({file.project for file in files if file.project}))
    if gone := [file.name for file in files if file.name not in present]:
        raise PublishError(f"{stage.destination.name} no longer has {shorten(gone, _SHOWN)}; nothing was sent")
    for file in files:
        stage.place.download(replace(present[file.name], size=file.size), target / file.name)
        if hash_file(target / file.name) != file.sha256:
            raise PublishError(
                f"{stage.destination.name} serves other bytes than {file.name} of the release; nothing was sent",
                cause="the file was damaged or replaced there after it was staged",
                remedy="have the stage looked at, and stage the release again",
            )
    staged = {file.name for file in files}
    for name in {*stage.release.documents} - staged:
        shutil.copy(stage.release.path / name, target)  # attestations are sent with the wheels that they lie next to
    stage.report(f"{count(len(files), 'file')} taken from {stage.destination.name}, as the folder describes them")
    return lambda file: (target if file.name in staged else stage.release.path) / file.name
