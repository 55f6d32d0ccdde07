# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The release pages in a real browser, from the disk: the picker, both themes, a phone's width, accessibility."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

from browser import Browser, explain_missing, fetch_axe, find_browser, start_browser
from jaxlib_select.choose.policy import read_policy
from jaxlib_select.choose.resolve import resolve
from jaxlib_select.errors import SelectError
from jaxlib_select.facts import known_releases
from jaxlib_select.machine.file import from_json
from pjrtwheel.backend import load_backends
from pjrtwheel.products.index import write_joint_index
from pjrtwheel.products.index.projects import WheelFolder, read_projects
from pjrtwheel.products.index.release_pages.comparison import read_measured
from pjrtwheel.products.index.release_pages.known_python import FUNCTIONS, METHODS, Signature
from pjrtwheel.products.index.release_pages.picker import INDEX, answer, quote, read_offer
from pjrtwheel.products.index.release_pages.releases import list_releases
from pjrtwheel.products.index.release_pages.syntax import BINARY, COMPARE
from python_conformance import CASES, evaluate_case, read_case, write_cases
from release_index import make_release_dist
from release_under_test import ROOT

pytestmark = pytest.mark.integration

ROWS: list[dict[str, Any]] = json.loads((ROOT / "tests/data/machines/table.json").read_text("utf-8"))["rows"]
PHONE, DESKTOP = 360, 1280
ASKED = ("auto", "prefer-gpu", "require-gpu", "cpu")
OPEN_ALL = "for (const part of document.querySelectorAll('details')) { part.hidden = false; part.open = true; }"
KINDS = ("install", "proofs", "sizes", "wheels", "wheel", "older", "older-install")
ANSWER = """
const selector = new Selector(JSON.parse(document.getElementById("picker-data").textContent));
return arguments[0].map(([machine, release, asked]) => {
  try {
    // What the selector keeps to itself.
    const { bounds, ...decision } = selector.resolve(machine, release, asked);
    return { ...decision, candidates: decision.candidates.map(({ absent, ...candidate }) => candidate) };
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    return { error: error.message };
  }
});
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Return a running browser."""
    found = find_browser()
    if found is None:
        pytest.skip(explain_missing())
    with start_browser(*found) as running:
        yield running


@pytest.fixture(scope="module")
def plain_browser(browser: Browser) -> Iterator[Browser]:  # noqa: ARG001  # which skips where there is none
    """Return another one, in which pages may run no script."""
    found = find_browser()
    assert found is not None
    with start_browser(*found, script=False) as running:
        yield running


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the source of axe."""
    try:
        return fetch_axe(tmp_path_factory.mktemp("axe"))
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        pytest.skip(f"axe-core could not be taken from npm's package index: {error}")


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with small wheels of the releases that the selector knows."""
    return make_release_dist(tmp_path_factory.mktemp("pages") / "dist")


@pytest.fixture(scope="module")
def index(dist: Path) -> Path:
    """Return their index."""
    write_joint_index([WheelFolder(dist)], dist / "simple", {}, read_measured(ROOT))
    return dist / "simple"


@pytest.fixture(scope="module")
def pages(index: Path) -> dict[str, Path]:
    """Return one page of each kind, by its name in pictures."""
    folder = index / "about_files"
    listed = {name: folder / f"{name}.html" for name in ("proofs", "sizes", "wheels")}
    first = {"wheel": "jaxlib_*", "older": "proofs-*", "older-install": "install-*"}
    found = {name: min(folder.glob(f"{pattern}.html")) for name, pattern in first.items()}
    return {"install": index / "about.html", **listed, **found}


def decide(machine: Any, release: str, asked: str) -> Any:
    """Return what `jaxlib-select resolve --json` answers."""
    try:
        decision = resolve(f"jax=={release}", from_json(machine), read_policy([asked], {}, None))
    except SelectError as error:
        return {"error": str(error)}
    return json.loads(json.dumps(decision.to_json()))


