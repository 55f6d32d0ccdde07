# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of every decision, on machines that nobody thought of."""

import json
from dataclasses import replace
from random import Random

from hypothesis import example, given
from hypothesis import strategies as st

from jaxlib_select.choose.resolve import find_resolver, resolve
from jaxlib_select.errors import PolicyError
from jaxlib_select.machine.file import from_json, to_json
from jaxlib_select.machine.model import Amd, Devices, Intel, Machine, Nvidia, NvidiaGpu
from select_commands import asked

CAPABILITIES = [divmod(number, 10) for number in (37, 50, 53, 61, 70, 75, 80, 87, 89, 90, 103, 121, 130)]
H100_AND_7900 = Machine(
    "linux", "x86_64", nvidia=Nvidia((13, 0), cuinit=0, gpus=(NvidiaGpu((9, 0)),)), amd=Amd("7.0.0", ("gfx1100",))
)
UNSERVED = {"nvidia": NvidiaGpu((3, 5), "Tesla K40"), "amd": "gfx803"}
AMD_GPUS = ["gfx803", "gfx906", "gfx90a", "gfx942", "gfx1031", "gfx1036", "gfx1100", "gfx1151", "gfx1250"]

gpus = st.builds(NvidiaGpu, st.none() | st.sampled_from(CAPABILITIES), st.none() | st.sampled_from(["A", "B"]))
versions = st.none() | st.sampled_from([(11, 4), (12, 0), (12, 8), (12, 9), (13, 0), (13, 1)])
nvidias = st.builds(
    Nvidia,
    cuda=versions,
    cuinit=st.sampled_from([None, 0, 34, 46, 100, 304, 802, 803, 804, 805, 999]),
    gpus=st.lists(gpus, max_size=4).map(tuple),
    libcuda=st.sampled_from([None, "ok", "absent", "hung", "crashed", "odd"]),
    pci=st.sampled_from([(), ("10de:2684",)]),
)
amds = st.builds(
    Amd,
    rocm=st.sampled_from([None, "6.4.1", "7", "7.0.0", "7.2.1", "odd"]),
    gpus=st.lists(st.sampled_from(AMD_GPUS), max_size=3).map(tuple),
    accessible=st.sampled_from([None, True, False]),
)
intels = st.builds(Intel, st.sampled_from([(), ("8086:0bd5",), ("8086:46a6",)]), st.booleans())
tpus = st.builds(
    Devices, st.sampled_from([(), ("1ae0:0042",), ("1ae0:0063",)]), st.sampled_from([(), ("/dev/vfio/0",)])
)
machines = st.builds(
    Machine,
    os=st.sampled_from(["", "linux", "linux", "linux", "darwin", "windows", "freebsd"]),
    arch=st.sampled_from(["", "x86_64", "x86_64", "aarch64", "arm64"]),
    wsl=st.booleans(),
    tegra=st.booleans(),
    nvidia=nvidias,
    amd=amds,
    intel=intels,
    tpu=tpus,
    container=st.sampled_from([None, "docker"]),
    libc=st.sampled_from([None, "glibc 2.17", "glibc 2.39", "musl"]),
)
packages = st.sampled_from(["jax", "torch"])
NUMBER_OF_BACKENDS = {"jax": 7, "torch": 8}


@given(machines, packages)
def test_every_machine_gets_a_decision_with_one_reason_per_backend(machine: Machine, package: str) -> None:
    """However much or little is known: more facts never make the explanation shorter."""
    decision = resolve(package, machine)
    assert len({candidate.backend for candidate in decision.candidates}) == NUMBER_OF_BACKENDS[package]
    assert len(decision.candidates) == NUMBER_OF_BACKENDS[package]
    assert [candidate.chosen for candidate in decision.candidates].count(True) == 1
    assert all(candidate.reason and "None" not in candidate.reason for candidate in decision.candidates)
    assert not any("None" in warning for warning in decision.warnings)
    json.dumps(decision.to_json())


