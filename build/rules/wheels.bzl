# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Wheels: `pjrt_wheel` for a backend, `bindings_wheel` and `bindings_wheels` for jaxlib.

Each writes a manifest and runs the Python tool with it; knowledge of the wheel format stays there.
"""

load("//build/rules/private:bindings.bzl", _bindings_wheels = "bindings_wheels")
load("//build/rules/private:wheels.bzl", _bindings_wheel = "bindings_wheel", _pjrt_wheel = "pjrt_wheel")

bindings_wheel = _bindings_wheel
bindings_wheels = _bindings_wheels
pjrt_wheel = _pjrt_wheel
