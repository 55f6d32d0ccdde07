# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a machine lacks is an excuse, what is wrong with a wheel a failure; and what a proof says of the machine."""

import platform
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from abacus_backend import BACKEND
from folders import write_program
from pjrtwheel.backend import Backend, find_backend, parse_backend
from pjrtwheel.errors import UsageError
from pjrtwheel.probe.plugin import ProbeOutcome, ProbeResult
from pjrtwheel.prove.devices import Devices, ProofPlan, ask_driver, choose_level, find_machine, find_processor
from pjrtwheel.prove.inside.devices import find_refusal
from pjrtwheel.record.origin import find_signer
from pjrtwheel.record.proofs import Level, ProofMachine

HERE = Devices(1, "H100")
ABSENT = Devices(0, "", "no GPU found", "NoDeviceError")
UNTRIED = Devices(0, "", "Unknown backend cuda", "VendorLibraryError", tried=False)
CODE = Devices(0, "", "no code for GPUs of compute capability 7.0", "GpuCodeError")
DRIVER = Devices(0, "", "NVIDIA's driver runs CUDA up to 12.8", "DriverError")
CRASH = Devices(0, "", "JAX does not start: killed by SIGSEGV")
BOOM = Devices(0, "", "TakeOverError: cannot serve: TypeError: boom", "TakeOverError")
VENDOR = Devices(0, "", "libcudnn.so.9 is missing", "VendorLibraryError")
UNFIT = Devices(0, "", "Unknown backend cuda", "TakeOverError", tried=False)

OPENS = ProbeResult(ProbeOutcome.PASSED, pjrt_api="0.115")
LACKS = ProbeResult(ProbeOutcome.NOT_OPENED, "libsycl.so.8: cannot open shared object file: No such file or directory")
GONE = ProbeResult(ProbeOutcome.NOT_OPENED, "/env/xla.so: cannot open shared object file: No such file or directory")
BROKEN = ProbeResult(ProbeOutcome.FAILED, "killed by SIGSEGV")

DEVICE = "device: no GPU found"
AOT = "aot: mine has no targets that could be compiled for without the accelerator"


@pytest.mark.parametrize(
    ("devices", "opened", "targets", "plan"),
    [
        (HERE, OPENS, True, ProofPlan(Level.DEVICE)),
        (ABSENT, OPENS, True, ProofPlan(Level.AOT, (DEVICE,))),
        (ABSENT, OPENS, False, ProofPlan(Level.LOAD, (DEVICE, AOT))),
        (ABSENT, LACKS, False, ProofPlan(Level.STATIC, (DEVICE, AOT, f"load: {LACKS.reason}"))),
        (ABSENT, GONE, False, ProofPlan(Level.STATIC, (DEVICE, AOT, f"load: {GONE.reason}"), GONE.reason)),
        (ABSENT, BROKEN, False, ProofPlan(Level.STATIC, (DEVICE, AOT, f"load: {BROKEN.reason}"), BROKEN.reason)),
        (UNTRIED, OPENS, True, ProofPlan(Level.AOT, ("device: Unknown backend cuda",))),
        (CRASH, OPENS, True, ProofPlan(Level.STATIC, (f"device: {CRASH.reason}",), CRASH.reason)),
        (BOOM, OPENS, True, ProofPlan(Level.STATIC, (f"device: {BOOM.reason}",), BOOM.reason)),
        (BOOM, OPENS, False, ProofPlan(Level.STATIC, (f"device: {BOOM.reason}",), BOOM.reason)),
        (VENDOR, OPENS, True, ProofPlan(Level.STATIC, (f"device: {VENDOR.reason}",), VENDOR.reason)),
        (DRIVER, OPENS, True, ProofPlan(Level.AOT, (f"device: {DRIVER.reason}",))),
        (CODE, OPENS, True, ProofPlan(Level.AOT, (f"device: {CODE.reason}",))),
        (UNFIT, OPENS, True, ProofPlan(Level.STATIC, (f"device: {UNFIT.reason}",), UNFIT.reason)),
    ],
    ids=[
        "device", "aot", "load", "vendor's library missing", "own library missing", "library crashes", "not tried",
        "crash", "refusal with targets", "refusal without", "unusable device", "old driver", "old GPU",
        "refusal not tried",
    ],
)  # fmt: skip
def test_only_what_is_not_here_is_excused(
    devices: Devices, opened: ProbeResult, plan: ProofPlan, *, targets: bool
) -> None:
    """A crash, a refusal that nobody foresaw, or a library that does not do never passes for absent hardware."""
    assert choose_level("mine", devices, opened, targets=targets) == plan


