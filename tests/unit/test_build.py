# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is decided before and between the steps of a build."""

import argparse
import dataclasses
import hashlib
import importlib.metadata
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel import build as steps
from pjrtwheel import cli
from pjrtwheel.abis import name_pythons
from pjrtwheel.backend import Backend, find_backend, load_backends
from pjrtwheel.bazel import invoke
from pjrtwheel.bazel.invoke import BuildRequest, BuildResult
from pjrtwheel.bazel.locate import Bazel
from pjrtwheel.build import (
    check_library,
    check_writable,
    parse_provider,
    promised_wheels,
    verification_key,
)
from pjrtwheel.cli import build as command
from pjrtwheel.errors import BazelError, ElfError, ProofError, UsageError, WheelError
from pjrtwheel.platforms import PLATFORMS, host_platform
from pjrtwheel.products import facts
from pjrtwheel.prove import proof_file
from pjrtwheel.prove.on_every_python import raise_failures
from pjrtwheel.prove.proof_file import write_proof_file
from pjrtwheel.record.entries import Entry, read_entries
from pjrtwheel.record.origin import Origin
from pjrtwheel.record.proofs import Level, Proof
from pjrtwheel.release.wheels import ReleaseLock, make_lock
from pjrtwheel.wheel.names import parse_name
from pjrtwheel.wheel.report import BuiltWheel, Report, read_built
from proven_wheels import FAILED, RAN, make_proof
from release_under_test import BACKENDS, release_under_test
from small_libraries import build_elf

CPU = BACKENDS["cpu"]


def test_the_provider_is_named_or_the_path_of_a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path means the directory the command was called in; a misspelled provider is refused."""
    (tmp_path / "plugin.so").write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    assert [parse_provider(name) for name in ("prebuilt", "source")] == [("prebuilt", None), ("source", None)]
    assert parse_provider("plugin.so") == ("file", tmp_path / "plugin.so")
    with pytest.raises(UsageError, match="prebuild"):
        parse_provider("prebuild")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"machine": 183}, "is made for EM_AARCH64, expected EM_X86_64"),
        ({"exports": ["main"]}, "exports no GetPjrtApi"),
        (b"no library at all", "is not an ELF file"),
    ],
    ids=["machine", "exports", "text"],
)
def test_a_library_of_ones_own_is_refused_by_its_path(
    content: dict[str, Any] | bytes, text: str, tmp_path: Path
) -> None:
    """Before Bazel is started, and not under the name that it would have in a wheel."""
    library = tmp_path / "mine.so"
    library.write_bytes(content if isinstance(content, bytes) else build_elf(**content))
    with pytest.raises(ElfError) as caught:
        check_library(library, CPU, PLATFORMS["linux_x86_64"])
    assert caught.value.what == f"{library} {text}"


def test_a_plugin_of_ones_own_is_accepted(tmp_path: Path) -> None:
    """One that is for the platform and exports what it may, with what the linker adds to every XLA with protobuf."""
    exports = (*CPU.exports, "__start_pb_defaults", "__stop_pb_defaults")
    (tmp_path / "mine.so").write_bytes(build_elf(exports=exports))
    check_library(tmp_path / "mine.so", CPU, PLATFORMS["linux_x86_64"])


def test_verification_is_repeated_where_its_inputs_differ(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Another list of exports in the backend's table, and another version of what a wheel is read with."""
    before = verification_key([CPU])
    table = tmp_path / "backend.toml"
    table.write_text(CPU.path.read_text("utf-8").replace('exports = ["GetPjrtApi"', 'exports = ["Other"'), "utf-8")
    other = verification_key([dataclasses.replace(CPU, path=table)])
    assert verification_key([CPU]) == before
    monkeypatch.setattr(importlib.metadata, "distributions", lambda: [argparse.Namespace(name="lief", version="0")])
    assert len({before, other, verification_key([CPU])}) == 3


