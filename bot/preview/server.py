"""The twin itself: one HTTP server on loopback with REST, gateway, control and the page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from aiohttp import web

from bot.preview import rest
from bot.preview import seed as seeds
from bot.preview.api import Api, Validator
from bot.preview.assets import Assets
from bot.preview.backend import Backend
from bot.preview.clock import Clock
from bot.preview.control import Control
from bot.preview.faults import Faults
from bot.preview.files import Files
from bot.preview.gateway import Gateway
from bot.preview.rates import RateLimits
from bot.preview.recorder import Recorder
from bot.preview.snowflake import Snowflakes
from bot.preview.store import Log
from bot.preview.world import World

MAX_BODY_BYTES = 26 * 1024 * 1024
CLOSE_S = 2.0

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Twin:
    """A Discord on this machine.

    `data_dir` keeps the world over a restart; without it the world lives in memory. `seed` is the first world (see
    `seed.py`). `on_clock` holds callbacks that are told by how many seconds /control/clock has moved the time.
    """

    def __init__(
        self,
        *,
        data_dir: Path | None = None,
        seed: Mapping[str, Any] | None = None,
        clock: Clock | None = None,
        validator: Validator | None = None,
        rate_limits: bool = True,
        application_name: str = "Countersign",
    ) -> None:
        self.data_dir = data_dir
        self._seed = seed
        self._name = application_name
        self._runner: web.AppRunner | None = None
        self._port = 0
        self.clock = clock or Clock()
        self.on_clock: list[Callable[[float], None]] = []
        self.recorder = Recorder()
        self.faults = Faults()
        world = World(Log(data_dir / "world.jsonl") if data_dir else None)
        self.backend = Backend(
            world=world,
            clock=self.clock,
            ids=Snowflakes(self.clock),
            files=Files(data_dir / "attachments" if data_dir else None),
            rates=RateLimits(self.clock, enabled=rate_limits),
        )
        self.gateway = Gateway(self.backend)
        self._api = Api(self.backend, rest.router(), faults=self.faults, recorder=self.recorder, validator=validator)

    @property
    def url(self) -> str:
        """The page's address."""
        return self.backend.base_url

    @property
    def api_base(self) -> str:
        """For `discord.http.Route.BASE`."""
        return self.url + "/api/v10"

    @property
    def gateway_url(self) -> str:
        """For `discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY`."""
        return f"ws://127.0.0.1:{self._port}/gateway"

    @property
    def cdn_url(self) -> str:
        """For `discord.Asset.BASE`."""
        return self.url + "/cdn"

    @property
    def token(self) -> str:
        """The bot's token, which no Discord but this one takes."""
        return self.backend.world.token

    async def start(self, *, host: str = "127.0.0.1", port: int = 0) -> None:
        """Read the world and listen. Raises OSError when the port is taken or the data folder cannot be written,
        seed.SeedError when the seed cannot be used, and ValueError for a host that is not this machine alone."""
        if host not in ("127.0.0.1", "localhost"):
            msg = "the twin has no passwords, so it listens on 127.0.0.1 only"
            raise ValueError(msg)
        application = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=[self._guard])
        control = Control(
            self.backend, gateway=self.gateway, faults=self.faults, recorder=self.recorder, moved=self.advance
        )
        application.router.add_routes([*control.routes(), *Assets(self.backend).routes()])
        application.router.add_get("/gateway", self.gateway.handle)
        application.router.add_get("/gateway/", self.gateway.handle)
        application.router.add_route("*", "/api/{path:.*}", self._api.handle)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=CLOSE_S, handler_cancellation=False)
        await runner.setup()
        try:
            await web.TCPSite(runner, host, port).start()
            self._open_world()
        except BaseException:
            self.backend.world.close()
            await runner.cleanup()
            raise
        self._runner = runner
        self._port = runner.addresses[0][1]
        self.backend.base_url = f"http://127.0.0.1:{self._port}"

    async def close(self) -> None:
        """Let everybody go and stop listening. Safe to call twice."""
        self.backend.hub.close()
        self.backend.interactions.close()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
        self.backend.world.close()

    def advance(self, seconds: float) -> None:
        """Move the twin's time, and that of everybody in `on_clock`."""
        self.clock.advance(seconds)
        for callback in self.on_clock:
            callback(seconds)

    def _open_world(self) -> None:
        world = self.backend.world
        world.load(self.backend.ids)
        if not world.bot_id:
            seed = seeds.DEFAULT if self._seed is None else self._seed
            joined_at = self.clock.isoformat()
            seeds.build(
                World(), Snowflakes(self.clock), joined_at, seed, self._name
            )  # a bad seed leaves nothing on disk
            seeds.build(world, self.backend.ids, joined_at, seed, self._name)

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Only this machine's own pages and clients: a name that was made to point here is refused (DNS rebinding)."""
        own = {f"{name}:{self._port}" for name in ("127.0.0.1", "localhost")}
        origin = request.headers.get("Origin")
        if request.host not in own or (origin is not None and origin.removeprefix("http://") not in own):
            return web.json_response({"error": "this server answers only to its own page"}, status=403)
        if request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site") and request.path != "/":
            return web.json_response({"error": "this server answers only to its own page"}, status=403)
        return await handler(request)
