# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Sets of wheels that belong together: those a release promises, those in a folder, those somebody published."""
