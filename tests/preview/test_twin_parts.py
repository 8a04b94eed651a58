"""Parts of the twin by themselves: what must hold for any input."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.preview import hub as hubs
from bot.preview.clock import Clock
from bot.preview.compression import packer
from bot.preview.errors import DiscordError
from bot.preview.files import Files, safe_name
from bot.preview.hub import Hub, Session
from bot.preview.mentions import resolve
from bot.preview.rest import router
from bot.preview.server import Twin
from bot.preview.values import Channel, User
from bot.preview.world import World
from tests.support.control import ControlClient
from tests.support.openapi import Counts, OpenApiValidator, description

ROUTER = router()
known = description()


@given(st.text(max_size=60))
def test_a_stored_file_name_has_no_path_in_it(filename: str) -> None:
    name = safe_name(filename)
    assert name
    assert not set(name) & set("/\\ \0")
    assert name not in (".", "..")


def test_only_an_id_names_a_file(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("files")
    (folder / "secret").write_text("x")
    files = Files(folder / "attachments")
    files.save("1", b"data")
    assert files.load("1") == b"data"
    assert files.load("../secret") is None
    assert files.load("2") is None


@given(st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE"]), st.text(max_size=80))
def test_any_path_finds_a_route_or_a_discord_error(method: str, path: str) -> None:
    try:
        route, _ = ROUTER.find(method, path)
    except DiscordError as problem:
        assert problem.status in (400, 404, 405)  # noqa: PT017
    else:
        assert route.method == method


def test_an_emoji_in_a_path_is_unquoted() -> None:
    _, params = ROUTER.find("PUT", "/channels/1/messages/2/reactions/%F0%9F%91%80/@me")
    assert params == {"channel_id": "1", "message_id": "2", "emoji_name": "👀"}


@given(st.lists(st.binary(max_size=2000), max_size=10), st.sampled_from(["zlib-stream", "zstd-stream"]))
def test_frames_unpack_to_what_was_packed(frames: list[bytes], name: str) -> None:
    import zlib

    import zstandard

    pack = packer(name)
    assert pack is not None
    context = zlib.decompressobj() if name == "zlib-stream" else zstandard.ZstdDecompressor().decompressobj()
    assert [context.decompress(pack(frame)) for frame in frames] == frames


@given(st.integers(0, 30), st.integers(0, 40))
def test_a_resume_repeats_exactly_what_was_missed(sent: int, sequence: int) -> None:
    session = Session(0, (0, 1))
    for number in range(sent):
        session.send("E", str(number).encode())
    assert session.can_resume(sequence) == (sequence <= sent)
    if session.can_resume(sequence):
        assert len(list(session.missed(sequence))) == sent - sequence


def test_what_is_no_longer_kept_cannot_be_resumed() -> None:
    session = Session(0, (0, 1))
    for _ in range(hubs.REPLAY_FRAMES + 2):
        session.send("E", b"0")
    assert not session.can_resume(1)
    assert session.can_resume(2)


async def test_a_watcher_that_never_reads_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hubs, "WATCHER_FRAMES", 3)
    hub = Hub(World(), Clock())
    slow = hub.watch()
    for _ in range(10):
        hub.publish("bot", online=True)
    received = [slow.get_nowait() for _ in range(slow.qsize())]
    assert received[-1] is None
    assert len(received) == 5


_IDS = ["1", "2", "3"]
_TEXT = st.lists(st.sampled_from([f"<@{one}>" for one in _IDS] + ["<@!1>", "<@&9>", "@everyone", "@here", "x"]))
_ALLOWED = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "parse": st.lists(st.sampled_from(["users", "roles", "everyone"])),
        "users": st.lists(st.sampled_from(_IDS)),
    },
)


@given(_TEXT, _ALLOWED)
def test_nobody_is_pinged_who_is_not_named_and_allowed(words: list[str], allowed: dict[str, list[str]] | None) -> None:
    world = World()
    for one in _IDS:
        world.users.put(User(id=one, username=one))
    channel = world.channels.put(Channel(id="5", type=1, recipient_id="1"))
    pinged = resolve(world, channel, "1", " ".join(words), allowed=allowed)
    named = {one for one in _IDS if f"<@{one}>" in words or (one == "1" and "<@!1>" in words)}
    may = set(_IDS) if allowed is None or "users" in allowed.get("parse", ()) else set(allowed.get("users", ()))
    assert set(pinged.users) == named & may
    assert (pinged.roles, pinged.everyone) == ([], False)


@pytest.mark.skipif(known is None, reason="Discord's OpenAPI description is not at hand")
async def test_an_answer_that_does_not_fit_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert known is not None
    validator = OpenApiValidator(known, Counts())
    twin = Twin(validator=validator)
    await twin.start()
    try:
        async with ControlClient(twin.url) as control:
            headers = {"Authorization": f"Bot {twin.token}"}
            address = f"{twin.api_base}/users/@me"
            async with control.session.get(address, headers=headers) as response:
                assert response.status == 200
            assert (validator.mismatches, validator.counts.answers) == ([], 1)
            monkeypatch.setattr("bot.preview.rest.users.self_object", lambda user: {"id": user.id})
            async with control.session.get(f"{address}?odd=1", headers=headers) as response:
                assert response.status == 200
    finally:
        await twin.close()
    told = " ".join(one.what for one in validator.mismatches)
    assert "odd is not described" in told
    assert "username" in told


async def test_closing_twice_is_safe_and_ends_the_streams() -> None:
    twin = Twin()
    await twin.start()
    async with ControlClient(twin.url) as control, control.events() as events:
        closing = asyncio.create_task(twin.close())
        assert [event async for event in events] == []
        await closing
    await twin.close()
