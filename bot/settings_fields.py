"""Every setting by subject: its default, its bounds and what it does.

A setting's variable is the upper-case form of its name, its unit is the ending of that name. `reserved` settings are
read and checked, and have no effect in this version.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr
from pydantic.config import JsonDict

from bot.settings_types import (
    KINDS,
    ApproverList,
    Channels,
    DiscordApi,
    DiscordGateway,
    Dollars,
    Folder,
    GroupName,
    HttpUrl,
    Ids,
    Kind,
    ModelChain,
    PolicyMap,
    Seconds,
    SecretList,
    TriggerList,
    Whole,
)
from pipeline.cost import ModelPrice


def setting(
    default: Any,
    meaning: str,
    *,
    ge: float | None = None,
    gt: float | None = None,
    le: float | None = None,
    form: str = "",
    reserved: bool = False,
) -> Any:
    """A field with what people need to know of it; `form` completes "it must be ..." where the type does not."""
    extra: JsonDict = {"form": form, "reserved": reserved}
    return Field(default, description=meaning, ge=ge, gt=gt, le=le, json_schema_extra=extra)


class Provider(BaseModel):
    """One provider. `NAME` is yours, in any case, without `/`; the kind is declared, never guessed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind = setting(..., "which API it speaks", form=f"one of {', '.join(KINDS)}")
    base_url: HttpUrl = setting("", "where the API is; empty for the vendor's own", form="an http or https address")
    api_key: SecretStr | None = setting(None, "its key; a server of your own may need none")
    api_keys: SecretList = setting((), "more keys, used where the first fails", form="a list with commas")
    model: str = setting("", "the model to use; empty for the adapter's default, which `doctor` shows")
    max_output_tokens: Whole | None = setting(None, "longest answer in tokens; empty for the adapter's default", ge=1)
    thinking_budget_tokens: Whole | None = setting(None, "asks for thinking with this many tokens", ge=1024)
    effort: str | None = setting(None, "asks for thinking that the model measures itself: `low`, `medium`, `high`")
    prompt_cache: bool = setting(True, "marks the unchanging part of a request for the provider's cache")
    sees_images: bool = setting(True, "whether images are sent")
    has_tools: bool = setting(True, "whether tools are offered")
    output_limit_field: Literal["max_tokens", "max_completion_tokens"] | None = setting(
        None, "what an OpenAI-compatible server calls its output limit; empty for the adapter's choice"
    )
    verbatim_tools: bool = setting(
        False, "for a model that can only write tool calls as text: it is told how, and they are read out of its answer"
    )

    @property
    def keys(self) -> tuple[SecretStr, ...]:
        """All keys, `api_key` first."""
        return (() if self.api_key is None else (self.api_key,)) + self.api_keys


