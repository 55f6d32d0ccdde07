# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`release_check`, `publish` and `pages`: a release before and at a destination, and the index of all releases."""

import argparse
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pjrtwheel.attest.release_folder import as_damaged_release, read_release_folder
from pjrtwheel.attest.release_list import LIST_FOLDER, sign_list
from pjrtwheel.attest.signature import load_signer
from pjrtwheel.attest.verify import verify_release
from pjrtwheel.errors import UsageError, count, fit
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.files import staging_folder
from pjrtwheel.program import require_text
from pjrtwheel.publish.destinations import find_destination
from pjrtwheel.publish.places import OF_STATIC, add_place_options, open_place
from pjrtwheel.publish.publication import Publication, publish_release
from pjrtwheel.publish.static_folder import StaticFolder
from pjrtwheel.publish.yanked import YANKED_FILE, YANKED_FILENAME
from pjrtwheel.record.entries import read_entries
from pjrtwheel.release_check.check import NOT_YET, check_release, format_problems, warn_of_names

_LONGEST_DAYS = 3650
_EPILOG = """\
Each VALUE can also be in the environment, under a name with the destination in it: PJRTWHEEL_STAGE_INDEX_URL is
--index-url for the destination stage. That of a stage which a release is taken --from can only be there.
Credentials are twine's: TWINE_USERNAME and TWINE_PASSWORD, .pypirc, keyring; those for reading are in the address or
in .netrc. REQUESTS_CA_BUNDLE names certificates to trust. With CI=true in the environment --dry-run is the default.
"""


def configure_parser_publish(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = _EPILOG
    parser.add_argument("destination", metavar="DESTINATION", help="its name in releases/destinations.toml")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the release, as ./noxw attest writes it")
    parser.add_argument(
        "--dry-run",
        action=argparse.BooleanOptionalAction,
        default=os.environ.get("CI", "") not in {"", "0", "false"},
        help="print the plan, and send nothing",
    )
    parser.add_argument("--from", dest="stage", metavar="STAGE", help="send the bytes that this stage serves")
    add_place_options(parser)


def execute_publish(args: argparse.Namespace) -> int:
    """Print the plan and, unless that is all, follow it."""
    release = read_release_folder(args.folder)
    with as_damaged_release():
        statement = verify_release(release, documents_only=True)  # as those will who receive it
    if statement.dirty:
        raise UsageError(
            f"{release.tag} was built with changes that are in no commit",
            cause=f"nobody could build it again from {statement.commit[:12]}",
            remedy="commit them, build it again, and make it with attest",
        )
    with staging_folder(cache_root() / "publish") as scratch:

        def at(name: str, *, stage: bool = False) -> Publication:
            destination = find_destination(args.root, name)
            place = open_place(destination, args, os.environ, release.tag, stage=stage)
            return Publication(destination, place, release, scratch)

        stage = at(args.stage, stage=True) if args.stage else None
        publish_release(at(args.destination), stage, dry_run=args.dry_run)
    return 0


def configure_parser_pages(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = f"Withdrawals are in {YANKED_FILE}, or in {YANKED_FILENAME} of a folder."
    parser.add_argument(
        "destination", metavar="DESTINATION", help="a destination with a static index, such as github or folder"
    )
    key = "for a folder: sign its list of releases with this ed25519 key (PEM)"
    parser.add_argument("--key", type=Path, metavar="FILE", help=key)
    days = "days until that signature expires, at most 3650 (default: %(default)s)"
    parser.add_argument("--valid-days", type=int, default=90, metavar="DAYS", help=days)
    lost = "sign it although the last list has releases or withdrawals that are gone"
    parser.add_argument("--forget", action="store_true", help=lost)
    add_place_options(parser, OF_STATIC)


def execute_pages(args: argparse.Namespace) -> int:
    """Write the index, and the list of releases if it is signed; and say of what."""
    signer = load_signer(args.key) if args.key else None
    if not 0 < args.valid_days <= _LONGEST_DAYS:
        raise UsageError(f"a list is not valid for {args.valid_days} days", remedy=f"take 1 to {_LONGEST_DAYS}")
    destination = find_destination(args.root, args.destination)
    if destination.is_shared:
        raise UsageError(f"{args.destination} makes its own index", remedy="withdraw wheels on its own pages")
    place = open_place(destination, args, os.environ, tag="")
    signed = place.folder / LIST_FOLDER if isinstance(place, StaticFolder) else None
    if signer and signed is None:
        raise UsageError(f"{args.destination} has no signed list of releases", remedy="leave --key out")
    if signed and signed.is_dir() and not signer:
        raise UsageError(f"the list of releases in {signed} is signed", remedy="sign the new one with --key FILE")
    if signer and isinstance(place, StaticFolder):  # before the index: a refusal changes nothing
        until = datetime.now(UTC).replace(microsecond=0) + timedelta(days=args.valid_days)
        releases = place.list_releases(signer.public_key)
        version = sign_list(place.folder / LIST_FOLDER, releases, signer, until, forget=args.forget)
        print(f"list {version} has {count(len(releases), 'release')}, signed with {args.key}, until {until:%Y-%m-%d}")
        withdrawn = [tag for tag, release in releases.items() if release.withdrawn]
        print(f"withdrawn: {fit(withdrawn) or 'none'}")
    place.write_index()
    print(f"the index of all releases of {place.address} is written")
    return 0


def configure_parser_release_check(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = f"exit status: 0 if it can be published, {NOT_YET} if not yet, less if it could not be checked"
    parser.add_argument("--tag", type=require_text, required=True, help="such as v0.12.0.1+split.1, or select-v0.1.0")
    place = "also check it against the limits of this destination"
    parser.add_argument("--to", type=require_text, metavar="DESTINATION", help=place)


def execute_release_check(args: argparse.Namespace) -> int:
    """Print one line if all is well, and otherwise every problem."""
    root = args.root.resolve()
    destination = find_destination(root, args.to) if args.to else None
    dist = args.dist or root / "dist"
    outcome = check_release(root, args.tag, dist, destination)
    if destination and destination.opt_in:
        warn_of_names(root, {entry.sha256 for entry in read_entries(dist).values()})
    for line in format_problems(outcome.problems):
        print(line, file=sys.stderr)
    if not outcome.problems:
        print(f"{outcome.summary}\nnext: ./noxw attest --tag {args.tag} --dist {args.dist or 'dist'}")
    return NOT_YET if outcome.problems else 0
