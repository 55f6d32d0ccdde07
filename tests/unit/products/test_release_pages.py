# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The release pages as text: what they say, what leads where, and that nothing of a release becomes markup.

`tests/integration/test_release_pages.py` looks at them in a browser.
"""

import hashlib
import html
import re
from base64 import b64encode
from dataclasses import astuple, replace
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

import pytest

from jaxlib_select.facts import known_releases, load_facts
from pjrtwheel.backend import OWN_ROOT
from pjrtwheel.dist_folder.printing import print_wheels
from pjrtwheel.products.index import installer_pages
from pjrtwheel.products.index.projects import Project, WheelContents
from pjrtwheel.products.index.release_pages import render_pages
from pjrtwheel.products.index.release_pages.releases import list_releases, make_maps
from pjrtwheel.products.index.release_pages.sizes import compare_sizes
from pjrtwheel.record.entries import Entry
from pjrtwheel.record.proofs import (
    Compilation,
    Level,
    Outcome,
    ProgramResult,
    Proof,
    PythonProof,
    ResultKind,
    TargetProof,
)
from pjrtwheel.release.model import Release
from pjrtwheel.sets import SELECTOR
from release_entries import NO_PROOF, entry_of, proof_of
from release_index import MACHINE, NAME, ORIGIN, abacus_release, file_of
from terminal_output import text_of

HOSTILE = "</script><img src=x onerror=alert(1)>\"'&{{ 71933 * 3 }}"


class Reader(HTMLParser):
    """Collects the links, sources, identifiers and elements of a page."""

    def __init__(self) -> None:
        """Start with nothing."""
        super().__init__()
        self.links: list[str] = []
        self.names: list[str] = []
        self.elements: list[str] = []
        self.handlers: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.elements.append(tag)
        self.links += [value or "" for name, value in attrs if name in {"href", "src"}]
        self.names += [value or "" for name, value in attrs if name == "id"]
        self.handlers += [name for name, _ in attrs if name.startswith("on") or name == "style"]


def read_page(text: str) -> Reader:
    """Return what is in a page."""
    reader = Reader()
    reader.feed(text)
    return reader


def test_every_link_leads_somewhere(projects: tuple[Project, ...], pages: dict[str, str], index: Path) -> None:
    """To a page, to a place on one, to a wheel or to the index; nothing is asked of another machine."""
    files = {path.relative_to(index).as_posix() for path in index.rglob("*") if path.is_file()}
    assert check_links(pages, files) > 300
    assert len(pages) == 1 + 3 * len(known_releases()) + sum(len(project.files) for project in projects)
    assert {path for path, text in pages.items() if len(text.encode()) > 300_000} == set()  # a phone has to load it
    for project in projects:
        text = (index / project.name / "index.html").read_text("utf-8")
        ((page, place),) = re.findall(r'action="\.\./(.+?)#(.+?)"', text)
        assert place in read_page(pages[page]).names


def test_every_link_of_an_index_without_wheels_leads_somewhere() -> None:
    """The menu lists what there is."""
    pages = {path: data.decode() for path, data in render_pages(()).items()}
    assert sorted(pages) == ["about.html"]
    assert check_links(pages, {*pages, *installer_pages(())}) >= 3


def check_links(pages: dict[str, str], files: set[str]) -> int:
    """Check that each link is to a file, or to the one place of that name on a page, and return how many there are."""
    names = {path: read_page(text).names for path, text in pages.items() if path.endswith(".html")}
    checked = 0
    for path, own in names.items():
        assert len(own) == len(set(own)), path
        for link in read_page(pages[path]).links:
            parts = urlsplit(link)
            if parts.scheme:
                assert link == "data:,"
                continue
            folder = PurePosixPath("/", path).parent
            place = (folder / unquote(parts.path)).as_posix() if parts.path else f"/{path}"
            target = Path(place).resolve().relative_to("/").as_posix()
            assert target in files, (path, link)
            assert not parts.fragment or parts.fragment in names[target], (path, link)
            checked += 1
    return checked


def test_a_page_admits_its_own_style_and_script_alone(pages: dict[str, str]) -> None:
    """By their hashes; a browser runs no handler and reads no style of an element, and there is none."""
    for path, text in pages.items():
        (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="(.+?)">', text)
        assert text.index("<meta http-equiv") < text.index("<style>")
        stated = dict(part.split(" ", 1) for part in html.unescape(policy).split("; "))
        hashes = {}
        for name in ("style", "script"):
            (part,) = re.findall(rf"<{name}>(.*?)</{name}>", text, re.DOTALL)
            hashes[f"{name}-src"] = f"'sha256-{b64encode(hashlib.sha256(part.encode()).digest()).decode()}'"
        others = {"default-src": "'none'", "img-src": "data:", "base-uri": "'none'", "form-action": "'none'"}
        assert (stated, read_page(text).handlers) == ({**hashes, **others}, []), path
        assert re.findall(r"<script (?!type=.application/json)|<link rel=.stylesheet", text) == []


def hostile_entry(proof: Proof) -> Entry:
    """Return an entry in which every text that can be anything is an attack."""
    origin = {"project": HOSTILE, "filename": HOSTILE, "sha256": HOSTILE, "member": HOSTILE, "xla_commit": HOSTILE}
    return entry_of(
        NAME,
        lock_id=HOSTILE,
        gpu_code=(HOSTILE,),
        requires=(HOSTILE, f'a>=1; extra == "{HOSTILE.replace(chr(34), "")}"'),
        provider=HOSTILE,
        provenance={**origin, "override": {"version": HOSTILE, "reason": HOSTILE}},
        changes={HOSTILE: (HOSTILE,)},
        built=replace(ORIGIN, commit=HOSTILE, date=HOSTILE),
        proof=proof,
    )


def hostile_proof(level: Level) -> Proof:
    """Return a proof of the same kind."""
    run = Compilation(HOSTILE, HOSTILE, 1, 0.1, (HOSTILE,), outcome=Outcome.PASSED, detail=HOSTILE)
    target = TargetProof(HOSTILE, HOSTILE, (HOSTILE,), 1.0, (run,))
    python = PythonProof("cp312", HOSTILE, (), HOSTILE, (HOSTILE,))
    machine = replace(MACHINE, processor=HOSTILE, chip=HOSTILE, driver=HOSTILE)
    origin = replace(ORIGIN, commit=HOSTILE, date=HOSTILE, signed_off_by=HOSTILE)
    return Proof(level, HOSTILE, (python,), origin, (target,), HOSTILE, machine=machine)


@pytest.mark.parametrize("level", [Level.AOT, Level.DEVICE])
def test_nothing_of_a_release_becomes_markup(level: Level) -> None:
    """Neither an element, nor a handler, nor the end of a script, nor a template."""
    entry = hostile_entry(hostile_proof(level))
    attacked = file_of(entry, yanked=HOSTILE, contents=WheelContents(1, HOSTILE, (HOSTILE,)))
    project, plain = (Project("jaxlib-abacus", (file,)) for file in (attacked, file_of(entry_of(NAME), yanked="")))
    written, usual = (render_pages([each]) for each in (project, plain))
    assert written.keys() == usual.keys()
    seen = 0
    for path, data in written.items():
        if path.endswith(".html"):
            page = read_page(data.decode())
            assert page.handlers == []
            assert "img" not in page.elements
            assert page.elements.count("script") == read_page(usual[path].decode()).elements.count("script")
            assert "215799" not in data.decode()
            seen += data.decode().count("&lt;/script&gt;")
    assert seen > 20


def test_a_release_that_the_selector_does_not_know_is_installed_by_name() -> None:
    """Its page has the command for each plugin, also for one that `wrap` made, and no picker."""
    file = file_of(entry_of(NAME, lock_id="ff"))
    wrapped = replace(file, filename=NAME.replace("abacus", "foo"), entry=None)
    text = render_pages([Project("jaxlib-abacus", (file,)), Project("jaxlib-foo", (wrapped,))])["about.html"].decode()
    installed = [f"pip install --index-url INDEX jax jaxlib-{name}==1.2.3+own.1" for name in ("abacus", "foo")]
    assert ([text.count(command) for command in installed], "<form" in text) == ([1, 1], False)


def test_releases_are_in_order_of_their_versions(projects: tuple[Project, ...]) -> None:
    """The newest has the plain names; wheels without a lock go with all."""
    tool = f"{SELECTOR.replace('-', '_')}-9.9-py3-none-any.whl"
    loose = Project(SELECTOR, (file_of(entry_of(tool), requires_python=">=3.11"),))
    releases = list_releases([*projects, loose])
    assert [release.jax for release in releases] == list(reversed(known_releases()))
    assert [release.suffix for release in releases] == ["", *(f"-{release.version}" for release in releases[1:])]
    assert all(release.wheels[-1].entry.filename == tool for release in releases)
    assert releases[0].wheels[-1].pythons(releases[0]) == ">=3.11"  # not any, though its tag is py3
    assert releases[0].wheels[0].project == "jaxlib"
    assert releases[0].pythons == ("cp312", "cp313")
    assert render_pages(projects) == render_pages(tuple(reversed(projects)))


@pytest.mark.parametrize(("name", "abi", "python"), [("jaxlib_cpu", "abi3", b"3"), ("jaxlib", "cp312", b"3.12")])
def test_an_index_of_one_wheel_has_pages(name: str, abi: str, python: bytes) -> None:
    """With what it has: without bindings no Python that it is for, and of bindings alone no proof."""
    (version,) = {backend.version for backend in load_facts(known_releases()[-1]).backends if backend.is_cpu}
    proof = replace(proof_of(Level.DEVICE, None), machine=MACHINE)
    entry = entry_of(f"{name}-{version}-cp312-{abi}-manylinux_2_27_x86_64.whl", lock_id="ff", proof=proof)
    project = Project(name.replace("_", "-"), (file_of(entry),))
    assert b">python" + python + b" -m venv " in render_pages([project])["about.html"]


def test_the_map_has_chips_by_wheels() -> None:
    """Projects share one by their chips; a cell says how many programs were compiled, where, or that none can be."""
    passed = Compilation("matmul", "single", 1, 0.5, ("bead_5",), outcome=Outcome.PASSED)
    failed = Compilation("pallas", "single", 1, 0.1, outcome=Outcome.EXPECTED, detail="no table")
    new = TargetProof("new", "Abacus 5", ("bead_5",), 1.0, (passed, failed))
    old = TargetProof("old", "Abacus 4", (), 1.0, (failed,))
    result = ProgramResult("aot new", Outcome.PASSED, Level.AOT, 1.0, "", ResultKind.TARGET)
    pythons = [PythonProof(name, "3", (result,)) for name in ("cp312", "cp313")]
    proof = Proof(Level.AOT, "0.1", tuple(pythons), ORIGIN, (new, old), "abacus", machine=MACHINE)
    nothing = Proof(Level.STATIC, None, (PythonProof("cp312", "", (), "no interpreter"),), ORIGIN)
    release = abacus_release(
        entry_of("jaxlib_abacus-1.2.3-cp312-abi3-manylinux_2_27_x86_64.whl", proof=proof),
        entry_of("jaxlib_abacus-1.2.3-cp312-abi3-manylinux_2_27_aarch64.whl", proof=nothing),
        entry_of("jaxlib_bead-1.2.3-cp312-abi3-win_amd64.whl", proof=replace(proof, targets=(new,))),
        entry_of("jaxlib_rule-1.2.3-cp312-abi3-manylinux_2_27_x86_64.whl", proof=nothing),
        entry_of("jaxlib-1.2.3-cp312-cp312-manylinux_2_27_x86_64.whl", proof=nothing),
    )
    first, second, bindings = make_maps(release, {"new": "Abacus 5 or 5 Pro"})
    found = [[one.system for one in some] for some in (first.wheels, first.others, bindings.wheels, bindings.others)]
    assert found == [["Linux x86_64", "Windows x86_64"], ["Linux aarch64"], [], ["Linux x86_64"]]
    rows = (*first.rows, *second.rows)
    cells = {(row.label, row.detail, row.family): [(cell.level, cell.text) for cell in row.cells] for row in rows}
    compiled = ("partial", "1 of 2 programs, Python 3.12, 3.13, not pallas")
    assert cells == {
        ("Abacus 4", "", ""): [("expected", "no table"), ("", "")],
        ("Abacus 5", "bead_5", "Abacus 5 or 5 Pro"): [compiled, compiled],
        ("any device", "", ""): [("static", "")],
    }


@pytest.mark.parametrize(
    ("chip", "label", "targets", "where"),
    [
        ("Abacus 5 Pro", "Abacus 5 Pro", (), ""),
        ("abacus", MACHINE.processor, (), ""),
        ("ABACUS A5-80GB", "Abacus 5", (TargetProof("a5", "Abacus 5", ("bead_5",), 1.0, ()),), "ABACUS A5-80GB"),
    ],
)
def test_a_device_is_a_row_of_its_own(chip: str, label: str, targets: tuple[TargetProof, ...], where: str) -> None:
    """By what the chip calls itself, and for the host by its processor, unless that names a chip that is there."""
    results = (PythonProof("cp312", "3.12.1", (ProgramResult("jit", Outcome.PASSED, Level.DEVICE, 1.0, ""),)),)
    proof = Proof(Level.DEVICE, "0.1", results, ORIGIN, targets, "abacus", machine=replace(MACHINE, chip=chip))
    (found,) = make_maps(abacus_release(entry_of(NAME, proof=proof)))
    (row,) = found.rows
    (cell,) = row.cells
    assert (row.label, cell.level, cell.text, cell.device) == (label, "device", "1 passed, Python 3.12", where)


def test_what_showed_the_same_shares_a_row() -> None:
    """Wheels of one system, one for each Python; all proofs of a device, with what did not run for any of them."""
    first = replace(proof_of(Level.DEVICE, None), backend="abacus", machine=MACHINE)
    late = ProgramResult("late", Outcome.NOT_RUN, Level.DEVICE, 0.0, "")
    second = replace(first, pythons=(PythonProof("cp313", "3.13.0", (*first.pythons[0].results, late)),))
    shown = {"cp312": first, "cp313": second, "cp314": NO_PROOF}
    wheels = [entry_of(f"jaxlib-1.2.3+own.1-{name}-{name}-win_amd64.whl", proof=shown[name]) for name in shown]
    kernels = entry_of("jaxlib_abacus_kernels-1.2.3+own.1-cp313-cp313-manylinux_2_27_x86_64.whl")
    release = abacus_release(*wheels, kernels, entry_of(NAME, proof=first, other_proofs=(second,)))
    assert [[wheel.python for wheel in row] for row in release.rows()["jaxlib"]] == [["cp312", "cp313"], ["cp314"]]
    plugin, bindings = make_maps(release)
    assert plugin.wheels[0].pythons(release) == "3.13"  # those that it has kernels for
    (cell,) = plugin.rows[0].cells
    assert (cell.text, cell.proofs) == ("1 passed, 1 not run, Python 3.12, 3.13", (first, second))
    assert ([wheel.python for wheel in bindings.wheels], len(bindings.others)) == (["cp312", "cp313"], 1)


def test_an_installation_is_compared_with_jax_own(release: Release) -> None:
    """With all that a plugin needs, the vendor's library too; upstream's `jaxlib` has the CPU in it."""
    bindings, cpu, tpu = (release.pins[f"{key}.linux_x86_64"] for key in ("bindings.cp312", "plugin.cpu", "plugin.tpu"))
    version = release.version  # without a label, as JAX's own
    needs = (f"jaxlib=={version}", f"libtpu=={tpu.version}")
    made_of = {"jaxlib": (bindings, ()), "jaxlib_cpu": (cpu, needs[:1]), "jaxlib_tpu": (tpu, needs)}
    listed = abacus_release(
        *(
            entry_of(
                f"{name}-{version}-1-cp312-{'cp312' if name == 'jaxlib' else 'abi3'}-manylinux_2_27_x86_64.whl",
                requires=requires,
                provenance={"sha256": pin.sha256},
                provider="prebuilt",
            )
            for name, (pin, requires) in made_of.items()
        ),
        entry_of(f"jaxlib_abacus-{version}-cp312-abi3-manylinux_2_27_x86_64.whl", provider="prebuilt"),
        entry_of(f"jaxlib-{version}-0-cp312-cp312-manylinux_2_27_x86_64.whl", provider="prebuilt"),  # an older build
    )
    found = compare_sizes(OWN_ROOT, listed)
    parts = [([*map(astuple, one.ours)], [*map(astuple, one.theirs)], one.is_optional) for one in found]
    own, upstream, vendor = ("jaxlib", 1, True), ("jaxlib", bindings.size, True), ("libtpu", tpu.size, True)
    assert parts == [
        ([own], [upstream], False),
        ([("jaxlib-abacus", 1, False)], [], False),
        ([vendor, own, ("jaxlib-tpu", 1, False)], [vendor, upstream], False),
        ([own, ("jaxlib-cpu", 1, False)], [upstream], True),
    ]
    assert [one.change for one in found if not one.theirs] == ["not known"]  # nobody knows what it is made of


def test_map_page_and_terminal_count_alike() -> None:
    """Each program and check once, however many Pythons ran it; one that did not run is not among those that ran."""
    results = [ProgramResult(name, Outcome.PASSED, Level.DEVICE, 1.0, "") for name in ("jit", "linalg")]
    results += [ProgramResult("probe", Outcome.PASSED, Level.LOAD, 1.0, "", ResultKind.CHECK)]
    results += [ProgramResult("torch", Outcome.NOT_RUN, Level.DEVICE, 0.0, "no torch")]
    other = (replace(results[0], outcome=Outcome.NOT_RUN), *results[1:])
    pythons = (PythonProof("cp312", "3", tuple(results)), PythonProof("cp312t", "3", other))
    proof = Proof(Level.DEVICE, "0.1", pythons, ORIGIN, backend="abacus", machine=MACHINE)
    entry = entry_of(NAME, proof=proof)
    pages = render_pages([Project("jaxlib-abacus", (file_of(entry),))])
    proofs, wheels, page = (pages[f"about_files/{name}.html"].decode() for name in ("proofs", "wheels", NAME[:-4]))
    assert f"<small>{MACHINE.processor}, Python 3.12, 3.12t</small>" in wheels
    assert "<small>3 passed, 1 not run (torch), Python 3.12, 3.12t</small>" in proofs
    assert ", 3 passed, 1 not run," in page
    assert "3/1/0" in text_of(lambda console: print_wheels([entry], Path("dist"), console=console), 80)
    (ran,) = re.findall(r"Programs that ran</caption>(.*?)</table>", proofs, re.DOTALL)
    assert re.findall(r"Python 3.12t?(?=<)|torch|jit", ran) == ["Python 3.12", "Python 3.12t", "jit"]
    both = entry_of(
        "jaxlib-1.2.3-cp312-cp312-win_amd64.whl", proof=proof, other_proofs=(replace(proof, backend="rule"),)
    )
    proofs = render_pages([Project("jaxlib", (file_of(both),))])["about_files/proofs.html"].decode()
    assert re.findall(r"<small>3, (with \w+)", proofs) == ["with abacus"] * 2 + ["with rule"] * 2


def test_a_wheel_says_what_it_is_and_how_to_install_it() -> None:
    """With the extra that brings its libraries; a wheel that was withdrawn is not installed."""
    entry = entry_of(NAME, lock_id="ff")
    contents = WheelContents(1, "", (), "XLA for an abacus", ("with-beads",))
    pages = [
        render_pages([Project("jaxlib-abacus", (file_of(entry, contents=contents, yanked=yanked),))])
        for yanked in (None, "")
    ]
    page, withdrawn = (html.unescape(each[f"about_files/{NAME.removesuffix('.whl')}.html"].decode()) for each in pages)
    assert "XLA for an abacus." in page
    wanted = f'jax==1.2.3 "jaxlib-abacus[with-beads]=={entry.version}"'
    commands = [f"uv pip install --default-index INDEX {wanted}", f"pip install --index-url INDEX {wanted}"]
    assert re.findall(r"<code>((?:uv )?pip install .*)</code>", page) == commands
    assert "pip install" not in withdrawn


def test_a_wheel_names_the_machines_that_the_picker_gives_it_to(pages: dict[str, str]) -> None:
    """With what their drivers must be, for its own system."""
    found = {
        path: re.findall(r"<li>(.+?)</li>", text.partition('id="machines"')[2].partition("</section>")[0])
        for path, text in pages.items()
        if known_releases()[-1] in path
    }
    named = {path.split("/")[1].split("-")[0]: machines for path, machines in found.items() if machines}
    assert "NVIDIA T4, RTX 20 or GTX 16 series: NVIDIA driver 580 or newer" in named["jaxlib_cuda_13"]
    assert named["jaxlib_tpu"] == ["Google Cloud TPU"]
    assert "jaxlib" not in named


def test_wheels_of_a_project_have_different_labels() -> None:
    """By system, Python and variant; the variant without properties is for what no other one fits."""
    names = ("cp312-cp312-win_amd64", "py3-none-any", "py3-none-any-null", "py3-none-manylinux_2_31_x86_64-tpu")
    release = abacus_release(*(entry_of(f"jaxlib_auto-1.2.3-{name}.whl") for name in names))
    labels = {"Windows x86_64, Python 3.12", "any system", "any other machine", "Linux x86_64, tpu"}
    assert {wheel.label for wheel in release.wheels} == labels


def test_why_nothing_ran_is_not_what_ran() -> None:
    """The reason has its own column."""
    proof = Proof(Level.STATIC, None, (PythonProof("cp312", "", (), "switched off"),), ORIGIN, backend="abacus")
    entry = entry_of(NAME, proof=proof)
    page = render_pages([Project("jaxlib-abacus", (file_of(entry),))])[f"about_files/{NAME.removesuffix('.whl')}.html"]
    cells = dict(re.findall(r'<td data-label="(.+?)">(.*?)</td>', page.decode()))
    assert cells == {"What ran": "no program", "What prevented more": "switched off"}
