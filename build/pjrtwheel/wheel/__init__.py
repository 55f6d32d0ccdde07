# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Write wheels: from a manifest, or from another wheel, repairing libraries as they stream by."""
