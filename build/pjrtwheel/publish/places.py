# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""How destinations are opened: by options of the command line, and environment variables.

A new kind is a name in `destinations.DestinationKind`, a module with a `Place`, and a case in `open_place`.
"""

import argparse
from collections.abc import Iterable, Mapping

from pjrtwheel.errors import UsageError
from pjrtwheel.publish.destinations import Destination, DestinationKind, Place, variable_of
from pjrtwheel.publish.github import open_github
from pjrtwheel.publish.static_folder import open_folder
from pjrtwheel.publish.upload_api import open_index
from pjrtwheel.publish.yanked import YANKED_FILE

# Option → what it is. Each is an environment variable as well, with the name of the destination in it.
OPTIONS = {
    "index-url": "address of the simple repository API of an index, such as https://example.org/simple/",
    "upload-url": "address that files are uploaded to, for an index with the upload API",
    "repository": "section of .pypirc with that address, and credentials",
    "site": "folder that a web server serves, for a static index",
    "github-repository": "[HOST/]OWNER/NAME, for a GitHub Release (default: GITHUB_REPOSITORY)",
    "pages": "folder that Pages serves; the index is written into its folder simple",
}
OF_STATIC = ("github-repository", "pages", "site")
# What has to be known of each kind.
_REQUIRED = {
    DestinationKind.UPLOAD_API: "index-url",
    DestinationKind.GITHUB: "github-repository",
    DestinationKind.FOLDER: "site",
}


def add_place_options(parser: argparse.ArgumentParser, names: Iterable[str] = tuple(OPTIONS)) -> None:
    """Declare options."""
    for name in names:
        parser.add_argument(f"--{name}", metavar="VALUE", help=OPTIONS[name])


def open_place(
    destination: Destination, args: argparse.Namespace, environ: Mapping[str, str], tag: str, *, stage: bool = False
) -> Place:
    """Return the place of a release at a destination; nothing is asked yet.

    The options are those of the destination. Of a stage that is read from, the variables alone count.

    Raises:
        UsageError: A setting is missing or malformed.
    """
    kind, needed = destination.kind, _REQUIRED[destination.kind]
    given = {} if stage else vars(args)
    settings = {
        name: value
        for name in OPTIONS
        if (value := given.get(name.replace("-", "_")) or environ.get(variable_of(destination.name, name)))
    }
    if kind is DestinationKind.GITHUB and (repository := environ.get("GITHUB_REPOSITORY")):
        settings.setdefault(needed, repository)
    if needed not in settings:
        raise UsageError(
            f"the {needed} of {destination.name} is not known",
            remedy=f"give it with --{needed}, or in {variable_of(destination.name, needed)}",
        )
    match kind:
        case DestinationKind.UPLOAD_API:
            return open_index(destination, settings)
        case DestinationKind.GITHUB:
            return open_github(settings, tag, args.root / YANKED_FILE)
        case DestinationKind.FOLDER:
            return open_folder(settings, tag)
