# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Make pip, uv and the search for Bazel take from the bundle that `PJRTWHEEL_BUNDLE` names, and from nowhere else.

noxw, the noxfile and the command line begin with this. noxw runs the file by its path, on any Python 3.
"""

import os
from collections.abc import MutableMapping
from pathlib import Path

SUMS = "SHA256SUMS"  # in the format of sha256sum(1), written last: a bundle without it is not complete
# What else could bring a package from elsewhere; of pip, every setting.
_OTHER_SOURCES = ("PIP_", "UV_INDEX", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_NO_INDEX", "UV_CONFIG_FILE")


def enter_bundle(environ: "MutableMapping[str, str]") -> None:
    """Change an environment so that all is taken from the bundle that it names, if any.

    Raises:
        SystemExit: The bundle is not complete.
    """
    if not environ.get("PJRTWHEEL_BUNDLE"):
        return
    bundle = Path(environ["PJRTWHEEL_BUNDLE"]).absolute()
    if not (bundle / SUMS).is_file():
        remedy = "fill it with `./noxw bundle` on a machine with a network, or unset PJRTWHEEL_BUNDLE"
        raise SystemExit(f"error: no complete bundle in {bundle}: it has no {SUMS}\n       {remedy}")
    for name in [name for name in environ if name.startswith(_OTHER_SOURCES)]:
        del environ[name]
    wheels = (bundle / "wheels").as_uri()  # pip splits what is not quoted at spaces
    # The folder is the index as well, in which no package is found: otherwise PyPI would be, and with PIP_NO_INDEX
    # an --index-url that somebody gives would not be read.
    environ.update(PIP_FIND_LINKS=wheels, PIP_INDEX_URL=wheels, PIP_CONFIG_FILE=os.devnull)
    environ.update(UV_FIND_LINKS=wheels, UV_INDEX_URL=wheels, UV_OFFLINE="1", UV_NO_CONFIG="1")
    environ.update(PJRTWHEEL_BUNDLE=str(bundle), PIP_DISABLE_PIP_VERSION_CHECK="1", VIRTUALENV_NO_PERIODIC_UPDATE="1")
    if (bundle / "bazel").is_file():
        environ.setdefault("BAZEL", str(bundle / "bazel"))
