"""Every way that a call can go ends in a result that the model can read."""

from __future__ import annotations

import asyncio

import pytest
from pydantic import Field

from tests.tools.conftest import Project
from tools.base import Tool, ToolArguments, ToolContext, ToolError, ToolResult, define_tool
from tools.registry import ToolRegistry


class Arguments(ToolArguments):
    text: str = Field(default="", description="What to say.")


async def echo(args: Arguments, ctx: ToolContext) -> ToolResult:
    return ToolResult(content=args.text, end_turn=True, response_delivered=True)


def raising(error: BaseException) -> Tool[Arguments]:
    async def run(args: Arguments, ctx: ToolContext) -> ToolResult:
        raise error

    return define_tool(name="broken", description="", arguments=Arguments, run=run)


ECHO = define_tool(name="echo_text", description="", arguments=Arguments, run=echo)


async def test_a_call_gives_what_the_tool_gives(project: Project) -> None:
    result = await ToolRegistry([ECHO]).execute("echo_text", '{"text":"hi"}', project.context())
    assert result == ToolResult(content="hi", end_turn=True, response_delivered=True)


async def test_an_unknown_tool_is_an_error_that_names_the_others(project: Project) -> None:
    registry = ToolRegistry([ECHO, raising(ValueError())])
    result = await registry.execute("functions.echo_txt", "{}", project.context())
    assert result.is_error
    assert result.content == ("unknown tool: functions.echo_txt. Did you mean echo_text? Available: echo_text, broken")
    assert registry.unknown_tool_message("nope") == "unknown tool: nope. Available: echo_text, broken"
    assert ToolRegistry([]).unknown_tool_message("a\n" + "b" * 500).endswith("…. Available: none")


async def test_bad_arguments_are_an_error_and_the_tool_does_not_run(project: Project) -> None:
    result = await ToolRegistry([raising(AssertionError("it ran"))]).execute("broken", '{"txt":1}', project.context())
    assert result.is_error
    assert result.content.startswith("tool error: invalid arguments for broken: txt is not an argument")


async def test_a_tools_own_refusal_is_passed_on_word_for_word(project: Project) -> None:
    result = await ToolRegistry([raising(ToolError("/etc/x is outside"))]).execute("broken", "", project.context())
    assert result == ToolResult(content="tool error: /etc/x is outside", is_error=True)


@pytest.mark.parametrize(
    ("error", "content"),
    [
        (ValueError("it broke"), "tool error: ValueError: it broke"),
        (ValueError("first\nTraceback: second"), "tool error: ValueError: first"),
        (ValueError("no /srv/bot/x.py here"), "tool error: ValueError: no [path] here"),
        (ValueError("no '/srv/my bot/x.py' here"), "tool error: ValueError: no [path] here"),
        (ValueError(r"no C:\bot\x.py here"), "tool error: ValueError: no [path] here"),
        (ValueError("see https://host.example/a/b and and/or"), None),
        (FileNotFoundError(2, "No such file", "/srv/x"), "tool error: FileNotFoundError: No such file"),
        (TimeoutError(), "tool error: TimeoutError"),
        (ExceptionGroup("two", [ValueError()]), "tool error: ExceptionGroup: two (1 sub-exception)"),
    ],
)
async def test_an_unexpected_exception_is_one_line_without_paths(
    project: Project, error: Exception, content: str | None
) -> None:
    result = await ToolRegistry([raising(error)]).execute("broken", "", project.context())
    assert result.is_error
    assert result.content == (content or f"tool error: ValueError: {error}")


async def test_a_cancel_goes_through(project: Project) -> None:
    with pytest.raises(asyncio.CancelledError):
        await ToolRegistry([raising(asyncio.CancelledError())]).execute("broken", "", project.context())


async def test_results_and_errors_are_capped_and_can_be_encoded(project: Project) -> None:
    async def huge(args: Arguments, ctx: ToolContext) -> ToolResult:
        return ToolResult(content="\ud800" + "é" * 10_000)

    registry = ToolRegistry(
        [define_tool(name="huge", description="", arguments=Arguments, run=huge), raising(ToolError("x" * 10_000))]
    )
    project.max_result_bytes = 256
    for name in ("huge", "broken"):
        content = (await registry.execute(name, "", project.context())).content
        assert len(content.encode()) <= 256
        assert "[truncated " in content


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two tools are called echo_text"):
        ToolRegistry([ECHO, ECHO])


def test_a_registry_keeps_the_order(project: Project) -> None:
    registry = ToolRegistry([raising(ValueError()), ECHO])
    assert registry.names == tuple(tool.name for tool in registry) == ("broken", "echo_text")
    assert len(registry) == 2
    assert registry.get("echo_text") is ECHO
    assert registry.get("nope") is None
