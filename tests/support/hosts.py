# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Hosts that are described by files and answers of programs, for detection."""

from collections.abc import Callable, Mapping, Sequence

from jaxlib_select.machine.host import Host, ProcessResult

LIBCUDA = "/usr/lib/x86_64-linux-gnu/libcuda.so.1"
NVML = "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1"
NODE = "/sys/class/kfd/kfd/topology/nodes"

MakeHost = Callable[..., Host]


class Programs:
    """A process runner with an answer for each program, by a word of its command."""

    def __init__(self, answers: Mapping[str, ProcessResult]) -> None:
        """Remember the answers, and which were asked for."""
        self.answers = answers
        self.asked: list[str] = []

    def __call__(self, command: Sequence[str], environ: Mapping[str, str], timeout: float) -> ProcessResult:
        """Answer by the first word that occurs in the command; a program without an answer is absent."""
        del environ, timeout
        words = [word for word in self.answers if any(word in part for part in command)]
        self.asked += words[:1]
        return self.answers[words[0]] if words else ProcessResult(None)


def pci(address: str, vendor: str, device: str, kind: str = "0x030000") -> dict[str, str]:
    """Return the files of one device on the PCI bus."""
    folder = f"/sys/bus/pci/devices/{address}"
    return {f"{folder}/vendor": f"{vendor}\n", f"{folder}/device": f"{device}\n", f"{folder}/class": f"{kind}\n"}


def said(*lines: str, status: int = 0) -> ProcessResult:
    """Return what a program that printed these lines became."""
    return ProcessResult(status, "\n".join(lines) + "\n")
