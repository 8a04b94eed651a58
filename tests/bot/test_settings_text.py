"""Numbers and units in words, and numbers that no clock can hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.doctor import limits
from bot.settings import GROUPS, SettingsError, load_settings
from bot.settings_docs import env_example
from bot.settings_text import limits_of, words_of

NUMBERS = [name.upper() for group in GROUPS.values() for name, field in group.model_fields.items() if limits_of(field)]
NUMBERS += ["PROVIDERS__X__MAX_OUTPUT_TOKENS", "PROVIDERS__X__THINKING_BUDGET_TOKENS"]


def refused(**env: str) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        load_settings({"PROVIDERS__X__KIND": "demo", **env}, env_file=None)
    return caught.value.sentences


@pytest.mark.parametrize("variable", NUMBERS)
@pytest.mark.parametrize("digits", [400, 5000])
def test_a_number_of_hundreds_of_digits_is_refused_in_one_short_sentence(variable: str, digits: int) -> None:
    (sentence,) = refused(**{variable: "9" * digits})
    assert sentence.startswith(f'{variable} is "99999')
    assert "(from env): it must be a " in sentence
    assert len(sentence) < 250


def test_a_number_that_is_too_long_is_told_how_long_it_may_be() -> None:
    assert refused(MAX_QUEUED_MESSAGES="1" + "0" * 12)[0].endswith("a whole number >= 0, of at most 12 digits.")
    assert load_settings({"MAX_QUEUED_MESSAGES": "9" * 12}, env_file=None).max_queued_messages == 10**12 - 1


@pytest.mark.parametrize(
    "line",
    [
        f"max_queued_messages = {'9' * 4000}",
        f"max_queued_messages = {'9' * 5000}",
        f"max_queued_messages = 0x{'f' * 9000}",
        f"approval_timeout_s = 0x{'f' * 9000}",
        f"prices.m = {{ input = {'9' * 400}, output = 1 }}",
        f"a = {'[' * 5000}",
    ],
)
def test_a_settings_file_with_what_python_cannot_hold_is_one_short_sentence(tmp_path: Path, line: str) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(line)
    (sentence,) = refused(SETTINGS_FILE=str(file))
    assert sentence.endswith(".") and len(sentence) < 300


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (300_000, "ms", "5 minutes"),
        (60_000, "ms", "1 minute"),
        (90_000, "ms", "1 minute 30 seconds"),
        (1500, "ms", "1.5 seconds"),
        (0, "ms", "0 seconds"),
        (3600.0, "s", "1 hour"),
        (7384.0, "s", "2 hours 3 minutes 4 seconds"),
        (12_288, "bytes", "12 KB"),
        (1500, "bytes", "1.5 KB"),
        (256, "bytes", "256 bytes"),
        (8192, "characters", "8192 characters"),
        (100, "", "100"),
    ],
)
def test_values_are_said_as_people_say_them(value: float, unit: str, words: str) -> None:
    assert words_of(value, unit) == words


@given(st.floats(min_value=0, max_value=10**12 - 1))
def test_a_duration_in_words_is_the_duration(seconds: float) -> None:
    words = words_of(seconds, "s").split()
    factors = {"hour": 3600, "minute": 60, "second": 1}
    told = sum(
        float(count) * factors[unit.removesuffix("s")] for count, unit in zip(words[::2], words[1::2], strict=True)
    )
    assert told == pytest.approx(seconds, abs=0.001)


def test_no_limit_is_shown_in_milliseconds() -> None:
    words = {limit.variable: limit.words for limit in limits(load_settings({}, env_file=None))}
    assert words["TOOL_EXECUTION_TIMEOUT_MS"] == "5 minutes"
    assert words["TOOL_RESULT_MAX_BYTES"] == "12 KB"
    assert not [text for text in words.values() if text.endswith(" ms")]


def test_the_example_keeps_settings_without_an_effect_apart() -> None:
    used, _, idle = env_example().partition("# --- Reserved")
    assert "# APPROVAL_TIMEOUT_S=1800" in used and "# PROVIDERS__<NAME>__KIND=" in used
    assert "reserved" not in used
    idle_names = [limit.variable for limit in limits(load_settings({}, env_file=None)) if limit.reserved]
    assert all(f"# {name}=" in idle and f"# {name}=" not in used for name in idle_names)