def test_the_vendors_libraries_are_installed_where_the_device_is() -> None:
    """Only if the loader says that it lacks them."""
    assert [devices for devices in (HERE, ABSENT, UNTRIED, CRASH, VENDOR) if devices.lacks_vendor_library] == [VENDOR]


class NoDeviceError(RuntimeError):
    """What a loader raises."""


class DriverError(RuntimeError):
    """What a loader raises and JAX wraps: the plugin is not asked again."""


def refuse() -> None:
    """Be a factory that has no device."""
    raise NoDeviceError("no GPU found")


@pytest.mark.parametrize(
    ("factory", "name"),
    [(refuse, "NoDeviceError"), (lambda: None, ""), (None, "RuntimeError")],
    ids=["refuses", "not asked by JAX", "not registered"],
)
def test_a_platform_that_jax_passed_over_is_asked_itself(factory: Callable[[], None] | None, name: str) -> None:
    """JAX keeps no more than the text, or nothing at all."""
    registration = SimpleNamespace(factory=factory) if factory else None
    assert find_refusal(RuntimeError("Unknown backend cuda"), registration) == name
    error = RuntimeError("Unable to initialize backend 'cuda': no GPU found")
    error.__context__ = DriverError()
    assert find_refusal(error, registration) == "DriverError"


# Stands for a Python in which a plugin's loader answers: it is called with -I -m PACKAGE --json.
ANSWERS = """
test "$1 $2 $3 $4" = "-I -m jaxlib_abacus --json" || exit 9
echo "a warning" >&2
echo '{"schema": 1, "vendor": {"driver": "beads 7.1", "devices": ["Abacus"]}}'
exit 1
"""


@pytest.fixture
def backend() -> Backend:
    """Return a backend whose loader knows of a driver."""
    return parse_backend(BACKEND, Path("plugins/abacus/backend.toml"))


def test_chip_and_driver_are_what_jax_and_the_loader_say(root: Path, tmp_path: Path, backend: Backend) -> None:
    """Also where the loader finds something else wrong; nobody is asked about the host, and others may not answer."""
    python = write_program(tmp_path / "python", ANSWERS)
    here = ProofMachine(platform.platform(), find_processor(Path("/proc/cpuinfo")))
    found = find_machine(python, backend, Devices(2, "Abacus 3000"))
    assert found == replace(here, chip="Abacus 3000", chips=2, driver="beads 7.1")
    assert find_machine(python, backend, Devices(0, reason="no bead")) == here
    assert find_machine(python, None, Devices(0)) == here
    assert find_machine(tmp_path / "absent", find_backend(root, "cpu"), Devices(1, "cpu")).driver == ""
    for script in ("exit 1", "echo '{\"vendor\": {}}'"):
        assert ask_driver(write_program(python, script), backend) == ""


def test_somebody_signs_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is named, or git's user; nobody else is invented."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert find_signer(tmp_path, "A Tester") == "A Tester"
    with pytest.raises(UsageError, match="nobody signs off"):
        find_signer(tmp_path, None)
    (tmp_path / ".gitconfig").write_text("[user]\nname = B\nemail = b@example.org\n")
    assert find_signer(tmp_path, None) == "B <b@example.org>"
    with pytest.raises(UsageError, match="not a name"):
        find_signer(tmp_path, "A\nB")