def test_the_picker_decides_as_the_selector_does(browser: Browser, index: Path) -> None:
    """On every machine of the table, for every release and policy: packages, reasons, warnings, errors, all of it."""
    names = [backend.name for backend in load_backends(ROOT).values()]
    cases = [
        (row["machine"], release, asked)
        for row in ROWS
        for release in known_releases()
        for asked in dict.fromkeys((row.get("asked", "auto"), *ASKED, *names))
    ]
    assert len(cases) > 1000
    browser.open(index / "about.html")
    assert browser.run(ANSWER, cases) == [decide(*case) for case in cases]


EVALUATE = """
const encode = (value) => {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return [value instanceof Python.Tuple ? "tuple" : "list", ...Array.from(value, encode)];
  if (value instanceof Python.Dict) return ["dict", ...value.items().map((pair) => Array.from(pair, encode))];
  if (value instanceof Python.Instance) return [value.type.name, ...Object.values(value.fields).map(encode)];
  if (value instanceof Python.PySet) return [value.frozen ? "frozenset" : "set", ...Array.from(value, encode)];
  throw new Error(`no case may return ${value}`);
};
const [definitions, nodes] = JSON.parse(arguments[0]);
const python = new Python.Interpreter(definitions);
return nodes.map((node) => {
  try {
    return encode(python.function(node, null)([]));
  } catch (error) {
    if (!(error instanceof Python.PythonError)) return `${error.stack}`;
    return { error: error.name };
  }
});
"""


def test_the_interpreter_evaluates_as_python_does(browser: Browser, index: Path) -> None:
    """The whole table, also what both refuse."""
    cases = [source for sources in CASES.values() for source in sources]
    definitions, nodes = write_cases(cases)
    browser.open(index / "about.html")
    found = browser.run(EVALUATE, json.dumps([definitions, nodes]))
    pairs = zip(cases, found, [evaluate_case(read_case(source)) for source in cases], strict=True)
    assert {source: (mine, python) for source, mine, python in pairs if sort_sets(mine) != sort_sets(python)} == {}


def sort_sets(value: Any) -> Any:
    """Return an encoded value with its sets in one order; they have none."""
    if not isinstance(value, list):
        return value
    entries = [sort_sets(entry) for entry in value]
    return [entries[0], *sorted(entries[1:], key=repr)] if entries[:1] in (["set"], ["frozenset"]) else entries


def test_the_interpreter_has_what_is_declared(browser: Browser, index: Path) -> None:
    """Neither less, nor more: with the same numbers of arguments, and the same names."""
    browser.open(index / "about.html")
    known = browser.run("return Python.known()")
    assert known["functions"] == {name: list_signature(signature) for name, signature in FUNCTIONS.items()}
    assert known["methods"] == {
        kind: {name: list_signature(signature) for name, signature in methods.items()}
        for kind, methods in METHODS.items()
    }
    assert (set(known["compare"]), set(known["binary"])) == ({*COMPARE.values()}, {*BINARY.values()})
    _, nodes = write_cases([source for sources in CASES.values() for source in sources])
    assert list_kinds(nodes) >= {*known["expressions"], *known["statements"]}


def list_signature(signature: Signature) -> list[Any]:
    """Return a signature as the script has it."""
    return [signature.least, signature.most, list(signature.named)]


def list_kinds(node: Any) -> set[str]:
    """Return what nodes begin with, and other strings."""
    if not isinstance(node, list):
        return set()
    first = {node[0]} if node and isinstance(node[0], str) else set()
    return first.union(*map(list_kinds, node))


