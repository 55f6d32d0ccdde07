# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`attest`, `verify_release` and `reproduce`: a release as it is published, verified, and built again."""

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from pjrtwheel.attest.make import make_release
from pjrtwheel.attest.release_folder import as_damaged_release, open_release
from pjrtwheel.attest.reproduce import reproduce
from pjrtwheel.attest.signature import load_public_key, load_signer
from pjrtwheel.attest.verify import verify_release
from pjrtwheel.cli import add_options
from pjrtwheel.console import print_text
from pjrtwheel.errors import ReproduceError, count, fit
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.files import display_path
from pjrtwheel.program import require_text

# How the line begins that ends in the commit; reproduce.yml reads it.
BUILT_FROM = "built from commit "


def configure_parser_attest(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--tag", type=require_text, required=True, help="such as v0.11.2+split.1 or select-v0.1.0")
    add_options(parser, "--root", "--dist")
    parser.add_argument("--output", type=Path, metavar="DIR", help="the folder to write (default: TAG in --dist)")
    parser.add_argument("--key", type=Path, metavar="FILE", help="sign the statement with this ed25519 key (PEM)")
    parser.add_argument("--commit", type=require_text, help="refuse wheels that were built from another one")


def execute_attest(args: argparse.Namespace) -> int:
    """Write the folder and say what is in it."""
    dist = args.dist or args.root / "dist"
    signer = load_signer(args.key) if args.key else None
    output = args.output or dist / args.tag
    release = make_release(args.root, args.tag, dist, output, signer=signer, commit=args.commit or "")
    wheels, others = count(len(release.entries), "wheel"), count(len(release.documents), "document")
    signed = f"signed with {args.key}" if args.key else "not signed"
    print_text(f"{display_path(release.path.absolute())}: {wheels} and {others}, {signed}\n{fit(release.documents)}")
    if release.statement.dirty:
        print(f"warning: the wheels were built with changes on top of {release.commit}", file=sys.stderr)
    return 0


def configure_parser_verify_release(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    place = "a release, or the address below which its files are"
    parser.add_argument("release", type=require_text, metavar="FOLDER|URL", help=place)
    parser.add_argument("--key", type=Path, metavar="FILE", help="public key (PEM) that must have signed it")
    parser.add_argument("--tag", type=require_text, help="the tag that it must be of")
    parser.add_argument("--documents-only", action="store_true", help="leave the wheels out, which may be gigabytes")


def execute_verify_release(args: argparse.Namespace) -> int:
    """Verify, and say what is certain now."""
    key = load_public_key(args.key) if args.key else None
    options = {"tag": args.tag or "", "documents_only": args.documents_only}
    with as_damaged_release(), open_release(args.release, cache_root(), **options) as release:
        statement = verify_release(release, key=key, **options)
    wheels, others = count(len(release.entries), "wheel"), count(len(release.documents), "document")
    whole, alone = "every wheel is as its RECORD and lock say", "the documents alone were verified, and no wheel"
    print(f"{release.tag}: {wheels} and {others}, as SHA256SUMS and the statement list them")
    print(alone if args.documents_only else whole)
    print(f"{BUILT_FROM}{statement.commit}")
    print(f"built by {statement.provenance.details.builder.id}")
    print(f"signed by {args.key}" if args.key else "signature not checked: no --key was given")
    return 0


def configure_parser_reproduce(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    place = "a release, or the address below which its files are"
    parser.add_argument("release", type=require_text, metavar="FOLDER|URL", help=place)
    parser.add_argument("--tag", type=require_text, help="which release below an address")
    only = "only files of this name, such as 'jaxlib_cpu-*'"
    parser.add_argument("--wheel", type=require_text, action="append", metavar="PATTERN", help=only)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the wheels that were built, in a new folder")
    add_options(parser, "--root")


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
