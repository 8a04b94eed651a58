"""Every documented limit: at it a message goes through, above it Discord says where it breaks."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.preview.component_limits import walk
from bot.preview.errors import DiscordError
from bot.preview.limits import check_message
from bot.preview.normal import components as numbered
from bot.preview.rest import callbacks, channels, commands, messages, threads, webhooks
from bot.preview.server import Twin
from tests.support.control import ControlClient

Json = dict[str, Any]


def button(**fields: Any) -> Json:
    return {"type": 2, "style": 2, "label": "Go", "custom_id": "go", **fields}


def row(*components: Json) -> Json:
    return {"type": 1, "components": list(components)}


def select(count: int, **fields: Any) -> Json:
    options = [{"label": f"l{number}", "value": f"v{number}"} for number in range(count)]
    return {"type": 3, "custom_id": "s", "options": options, **fields}


def rows(count: int) -> list[Json]:
    return [row(button(custom_id=f"b{number}")) for number in range(count)]


def field(name: int, value: int) -> Json:
    return {"fields": [{"name": "n" * name, "value": "v" * value}]}


def texts(count: int, length: int) -> Json:
    return {"flags": 1 << 15, "components": [{"type": 10, "content": "x" * length}] * count}


FITS: list[Json] = [
    {"content": "x" * 2000},
    {"content": "🎉" * 2000},
    {"embeds": [{"title": "t" * 256}]},
    {"embeds": [{"description": "d" * 4096}, {"description": "d" * 1904}]},
    {"embeds": [{"description": "d", "footer": {"text": "f" * 2048}, "author": {"name": "a" * 256}}]},
    {"embeds": [field(256, 1024)]},
    {"embeds": [{"fields": [{"name": "n", "value": "v"}] * 25}]},
    {"embeds": [{"title": "t"}] * 10},
    {"components": rows(5), "content": "x"},
    {"components": [row(*(button(custom_id=f"b{number}", label="l" * 80) for number in range(5)))], "content": "x"},
    {"components": [row(button(custom_id="c" * 100))], "content": "x"},
    {"components": [row(select(25, placeholder="p" * 150))], "content": "x"},
    texts(40, 100),
    {"content": "x", "nonce": "n" * 25},
]
BREAKS: list[tuple[Json, str, str]] = [
    ({"content": "x" * 2001}, "content", "BASE_TYPE_MAX_LENGTH"),
    ({"embeds": [{"title": "t" * 257}]}, "embeds.0.title", "BASE_TYPE_MAX_LENGTH"),
    ({"embeds": [{"description": "d" * 4097}]}, "embeds.0.description", "BASE_TYPE_MAX_LENGTH"),
    ({"embeds": [{"footer": {"text": "f" * 2049}}]}, "embeds.0.footer.text", "BASE_TYPE_MAX_LENGTH"),
    ({"embeds": [{"author": {"name": "a" * 257}}]}, "embeds.0.author.name", "BASE_TYPE_MAX_LENGTH"),
    ({"embeds": [field(257, 1)]}, "embeds.0.fields.0.name", "BASE_TYPE_BAD_LENGTH"),
    ({"embeds": [field(1, 1025)]}, "embeds.0.fields.0.value", "BASE_TYPE_BAD_LENGTH"),
    ({"embeds": [field(1, 0)]}, "embeds.0.fields.0.value", "BASE_TYPE_REQUIRED"),
    ({"embeds": [{"fields": [{"name": "n", "value": "v"}] * 26}]}, "embeds.0.fields", "BASE_TYPE_MAX_LENGTH"),
    ({"embeds": [{"title": "t"}] * 11}, "embeds", "BASE_TYPE_MAX_LENGTH"),
    ({"embeds": [{"description": "d" * 4096}, {"description": "d" * 1905}]}, "embeds", "MAX_EMBED_SIZE_EXCEEDED"),
    ({"embeds": [{"title": "t", "url": "ftp://x"}]}, "embeds.0.url", "URL_TYPE_INVALID_URL"),
    ({"components": rows(6)}, "components", "BASE_TYPE_MAX_LENGTH"),
    (
        {"components": [row(*(button(custom_id=f"b{n}") for n in range(6)))]},
        "components.0.components",
        "BASE_TYPE_BAD_LENGTH",
    ),
    ({"components": [row()]}, "components.0.components", "BASE_TYPE_BAD_LENGTH"),
    ({"components": [row(button(label="l" * 81))]}, "components.0.components.0.label", "BASE_TYPE_MAX_LENGTH"),
    ({"components": [row(button(custom_id="c" * 101))]}, "components.0.components.0.custom_id", "BASE_TYPE_BAD_LENGTH"),
    ({"components": [row(button(), button())]}, "components.0", "COMPONENT_CUSTOM_ID_DUPLICATED"),
    ({"components": [row(button(), select(1))]}, "components.0.components", "COMPONENT_LAYOUT_WIDTH_EXCEEDED"),
    ({"components": [row(select(26))]}, "components.0.components.0.options", "BASE_TYPE_BAD_LENGTH"),
    (
        {"components": [row(select(1, placeholder="p" * 151))]},
        "components.0.components.0.placeholder",
        "BASE_TYPE_MAX_LENGTH",
    ),
    ({"components": [{"type": 10, "content": "x"}]}, "components.0.type", "UNION_TYPE_CHOICES"),
    (texts(41, 1), "components", "BASE_TYPE_MAX_LENGTH"),
    (texts(2, 2001), "components", "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED"),
    ({**texts(1, 1), "content": "x"}, "content", "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2"),
    ({"nonce": "n" * 26}, "nonce", "BASE_TYPE_MAX_LENGTH"),
    ({"content": "x", "message_reference": {"message_id": "1"}}, "message_reference", "REPLIES_UNKNOWN_MESSAGE"),
    (
        {"content": "x", "allowed_mentions": {"parse": ["users"], "users": ["1"]}},
        "allowed_mentions",
        "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
    ),
]


async def post(twin: Twin, body: Any, path: str = "messages") -> tuple[int, Json]:
    headers = {"Authorization": f"Bot {twin.token}"}
    channel = next(channel.id for channel in twin.backend.world.channels)
    url = f"{twin.api_base}/channels/{channel}/{path}"
    async with aiohttp.ClientSession(headers=headers) as http, http.post(url, json=body) as response:
        return response.status, await response.json()


@pytest.mark.parametrize("body", FITS, ids="+".join)
async def test_what_is_at_the_limit_goes_through(body: Json, twin: Twin) -> None:
    status, answer = await post(twin, body)
    assert status == 200, answer


@pytest.mark.parametrize(("body", "path", "code"), BREAKS, ids=lambda value: value if isinstance(value, str) else "")
async def test_what_is_above_the_limit_is_told_with_its_path(body: Json, path: str, code: str, twin: Twin) -> None:
    status, answer = await post(twin, body)
    assert (status, answer["code"], answer["message"]) == (400, 50035, "Invalid Form Body")
    node = answer["errors"]
    for part in path.split("."):
        node = node[part]
    assert code in [problem["code"] for problem in node["_errors"]]


@pytest.mark.parametrize("body", [{}, {"content": ""}, {"content": " \n"}, {"embeds": []}, {"content": None}])
async def test_a_message_that_shows_nothing_is_refused(body: Json, twin: Twin) -> None:
    status, answer = await post(twin, body)
    assert (status, answer["code"]) == (400, 50006)


async def test_all_problems_are_told_at_once(twin: Twin) -> None:
    _, answer = await post(twin, {"content": "x" * 2001, "embeds": [{"title": "t" * 257}, field(257, 1025)]})
    assert set(answer["errors"]) == {"content", "embeds"}
    assert set(answer["errors"]["embeds"]) == {"0", "1"}


async def test_a_body_that_is_not_json_is_refused(twin: Twin) -> None:
    headers = {"Authorization": f"Bot {twin.token}", "Content-Type": "application/json"}
    url = f"{twin.api_base}/users/@me/channels"
    async with aiohttp.ClientSession(headers=headers) as http, http.post(url, data=b"{") as response:
        assert (response.status, (await response.json())["code"]) == (400, 50109)


async def test_an_upload_that_is_too_large_is_refused(twin: Twin, control: ControlClient) -> None:
    form = aiohttp.FormData({"payload_json": '{"content": "big"}'})
    form.add_field("files[0]", b"x" * (10 * 1024 * 1024 + 1), filename="big.bin")
    channel = next(channel.id for channel in twin.backend.world.channels)
    url = f"{twin.api_base}/channels/{channel}/messages"
    headers = {"Authorization": f"Bot {twin.token}"}
    async with control.session.post(url, data=form, headers=headers) as response:
        assert (response.status, (await response.json())["code"]) == (413, 40005)


_LISTS = ["embeds", "components", "parse", "users", "attachments", "fields", "options"]
_OBJECTS = ["allowed_mentions", "footer", "image", "accessory"]
_VALUES = ["content", "nonce", "flags", "title", "text", "url", "type", "style", "value", "label", "custom_id"]
_NAMES = st.sampled_from([*_LISTS, *_OBJECTS, *_VALUES])
_SCALARS = st.one_of(st.none(), st.booleans(), st.integers(0, 20), st.text(max_size=3))
_TREES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_NAMES, inner, max_size=4), max_leaves=12
)


@given(st.dictionaries(_NAMES, _TREES, max_size=5), st.sampled_from([0, 1 << 15]))
def test_no_body_can_break_the_check(body: Any, flags: int) -> None:
    told: DiscordError | None = None
    try:
        check_message(body, flags=flags)
    except DiscordError as problem:
        told = problem
    assert told is None or (told.code == 50035 and told.errors)


def _container(children: list[Json], own_id: int) -> Json:
    return {"type": 17, "id": own_id, "components": children}


@given(st.recursive(st.just([]), lambda inner: st.lists(st.builds(_container, inner, st.integers(0, 4)), max_size=4)))
def test_every_component_gets_an_id_of_its_own(tree: list[Json]) -> None:
    ids = [item["id"] for item in walk(numbered(tree, {}))]
    chosen = [item["id"] for item in walk(tree) if item["id"] > 0]
    assert all(one > 0 for one in ids)
    if len(set(chosen)) == len(chosen):
        assert len(set(ids)) == len(ids)


async def test_no_body_of_any_call_makes_the_twin_fail() -> None:
    odd: list[Any] = [
        None,
        [],
        3,
        "x",
        {"type": []},
        {"name": 3},
        {"messages": ["x", 3]},
        {"flags": "x"},
        [{"name": []}],
    ]
    odd += [{"data": 3, "type": 4}, {"permission_overwrites": [3]}, {"recipient_id": {}}, {"content": {}}]
    twin = Twin(rate_limits=False)  # without a validator: what is odd here does not fit the description either
    await twin.start()
    world = twin.backend.world
    channel = next(iter(world.channels))
    ids = {"channel_id": channel.id, "guild_id": channel.guild_id, "application_id": world.bot_id}
    try:
        async with aiohttp.ClientSession(headers={"Authorization": f"Bot {twin.token}"}) as http:
            for part in (callbacks, channels, commands, messages, threads, webhooks):
                for route in part.ROUTES:
                    path = route.template.format_map(defaultdict(lambda: "1", ids))
                    for body in odd if route.method != "GET" else [None]:
                        async with http.request(route.method, twin.api_base + path, json=body) as response:
                            assert response.status < 500, f"{route.method} {route.template} {body}"
                    world.channels.put(channel)
    finally:
        await twin.close()