CAPABILITIES = st.sampled_from(["3.7", "5.2", "7.0", "8.7", "9.0", "10.3", "12.0"])
VARIABLES = st.sampled_from(["CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"])
VERSIONS = st.sampled_from(["11.8", "12.0", "12.4", "12.8", "13.0", "13.2"])
MACHINES = st.fixed_dictionaries(
    {
        "os": st.sampled_from(["linux", "darwin", "windows", "bsd"]),
        "arch": st.sampled_from(["x86_64", "aarch64", "arm64"]),
    },
    optional={
        "wsl": st.booleans(),
        "tegra": st.booleans(),
        "container": st.sampled_from([None, "docker"]),
        "libc": st.sampled_from(["glibc 2.17", "glibc 2.36", "musl 1.2", None]),
        "visible": st.dictionaries(VARIABLES, st.sampled_from(["", "0,1", "-1"])),
        "nvidia": st.fixed_dictionaries(
            {},
            optional={
                "cuda": VERSIONS,
                "cuinit": st.sampled_from([0, 34, 46, 100, 802, 804, 999]),
                "libcuda": st.sampled_from(["ok", "absent", "hung", "crashed", "odd"]),
                "gpus": st.lists(st.fixed_dictionaries({"compute_capability": CAPABILITIES}), max_size=5),
                "pci": st.lists(st.just("10de:2330"), max_size=1),
            },
        ),
        "amd": st.fixed_dictionaries(
            {},
            optional={
                "rocm": st.sampled_from(["6.4.1", "7.0.0-38", "7.2"]),
                "gpus": st.lists(st.sampled_from(["gfx942", "gfx90a:xnack+", "gfx1103", "gfx1151"]), max_size=3),
                "accessible": st.booleans(),
            },
        ),
        "intel": st.fixed_dictionaries({"pci": st.lists(st.sampled_from(["8086:0BD5", "8086:46a6"]))}),
        "tpu": st.fixed_dictionaries({"pci": st.lists(st.sampled_from(["1ae0:0063", "1ae0:0042"]))}),
    },
)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(machines=st.lists(MACHINES, min_size=20, max_size=20), asked=st.sampled_from(ASKED))
def test_the_picker_decides_so_on_invented_machines(
    browser: Browser, index: Path, machines: list[dict[str, Any]], asked: str
) -> None:
    """Also on those that nobody has, with several vendors and broken drivers."""
    if browser.driver.current_url != (index / "about.html").resolve().as_uri():
        browser.open(index / "about.html")
    cases = [(machine, release, asked) for machine in machines for release in known_releases()]
    assert browser.run(ANSWER, cases) == [decide(*case) for case in cases]


@pytest.mark.parametrize(
    "machine", [[], 5, {"color": "red"}, {"constructor": {}}, {"os": 5}, {"nvidia": {"cuda": "new"}}, {"nvidia": []}]
)
def test_what_is_no_machine_is_refused(browser: Browser, index: Path, machine: Any) -> None:
    """Where the selector refuses it."""
    browser.open(index / "about.html")
    (found,) = browser.run(ANSWER, [(machine, known_releases()[-1], "auto")])
    assert list(found) == list(decide(machine, known_releases()[-1], "auto")) == ["error"]


def choose(browser: Browser, **fields: str) -> str:
    """Fill the form in as a person does, one field after the other, and return the command that is shown."""
    return str(
        browser.run(
            "const form = document.querySelector('form');"
            "for (const [name, value] of Object.entries(arguments[0])) {"
            "  form.elements[name].value = value;"
            "  form.dispatchEvent(new Event('input'));"
            "}"
            "return document.querySelector('.answer code').textContent",
            fields,
        )
    )


def test_the_commands_are_those_of_the_tables(browser: Browser, index: Path, dist: Path) -> None:
    """For everything on offer: what the form shows is what stands in the tables, with the address of the index."""
    browser.open(index / "about.html")
    offer, release = read_offer(), list_releases(read_projects(dist))[0]
    address = quote(f"{index.resolve().as_uri()}/")
    shown = lacking = 0
    for number, system in enumerate(offer.systems):
        answers = answer(offer, release, system)
        for place, accelerator in enumerate(offer.accelerators):
            for choice in range(len(accelerator.choices) or 1):
                expected = next(answers)
                choose(browser, system=str(number), accelerator=str(place), choice=str(choice))
                for (installer, environment), lines in expected.commands.items():
                    command = choose(browser, installer=installer, environment=environment)
                    assert command == "\n".join(line.replace(INDEX, address) for line in lines)
                    assert f"jax=={release.jax}" in command
                    shown += 1
                notes = browser.run("return [...document.querySelectorAll('.answer .note')].map((n) => n.textContent)")
                assert notes == [f"{note[0].upper()}{note[1:]}." for note in expected.notes]
                lacking += any("has no wheel of" in note for note in notes)
    assert shown >= 200
    assert lacking >= 1


