# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""C code compiled with the pinned compiler, without Bazel's own C++ rules.

These rules need nothing but the package index, and give the same bytes on every machine.
"""

load("//build/rules/private:compiler.bzl", _c_headers = "c_headers")
load(
    "//build/rules/private:extension.bzl",
    _shared_library = "shared_library",
    _stable_abi_extension = "stable_abi_extension",
)

c_headers = _c_headers
shared_library = _shared_library
stable_abi_extension = _stable_abi_extension
