# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Ask libcuda or NVML for the GPUs; run as a program of its own, because either may hang or crash.

Usage: python -I -S query_nvidia.py cuda|nvml LIBRARY. Prints a line per answer as soon as there is one: `driver TEXT`,
`version N`, `init N`, `count N`, `gpu MAJOR MINOR NAME`. What it prints before it dies is kept. libcuda says what a
CUDA program will see; NVML works without libcuda, and ignores CUDA_VISIBLE_DEVICES.
"""

import ctypes
import sys

MAJOR = 75  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
MINOR = 76
_NO_LIBRARY = 3  # exit status
_NOT_FOUND = 500  # CUDA_ERROR_NOT_FOUND
_MOST = 1024  # devices that are asked


def say(*words: object) -> None:
    """Print one line and make sure that it gets out."""
    sys.stdout.buffer.write(" ".join(str(word) for word in words).encode("utf-8", "replace") + b"\n")
    sys.stdout.buffer.flush()


def _say_gpu(capability: list[ctypes.c_int], name: ctypes.Array[ctypes.c_char]) -> None:
    """Print one device."""
    text = name.value.decode("utf-8", "replace").replace("\n", " ")
    say("gpu", capability[0].value, capability[1].value, text)


def call(library: ctypes.CDLL, name: str, *arguments: object) -> int:
    """Call a function, and return its status; one that the library lacks is not found (500, as the driver calls it)."""
    function = getattr(library, name, None)
    return _NOT_FOUND if function is None else function(*arguments)


def _query_cuda(cuda: ctypes.CDLL) -> None:
    """Ask for the version, which works without a device, then for the devices."""
    number = ctypes.c_int()
    if call(cuda, "cuDriverGetVersion", ctypes.byref(number)) == 0:
        say("version", number.value)
    status = call(cuda, "cuInit", 0)
    say("init", status)
    if status != 0 or call(cuda, "cuDeviceGetCount", ctypes.byref(number)) != 0:
        return
    say("count", number.value)
    for index in range(min(number.value, _MOST)):
        device, name = ctypes.c_int(index), ctypes.create_string_buffer(256)
        capability = [ctypes.c_int(-1), ctypes.c_int(-1)]
        # A library that cannot name the device by its number takes the number itself.
        if call(cuda, "cuDeviceGet", ctypes.byref(device), index) in (0, _NOT_FOUND):
            for value, attribute in zip(capability, (MAJOR, MINOR), strict=True):
                call(cuda, "cuDeviceGetAttribute", ctypes.byref(value), attribute, device)
            call(cuda, "cuDeviceGetName", name, 255, device)
        _say_gpu(capability, name)


def _query_nvml(nvml: ctypes.CDLL) -> None:
    """Ask for the driver, then for the devices."""
    if nvml.nvmlInit_v2() != 0:
        return
    text, number = ctypes.create_string_buffer(96), ctypes.c_int()
    if nvml.nvmlSystemGetDriverVersion(text, 96) == 0:
        say("driver", text.value.decode("utf-8", "replace"))
    if nvml.nvmlSystemGetCudaDriverVersion_v2(ctypes.byref(number)) == 0:
        say("version", number.value)
    if nvml.nvmlDeviceGetCount_v2(ctypes.byref(number)) != 0:
        return
    say("count", number.value)
    for index in range(min(number.value, _MOST)):
        device, name = ctypes.c_void_p(), ctypes.create_string_buffer(256)
        major, minor = ctypes.c_int(-1), ctypes.c_int(-1)
        if nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(device)) == 0:
            nvml.nvmlDeviceGetCudaComputeCapability(device, ctypes.byref(major), ctypes.byref(minor))
            nvml.nvmlDeviceGetName(device, name, 255)
        _say_gpu([major, minor], name)


def main(kind: str, path: str) -> int:
    """Open the library, and ask it."""
    try:
        library = getattr(ctypes, "WinDLL", ctypes.CDLL)(path)  # Windows has both: its drivers take the former
    except OSError as error:
        say("load", error)
        return _NO_LIBRARY
    {"cuda": _query_cuda, "nvml": _query_nvml}[kind](library)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
