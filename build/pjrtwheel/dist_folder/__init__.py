# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Put finished wheels into `dist/` and keep `dist/release.json` true."""

from pjrtwheel.dist_folder.folder import add_proofs, add_wheels, check_space
from pjrtwheel.dist_folder.printing import print_wheels

__all__ = ["add_proofs", "add_wheels", "check_space", "print_wheels"]
