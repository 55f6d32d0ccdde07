# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""One folder with everything that builds, their verification and their proofs need, for machines without a network."""