def test_place_that_cannot_be_written_is_refused_before_building(tmp_path: Path) -> None:
    """A file in the way is noticed at once; folders that are missing can be made."""
    (tmp_path / "file").touch()
    check_writable(tmp_path / "new" / "dist")
    with pytest.raises(UsageError, match=r"cannot write to .*/file/dist"):
        check_writable(tmp_path / "file" / "dist")


BazelReturns = Callable[[Mapping[str, Sequence[str]]], None]
RELEASE = release_under_test()
LOCK_ID = make_lock(RELEASE, "prebuilt").lock_id
UPSTREAM = [parse_name(RELEASE.pin(f"bindings.{abi}.linux_x86_64").filename) for abi in RELEASE.pythons("linux_x86_64")]
PROMISED = (
    *(f"jaxlib-{RELEASE.set_version}-{name.tag}.whl" for name in UPSTREAM),
    f"jaxlib_cpu-{RELEASE.set_version}-cp312.cp314.cp315-abi3.cp314t.cp315t-manylinux_2_27_x86_64.whl",
)


@pytest.fixture
def request_cpu(root: Path) -> BuildRequest:
    """Return a request for all wheels of the CPU."""
    platform = PLATFORMS["linux_x86_64"]
    return BuildRequest(root, RELEASE, (find_backend(root, "cpu"),), platform)


