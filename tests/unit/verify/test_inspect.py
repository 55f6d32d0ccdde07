# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""From a wheel to what is said about it; nothing of it runs."""

import json
import shutil
import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel import cli
from pjrtwheel.backend import load_backends
from pjrtwheel.errors import WheelError
from pjrtwheel.gpucode import GpuCode
from pjrtwheel.record.entries import format_entries
from pjrtwheel.record.proofs import Level, Outcome, ProgramResult
from pjrtwheel.verify.findings import Finding
from pjrtwheel.verify.inspection import Inspection, inspect_wheel, make_finder
from pjrtwheel.verify.printer import describe_whole, print_lines, summarize_wheel
from proven_wheels import RAN, make_proof
from release_entries import entry_at, entry_of
from release_under_test import ROOT
from small_libraries import bare_elf, build_elf, build_fat, build_macho, build_pe
from terminal_output import text_of

MakeWheel = Callable[..., Path]
Inspect = Callable[..., Inspection]

NAME = "demo-1.0-py3-none-manylinux_2_27_x86_64.whl"
WHEEL = "demo-1.0.dist-info/WHEEL"
METADATA = "demo-1.0.dist-info/METADATA"
LOCK = '{"schema": 1, "lock_id": "abc", "provider": "prebuilt"}'
SPIRV = struct.pack("<II", 0x07230203, 0x10300)


def metadata(*lines: str, version: str = "2.4") -> bytes:
    """Return a METADATA file."""
    return "\n".join([f"Metadata-Version: {version}", "Name: demo", "Version: 1.0", *lines, "", "Text", ""]).encode()


def clean_files(library: bytes) -> dict[str, bytes]:
    """Return the files of a wheel with which nothing is wrong."""
    return {
        "demo/plugin.so": library,
        "demo/release_lock.json": LOCK.encode(),
        METADATA: (ROOT / "tests/data/demo.METADATA").read_bytes(),
        WHEEL: b"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-manylinux_2_27_x86_64\n",
        "demo-1.0.dist-info/entry_points.txt": b"[jax_plugins]\ndemo = demo\n",
        "demo-1.0.dist-info/licenses/LICENSE": b"Apache",
        "demo-1.0.dist-info/sboms/demo.cdx.json": b'{"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1}',
    }


@pytest.fixture
def inspect(make_wheel: MakeWheel) -> Inspect:
    """Return a function: files → what is said about a wheel of them."""

    def inspect_(
        files: Mapping[str, bytes], *, name: str = NAME, exports: Mapping[str, tuple[str, ...]] | None = None
    ) -> Inspection:
        return inspect_wheel(make_wheel(files, name=name), find_tool=lambda _: None, exports=exports or {})

    return inspect_


def codes(inspection: Inspection) -> list[str]:
    """Return the codes of the findings."""
    return [finding.code for finding in inspection.findings]


def test_clean_wheel_is_described_without_findings(inspect: Inspect) -> None:
    """Every part of the description comes from the wheel's own files."""
    library = bare_elf(runpath="$ORIGIN/../nvidia/lib", extra={"__CLANG_OFFLOAD_BUNDLE__sycl-spir64": SPIRV})

    found = inspect(clean_files(library))

    assert found.findings == ()
    assert (found.name, found.version, found.summary, found.requires_python) == ("demo", "1.0", "A demo", ">=3.12")
    assert (found.tags, found.build, found.purelib) == (("py3-none-manylinux_2_27_x86_64",), "", False)
    assert found.requires == ("jaxlib==1.2.3", 'numpy>=2; extra == "With_Numbers"')
    assert found.extras == ("with-numbers",)
    assert (found.entry_points, found.outside) == (("jax_plugins: demo = demo",), ())
    assert (found.license, found.license_files) == ("Apache-2.0", ("demo-1.0.dist-info/licenses/LICENSE",))
    assert found.sboms == ("demo-1.0.dist-info/sboms/demo.cdx.json",)
    assert found.lock == json.loads(LOCK)
    assert (found.files[0].path, found.files[0].size) == ("demo/plugin.so", len(library))
    assert found.installed_size == sum(file.size for file in found.files)
    (entry,) = found.libraries
    assert (entry.member, entry.machine, entry.needed) == ("demo/plugin.so", "EM_X86_64", ("libc.so.6",))
    assert (entry.search_kind, entry.search_paths) == ("RUNPATH", ("$ORIGIN/../nvidia/lib",))
    assert (entry.exports, entry.is_plugin, entry.unneeded_bytes) == (("GetPjrtApi",), True, 0)
    assert found.gpu_code == GpuCode(spirv=("spir64",))


