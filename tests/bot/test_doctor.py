"""What `doctor` says."""

from __future__ import annotations

from pathlib import Path

from bot.doctor import limits, missing, report
from bot.settings import Settings, load_settings


def load(**env: str) -> Settings:
    return load_settings(env, env_file=None)


def ready(folder: Path, **env: str) -> Settings:
    return load(DISCORD_TOKEN="t0p", OPENAI_API_KEY="k3y", PROJECTS__NOTES__PATH=str(folder), **env)


def line(text: str, start: str) -> str:
    return next(line for line in text.splitlines() if line.strip().startswith(start))


def test_what_run_needs_and_lacks_is_said_in_a_sentence_each() -> None:
    assert [sentence.split(":")[0] for sentence in missing(load())] == [
        "DISCORD_TOKEN is not set",
        "No provider is configured",
        "No folder is configured",
    ]


def test_nothing_is_missing_when_token_provider_and_folder_are_there(tmp_path: Path) -> None:
    settings = ready(tmp_path)
    assert missing(settings) == ()
    assert "can start" in report(settings)


def test_a_folder_that_is_not_there_is_missing(tmp_path: Path) -> None:
    (sentence,) = missing(ready(tmp_path / "gone"))
    assert sentence == f'PROJECTS__NOTES__PATH is "{tmp_path / "gone"}", which is not a folder here.'


def test_a_server_without_a_known_model_needs_one_named(tmp_path: Path) -> None:
    own = {"PROVIDERS__LOCAL__KIND": "openai_compat", "PROVIDERS__LOCAL__BASE_URL": "http://127.0.0.1:1/v1"}
    assert "PROVIDERS__LOCAL__MODEL is not set" in missing(ready(tmp_path, **own))[0]
    assert missing(ready(tmp_path, **own, PROVIDERS__LOCAL__MODEL="m")) == ()


def test_secrets_are_set_or_not_set(tmp_path: Path) -> None:
    text = report(ready(tmp_path, DATABASE_URL="postgresql://u:pa55@h/d"))
    assert not {secret for secret in ("t0p", "k3y", "pa55") if secret in text}
    assert line(text, "Discord token").split()[2:] == ["set", "env"]
    assert line(report(load()), "Discord token").split()[2:] == ["not", "set", "default"]


def test_a_provider_shows_the_model_that_will_answer(tmp_path: Path) -> None:
    shown = line(report(ready(tmp_path)), "Provider")
    assert "openai: openai_compat, key set, model " in shown
    assert "unknown" not in shown
    assert "model mine" in line(report(ready(tmp_path, MODEL_CHAIN="openai/mine")), "Provider")


def test_each_limit_shows_value_unit_default_and_source() -> None:
    text = report(load(TOOL_EXECUTION_TIMEOUT_MS="2000"))
    assert line(text, "TOOL_EXECUTION_TIMEOUT_MS").split() == [
        "TOOL_EXECUTION_TIMEOUT_MS",
        "2000",
        "ms",
        "default",
        "300000",
        "env",
    ]
    assert all(limit.variable in text for limit in limits(load()))


def test_limits_without_an_effect_stand_apart() -> None:
    used, _, idle = report(load()).partition("Reserved")
    assert "NAI_TOOL_FAILURE_RETRY_THRESHOLD" in idle
    assert "NAI_TOOL_FAILURE_RETRY_THRESHOLD" not in used


def test_approvers_that_approve_nothing_are_worth_a_look() -> None:
    assert "nobody can approve anything" in report(load(APPROVERS=""))
    assert "in a direct message nobody can" in report(load())


def test_warnings_of_the_settings_are_in_the_report() -> None:
    assert "did you mean DISCORD_TOKEN?" in report(load(DISCORD_TOKN="x"))


def test_a_policy_about_no_tool_is_missing_something_and_names_the_tools() -> None:
    settings = load_settings({"TOOL_POLICIES": "wriet_file=deny"}, env_file=None)
    assert any("wriet_file" in sentence and "write_file" in sentence for sentence in missing(settings))
