# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Choose for a machine one of the packages of a release, and give a reason for each of them."""
