# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The repository with what the graph is laid out by; all other rules load it, so it comes first."""

load("//build/rules/private:release_repository.bzl", _release_repository = "release_repository")

release_repository = _release_repository
