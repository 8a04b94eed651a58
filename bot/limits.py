"""The settings' numbers as the values that the pipeline takes."""

from __future__ import annotations

from bot.settings import Settings
from pipeline.params import LoopLimits
from pipeline.runtime import RuntimeLimits

EMPTY_RETRY_DELAY_S = 1.0


def loop_limits(settings: Settings) -> LoopLimits:
    """The limits of a turn; milliseconds become seconds."""
    return LoopLimits(
        max_iterations=settings.bot_max_function_call_iterations,
        soft_warn_iteration=settings.bot_soft_warn_iteration,
        max_consecutive_tool_errors=settings.bot_max_consecutive_tool_errors,
        max_identical_tool_calls=settings.bot_max_identical_tool_calls,
        idle_timeout_s=settings.stream_sdk_call_timeout_ms / 1000,
        first_token_timeout_s=settings.stream_first_token_timeout_ms / 1000,
        settle_timeout_s=settings.stream_abandoned_settle_timeout_ms / 1000,
        tool_timeout_s=settings.tool_execution_timeout_ms / 1000,
        tool_result_max_bytes=settings.tool_result_max_bytes,
        approval_timeout_s=settings.approval_timeout_s,
        max_restarts=settings.max_enhanced_context_restarts,
        empty_retry_delay_s=EMPTY_RETRY_DELAY_S,
        max_failures_after_text=settings.nai_tool_failure_retry_threshold,
    )


def runtime_limits(settings: Settings) -> RuntimeLimits:
    """The limits of the channels."""
    return RuntimeLimits(
        max_user_active_turns=settings.max_user_active_turns,
        max_guild_active_turns=settings.max_guild_active_turns,
        max_queued_messages=settings.max_queued_messages,
        max_follow_up_interrupts=settings.max_follow_up_interrupts,
        resume_max_age_s=settings.resume_max_age_s,
    )
