# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The pages about files that people or the tooling write: backends, releases, JSON documents."""

from __future__ import annotations

from jaxlib_select.facts import Select
from jaxlib_select.machine.model import Machine
from pjrtwheel.backend import Backend
from pjrtwheel.probe.plugin import ProbeSettings
from pjrtwheel.products.index.release_pages.accelerators import Accelerators
from pjrtwheel.prove.inputs import Target
from pjrtwheel.prove.proof_file import ProofFile
from pjrtwheel.publish.destinations import Destination
from pjrtwheel.publish.yanked import Yanked
from pjrtwheel.record.entries import Record
from pjrtwheel.reference.keys import render_keys
from pjrtwheel.release.lock import ReleaseLock
from pjrtwheel.release.model import SCHEMA, Override, Pin, Release, XlaSource
from pjrtwheel.release.planned import Input
from pjrtwheel.release_check.policy import Policy

_BACKEND = """\
# Files of a backend

Everything about an accelerator is in `plugins/BACKEND/`. A key that is not listed here is an error.

## `backend.toml`

{backend}

{select}

Without this table `jaxlib-select` takes the backend only when it is asked for by name.

## `probe.toml`

{probe}

## `picker.toml`

{accelerators}

## `targets/CHIP.toml`

Of a chip that a shared directory has a file about, the backend's own file says only what differs.

{target}
"""
_RELEASE = """\
# Files of releases

`releases/` has one generated file for each release, and files with decisions of a person.

## `VERSION.toml`

`./noxw -s pin -- VERSION` writes it; nobody edits it by hand. `schema` is {schema}, and each pinned file a `[[pin]]`.

{release}

{pin}

## `inputs.toml`

What releases take from the package index besides the projects of backends. `label` is what `VERSION.toml` gets.

{input}

## `overrides.toml`

{override}

## `xla.toml`

{xla}

## `policy.toml`

{policy}

## `destinations.toml`

{destination}

## `yanked.toml`

{yanked}
"""
_DOCUMENTS = """\
# JSON documents

Those who write programs should validate with the schemas; these tables say the same.

## `dist/release.json`

The wheels of a folder, and what was proven of them: [release.schema.json](../release.schema.json).

{release}

## Machine file

What `jaxlib-select detect --json` prints and `--machine` reads: [machine.schema.json](../machine.schema.json).
Unknown keys are ignored, and null is as good as a missing key.

{machine}

## Proofs made elsewhere

`smoke_BACKEND -- --proofs FILE` writes it and `merge -- --proofs FILE` reads it:
[proofs.schema.json](../proofs.schema.json).

{proofs}

## The lock in a wheel

{lock}
"""


def render_backend_files() -> str:
    """Return the page about `backend.toml` and the files next to it."""
    return _BACKEND.format(
        backend=render_keys(Backend, given={"name", "path", "select"}),
        select=render_keys(Select, path="select"),
        probe=render_keys(ProbeSettings),
        accelerators=render_keys(Accelerators),
        target=render_keys(Target, given={"name"}),
    )


def render_release_files() -> str:
    """Return the page about the files in `releases/`."""
    return _RELEASE.format(
        schema=SCHEMA,
        release=render_keys(Release, given={"pins", "digest", "path"}),
        pin=render_keys(Pin, path="pin", several=True),
        input=render_keys(Input, path="input", several=True),
        override=render_keys(Override, path='"VERSION".BACKEND', given={"backend"}),
        xla=render_keys(XlaSource, path='"VERSION"'),
        policy=render_keys(Policy),
        destination=render_keys(Destination, path="destination", several=True),
        yanked=render_keys(Yanked, path="yanked", several=True),
    )


def render_documents() -> str:
    """Return the page about the JSON documents that have a schema, and the lock."""
    return _DOCUMENTS.format(
        release=render_keys(Record, "json", written=True),
        machine=render_keys(Machine, "json", lenient=True),
        proofs=render_keys(ProofFile, "json"),
        lock=render_keys(ReleaseLock, "json"),
    )
