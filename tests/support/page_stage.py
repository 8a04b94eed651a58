"""The preview page in a real browser, on a real twin, with a bot that answers what the test says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from playwright.async_api import Locator, Page
from yarl import URL

from bot.preview.server import Twin
from tests.support.raw_bot import RawBot
from tests.support.twin import MakeTwin

Json = dict[str, Any]


class Stage:
    """What a page test needs: the twin, the bot, the tab, and people who write."""

    def __init__(self, twin: Twin, bot: RawBot, tab: Page, http: aiohttp.ClientSession, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.twin = twin
        self.bot = bot
        self.tab = tab
        self._http = http
        self.channels: dict[str, str] = {}
        self.people: dict[str, str] = {}

    async def read_world(self) -> Json:
        world: Json = await self.control("GET", "/world")
        guild = world["guilds"][0]
        self.channels = {channel["name"]: channel["id"] for channel in guild["channels"]}
        self.people = {member["user"]["username"]: member["user"]["id"] for member in guild["members"]}
        return world

    async def control(self, method: str, path: str, body: object = None) -> Any:
        """One call of the control API; the twin's refusal fails the test."""
        async with self._http.request(method, f"{self.twin.url}/control{path}", json=body) as answer:
            value = await answer.json(content_type=None)
            assert answer.status < 300, value
            return value

    async def say(self, author: str, content: str, *, channel: str = "general", **fields: object) -> Json:
        message: Json = await self.control(
            "POST", "/messages", {"channel": channel, "author": author, "content": content, **fields}
        )
        return message

    async def post(self, content: str = "", *, channel: str = "general", **fields: object) -> Json:
        """The bot writes."""
        return await self.bot.post(self.channels[channel], content, **fields)

    async def show(self, viewer: str | None = None) -> None:
        """Open the page and wait until it is live."""
        await self.tab.goto(self.twin.url + (f"/?viewer={viewer}" if viewer else "/"))
        await self.box().wait_for()
        await self.tab.locator("body[data-live]").wait_for()

    async def restart(self) -> None:
        """Stop the twin and start another on the same port and data, as after a crash. The bot stays away."""
        port = URL(self.twin.url).port
        await self.twin.close()
        self.twin = Twin(data_dir=self.data_dir)
        await self.twin.start(port=port or 0)

    async def close(self) -> None:
        """Close the tab first, so that the twin has no open stream, then a twin that was started anew."""
        await self.tab.close()
        await self.twin.close()

    def box(self, label: str = "Message #general") -> Locator:
        return self.tab.get_by_role("textbox", name=label)

    @property
    def log(self) -> Locator:
        return self.tab.get_by_role("log")

    def message(self, which: Json | str) -> Locator:
        """A message's node: by the message object, or by a text that only it holds."""
        if isinstance(which, str):
            return self.log.locator(".message").filter(has_text=which)
        return self.log.locator(f".message[data-id='{which['id']}']")

    def content(self, which: Json | str) -> Locator:
        return self.message(which).locator(".content")


@pytest.fixture
async def stage(tab: Page, make_twin: MakeTwin, tmp_path: Path) -> AsyncIterator[Stage]:
    """A twin with its default world, a connected bot, and a tab that has not been opened yet."""
    data_dir = tmp_path / "page"
    twin = await make_twin(data_dir=data_dir)
    async with AsyncExitStack() as stack:
        bot = await stack.enter_async_context(RawBot(twin.api_base, twin.gateway_url, twin.token))
        http = await stack.enter_async_context(aiohttp.ClientSession())
        ready = Stage(twin, bot, tab, http, data_dir)
        stack.push_async_callback(ready.close)
        await ready.read_world()
        yield ready
