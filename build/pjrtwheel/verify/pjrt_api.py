# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read the version of the PJRT API from a plugin library that does not run.

`GetPjrtApi` returns a table that begins with its length, a pointer, and its version: length (24), pointer, major and
minor number. A compiler puts these into the code that fills the table at the first call, or the table into the file.
Read is what compilers make of XLA's own function for x86_64, and a table that lies in the file.
"""

import mmap
import re
from pathlib import Path

_FILLED_BY_CODE = re.compile(
    rb"\x48\xc7\x00..\0\0"  # movq $LENGTH, (%rax)
    rb".{0,12}?\x48\xc7\x40\x10\x18\0\0\0"  # movq $24, 0x10(%rax)
    rb"\x48\xc7\x40\x18\0\0\0\0"  # movq $0, 0x18(%rax)
    rb"(?:[\x48\x49][\xb8-\xbf]|\xc7\x40\x20)(.)\0\0\0"  # movabs $(MINOR << 32 | MAJOR), REG or movl $MAJOR, 0x20(%rax)
    rb"(?:\xc7\x40\x24)?(.)\0\0\0",  # the rest of movabs, or movl $MINOR, 0x24(%rax)
    re.DOTALL,
)
_IN_THE_FILE = re.compile(rb".[\x01-\x0b]\0{6}.{8}\x18\0{15}(\0)\0{3}([^\0])\0{3}", re.DOTALL)


def read_pjrt_api(library: Path) -> str:
    """Return the version, such as `0.116`; empty where it is not found, or more than one is."""
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for pattern, alignment in ((_FILLED_BY_CODE, 1), (_IN_THE_FILE, 8)):
            matches = (match for match in pattern.finditer(data) if match.start() % alignment == 0)
            found = {(match[1][0], match[2][0]) for match in matches}
            if len(found) == 1:
                ((major, minor),) = found
                return f"{major}.{minor}"
    return ""
