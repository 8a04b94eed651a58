"""What typing means on the page: commands with their values, and names that become mentions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import Page

pytestmark = pytest.mark.browser

STRING, INTEGER, BOOLEAN, USER, CHANNEL = 3, 4, 5, 6, 7

CALL = """async ([name, ...given]) => {
    const suggest = await import("/page/suggest.js");
    const { Directory } = await import("/page/state.js");
    const member = (id, username, nick = null) => ({ user: { id, username }, nick, roles: [] });
    const guild = {
        id: "9", channels: [{ id: "2", name: "ops" }], members: [member("5", "ann"), member("6", "ann.b", "Ann Bee")],
        roles: [{ id: "3", name: "Approver" }, { id: "4", name: "Countersign", managed: true }],
    };
    const directory = new Directory({ bot: { id: "1", username: "Countersign" }, guilds: [guild] });
    try {
        return suggest[name](...given, directory);
    } catch (error) {
        return { refused: error.message };
    }
}"""


def call(page: Page, name: str, *given: object) -> Any:
    return page.evaluate(CALL, [name, *given])


def command(name: str, *options: tuple[str, int, bool]) -> dict[str, object]:
    listed = [{"name": option, "type": kind, "required": required} for option, kind, required in options]
    return {"name": name, "description": "", "options": listed}


MODEL = command("model", ("name", STRING, False), ("why", STRING, False))
AUDIT = command("audit show", ("count", INTEGER, True), ("who", USER, False))
COMMANDS = [command("audit"), AUDIT, MODEL, command("help")]


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("/help", "help", {}),
        ("/model name:big one why:speed", "model", {"name": "big one", "why": "speed"}),
        ("/model name: x", "model", {"name": "x"}),
        ("/audit show 3", "audit show", {"count": "3"}),
        ("/audit show 3 who:ann", "audit show", {"count": "3", "who": "ann"}),
        ("/audit", "audit", {}),
    ],
)
def test_a_typed_command_line_is_a_command_and_its_values(
    page_modules: Page, text: str, name: str, options: dict[str, str]
) -> None:
    line = call(page_modules, "parseCommandLine", text, COMMANDS)
    assert (line["command"]["name"], line["options"]) == (name, options)


@pytest.mark.parametrize("text", ["/helpless", "/unknown x", "help", "/help me please"])
def test_other_text_is_no_command(page_modules: Page, text: str) -> None:
    assert call(page_modules, "parseCommandLine", text, COMMANDS) is None


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (STRING, "7", "7"),
        (INTEGER, "7", 7),
        (INTEGER, "x", {"refused": "it takes a whole number."}),
        (INTEGER, "1.5", {"refused": "it takes a whole number."}),
        (BOOLEAN, "True", True),
        (BOOLEAN, "false", False),
        (USER, "@Ann Bee", "6"),
        (CHANNEL, "#ops", "2"),
        (USER, "nobody", {"refused": "it: nothing here is called nobody."}),
    ],
)
def test_values_take_the_types_of_their_options(page_modules: Page, kind: int, text: str, value: object) -> None:
    typed = call(page_modules, "typedOptions", command("c", ("it", kind, True)), {"it": text})
    assert typed == (value if isinstance(value, dict) else {"it": value})


@pytest.mark.parametrize(
    ("text", "wire"),
    [
        ("@Countersign hi", "<@1> hi"),
        ("hi @countersign, and @Ann Bee!", "hi <@1>, and <@6>!"),
        ("@ann @annie @Approver #ops", "<@5> @annie <@&3> <#2>"),
        ("mail me@ann or `@ann` or ```\n@ann\n``` <@5>", "mail me@ann or `@ann` or ```\n@ann\n``` <@5>"),
    ],
)
def test_names_become_mentions_outside_code_and_words(page_modules: Page, text: str, wire: str) -> None:
    assert call(page_modules, "toWire", text) == wire


@settings(max_examples=60)
@given(text=st.text(st.sampled_from("abn #`\n") | st.characters(codec="utf-8"), max_size=60))
def test_text_without_an_at_or_hash_name_goes_over_the_wire_as_it_is(page_modules: Page, text: str) -> None:
    plain = text.replace("@", "").replace("#ops", "")
    assert call(page_modules, "toWire", plain) == plain
