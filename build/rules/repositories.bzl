# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Repositories of the prebuilt graph: `release_repository` first, then `pjrt_repositories` with what it found."""

load("//build/rules/private:release_repository.bzl", _release_repository = "release_repository")
load("//build/rules/private:repositories.bzl", _pjrt_repositories = "pjrt_repositories")

pjrt_repositories = _pjrt_repositories
release_repository = _release_repository
