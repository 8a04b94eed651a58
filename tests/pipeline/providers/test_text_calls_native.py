"""Calls in the forms that local models were trained on."""

from __future__ import annotations

import json

import pytest

from pipeline.providers._text_calls import NATIVE_FORMS, Form
from tests.pipeline.providers.text_calls import Read, call, read, read_native, text, tool

URL = '{"url": "x"}'
FILE = '{"path": "a", "content": "b\\nc"}'
BOTH = (("fetch", URL), ("now", "{}"))


@pytest.mark.parametrize(
    "message",
    [
        f'<tool_call>\n{{"name": "fetch", "arguments": {URL}}}\n</tool_call>',
        f'<tool_call>{{"name": "fetch", "arguments": {URL}}}',
        f'<tool_call>{{"arguments": {URL}, "name": "fetch"}}</tool_call>',
        f'<tool_call>{{"name": "fetch", "parameters": {URL}}}</tool_call>',
        f'<tool_call>{{"name": "fetch", "arguments": {json.dumps(URL)}}}</tool_call>',
        f'<tool_call>[{{"name": "fetch", "arguments": {URL}}}]</tool_call>',
        f'<tool_call>{{"type": "function", "function": {{"name": "fetch", "arguments": {URL}}}}}</tool_call>',
        '<tool_call>{"name": "fetch", "url": "x"}</tool_call>',
        f"<tool_call><function=fetch>{URL}</function></tool_call>",
        f'[TOOL_CALLS] [{{"name": "fetch", "arguments": {URL}, "id": "a1"}}]',
        f'[TOOL_CALLS]{{"name": "fetch", "arguments": {URL}}}',
        f"[TOOL_CALLS]fetch[ARGS]{URL}",
        f"[TOOL_CALLS]fetch[CALL_ID]a1[ARGS]{URL}",
        f"[TOOL_CALLS]fetch{URL}",
        f'<|python_tag|>{{"name": "fetch", "parameters": {URL}}}<|eom_id|>',
        '<|python_tag|>fetch.call(url="x")',
        '<|python_tag|>fetch(url="x")<|eot_id|>',
        f"<function=fetch>{URL}</function>",
        f"<function=fetch>{URL}",
        "<function=fetch>\n<parameter=url>\nx\n</parameter>\n</function>",
        "<function=fetch><parameter=url>x</function>",
        "<start_function_call>call:fetch{url:<escape>x<escape>}<end_function_call>",
        "<start_function_call>call:fetch{url:<escape>x<escape>}",
        '<|tool_call>call:fetch{url:<|"|>x<|"|>}<tool_call|>',
        '```tool_code\nfetch(url="x")\n```',
        '```tool_code\r\nprint(fetch(url="x"))\r\n```',
        "<tool_code>print(default_api.fetch('x'))</tool_code>",
        '<tool_code>\nfetch(url="x")',
    ],
)
def test_each_form_is_a_call(message: str) -> None:
    assert read_native("Wait.\n" + message) == call("fetch", URL, said="Wait.\n")


@pytest.mark.parametrize(
    "message",
    [
        f'<tool_call>{{"name":"fetch","arguments":{URL}}}</tool_call>\n<tool_call>{{"name":"now"}}</tool_call>',
        f'<tool_call>{{"name":"fetch","arguments":{URL}}}\n<tool_call>{{"name":"now","arguments":null}}',
        f'<tool_call>\n{{"name":"fetch","arguments":{URL}}}\n{{"name":"now","arguments":""}}\n</tool_call>',
        f'[TOOL_CALLS][{{"name":"fetch","arguments":{URL}}}, {{"name":"now","arguments":{{}}}}]',
        f"[TOOL_CALLS]fetch[ARGS]{URL}[TOOL_CALLS]now[ARGS]{{}}",
        f'<|python_tag|>{{"name":"fetch","parameters":{URL}}}; {{"name":"now","parameters":{{}}}}',
        f"<function=fetch>{URL}</function> and <function=now></function>",
        '```tool_code\nfetch(url="x")\nprint(now())\n```',
        "<start_function_call>call:fetch{url:<escape>x<escape>}<end_function_call>"
        "<start_function_call>call:now{}<end_function_call>",
    ],
)
def test_several_calls_all_count(message: str) -> None:
    found = read_native(message)
    assert [(name, json.loads(arguments or "{}")) for name, arguments in found.calls] == [
        ("fetch", {"url": "x"}),
        ("now", {}),
    ]
    assert found.said == ""


