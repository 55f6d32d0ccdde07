# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The pages of `docs/reference/`: written from the code, so that they cannot say anything else."""
