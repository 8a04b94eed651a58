"""The world outlives the twin: what was answered is on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import discord
import pytest

from bot.preview import store
from bot.preview.seed import SeedError
from bot.preview.server import Twin
from bot.preview.store import Log
from tests.support.control import ControlClient
from tests.support.discord_bot import Bot, running
from tests.support.twin import MakeTwin


async def test_all_that_was_said_and_done_is_there_after_a_restart(
    make_twin: MakeTwin, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await make_twin(rate_limits=False)
    async with ControlClient(first.url) as control, running(first, monkeypatch) as bot:

        async def pressed(press: discord.Interaction[Bot]) -> None:
            await press.response.send_message("only for alice", ephemeral=True)

        bot.pressed = pressed
        view = discord.ui.View(timeout=None).add_item(discord.ui.Button(label="Go", custom_id="go"))
        file = discord.File(__file__, filename="a.py")
        message = await bot.channel("general").send("kept", view=view, file=file)
        await message.edit(content="kept and edited")
        await message.add_reaction("✅")
        gone = await bot.channel("general").send("gone")
        await gone.delete()
        await control.set_roles("bob", "Approver")
        await control.click(str(message.id), "alice", "Go")
        bot.tree.command(name="hello", description="Says hello")(_hello)
        await bot.tree.sync()
        before = [await control.messages("general", viewer) for viewer in ("alice", "bob")]
        world = await control.world()
    await first.close()

    second = await make_twin(rate_limits=False)
    assert second.token == first.token
    async with ControlClient(second.url) as control:
        after = [await control.messages("general", viewer) for viewer in ("alice", "bob")]
        assert _without_port(after, second) == _without_port(before, first)
        again = await control.world()
        assert again["guilds"] == world["guilds"]
        assert [command["name"] for command in again["commands"]] == ["hello"]
        async with control.session.get(after[0][0]["attachments"][0]["url"]) as response:
            assert await response.read() == Path(__file__).read_bytes()
        fresh = await control.say("general", "alice", "later")
        assert int(fresh["id"]) > max(int(message["id"]) for message in after[0])


async def test_an_interaction_can_be_followed_up_after_the_twin_was_restarted(
    make_twin: MakeTwin, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await make_twin(rate_limits=False)
    presses: list[discord.Interaction[Bot]] = []
    async with ControlClient(first.url) as control, running(first, monkeypatch) as bot:

        async def pressed(press: discord.Interaction[Bot]) -> None:
            presses.append(press)
            await press.response.defer(thinking=True, ephemeral=True)

        bot.pressed = pressed
        view = discord.ui.View(timeout=None).add_item(discord.ui.Button(label="Go", custom_id="go"))
        message = await bot.channel("general").send("press", view=view)
        await control.click(str(message.id), "alice", "Go")
    await first.close()
    second = await make_twin(rate_limits=False)
    async with ControlClient(second.url) as control, running(second, monkeypatch) as bot:
        hook = discord.Webhook.partial(presses[0].application_id, presses[0].token, session=control.session, client=bot)
        await hook.send("done")
        assert [m["content"] for m in await control.messages("general", "alice")] == ["press", "done"]


async def test_a_restart_of_the_twin_alone_is_survived_by_the_bot(
    make_twin: MakeTwin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discord.backoff.ExponentialBackoff, "delay", lambda _: 0.01)
    first = await make_twin(rate_limits=False)
    port = int(first.url.rsplit(":", 1)[1])
    async with running(first, monkeypatch) as bot:
        bot.ready.clear()
        await first.close()
        second = Twin(data_dir=first.data_dir, rate_limits=False)
        await second.start(port=port)
        try:
            await bot.ready.wait()
            async with ControlClient(second.url) as control:
                await control.say("general", "alice", "welcome back")
            assert (await bot.hear()).content == "welcome back"
        finally:
            await second.close()


async def test_two_twins_never_share_a_port(twin: Twin) -> None:
    other = Twin()
    with pytest.raises(OSError, match="address already in use"):
        await other.start(port=int(twin.url.rsplit(":", 1)[1]))
    await other.close()


async def test_two_twins_never_share_a_data_folder(twin: Twin) -> None:
    other = Twin(data_dir=twin.data_dir)
    with pytest.raises(OSError, match="in use"):
        await other.start()


@pytest.mark.parametrize("seed", [{}, {"guilds": [{"name": "x"}]}, {"guilds": 3}])
async def test_a_seed_that_describes_no_world_says_so_and_leaves_nothing(seed: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(SeedError, match="seed"):
        await Twin(seed=seed, data_dir=tmp_path).start()
    fresh = Twin(data_dir=tmp_path)
    await fresh.start()
    assert [guild.name for guild in fresh.backend.world.guilds] == ["Preview"]
    await fresh.close()


def test_a_torn_last_line_was_never_answered(tmp_path: Path) -> None:
    path = tmp_path / "world.jsonl"
    log = Log(path)
    log.open(lambda: [("user", "1", {"id": "1"})])
    log.append("user", "2", {"id": "2"})
    log.append("user", "1", None)
    log.close()
    path.write_bytes(path.read_bytes() + b'["user","3",{"id"')
    assert list(Log(path).read()) == [("user", "1", {"id": "1"}), ("user", "2", {"id": "2"}), ("user", "1", None)]


async def test_a_change_is_on_disk_before_it_is_answered(twin: Twin, control: ControlClient) -> None:
    told = await control.say("general", "alice", "x")
    assert twin.data_dir is not None
    written = list(Log(twin.data_dir / "world.jsonl").read())
    assert ("message", told["id"]) in [(table, key) for table, key, _ in written]


def test_a_log_that_has_grown_far_is_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "REWRITE_BYTES", 1000)
    log, state = Log(tmp_path / "world.jsonl"), {"1": 0}
    log.open(lambda: [("user", key, value) for key, value in state.items()])
    for number in range(1000):
        state["1"] = number
        log.append("user", "1", number)
    log.close()
    assert (tmp_path / "world.jsonl").stat().st_size < 2000
    assert list(Log(tmp_path / "world.jsonl").read())[-1] == ("user", "1", 999)


async def _hello(press: discord.Interaction[Bot]) -> None:
    await press.response.send_message("hello")


def _without_port(value: Any, twin: Twin) -> Any:
    """Addresses of attachments name the port, which is another one after a restart."""
    if isinstance(value, str):
        return value.removeprefix(twin.url)
    if isinstance(value, list):
        return [_without_port(item, twin) for item in value]
    if isinstance(value, dict):
        return {key: _without_port(item, twin) for key, item in value.items()}
    return value
