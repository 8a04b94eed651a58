"""Everything that exists: tables of values, looked up by id, written through to the log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any, Generic, TypeVar

from bot.preview.snowflake import Snowflakes
from bot.preview.store import Entry, Log
from bot.preview.values import (
    Application,
    Channel,
    Command,
    Emoji,
    Guild,
    Interaction,
    Member,
    Message,
    Role,
    Sticker,
    User,
    Webhook,
)

T = TypeVar("T")


class Table(Generic[T]):
    """Values of one kind by key. `put` replaces; nothing is ever changed in place."""

    def __init__(self, name: str, kind: type[T], log: Log | None, key: Callable[[T], str] | None = None) -> None:
        self.name = name
        self._kind = kind
        self._log = log
        self._key: Callable[[Any], str] = key or (lambda value: value.id)
        self._fields = {field.name for field in fields(kind)}  # type: ignore[arg-type]  # every kind is a dataclass
        self._values: dict[str, T] = {}

    def __iter__(self) -> Iterator[T]:
        return iter(self._values.values())

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def get(self, key: str) -> T | None:
        return self._values.get(key)

    def put(self, value: T) -> T:
        key = self._key(value)
        self._index(key, value)
        if self._log is not None:
            self._log.append(self.name, key, value)
        return value

    def remove(self, key: str) -> None:
        self._unindex(key)
        if self._log is not None:
            self._log.append(self.name, key, None)

    def load(self, key: str, value: dict[str, Any] | None) -> None:
        """Take over one entry of the log; fields of another version are left out."""
        if value is None:
            self._unindex(key)
        else:
            self._index(key, self._kind(**{name: item for name, item in value.items() if name in self._fields}))

    def _index(self, key: str, value: T) -> None:
        self._values[key] = value

    def _unindex(self, key: str) -> None:
        self._values.pop(key, None)


class Messages(Table[Message]):
    """Messages, also by channel and in the order in which they were written."""

    def __init__(self, log: Log | None) -> None:
        super().__init__("message", Message, log)
        self._channels: dict[str, dict[str, Message]] = {}

    def of(self, channel_id: str) -> dict[str, Message]:
        """The channel's messages by id, oldest first. Not to be changed."""
        return self._channels.get(channel_id, {})

    def remove_channel(self, channel_id: str) -> None:
        for message_id in list(self.of(channel_id)):
            self.remove(message_id)

    def _index(self, key: str, value: Message) -> None:
        super()._index(key, value)
        self._channels.setdefault(value.channel_id, {})[key] = value

    def _unindex(self, key: str) -> None:
        message = self.get(key)
        if message is not None:
            del self._channels[message.channel_id][key]
        super()._unindex(key)


def member_key(guild_id: str, user_id: str) -> str:
    return f"{guild_id}/{user_id}"


class World:
    """The tables, and the questions that are asked of more than one of them."""

    def __init__(self, log: Log | None = None) -> None:
        self._log = log
        self.applications = Table("application", Application, log)
        self.users = Table("user", User, log)
        self.guilds = Table("guild", Guild, log)
        self.roles = Table("role", Role, log)
        self.stickers = Table("sticker", Sticker, log)
        self.emojis = Table("emoji", Emoji, log)
        self.members = Table("member", Member, log, key=lambda m: member_key(m.guild_id, m.user_id))
        self.channels = Table("channel", Channel, log)
        self.messages = Messages(log)
        self.commands = Table("command", Command, log)
        self.webhooks = Table("webhook", Webhook, log)
        self.interactions = Table("interaction", Interaction, log)
        self.by_token: dict[str, str] = {}
        self.bot_id = ""
        self.token = ""

    @property
    def _tables(self) -> list[Table[Any]]:
        return [
            self.applications,
            self.users,
            self.guilds,
            self.roles,
            self.stickers,
            self.emojis,
            self.members,
            self.channels,
            self.messages,
            self.commands,
            self.webhooks,
            self.interactions,
        ]

    def load(self, ids: Snowflakes) -> None:
        """Read the log, then keep it open for what changes. Raises OSError when it cannot be written."""
        if self._log is None:
            return
        self._log.lock()
        tables = {table.name: table for table in self._tables}
        for name, key, value in self._log.read():
            if name in tables:
                tables[name].load(key, value)
        for table in self._tables:
            for value in table:
                if hasattr(value, "id"):
                    ids.seen(value.id)
        for application in self.applications:
            self.adopt(application)
        self.by_token = {interaction.token: interaction.id for interaction in self.interactions}
        self._log.open(self._entries)

    def adopt(self, application: Application) -> None:
        """Make this application the one bot of the world."""
        self.bot_id, self.token = application.id, application.token

    def close(self) -> None:
        if self._log is not None:
            self._log.close()

    @property
    def bot(self) -> User:
        bot = self.users.get(self.bot_id)
        if bot is None:
            msg = "the world has no bot; make it with seed.build"
            raise LookupError(msg)
        return bot

    def member(self, guild_id: str | None, user_id: str) -> Member | None:
        return self.members.get(member_key(guild_id, user_id)) if guild_id else None

    def members_of(self, guild_id: str) -> list[Member]:
        return [member for member in self.members if member.guild_id == guild_id]

    def roles_of(self, guild_id: str) -> list[Role]:
        return [role for role in self.roles if role.guild_id == guild_id]

    def stickers_of(self, guild_id: str) -> list[Sticker]:
        return [sticker for sticker in self.stickers if sticker.guild_id == guild_id]

    def emojis_of(self, guild_id: str) -> list[Emoji]:
        return [emoji for emoji in self.emojis if emoji.guild_id == guild_id]

    def channels_of(self, guild_id: str) -> list[Channel]:
        return [channel for channel in self.channels if channel.guild_id == guild_id]

    def direct_channel(self, user_id: str) -> Channel | None:
        """The direct message between the bot and a person, if it was ever opened."""
        return next((channel for channel in self.channels if channel.recipient_id == user_id), None)

    def _entries(self) -> Iterator[Entry]:
        for table in self._tables:
            for value in table:
                yield table.name, table._key(value), value
