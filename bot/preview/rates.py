"""Discord's rate limits: a bucket for each route and major parameter, and the global one.

The numbers are those that Discord answers with today; it documents only that they are in the headers.
Source: https://discord.com/developers/docs/topics/rate-limits
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass

from bot.preview.clock import Clock
from bot.preview.values import Json

GLOBAL_LIMIT, GLOBAL_S = 50, 1.0
MANY_WINDOWS = 4096
OLD_MESSAGE_S, OLD_EDITS = 3600.0, 5  # edits an hour of a message older than one hour; Discord names no number


@dataclass(frozen=True, slots=True)
class Limit:
    """`limit` requests in `per_s` seconds, for each value of the `major` parameters."""

    limit: int
    per_s: float
    major: tuple[str, ...] = ("channel_id",)

    @property
    def bucket(self) -> str:
        return f"{self.limit}/{self.per_s}/{self.major}"


_MESSAGE = "/channels/{channel_id}/messages"
_REACTION = _MESSAGE + "/{message_id}/reactions"
_HOOK = "/webhooks/{webhook_id}/{webhook_token}"
_TOKEN = ("webhook_id", "webhook_token")
_REACT = Limit(1, 0.25)
_LIMITS: dict[tuple[str, str], Limit] = {
    ("POST", _MESSAGE): Limit(5, 5.0),
    ("PATCH", _MESSAGE + "/{message_id}"): Limit(5, 5.0),
    ("DELETE", _MESSAGE + "/{message_id}"): Limit(5, 1.0),
    ("POST", "/channels/{channel_id}/typing"): Limit(5, 5.0),
    ("PUT", _REACTION + "/{emoji_name}/@me"): _REACT,
    ("DELETE", _REACTION + "/{emoji_name}/@me"): _REACT,
    ("DELETE", _REACTION + "/{emoji_name}/{user_id}"): _REACT,
}
_OTHER = Limit(50, 1.0, ("channel_id", "guild_id", "webhook_id"))
_WEBHOOK = Limit(5, 2.0, _TOKEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The headers of the answer, the bucket's hash, and the 429 body when the request is refused."""

    headers: Mapping[str, str]
    bucket: str | None = None
    refused: Json | None = None


class RateLimits:
    """Counts requests in windows of the twin's clock. A refused request is not counted."""

    def __init__(self, clock: Clock, *, enabled: bool) -> None:
        self._clock = clock
        self._enabled = enabled
        self._windows: dict[str, tuple[float, int]] = {}

    def check(self, method: str, template: str, params: Mapping[str, str]) -> Verdict:
        """Count one request, or refuse it. Callbacks and follow-ups of interactions are outside the global limit."""
        if not self._enabled or template.startswith("/interactions/"):
            return Verdict(headers={})
        if not template.startswith(_HOOK):
            left_s = self._take("global", GLOBAL_LIMIT, GLOBAL_S)[1]
            if left_s is not None:
                return Verdict(headers=_refusal(left_s, "global"), refused=too_many(left_s, is_global=True))
        limit = _WEBHOOK if template.startswith(_HOOK) else _LIMITS.get((method, template), _OTHER)
        major = "/".join(params.get(name, "") for name in limit.major)
        shared = limit in (_REACT, _WEBHOOK)
        name = limit.bucket if shared else f"{method} {template}"
        bucket = hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()
        key = f"{bucket}:{major}"
        remaining, left_s = self._take(key, limit.limit, limit.per_s)
        after_s = max(self._windows[key][0] - self._clock.monotonic(), 0.001)
        headers = {
            "X-RateLimit-Limit": str(limit.limit),
            "X-RateLimit-Remaining": str(remaining),
            "X-RateLimit-Reset": f"{self._clock.time() + after_s:.3f}",
            "X-RateLimit-Reset-After": f"{after_s:.3f}",
            "X-RateLimit-Bucket": bucket,
        }
        if left_s is None:
            return Verdict(headers=headers, bucket=bucket)
        refused = too_many(left_s, is_global=False)
        return Verdict(headers={**headers, **_refusal(left_s, "user")}, bucket=bucket, refused=refused)

    def old_edit(self, message_id: str) -> float | None:
        """Count one edit of an old message; seconds to wait when there were too many."""
        return self._take(f"old:{message_id}", OLD_EDITS, OLD_MESSAGE_S)[1] if self._enabled else None

    def _take(self, key: str, limit: int, per_s: float) -> tuple[int, float | None]:
        """What remains, and how long to wait when nothing did."""
        now = self._clock.monotonic()
        reset_at, used = self._windows.get(key, (0.0, 0))
        if now >= reset_at:
            reset_at, used = now + per_s, 0
            if len(self._windows) > MANY_WINDOWS:
                self._windows = {name: window for name, window in self._windows.items() if window[0] > now}
        if used >= limit:
            return 0, reset_at - now
        self._windows[key] = (reset_at, used + 1)
        return limit - used - 1, None


def too_many(retry_after_s: float, *, is_global: bool) -> Json:
    """The body of a 429."""
    seconds = round(retry_after_s, 3)
    return {"message": "You are being rate limited.", "retry_after": seconds, "global": is_global, "code": 0}


def _refusal(left_s: float, scope: str) -> dict[str, str]:
    # discord.py takes a 429 without Via for a ban by the proxy before Discord, and does not retry it.
    headers = {"Retry-After": str(math.ceil(left_s)), "X-RateLimit-Scope": scope, "Via": "1.1 twin"}
    return {**headers, "X-RateLimit-Global": "true"} if scope == "global" else headers