def test_a_wheel_in_short_is_one_screen(inspect: Inspect) -> None:
    """The hash is whole, and each kind of finding is one line."""
    runpath = ":".join(f"$ORIGIN/{number:060}" for number in range(12))
    found = inspect({**clean_files(build_elf(exports=["GetPjrtApi", "Leak"], runpath=runpath)), METADATA: metadata()})
    lines = text_of(lambda console: print_lines(summarize_wheel(found, 80), console)).splitlines()
    assert len(lines) < 40
    assert [line for line in lines if len(line) > 80] == []
    assert f"  sha256        {found.sha256}" in lines
    kinds = list(dict.fromkeys(codes(found)))
    assert [line.split()[0] for line in lines[-2 - len(kinds[:6]) : -2]] == kinds[:6]


@pytest.mark.parametrize(
    ("code", "version"),
    [
        # movq $1144, (%rax); mov %r9, 8(%rax); movq $24, 16(%rax); movq $0, 24(%rax); movabs $115 << 32, %r9
        ("48c70078040000 4c894808 48c7401018000000 48c7401800000000 49b90000000073000000", "0.115"),
        # The same by another compiler: movl $0, 32(%rax); movl $115, 36(%rax)
        ("48c70078040000 4c895808 48c7401018000000 48c7401800000000 c7402000000000 c7402473000000", "0.115"),
        # The table itself: length, pointer, length of the version, pointer, two numbers
        ("2803000000000000 0000000000000000 1800000000000000 0000000000000000 00000000 2f000000", "0.47"),
        ("48c70078040000 4c894808", ""),
    ],
)
def test_the_version_of_the_api_is_read_without_running_the_library(inspect: Inspect, code: str, version: str) -> None:
    """From what compilers make of the function that fills the table, or from the table."""
    (library,) = inspect(clean_files(bare_elf(extra={".code": bytes.fromhex(code)}))).libraries
    assert library.pjrt_api == version


@pytest.mark.parametrize(
    ("requires", "shown"),
    [
        (["jax<0.12,>=0.11", "numpy"], "jax<0.12,>=0.11: installers take any of these"),
        (["jaxlib==1.0; extra == 'x'"], "no jaxlib: installers take any"),
    ],
)
def test_which_jaxlib_a_plugin_takes_is_named(inspect: Inspect, requires: list[str], shown: str) -> None:
    """A range is no exact version, and is not called none."""
    lines = ["License-Expression: MIT", "License-File: LICENSE", *(f"Requires-Dist: {line}" for line in requires)]
    found = {
        finding.code: finding.text
        for finding in inspect({**clean_files(bare_elf()), METADATA: metadata(*lines)}).findings
    }
    assert found["jaxlib-version"] == f"requires {shown}"


def test_what_reaches_outside_of_the_package_is_named(inspect: Inspect) -> None:
    """What runs without being imported, what goes elsewhere, and names that belong to others."""
    points = b"[console_scripts]\npip = demo:main\n[jax_plugins]\na = demo.a\nb = other.b\nc = numpy:c\n"
    files = {"demo/a.py": b"", "other.py": b"", "demo-1.0.data/scripts/x": b""}
    found = inspect(clean_files(b"") | files | {"demo-1.0.dist-info/entry_points.txt": points})
    assert [line.split()[0] for line in found.outside] == ["demo-1.0.data", "other.py", "pip", "jax_plugins:"]
    assert found.outside[-1].split()[1] == "c"


@pytest.mark.parametrize(
    ("options", "code", "text"),
    [
        ({"symbols": bytes(4800)}, "symbols", ".symtab, .strtab"),
        ({"machine": 183}, "alignment", "0x10000"),
        ({"exports": ["PyInit_demo", "Leak"]}, "exports", "Leak"),
        ({"extra": {".nv_fatbin": b"x"}}, "gpu-code", "cuobjdump"),
        ({"extra": {".hip_fatbin": b"x"}}, "gpu-code", "is damaged"),
    ],
)
def test_what_is_wrong_with_a_library_is_found(inspect: Inspect, options: dict[str, Any], code: str, text: str) -> None:
    """Each fault by itself gives its own code and nothing else; the others: test_libraries.py."""
    library = build_elf(**{"symbols": b"", "comment": b"", **options})
    name = NAME.replace("x86_64", "aarch64") if options.get("machine") == 183 else NAME
    (finding,) = inspect(clean_files(library), name=name).findings
    assert (finding.code, finding.member) == (code, "demo/plugin.so")
    assert text in finding.text


