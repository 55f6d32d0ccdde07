# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What `.github/workflows` ask the tooling, in GitHub's words: which jobs there are, and what a tag publishes."""
