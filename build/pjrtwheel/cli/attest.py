# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`attest`, `verify_release` and `reproduce`: a release as it is published, verified, and built again."""

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from securesystemslib.signer import SSlibKey

from pjrtwheel.attest.make import make_release
from pjrtwheel.attest.release_folder import ReleaseFolder, as_damaged_release, open_release
from pjrtwheel.attest.release_list import Listing, check_list
from pjrtwheel.attest.reproduce import reproduce
from pjrtwheel.attest.signature import load_public_key, load_signer
from pjrtwheel.attest.verify import Verification, verify_release
from pjrtwheel.console import print_text
from pjrtwheel.errors import AttestError, ReproduceError, UnsignedError, UsageError, count, fit
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.files import display_path
from pjrtwheel.program import require_text
from pjrtwheel.tables import write_json


def configure_parser_attest(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--tag", type=require_text, required=True, help="such as v0.11.2+split.1 or select-v0.1.0")
    parser.add_argument("--output", type=Path, metavar="DIR", help="the folder to write (default: TAG in --dist)")
    key = "sign statement and checksums with this ed25519 key (PEM)"
    parser.add_argument("--key", type=Path, metavar="FILE", help=key)
    parser.add_argument("--commit", type=require_text, help="refuse wheels that were built from another commit")
    parser.add_argument("--no-locks", action="store_true", help="write no lock files, which need the package index")


def execute_attest(args: argparse.Namespace) -> int:
    """Write the folder and say what is in it."""
    dist = args.dist or args.root / "dist"
    signer = load_signer(args.key) if args.key else None
    output = args.output or dist / args.tag
    commit, locks = args.commit or "", not args.no_locks
    release = make_release(args.root, args.tag, dist, output, signer=signer, commit=commit, locks=locks)
    wheels, others = count(len(release.entries), "wheel"), count(len(release.documents), "document")
    signed = f"signed with {args.key}" if args.key else "not signed"
    print_text(f"{display_path(release.path.absolute())}: {wheels} and {others}, {signed}\n{fit(release.documents)}")
    if release.statement.dirty:
        print(f"warning: the wheels were built with changes on top of {release.commit}", file=sys.stderr)
    return 0


def configure_parser_verify_release(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = f"Without --key the exit status is {UnsignedError.exit_code}: nobody knows who made the release."
    place = "a release, or the address below which its files are"
    parser.add_argument("release", type=require_text, metavar="FOLDER|URL", help=place)
    parser.add_argument("--key", type=Path, metavar="FILE", help="public key (PEM) that must have signed it")
    parser.add_argument("--tag", type=require_text, help="the tag of the release; accepts a withdrawn release")
    where = "the folder of releases whose signed list must have it, needed without --tag (default: the one it is in)"
    parser.add_argument("--list", dest="site", type=require_text, metavar="FOLDER|URL", help=where)
    parser.add_argument("--documents-only", action="store_true", help="do not check the wheels, which may be gigabytes")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def execute_verify_release(args: argparse.Namespace) -> int:
    """Verify, and say what is certain now."""
    key = load_public_key(args.key) if args.key else None
    options = {"tag": args.tag or "", "documents_only": args.documents_only}
    with as_damaged_release(), open_release(args.release, cache_root(), **options) as release:
        verify_release(release, key=key, **options)
        listing = _check_list(args, release, key) if key else None
        wheels, documents = tuple(release.wheels), release.documents
    details = release.statement.provenance.details
    found = Verification(
        tag=release.tag,
        commit=release.commit,
        builder=details.builder.id,
        date=details.metadata.finished,
        wheels=wheels,
        documents=documents,
        opened=not args.documents_only,
        key=key.keyid if key else "",
        listing=listing,
    )
    print(write_json(found) if args.json else _describe(found, args.key), end="")
    if not key:
        raise UnsignedError(
            f"{release.tag} is whole, and nobody knows who made it: no --key was given",
            remedy="ask who published it for the key, or verify what its workflow attested (docs/release/verify.md)",
        )
    return 0


def _check_list(args: argparse.Namespace, release: ReleaseFolder, key: SSlibKey) -> Listing | None:
    """Return what the list says, where there is one; only who names the tag gets a release that was withdrawn."""
    where, required = args.site or args.release, bool(args.site)
    listing = check_list(release, where, key, cache_root() / "lists", required=required)
    if listing is None and not args.tag:
        raise UsageError(
            f"{release.tag} may be old or withdrawn: there is no signed list of releases next to it",
            remedy="say which release it must be with --tag, or where the list is with --list",
        )
    if listing and listing.withdrawn and not args.tag:
        raise AttestError(f"{release.tag} was withdrawn", cause=fit(listing.withdrawn), remedy="take another release")
    return listing


def _describe(found: Verification, key: Path | None) -> str:
    whole, alone = "every wheel is as its RECORD and lock say", "the documents alone were verified, and no wheel"
    wheels, others = count(len(found.wheels), "wheel"), count(len(found.documents), "document")
    listing = found.listing
    lines = [
        f"{found.tag}: {wheels} and {others}, as SHA256SUMS and the statement list them",
        whole if found.opened else alone,
        f"built from commit {found.commit}",
        f"built by {found.builder}",
        *([f"signed by {key}"] if key else []),
        *([f"in list {listing.version}, valid until {listing.expires}"] if listing else []),
        *([f"withdrawn: {fit(listing.withdrawn)}"] if listing and listing.withdrawn else []),
    ]
    return "".join(f"{line}\n" for line in lines)


def configure_parser_reproduce(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    place = "a release, or the address below which its files are"
    parser.add_argument("release", type=require_text, metavar="FOLDER|URL", help=place)
    parser.add_argument("--tag", type=require_text, help="tag of the release, if there are several at the address")
    only = "only files of this name, such as 'jaxlib_cpu-*'"
    parser.add_argument("--wheel", type=require_text, action="append", metavar="PATTERN", help=only)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the built wheels in this new folder")


def execute_reproduce(args: argparse.Namespace) -> int:
    """Build again, and say of every wheel whether it is the same."""
    with (
        open_release(args.release, cache_root(), tag=args.tag or "") as release,
        TemporaryDirectory(prefix="reproduced-") as scratch,
    ):
        found = reproduce(release, args.root, args.keep or Path(scratch), args.wheel or ["*"])
    for name, differences in found.items():
        print(f"{name}: {'differs' if differences else 'the same bytes'}")
        for line in differences:
            print(f"  {line}")
    if different := [name for name, differences in found.items() if differences]:
        raise ReproduceError(
            f"{len(different)} of {count(len(found), 'wheel')} of {release.tag} came out with other bytes",
            cause=fit(different),
            remedy="look into both, with --keep DIR and diffoscope, and report it to who published the release",
        )
    print(f"{release.tag}: {count(len(found), 'wheel')} built again from {release.commit}, all with the same bytes")
    return 0