def test_a_wheel_of_macos_is_described(inspect: Inspect) -> None:
    """What the libraries are, and what they need of the system, in words."""
    fat = build_fat({"x86_64": build_macho(cpu="x86_64"), "arm64": build_macho(system=(12, 0))})
    found = inspect(
        {**clean_files(build_macho()), "demo/fat.so": fat}, name="demo-1.0-cp312-cp312-macosx_11_0_arm64.whl"
    )
    assert [(finding.code, finding.member) for finding in found.findings] == [
        ("architecture", "demo/fat.so"),
        ("macos", "demo/fat.so"),
    ]
    lines = render(found).splitlines()
    assert "  libraries     1 Mach-O for arm64" in lines
    assert "  GPU code      not read" in lines
    assert "  needs         macOS 12.0 or newer" in lines


def test_a_wheel_of_windows_is_described(inspect: Inspect) -> None:
    """Python brings the runtime of C, and nobody that of C++."""
    library = build_pe(needed=("KERNEL32.dll", "VCRUNTIME140.dll", "MSVCP140.dll"))
    found = inspect(clean_files(library), name="demo-1.0-cp312-cp312-win_amd64.whl")
    text = "needs MSVCP140.dll, which comes with Microsoft's Visual C++ Redistributable"
    assert found.findings == (Finding("runtime", "demo/plugin.so", text),)
    lines = render(found).splitlines()
    assert "  libraries     1 PE for AMD64" in lines
    assert "  needs         Windows 6.0 or newer" in lines


def test_library_without_segments_is_described(inspect: Inspect) -> None:
    """Nothing loads it, but its sections can be read."""
    library = bytearray(build_elf())
    library[56:58] = bytes(2)  # e_phnum

    (entry,) = inspect(clean_files(bytes(library))).libraries

    assert (entry.needed, entry.alignment, entry.unneeded) == ((), 0, (".comment", ".symtab", ".strtab"))


NEEDED = ("jaxlib == 1", "a b c", "g")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param({WHEEL: b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\n"}, ["purelib"], id="pure"),
        pytest.param({"demo/release_lock.json": b"[]"}, ["lock"], id="no lock"),
        pytest.param({"demo-1.0.dist-info/sboms/demo.cdx.json": b"x"}, ["sbom"], id="damaged SBOM"),
        pytest.param({"demo/other.so": b"no library"}, ["library"], id="no library"),
        pytest.param({"demo.pth": b"import os"}, ["pth"], id="code at every start"),
        pytest.param(
            {METADATA: metadata("License-File: LICENSE")}, ["license-field", "jaxlib-version"], id="any jaxlib"
        ),
        pytest.param(
            {METADATA: metadata("License: MIT", "Classifier: License :: MIT", "Requires-Dist: jaxlib==1")},
            ["license-file", "license-field", "license-field"],
            id="old licence",
        ),
        pytest.param(
            {METADATA: metadata("License-File: LICENSE", *(f"Requires-Dist: {needed}" for needed in NEEDED))},
            ["license-field", "requires-any-version"],
            id="requirements",
        ),
    ],
)
def test_what_is_wrong_with_a_wheel_is_found(inspect: Inspect, change: dict[str, bytes], expected: list[str]) -> None:
    """One fault at a time, so that no other check speaks up."""
    assert codes(inspect({**clean_files(bare_elf()), **change})) == expected


@pytest.mark.parametrize(("platform", "code"), [("linux_x86_64", "platform-floor"), ("manylinux2014_x86_64", "")])
def test_platform_tag_must_promise_a_libc(inspect: Inspect, platform: str, code: str) -> None:
    """A wheel with libraries needs one; the old names of such tags are known."""
    found = inspect(clean_files(bare_elf()), name=f"demo-1.0-py3-none-{platform}.whl")

    assert codes(found) == [code] * bool(code)


def render(inspection: Inspection, width: int | None = None) -> str:
    """Return what is printed about a wheel."""
    return text_of(lambda console: print_lines(describe_whole(inspection), console, width))


