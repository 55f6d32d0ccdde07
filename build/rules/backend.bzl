# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""All targets of an accelerator in one call: see `pjrt_backend`."""

load("//build/rules/private:backend.bzl", _pjrt_backend = "pjrt_backend")

pjrt_backend = _pjrt_backend
