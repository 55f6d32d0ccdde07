# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the wheels of a release say of it: the lock that ties all of one build to each other, and what extras require.

The lock, one JSON document, is in our `jaxlib` and in each plugin wheel. The loader compares the two before it opens
the library, because a `jaxlib` of the same version may come from elsewhere (upstream) or from other inputs.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from pjrtwheel.backend import Backend, UpstreamExtra
from pjrtwheel.errors import FetchError
from pjrtwheel.release.model import Release
from pjrtwheel.tables import write_json

LOCK_FILENAME = "release_lock.json"
SCHEMA = 2


@dataclass(frozen=True, slots=True)
class ReleaseLock:
    """What a set of wheels agrees on; or for which releases of upstream's `jaxlib` a plugin is that is of no set.

    Attributes:
        release: The JAX release; without a set the oldest one.
        version: Version of every wheel of the set, such as `0.11.2+split.1`; without a set the newest release.
        build: Number of the set under its label; the build tag of our `jaxlib` where there is no label.
        provider: `prebuilt`, `source`, `source-<sha256>` of its options, or `file-<sha256>` of a library given by path.
        lock_id: 32 hexadecimal digits over the pins that all wheels share, the number of the set and the provider;
            empty without a set.
        schema: Version of the document.
    """

    release: str
    version: str
    build: int
    provider: str
    lock_id: str
    schema: int = SCHEMA

    @property
    def requirement(self) -> str:
        """What a plugin requires of `jaxlib`: exactly that of its set, or upstream's from one release to another."""
        exact = self.lock_id or self.release == self.version
        return f"jaxlib=={self.version}" if exact else f"jaxlib>={self.release},<={self.version}"

    def to_json(self) -> str:
        """Return the document that is stored in the wheels: sorted keys, final newline."""
        return write_json(self)


def make_lock(release: Release, provider: str) -> ReleaseLock:
    """Compute the lock of a release built with one provider; the same for every wheel of the set.

    Its id is a hash of the pins, without those for one Python, of the set's number and the provider. So a Python that
    is added changes no other wheel. Two builds from source with other compilers or flags share it, though their bytes
    differ. The provider of a library given by path holds the library's own digest.
    """
    lock_id = identify(release.shared_digest, release.build, provider)
    return ReleaseLock(release.version, release.set_version, release.build, provider, lock_id)


def identify(digest: str, build: int, provider: str) -> str:
    """Return the id of a lock, from the digest of the shared pins, the number of the set and the provider."""
    identity = json.dumps([SCHEMA, digest, build, provider])
    return hashlib.sha256(identity.encode()).hexdigest()[:32]


_PROJECT = re.compile(r"[\w.-]+")


def extras_of(backend: Backend, release: Release) -> dict[str, tuple[str, ...]]:
    """Return the extras of a backend's wheel, and what each requires.

    Raises:
        FetchError: An extra follows one of upstream's, which has no plugin of this release.
    """
    taken = release.extras.get(backend.name, {})
    for extra, table in backend.extras.items():
        if isinstance(table, UpstreamExtra) and extra not in taken:
            raise FetchError(
                f"release {release.version} does not say what {backend.distribution}[{extra}] requires",
                cause=f"the package index had no {table.upstream} when the release was pinned",
                remedy=f"pin it again when there is one: ./noxw pin {release.version}",
            )
    own = {extra: table for extra, table in backend.extras.items() if not isinstance(table, UpstreamExtra)}
    return {extra: own[extra] if extra in own else taken[extra] for extra in backend.extras}


def offered(release: Release, backends: Iterable[Backend], provider: str) -> tuple[Backend, ...]:
    """Return the backends that `jaxlib` has an extra for: all that have a wheel in the set.

    From the index these are the ones that it has a library of; whoever brings a library may bring any.
    """
    return tuple(backend for backend in backends if provider != "prebuilt" or release.platforms(backend.name))


def aot_requires(backend: Backend, release: Release) -> tuple[str, ...]:
    """Return what compiling without the accelerator needs; a bare project is bounded as an extra bounds it."""
    bounds = {
        _project(requirement): requirement
        for requires in (extras_of(backend, release).values() if backend.aot_requires else ())
        for requirement in requires
    }
    return tuple(bounds.get(entry, entry) for entry in backend.aot_requires)


def _project(requirement: str) -> str:
    """Return the project of a requirement.

    >>> _project("nvidia-nvvm>=13.0.48,<14")
    'nvidia-nvvm'
    """
    match = _PROJECT.match(requirement)
    return match[0] if match else ""
