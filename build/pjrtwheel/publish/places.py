# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The kinds of destinations, and how each is opened: by options of the command line and environment variables.

A new kind is a name in `destinations.DestinationKind`, a module with a `PlaceKind`, and a line in `KINDS`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping

from pjrtwheel.errors import UsageError
from pjrtwheel.publish.destinations import Destination, DestinationKind
from pjrtwheel.publish.github import GITHUB_RELEASE
from pjrtwheel.publish.place import Place, PlaceKind, Setting, variable_of
from pjrtwheel.publish.static_folder import STATIC_FOLDER
from pjrtwheel.publish.upload_api import UPLOAD_API

KINDS: Mapping[DestinationKind, PlaceKind] = {
    DestinationKind.UPLOAD_API: UPLOAD_API,
    DestinationKind.GITHUB: GITHUB_RELEASE,
    DestinationKind.FOLDER: STATIC_FOLDER,
}

_FROM = "from-"


def add_place_options(
    parser: argparse.ArgumentParser, *, kinds: Iterable[DestinationKind] = tuple(DestinationKind), stage: bool = False
) -> None:
    """Declare an option for each setting of some kinds; with `stage` also those of a stage that is read from."""
    for setting in _settings(kinds):
        parser.add_argument(f"--{setting.name}", metavar="VALUE", help=setting.summary)
        if stage and setting.reading:
            parser.add_argument(
                f"--{_FROM}{setting.name}", metavar="VALUE", help=f"of the stage that --from names: {setting.summary}"
            )


def open_place(
    destination: Destination, args: argparse.Namespace, environ: Mapping[str, str], tag: str, *, stage: bool = False
) -> Place:
    """Return the place of a release at a destination, or at the stage that it is read from; nothing is asked yet.

    Raises:
        UsageError: A setting is missing or malformed.
    """
    settings = read_settings(destination, args, environ, stage=stage)
    return KINDS[destination.kind].open(destination, settings, tag)


def read_settings(
    destination: Destination, args: argparse.Namespace, environ: Mapping[str, str], *, stage: bool = False
) -> Mapping[str, str]:
    """Return the settings of a destination by name.

    Each is an option, or an environment variable that has the destination's name in it.

    Raises:
        UsageError: A setting is missing.
    """
    settings = {}
    for setting in KINDS[destination.kind].settings:
        option = f"{_FROM if stage else ''}{setting.name}"
        variables = (variable_of(destination.name, setting.name), setting.variable)
        given = getattr(args, option.replace("-", "_"), None), *map(environ.get, variables)
        if value := next(filter(None, given), None):
            settings[setting.name] = value
        elif setting.default:
            settings[setting.name] = str(args.root / setting.default)
        elif setting.required:
            raise UsageError(
                f"the {setting.required} of {destination.name} is not known",
                remedy=f"give it with --{option}, or in {' or '.join(filter(None, variables))}",
            )
    return settings


def _settings(kinds: Iterable[DestinationKind]) -> tuple[Setting, ...]:
    """Return the settings of some kinds, each name once: kinds may share an option of the same meaning."""
    return tuple({setting.name: setting for kind in kinds for setting in KINDS[kind].settings}.values())