@pytest.fixture
def bazel_returns(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> BazelReturns:
    """Return a function: label of a target → file names of wheels; Bazel, replaced, then says that it built these."""

    def write_wheel(name: str) -> str:
        folder = tmp_path / "bazel-out" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
        digest = hashlib.sha256(b"").hexdigest()
        report = Report(name, digest, 0, LOCK_ID, (), "prebuilt")
        (folder / "report.json").write_text(report.to_json(), "utf-8")
        return (folder / name).as_uri()

    def install(outputs: Mapping[str, Sequence[str]]) -> None:
        events: list[dict[str, Any]] = []
        for label, names in outputs.items():
            files = [{"uri": write_wheel(name)} for name in names]
            groups = [{"name": "default", "fileSets": [{"id": label}]}]
            events.append({"id": {"namedSet": {"id": label}}, "namedSetOfFiles": {"files": files}})
            events.append({"id": {"targetCompleted": {"label": label}}, "completed": {"outputGroup": groups}})

        def run(command: Sequence[str], *_: object, **__: object) -> tuple[int, str]:
            (file,) = (part.partition("=")[2] for part in command if part.startswith("--build_event_json_file="))
            Path(file).write_text("".join(f"{json.dumps(event)}\n" for event in events), "utf-8")
            return 0, ""

        monkeypatch.setattr(invoke, "run_bazel", run)

    monkeypatch.setattr(invoke, "provide_bazel", lambda *_: Bazel("bazel", (7, 7, 1)))
    # There are no inputs to hold empty files to.
    monkeypatch.setattr(invoke, "check_results", lambda folders, *_, **__: tuple(map(read_built, folders)))
    monkeypatch.setenv("PJRTWHEEL_CACHE", str(tmp_path / "cache"))
    return install


@pytest.fixture
def build_cpu(root: Path, tmp_path: Path, bazel_returns: BazelReturns) -> Callable[..., int]:
    """Return a function that builds the CPU's wheels into `dist`, and gives the exit status."""

    def build(*options: str, wheels: Sequence[str] = PROMISED) -> int:
        bazel_returns({"//plugins/cpu:wheel": wheels[-1:], "//jaxlib:wheels": wheels[:-1]})
        where = ["--root", str(root), "--dist", str(tmp_path / "dist"), "--platform", "linux_x86_64"]
        return cli.main(["build", "cpu", "--release", RELEASE.version, "--python", "all", *where, *options])

    return build


def test_wheels_that_release_backend_and_platform_promise(request_cpu: BuildRequest) -> None:
    """Their names are known before anything is built."""
    assert promised_wheels(request_cpu) == PROMISED
    assert promised_wheels(dataclasses.replace(request_cpu, backends=())) == PROMISED[:-1]
    assert promised_wheels(dataclasses.replace(request_cpu, with_bindings=False)) == PROMISED[-1:]
    of_two = dataclasses.replace(request_cpu, pythons=("cp312", "cp314t"))
    assert [parse_name(name).tag.split("-")[1] for name in promised_wheels(of_two)][:-1] == ["cp312", "cp314t"]
    assert of_two.targets == ("//plugins/cpu:wheel", *(f"//jaxlib:{abi}_linux_x86_64" for abi in of_two.pythons))


def test_kernels_are_for_the_same_pythons_as_jaxlib(root: Path) -> None:
    """Whatever Pythons upstream has kernels for."""
    backend, platform = find_backend(root, "cuda13"), PLATFORMS["linux_x86_64"]
    request = BuildRequest(root, RELEASE, (backend,), platform, pythons=("cp313", "cp314t"))
    built = [parse_name(name) for name in promised_wheels(request)]
    kernels = [name.tag.split("-")[1] for name in built if name.distribution == backend.kernels_distribution]
    assert kernels == [abi for abi in RELEASE.kernels("cuda13", platform.name) if abi in request.pythons]
    assert [target for target in request.targets if "kernels" in target] == [
        f"//plugins/cuda13:kernels_{abi}_linux_x86_64" for abi in kernels
    ]


def test_jaxlib_is_built_for_the_pythons_that_are_asked_for(
    root: Path,
    build_cpu: Callable[..., int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Those of this machine, unless they are named; one that the release does not have is an error."""
    asked: list[BuildRequest] = []

    def stop(request: BuildRequest, **_: Any) -> BuildResult:
        asked.append(request)
        raise BazelError("enough")

    monkeypatch.setattr(steps, "build_with_bazel", stop)
    here = {"cp312": object(), "cp313": None, "cp314t": object()}
    monkeypatch.setattr(command, "find_interpreters", lambda _: here)
    for given in (["all"], ["3.13,3.12"], []):
        options = ["--python", *given] if given else []
        cli.main(["build", "cpu", "--root", str(root), "--dist", str(tmp_path), *options])
    assert [request.pythons for request in asked] == [(), ("cp313", "cp312"), ("cp312", "cp314t")]
    assert "3.12, 3.14t" in capsys.readouterr().err
    assert build_cpu("--python", "3.12,2.7") == UsageError.exit_code
    assert "2.7" in capsys.readouterr().err


def test_bindings_alone_take_no_headers(root: Path) -> None:
    """Nothing is compiled for them."""
    request = BuildRequest(root, RELEASE, (), PLATFORMS["macos_arm64"])
    assert {pin.key.rpartition(".")[2] for pin in request.inputs} == {"macos_arm64"}


def test_a_library_of_ones_own_is_for_one_backend(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is built then."""
    (tmp_path / "mine.so").write_bytes(build_elf(exports=CPU.exports))
    options = ["--root", str(root), "--release", RELEASE.version, "--dist", str(tmp_path / "dist")]
    assert cli.main(["build", "cpu", "cuda12", "--xla", str(tmp_path / "mine.so"), *options]) == UsageError.exit_code
    assert "cpu, cuda12" in capsys.readouterr().err


def test_a_set_without_a_label_has_a_build_tag(request_cpu: BuildRequest) -> None:
    """Its jaxlib has the version of upstream's, over which installers prefer it; no plugin has another one like it."""
    release = dataclasses.replace(request_cpu.release, label="", build=7)
    plain = [name.replace("+split.1-cp31", "-7-cp31", 1) for name in PROMISED[:-1]]
    plugin = PROMISED[-1].replace("+split.1", "")
    assert promised_wheels(dataclasses.replace(request_cpu, release=release)) == (*plain, plugin)


def test_a_plugin_for_a_published_set_has_its_version(request_cpu: BuildRequest) -> None:
    """Whatever the release file of this repository says of a set of its own."""
    release = request_cpu.release
    lock = ReleaseLock(release.version, f"{release.version}+other.3", 3, "prebuilt", "ab" * 16)
    wanted = dataclasses.replace(request_cpu, lock=lock, with_bindings=False)
    assert promised_wheels(wanted) == (PROMISED[-1].replace("+split.1", "+other.3"),)


def test_a_build_that_returns_other_wheels_publishes_nothing(
    build_cpu: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An action whose result is empty is no error to Bazel; what is missing, or not asked for, is named."""
    returned = ["other-1-py3-none-any.whl", PROMISED[0], *PROMISED[2:]]
    assert build_cpu("--no-smoke", wheels=returned) == BazelError.exit_code
    said = capsys.readouterr().err
    assert [name for name in (*PROMISED, returned[0]) if name in said] == [PROMISED[1], returned[0]]
    assert not (tmp_path / "dist").exists()


def test_wheels_whose_proof_failed_are_kept_apart(
    build_cpu: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what ran, and never among the others; the build fails all the same."""
    failed = make_proof(Level.STATIC, FAILED)

    def prove(wheels: Sequence[BuiltWheel], **_: object) -> None:
        raise_failures(failed.pythons, tmp_path / "log", None, {wheel.path.name: failed for wheel in wheels})

    monkeypatch.setattr(steps, "verify_wheels", lambda *_, **__: None)
    monkeypatch.setattr(steps, "prove", prove)
    kept = tmp_path / "kept"
    assert build_cpu("--keep", str(tmp_path / "dist")) == UsageError.exit_code
    assert build_cpu("--keep", str(kept)) == ProofError.exit_code
    assert not (tmp_path / "dist").exists()
    assert {name: entry.proof for name, entry in read_entries(kept).items()} == dict.fromkeys(PROMISED, failed)


def test_proofs_of_another_machine_are_recorded_of_the_same_bytes(
    build_cpu: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of none if one of the wheels that ran together has others, and not where a release would not count them."""
    first, second, *_, plugin = PROMISED
    ran, date, empty = make_proof(Level.DEVICE, RAN), "2026-11-27T02:00:00Z", hashlib.sha256(b"").hexdigest()
    for name, digests in (("a", {first: empty, plugin: empty}), ("b", {second: empty, plugin: empty[::-1]})):
        proofs = dict.fromkeys(digests, ran)
        write_proof_file(tmp_path / f"{name}.json", proofs, digests, signed_off_by="A Tester", date=date)
    monkeypatch.setattr(proof_file, "KNOWN_PROOFS", tmp_path)
    monkeypatch.setattr(steps, "verify_wheels", lambda *_, **__: None)
    monkeypatch.setattr(steps, "prove", lambda *_, **__: dict.fromkeys(PROMISED, make_proof(Level.STATIC, FAILED)))
    for counts, shown in ((False, set()), (True, {first, plugin})):
        monkeypatch.setattr(steps, "counts_for", lambda *_, counts=counts: counts)
        assert build_cpu() == 0
        entries = read_entries(tmp_path / "dist").values()
        signers = {entry.filename for entry in entries if entry.proof.origin.signed_off_by == "A Tester"}
        assert (signers, len(entries)) == (shown, len(PROMISED))
    record = tmp_path / "dist/release.json"
    record.write_text(record.read_text("utf-8").replace(LOCK_ID, "another"), "utf-8")
    assert build_cpu(wheels=[]) == WheelError.exit_code  # before Bazel is asked, which would return too little


def test_all_backends_of_a_release_are_built_at_once(
    root: Path,
    bazel_returns: BazelReturns,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each plugin is proven with the bindings, which are recorded once, with all that was proven of them."""
    platform = "linux_x86_64"
    there = [backend for backend in load_backends(root).values() if platform in RELEASE.platforms(backend.name)]
    request = BuildRequest(root, RELEASE, tuple(there), PLATFORMS[platform])
    bindings = promised_wheels(dataclasses.replace(request, backends=()))
    own = [promised_wheels(dataclasses.replace(request, with_bindings=False, backends=(one,))) for one in there]
    plugins, kernels = [names[0] for names in own], [name for names in own for name in names[1:]]
    labels: dict[str, Sequence[str]] = {"//jaxlib:wheels": bindings}
    for backend, (plugin, *others) in zip(there, own, strict=True):
        labels |= {f"//plugins/{backend.name}:wheel": [plugin], f"//plugins/{backend.name}:kernels": others}
    bazel_returns(labels)
    proven: list[set[str]] = []

    def prove(wheels: Sequence[BuiltWheel], *, backend: Backend, **_: object) -> dict[str, Proof]:
        names = {wheel.report.filename for wheel in wheels}
        proven.append(names)
        return dict.fromkeys(names, make_proof(Level.DEVICE, RAN, backend=backend.name))

    monkeypatch.setattr(steps, "verify_wheels", lambda *_, **__: None)
    monkeypatch.setattr(steps, "prove", prove)
    dist = tmp_path / "dist"
    arguments = ["--root", str(root), "--dist", str(dist), "--platform", platform, "--release", RELEASE.version]
    unknown = there[0].name  # as if somebody had just added it
    monkeypatch.setattr(facts, "find_unknown", lambda *_: (unknown,))
    assert cli.main(["build", "--all", *arguments]) == 0
    release, printed = RELEASE.version, capsys.readouterr()
    assert printed.out.splitlines()[-1].startswith("next: ./noxw index --dist ")
    assert (
        printed.err.splitlines()[-1]
        == f"jaxlib-select knows no {unknown} of {release} yet: ./noxw facts --release {release}"
    )
    assert proven == [{*bindings, *names} for names in own]
    entries = read_entries(dist)
    names = [backend.name for backend in there]
    assert entries.keys() == {*bindings, *plugins, *kernels}
    assert {name: [proof.backend for proof in entries[name].proofs()] for name in plugins} == {
        plugin: [name] for plugin, name in zip(plugins, names, strict=True)
    }
    assert all({proof.backend for proof in entries[name].proofs()} == set(names) for name in bindings)


def test_wheels_are_from_the_commit_that_the_build_began_at(
    build_cpu: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is committed while it builds, and while programs run."""
    origins = [Origin("1" * 40, dirty=False, version="1", date=""), Origin("2" * 40, dirty=False, version="1", date="")]
    monkeypatch.setattr(steps, "find_origin", lambda *_: origins.pop(0))
    for name in ("verify_wheels", "explain_level"):
        monkeypatch.setattr(steps, name, lambda *_, **__: ())
    seen: list[Origin] = []

    def add(_built: object, _proofs: object, origin: Origin, _dist: object) -> tuple[Entry, ...]:
        seen.append(origin)
        return ()

    monkeypatch.setattr(steps, "prove", lambda *_, origin, **__: seen.append(origin))
    monkeypatch.setattr(steps, "add_wheels", add)
    assert build_cpu() == 0
    assert [origin.commit for origin in seen] == ["1" * 40] * 2


@pytest.mark.parametrize(
    ("published", "places"),
    [
        (None, ""),
        ("https://a.example/", " --index-url https://a.example/"),
        ("/", " --find-links /"),
        ("1.2.3", ""),
    ],
)
def test_the_next_step_installs_what_was_built(root: Path, published: str | None, places: str) -> None:
    """With exact pins, from where the wheels are; wheels for other machines are indexed."""
    request = BuildRequest(root, RELEASE, (load_backends(root)["cpu"],), host_platform())
    pins = f"jax=={RELEASE.version} jaxlib-cpu=={RELEASE.set_version}"
    pythons, _, line = command.describe_next(request, Path.cwd() / "dist", published).partition("): ")
    names = name_pythons(RELEASE.pythons(request.platform.name))
    assert pythons == f"next (in an environment with Python {names}; with uv: uv pip"
    chosen = dataclasses.replace(request, pythons=("cp312", "cp313t"))
    assert "with Python 3.12, 3.13t;" in command.describe_next(chosen, Path("/dist"), None)
    assert line == f"pip install --find-links dist{places} {pins}"
    other = dataclasses.replace(request, platform=next(p for p in PLATFORMS.values() if p != host_platform()))
    assert command.describe_next(other, Path("/dist"), None) == "next: ./noxw index --dist /dist"
