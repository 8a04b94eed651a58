"""What `doctor` says."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

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


def test_the_heading_for_limits_without_an_effect_comes_only_where_there_are_some() -> None:
    assert not any(limit.reserved for limit in limits(load()))
    assert "Reserved" not in report(load())


def test_approvers_that_approve_nothing_are_worth_a_look() -> None:
    assert "nobody can approve anything" in report(load(APPROVERS=""))
    assert "in a direct message nobody can" in report(load())


def test_warnings_of_the_settings_are_in_the_report() -> None:
    assert "did you mean DISCORD_TOKEN?" in report(load(DISCORD_TOKN="x"))


def test_a_policy_about_no_tool_is_missing_something_and_names_the_tools() -> None:
    settings = load_settings({"TOOL_POLICIES": "wriet_file=deny"}, env_file=None)
    assert any("wriet_file" in sentence and "write_file" in sentence for sentence in missing(settings))


@pytest.mark.parametrize("value", ["...", "your-token-here", "YOUR_BOT_TOKEN", "changeme", "<token>", "xxxx", '"..."'])
def test_a_value_that_is_still_a_placeholder_is_named(tmp_path: Path, value: str) -> None:
    settings = load(DISCORD_TOKEN=value, OPENAI_API_KEY="k3y", PROJECTS__NOTES__PATH=str(tmp_path))
    assert missing(settings) == ("DISCORD_TOKEN is still a placeholder: put the real one in its place.",)


def test_the_key_of_a_vendor_may_be_no_placeholder_that_of_an_own_server_may(tmp_path: Path) -> None:
    own = {"BASE_URL": "http://127.0.0.1:1/v1", "MODEL": "m", "KIND": "openai_compat", "API_KEY": "changeme"}
    named = {f"PROVIDERS__OWN__{name}": value for name, value in own.items()}
    assert missing(ready(tmp_path, **named)) == ()
    (sentence,) = missing(ready(tmp_path, ANTHROPIC_API_KEY="sk-ant-..."))
    assert sentence.startswith("ANTHROPIC_API_KEY is still a placeholder")


@pytest.mark.parametrize("kind", ["openai_compat", "anthropic"])
def test_a_provider_with_neither_key_nor_address_is_missing_one(tmp_path: Path, kind: str) -> None:
    (sentence,) = missing(ready(tmp_path, PROVIDERS__MAIN__KIND=kind))
    assert "PROVIDERS__MAIN__API_KEY" in sentence and "PROVIDERS__MAIN__BASE_URL" in sentence
    assert missing(ready(tmp_path, PROVIDERS__MAIN__KIND="demo")) == ()


def test_a_data_folder_that_cannot_be_written_is_missing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (sentence,) = missing(ready(tmp_path, DATA_DIR=str(tmp_path / "file" / "data")))
    assert sentence.startswith(f'DATA_DIR is "{tmp_path}/file/data", where nothing can be written: ')


@pytest.mark.parametrize("path", ["folder", "text", "text/db.sqlite", "n" * 300])
def test_a_database_that_cannot_be_opened_is_missing(tmp_path: Path, path: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("This is no database, and long enough to be looked at as one." * 20)
    (sentence,) = missing(ready(tmp_path, DATABASE_URL=f"sqlite:///{tmp_path}/{path}", DATA_DIR=str(tmp_path)))
    assert sentence.startswith(f'DATABASE_URL puts the database at "{tmp_path}/{path}", where it cannot be opened: ')


@pytest.mark.parametrize("url", ["postgresql://u:pa55@h/d", "sqlite://", "..."])
def test_an_address_of_no_sqlite_file_is_missing_and_not_shown(tmp_path: Path, url: str) -> None:
    assert missing(ready(tmp_path, DATABASE_URL=url, DATA_DIR=str(tmp_path))) == (
        "DATABASE_URL has to name an SQLite file, such as sqlite:///path/to/file.db.",
    )


def test_trying_leaves_nothing_behind(tmp_path: Path) -> None:
    assert missing(ready(tmp_path, DATA_DIR=str(tmp_path / "new" / "data"))) == ()
    assert list(tmp_path.iterdir()) == []


def test_a_database_that_is_there_and_in_use_is_left_as_it_was(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "countersign.db")) as other:
        other.execute("PRAGMA journal_mode=WAL")
        other.execute("CREATE TABLE t (x)")
        other.execute("BEGIN IMMEDIATE")
        before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
        assert missing(ready(tmp_path, DATA_DIR=str(tmp_path))) == ()
        assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize("name", ["a%41", "b?c", "d#e", "f g"])
def test_the_database_is_in_the_data_folder_whatever_its_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "countersign.db").write_text("This is no database, and long enough to be one." * 20)
    (sentence,) = missing(ready(tmp_path, DATA_DIR=str(tmp_path / name)))
    assert f'DATA_DIR puts the database at "{tmp_path}/{name}/countersign.db"' in sentence
