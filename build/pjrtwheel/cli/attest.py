# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`attest`: write the folder of a release, as it is published."""

import argparse
import sys
from pathlib import Path

from pjrtwheel.attest.make import make_release
from pjrtwheel.attest.signature import load_signer
from pjrtwheel.cli import add_options, check_repository
from pjrtwheel.console import print_text
from pjrtwheel.errors import count, fit
from pjrtwheel.files import display_path
from pjrtwheel.program import require_text


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--tag", type=require_text, required=True, help="such as v0.11.2+split.1 or select-v0.1.0")
    add_options(parser, "--root", "--dist")
    parser.add_argument("--output", type=Path, metavar="DIR", help="the folder to write (default: TAG in --dist)")
    parser.add_argument("--key", type=Path, metavar="FILE", help="sign the statement with this ed25519 key (PEM)")
    parser.add_argument("--commit", type=require_text, help="refuse wheels that were built from another one")


def execute(args: argparse.Namespace) -> int:
    """Write the folder and say what is in it."""
    check_repository(args.root)
    dist = args.dist or args.root / "dist"
    signer = load_signer(args.key) if args.key else None
    output = args.output or dist / args.tag
    release = make_release(args.root, args.tag, dist, output, signer=signer, commit=args.commit or "")
    wheels, others = count(len(release.entries), "wheel"), count(len(release.documents), "document")
    signed = f"signed with {args.key}" if args.key else "not signed"
    print_text(f"{display_path(release.path.absolute())}: {wheels} and {others}, {signed}\n{fit(release.documents)}")
    if release.statement and release.statement.dirty:
        print(f"warning: the wheels were built with changes on top of {release.commit}", file=sys.stderr)
    return 0
