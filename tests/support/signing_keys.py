# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Keys that sign releases, made by openssl as the documentation says."""

import subprocess
from pathlib import Path


def make_key(path: Path) -> Path:
    """Make an ed25519 key, and return the path of its public part, `<path>.pub`."""
    public = path.with_name(f"{path.name}.pub")
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", path], check=True)
    subprocess.run(["openssl", "pkey", "-in", path, "-pubout", "-out", public], check=True)
    return public