@given(machines, packages, st.randoms())
def test_the_order_of_gpus_does_not_matter(machine: Machine, package: str, random: Random) -> None:
    """The same devices in another order give the same choice with the same reasons; what is hidden moves with them."""
    nvidia, amd = list(machine.nvidia.gpus), list(machine.amd.gpus)
    random.shuffle(nvidia)
    random.shuffle(amd)
    found = {"nvidia": replace(machine.nvidia, gpus=tuple(nvidia)), "amd": replace(machine.amd, gpus=tuple(amd))}
    other = replace(machine, **found)  # type: ignore[arg-type]
    first, second = resolve(package, machine), resolve(package, other)
    for name in ("backend", "requirements", "constraints", "candidates"):
        assert getattr(first, name) == getattr(second, name)
    assert sorted(_hidden(first.hidden, machine)) == sorted(_hidden(second.hidden, other))


def _hidden(names: tuple[str, ...], machine: Machine) -> list[str]:
    """Return what is hidden as devices instead of numbers."""
    places = {"nvidia": machine.nvidia.gpus, "amd": machine.amd.gpus}
    return [str(places[vendor][int(index)]) for vendor, index in (name.split(":") for name in names)]


@example(H100_AND_7900, "jax", "nvidia", "auto")
@example(H100_AND_7900, "torch", "nvidia", "auto")
@given(machines, packages, st.sampled_from(sorted(UNSERVED)), st.sampled_from(["auto", "prefer-gpu"]))
def test_a_gpu_that_nothing_serves_changes_no_choice(machine: Machine, package: str, vendor: str, backend: str) -> None:
    """Next to others that are served it is hidden, alone it leaves the CPU; it is no reason to change the vendor."""
    devices = getattr(machine, vendor)
    more = replace(machine, **{vendor: replace(devices, gpus=(*devices.gpus, UNSERVED[vendor]))})
    before, after = resolve(package, machine, asked(backend)), resolve(package, more, asked(backend))
    assert (after.backend, after.requirements) == (before.backend, before.requirements)
    served = before.backend.startswith({"nvidia": "cu", "amd": "rocm"}[vendor])
    doubtful = any("may not run" in warning for warning in before.warnings)
    assert f"{vendor}:{len(devices.gpus)}" in after.hidden or not served or doubtful


@given(machines, packages, st.data())
def test_a_named_backend_wins_or_fails_loudly(machine: Machine, package: str, data: st.DataObject) -> None:
    """A backend by name is the one that is installed, or there is an error: never another one in silence."""
    known = find_resolver(package).backends()
    backend = data.draw(st.sampled_from(known))
    try:
        decision = resolve(package, machine, asked(backend))
    except PolicyError as error:
        assert "there is no wheel" in error.what  # noqa: PT017  # either outcome is right, neither must lie
        return
    (chosen,) = [candidate for candidate in decision.candidates if candidate.chosen]
    name, _, packaging = backend.partition("-")
    family = {"cuda": "cu", "rocm": "rocm"}.get(name)
    assert chosen.backend.startswith(family) if family else backend in {decision.backend, chosen.backend}
    assert decision.backend.endswith(packaging)
    assert chosen.reason.startswith("asked for")


@given(machines, packages)
def test_the_cpu_is_always_available(machine: Machine, package: str) -> None:
    """Whoever asks for it gets it, without a word about accelerators."""
    decision = resolve(package, machine, asked("cpu"))
    assert decision.backend == "cpu"
    assert not any("accelerator" in warning for warning in decision.warnings)


@given(machines, packages)
def test_requiring_an_accelerator_never_gives_the_cpu(machine: Machine, package: str) -> None:
    """And when `auto` finds one, requiring one gives the same."""
    auto = resolve(package, machine)
    try:
        required = resolve(package, machine, asked("require-gpu"))
    except PolicyError as error:
        assert auto.backend == "cpu"  # either outcome is right
        assert len(error.cause.split("; ")) >= NUMBER_OF_BACKENDS[package] - 1  # noqa: PT017
        return
    assert required.backend != "cpu"
    assert auto.backend in {"cpu", required.backend}


@given(machines)
def test_hiding_leaves_what_is_served(machine: Machine) -> None:
    """The variable names as many devices as there are, less the hidden ones."""
    decision = resolve("jax", machine)
    for variable, total in (("CUDA_VISIBLE_DEVICES", machine.nvidia.gpus), ("HIP_VISIBLE_DEVICES", machine.amd.gpus)):
        if variable in decision.environment:
            assert len(decision.environment[variable].split(",")) == len(total) - len(decision.hidden)
            assert decision.hidden


@given(machines)
def test_a_machine_survives_its_json_form(machine: Machine) -> None:
    """Through text and back."""
    assert from_json(json.loads(json.dumps(to_json(machine)))) == machine
