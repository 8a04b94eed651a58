"""Discord's JSON errors.

Source: https://discord.com/developers/docs/topics/opcodes-and-status-codes#json
"""

from __future__ import annotations

from bot.preview.values import Json


class DiscordError(Exception):
    """An answer that is not 2xx: HTTP status, Discord's code, its sentence, the tree of field errors, other fields."""

    def __init__(
        self, status: int, code: int, message: str, errors: Json | None = None, *, extra: Json | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.errors = errors
        self.extra = extra or {}

    def body(self) -> Json:
        """The JSON that goes out."""
        body: Json = {"message": self.message, "code": self.code, **self.extra}
        if self.errors:
            body["errors"] = self.errors
        return body


_KNOWN: dict[int, tuple[int, str]] = {
    10003: (404, "Unknown Channel"),
    10004: (404, "Unknown Guild"),
    10007: (404, "Unknown Member"),
    10008: (404, "Unknown Message"),
    10011: (404, "Unknown Role"),
    10013: (404, "Unknown User"),
    10014: (400, "Unknown Emoji"),
    10015: (404, "Unknown Webhook"),
    10060: (404, "Unknown Sticker"),
    10062: (404, "Unknown interaction"),
    10063: (404, "Unknown application command"),
    30003: (400, "Maximum number of pins reached for the channel (50)"),
    30010: (400, "Maximum number of reactions reached (20)"),
    30032: (400, "Maximum number of application commands reached (100)."),
    40005: (413, "Request entity too large"),
    40060: (400, "Interaction has already been acknowledged."),
    50001: (403, "Missing Access"),
    50003: (403, "Cannot execute action on a DM channel"),
    50005: (403, "Cannot edit a message authored by another user"),
    50006: (400, "Cannot send an empty message"),
    50007: (403, "Cannot send messages to this user"),
    50013: (403, "Missing Permissions"),
    50016: (400, "Provided too few or too many messages to delete. Must provide at least 2 and at most 100 messages."),
    50021: (403, "Cannot execute action on a system message"),
    50024: (400, "Cannot execute action on this channel type"),
    50027: (401, "Invalid Webhook Token"),
    50034: (400, "You can only bulk delete messages that are under 14 days old."),
    50081: (400, "Invalid sticker sent"),
    50083: (400, "Thread is archived"),
    50109: (400, "The request body contains invalid JSON."),
    160002: (400, "Cannot reply without permission to read message history"),
    160004: (400, "A thread has already been created for this message"),
}


def error(code: int) -> DiscordError:
    """The error of a code, with its usual status and sentence."""
    status, message = _KNOWN[code]
    return DiscordError(status, code, message)


def unauthorized() -> DiscordError:
    return DiscordError(401, 0, "401: Unauthorized")


def not_found() -> DiscordError:
    return DiscordError(404, 0, "404: Not Found")


def method_not_allowed() -> DiscordError:
    return DiscordError(405, 0, "405: Method Not Allowed")


class Problems:
    """Field errors of one request, gathered so that all of them are told at once (50035)."""

    def __init__(self) -> None:
        self._tree: Json = {}

    def add(self, path: tuple[str | int, ...], code: str, message: str) -> None:
        """Note what is wrong at `path`, such as `("embeds", 0, "title")`."""
        node = self._tree
        for part in path:
            node = node.setdefault(str(part), {})
        node.setdefault("_errors", []).append({"code": code, "message": message})

    def length(self, path: tuple[str | int, ...], value: object, low: int, high: int) -> bool:
        """Require a string of `low` to `high` code points; an absent value passes."""
        if value is None:
            return True
        if not isinstance(value, str):
            self.add(path, "STRING_TYPE_CONVERT", "Could not interpret value as string.")
        elif low and not value.strip():
            self.add(path, "BASE_TYPE_REQUIRED", "This field is required")
        elif len(value) > high and low:
            self.add(path, "BASE_TYPE_BAD_LENGTH", f"Must be between {low} and {high} in length.")
        elif len(value) > high:
            self.add(path, "BASE_TYPE_MAX_LENGTH", f"Must be {high} or fewer in length.")
        else:
            return True
        return False

    def required(self, path: tuple[str | int, ...], value: object, low: int, high: int) -> bool:
        """Like `length`, but an absent value is a problem too."""
        if value is None:
            self.add(path, "BASE_TYPE_REQUIRED", "This field is required")
            return False
        return self.length(path, value, low, high)

    def count(self, path: tuple[str | int, ...], items: list[object], low: int, high: int) -> None:
        """Require `low` to `high` items."""
        if not low <= len(items) <= high:
            code = "BASE_TYPE_MAX_LENGTH" if low == 0 else "BASE_TYPE_BAD_LENGTH"
            text = f"Must be {high} or fewer in length." if low == 0 else f"Must be between {low} and {high} in length."
            self.add(path, code, text)

    def raise_any(self) -> None:
        """Raise 50035 with the tree when anything was added."""
        if self._tree:
            raise DiscordError(400, 50035, "Invalid Form Body", self._tree)
