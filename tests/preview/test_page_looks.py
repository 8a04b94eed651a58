"""What the page looks like where that can be measured: a phone's width, colours of people."""

from __future__ import annotations

import pytest

from bot.preview.clock import Clock
from bot.preview.seed import AVATAR_COLOURS, build
from bot.preview.snowflake import Snowflakes
from bot.preview.world import World
from tests.support.page_stage import Stage

FIELDS = [{"name": name, "value": "a value of some words", "inline": True} for name in ("One", "Two", "Three")]


@pytest.mark.browser
@pytest.mark.parametrize(("width", "columns"), [(390, 1), (480, 1), (1200, 3)])
async def test_inline_fields_are_stacked_on_a_phone(stage: Stage, width: int, columns: int) -> None:
    await stage.tab.set_viewport_size({"width": width, "height": 800})
    message = await stage.post(embeds=[{"title": "Card", "fields": FIELDS}])
    await stage.show()
    await stage.message(message).wait_for()
    boxes = (
        await stage.message(message)
        .locator(".embed-field")
        .evaluate_all("nodes => nodes.map((node) => node.getBoundingClientRect()).map((box) => [box.left, box.right])")
    )
    assert len({left for left, _ in boxes}) == columns
    assert all(0 <= left < right <= width for left, right in boxes)


@pytest.mark.browser
async def test_a_sticker_is_drawn_with_its_name(stage: Stage) -> None:
    sticker = next(one for one in stage.twin.backend.world.stickers if one.name == "Wave")
    await stage.show()
    message = await stage.post(sticker_ids=[sticker.id])
    await stage.message(message).get_by_role("img", name="Sticker: Wave").wait_for()


@pytest.mark.browser
async def test_people_have_different_colours(stage: Stage) -> None:
    await stage.show()
    said = [await stage.say(name, "hello") for name in ("owner", "alice", "bob")]
    await stage.message(said[-1]).wait_for()
    colours = {
        await stage.message(one).locator(".avatar").evaluate("node => getComputedStyle(node).backgroundColor")
        for one in said
    }
    assert len(colours) == 3


def test_people_of_a_seed_go_through_the_colours_in_turn() -> None:
    names = [f"person{number}" for number in range(12)]
    seed = {
        "guilds": [
            {"name": "G", "owner": names[0], "roles": [], "channels": [], "members": [{"name": n} for n in names]}
        ]
    }
    world = World()
    build(world, Snowflakes(Clock()), "2026-01-01T00:00:00+00:00", seed, "Bot")
    ids = [int(user.id) for user in world.users if not user.bot]
    assert [number % AVATAR_COLOURS for number in ids] == [place % AVATAR_COLOURS for place in range(12)]
