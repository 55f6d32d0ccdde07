# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Write wheels: plan the members, repair libraries on the way, and stream everything into one archive."""
