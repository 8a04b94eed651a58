"""The settings' numbers arrive in the pipeline, and every status, outcome, embed and limit has its test."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.limits import loop_limits, runtime_limits
from bot.settings import LIMIT_GROUPS, load_settings
from pipeline.results import REASONS, NoticeKind, Outcome, StreamStatus

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("variable", "value", "name", "expected"),
    [
        ("BOT_MAX_FUNCTION_CALL_ITERATIONS", "7", "max_iterations", 7),
        ("BOT_SOFT_WARN_ITERATION", "3", "soft_warn_iteration", 3),
        ("BOT_MAX_CONSECUTIVE_TOOL_ERRORS", "2", "max_consecutive_tool_errors", 2),
        ("BOT_MAX_IDENTICAL_TOOL_CALLS", "4", "max_identical_tool_calls", 4),
        ("STREAM_SDK_CALL_TIMEOUT_MS", "2500", "idle_timeout_s", 2.5),
        ("STREAM_FIRST_TOKEN_TIMEOUT_MS", "1500", "first_token_timeout_s", 1.5),
        ("STREAM_ABANDONED_SETTLE_TIMEOUT_MS", "0", "settle_timeout_s", 0.0),
        ("TOOL_EXECUTION_TIMEOUT_MS", "1000", "tool_timeout_s", 1.0),
        ("TOOL_RESULT_MAX_BYTES", "256", "tool_result_max_bytes", 256),
        ("APPROVAL_TIMEOUT_S", "10", "approval_timeout_s", 10.0),
        ("MAX_USER_ACTIVE_TURNS", "1", "max_user_active_turns", 1),
        ("MAX_GUILD_ACTIVE_TURNS", "2", "max_guild_active_turns", 2),
        ("MAX_QUEUED_MESSAGES", "0", "max_queued_messages", 0),
        ("RESUME_MAX_AGE_S", "60", "resume_max_age_s", 60.0),
    ],
)
def test_a_limit_of_the_environment_reaches_the_pipeline(variable: str, value: str, name: str, expected: float) -> None:
    settings = load_settings({variable: value}, env_file=None)
    limits = [loop_limits(settings), runtime_limits(settings)]
    assert [getattr(group, name) for group in limits if hasattr(group, name)] == [expected]


def names_that_need_a_test() -> Iterator[str]:
    for status, reasons in REASONS.items():
        yield from (f"status {status}/{reason}".removesuffix("/") for reason in reasons)
    yield from (f"pass {status}" for status in StreamStatus)
    yield from (f"outcome {outcome}" for outcome in Outcome)
    yield from (f"embed {kind}" for kind in NoticeKind)
    for group in LIMIT_GROUPS:
        for name, field in group.model_fields.items():
            extra = field.json_schema_extra
            if not (isinstance(extra, dict) and extra.get("reserved")):
                yield f"limit {name.upper()}"


def names_with_a_test() -> Iterator[str]:
    """The arguments of every `pytest.mark.covers` on a test."""
    for path in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for mark in node.decorator_list:
                    if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.covers":
                        yield from (str(ast.literal_eval(argument)) for argument in mark.args)


def test_every_status_outcome_embed_and_limit_has_its_test() -> None:
    assert sorted(set(names_that_need_a_test()) - set(names_with_a_test())) == []


def test_no_test_claims_to_cover_what_does_not_exist() -> None:
    assert sorted(set(names_with_a_test()) - set(names_that_need_a_test())) == []
