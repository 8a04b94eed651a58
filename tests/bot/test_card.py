"""The approval card: it shows exactly what would run, and nothing in it can hide or break out."""

from __future__ import annotations

import json
from dataclasses import replace

import discord
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.render.card import CardSubject, DoesNotFit, card, parse_card
from bot.render.text import is_hidden
from pipeline.calls import CallState
from pipeline.messages import ToolCall
from pipeline.records import ApprovalAsked, Ask, Decided, ToolFinished, Verdict
from pipeline.results import Outcome
from tests.bot.test_embeds import within_limits
from tests.bot.turns import NOW, started

HOSTILE = st.sampled_from(
    [
        "\u202e",
        "\u200b",
        "\n" * 30,
        "```",
        "```json\n{}\n```",
        "@everyone",
        "\nApproved by owner",
        "`",
        "\\",
        "\x00",
        "\ufe0f",
    ]
)
STRINGS = st.lists(st.one_of(st.text(max_size=20), HOSTILE), max_size=6).map("".join)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | STRINGS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(STRINGS, inner, max_size=4),
    max_leaves=12,
)
ARGUMENTS = st.dictionaries(STRINGS, VALUES, max_size=5)


def subject(arguments: str = '{"path": "a.txt"}', *, name: str = "write_file", ask: Ask = Ask.RUN) -> CardSubject:
    question = ApprovalAsked(
        approval="ab" * 12, iteration=0, index=0, ask=ask, run=0, seal="0123456789abcdef" * 4, expires=NOW + 600
    )
    call = CallState(
        iteration=0, index=0, call=ToolCall(id="x", name=name, arguments=arguments), asked=1, question=question
    )
    return CardSubject(started=started(), call=call, deciders="anyone with **Manage Server**")


def decided(verdict: Verdict, note: str = "") -> CardSubject:
    decision = Decided(approval="ab" * 12, verdict=verdict, by="9", name="owner", note=note, at=NOW)
    return replace(subject(), call=replace(subject().call, decision=decision))


def described(card_subject: CardSubject) -> str:
    return card(card_subject)[0].description or ""


@pytest.mark.parametrize(
    "char",
    [*"\u202e\u2066\u200b\u200d\u00a0\u00ad\u2028\u3000\u3164\u061c\ufeff\ufe0f\ue000\x1b\x7f", "\U000e0041"],
)
def test_a_character_that_nobody_sees_is_an_escape_wherever_it_comes(char: str) -> None:
    hidden = f"a{char}b"
    asked = subject(json.dumps({hidden: hidden}, ensure_ascii=False), name=hidden)
    asked = replace(asked, started=replace(asked.started, author=hidden))
    (embed,) = card(asked)
    shown = json.dumps(embed.to_dict(), ensure_ascii=False)
    assert char not in shown
    assert (embed.description or "").count(json.dumps(char).strip('"')) == 2


@given(ARGUMENTS)
def test_the_card_parsed_back_is_the_arguments(arguments: dict[str, object]) -> None:
    text = json.dumps(arguments)
    try:
        embeds = card(subject(text))
    except DoesNotFit:
        assert len(text) > 1000
        return
    assert json.loads(parse_card(embeds[0])) == arguments
    assert all(map(within_limits, embeds))


@given(ARGUMENTS, STRINGS, STRINGS)
def test_nothing_on_the_card_is_hidden_and_nothing_leaves_its_box(
    arguments: dict[str, object], name: str, note: str
) -> None:
    shown = decided(Verdict.DENY_WITH_REASON, note)
    call = replace(shown.call, call=ToolCall(id="x", name=name, arguments=json.dumps(arguments)))
    try:
        embed = card(replace(shown, call=call))[0]
    except DoesNotFit:
        return
    text = f"{embed.title}{embed.description}{embed.fields[0].value}"
    assert not any(is_hidden(char) for char in text.replace("\n", ""))
    description = embed.description or ""
    assert description.count("```") == 2 and description.endswith("\n```")
    assert "\n" not in (embed.title or "") and description.index("\n") == description.index("\n```json\n")


def test_a_large_number_keeps_its_digits() -> None:
    shown = described(subject('{"id": 123456789012345678901, "x": 1.2345678901234568e17}'))
    assert "123456789012345678901" in shown and "1.2345678901234568e17" in shown


def test_a_repeated_key_is_shown_twice() -> None:
    assert described(subject('{"a": 1, "a": 2}')).count('"a"') == 2


