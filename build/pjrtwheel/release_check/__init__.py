# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Check a release before anything of it leaves: tag, wheels, hashes, locks, proofs, sizes and destination."""
