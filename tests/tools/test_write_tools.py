"""write_file, edit_file and the diffs that people approve."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.tools.conftest import Project
from tools.diff import diff
from tools.errors import ToolError
from tools.schema import parse_arguments


async def preview(project: Project, tool: str, **arguments: object) -> str:
    found = project.registry.get(tool)
    assert found is not None and found.preview is not None
    return await found.preview(parse_arguments(found, json.dumps(arguments)), project.context())


async def test_a_file_is_written_and_the_answer_says_what_happened(project: Project) -> None:
    text = json.dumps({"path": "notes/a.txt", "content": "é\n"})
    assert await project.ok("write_file", text) == "created notes/a.txt (3 bytes)"
    assert await project.ok("write_file", text) == "replaced notes/a.txt (3 bytes)"
    assert (project.root / "notes/a.txt").read_text() == "é\n"


async def test_a_preview_shows_the_change_and_makes_none(project: Project) -> None:
    assert await preview(project, "write_file", path="a.txt", content="one\ntwo\n") == (
        "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1,2 @@\n+one\n+two"
    )
    assert not (project.root / "a.txt").exists()
    project.write("a.txt", "one\nTWO\n")
    assert await preview(project, "write_file", path="./a.txt", content="one\ntwo\n") == (
        "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-TWO\n+two"
    )
    assert "no change" in await preview(project, "write_file", path="a.txt", content="one\nTWO\n")


async def test_a_preview_of_a_call_that_cannot_work_says_why(project: Project) -> None:
    project.write("a.txt", "one")
    for tool, arguments in (
        ("write_file", {"path": "../x", "content": ""}),
        ("write_file", {"path": ".env", "content": ""}),
        ("edit_file", {"path": "a.txt", "old": "two", "new": ""}),
        ("edit_file", {"path": "b.txt", "old": "two", "new": ""}),
    ):
        with pytest.raises(ToolError):
            await preview(project, tool, **arguments)


@pytest.mark.parametrize("content", [b"a\0b", b"\xff\xfe", b"x" * (1024 * 1024 + 1)])
async def test_what_is_not_text_is_neither_replaced_nor_edited(project: Project, content: bytes) -> None:
    path = project.write("a.dat", content)
    await project.refused("write_file", '{"path":"a.dat","content":"x"}')
    await project.refused("edit_file", '{"path":"a.dat","old":"x","new":"y"}')
    assert path.read_bytes() == content


async def test_content_beyond_the_limit_is_refused(project: Project) -> None:
    text = json.dumps({"path": "a.txt", "content": "x" * (1024 * 1024 + 1)})
    assert "too large" in await project.refused("write_file", text)


async def edit(project: Project, content: str, **arguments: object) -> str:
    project.write("a.txt", content)
    await project.ok("edit_file", json.dumps({"path": "a.txt", **arguments}))
    return (project.root / "a.txt").read_bytes().decode()


async def test_an_edit_replaces_the_one_occurrence(project: Project) -> None:
    assert await edit(project, "a b c\n", old="b", new="é") == "a é c\n"
    assert await edit(project, "a b c\n", old=" b", new="") == "a c\n"
    assert await edit(project, "a a a\n", old="a", new="b", replace_all=True) == "b b b\n"


async def test_an_edit_with_plain_newlines_fits_a_file_with_windows_line_ends(project: Project) -> None:
    assert await edit(project, "a\r\nb\r\nc\r\n", old="a\nb", new="x\ny") == "x\r\ny\r\nc\r\n"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("absent", "x", "old was not found in a.txt"),
        ("one", "x", "(lines 1, 2, 4)"),
        ("aa", "x", "(lines 5, 5)"),
        ("two", "two", "nothing would change"),
        ("", "x", "old should have at least 1 character"),
    ],
)
async def test_an_edit_that_does_not_fit_is_refused_with_what_to_do(
    project: Project, old: str, new: str, words: str
) -> None:
    path = project.write("a.txt", "one\none\ntwo\none\naaa\n")
    assert words in await project.refused("edit_file", json.dumps({"path": "a.txt", "old": old, "new": new}))
    assert path.read_text() == "one\none\ntwo\none\naaa\n"


async def test_an_edit_cannot_blow_a_file_up(project: Project) -> None:
    project.write("a.txt", "a" * 10_000)
    text = json.dumps({"path": "a.txt", "old": "a", "new": "b" * 10_000, "replace_all": True})
    assert "too large" in await project.refused("edit_file", text)


@pytest.mark.parametrize("tool", ["write_file", "edit_file"])
def test_a_writer_names_the_file_that_it_touches(project: Project, tool: str) -> None:
    found = project.registry.get(tool)
    assert found is not None
    arguments = {"write_file": {"content": ""}, "edit_file": {"old": "a", "new": "b"}}[tool]
    assert found.touches(parse_arguments(found, json.dumps({"path": "./x//y", **arguments}))) == ("x/y",)


line = st.sampled_from(["a\n", "b\n", "c\r\n", "\n", "-x\n", "@@ -1 +1 @@\n", "é\u2028\n", "\x0c\n"])
lines = st.lists(line, max_size=30)
texts = st.builds(lambda body, end: "".join(body) + end, lines, st.sampled_from(["", "end"]))


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@settings(max_examples=60)
@given(old=texts, new=texts)
def test_a_diff_can_be_applied(tmp_path_factory: pytest.TempPathFactory, old: str, new: str) -> None:
    assume(old and new and old != new)
    folder: Path = tmp_path_factory.mktemp("diff")
    (folder / "f").write_bytes(old.encode())
    made = diff("f", old, new) + "\n"
    subprocess.run(["git", "apply", "--whitespace=nowarn"], cwd=folder, input=made.encode(), check=True)
    assert (folder / "f").read_bytes() == new.encode()


def test_a_change_deep_in_a_file_has_the_right_line_numbers() -> None:
    old = [f"{n}\n" for n in range(1, 1001)]
    new = [*old[:499], "changed\n", *old[500:]]
    assert "@@ -497,7 +497,7 @@" in diff("f", "".join(old), "".join(new))


def test_a_rewritten_large_file_is_one_block_and_the_cut_is_counted() -> None:
    old, new = "".join(f"a{n}\n" for n in range(5000)), "".join(f"b{n}\n" for n in range(6000))
    shown = diff("f", old, new, max_lines=100).split("\n")
    assert shown[2] == "@@ -1,5000 +1,6000 @@"
    assert len(shown) == 101
    assert shown[-1] == f"[diff cut: {3 + 11_000 - 100} more lines]"


def test_a_long_line_and_a_long_diff_say_what_is_left_out() -> None:
    assert diff("f", None, "x" * 700).split("\n")[3] == "+" + "x" * 499 + "… [+201 characters]"
    shown = diff("f", None, "é\n" * 300, max_bytes=200)
    assert len(shown.encode()) < 250
    assert shown.endswith(" more lines]")


def test_a_name_cannot_add_lines_to_a_diff() -> None:
    assert diff("f\n+x", None, "y\n") == "--- /dev/null\n+++ b/f\\n+x\n@@ -0,0 +1 @@\n+y"


def test_an_empty_new_file_has_a_diff() -> None:
    assert diff("f", None, "") == "--- /dev/null\n+++ b/f"
