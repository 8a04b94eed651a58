"""`/control`: JSON over HTTP for tests, benchmarks and the page."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any

import orjson
from aiohttp import web

from bot.preview import people, presses
from bot.preview.backend import Backend
from bot.preview.errors import DiscordError
from bot.preview.faults import FaultError, Faults
from bot.preview.gateway import Gateway
from bot.preview.lookup import ControlError, channel_of
from bot.preview.recorder import Recorder
from bot.preview.rest.channels import remove
from bot.preview.values import DM, Json
from bot.preview.wire import channel_object, command_object, member_object, role_object, self_object

KEEP_ALIVE_S = 15.0
_GATEWAY_FAULTS = "close, op7, op9 or refuse"

Work = Callable[[web.Request, Json], Awaitable[Any]]


class Control:
    """The handlers of `/control`. Each answers JSON; an error is `{"error": "one sentence"}`."""

    def __init__(
        self, backend: Backend, *, gateway: Gateway, faults: Faults, recorder: Recorder, moved: Callable[[float], None]
    ) -> None:
        self._backend = backend
        self._gateway = gateway
        self._faults = faults
        self._recorder = recorder
        self._moved = moved

    def routes(self) -> list[web.RouteDef]:
        """All of `/control`, for the application."""
        table: list[tuple[str, str, Work]] = [
            ("GET", "/world", self._world),
            ("GET", "/messages", self._messages),
            ("POST", "/messages", self._say),
            ("PATCH", "/messages/{id}", self._edit),
            ("DELETE", "/messages/{id}", self._delete),
            ("POST", "/reactions", self._react),
            ("POST", "/typing", self._typing),
            ("PATCH", "/members/{id}", self._member),
            ("POST", "/channels", self._new_channel),
            ("PATCH", "/channels/{id}", self._channel),
            ("DELETE", "/channels/{id}", self._remove_channel),
            ("POST", "/click", self._click),
            ("POST", "/modal", self._modal),
            ("POST", "/command", self._command),
            ("GET", "/requests", self._requests),
            ("POST", "/faults", self._fault),
            ("DELETE", "/faults", self._no_faults),
            ("POST", "/clock", self._clock),
        ]
        routes = [web.route(method, "/control" + path, _json(work)) for method, path, work in table]
        return [*routes, web.get("/control/events", self.events)]

    async def events(self, request: web.Request) -> web.StreamResponse:
        """`GET /control/events`: server-sent events, until the reader goes."""
        queue = self._backend.hub.watch()
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
        try:
            await response.prepare(request)
            await response.write(b": open\n\n")
            while True:
                try:
                    data = await asyncio.wait_for(queue.get(), KEEP_ALIVE_S)
                except TimeoutError:
                    data = b": still here\n\n"
                if data is None:
                    return response
                while not queue.empty() and len(data) < 1 << 16:
                    more = queue.get_nowait()
                    if more is None:
                        await response.write(data)
                        return response
                    data += more
                await response.write(data)
        except ConnectionError:
            return response
        finally:
            self._backend.hub.unwatch(queue)

    async def _world(self, _request: web.Request, _body: Json) -> Json:
        world = self._backend.world
        bot = {**self_object(world.bot), "token": self._backend.world.token, "online": self._backend.hub.online}
        guilds = [
            {
                "id": guild.id,
                "name": guild.name,
                "owner_id": guild.owner_id,
                "channels": [channel_object(world, channel) for channel in world.channels_of(guild.id)],
                "members": [member_object(m, world.users.get(m.user_id)) for m in world.members_of(guild.id)],
                "roles": [role_object(role) for role in world.roles_of(guild.id)],
            }
            for guild in world.guilds
        ]
        direct = [channel_object(world, channel) for channel in world.channels if channel.type == DM]
        commands = [command_object(command) for command in world.commands]
        now_ms = round(self._backend.clock.time() * 1000)
        return {"bot": bot, "guilds": guilds, "channels": direct, "commands": commands, "now_ms": now_ms}

    async def _messages(self, request: web.Request, _body: Json) -> list[Json]:
        channel = request.query.get("channel")
        if not channel:
            raise ControlError(400, "channel is missing")
        return people.messages(self._backend, channel, request.query.get("viewer"))

    async def _say(self, _request: web.Request, body: Json) -> Json:
        return people.say(self._backend, body)

    async def _edit(self, request: web.Request, body: Json) -> Json:
        return people.edit(self._backend, request.match_info["id"], body)

    async def _delete(self, request: web.Request, _body: Json) -> None:
        people.delete(self._backend, request.match_info["id"], request.query.get("author"))

    async def _react(self, _request: web.Request, body: Json) -> None:
        people.react(self._backend, body)

    async def _typing(self, _request: web.Request, body: Json) -> None:
        people.typing(self._backend, body)

    async def _member(self, request: web.Request, body: Json) -> Json:
        return people.change_member(self._backend, request.match_info["id"], body)

    async def _new_channel(self, _request: web.Request, body: Json) -> Json:
        return people.create_channel(self._backend, body)

    async def _channel(self, request: web.Request, body: Json) -> Json:
        return people.change_channel(self._backend, request.match_info["id"], body)

    async def _remove_channel(self, request: web.Request, _body: Json) -> Json:
        return remove(self._backend, channel_of(self._backend, request.match_info["id"]))

    async def _click(self, _request: web.Request, body: Json) -> Json:
        return await presses.click(self._backend, body)

    async def _modal(self, _request: web.Request, body: Json) -> Json:
        return await presses.submit(self._backend, body)

    async def _command(self, _request: web.Request, body: Json) -> Json:
        return await presses.command(self._backend, body)

    async def _requests(self, request: web.Request, _body: Json) -> list[Json]:
        since = request.query.get("since", "0")
        if not since.isdecimal():
            raise ControlError(400, "since is the seq of the last request that you have")
        return [asdict(record) for record in self._recorder.since(int(since))]

    async def _fault(self, _request: web.Request, body: Json) -> Json:
        match body.get("gateway"):
            case None:
                self._faults.add(body)
                return {"connections": 0}
            case "close":
                return {"connections": self._gateway.close_all(int(body.get("code", 1012)))}
            case "op7":
                return {"connections": self._gateway.reconnect_all()}
            case "op9":
                return {"connections": self._gateway.invalidate_all(resumable=bool(body.get("resumable", False)))}
            case "refuse":
                self._gateway.refuse = int(body.get("times", 1))
                return {"connections": 0}
            case other:
                raise ControlError(400, f"the gateway cannot {other}: name {_GATEWAY_FAULTS}")

    async def _no_faults(self, _request: web.Request, _body: Json) -> None:
        self._faults.clear()
        self._gateway.refuse = 0

    async def _clock(self, _request: web.Request, body: Json) -> Json:
        seconds = body.get("advance_s")
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds < 0:
            raise ControlError(400, "advance_s is a number of seconds, 0 or more")
        self._moved(float(seconds))
        self._backend.hub.publish("clock", now_ms=round(self._backend.clock.time() * 1000))
        return {"now": self._backend.clock.isoformat(), "offset_s": self._backend.clock.offset_s}


def _json(work: Work) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def handle(request: web.Request) -> web.Response:
        try:
            value = await work(request, await _body(request))
        except ControlError as problem:
            return _answer({"error": problem.sentence}, problem.status)
        except DiscordError as problem:
            return _answer({"error": problem.message, **problem.body()}, problem.status)
        except FaultError as problem:
            return _answer({"error": str(problem)}, 400)
        return web.Response(status=204) if value is None else _answer(value, 200)

    return handle


async def _body(request: web.Request) -> Json:
    if not request.can_read_body:
        return {}
    if request.content_type != "application/json":
        raise ControlError(415, "send the body as application/json")
    try:
        body = orjson.loads(await request.read())
    except orjson.JSONDecodeError:
        raise ControlError(400, "the body is not JSON") from None
    if not isinstance(body, dict):
        raise ControlError(400, "the body is a JSON object")
    return body


def _answer(value: Any, status: int) -> web.Response:
    return web.Response(status=status, body=orjson.dumps(value), headers={"Content-Type": "application/json"})
