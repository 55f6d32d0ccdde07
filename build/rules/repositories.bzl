# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Repositories of the prebuilt graph."""

load("//build/rules/private:repositories.bzl", _pjrt_repositories = "pjrt_repositories")

pjrt_repositories = _pjrt_repositories
