# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Put finished wheels into `dist/` and keep `dist/release.json` true."""
