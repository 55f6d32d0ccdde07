# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""All commands, in the order of the reference. noxw reads this file as well, with any python3."""

COMMANDS = {
    # Make wheels
    "build": "build, verify and prove the wheels of backends, into dist/",
    "release": "print the plan of a release, then make all its wheels and their index",
    "index": "write a static package index of finished wheels",
    "auto": "build jaxlib-auto, whose wheel variants require the wheel that fits the machine",
    "select": "build jaxlib-select, which chooses the wheel for a machine",
    "bundle": "fill a folder with everything that builds and proofs need without a network",
    "merge": "put the wheels and records of several builds into one folder",
    # Check wheels
    "inspect": "describe wheels, and list their problems",
    "smoke": "prove finished wheels in clean environments",
    "verify": "check finished wheels against their names and metadata",
    "verify_release": "verify a release that you received: checksums, documents, signature, wheels",
    "probe": "run PJRT's conformance checks on plugin libraries, without JAX",
    "conformance": "run JAX's own tests on the built-in client and on a plugin",
    "reproduce": "build a published release again, and compare it byte for byte",
    # Publish a release
    "release_check": "check a release before it is published",
    "attest": "write the folder that is published: wheels, checksums, bill of materials, provenance",
    "publish": "publish a release, or promote it from a stage",
    "verify_installs": "install a release from a stage as users do, and start JAX",
    "pages": "write the static index of all releases again, such as after a withdrawal",
    # Package a plugin
    "wrap": "make a plugin wheel from a library, without Bazel or a compiler",
    "repair": "copy a wheel, without symbol tables and with relative run paths",
    "tooling": "build pjrtwheel, which wraps, probes and inspects plugins without a clone",
    # Maintain this repository
    "bump": "pin, build and prove the next JAX release, and report what changed",
    "pin": "write releases/VERSION.toml from the package index",
    "facts": "write the data of jaxlib-select: which machines the wheels of a release serve",
    "clean": "remove Bazel's caches of deleted checkouts",
    "shutdown": "end the Bazel servers of this checkout",
    # For Bazel and workflows
    "assemble": "write a repaired wheel from a manifest",
    "matrix": "print the jobs of continuous integration as JSON",
    "tag": "say what a git tag publishes, or why it cannot be published",
}

# Those that an installed `pjrtwheel` has: they need no clone of the repository.
STANDALONE = ("inspect", "probe", "repair", "smoke", "verify", "wrap")

# Option → the commands that have it, after those of their own.
OPTIONS = {
    "--root": COMMANDS.keys() - {"assemble", "index", "inspect", "merge", "repair", "verify_release"},
    "--release": {"auto", "build", "conformance", "facts", "smoke", "verify_installs", "wrap"},
    "--label": {"auto", "build", "facts"},
    "--dist": {"attest", "auto", "build", "bump", "conformance", "facts", "index", "release", "release_check", "select"}
    | {"tooling"},
    "--set": {"conformance", "smoke"},
}

# Module → its commands, where several are about one thing: its functions end in the name of the command.
SHARED = {
    "attest": ("attest", "reproduce", "verify_release"),
    "bazel": ("clean", "shutdown"),
    "pin": ("bump", "pin"),
    "products": ("auto", "facts", "index", "select", "tooling"),
    "prove": ("conformance", "probe", "smoke"),
    "publish": ("pages", "publish", "release_check"),
    "wheels": ("inspect", "repair", "verify"),
    "workflows": ("matrix", "tag"),
}
