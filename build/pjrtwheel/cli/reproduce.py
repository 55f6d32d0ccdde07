# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`reproduce`: build a published release again, and compare it byte for byte."""

from __future__ import annotations

import argparse
import os

from pjrtwheel.cli import add_options, check_repository
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
    add_options(parser, "--root")


def execute(args: argparse.Namespace) -> int:
    """Build again, and say of every wheel whether it is the same."""
    from pjrtwheel.attest.open_release import open_release
    from pjrtwheel.attest.reproduce import RebuildSelection, reproduce
    from pjrtwheel.errors import ReproduceError, count, fit
    from pjrtwheel.fetch.cache import cache_root

    check_repository(args.root)
    selection = RebuildSelection(args.backend or "", args.platform or "", tuple(args.wheel))
    with open_release(args.release, cache_root(os.environ), tag=args.tag or "") as release:
        compared = reproduce(release, args.root, selection)
        for wheel in compared:
            print(f"{wheel.filename}: {'differs' if wheel.differences else 'the same bytes'}")
            for line in wheel.differences:
                print(f"  {line}")
    different = [wheel.filename for wheel in compared if wheel.differences]
    if different:
        raise ReproduceError(
            f"{len(different)} of {count(len(compared), 'wheel')} of {release.tag} came out with other bytes",
            cause=fit(different),
            remedy="report it to who published the release, with what is printed above",
        )
    print(f"{release.tag}: {count(len(compared), 'wheel')} built again from {release.commit}, all with the same bytes")
    return 0
