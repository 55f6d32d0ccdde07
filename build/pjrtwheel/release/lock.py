# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The lock that ties all wheels of one build to each other.

The same JSON document is in our `jaxlib` and in each plugin wheel. The loader compares the two before it opens the
library, because a `jaxlib` of the same version may come from elsewhere (upstream) or from other inputs.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from pjrtwheel.release.model import Release
from pjrtwheel.tables import write_json

LOCK_FILENAME = "release_lock.json"
SCHEMA = 2


@dataclass(frozen=True, slots=True)
class ReleaseLock:
    """What a set of wheels agrees on.

    Attributes:
        release: The JAX release.
        version: Version of every wheel of the set, such as `0.11.2+split.1`.
        build: Number of the set under its label; the build tag of our `jaxlib` where there is no label.
        provider: `prebuilt`, `source`, or `file-<sha256>` for a library given by path.
        lock_id: 32 hexadecimal digits over the pins file's text, the number of the set and the provider.
        schema: Version of the document.
    """

    release: str
    version: str
    build: int
    provider: str
    lock_id: str
    schema: int = SCHEMA

    def to_json(self) -> str:
        """Return the document that is stored in the wheels: sorted keys, final newline."""
        return write_json(self)


def make_lock(release: Release, provider: str) -> ReleaseLock:
    """Compute the lock of a release built with one provider; the same for every wheel of the set.

    Its id is a hash of the pins file's text, the set's number and the provider, and of nothing else: two builds from
    source with other compilers or flags share it, though their bytes differ. The provider of a library given by path
    holds the library's own digest.
    """
    lock_id = identify(release.digest, release.build, provider)
    return ReleaseLock(release.version, release.set_version, release.build, provider, lock_id)


def identify(digest: str, build: int, provider: str) -> str:
    """Return the id of a lock, from the sha256 of a pins file, the number of the set and the provider."""
    identity = json.dumps([SCHEMA, digest, build, provider])
    return hashlib.sha256(identity.encode()).hexdigest()[:32]
