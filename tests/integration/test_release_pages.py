# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The release pages in a real browser, from the disk: the picker, both themes, a phone's width, accessibility."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select
from selenium.webdriver.support.wait import WebDriverWait

from browser import OPEN_ALL, Browser, fetch_axe, find_browser, start_browser
from pjrtwheel.products.index import write_index
from release_index import make_release_dist

pytestmark = [pytest.mark.integration, pytest.mark.slow]

PHONE, DESKTOP = 390, 1280
NOTES = ".answer > .note:not(.answer > h2 ~ *)"  # above the answer
KINDS = ("install", "proofs", "sizes", "wheels", "wheel", "older")
SHOWN = """
const form = document.querySelector("form");
history.replaceState = () => {}; // a browser limits how often
const text = (selector) => [...document.querySelectorAll(selector)].map((part) => part.textContent);
return arguments[0].map((fields) => {
  for (const [name, value] of fields) {
    form.elements[name].value = value;
    form.dispatchEvent(new Event("input"));
  }
  return [text(".answer > h2 .state"), text(".answer > .steps code"), text(".instead").length];
});
"""


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
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the index of small wheels of the releases that the selector knows."""
    dist = make_release_dist(tmp_path_factory.mktemp("pages") / "dist")
    write_index(dist, dist / "simple")
    return dist / "simple"


@pytest.fixture(scope="module")
def pages(index: Path) -> dict[str, Path]:
    """Return one page of each kind, by its name in pictures."""
    folder = index / "about_files"
    listed = {name: folder / f"{name}.html" for name in ("proofs", "sizes", "wheels")}
    first = {"wheel": "jaxlib_*", "older": "proofs-*"}
    found = {name: min(folder.glob(f"{pattern}.html")) for name, pattern in first.items()}
    return {"install": index / "about.html", **listed, **found}


def expect(table: dict[str, Any], key: str, installer: str, address: str) -> tuple[dict[str, str], list[Any]]:
    """Return the fields of the form for a key, and what it shows then."""
    fields = dict(zip(("system", "gpu", "driver", "release"), key.split("|"), strict=True))
    row, system = table["outcomes"][table["answers"][key]], table["systems"][fields["system"]]
    ours = row["ours"] or row["other"]
    found, lines, states = ours or row["upstream"], [], []
    if not ours:
        missing = "Something is missing" if row["advice"] else "Not possible"
        states.append("Not in this index" if row["upstream"] else missing)
    if found and (ours or not row["instead"]):
        states.append("Available" if row["ours"] else "Use another release" if ours else "JAX's own wheels")
        values = {"python": found["pythons"][-1], "index": address} | found
        lines = table["shells"][system["shell"]][installer]
        if not ours:
            lines = [re.sub(r" \S+ \{index\}", "", line) for line in lines]
        lines = [line.format_map(values) for line in lines]
    fields |= {"installer": installer} | ({"python": found["pythons"][-1]} if found else {})
    return fields, [states, lines, len(row["instead"])]


@pytest.fixture(scope="module")
def table(pages: dict[str, Path]) -> dict[str, Any]:
    """Return the table in the page."""
    (text,) = re.findall(r'<script type="application/json">(.*?)</script>', pages["install"].read_text("utf-8"))
    found: dict[str, Any] = json.loads(text)
    return found


def test_the_picker_shows_the_row_of_its_table(
    browser: Browser, pages: dict[str, Path], index: Path, table: dict[str, Any]
) -> None:
    """For everything on offer, with the address of the index, whatever was chosen before; all kinds occur."""
    browser.open(pages["install"])
    address = f"{index.resolve().as_uri()}/"
    expected = [expect(table, key, installer, address) for key in table["answers"] for installer in ("uv", "pip")]
    assert browser.run(SHOWN, [[*fields.items()] for fields, _ in expected]) == [shown for _, shown in expected]
    states = {state for _, shown in expected for state in shown[0]}
    missing = {"Use another release", "Not in this index", "Not possible", "Something is missing"}
    assert states == {"Available", "JAX's own wheels"} | missing
    assert browser.messages() == []


def test_the_state_of_the_picker_is_in_the_address(
    browser: Browser, pages: dict[str, Path], index: Path, table: dict[str, Any]
) -> None:
    """Also from the root of the index; a name in a label counts, and what is not on offer does not."""
    chosen = "const form = document.querySelector('form'); return Object.fromEntries(new FormData(form))"
    browser.open(pages["install"])
    first = browser.run(chosen)
    assert [first[name] for name in ("system", "gpu", "driver", "release")] == table["first"]
    browser.driver.get(f"{(index / 'index.html').resolve().as_uri()}?gpu=H200&python=3.13&installer=pip&system=beos")
    WebDriverWait(browser.driver, 10).until(lambda _: "about.html?" in browser.driver.current_url)
    wanted = {**first, "gpu": "h100", "python": "3.13", "installer": "pip"}
    WebDriverWait(browser.driver, 10).until(lambda _: browser.run(chosen) == wanted)
    browser.open(pages["install"], suffix="?gpu=RTX+4090")
    assert (browser.run(chosen)["gpu"], browser.driver.find_elements("css selector", NOTES)) == ("l4", [])
    browser.open(pages["install"], suffix="?gpu=%3Cb%3E9999&python=3.13")
    note = browser.driver.find_element("css selector", NOTES)
    assert ("<b>9999" in note.text, browser.run(chosen)["gpu"]) == (True, "other")
    Select(browser.driver.find_element("name", "gpu")).select_by_value("b200")
    assert browser.driver.find_elements("css selector", NOTES) == []
    Select(browser.driver.find_element("name", "driver")).select_by_value("570 to 579")
    assert browser.driver.find_element("css selector", ".note:has(+ .steps)").text[:7] == "cuBLAS "  # as it is spelt
    browser.open(pages["install"], suffix="?gpu=t4&python=3.11&driver=1&system=beos")
    said = browser.run(f"return [...document.querySelectorAll('{NOTES}')].map((note) => note.textContent)")
    assert [re.findall(r"(\w+)=(\S+),", text) for text in said] == [
        [("system", "beos")],
        [("driver", "1")],
        [("python", "3.11")],
    ]
    browser.open(pages["install"], suffix=f"?{urlencode(wanted)}")
    element = browser.driver.find_element("name", "release")
    Select(element).select_by_index(1)
    browser.driver.refresh()
    assert browser.run(chosen) == wanted | {"release": table["releases"][1]}


def test_the_cpu_is_a_click_away(browser: Browser, pages: dict[str, Path]) -> None:
    """Where nothing else is."""
    browser.open(pages["install"], suffix="?system=macos&gpu=h100")
    (button,) = browser.driver.find_elements("css selector", ".instead")
    python = browser.driver.find_element("name", "python")
    assert not python.is_displayed()  # there is none to choose
    button.click()
    assert python.is_displayed()
    assert browser.driver.find_element("name", "gpu").get_attribute("value") == "cpu"
    assert browser.driver.find_element("css selector", ".answer .state").text in {"Available", "Not in this index"}
    assert len(browser.driver.find_elements("css selector", ".steps code")) == 3


def test_the_lines_of_another_release_are_there(
    browser: Browser, pages: dict[str, Path], table: dict[str, Any]
) -> None:
    """And are copied one by one."""
    rows = {key: table["outcomes"][number] for key, number in table["answers"].items()}
    key = next(key for key, row in rows.items() if row["other"])
    fields, _ = expect(table, key, "pip", "")
    browser.open(pages["install"], suffix=f"?{urlencode(fields)}")
    assert browser.driver.find_element("css selector", ".answer .state").text == "Use another release"
    origin = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    browser.driver.execute_cdp_cmd("Browser.grantPermissions", origin)
    copy = "arguments[0].click(); setTimeout(() => navigator.clipboard.readText().then(arguments[1]), 300)"
    buttons = browser.driver.find_elements("css selector", ".answer > .steps .copy")
    copied = [browser.driver.execute_async_script(copy, button) for button in buttons]
    lines = "return [...document.querySelectorAll('.answer > .steps code')].map((part) => part.textContent)"
    assert copied == browser.run(lines)
    assert (len(copied), "\n" in "".join(copied)) == (3, False)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", KINDS)
def test_a_page_is_accessible_in_both_themes(
    browser: Browser, pages: dict[str, Path], axe: str, name: str, *, dark: bool
) -> None:
    """Nothing is cut off or faint, and axe finds nothing, at both widths; the ground is dark if asked for."""
    for width in (DESKTOP, PHONE):
        browser.open(pages[name], width=width, dark=dark)
        browser.keep_picture(f"{name}-{'dark' if dark else 'light'}-{width}")
        assert browser.faults() == []
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
        assert browser.run("return document.documentElement.scrollWidth") == width
    asked = {address.partition("#")[0] for address in browser.requests()}
    own = index.resolve().as_uri()
    assert [address for address in asked if not address.startswith((f"{own}/", "data:", "about:"))] == []
    assert [address for address in asked if address.endswith((".css", ".js"))] == []
    assert browser.messages() == []  # of the policy neither


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


def test_a_cell_of_the_map_shows_what_ran(browser: Browser, plain_browser: Browser, pages: dict[str, Path]) -> None:
    """A click, or the keyboard, opens the programs of that chip and hides others; so does the address."""
    shown = "return [...document.querySelectorAll('[open] > .evidence')].map((part) => part.id)"
    browser.open(pages["proofs"])
    names = browser.run("return [...document.querySelectorAll('.evidence')].map((part) => part.id)")
    for keys in (False, True):
        cell = browser.driver.find_element("css selector", f"[data-proof]:has([id='{names[1 + keys]}'])")
        summary = cell.find_element("tag name", "summary")
        summary.send_keys(Keys.ENTER) if keys else summary.click()
        assert browser.run(shown) == [names[1 + keys]]
        assert "A Processor" in cell.find_element("class name", "evidence").text
        assert browser.run("return location.hash") == f"#{names[1 + keys]}"
    browser.driver.find_element("css selector", "[open] [data-close]").click()
    assert browser.run(shown) == []
    browser.run("location.hash = arguments[0]", names[0])
    WebDriverWait(browser.driver, 10).until(lambda _: browser.run(shown) == names[:1])
    browser.driver.find_element("tag name", "body").send_keys(Keys.ESCAPE)
    assert (browser.run(shown), browser.run("return document.activeElement.tagName")) == ([], "SUMMARY")
    for each in (browser, plain_browser):  # without a script the browser opens it by itself
        each.open(pages["proofs"], suffix=f"#{names[2]}")
        assert each.run(shown) == names[2:3]


def test_a_wheel_is_installed_from_this_index(browser: Browser, pages: dict[str, Path], index: Path) -> None:
    """Its page has the commands with the address."""
    browser.open(pages["wheel"])
    uv, pip = (part.text for part in browser.driver.find_elements("css selector", ".install code"))
    assert f"--default-index {index.resolve().as_uri()}/ " in uv
    assert f"--index-url {index.resolve().as_uri()}/ " in pip


def test_the_theme_can_be_switched(browser: Browser, pages: dict[str, Path]) -> None:
    """A button says what it brings, and what was chosen holds on the next page."""
    browser.open(pages["install"])
    button = browser.driver.find_element("css selector", ".theme")
    assert button.text == "Dark"
    button.click()
    assert (button.text, browser.run("return getComputedStyle(document.body).colorScheme")) == ("Light", "dark")
    browser.open(pages["wheel"])
    assert browser.driver.find_element("css selector", ".theme").text == "Light"
    browser.driver.find_element("css selector", ".theme").click()
