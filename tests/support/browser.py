# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A real browser for tests: Debian's Chromium, or Chrome, driven by Selenium through the driver of the system."""

import base64
import hashlib
import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.wait import WebDriverWait

_BROWSERS = ("chromium", "google-chrome", "chrome")
_WAIT_S = 30
_LOOKS = Path(__file__).parents[1] / "data/looks.js"
CONTRAST = 5.5  # of every text with its ground
OPEN_ALL = "for (const part of document.querySelectorAll('details')) { part.name = ''; part.open = true; }"
# Checks of accessibility, from the package index of npm; the digest is that of its tarball, in the form of npm.
_AXE = "axe-core@4.14.1"
_AXE_SHA512 = "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
SCREENSHOTS = "PJRTWHEEL_SCREENSHOTS"  # where pictures are kept; nowhere without it


@dataclass(frozen=True, slots=True)
class Browser:
    """A running browser.

    Attributes:
        driver: Selenium's.
    """

    driver: webdriver.Chrome

    def open(self, path: Path, *, width: int = 1280, dark: bool = False, suffix: str = "") -> None:
        """Show a file in a window of some width, in a light or dark theme; the suffix is a query or a fragment."""
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [theme]})
        self.driver.get("about:blank")  # a fragment alone would not load the page again
        address = path.resolve().as_uri() + suffix
        self.driver.get(address)
        # On a machine under load the driver may come back before the scripts of the page have run.
        loaded = "return document.readyState === 'complete' && location.href === arguments[0]"
        WebDriverWait(self.driver, _WAIT_S).until(lambda _: self.run(loaded, address))

    def run(self, script: str, *arguments: object) -> Any:
        """Return what a function body in JavaScript returns."""
        return self.driver.execute_script(script, *arguments)

    def faults(self) -> list[str]:
        """Return what is cut off, broken inside a word or faint on the page, with all of its parts open."""
        self.run(OPEN_ALL)
        return list(self.run(_LOOKS.read_text("utf-8"), CONTRAST))

    def messages(self) -> list[str]:
        """Return what the console said since the last call."""
        return [entry["message"] for entry in self._log("browser")]

    def requests(self) -> list[str]:
        """Return the addresses that were asked for since the last call."""
        events = [json.loads(entry["message"])["message"] for entry in self._log("performance")]
        sent = [event["params"] for event in events if event["method"] == "Network.requestWillBeSent"]
        return [params["request"]["url"] for params in sent]

    def _log(self, kind: str) -> list[dict[str, Any]]:
        """Return the entries of one of the driver's logs, which it gives once."""
        entries: list[dict[str, Any]] = self.driver.get_log(kind)  # type: ignore[no-untyped-call]
        return entries

    def violations(self, axe: str) -> list[str]:
        """Return what axe finds wrong with the page as it is, each with the elements that it is about."""
        self.run(axe)
        found = self.driver.execute_async_script(
            "const done = arguments[arguments.length - 1]; axe.run().then((result) => done(result.violations))"
        )
        return [f"{entry['id']}: {', '.join(str(node['target']) for node in entry['nodes'])}" for entry in found]

    def keep_picture(self, name: str) -> None:
        """Keep a picture of the whole page, if anybody wants them."""
        if folder := _pictures():
            size = self.run("const root = document.documentElement; return [root.clientWidth, root.scrollHeight]")
            clip = {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}
            options = {"captureBeyondViewport": True, "clip": clip}
            data = self.driver.execute_cdp_cmd("Page.captureScreenshot", options)["data"]
            (folder / f"{name}.png").write_bytes(base64.b64decode(data))


def _pictures() -> Path | None:
    """Return the folder for pictures, if anybody wants them."""
    if not os.environ.get(SCREENSHOTS):
        return None
    folder = Path(os.environ[SCREENSHOTS])
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def explain_missing() -> str:
    """Return why there is no browser, and leave that where pictures would be."""
    reason = "no Chromium with its driver here: apt-get install chromium chromium-driver"
    if folder := _pictures():
        (folder / "missing.txt").write_text(f"{reason}\n", "utf-8")
    return reason


def find_browser() -> tuple[str, str] | None:
    """Return the browser and its driver; nothing where either is missing."""
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    path = os.pathsep.join(filter(None, (os.environ.get("CHROMEWEBDRIVER"), os.environ.get("PATH"))))
    driver = shutil.which("chromedriver", path=path)
    return (browser, driver) if browser and driver else None


@contextmanager
def start_browser(browser: str, driver: str, *, script: bool = True) -> Iterator[Browser]:
    """Start a browser without a window, in which pages may run scripts or not, and end it."""
    options = Options()
    if not script:
        options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
    options.binary_location = browser
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    running = webdriver.Chrome(options=options, service=Service(driver))
    try:
        running.set_script_timeout(_WAIT_S)
        running.set_page_load_timeout(_WAIT_S)
        yield Browser(running)
    finally:
        running.quit()


def fetch_axe(folder: Path) -> str:
    """Return the source of axe, taken from npm's package index by its digest.

    Raises:
        FileNotFoundError: There is no npm.
        CalledProcessError: The package index has no answer.
        ValueError: It gave another file.
    """
    command = ["npm", "pack", _AXE, "--prefer-offline", "--silent", "--ignore-scripts"]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=120)
    tarball = folder / done.stdout.split()[-1]
    digest = base64.b64encode(hashlib.sha512(tarball.read_bytes()).digest()).decode()
    if digest != _AXE_SHA512:
        raise ValueError(f"{tarball.name} has sha512 {digest}, expected {_AXE_SHA512}")
    with tarfile.open(tarball) as archive:
        member = archive.extractfile("package/axe.min.js")
        return member.read().decode() if member else ""
