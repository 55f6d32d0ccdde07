# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`reproduce`: build a published release again, and compare it byte for byte."""

import argparse
import os
from pathlib import Path
from tempfile import TemporaryDirectory

from pjrtwheel.attest.release_folder import open_release
from pjrtwheel.attest.reproduce import reproduce
from pjrtwheel.cli import add_options, check_repository
from pjrtwheel.errors import ReproduceError, count, fit
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.program import require_text


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    place = "a release, or the address below which its files are"
    parser.add_argument("release", type=require_text, metavar="FOLDER|URL", help=place)
    parser.add_argument("--tag", type=require_text, help="which release below an address")
    parser.add_argument("--backend", type=require_text, help="only the plugin of this backend")
    platforms = f"only wheels for {', '.join(PLATFORMS)} or any (pure Python)"
    parser.add_argument("--platform", type=require_text, help=platforms)
    parser.add_argument(
        "--wheel", type=require_text, action="append", default=[], metavar="NAME", help="only this file"
    )
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the wheels that were built, in a new folder")
    add_options(parser, "--root")


def execute(args: argparse.Namespace) -> int:
    """Build again, and say of every wheel whether it is the same."""
    check_repository(args.root)
    chosen = {"backend": args.backend or "", "platform": args.platform or "", "wheels": args.wheel}
    with (
        open_release(args.release, cache_root(os.environ), tag=args.tag or "") as release,
        TemporaryDirectory(prefix="reproduced-") as scratch,
    ):
        found = reproduce(release, args.root, args.keep or Path(scratch), **chosen)
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
