# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The documentation of this repository: it builds without a warning, and its pages load nothing from elsewhere."""

import re
from pathlib import Path
from urllib.parse import quote

import pytest
from selenium.webdriver.support.wait import WebDriverWait

from browser import Browser
from pjrtwheel.docs.site import build_site

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def site(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site."""
    output = tmp_path_factory.mktemp("docs") / "site"
    build_site(root, output)
    return output


def test_options_keep_their_two_dashes(site: Path) -> None:
    """No page shows `--dist` with one long dash, which nobody can copy."""
    pages = {path.name: path.read_text("utf-8") for path in site.rglob("*.html")}
    assert [name for name, text in pages.items() if re.search(r"\N{EN DASH}[a-z]", text)] == []


def test_a_button_copies_the_command_of_one_installer(site: Path) -> None:
    """Of pip or of uv, never both."""
    blocks = [
        re.sub(r"<[^>]+>", "", block)
        for page in site.rglob("*.html")
        for block in re.findall(r'<div class="highlight"><pre>(.*?)</pre>', page.read_text("utf-8"), re.DOTALL)
    ]
    uv = [block for block in blocks if re.search(r"^\$ uv ", block, re.MULTILINE)]
    assert [block for block in uv if re.search(r"^\$ (python\S* -m )?pip ", block, re.MULTILINE)] == []
    assert len(uv) > 5


def test_no_link_downloads_a_page(site: Path) -> None:
    """What is Markdown in the repository is read on the site."""
    found = {path.name: re.findall(r'href="[^"]*\.md["#]', path.read_text("utf-8")) for path in site.rglob("*.html")}
    assert {name: links for name, links in found.items() if links} == {}


@pytest.mark.slow
def test_pictures_follow_the_theme_that_the_reader_chooses(site: Path, browser: Browser) -> None:
    """The two palettes of a picture depend on the colour scheme of its element."""
    browser.open(site / "index.html", dark=False)
    browser.run("document.querySelector('button.theme-toggle').click()")
    script = "return [document.body.dataset.theme, getComputedStyle(document.querySelector('article img')).colorScheme]"
    chosen, shown = browser.run(script)
    assert chosen in ("light", "dark")
    assert shown == chosen


@pytest.mark.slow
def test_nothing_is_cut_off_faint_or_loaded_from_elsewhere(site: Path, browser: Browser) -> None:
    """On every page, at both widths, in both themes; it works from a disk."""
    found = {}
    browser.requests()
    for page in sorted(site.rglob("*.html")):
        for width in (1280, 390):
            for dark in (False, True):
                browser.open(page, width=width, dark=dark)
                browser.keep_picture(f"docs-{page.stem}-{'dark' if dark else 'light'}-{width}")
                if faults := browser.faults():
                    found[page.name, width, dark] = faults
    assert found == {}
    asked = browser.requests()
    assert [address for address in asked if not address.startswith((site.as_uri(), "data:", "about:"))] == []
    assert len(asked) > 100


@pytest.mark.slow
def test_the_front_page_begins_with_the_picker(site: Path, browser: Browser) -> None:
    """With the index that the reader names, and JAX's own wheels without one."""
    lines = "return [...document.querySelectorAll('.answer > .steps code')].map((part) => part.textContent)"
    browser.open(site / "index.html", suffix="?gpu=t4&python=3.13&installer=pip&index=https://a.example/simple")
    assert browser.run("return document.querySelector('h1 + p + *').matches('[data-picker]')")
    make, install, check = browser.run(lines)
    assert make.startswith("python3.13 -m venv ")
    assert install.startswith("pip install --index-url https://a.example/simple/ jax==")
    assert check.startswith("python -m jaxlib_")
    states = "return [...document.querySelectorAll('.answer > h2 .state')].map((part) => part.textContent)"
    assert browser.run(states) == ["If your index has this release"]
    note = "return document.querySelector('.answer > .note:not(h2 ~ *)')?.textContent ?? ''"
    assert "https://a.example/simple" in browser.run(note), "a link may name anybody's index"
    type_in = "const field = document.querySelector('[name=index]'); field.value = arguments[0];"
    type_in += "field.dispatchEvent(new Event('input', { bubbles: true }));"
    browser.run(type_in, "https://me:secret@b.example/?x=ô")
    assert browser.run(lines)[1].startswith('pip install --index-url "https://me:secret@b.example/?x=%C3%B4/" jax==')
    assert browser.run(note) == ""
    for address, option in {"http://b.example:8000": " --trusted-host b.example", "http://localhost:8000": ""}.items():
        browser.run(type_in, address)
        assert browser.run(lines)[1].startswith(f"pip install --index-url {address}/{option} jax==")
    for bad in ("b.example/simple", "http://$(id)/", "http://x;id&`id`.example/", "ftp://b.example/"):
        browser.run(type_in, bad)
        assert "https://" in browser.run(note)
        assert browser.run(lines) == [], "JAX's own wheels are not what was asked for"
    assert "secret" not in browser.run("return location.href")
    browser.open(site / "index.html", suffix="?gpu=t4")
    assert browser.run(lines)[1].startswith('uv pip install "jax[')
    assert browser.run("return document.querySelector('[name=index]').value") == ""
    browser.open(site / "index.html", suffix="?gpu=mi300x&driver=7.0+to+7.2")
    headline = browser.run("return document.querySelector('.answer > h2').textContent")
    release = browser.run("return document.querySelector('[name=release]').value")
    assert re.fullmatch(rf".*JAX ([\d.]+), not {release}: jax\[rocm7-local\]==\1", headline)


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_the_answer_is_in_sight(site: Path, browser: Browser, width: int) -> None:
    """Without scrolling; on a phone, fields that seldom change are behind a button that says what is chosen."""
    browser.open(site / "index.html", width=width)
    assert browser.run("return document.querySelector('.answer > .steps').getBoundingClientRect().bottom") < 844
    field, more = (browser.driver.find_element("css selector", name) for name in ("[name=system]", "[data-more]"))
    assert (field.is_displayed(), more.is_displayed()) == (width > 500, width < 500)
    if width < 500:
        assert "Python 3." in more.text
        more.click()
        assert (field.is_displayed(), more.is_displayed()) == (True, False)


@pytest.mark.slow
def test_the_menu_shows_the_page_that_is_read(site: Path, browser: Browser) -> None:
    """Also where it is far down."""
    browser.open(site / "reference/json-documents.html")
    inside = "return arguments[0].map((name) => document.querySelector(name).getBoundingClientRect().bottom)"
    link, menu = browser.run(inside, [".sidebar-tree .current-page", ".sidebar-scroll"])
    assert 0 < link < menu
    assert browser.run("return scrollY") == 0


FIRST_RESULTS = """
const links = [...document.querySelectorAll("#search-results li > a")];
return links.length > 2 && links.slice(0, 3).map((link) => link.pathname);
"""


@pytest.mark.slow
def test_a_search_finds_the_page_that_people_want(site: Path, browser: Browser) -> None:
    """Among the first three results, from the disk."""
    wanted = {"install": "quick-start", "GPU not found": "gpu-ignored", "publish": "publish", "verify": "verify"}
    wanted |= {"jaxlib-cuda-13": "cuda13", "jaxlib-select": "selector"}
    for words, page in wanted.items():
        browser.driver.get(f"{(site / 'search.html').as_uri()}?q={quote(words)}")
        links = WebDriverWait(browser.driver, 30).until(lambda _: browser.run(FIRST_RESULTS))
        assert f"{page}.html" in {Path(link).name for link in links}, words
