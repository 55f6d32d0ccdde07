# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Reading machine descriptions, good and bad."""

import json

import pytest

from jaxlib_select.choose.resolve import resolve
from jaxlib_select.errors import MachineError
from jaxlib_select.machine.file import parse_machine
from jaxlib_select.machine.model import Amd, Devices, Intel, Machine, Nvidia, NvidiaGpu

CONTRACT = """{"os": "linux", "arch": "x86_64", "wsl": false, "tegra": false,
 "nvidia": {"cuda": "13.0", "driver": "580.95.05", "cuinit": 0, "gpus": [{"name": null, "compute_capability": "9.0"}]},
 "amd": {"rocm": "7.0.0", "gpus": ["gfx90a:sramecc+:xnack-"]}, "intel": {"pci": ["8086:0BD5"], "level_zero": true},
 "tpu": {"pci": ["1ae0:0063"], "devices": ["/dev/vfio/0"]}, "color": "red"}"""


def test_the_documented_form_is_read() -> None:
    """Every documented key is taken, PCI ids in lower case, chips without features; an unknown key is ignored."""
    assert parse_machine(CONTRACT) == Machine(
        os="linux",
        arch="x86_64",
        nvidia=Nvidia(cuda=(13, 0), driver="580.95.05", cuinit=0, gpus=(NvidiaGpu((9, 0)),)),
        amd=Amd(rocm="7.0.0", gpus=("gfx90a",)),
        intel=Intel(pci=("8086:0bd5",), level_zero=True),
        tpu=Devices(pci=("1ae0:0063",), devices=("/dev/vfio/0",)),
    )


@pytest.mark.parametrize("text", ["{}", '{"nvidia": null, "amd": {}, "intel": {"pci": null}, "os": null}'])
def test_what_is_missing_was_not_found(text: str) -> None:
    """An empty description is a machine of which nothing is known, and gets the CPU."""
    assert (parse_machine(text), resolve("jax", Machine()).package) == (Machine(), "jax")


CAPABILITIES = '{"nvidia": {"gpus": [{"compute_capability": "9.0"}, {"compute_capability": "new"}]}}'


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "JSON"),
        ("[" * 100_000, "JSON"),
        ("[]", "[]"),
        ('{"nvidia": []}', "nvidia is []"),
        ('{"os": 1}', "os is 1"),
        (r'{"nvidia": {"driver": "\ud800"}}', r"nvidia.driver is '\ud800'"),
        (r'{"libc": "a\nchosen  cpu"}', r"libc is 'a\nchosen  cpu'"),
        (r'{"visible": {"X": "\u001b[2J"}}', r"visible.X is '\x1b[2J'"),
        ('{"nvidia": {"libcuda": "broken"}}', "nvidia.libcuda is 'broken'"),
        ('{"wsl": "no"}', "wsl is 'no'"),
        ('{"nvidia": {"cuda": 13}}', "nvidia.cuda is 13"),
        ('{"nvidia": {"cuinit": true}}', "nvidia.cuinit is True"),
        (CAPABILITIES, "nvidia.gpus[1].compute_capability is 'new'"),
        ('{"nvidia": {"gpus": ["H100"]}}', "nvidia.gpus[0] is 'H100'"),
        ('{"amd": {"gpus": ["MI300"]}}', "amd.gpus[0] is 'MI300'"),
        ('{"tpu": {"pci": ["1ae0"]}}', "tpu.pci[0] is '1ae0'"),
        (json.dumps({"os": ["x" * 90]}), f"os is ['{'x' * 55}..."),
        ('{"name": "x", "version": 3}', "name, version"),  # another program's file: none of its keys is known
    ],
    ids=lambda value: value[:30],
)
def test_a_bad_description_is_refused_by_the_name_of_the_key(text: str, named: str) -> None:
    """What is wrong is said in one line, with the key and the value."""
    with pytest.raises(MachineError) as caught:
        parse_machine(text)
    assert (named in caught.value.what, "\n" in caught.value.what, caught.value.exit_code) == (True, False, 2)


def test_ten_thousand_gpus_are_decided_about() -> None:
    """The sentences stay short although every second GPU must be hidden."""
    gpus = [
        {"compute_capability": "3.7" if index % 2 else "9.0", "name": f"GPU {index % 50}"} for index in range(10_000)
    ]
    text = json.dumps({"os": "linux", "arch": "x86_64", "nvidia": {"cuda": "13.0", "cuinit": 0, "gpus": gpus}})
    decision = resolve("jax", parse_machine(text))
    hidden = decision.environment["CUDA_VISIBLE_DEVICES"].split(",")
    assert (decision.package, len(decision.hidden), len(hidden)) == ("jaxlib-cuda-13", 5000, 5000)
    (warning,) = decision.warnings
    assert max(map(len, [warning, *(candidate.reason for candidate in decision.candidates)])) < 500
