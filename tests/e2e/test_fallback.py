"""The first model breaks off and the second answers: one message, its reasons and its thoughts behind buttons."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.support.minds import KEY, Mind
from tests.support.provider_server import Pass, ScriptedProvider, refusal
from tests.support.stage import MakeStage, Stage, labels

CHAIN = "mind/scripted-1,spare/scripted-2"


@asynccontextmanager
async def spare(kind: str) -> AsyncIterator[tuple[ScriptedProvider, dict[str, str]]]:
    """A second model, and the settings that name it after the first."""
    async with ScriptedProvider(kind=kind, split=1) as server:
        settings = {"KIND": kind, "BASE_URL": server.base_url, "API_KEY": KEY, "MODEL": "scripted-2"}
        yield server, {f"PROVIDERS__SPARE__{name}": value for name, value in settings.items()} | {"MODEL_CHAIN": CHAIN}


async def broken_off(stage: Stage, first: Mind, second: ScriptedProvider) -> dict[str, object]:
    """The finished answer of the second model, after the first one hung up in the middle of its own."""
    first.script(Pass(text=["Half of a wro"], cut=True, hang_up=True))
    second.script([Pass(thinking=["I had better do it right."], text=["The whole answer."])])
    await stage.mention("what now?")
    return await stage.until_reply("The whole answer.")


async def test_the_answer_of_the_next_model_stands_alone_in_the_message(make_stage: MakeStage, each_wire: Mind) -> None:
    async with spare(each_wire.kind) as (server, environment):
        stage = await make_stage(each_wire, **environment)
        reply = await broken_off(stage, each_wire, server)
        assert [one["content"] for one in await stage.replies()] == ["The whole answer."]
        assert "spare/scripted-2" in str(reply["embeds"]) and "Half of" not in str(reply)
        assert labels(reply)[0] == "Details" and labels(reply)[1].startswith("Thoughts · ")
        await stage.idle()


async def test_reasons_and_thoughts_can_be_read_after_a_restart(make_stage: MakeStage, wire: Mind) -> None:
    async with spare(wire.kind) as (server, environment):
        stage = await make_stage(wire, **environment)
        reply = await broken_off(stage, wire, server)
        await stage.idle()
        await stage.restart()
        details, thoughts = labels(reply)
        told = await stage.control.click(reply, "bob", details)
        assert "mind/scripted-1" in str(told["message"]["embeds"]) and KEY not in str(told)
        told = await stage.control.click(reply, "bob", thoughts)
        assert told["message"]["embeds"][0]["description"] == "I had better do it right."


async def test_an_error_of_the_first_model_is_not_shown_when_the_second_answers(
    make_stage: MakeStage, wire: Mind
) -> None:
    async with spare(wire.kind) as (server, environment):
        stage = await make_stage(wire, **environment)
        wire.script(refusal(400, "no such model"))
        server.script([Pass(text=["Here."])])
        async with stage.control.events() as events:
            await stage.mention("what now?")
            await stage.until_reply("Here.")
            seen = []
            async for event in events:
                seen.append(str(event))
                if "Details" in seen[-1]:
                    break
        assert not any("could not answer" in one or "no such model" in one for one in seen)
