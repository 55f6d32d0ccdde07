# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`verify_release`: verify a release as those who receive it."""

import argparse
import os
from pathlib import Path

from pjrtwheel.attest.release_folder import as_damaged_release, open_release
from pjrtwheel.attest.signature import load_public_key
from pjrtwheel.attest.verify import verify_release
from pjrtwheel.cli import add_options
from pjrtwheel.errors import count
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.program import require_text

# How the line begins that ends in the commit; reproduce.yml reads it.
BUILT_FROM = "built from commit "


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    place = "a release, or the address below which its files are"
    parser.add_argument("release", type=require_text, metavar="FOLDER|URL", help=place)
    parser.add_argument("--key", type=Path, metavar="FILE", help="public key (PEM) that must have signed it")
    parser.add_argument("--tag", type=require_text, help="the tag that it must be of")
    parser.add_argument("--documents-only", action="store_true", help="leave the wheels out, which may be gigabytes")
    add_options(parser, "--root")


def execute(args: argparse.Namespace) -> int:
    """Verify, and say what is certain now."""
    key = load_public_key(args.key) if args.key else None
    options = {"tag": args.tag or "", "documents_only": args.documents_only}
    with as_damaged_release(), open_release(args.release, cache_root(os.environ), **options) as release:
        statement = verify_release(release, key=key, **options)
    wheels, others = count(len(release.entries), "wheel"), count(len(release.documents), "document")
    whole, alone = "every wheel is as its RECORD and lock say", "the documents alone were verified, and no wheel"
    print(f"{release.tag}: {wheels} and {others}, as SHA256SUMS and the statement list them")
    print(alone if args.documents_only else whole)
    print(f"{BUILT_FROM}{statement.commit}")
    print(f"built by {statement.provenance.details.builder.id}")
    print(f"signed by {args.key}" if args.key else "signature not checked: no --key was given")
    return 0
