# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""C code compiled with the pinned compiler, without Bazel's own C++ rules.

These rules need nothing but the package index, and give the same bytes on every machine.
"""

load("//build/rules/private:compiler.bzl", _c_headers = "c_headers")
load(
    "//build/rules/private:extension.bzl",
    _python_extension = "python_extension",
    _shared_library = "shared_library",
)

c_headers = _c_headers
python_extension = _python_extension
shared_library = _shared_library
