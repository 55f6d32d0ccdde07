# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The rules_ml_toolchain that goes with the XLA of each release, as JAX pins the two together.

0.11.2: the commit stands in documents of two other projects, the digest in one; not read in JAX's own tree.
"""

TOOLCHAINS = {
    "0.10.2": {
        "commit": "cad1047facbac4fb3c1124da68bf2cb36c7eb9ac",
        "sha256": "40963e4bc262dfa9a43146f610140af0068b023ace8f3c50f1705a7b50de0830",
    },
    "0.11.0": {
        "commit": "b11745590f513ec55b32e2d126073576fde18c71",
        "sha256": "6b1b294cbecb98a08bcfe59641461f72e113db30fa91b44fcc49d98099b5ba65",
    },
    "0.11.2": {
        "commit": "c0eb2743b7b12b2bbcf0e1888e26d36ba6b093de",
        "sha256": "003f9f700f80a10f70bec761d00529237d16a6e20c063124c9fffa98a8c0af35",
    },
}
