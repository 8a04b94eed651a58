"""The README's picture: a question and a pending approval. `python -m tests.support.screenshot [FILE]`"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.async_api import Page, async_playwright, expect

from tests.support.browser import FLAGS, find_chromium

PICTURE = Path("docs/preview.png")
SIZE = {"width": 1280, "height": 960}


async def main(picture: Path) -> None:
    """Start the preview in a folder of its own, play the story through the page, save the picture."""
    with TemporaryDirectory() as folder:
        preview = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bot", "preview", "--port", "0", "--data", folder),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            assert preview.stdout is not None
            url = (await preview.stdout.readline()).decode().split()[-1]
            async with async_playwright() as playwright:
                browser = await playwright.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
                page = await browser.new_page(viewport=SIZE)  # type: ignore[arg-type]
                await page.goto(f"{url}/?viewer=alice")
                await _story(page)
                await page.screenshot(path=picture)
                await browser.close()
        finally:
            preview.terminate()
            await preview.wait()


async def _story(page: Page) -> None:
    expect.set_options(timeout=20_000)
    await expect(page.locator("body[data-live]")).to_be_visible()
    log = page.get_by_role("log")
    await _say(page, "@Countersign what is in this folder?")
    await expect(log.get_by_text("todo.txt")).to_be_visible()
    await expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    await _say(page, "@Countersign write Water the plants on Monday to notes.txt")
    await expect(page.get_by_role("button", name="Approve", exact=True)).to_be_visible()
    await expect(log.get_by_text("What would change")).to_be_visible()


async def _say(page: Page, text: str) -> None:
    box = page.get_by_role("textbox", name="Message #general")
    await box.fill(text)
    await box.press("Enter")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE))
