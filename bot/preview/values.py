"""What the twin's world is made of. Ids are strings, as in Discord's JSON; lists are never changed in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]  # one of Discord's objects, exactly as it goes over the wire

GUILD_TEXT, DM, PUBLIC_THREAD, PRIVATE_THREAD = 0, 1, 11, 12
THREADS = (10, PUBLIC_THREAD, PRIVATE_THREAD)

DEFAULT, PINS_ADD, THREAD_CREATED, REPLY, CHAT_INPUT_COMMAND, THREAD_STARTER = 0, 6, 18, 19, 20, 21
EDITABLE_TYPES = (DEFAULT, REPLY, CHAT_INPUT_COMMAND, 23)

SUPPRESS_EMBEDS, HAS_THREAD, EPHEMERAL, LOADING, SILENT, COMPONENTS_V2 = (
    1 << 2,
    1 << 5,
    1 << 6,
    1 << 7,
    1 << 12,
    1 << 15,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    id: str
    username: str
    global_name: str | None = None
    bot: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """The bot's application; its id is also the id of the bot's user."""

    id: str
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Guild:
    id: str
    name: str
    owner_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    id: str
    guild_id: str
    name: str
    permissions: int = 0
    position: int = 1
    mentionable: bool = False
    managed: bool = False
    color: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sticker:
    id: str
    guild_id: str
    name: str
    tags: str = ""
    description: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Emoji:
    id: str
    guild_id: str
    name: str

    @property
    def key(self) -> str:
        """How reactions name it."""
        return f"{self.name}:{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    guild_id: str
    user_id: str
    roles: Sequence[str] = ()
    nick: str | None = None
    joined_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A text channel, a direct message or a thread. `overwrites` are Discord's permission overwrite objects."""

    id: str
    type: int = GUILD_TEXT
    guild_id: str | None = None
    name: str = ""
    topic: str | None = None
    position: int = 0
    parent_id: str | None = None
    nsfw: bool = False
    rate_limit_per_user: int = 0
    overwrites: Sequence[Json] = ()
    recipient_id: str | None = None
    owner_id: str | None = None
    archived: bool = False
    locked: bool = False
    auto_archive_duration: int = 1440
    archive_timestamp: str | None = None

    @property
    def is_thread(self) -> bool:
        return self.type in THREADS


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message. `viewer_id` is set on an ephemeral one: only that person (and the bot's token) sees it."""

    id: str
    channel_id: str
    author_id: str
    timestamp: str
    type: int = DEFAULT
    content: str = ""
    edited_timestamp: str | None = None
    flags: int = 0
    tts: bool = False
    pinned: bool = False
    embeds: Sequence[Json] = ()
    components: Sequence[Json] = ()
    attachments: Sequence[Json] = ()
    stickers: Sequence[str] = ()
    mentions: Sequence[str] = ()
    mention_roles: Sequence[str] = ()
    mention_everyone: bool = False
    nonce: str | int | None = None
    webhook_id: str | None = None
    webhook_name: str | None = None
    application_id: str | None = None
    reference: Json | None = None
    interaction: Json | None = None
    reactions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    viewer_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A registered application command; `body` is what the bot sent, checked and completed."""

    id: str
    application_id: str
    guild_id: str | None
    version: str
    body: Json

    @property
    def name(self) -> str:
        return str(self.body["name"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    id: str
    channel_id: str
    guild_id: str
    name: str
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Interaction:
    """One press, pick, submit or command. `ack` is the callback type that answered it, once there is one.

    `message_id` is the message with the pressed component, `opener_id` the interaction whose modal was submitted.
    """

    id: str
    token: str
    type: int
    user_id: str
    channel_id: str
    name: str = ""
    message_id: str | None = None
    opener_id: str | None = None
    ack: int | None = None
    original_id: str | None = None
    modal: Json | None = None
