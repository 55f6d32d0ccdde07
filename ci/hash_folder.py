# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Print one sha256 for all files in a folder, by name and bytes: `python ci/hash_folder.py FOLDER [EXPECTED]`.

One job states it, and the next one gives it as EXPECTED: an artifact in which a file was altered, added or taken away
ends that job.
"""

import hashlib
import sys
from pathlib import Path


def hash_folder(folder: Path) -> str:
    """Return the sha256 of a list of all files below a folder, which has the lines that `sha256sum` prints."""
    lines = []
    for path in sorted(path for path in folder.rglob("*") if not path.is_dir()):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        lines.append(f"{digest}  {path.relative_to(folder).as_posix()}\n")
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def main(arguments: list[str]) -> None:
    """Print the digest, or end with a message if it is not the expected one."""
    folder, expected = Path(arguments[0]), arguments[1] if len(arguments) > 1 else None
    if not any(folder.iterdir()):
        raise SystemExit(f"::error::{folder} is empty")
    digest = hash_folder(folder)
    if expected is not None and digest != expected:
        raise SystemExit(
            f"::error::{folder} is not what the job before handed on: {digest}, not {expected or 'stated'}"
        )
    print(digest)


if __name__ == "__main__":
    main(sys.argv[1:])
