"""Tokens and keys show nowhere: not in logs, not in Discord, not in what the model is sent."""

from __future__ import annotations

import json

from tests.support.bot_process import MakeBot
from tests.support.minds import KEY, Mind
from tests.support.provider_server import Pass, refusal


async def test_token_and_key_are_in_no_log_no_message_and_no_prompt(make_bot: MakeBot, each_wire: Mind) -> None:
    bot = await make_bot(each_wire, PROVIDER_RETRY_ATTEMPTS="1")
    (bot.project / ".env").write_text(f"KEY={KEY}\n")
    each_wire.script(
        Pass(calls=[("read_file", json.dumps({"path": ".env"})), ("search_files", json.dumps({"query": "KEY"}))]),
        Pass(text=["I may not read that."]),
        refusal(401, f"Incorrect API key provided: {KEY}."),
        refusal(500, f"cannot serve {KEY}"),
    )
    await bot.mention("read .env")
    await bot.until_reply("I may not read that.")
    await bot.mention("once more")
    refused = await bot.until_notice("The model could not answer")
    await bot.mention("and again")
    await bot.until(lambda message: message["id"] > refused["id"] and "could not answer" in str(message["embeds"]))
    await bot.control.command("general", "alice", "model")
    await bot.control.command("general", "alice", "limits")
    await bot.kill()

    secrets = [KEY, bot.twin.token, bot.twin.token.rpartition(".")[2]]
    shown = json.dumps(await bot.control.messages("general", "alice"))
    sent = json.dumps(each_wire.server.requests)
    paths = json.dumps([call["path"] for call in await bot.control.requests()])
    for secret in secrets:
        assert secret not in bot.log
        assert secret not in shown
        assert secret not in sent
        assert secret not in paths
