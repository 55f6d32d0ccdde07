# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The order of publishing: plan, refuse or go on, take from the stage, send, read back."""

from __future__ import annotations

from pathlib import Path

from pjrtwheel.errors import PublishError, UsageError
from pjrtwheel.publish.journal import begin, check_begun, end, hold, make_journal
from pjrtwheel.publish.plan import Plan, format_plan
from pjrtwheel.publish.promote import check_stage, take_from_stage
from pjrtwheel.publish.run import Publication


def publish_release(publication: Publication, stage: Publication | None, cache: Path, *, dry_run: bool) -> None:
    """Print the plan and, unless that is all, follow it; with a stage the bytes that are sent are those it serves.

    Raises:
        PublishError: The destination or the stage refused, failed or differs; or another run is publishing the same.
        UsageError: The stage is none, or is the destination; or it is not known where files are uploaded to.
    """
    place, tag = publication.place, publication.tag
    if stage and stage.place.address == place.address:
        raise UsageError(f"{place.address} is both the stage and the destination", remedy="name another --from")
    journal = make_journal(publication.release, publication.destination.name, place.address, tag)
    with hold(journal, cache):
        plan = publication.examine()
        for line in format_plan(plan):
            publication.report(line)
        if publication.left_out and not plan.problems:
            publication.report(f"left out, for {plan.destination} takes none: {publication.left_out}")
        check_begun(journal, cache, place)
        _refuse(plan)
        place.check_uploads(publication.release.commit, credentials=not dry_run and bool(plan.to_send))
        if stage:
            check_stage(stage)
        if dry_run:
            publication.report("nothing was sent: this is a dry run")
            return
        source = take_from_stage(stage, publication.scratch) if stage else publication.find_local
        begin(journal, cache)
        publication.send(plan, source)
        end(journal, cache)
    publication.report(f"{tag} is at {place.address}, read back as SHA256SUMS has it")


def _refuse(plan: Plan) -> None:
    """Refuse a plan with problems before anything is sent."""
    if plan.problems:
        first, *more = plan.problems
        raise PublishError(
            f"{plan.tag} cannot be published to {plan.destination}; nothing was sent",
            cause=f"{first} (and {len(more)} more, listed above)" if more else first,
            remedy="what installers may have seen is never replaced: publish under another version, or fix the above",
        )
