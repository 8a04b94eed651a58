"""Which setting is suggested to somebody who misspelt one."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.settings import load_settings


def in_the_environment(name: str) -> tuple[str, ...]:
    return load_settings({name: "7"}, env_file=None).warnings


def in_a_file(folder: Path, name: str) -> tuple[str, ...]:
    file = folder / ".env"
    file.write_text(f"{name}=7\n")
    return load_settings({}, env_file=file).warnings


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("BOT_MAX_ITERATION", "BOT_MAX_FUNCTION_CALL_ITERATIONS"),
        ("MAX_QUEUED_MESSAGE", "MAX_QUEUED_MESSAGES"),
        ("DISCRD_TOKEN", "DISCORD_TOKEN"),
        ("APPROVAL_TIMEOUT", "APPROVAL_TIMEOUT_S"),
        ("TOOL_TIMEOUT_MS", "TOOL_EXECUTION_TIMEOUT_MS"),
        ("PROVIDER__MAIN__KIND", "PROVIDERS__MAIN__KIND"),
        ("PROVIDERS_MAIN_BASE_URL", "PROVIDERS__MAIN__BASE_URL"),
        ("PROJECTS__NOTES_PATH", "PROJECTS__NOTES__PATH"),
    ],
)
def test_a_name_that_is_very_near_a_setting_is_noticed_everywhere(tmp_path: Path, name: str, meant: str) -> None:
    sentence = f"{name} is not a setting; did you mean {meant}?"
    assert in_the_environment(name) == (sentence,)
    assert in_a_file(tmp_path, name) == (sentence,)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("OPENAI_KEY", "OPENAI_API_KEY"), ("TOOL_POLICY", "TOOL_POLICIES"), ("APPROVALS", "APPROVERS")],
)
def test_a_name_that_is_only_near_is_noticed_in_our_own_files(tmp_path: Path, name: str, meant: str) -> None:
    assert in_the_environment(name) == ()
    assert in_a_file(tmp_path, name) == (f"{name} is not a setting; did you mean {meant}?",)


def test_the_settings_file_is_one_of_our_own(tmp_path: Path) -> None:
    toml = tmp_path / "settings.toml"
    toml.write_text("tool_policy = 'a=ask'\n")
    settings = load_settings({"SETTINGS_FILE": str(toml)}, env_file=None)
    assert settings.warnings == ("TOOL_POLICY is not a setting; did you mean TOOL_POLICIES?",)


@pytest.mark.parametrize(
    "name", ["PATH", "MAX_JOBS", "BOT_NAME", "PROJECTS_DIR", "XDG_DATA_DIRS", "OPENAI_BASE_URL", "STREAM_KEY", "MODEL"]
)
def test_names_of_other_programs_are_left_alone(name: str) -> None:
    assert in_the_environment(name) == ()


def test_a_group_without_a_setting_is_said_to_have_no_effect() -> None:
    assert in_the_environment("PROVIDERS__MAIN") == (
        "PROVIDERS__MAIN has no effect: these settings are called PROVIDERS__<NAME>__<SETTING>.",
    )