class Project(BaseModel):
    """One folder for the file tools. `NAME` is yours, in any case."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: Folder = Field(description="the folder; file tools see nothing outside it")
    channels: Channels = setting(
        (),
        "ids of the channels that it serves; empty for all that no other folder serves",
        form="a list of channel ids with commas",
    )


class DiscordSettings(BaseModel):
    discord_token: SecretStr | None = setting(None, "the bot's token, from the developer portal")
    discord_api_base: DiscordApi = setting(
        "https://discord.com/api/v10",
        "Discord's REST API, a proxy to it, or the preview",
        form="an https address that ends in /api/v10 (plain http only to this machine)",
    )
    discord_gateway_url: DiscordGateway = setting(
        "wss://gateway.discord.gg/",
        "Discord's gateway, or the preview's",
        form="a wss address (plain ws only to this machine)",
    )


class AccessSettings(BaseModel):
    chat_channels: Ids = setting(
        frozenset(),
        "channels in which every message is for the bot; elsewhere people mention it",
        form="a list of channel ids with commas",
    )
    allowed_roles: Ids = setting(
        frozenset(), "who may start turns; empty for everybody who can write", form="a list of role ids with commas"
    )
    approvers: ApproverList = setting(
        frozenset({"manage_guild"}),
        "who may decide about tool calls; set but empty: nobody",
        form="a list of user ids, role ids, requester and manage_guild with commas",
    )
    tool_policies: PolicyMap = setting(
        {},
        "whether a tool runs by itself (`auto`), asks a person (`ask`) or never runs (`deny`), by its name",
        form="a list of name=auto, name=ask or name=deny with commas",
    )
    approvals_required: Whole = setting(1, "how many people have to approve", ge=1, reserved=True)


class ModelSettings(BaseModel):
    openai_api_key: SecretStr | None = setting(None, "makes the provider `openai`, kind `openai_compat`")
    anthropic_api_key: SecretStr | None = setting(None, "makes the provider `anthropic`")
    novelai_api_key: SecretStr | None = setting(None, "makes the provider `novelai`")
    model_chain: ModelChain = setting(
        (),
        "`provider/model` entries: the first answers, the next where it cannot; empty: the first provider's own model",
        form="a list of provider/model with commas",
    )
    providers: dict[GroupName, Provider] = setting({}, "providers by name")
    prices: dict[str, ModelPrice] = setting({}, "prices by model, in the settings file only")
    budget_turn_usd: Dollars | None = setting(None, "most that a turn may cost", gt=0, reserved=True)
    budget_user_day_usd: Dollars | None = setting(None, "most that a person may spend a day", gt=0, reserved=True)
    budget_channel_day_usd: Dollars | None = setting(None, "most that a channel may spend a day", gt=0, reserved=True)


class StorageSettings(BaseModel):
    projects: dict[GroupName, Project] = setting({}, "folders by name")
    data_dir: Folder = setting(Path("data"), "where the bot keeps its own files", form="a path")
    database_url: SecretStr | None = setting(None, "the database; unset for SQLite in `DATA_DIR`")
    settings_file: Folder | None = setting(None, "a TOML file with settings by name, and prices", form="a path")


class LoopSettings(BaseModel):
    bot_max_function_call_iterations: Whole = setting(100, "most iterations in a turn; there it ends", ge=1)
    bot_soft_warn_iteration: Whole = setting(20, 'iteration at which a turn says once that it is "still working"', ge=1)
    bot_max_consecutive_tool_errors: Whole = setting(5, "tool failures in a row that end a turn", ge=1)
    bot_max_identical_tool_calls: Whole = setting(
        3, "same tool, arguments and result: the model is warned here, the turn ends at twice this", ge=2
    )
    tool_execution_timeout_ms: Whole = setting(300_000, "longest run of one tool call", ge=1000)
    tool_result_max_bytes: Whole = setting(12_288, "longest tool result that the model is shown", ge=256)
    conversation_max_bytes: Whole = setting(204_800, "longest part of a channel's transcript that is sent", ge=4096)
    approval_timeout_s: Seconds = setting(1800.0, "after this an unanswered approval is a denial", ge=10)
    nai_tool_failure_retry_threshold: Whole = setting(3, "tool failures behind text that end a NovelAI turn", ge=1)
    max_enhanced_context_restarts: Whole = setting(3, "times that tools may add a picture or a file to a turn", ge=0)
    enhanced_context_stash_ttl_ms: Whole = setting(300_000, "how long such context waits for the next pass", ge=0)
    enhanced_context_stash_max_entries: Whole = setting(16, "how many of them wait at once", ge=1)
    verbatim_tool_call_max_buffer_chars: Whole = setting(
        8192, "most text held back while a call written as text is read", gt=0
    )
    deliberate_tool_mode: bool = setting(False, "offers only the tools that a message calls for")
    deliberate_tool_context_turns: Whole = setting(4, "turns that a used tool stays on offer", ge=0, le=10)
    deliberate_tool_triggers: TriggerList = setting(
        (),
        "your own words for a tool or a subject in deliberate mode; `word*` fits any ending, `/.../` is a pattern",
        form="a list of words=tool with semicolons",
    )


class StreamSettings(BaseModel):
    stream_first_token_timeout_ms: Whole = setting(300_000, "longest wait for a provider's first event", ge=1000)
    stream_sdk_call_timeout_ms: Whole = setting(120_000, "longest silence of a provider after that", ge=1000)
    stream_abandoned_settle_timeout_ms: Whole = setting(5000, "longest wait for an aborted call to close", ge=0)
    provider_retry_attempts: Whole = setting(
        3, "tries to open a stream before the provider counts as down", ge=1, le=10
    )


class ChannelSettings(BaseModel):
    max_user_active_turns: Whole = setting(3, "turns of one person at the same time", ge=1)
    max_guild_active_turns: Whole = setting(10, "turns of one server at the same time", ge=1)
    max_queued_messages: Whole = setting(20, "messages that wait in a channel; further ones are refused aloud", ge=0)
    max_reply_messages: Whole = setting(5, "messages of one answer; the rest becomes an attached file", ge=1)
    max_follow_up_interrupts: Whole = setting(3, "follow-ups that may interrupt in a row", ge=0)
    catch_up_max_age_s: Seconds = setting(600.0, "oldest missed message that is answered after a start", ge=0)
    resume_max_age_s: Seconds = setting(3600.0, "oldest open turn that goes on after a start", ge=0)
    shutdown_grace_s: Seconds = setting(20.0, "how long running turns may go on at a shutdown", ge=0)


GROUPS: dict[str, type[BaseModel]] = {
    "Discord": DiscordSettings,
    "Who may do what": AccessSettings,
    "Models": ModelSettings,
    "Folders and files": StorageSettings,
    "Limits of a turn": LoopSettings,
    "Limits of a stream": StreamSettings,
    "Limits of a channel": ChannelSettings,
}
LIMIT_GROUPS = (LoopSettings, StreamSettings, ChannelSettings)
