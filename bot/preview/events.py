"""What is told when something changes: the gateway's event, and the one for /control/events."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bot.preview.hub import Hub, Intent
from bot.preview.permissions import in_channel
from bot.preview.values import Channel, Interaction, Json, Member, Message
from bot.preview.wire import channel_object, emoji_object, member_object, user_object
from bot.preview.world import World

CONTENT_FIELDS: Json = {"content": "", "embeds": [], "attachments": [], "components": []}


class Events:
    """One method for each thing that can happen. Each is called after the change is written."""

    def __init__(self, world: World, hub: Hub, show: Callable[[Message], Json]) -> None:
        self._world = world
        self._hub = hub
        self._show = show

    def message_created(self, message: Message) -> Json:
        """Returns the message object, which is also the answer to the request that made it."""
        return self._message("message_create", "ephemeral_create", message)

    def message_updated(self, message: Message) -> Json:
        return self._message("message_update", "ephemeral_update", message)

    def message_deleted(self, message: Message) -> None:
        if message.viewer_id is not None:
            shown = {"channel_id": message.channel_id, "message_id": message.id, "viewer_id": message.viewer_id}
            self._hub.publish("ephemeral_delete", **shown, message=self.shown_to(message))
            return
        channel = self._world.channels.get(message.channel_id)
        if channel is None:
            return
        body = {"id": message.id, "channel_id": channel.id, **_guild(channel)}
        intent = _either(channel, Intent.GUILD_MESSAGES, Intent.DIRECT_MESSAGES)
        self._hub.dispatch("MESSAGE_DELETE", body, guild_id=channel.guild_id, intent=intent, channel=channel)
        self._hub.publish("message_delete", channel_id=channel.id, message_id=message.id)

    def messages_deleted(self, channel: Channel, message_ids: Sequence[str]) -> None:
        body = {"ids": list(message_ids), "channel_id": channel.id, **_guild(channel)}
        intent = Intent.GUILD_MESSAGES
        self._hub.dispatch("MESSAGE_DELETE_BULK", body, guild_id=channel.guild_id, intent=intent, channel=channel)
        for message_id in message_ids:
            self._hub.publish("message_delete", channel_id=channel.id, message_id=message_id)

    def reaction(self, *, added: bool, message: Message, user_id: str, emoji: str) -> None:
        channel = self._world.channels.get(message.channel_id)
        if channel is None:
            return
        body: Json = {
            "user_id": user_id,
            "channel_id": channel.id,
            "message_id": message.id,
            "emoji": emoji_object(emoji),
            "burst": False,
            "type": 0,
            **_guild(channel),
        }
        if added:
            body |= {"message_author_id": message.author_id, **self._member_of(channel, user_id, whole=True)}
        event = "MESSAGE_REACTION_ADD" if added else "MESSAGE_REACTION_REMOVE"
        intent = _either(channel, Intent.GUILD_MESSAGE_REACTIONS, Intent.DIRECT_MESSAGE_REACTIONS)
        self._hub.dispatch(event, body, guild_id=channel.guild_id, intent=intent, channel=channel)
        kind = "reaction_add" if added else "reaction_remove"
        where = {"channel_id": channel.id, "message_id": message.id}
        self._hub.publish(kind, **where, user_id=user_id, emoji=emoji_object(emoji))

    def reactions_cleared(self, channel: Channel, message: Message, emoji: str | None) -> None:
        """All reactions are gone, or those of one emoji."""
        body: Json = {"channel_id": channel.id, "message_id": message.id, **_guild(channel)}
        event = "MESSAGE_REACTION_REMOVE_ALL"
        if emoji is not None:
            event, body["emoji"] = "MESSAGE_REACTION_REMOVE_EMOJI", emoji_object(emoji)
        intent = _either(channel, Intent.GUILD_MESSAGE_REACTIONS, Intent.DIRECT_MESSAGE_REACTIONS)
        self._hub.dispatch(event, body, guild_id=channel.guild_id, intent=intent, channel=channel)
        self._hub.publish("message_update", channel_id=channel.id, message=self._show(message))

    def typing(self, channel: Channel, user_id: str, unix_time: int) -> None:
        body = {"channel_id": channel.id, "user_id": user_id, "timestamp": unix_time, **_guild(channel)}
        body |= self._member_of(channel, user_id, whole=True)
        intent = _either(channel, Intent.GUILD_MESSAGE_TYPING, Intent.DIRECT_MESSAGE_TYPING)
        self._hub.dispatch("TYPING_START", body, guild_id=channel.guild_id, intent=intent, channel=channel)
        self._hub.publish("typing", channel_id=channel.id, user_id=user_id)

    def channel(self, what: str, channel: Channel) -> None:
        """`what` is `create`, `update` or `delete`."""
        body = channel_object(self._world, channel)
        kind = "THREAD" if channel.is_thread else "CHANNEL"
        told = {**body, "newly_created": True} if channel.is_thread and what == "create" else body
        intent = _either(channel, Intent.GUILDS, Intent.NONE)
        self._hub.dispatch(f"{kind}_{what.upper()}", told, guild_id=channel.guild_id, intent=intent)
        self._hub.publish(f"channel_{what}", channel_id=channel.id, channel=body)

    def member_updated(self, member: Member) -> None:
        user = self._world.users.get(member.user_id)
        body = {**member_object(member, user), "guild_id": member.guild_id}
        intent = Intent.NONE if member.user_id == self._world.bot_id else Intent.GUILD_MEMBERS
        self._hub.dispatch("GUILD_MEMBER_UPDATE", body, guild_id=member.guild_id, intent=intent)
        self._hub.publish("member_update", guild_id=member.guild_id, user_id=member.user_id, member=body)

    def interaction(self, interaction: Interaction, ack: str) -> None:
        """The first acknowledgement, or `failed`."""
        where = {"channel_id": interaction.channel_id, "message_id": interaction.message_id}
        self._hub.publish("interaction", **where, interaction=interaction.id, viewer_id=interaction.user_id, ack=ack)

    def modal(self, interaction: Interaction, modal: Json) -> None:
        where = {"channel_id": interaction.channel_id, "viewer_id": interaction.user_id}
        self._hub.publish("modal", **where, interaction=interaction.id, modal=modal)

    def commands(self) -> None:
        """The registered commands have changed."""
        self._hub.publish("commands")

    def shown_to(self, message: Message) -> Json:
        """A message as control tells it: an ephemeral one says who sees it."""
        body = self._show(message)
        return {**body, "viewer_only": message.viewer_id} if message.viewer_id else body

    def _message(self, kind: str, ephemeral_kind: str, message: Message) -> Json:
        body = self._show(message)
        if message.nonce is not None:
            body["nonce"] = message.nonce
        if message.viewer_id is not None:
            shown = {**body, "viewer_only": message.viewer_id}
            where = {"channel_id": message.channel_id, "viewer_id": message.viewer_id}
            self._hub.publish(ephemeral_kind, **where, message=shown)
            return body
        channel = self._world.channels.get(message.channel_id)
        if channel is None:
            return body
        told = {**body, **_guild(channel), **self._member_of(channel, message.author_id), "channel_type": channel.type}
        if channel.guild_id:
            told["mentions"] = [{**user, **self._member_of(channel, user["id"])} for user in body["mentions"]]
        intent = _either(channel, Intent.GUILD_MESSAGES, Intent.DIRECT_MESSAGES)
        self._hub.dispatch(
            kind.upper(),
            told,
            guild_id=channel.guild_id,
            intent=intent,
            channel=channel,
            bare=None if self._always_read(channel, message) else {**told, **CONTENT_FIELDS},
        )
        self._hub.publish(kind, channel_id=channel.id, message=body)
        return body

    def _always_read(self, channel: Channel, message: Message) -> bool:
        """What a bot may read without the intent: its own messages, direct ones, and those that mention it."""
        bot_id = self._world.bot_id
        return channel.guild_id is None or message.author_id == bot_id or bot_id in message.mentions

    def _member_of(self, channel: Channel, user_id: str, *, whole: bool = False) -> Json:
        member = self._world.member(channel.guild_id, user_id)
        if member is None:
            return {}
        return {"member": member_object(member, self._world.users.get(user_id) if whole else None)}


def interaction_member(world: World, channel: Channel, user_id: str) -> Json:
    """Who pressed: a member with the permissions computed for the channel, or a user in a direct message."""
    user, member = world.users.get(user_id), world.member(channel.guild_id, user_id)
    if member is None or user is None:
        return {"user": user_object(user)} if user else {}
    return {"member": {**member_object(member, user), "permissions": str(in_channel(world, channel, user_id))}}


def _guild(channel: Channel) -> Json:
    return {"guild_id": channel.guild_id} if channel.guild_id else {}


def _either(channel: Channel, in_guild: int, direct: int) -> int:
    return in_guild if channel.guild_id else direct
