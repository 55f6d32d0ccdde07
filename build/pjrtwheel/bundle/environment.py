# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Make pip, uv and all that calls them take from a bundle and nothing else; standard library only.

`python -m pjrtwheel.bundle.environment` prints as JSON the environment variables that do so, with `null` for one that
must not be set: that is how noxw and nox, which import nothing of the tooling, begin.
"""

from __future__ import annotations

import json
import os
import sys
import sysconfig
from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path

from pjrtwheel.bundle.check import check_once
from pjrtwheel.bundle.manifest import PAGES_FOLDER, Manifest, read_manifest
from pjrtwheel.environment.interpreters import python_tag
from pjrtwheel.errors import FetchError
from pjrtwheel.fetch.bundled import BUNDLE_VARIABLE, bundle_folder
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.platforms import host_platform
from pjrtwheel.program import CommandParser, program

# What else could bring a package from elsewhere.
_OTHER_SOURCES = (
    *("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX", "PIP_CONSTRAINT", "PIP_REQUIRE_VIRTUALENV"),
    *("UV_INDEX", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_NO_INDEX", "UV_CONFIG_FILE"),
)


def list_variables(bundle: Path) -> dict[str, str | None]:
    """Return the variables with which pip, uv and virtualenv take from a bundle alone; none where one must be unset."""
    index = (bundle / PAGES_FOLDER).as_uri()
    return {
        BUNDLE_VARIABLE: str(bundle),
        "PIP_INDEX_URL": index,
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "UV_INDEX_URL": index,  # and not UV_DEFAULT_INDEX, which goes before an --index-url that somebody gives
        "UV_NO_CONFIG": "1",
        "UV_PYTHON_DOWNLOADS": "never",
        "VIRTUALENV_NO_PERIODIC_UPDATE": "1",
        **dict.fromkeys(_OTHER_SOURCES),
    }


def check_machine(manifest: Manifest, python: str, host: str) -> None:
    """Make sure that the tools of a bundle run here, on a Python given by its ABI tag.

    Raises:
        FetchError: They are for another platform, or for other Pythons.
    """
    if manifest.host != host:
        raise FetchError(f"the bundle is for {manifest.host}, this machine is {host}")
    if python not in manifest.tool_pythons:
        raise FetchError(
            f"the bundle has no tools for Python {python[2]}.{python[3:]}",
            cause=f"they are for {', '.join(manifest.tool_pythons)}",
            remedy=f"name such a Python in PJRTWHEEL_PYTHON, or make the bundle with --python {python[2]}.{python[3:]}",
        )


def _tag_running() -> str:
    """Return the ABI tag of the Python that runs this."""
    free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    return python_tag(*sys.version_info[:2], free_threaded=free_threaded)


def choose_variables(environ: Mapping[str, str]) -> dict[str, str | None]:
    """Return what has to change in an environment so that all is taken from the bundle that it names, after a check.

    Nothing has to where it names none, or where that was done before.

    Raises:
        FetchError: The bundle is damaged, or is for another machine.
    """
    bundle = bundle_folder(environ)
    if bundle is None:
        return {}
    variables = list_variables(bundle)
    if all(environ.get(name) == value for name, value in variables.items()):
        return {}
    manifest = read_manifest(bundle)
    check_machine(manifest, _tag_running(), host_platform().name)
    check_once(bundle, manifest, cache_root(environ))
    return variables


def enter_bundle(environ: MutableMapping[str, str]) -> None:
    """Change an environment so that all is taken from the bundle that it names, if any; see `choose_variables`."""
    for name, value in choose_variables(environ).items():
        if value is None:
            environ.pop(name, None)
        else:
            environ[name] = value


@program
def main(argv: Sequence[str] | None = None) -> int:
    """Print the variables, and return the exit status."""
    CommandParser(prog="python -m pjrtwheel.bundle.environment", description=__doc__).parse_all(argv)
    print(json.dumps(choose_variables(os.environ)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