def test_an_unknown_name_in_a_clear_wrapper_is_the_loop_s_to_answer() -> None:
    assert read_native('<tool_call>{"name": "zap", "arguments": {"a": 1}}</tool_call>') == call("zap", '{"a": 1}')
    assert read_native("<function=zap>{}</function>") == call("zap")


def test_a_dash_and_an_underscore_are_one_in_a_native_name() -> None:
    assert read_native("<function=write-file>{}</function>") == call("write_file")
    assert read_native('```tool_code\nread-file(path="a-b(")\n```') == call("read-file", '{"path": "a-b("}')
    tools = (tool("a-b"), tool("a_b"))
    assert read("<function=a_b>{}</function>", NATIVE_FORMS, tools=tools) == call("a_b")


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ('<tool_call>{"name": "fetch", "arguments": {"url": x"}}</tool_call>', "fetch"),
        ('<tool_call>{"name": "fetch", "arguments": {"url": "x"}</tool_call>', "fetch"),
        ('<tool_call>{"name": "zap", "arguments": {"url": "x', "zap"),
        ("<tool_call>{'name': 'fetch'}</tool_call>", "fetch"),
        ("<tool_call>{what}</tool_call>", ""),
        ("<tool_call>", ""),
        ("[TOOL_CALLS][", ""),
        ("[TOOL_CALLS]zap", "zap"),
        ("[TOOL_CALLS]zap[ARGS]", "zap"),
        ("[TOOL_CALLS]fetch the page", "fetch"),
        ("<|python_tag|>fetch.ca", "fetch"),
        ("<|python_tag|>now = 1", "now"),
        ("<function=fet", "fet"),
        ('[TOOL_CALLS]fetch[ARGS]{"url": "x', "fetch"),
        ('<|python_tag|>fetch.call(url="x', "fetch"),
        ("<|python_tag|>fetch.call(url=x)", "fetch"),
        ("<function=fetch>\n<parameter=url>\nhttp://x/lo", "fetch"),
        ("<tool_call>fetch the page</tool_call>", "fetch"),
        ("<start_function_call>call:fetch{url:<escape>x", "fetch"),
        ("<start_function_call>call:fetch{a}<end_function_call>", "fetch"),
        ("```tool_code\nprint(fetch(url=input()))\n```", "fetch"),
        ("```tool_code\nimport os\n```", "import"),
    ],
)
def test_a_broken_call_is_told_to_the_model_and_shown_to_nobody(message: str, name: str) -> None:
    found = read("Hm. \n" + message)
    assert found == call(name, message, said="Hm. \n")
    with pytest.raises(ValueError):
        json.loads(found.calls[0][1])


def test_what_a_broken_call_holds_is_not_called() -> None:
    broken = "<tool_call>{'say': now(), <function=now>{}</function>}</tool_call>"
    assert read(broken + " now()") == Read("", (("", broken), ("now", "{}")))


def test_a_call_without_a_name_is_returned_as_it_was_written() -> None:
    assert read_native('<tool_call>{"tool": "fetch"}</tool_call>') == call("", '{"tool": "fetch"}')


@pytest.mark.parametrize(
    "message",
    [
        "The <tool_call> tag opens a call.",
        "<tool_call> is a tag",
        "It is called <tool_call>",
        "Write `<tool_call>` first.",
        f'Write `<tool_call>{{"name": "fetch", "arguments": {URL}}}</tool_call>` for it.',
        f'```\nLike so:\n<tool_call>{{"name": "fetch", "arguments": {URL}}}</tool_call>\n```',
        '```\n<tool_call>{"name": ..., "arguments": {}}</tool_call>\n```',
        "Use <function=name> or <function= name>, [TOOL_CALLS], <|python_tag|> and <tool_code>",
        "a <tool_calls> b <func [TOOL",
        "<|python_tag|>import math",
        "<function=fetch>[1]</function>",
        "```tool_codes\nx()\n```",
    ],
)
def test_a_mark_that_is_only_mentioned_is_text(message: str) -> None:
    assert read_native(message) == text(message)


