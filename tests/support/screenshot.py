"""`python -m tests.support.screenshot FILE`: a picture of the preview at the moment that shows what it is about."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from playwright.async_api import Page, ViewportSize, async_playwright, expect

from tests.support.browser import find_chromium
from tests.support.preview_process import preview

SIZE: ViewportSize = {"width": 1600, "height": 1000}
SCALE = 0.8  # the picture has 1280 by 800 pixels
PATIENCE_MS = 20_000


async def take(file: Path) -> None:
    """Play the story and save the picture. Raises RuntimeError without a Chromium."""
    chromium = find_chromium()
    if chromium is None:
        raise RuntimeError("no Chromium found: install one, or name it in CHROMIUM")
    with tempfile.TemporaryDirectory(prefix="preview-") as folder:
        async with preview(Path(folder)) as tried, async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = await browser.new_page(viewport=SIZE, device_scale_factor=SCALE, locale="en-US", timezone_id="UTC")
            page.set_default_timeout(PATIENCE_MS)
            expect.set_options(timeout=PATIENCE_MS)
            await page.goto(f"{tried.url}/?viewer=alice")
            await _story(page)
            await page.screenshot(path=file)
            await browser.close()


async def _story(page: Page) -> None:
    log = page.get_by_role("log")
    button = log.get_by_role("button", name="Approve", exact=True)
    await _say(page, "@Countersign what is in this folder?")
    await expect(log).to_contain_text("In this folder I see")
    await expect(log).to_contain_text("todo.txt")
    await expect(log.get_by_role("button", name="Stop")).to_have_count(0)
    await _say(page, "@Countersign write water the plants, twice to todo.txt")
    await expect(button).to_be_visible()
    await page.mouse.move(0, 0)


async def _say(page: Page, text: str) -> None:
    box = page.get_by_role("textbox", name="Message #general")
    await box.fill(text)
    await box.press("Enter")


if __name__ == "__main__":
    asyncio.run(take(Path(sys.argv[1])))