def test_a_package_can_be_asked_for_by_its_name(browser: Browser, index: Path) -> None:
    """Each name that the release has is there, and gives its own package, whatever the machine."""
    browser.open(index / "about.html")
    names = browser.run("return [...document.querySelectorAll('[data-names] option')].map((option) => option.value)")
    assert len(names) >= 4
    for name in names:
        command = choose(browser, accelerator=name)
        decision = decide({"os": "linux", "arch": "x86_64"}, known_releases()[-1], name.removeprefix("name:"))
        assert all(quote(requirement) in command for requirement in decision["requirements"])


def test_a_pasted_machine_and_a_slip_are_answered(browser: Browser, index: Path) -> None:
    """The table of machines once more, through the text field, and what is said of text that is none."""
    browser.open(index / "about.html")
    release = known_releases()[-1]
    shown = 0
    for row in [row for row in ROWS if "asked" not in row][::4]:
        choose_only(browser, json.dumps(row["machine"]))
        decision = decide(row["machine"], release, "auto")
        text = browser.run("return document.querySelector('.answer').innerText")
        assert next(c["reason"] for c in decision["candidates"] if c["chosen"]) in text
        assert all(requirement in text for requirement in decision["requirements"])
        shown += 1
    assert shown >= 20
    choose_only(browser, "{")
    text = browser.run("return document.querySelector('.answer').innerText")
    assert text.startswith("No answer\n\nthis is not JSON")
    choose_only(browser, json.dumps({"os": "linux", "arch": "x86_64", "libc": f"glibc 2.{'9' * 20}"}))
    text = browser.run("return document.querySelector('.answer').innerText")
    assert text == "No answer\n\ntoo large a number"  # and not the answer for another machine
    assert browser.messages() == []


def choose_only(browser: Browser, machine: str) -> None:
    """Paste a machine."""
    browser.run(
        "document.querySelector('[name=machine]').value = arguments[0];"
        "document.querySelector('form').dispatchEvent(new Event('input'))",
        machine,
    )


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", KINDS)
def test_a_page_is_accessible_in_both_themes(
    browser: Browser, pages: dict[str, Path], axe: str, name: str, *, dark: bool
) -> None:
    """Axe finds nothing, also with everything open, at both widths; the ground is dark where that is asked for."""
    for width in (DESKTOP, PHONE):
        browser.open(pages[name], width=width, dark=dark)
        browser.keep_picture(f"{name}-{'dark' if dark else 'light'}-{width}")
        browser.run(OPEN_ALL)
        assert browser.violations(axe) == []
        red = browser.run("return Number(getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/)[0])")
        assert (red < 100) is dark


@pytest.mark.parametrize("name", KINDS)
def test_a_page_asks_for_nothing_else_and_fits_a_phone(
    browser: Browser, pages: dict[str, Path], index: Path, name: str
) -> None:
    """All that it loads lies in the index; the console is quiet; nothing is wider than a phone, with all parts open."""
    browser.requests(), browser.messages()
    for width in (PHONE, DESKTOP):
        browser.open(pages[name], width=width)
        browser.run(OPEN_ALL)
        wide = browser.run(
            "const width = document.documentElement.clientWidth;"
            "return [...document.querySelectorAll('body *')]"
            ".filter((part) => part.getBoundingClientRect().right > width + 1 && part.checkVisibility())"
            ".map((part) => part.outerHTML.slice(0, 120))"
        )
        assert (wide, browser.run("return document.documentElement.scrollWidth")) == ([], width)
    asked = {address.partition("#")[0] for address in browser.requests()}
    own = index.resolve().as_uri()
    assert [address for address in asked if not address.startswith((f"{own}/", "data:", "about:"))] == []
    scripts = ["about.js", "python.js", "selector.js"] if name == "install" else ["about.js"]
    assert {address for address in asked if address.endswith((".css", ".js"))} == {
        f"{own}/about_files/{file}" for file in ["about.css", *scripts]
    }
    assert browser.messages() == []


