"""What every handler works with: the world, its clock, its ids, its files and the events that tell of a change."""

from __future__ import annotations

from bot.preview.clock import Clock
from bot.preview.events import Events
from bot.preview.files import Files
from bot.preview.hub import Hub
from bot.preview.interactions import Interactions
from bot.preview.nonces import Nonces
from bot.preview.rates import RateLimits
from bot.preview.snowflake import Snowflakes
from bot.preview.values import Json, Message
from bot.preview.wire import message_object
from bot.preview.world import World


class Backend:
    """One Discord. `base_url` is known once the server listens."""

    def __init__(self, *, world: World, clock: Clock, ids: Snowflakes, files: Files, rates: RateLimits) -> None:
        self.world = world
        self.clock = clock
        self.ids = ids
        self.files = files
        self.rates = rates
        self.base_url = ""
        self.closed_intents = 0
        self.hub = Hub(world, clock)
        self.events = Events(world, self.hub, self.show)
        self.interactions = Interactions(clock)
        self.nonces = Nonces(clock)

    def show(self, message: Message) -> Json:
        """A message as Discord's JSON."""
        return message_object(self.world, message, self.base_url)