def test_a_code_block_that_is_nothing_but_a_native_call_is_that_call() -> None:
    wrapped = f'```xml\n<tool_call>\n{{"name": "fetch", "arguments": {URL}}}\n</tool_call>\n```'
    assert read_native(wrapped) == call("fetch", URL)


def test_values_between_tags_are_text_where_the_schema_says_so_and_json_where_it_does_not() -> None:
    body = (
        '<parameter=path>\n12\n</parameter><parameter=content>\n\n{"a": 1}\n</parameter>'
        "<parameter=mode>7</parameter><parameter=extra>True</parameter><parameter=more>no json</parameter>"
    )
    expected = {"path": "12", "content": '\n{"a": 1}', "mode": 7, "extra": True, "more": "no json"}
    [(name, arguments)] = read_native(f"<tool_call><function=write_file>{body}</function></tool_call>").calls
    assert name == "write_file"
    assert json.loads(arguments) == expected


def test_gemma_s_notation_nests() -> None:
    body = 'call:fetch{url:<escape>a{"b"},<escape>,depth:3,x:{y:[true,null,<escape>z<escape>],w:plain},v:[]}'
    [(_, arguments)] = read_native(f"<start_function_call>{body}<end_function_call>").calls
    assert json.loads(arguments) == {
        "url": 'a{"b"},',
        "depth": 3,
        "x": {"y": [True, None, "z"], "w": "plain"},
        "v": [],
    }


def test_python_values_are_literals_and_nothing_is_run() -> None:
    code = "write_file('a', \"\"\"x\n'y'\"\"\", mode=true, extra={'k': [1, None]})"
    [(name, arguments)] = read_native(f"<tool_code>{code}</tool_code>").calls
    assert (name, json.loads(arguments)) == (
        "write_file",
        {"path": "a", "content": "x\n'y'", "mode": True, "extra": {"k": [1, None]}},
    )


GLM = "<tool_call>write_file\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>\n<arg_key>mode</arg_key>\n"
GLM_ARGUMENTS = '{"path": "a", "mode": 7}'


def glm(message: str) -> Read:
    return read(message, frozenset({Form.GLM}))


@pytest.mark.parametrize("name", ["write_file", "write-file"])
@pytest.mark.parametrize("end", ["\n</tool_call>", "", "\n", "\n</tool_call>\nDone!"])
def test_a_glm_call_may_lack_its_end_but_no_value(name: str, end: str) -> None:
    message = f"{GLM.replace('write_file', name)}<arg_value>7</arg_value>{end}"
    assert glm(message) == call("write_file", GLM_ARGUMENTS)
    assert glm("Ok.\n" + message.removeprefix("<tool_call>")) == call("write_file", GLM_ARGUMENTS, said="Ok.\n")


def test_a_glm_call_without_arguments_is_a_call() -> None:
    assert glm("<tool_call>now</tool_call>") == call("now")
    assert glm("<tool_call>now\n{}\n</tool_call>") == call("now")


@pytest.mark.parametrize("cut", ["", "<arg_value>", "<arg_value>7", "<arg_value>7</arg_val"])
def test_a_glm_value_that_was_cut_is_not_guessed(cut: str) -> None:
    for message in (GLM + cut, GLM.removeprefix("<tool_call>") + cut):
        assert glm(message) == call("write_file", message)


def test_a_line_that_is_a_tool_s_name_is_text_unless_arguments_follow() -> None:
    assert glm("now\nwrite_file\nand so on") == text("now\nwrite_file\nand so on")
    assert glm('<tool_call>{"name": "now"}</tool_call>') == text('<tool_call>{"name": "now"}</tool_call>')