@pytest.mark.parametrize("width", [40, 80, 120])
def test_lines_end_between_words_where_the_terminal_does(inspect: Inspect, width: int) -> None:
    """A line is wider only for a single word that is: hashes, paths and names of wheels can be copied."""
    paths = [f"$ORIGIN/{number:060}" for number in range(9)]
    found = inspect(clean_files(build_elf(runpath=":".join(paths))))

    lines = render(found, width).splitlines()

    details = lines[1 : lines.index(f"files ({len(found.files)})")]
    assert [line for line in details if len(line) > width and " " in line[16:]] == []
    words = " ".join(lines).split()
    assert {NAME, found.sha256, paths[0], *(file.path for file in found.files)} <= {word.strip(",") for word in words}


def test_what_is_piped_has_every_value_on_one_line(inspect: Inspect) -> None:
    """No control character of the wheel is among them, and no line is filled up with spaces."""
    files = clean_files(build_elf(runpath="/opt/\x1b[2J:" + ":".join(f"$ORIGIN/{n:060}" for n in range(9))))

    lines = render(inspect(files)).splitlines()

    shown = ["/opt/\\x1b[2J", *(f"$ORIGIN/{n:060}" for n in range(7))]
    assert f"  RPATH         10: {', '.join(f'RUNPATH {path}' for path in shown)} and 2 more" in lines
    assert lines[0] == NAME
    assert [line for line in lines if line != line.rstrip()] == []


def test_command_describes_the_good_wheels_and_fails_for_the_bad(
    make_wheel: MakeWheel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One wheel that cannot be read does not hide the others."""
    good = make_wheel(clean_files(bare_elf()), name=NAME)
    bad = tmp_path / "bad-1.0-py3-none-any.whl"
    bad.write_bytes(b"x")

    status = cli.main(["inspect", str(bad), str(good), "--json", "--root", str(tmp_path)])

    output = capsys.readouterr()
    document = json.loads(output.out)
    assert status == WheelError.exit_code
    assert [wheel["wheel"] for wheel in document["wheels"]] == [NAME]
    assert document["wheels"][0]["findings"] == []
    assert bad.name in output.err


def test_what_a_record_next_to_a_wheel_says_is_shown(
    root: Path, make_wheel: MakeWheel, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of these very bytes: the level, and why a program failed as expected."""
    wheel = make_wheel(clean_files(bare_elf()), name=NAME)
    expected = ProgramResult("fft", Outcome.EXPECTED, Level.DEVICE, 1.0, "the chip has no doubles")
    proof = make_proof(Level.DEVICE, replace(RAN, results=(*RAN.results, expected)))
    said = []
    texts = [format_entries({NAME: entry}) for entry in (entry_at(wheel, proof=proof), entry_of(NAME, proof=proof))]
    for text in (*texts, '{"name": "a release of another program"}'):
        (wheel.parent / "release.json").write_text(text)
        assert cli.main(["inspect", str(wheel), "--root", str(root), "--no-tools"]) == 0
        said.append(capsys.readouterr().out.splitlines())
    assert [line.split(maxsplit=1) for line in said[0] if line not in said[1]] == [
        ["proof", "device"],
        ["Pythons", "3.12: 1 program passed, 1 program failed as expected"],
        ["expected", "fft failed as expected: the chip has no doubles"],
    ]
    assert said[1] == said[2]


def test_backends_are_known_from_any_folder(
    root: Path,
    make_wheel: MakeWheel,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The command knows what their libraries may define, wherever it is started."""
    library, exports = next(
        (known.library, known.exports) for known in load_backends(root).values() if known.exports[1:]
    )
    files = clean_files(b"") | {f"demo/{library}": bare_elf(exports=exports)}
    del files["demo/plugin.so"]
    wheel = make_wheel(files, name=NAME)
    monkeypatch.chdir(tmp_path)

    assert cli.main(["inspect", str(wheel), "--json", "--no-tools"]) == 0

    assert json.loads(capsys.readouterr().out)["wheels"][0]["findings"] == []


def test_tool_that_cannot_be_fetched_is_reported_once(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wheel is described without it."""
    shutil.copytree(root / "plugins/cuda13", tmp_path / "plugins/cuda13")
    monkeypatch.chdir(tmp_path)
    find_tool = make_finder(tmp_path, tmp_path)

    assert [find_tool("cuobjdump"), find_tool("cuobjdump")] == [None, None]
    assert capsys.readouterr().err.count("cannot get cuobjdump: no pins file") == 1
