# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Ask libcuda what a CUDA program will see; run as a program of its own, because libcuda may hang or crash.

Usage: python -I -S probe_cuda.py LIBRARY. Prints a line per answer as soon as there is one: `version N`, `init N`,
`count N`, `gpu MAJOR MINOR NAME`. What it prints before it dies is kept.
"""

import ctypes
import sys

MAJOR = 75  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
MINOR = 76
NO_LIBRARY = 3  # exit status
NOT_FOUND = 500  # CUDA_ERROR_NOT_FOUND
MOST = 1024  # devices that are asked


def say(*words: object) -> None:
    """Print one line and make sure that it gets out."""
    sys.stdout.buffer.write(" ".join(str(word) for word in words).encode("utf-8", "replace") + b"\n")
    sys.stdout.buffer.flush()


def main(library: str) -> int:
    """Ask for the version, which works without a device, then for the devices."""
    try:
        cuda = getattr(ctypes, "WinDLL", ctypes.CDLL)(library)  # Windows has both: its drivers take the former
    except OSError as error:
        say("load", error)
        return NO_LIBRARY
    number = ctypes.c_int()
    if call(cuda, "cuDriverGetVersion", ctypes.byref(number)) == 0:
        say("version", number.value)
    status = call(cuda, "cuInit", 0)
    say("init", status)
    if status != 0 or call(cuda, "cuDeviceGetCount", ctypes.byref(number)) != 0:
        return 0
    say("count", number.value)
    for index in range(min(number.value, MOST)):
        describe(cuda, index)
    return 0


def call(cuda: ctypes.CDLL, name: str, *arguments: object) -> int:
    """Call a function, and return its status; one that the library lacks is not found (500, as the driver calls it)."""
    function = getattr(cuda, name, None)
    return NOT_FOUND if function is None else function(*arguments)


def describe(cuda: ctypes.CDLL, index: int) -> None:
    """Print compute capability and name of one device."""
    device = ctypes.c_int(index)
    name = ctypes.create_string_buffer(256)
    capability = [ctypes.c_int(-1), ctypes.c_int(-1)]
    # A library that cannot name the device by its number takes the number itself.
    if call(cuda, "cuDeviceGet", ctypes.byref(device), index) in (0, NOT_FOUND):
        for value, attribute in zip(capability, (MAJOR, MINOR), strict=True):
            call(cuda, "cuDeviceGetAttribute", ctypes.byref(value), attribute, device)
        call(cuda, "cuDeviceGetName", name, 255, device)
    say("gpu", capability[0].value, capability[1].value, name.value.decode("utf-8", "replace").replace("\n", " "))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
