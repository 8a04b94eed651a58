"""The page's markdown: what Discord's marks become, and that no text ever becomes anything else."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Page

pytestmark = pytest.mark.browser

MARKS = [
    "*",
    "**",
    "_",
    "__",
    "~~",
    "||",
    "`",
    "``",
    "```",
    ">",
    "> ",
    ">>> ",
    "# ",
    "-# ",
    "- ",
    "\n",
    "\\",
    " ",
    "(",
    "[",
    "](",
]
HOSTILE = [
    "<script>",
    "</span>",
    '<img src=x onerror="a()">',
    "&lt;",
    "javascript:a",
    "data:text",
    "<@",
    "<t:",
    "\u202e",
    "\x00",
]
TEXTS = st.lists(st.sampled_from(MARKS + HOSTILE) | st.text("abcXYZé漢", min_size=1, max_size=4), max_size=40).map(
    "".join
)
LANGUAGE = re.compile(r"```[^\s`]+\n")  # a fence's language is the one thing that is not shown
ALLOWED = {
    "SPAN",
    "STRONG",
    "EM",
    "U",
    "S",
    "CODE",
    "PRE",
    "BLOCKQUOTE",
    "UL",
    "OL",
    "LI",
    "H3",
    "H4",
    "H5",
    "SMALL",
    "A",
    "TIME",
}

RENDER = """async (text) => {
    const { richText } = await import("/page/richtext.js");
    const { Directory } = await import("/page/state.js");
    const role = { id: "3", name: "Approver", color: 0 };
    const guild = { id: "9", roles: [role], channels: [{ id: "2", name: "ops" }] };
    const world = { bot: { id: "1", username: "Countersign" }, guilds: [guild] };
    const root = document.createElement("div");
    root.append(...richText(text, new Directory(world)));
    const nodes = [...root.querySelectorAll("*")];
    return { html: root.innerHTML, text: root.textContent, tags: nodes.map((node) => node.tagName),
             attributes: nodes.flatMap((node) => [...node.attributes].map((one) => [one.name, one.value])) };
}"""


SPOILER = """async () => {
    const { richText } = await import("/page/richtext.js");
    const { patchChildren } = await import("/page/dom.js");
    const { Directory } = await import("/page/state.js");
    const root = document.createElement("div");
    const show = (text) => patchChildren(root, richText(text, new Directory({})));
    const seen = () => root.querySelector(".spoiler").getAttribute("class");
    show("||secret||");
    const classes = [seen()];
    root.querySelector(".spoiler").click();
    classes.push(seen());
    show("||secret|| and more");
    return [...classes, seen(), root.textContent];
}"""

TIMES = """async () => {
    const { richText, tickTimes } = await import("/page/richtext.js");
    const { Directory } = await import("/page/state.js");
    const root = document.createElement("div");
    const now = Date.now();
    root.append(...richText(`<t:${Math.ceil(now / 1000) + 121}:R>`, new Directory({})));
    const shown = [root.textContent];
    for (const later of [60_000, 725_000]) {
        Date.now = () => now + later;
        tickTimes(root);
        shown.push(root.textContent);
    }
    return shown;
}"""


def mention(text: str, *, user: str = "") -> str:
    marked = f' data-user="{user}"' if user else ""
    return f'<span class="mention"{marked}>{text}</span>'


def render(page: Page, text: str) -> Any:
    return page.evaluate(RENDER, text)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**b** *i* _i_ __u__ ~~s~~", "<strong>b</strong> <em>i</em> <em>i</em> <u>u</u> <s>s</s>"),
        ("***both*** **a *b* c**", "<strong><em>both</em></strong> <strong>a <em>b</em> c</strong>"),
        ("snake_case_name 2 * 3 * 4", "snake_case_name 2 * 3 * 4"),
        (r"\*not\* \_this\_", "*not* _this_"),
        ("**open", "**open"),
        ("`a*b*` ``x ` y``", '<code class="inline-code">a*b*</code> <code class="inline-code">x ` y</code>'),
        (
            "<@1> <@&3> <@77>",
            mention("@Countersign", user="1") + " " + mention("@Approver") + " " + mention("@unknown-user", user="77"),
        ),
        ("<#2> @everyone", '<a class="mention" href="#/channels/2">#ops</a> ' + mention("@everyone")),
        ("<:wave:123>", '<span class="emoji-name" title=":wave:">:wave:</span>'),
    ],
)
def test_marks_inside_a_line_are_discords(page_modules: Page, text: str, html: str) -> None:
    assert render(page_modules, text)["html"] == f"<span>{html}</span>"


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# One\n## Two\n### Three", "<h3>One</h3><h4>Two</h4><h5>Three</h5>"),
        ("-# small", "<small>small</small>"),
        ("#not a heading", "<span>#not a heading</span>"),
        ("> a\n> b\nc", "<blockquote><span>a\nb</span></blockquote><span>c</span>"),
        (">>> a\nb", "<blockquote><span>a\nb</span></blockquote>"),
        ("- a\n  - b\n- c", "<ul><li><span>a</span><ul><li><span>b</span></li></ul></li><li><span>c</span></li></ul>"),
        ("3. a\n4. b", '<ol start="3"><li><span>a</span></li><li><span>b</span></li></ol>'),
        ("x ```y``` z", "<span>x </span><pre><code>y</code></pre><span> z</span>"),
        ("```\n*a*\n\n  b\n```", "<pre><code>*a*\n\n  b</code></pre>"),
        ("> ```\n> a\n> ```", "<blockquote><pre><code>a</code></pre></blockquote>"),
        ("```never closed", "<span>```never closed</span>"),
    ],
)
def test_blocks_are_discords(page_modules: Page, text: str, html: str) -> None:
    bare = re.sub(r' (?:class|tabindex|aria-label)="[^"]*"', "", render(page_modules, text)["html"])
    assert bare == html


@pytest.mark.parametrize(
    ("text", "href"),
    [
        ("see https://example.org/a_(b)_c.", "https://example.org/a_(b)_c"),
        ("(https://example.org/x)", "https://example.org/x"),
        ("[name](https://example.org/y)", "https://example.org/y"),
        ("<https://example.org/z>", "https://example.org/z"),
    ],
)
def test_links_lead_where_they_say(page_modules: Page, text: str, href: str) -> None:
    attributes = [tuple(one) for one in render(page_modules, text)["attributes"]]
    assert ("href", href) in attributes
    assert ("rel", "noopener noreferrer") in attributes


@pytest.mark.parametrize(
    "text", ["[x](javascript:alert(1))", "javascript:alert(1)", "[x](data:text/html,a)", "<javascript:a>"]
)
def test_only_web_addresses_become_links(page_modules: Page, text: str) -> None:
    assert render(page_modules, text)["html"] == f"<span>{escape(text, quote=False)}</span>"


@pytest.mark.parametrize(
    ("language", "code", "kinds"),
    [
        ("py", 'def f(): # c\n    return "x" + 1', {"hl-keyword", "hl-title", "hl-comment", "hl-string", "hl-number"}),
        ("json", '{"a": [1, true, "b"]}', {"hl-key", "hl-number", "hl-string"}),
        ("diff", "--- a\n-old\n+new\n same", {"hl-meta", "hl-removed", "hl-added"}),
        ("ansi", "\u001b[1;31mred\u001b[0m plain", {"ansi-bold ansi-fg-1"}),
        ("unknown", "def f(): 1", set()),
    ],
)
def test_code_is_coloured_by_its_language(page_modules: Page, language: str, code: str, kinds: set[str]) -> None:
    shown = render(page_modules, f"```{language}\n{code}\n```")
    assert shown["text"] == re.sub(r"\x1b\[[\d;]*m", "", code)
    assert {value for name, value in shown["attributes"] if name == "class"} == kinds


def test_a_spoiler_opens_by_click_and_stays_open_while_the_text_after_it_grows(page_modules: Page) -> None:
    assert page_modules.evaluate(SPOILER) == ["spoiler", "spoiler revealed", "spoiler revealed", "secret and more"]


def test_a_relative_time_goes_on_counting(page_modules: Page) -> None:
    assert page_modules.evaluate(TIMES) == ["in 2 minutes", "in 1 minute", "10 minutes ago"]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXTS)
def test_any_text_keeps_its_letters_and_becomes_only_known_elements(page_modules: Page, text: str) -> None:
    shown = render(page_modules, text)
    assert set(shown["tags"]) <= ALLOWED
    assert all(not name.startswith("on") for name, _ in shown["attributes"])
    assert all(value.startswith(("http://", "https://", "#/")) for name, value in shown["attributes"] if name == "href")
    if not LANGUAGE.search(text):
        assert letters(shown["text"]) == letters(text)


def letters(text: str) -> str:
    return "".join(character for character in text if character.isalpha())