@pytest.mark.parametrize("name", KINDS)
def test_a_page_says_everything_without_a_script(plain_browser: Browser, pages: dict[str, Path], name: str) -> None:
    """What is there without JavaScript is all that the script shows; no control does nothing."""
    plain_browser.open(pages[name])
    dead = plain_browser.run(
        "return [...document.querySelectorAll('button, input, select, textarea')]"
        ".filter((control) => control.checkVisibility()).length"
    )
    assert dead == 0
    assert plain_browser.run("return document.body.innerText.length") > 200


def test_every_command_is_there_without_a_script(plain_browser: Browser, pages: dict[str, Path], dist: Path) -> None:
    """The tables have all commands that the form can give, below the machines that they are for."""
    plain_browser.open(pages["install"])
    texts = plain_browser.run("return [...document.querySelectorAll('.system')].map((part) => part.textContent)")
    offer, release = read_offer(), list_releases(read_projects(dist))[0]
    for system, text in zip(offer.systems, texts, strict=True):
        for found in answer(offer, release, system):
            assert found.accelerator in text
            assert all("\n".join(lines) in text for lines in found.commands.values())


def test_a_cell_of_the_map_shows_what_ran(browser: Browser, plain_browser: Browser, pages: dict[str, Path]) -> None:
    """A click, or the keyboard, opens the programs of that chip and hides others; so does the address."""
    browser.open(pages["proofs"])
    visible = (
        "return [...document.querySelectorAll('.evidence > details')].filter((part) => part.checkVisibility()).length"
    )
    assert browser.run(visible) == 0
    cells = browser.run("return [...document.querySelectorAll('[data-proof]')].map((cell) => cell.hash)")
    assert len(cells) >= 5
    for keys in (False, True):
        link = browser.driver.find_elements("css selector", "[data-proof]")[1 + keys]
        link.send_keys(Keys.ENTER) if keys else link.click()
        assert browser.run(visible) == 1
        shown = browser.run("return document.querySelector('details[open] .inner').innerText")
        assert "A Processor" in shown
        assert browser.run("return document.activeElement.id") == cells[1 + keys][1:]
    browser.open(pages["proofs"], fragment=cells[2][1:])
    assert browser.run(visible) == 1
    shown = "return document.querySelector('.evidence > details[open] .inner').id"
    assert browser.run(shown) == cells[2][1:]
    browser.run("location.hash = arguments[0]", cells[0])
    WebDriverWait(browser.driver, 10).until(lambda _: browser.run(shown) == cells[0][1:])
    assert browser.run(visible) == 1
    plain_browser.open(pages["proofs"], fragment=cells[2][1:])
    opened = "return [...document.querySelectorAll('.evidence > details[open] .inner')].map((part) => part.id)"
    assert plain_browser.run(opened) == [cells[2][1:]]  # the browser does that by itself


def test_the_theme_can_be_switched_and_hashes_copied(browser: Browser, pages: dict[str, Path]) -> None:
    """A button says what it brings, and what was chosen holds on the next page."""
    browser.open(pages["install"])
    button = browser.driver.find_element("css selector", ".theme")
    assert button.text == "Dark"
    button.click()
    assert (button.text, browser.run("return getComputedStyle(document.body).colorScheme")) == ("Light", "dark")
    browser.open(pages["wheel"])
    assert browser.driver.find_element("css selector", ".theme").text == "Light"
    browser.driver.find_element("css selector", ".theme").click()
    copy = browser.driver.find_element("css selector", ".hash .copy")
    assert copy.text == "Copy sha256"
    origin = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    browser.driver.execute_cdp_cmd("Browser.grantPermissions", origin)
    copy.click()
    copied = browser.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
    assert copied == browser.run("return document.querySelector('.hash code').textContent")
    assert len(copied) == 64


def test_releases_are_a_click_apart(browser: Browser, pages: dict[str, Path]) -> None:
    """Each page of a release leads to that of every other."""
    browser.open(pages["proofs"])
    links = browser.driver.find_elements("css selector", ".releases a")
    assert len(links) == len(known_releases())
    assert [link.get_attribute("aria-current") for link in links] == ["page", *[None] * (len(links) - 1)]
    links[1].click()
    assert browser.driver.current_url.startswith(pages["older"].parent.resolve().as_uri())
    assert browser.run("return document.querySelector('.releases [aria-current]').textContent") in browser.driver.title
