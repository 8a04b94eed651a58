"""Where settings come from, what is refused, and in which words."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.settings import GROUPS, Settings, SettingsError, load_settings
from bot.settings_text import limits_of
from pipeline.policy import Policy


def load(**env: str) -> Settings:
    return load_settings(env, env_file=None)


def refused(**env: str) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        load(**env)
    return caught.value.sentences


LIMITS = {name: field for group in GROUPS.values() for name, field in group.model_fields.items() if limits_of(field)}


def test_nothing_set_gives_the_defaults() -> None:
    settings = load()
    assert settings.bot_max_function_call_iterations == 100
    assert settings.approvers == {"manage_guild"}
    assert settings.database == "sqlite:///data/countersign.db"
    assert settings.models == ()
    assert settings.origin("BOT_SOFT_WARN_ITERATION") == "default"
    assert settings.warnings == ()


def test_the_environment_wins_over_the_env_file_over_the_settings_file(tmp_path: Path) -> None:
    toml = tmp_path / "settings.toml"
    toml.write_text("bot_soft_warn_iteration = 1\nMAX_REPLY_MESSAGES = 2\nmax_queued_messages = 3\n")
    dotenv = tmp_path / ".env"
    dotenv.write_text(f"SETTINGS_FILE={toml}\nBOT_SOFT_WARN_ITERATION=10\nMAX_REPLY_MESSAGES=20  # a note\n")
    settings = load_settings({"BOT_SOFT_WARN_ITERATION": "100"}, env_file=dotenv)
    assert (settings.bot_soft_warn_iteration, settings.max_reply_messages, settings.max_queued_messages) == (100, 20, 3)
    names = ("BOT_SOFT_WARN_ITERATION", "MAX_REPLY_MESSAGES", "MAX_QUEUED_MESSAGES", "SHUTDOWN_GRACE_S")
    assert [settings.origin(name) for name in names] == ["env", ".env", "file", "default"]


def test_groups_are_merged_setting_by_setting(tmp_path: Path) -> None:
    toml = tmp_path / "settings.toml"
    toml.write_text('[providers.Main]\nkind = "openai_compat"\nMODEL = "from-file"\n[projects.n]\npath = "/srv/n"\n')
    settings = load(SETTINGS_FILE=str(toml), PROVIDERS__MAIN__MODEL="from-env", PROJECTS__M__PATH="/srv/m",
                    PROJECTS__M__CHANNELS="7")  # fmt: skip
    assert settings.providers["main"].model == "from-env"
    assert settings.providers["main"].kind == "openai_compat"
    assert set(settings.projects) == {"n", "m"}


@pytest.mark.parametrize("name", LIMITS)
def test_each_bounded_setting_refuses_what_is_out_of_bounds(name: str) -> None:
    variable = name.upper()
    for value in ("-1", "abc", "nan", "inf"):
        (sentence,) = refused(**{variable: value})
        assert sentence.startswith(f'{variable} is "{value}" (from env): it must be a ')
        assert limits_of(LIMITS[name]) in sentence


@pytest.mark.parametrize("name", LIMITS)
def test_each_bounded_setting_takes_its_lowest_value(name: str) -> None:
    low = limits_of(LIMITS[name]).split("..")[0].removeprefix(">= ")
    value = "1" if low.startswith(">") else low
    assert getattr(load(**{name.upper(): value}), name) == float(value)


def test_every_bad_setting_is_named_in_its_own_sentence() -> None:
    sentences = refused(BOT_SOFT_WARN_ITERATION="0", APPROVERS="bob", PROVIDERS__X__KIND="gpt")
    assert {sentence.split()[0] for sentence in sentences} == {
        "BOT_SOFT_WARN_ITERATION",
        "APPROVERS",
        "PROVIDERS__X__KIND",
    }


def test_a_list_with_several_bad_entries_is_one_sentence() -> None:
    assert len(refused(CHAT_CHANNELS="#general,#ops,3")) == 1


def test_a_secret_is_in_no_sentence_and_in_no_representation(tmp_path: Path) -> None:
    toml = tmp_path / "settings.toml"
    toml.write_text("discord_token = ['topsecret']\n")
    bad = refused(SETTINGS_FILE=str(toml), PROVIDERS__X__APIKEY="topsecret", PROVIDERS__X__KIND="demo")
    assert "topsecret" not in "\n".join(bad)
    assert any(sentence.startswith("DISCORD_TOKEN has a value that cannot be used") for sentence in bad)
    assert "topsecret" not in repr(
        load(DISCORD_TOKEN="topsecret", PROVIDERS__X__KIND="demo", OPENAI_API_KEY="topsecret")
    )


def test_a_password_in_an_address_is_not_shown() -> None:
    (sentence,) = refused(DISCORD_API_BASE="http://me:topsecret@example.com/api/v10")
    assert "topsecret" not in sentence


@pytest.mark.parametrize(
    "address",
    ["https://discord.com/api/v10", "https://proxy.example/discord/api/v10/", "http://127.0.0.1:8700/api/v10",
     "http://localhost:1/api/v10", "http://[::1]:8700/api/v10"],
)  # fmt: skip
def test_the_discord_address_may_be_https_or_this_machine(address: str) -> None:
    assert load(DISCORD_API_BASE=address).discord_api_base == address.rstrip("/")


@pytest.mark.parametrize(
    "address",
    ["http://discord.com/api/v10", "https://discord.com", "ftp://127.0.0.1/api/v10", "http://localhost.evil/api/v10",
     "http://127.0.0.1.evil/api/v10", "http://[/api/v10"],
)  # fmt: skip
def test_other_discord_addresses_are_refused(address: str) -> None:
    assert refused(DISCORD_API_BASE=address)


def test_a_plain_gateway_is_only_on_this_machine() -> None:
    assert load(DISCORD_GATEWAY_URL="ws://127.0.0.1:8700/gateway").discord_gateway_url == "ws://127.0.0.1:8700/gateway"
    assert refused(DISCORD_GATEWAY_URL="ws://gateway.discord.gg/")


def test_a_key_alone_makes_a_provider() -> None:
    settings = load(OPENAI_API_KEY="k1", ANTHROPIC_API_KEY="k2")
    assert [(name, p.kind) for name, p in settings.providers.items()] == [
        ("openai", "openai_compat"),
        ("anthropic", "anthropic"),
    ]
    assert settings.providers["openai"].keys[0].get_secret_value() == "k1"
    assert settings.key_variable("openai") == "OPENAI_API_KEY"
    assert str(settings.models[0]) == "openai"


def test_a_key_alone_is_joined_by_settings_of_its_name_and_never_given_to_another_kind() -> None:
    joined = load(OPENAI_API_KEY="k1", PROVIDERS__OPENAI__MODEL="m").providers["openai"]
    assert (joined.kind, joined.model, len(joined.keys)) == ("openai_compat", "m", 1)
    other = load(OPENAI_API_KEY="k1", PROVIDERS__OPENAI__KIND="anthropic").providers["openai"]
    assert other.keys == ()


def test_the_kind_is_declared_and_never_guessed() -> None:
    (sentence,) = refused(PROVIDERS__MAIN__BASE_URL="https://api.anthropic.com")
    assert sentence.startswith("PROVIDERS__MAIN__KIND is not set: it must be one of anthropic, demo, ")


def test_the_key_of_novelai_alone_makes_its_provider() -> None:
    settings = load_settings({"NOVELAI_API_KEY": "pst-x"}, env_file=None)
    assert settings.providers["novelai"].kind == "novelai"


def test_triggers_are_pairs_with_semicolons_and_a_bad_one_is_refused() -> None:
    settings = load_settings({"DELIBERATE_TOOL_TRIGGERS": "paint*=image; /\\d+ days?/=set_reminder"}, env_file=None)
    pairs = [(one.pattern, one.target) for one in settings.deliberate_tool_triggers]
    assert pairs == [("paint*", "image"), (r"/\d+ days?/", "set_reminder")]
    assert refused(DELIBERATE_TOOL_TRIGGERS="/(/=image") and refused(DELIBERATE_TOOL_TRIGGERS="paint")


def test_the_model_chain_splits_at_the_first_slash() -> None:
    settings = load(PROVIDERS__MAIN__KIND="demo", MODEL_CHAIN="main/org/model:free, main/b,main")
    assert [(ref.provider, ref.model) for ref in settings.models] == [
        ("main", "org/model:free"),
        ("main", "b"),
        ("main", ""),
    ]


def test_a_model_chain_with_an_unknown_provider_is_refused() -> None:
    (sentence,) = refused(OPENAI_API_KEY="k", MODEL_CHAIN="openai/a,backup/b")
    assert sentence == 'MODEL_CHAIN has "backup/b", and there is no provider backup (there is: openai).'


def test_tool_policies_are_read_by_tool_name() -> None:
    assert load(TOOL_POLICIES="write_file=ask, mcp__x__y=deny").tool_policies == {
        "write_file": Policy.ASK,
        "mcp__x__y": Policy.DENY,
    }


@pytest.mark.parametrize("policies", ["write_file", "write_file=maybe", "=ask", "a=ask,a=auto"])
def test_a_tool_policy_that_says_nothing_clear_is_refused(policies: str) -> None:
    assert refused(TOOL_POLICIES=policies)


def test_empty_approvers_are_nobody_and_other_empty_variables_are_unset() -> None:
    settings = load(APPROVERS="", DISCORD_TOKEN="", BOT_SOFT_WARN_ITERATION=" ", PROVIDERS__X__KIND="")
    assert settings.approvers == frozenset()
    assert settings.discord_token is None
    assert settings.bot_soft_warn_iteration == 20
    assert settings.providers == {}


def test_a_channel_sees_its_own_folder_or_the_one_for_all() -> None:
    settings = load(PROJECTS__ALL__PATH="/a", PROJECTS__OPS__PATH="/b", PROJECTS__OPS__CHANNELS="5, 6")
    names = [found[0] for channel in ("5", "6", "7") if (found := settings.project_for(channel))]
    assert names == ["ops", "ops", "all"]
    assert load().project_for("5") is None


def test_two_folders_for_one_channel_are_refused() -> None:
    assert refused(PROJECTS__A__PATH="/a", PROJECTS__B__PATH="/b") == (
        "PROJECTS__A and PROJECTS__B both serve all channels: give one of them CHANNELS.",
    )


def test_prices_come_from_the_settings_file_only(tmp_path: Path) -> None:
    toml = tmp_path / "settings.toml"
    toml.write_text('[prices."org/Model.1"]\ninput = 0.15\noutput = 2\n')
    settings = load(SETTINGS_FILE=str(toml), PRICES__X__INPUT="1")
    assert {name: (str(p.input), str(p.output)) for name, p in settings.prices.items()} == {
        "org/Model.1": ("0.15", "2")
    }
    assert settings.warnings == ("PRICES__X__INPUT has no effect: prices are set in SETTINGS_FILE only.",)
    toml.write_text('[prices."m"]\ninput = -1\noutput = 2\n')
    assert refused(SETTINGS_FILE=str(toml)) == ("The price of m in SETTINGS_FILE is below 0.",)


def test_a_name_that_is_nearly_a_setting_gets_a_warning() -> None:
    settings = load(BOT_MAX_FUNCTION_CALL_ITERATION="4", PROVIDER__X__KIND="demo", PATH="/bin", HOME="/", LANG="C")
    assert settings.warnings == (
        "BOT_MAX_FUNCTION_CALL_ITERATION is not a setting; did you mean BOT_MAX_FUNCTION_CALL_ITERATIONS?",
        "PROVIDER__X__KIND is not a setting; did you mean PROVIDERS__X__KIND?",
    )


def test_an_unknown_name_in_the_settings_file_gets_a_warning(tmp_path: Path) -> None:
    toml = tmp_path / "settings.toml"
    toml.write_text("colour = 'blue'\n")
    assert load(SETTINGS_FILE=str(toml)).warnings == ("COLOUR in SETTINGS_FILE is not a setting.",)


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    missing = tmp_path / "no.toml"
    assert refused(SETTINGS_FILE=str(missing)) == (
        f'SETTINGS_FILE is "{missing}", which cannot be read: No such file or directory.',
    )
    missing.write_text("a = \n")
    (sentence,) = refused(SETTINGS_FILE=str(missing))
    assert "is not TOML" in sentence
    dotenv = tmp_path / ".env"
    dotenv.write_text("GOOD=1\nnot a setting\n")
    with pytest.raises(SettingsError, match=r"Line 2 of .* is not NAME=value"):
        load_settings({}, env_file=dotenv)


@given(st.dictionaries(st.sampled_from([name.upper() for name in Settings.model_fields]), st.text(max_size=12)))
def test_any_text_is_either_settings_or_sentences(env: dict[str, str]) -> None:
    env.pop("SETTINGS_FILE", None)
    sentences: tuple[str, ...] = ()
    try:
        settings = load_settings(env, env_file=None)
    except SettingsError as error:
        sentences = error.sentences
    else:
        sentences = settings.warnings or ("It is fine.",)
    assert sentences
    assert all(sentence.endswith((".", "?")) and "\n" not in sentence for sentence in sentences)
