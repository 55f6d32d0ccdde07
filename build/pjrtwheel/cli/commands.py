# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The commands there are. noxw reads this file as well, with any python3."""

COMMANDS = {
    "assemble": "write a repaired wheel from a manifest",
    "attest": "write a release as it is published: wheels, checksums, bill of materials, provenance",
    "auto": "build jaxlib-auto, whose wheel variants ask for what fits the machine",
    "build": "build, verify and prove the wheels of one backend, into dist/",
    "bundle": "fill one folder with all that builds and proofs need, for machines without a network",
    "bump": "pin, build and prove the next JAX release, and report what changed",
    "clean": "remove what Bazel left for checkouts that are gone",
    "conformance": "run JAX's own tests on the built-in client and on a plugin",
    "facts": "write for jaxlib-select what the wheels of a release serve",
    "index": "write a static package index of finished wheels",
    "inspect": "say what wheels are, and what is wrong with them",
    "matrix": "print as JSON the jobs of continuous integration: what to build, test and start",
    "merge": "put the wheels and records of several builds into one folder",
    "pages": "write the static index of all releases anew, as after a withdrawal",
    "pin": "write releases/VERSION.toml from the package index",
    "probe": "run PJRT's conformance checks on plugin libraries, without JAX",
    "publish": "bring a release to a destination, or promote it from a stage",
    "release": "make all wheels of a release and their index, with the plan first",
    "release_check": "check a release before anything of it is published",
    "repair": "repair a finished wheel",
    "reproduce": "build a published release again, and compare it byte for byte",
    "select": "build jaxlib-select, which finds out what fits a machine",
    "shutdown": "end the Bazel servers of this checkout",
    "smoke": "prove finished wheels in clean environments",
    "table": "print the wheels of a folder as a table in Markdown",
    "tag": "say what a tag of git publishes, or why it must not be published",
    "tooling": "build pjrtwheel, which wraps, probes and inspects plugins without this repository",
    "verify": "check finished wheels against what their names and metadata promise",
    "verify_installs": "install a release from a stage as users do, and start JAX",
    "verify_release": "verify a release as those who receive it: checksums, documents, signature, wheels",
    "wrap": "make a plugin wheel of a library, without Bazel or a compiler",
}

# Those that an installed `pjrtwheel` has: they need no clone of the repository.
STANDALONE = ("inspect", "probe", "repair", "smoke", "verify", "wrap")

# Module → its commands, where several are about one thing: its functions end in the name of the command.
SHARED = {
    "attest": ("attest", "reproduce", "verify_release"),
    "bazel": ("clean", "shutdown"),
    "dist": ("merge", "table"),
    "pin": ("bump", "pin"),
    "products": ("auto", "facts", "index", "select", "tooling"),
    "prove": ("conformance", "probe", "smoke"),
    "publish": ("pages", "publish", "release_check"),
    "wheels": ("inspect", "repair", "verify"),
    "workflows": ("matrix", "tag"),
}