def test_arguments_that_are_no_json_are_shown_as_they_are() -> None:
    assert json.loads(parse_card(card(subject('{"q'))[0])) == '{"q'


def test_no_arguments_are_an_empty_object() -> None:
    assert parse_card(card(subject(""))[0]) == "{}"


def test_what_does_not_fit_whole_is_refused_with_a_sentence() -> None:
    with pytest.raises(DoesNotFit, match="smaller calls"):
        card(subject(json.dumps({"command": "x" * 6000 + " rm -rf"})))


def test_a_card_that_fitted_while_it_was_open_fits_with_any_decision() -> None:
    arguments = json.dumps({"text": "x" * 3980})
    assert "x" * 3980 in described(subject(arguments))
    shown = decided(Verdict.DENY_WITH_REASON, "no " * 300)
    assert "x" * 3980 in described(replace(shown, call=replace(shown.call, call=subject(arguments).call.call)))


def test_a_call_that_fits_only_on_one_line_is_shown_on_one_line() -> None:
    arguments = json.dumps({"items": list(range(700))})
    assert json.loads(parse_card(card(subject(arguments))[0])) == json.loads(arguments)


def test_an_open_card_says_who_asked_until_when_and_who_may_decide() -> None:
    embed = card(replace(subject(), waiting=2))[0]
    fields = {field.name: field.value for field in embed.fields}
    assert fields == {
        "Asked by": "<@7> (alice)",
        "Expires": f"<t:{NOW + 600:.0f}:R>",
        "Who may decide": "anyone with **Manage Server**",
        "Queue": "2 messages wait behind this",
    }
    assert embed.title == "Approve write_file?" and embed.footer.text == "seal 0123456789ab"


def test_a_question_after_an_interruption_says_that_it_may_have_taken_effect() -> None:
    embed = card(subject(ask=Ask.AGAIN))[0]
    assert embed.title == "Run write_file again?" and "taken effect" in (embed.description or "")


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (Verdict.DENY, "**Denied** by <@9> (owner)"),
        (Verdict.DENY_WITH_REASON, "**Denied** by <@9> (owner): too risky"),
        (Verdict.EXPIRED, "**Expired**"),
        (Verdict.SKIP, "**Skipped** by <@9> (owner)"),
        (Verdict.APPROVE, "**Approved** by <@9> (owner)\n"),
    ],
)
def test_a_decided_card_says_how(verdict: Verdict, words: str) -> None:
    shown = decided(verdict, "too risky")
    assert described(shown).startswith(words) and not shown.is_open
    assert [field.name for field in card(shown)[0].fields] == ["Asked by"]


@pytest.mark.parametrize(
    ("outcome", "words"),
    [(Outcome.OK, "done in 1.5 s"), (Outcome.ERROR, "failed: no such file"), (Outcome.UNKNOWN, "unknown")],
)
def test_the_outcome_is_written_on_the_card(outcome: Outcome, words: str) -> None:
    approved = decided(Verdict.APPROVE)
    running = replace(approved.call, run=1)
    assert "waits for an earlier call" in described(replace(approved, waits=True))
    content = "no such file\nsecond line"
    finished = ToolFinished(iteration=0, index=0, run=1, outcome=outcome, content=content, duration_ms=1500)
    assert words in described(replace(approved, call=replace(running, finished=finished)))


def test_a_card_whose_turn_ended_is_closed() -> None:
    assert described(replace(subject(), closed=True)).startswith("Closed: the turn ended")


def _with_preview(diff: str) -> discord.Embed:
    shown = subject()
    assert shown.call.question is not None
    question = replace(shown.call.question, preview=diff)
    return card(replace(shown, call=replace(shown.call, question=question)))[1]


def test_a_preview_is_shown_as_a_diff() -> None:
    assert _with_preview("+hello\n-bye").description == "```diff\n+hello\n-bye\n```"


@given(st.lists(STRINGS, min_size=2, max_size=400).map("\n+".join))
def test_a_preview_keeps_to_the_limits_and_says_what_it_leaves_out(diff: str) -> None:
    embed = _with_preview(diff)
    assert within_limits(embed) and (embed.description or "").count("```") in (0, 2)


def test_a_long_preview_says_how_many_lines_are_missing() -> None:
    assert "more lines" in (_with_preview("\n".join(f"+line {n}" for n in range(2000))).description or "")
