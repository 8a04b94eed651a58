"""How the values of settings are read: comma lists, ids, addresses, model chains, tool policies.

A value that cannot be read raises ValueError; people are shown the setting's own description of its form.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, AllowInfNan, BeforeValidator, SecretStr, StringConstraints
from pydantic_core import PydanticCustomError
from pydantic_settings import NoDecode

from pipeline.policy import Policy
from pipeline.providers import kinds
from pipeline.triggers import Trigger, compile_pattern

KINDS = kinds()
"""What a provider may be declared as."""
MOST_DIGITS = 12
TOO_LONG = "number_too_long"
"""The type of pydantic's error for a number of more than `MOST_DIGITS` digits."""

N = TypeVar("N", int, float, Decimal)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRef:
    """A provider by its name in the settings, and one of its models; an empty model is the provider's own."""

    provider: str
    model: str = ""

    def __str__(self) -> str:
        return f"{self.provider}/{self.model}" if self.model else self.provider


def _entries(value: object) -> object:
    """The entries of a comma list, or of a list in the settings file."""
    if isinstance(value, str):
        return tuple(entry for part in value.split(",") if (entry := part.strip()))
    return tuple(map(str, value)) if isinstance(value, list) else value


def _approver(value: str) -> str:
    if not re.fullmatch(r"\d{1,20}|requester|manage_guild", value, re.ASCII):
        raise ValueError("neither an id nor a known word")
    return value


def _chain(value: object) -> object:
    entries = _entries(value)
    if not isinstance(entries, tuple):
        return value
    pairs = [str(entry).partition("/") for entry in entries]
    if any(not provider or (slash and not model) for provider, slash, model in pairs):
        raise ValueError("an entry without its provider or its model")
    return tuple(ModelRef(provider=provider.strip().lower(), model=model.strip()) for provider, _, model in pairs)


def _policies(value: object) -> object:
    entries = _entries(value)
    if not isinstance(entries, tuple):
        return value
    pairs = [str(entry).partition("=") for entry in entries]
    policies = {name.strip(): policy.strip() for name, _, policy in pairs}
    if "" in policies or len(policies) < len(pairs):
        raise ValueError("an entry without a name, or a name twice")
    return policies


def _triggers(value: object) -> object:
    entries = value.split(";") if isinstance(value, str) else value
    if not isinstance(entries, list):
        return value
    pairs = [str(entry).rpartition("=") for entry in entries if str(entry).strip()]
    triggers = tuple(Trigger(pattern=pattern.strip(), target=target.strip()) for pattern, _, target in pairs)
    for trigger in triggers:
        compile_pattern(trigger.pattern)
        if not trigger.target:
            raise ValueError("an entry without its tool")
    return triggers


def _kind(value: str) -> str:
    if value not in KINDS:
        raise ValueError("no such kind")
    return value


def is_loopback(host: str) -> bool:
    """Whether `host` is this machine, judged without asking a name server."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _address(secure: str, plain: str, *, lenient: bool = False, ending: str = "") -> Callable[[str], str]:
    def check(value: str) -> str:
        if lenient and not value:
            return value
        parts = urlsplit(value)
        host = parts.hostname or ""
        allowed = {secure, plain} if lenient or is_loopback(host) else {secure}
        if not (host and parts.scheme in allowed and value.rstrip("/").endswith(ending)):
            raise ValueError("not such an address")
        return value.rstrip("/") if ending else value

    return check


def _expanded(value: Path) -> Path:
    try:
        return value.expanduser()
    except RuntimeError as error:  # `~name` of nobody
        raise ValueError(str(error)) from error


def _short(value: N) -> N:
    """A number that a clock, a database and a message can hold."""
    if abs(value) >= 10**MOST_DIGITS:
        raise PydanticCustomError(TOO_LONG, "it is too long")
    return value


Kind = Annotated[str, AfterValidator(_kind)]
Folder = Annotated[Path, AfterValidator(_expanded)]
Whole = Annotated[int, AfterValidator(_short)]
Seconds = Annotated[float, AllowInfNan(False), AfterValidator(_short)]
Dollars = Annotated[Decimal, AfterValidator(_short)]
Id = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,20}$")]
Ids = Annotated[frozenset[Id], NoDecode, BeforeValidator(_entries)]
Channels = Annotated[tuple[Id, ...], NoDecode, BeforeValidator(_entries)]
ApproverList = Annotated[frozenset[Annotated[str, AfterValidator(_approver)]], NoDecode, BeforeValidator(_entries)]
SecretList = Annotated[tuple[SecretStr, ...], NoDecode, BeforeValidator(_entries)]
ModelChain = Annotated[tuple[ModelRef, ...], NoDecode, BeforeValidator(_chain)]
PolicyMap = Annotated[dict[str, Policy], NoDecode, BeforeValidator(_policies)]
TriggerList = Annotated[tuple[Trigger, ...], NoDecode, BeforeValidator(_triggers)]
GroupName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
HttpUrl = Annotated[str, AfterValidator(_address("https", "http", lenient=True))]
DiscordApi = Annotated[str, AfterValidator(_address("https", "http", ending="/api/v10"))]
DiscordGateway = Annotated[str, AfterValidator(_address("wss", "ws"))]
