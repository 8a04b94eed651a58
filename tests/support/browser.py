"""A real Chromium for tests: one process a worker, one fresh context a test.

The process is started without an event loop, and each test connects to it from its own loop; so these fixtures go
together with any other. Register them with `pytest_plugins = ["tests.support.browser"]`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, Page, async_playwright, expect
from playwright.sync_api import Page as SyncPage
from playwright.sync_api import Route, sync_playwright

import bot.preview

PAGE_FILES = Path(bot.preview.__file__).parent / "page"
START_S = 60.0
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-extensions",
    "--mute-audio",
    "--remote-debugging-port=0",
)


def find_chromium() -> str | None:
    """The path of a Chromium: `CHROMIUM` from the environment, else the first of the usual names."""
    names = (os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next((path for name in names if name and (path := shutil.which(name))), None)


@pytest.fixture(scope="session")
def browser_process() -> Iterator[str]:
    """The DevTools address of a headless Chromium. Without one: an error in CI, else a skip that says so."""
    path = find_chromium()
    if path is None:
        if os.environ.get("CI"):
            pytest.fail("no Chromium found; CI has to install one (Debian: the package chromium)")
        pytest.skip("no Chromium found: install one, or name it in CHROMIUM")
    with tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True) as folder:
        log = Path(folder, "stderr.txt")
        with log.open("wb") as errors:
            arguments = [path, *FLAGS, f"--user-data-dir={folder}/profile", "about:blank"]
            process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors)
        try:
            yield _devtools_address(process, log, Path(folder, "profile", "DevToolsActivePort"))
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()


def _devtools_address(process: subprocess.Popen[bytes], log: Path, port_file: Path) -> str:
    """Chromium writes its port and path into a file once it listens."""
    tick = threading.Event()
    for _ in range(int(START_S / 0.05)):
        lines = port_file.read_text().splitlines() if port_file.exists() else []
        if len(lines) == 2:
            return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
        if process.poll() is not None:
            break
        tick.wait(0.05)
    pytest.fail(f"Chromium did not start:\n{log.read_text(errors='replace')[-2000:]}")


@pytest.fixture
async def context(browser_process: str) -> AsyncIterator[BrowserContext]:
    """A browser context of its own: no cookies or storage of another test."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(browser_process)
        try:
            fresh = await browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-US")
            fresh.set_default_timeout(20_000)
            expect.set_options(timeout=20_000)  # a busy machine; what is there is seen at once
            yield fresh
            await fresh.close()
        finally:
            await browser.close()


@pytest.fixture
async def tab(context: BrowserContext) -> AsyncIterator[Page]:
    """A tab. A script error in it, or a request to another host than this machine, fails the test."""
    page = await context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(f"script error: {error}"))
    page.on("request", lambda request: _note_foreign(request.url, problems))
    yield page
    assert problems == []


def _note_foreign(url: str, problems: list[str]) -> None:
    if not url.startswith(("http://127.0.0.1:", "http://localhost:", "data:", "about:", "blob:")):
        problems.append(f"asked for {url}")


@pytest.fixture(scope="module")
def page_modules(browser_process: str) -> Iterator[SyncPage]:
    """An empty tab that can import the preview page's modules from `/page/`, for tests without an event loop."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.connect_over_cdp(browser_process)
        fresh = browser.new_context(locale="en-US")
        page = fresh.new_page()
        page.route("http://127.0.0.1/**", _serve_module)
        page.goto("http://127.0.0.1/empty")
        yield page
        fresh.close()
        browser.close()


def _serve_module(route: Route) -> None:
    name = route.request.url.rsplit("/", 1)[-1]
    if name == "empty":
        route.fulfill(body="<!doctype html>", content_type="text/html")
    else:
        route.fulfill(path=PAGE_FILES / name)
