# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The release pages in a real browser, from the disk: the picker, both themes, a phone's width, accessibility."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

from browser import Browser, explain_missing, fetch_axe, find_browser, start_browser
from jaxlib_select.facts import known_releases
from pjrtwheel.products.index import write_index
from pjrtwheel.products.index.release_pages.picker import INDEX, PYTHON, quote
from release_index import make_release_dist

pytestmark = [pytest.mark.integration, pytest.mark.slow]

PHONE, DESKTOP = 360, 1280
OPEN_ALL = "for (const part of document.querySelectorAll('details')) { part.hidden = false; part.open = true; }"
KINDS = ("install", "proofs", "sizes", "wheels", "wheel", "older", "older-install")
SHOWN = """
const form = document.querySelector("form");
const choose = (name, value) => { form.elements[name].value = value; form.dispatchEvent(new Event("input")); };
return arguments[0].map((fields) => {
  for (const [name, value] of Object.entries(fields)) choose(name, value);
  const text = (selector) => [...document.querySelectorAll(`.answer ${selector}`)].map((part) => part.textContent);
  return [text("h2"), text(".why"), text("pre code"), text(".note"), text(".check code"), text(":is(dt, dd)")];
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
    first = {"wheel": "jaxlib_*", "older": "proofs-*", "older-install": "install-*"}
    found = {name: min(folder.glob(f"{pattern}.html")) for name, pattern in first.items()}
    return {"install": index / "about.html", **listed, **found}


@pytest.mark.parametrize("name", ["install", "older-install"])
def test_the_picker_shows_the_row_of_its_table(
    browser: Browser, pages: dict[str, Path], index: Path, name: str
) -> None:
    """For everything on offer, with the address of the index, whatever was chosen before."""
    browser.open(pages[name])
    systems = json.loads(browser.run("return document.getElementById('picker-data').textContent"))["systems"]
    address = quote(f"{index.resolve().as_uri()}/")
    fields, expected = [], []
    for number, system in enumerate(systems):
        python = system["pythons"][-1]
        for package in system["packages"]:
            for row in package["answers"]:
                for kind, commands in package["commands"].items():
                    installer, environment = kind.split()
                    chosen = {"system": str(number), "accelerator": row["accelerator"], "choice": row["choice"]}
                    fields.append({**chosen, "python": python, "installer": installer, "environment": environment})
                    lines = commands.replace(PYTHON, python).replace(INDEX, address)
                    notes = [f"{note[0].upper()}{note[1:]}." for note in row["notes"]]
                    others = [text for other in row["others"] for text in other]
                    why, check = f"{row['backend']}: {row['reason']}.", package["checks"][environment]
                    expected.append([[package["title"]], [why], [lines], notes, [check], others])
    assert len(expected) > 300
    assert browser.run(SHOWN, fields) == expected
    assert browser.messages() == []


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
    assert [address for address in asked if address.endswith((".css", ".js"))] == []
    assert browser.messages() == []  # of the policy neither


def test_a_script_that_is_not_the_pages_own_does_not_run(browser: Browser, pages: dict[str, Path]) -> None:
    """Neither an element nor a handler, should either ever get into a page; the console says so."""
    browser.open(pages["install"])
    browser.run("document.body.insertAdjacentHTML('beforeend', '<b id=own onclick=\"ran = 1\">b</b>'); own.click();")
    element = "const part = document.createElement('script'); part.textContent = 'ran = 2'; document.body.append(part);"
    assert browser.run(f"{element} return typeof ran") == "undefined"
    assert ["Content Security Policy" in message for message in browser.messages()] == [True, True]


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
