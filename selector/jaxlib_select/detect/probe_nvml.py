# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Ask NVML, which works without libcuda and ignores CUDA_VISIBLE_DEVICES; run as a program of its own.

Usage: python -I -S probe_nvml.py LIBRARY. Prints `driver TEXT`, `version N`, `count N`, `gpu MAJOR MINOR NAME`.
"""

import ctypes
import sys

NO_LIBRARY = 3  # exit status
MOST = 1024  # devices that are asked


def say(*words: object) -> None:
    """Print one line and make sure that it gets out."""
    sys.stdout.buffer.write(" ".join(str(word) for word in words).encode("utf-8", "replace") + b"\n")
    sys.stdout.buffer.flush()


def main(library: str) -> int:
    """Ask for the driver, then for the devices."""
    try:
        nvml = getattr(ctypes, "WinDLL", ctypes.CDLL)(library)  # Windows has both: its drivers take the former
    except OSError as error:
        say("load", error)
        return NO_LIBRARY
    if nvml.nvmlInit_v2() != 0:
        return 0
    text = ctypes.create_string_buffer(96)
    number = ctypes.c_int()
    if nvml.nvmlSystemGetDriverVersion(text, 96) == 0:
        say("driver", text.value.decode("utf-8", "replace"))
    if nvml.nvmlSystemGetCudaDriverVersion_v2(ctypes.byref(number)) == 0:
        say("version", number.value)
    if nvml.nvmlDeviceGetCount_v2(ctypes.byref(number)) != 0:
        return 0
    say("count", number.value)
    for index in range(min(number.value, MOST)):
        describe(nvml, index)
    return 0


def describe(nvml: ctypes.CDLL, index: int) -> None:
    """Print compute capability and name of one device."""
    device = ctypes.c_void_p()
    name = ctypes.create_string_buffer(256)
    major, minor = ctypes.c_int(-1), ctypes.c_int(-1)
    if nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(device)) == 0:
        nvml.nvmlDeviceGetCudaComputeCapability(device, ctypes.byref(major), ctypes.byref(minor))
        nvml.nvmlDeviceGetName(device, name, 255)
    say("gpu", major.value, minor.value, name.value.decode("utf-8", "replace").replace("\n", " "))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
