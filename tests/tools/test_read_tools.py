"""read_file, list_dir and now."""

from __future__ import annotations

import json
import re
from zoneinfo import available_timezones

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tools.conftest import Project
from tools.builtin import read_file


async def read(project: Project, path: str, **window: int) -> str:
    return await project.ok("read_file", json.dumps({"path": path, **window}))


async def test_a_small_file_is_shown_as_it_is(project: Project) -> None:
    for content in ("# Title\n\ntext\n", "no newline at the end", "one\r\ntwo\r\n", "\u2028 é 漢 🎉\n"):
        project.write("a.md", content)
        assert await read(project, "a.md") == content


async def test_an_empty_file_is_called_empty(project: Project) -> None:
    project.write("a.md", "")
    assert await read(project, "a.md") == "(empty file)"
    assert "has no line 2, it has 0" in await project.refused("read_file", '{"path":"a.md","offset":2}')


async def test_a_window_of_lines_says_where_it_is(project: Project) -> None:
    project.write("a.txt", "".join(f"line {n}\n" for n in range(1, 11)))
    assert await read(project, "a.txt", offset=3, limit=2) == ("[lines 3-4 of 10; go on with offset=5]\nline 3\nline 4")
    assert await read(project, "a.txt", offset=9) == "[lines 9-10 of 10]\nline 9\nline 10"
    assert await read(project, "a.txt", limit=10) == await read(project, "a.txt")


async def test_an_offset_behind_the_end_is_an_error_that_says_how_long_the_file_is(project: Project) -> None:
    project.write("a.txt", "one\ntwo")
    assert "a.txt has no line 3, it has 2" in await project.refused("read_file", '{"path":"a.txt","offset":3}')


async def test_a_long_file_can_be_read_to_its_end_in_parts(project: Project) -> None:
    lines = [f"line {n} é\n" for n in range(1, 3001)]
    project.write("a.txt", "".join(lines))
    seen, offset = "", 1
    for _ in range(20):
        part = await read(project, "a.txt", offset=offset)
        assert len(part.encode()) <= project.max_result_bytes
        head, _, body = part.partition("\n")
        seen += body.partition("\n[truncated ")[0] + "\n"
        onward = re.search(r"of 3000; go on with offset=(\d+)\]$", head)
        if onward is None:
            break
        offset = int(onward[1])
    assert seen == "".join(lines)


async def test_a_file_that_does_not_fit_ends_with_the_bytes_that_are_missing(project: Project) -> None:
    content = "0123456789\n" * 5000
    project.write("a.txt", content)
    part = await read(project, "a.txt")
    body, _, marker = part.partition("\n")[2].partition("\n[truncated ")
    assert len(body) + 1 + int(marker.removesuffix(" bytes]")) == len(content)


async def test_one_endless_line_is_cut_between_characters(project: Project) -> None:
    project.write("a.txt", "é" * 50_000 + "\nlast\n")
    part = await read(project, "a.txt")
    head, body, marker = part.split("\n")
    assert head == "[lines 1-1 of 2; line 1 is cut; go on with offset=2]"
    assert set(body) == {"é"}
    assert marker == f"[truncated {100_001 - len(body.encode()) + 5} bytes]"
    assert await read(project, "a.txt", offset=2) == "[lines 2-2 of 2]\nlast"


async def test_a_huge_file_is_not_loaded(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_file, "MAX_SCANNED_BYTES", 1024 * 1024)
    path = project.write("a.log", "first\n" * 2000)
    with path.open("r+b") as file:
        file.truncate(2 * 1024**3)  # sparse: two gigabytes of NUL after the first lines
    assert (await read(project, "a.log", limit=1)).startswith("[lines 1-1 of more than ")
    assert "beyond the first" in await project.refused("read_file", '{"path":"a.log","offset":5000}')


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.binary(max_size=400).map(lambda data: data.replace(b"\0", b"\n")),
    offset=st.integers(1, 12),
    limit=st.none() | st.integers(1, 5),
    size=st.integers(256, 400),
)
async def test_any_window_of_any_bytes_is_shown_within_the_limit(
    project: Project, content: bytes, offset: int, limit: int | None, size: int
) -> None:
    project.write("a.txt", content)
    project.max_result_bytes = size
    result = await project.call("read_file", json.dumps({"path": "a.txt", "offset": offset, "limit": limit}))
    lines = [line.decode("utf-8", "replace") for line in content.split(b"\n")]
    count = len(lines) - (not lines[-1])
    assert len(result.content.encode()) <= size
    if result.is_error:
        assert offset > max(count, 1)
        return
    found = re.match(r"\[lines (\d+)-(\d+) of (\d+)(; line \d+ is cut)?(; go on with offset=\d+)?\]\n", result.content)
    if found is None:
        assert result.content == (content.decode("utf-8", "replace") or "(empty file)")
        return
    first, last, total = (int(found[n]) for n in (1, 2, 3))
    assert (first, total) == (offset, count)
    assert bool(found[5]) == (last < count)
    if not found[4]:
        assert result.content[found.end() :].startswith("\n".join(lines[first - 1 : last]))


@pytest.mark.parametrize("name", ["logo.png", "photo.JPEG", "sub/icon.svg"])
async def test_an_image_is_refused_even_if_it_is_missing(project: Project, name: str) -> None:
    assert f"image file ({name})" in await project.refused("read_file", json.dumps({"path": name}))


@pytest.mark.parametrize(("name", "content"), [("a.zip", b"text"), ("program", b"\x7fELF\0\1"), ("x.txt", b"a\0b")])
async def test_a_binary_file_is_refused_by_name_or_content(project: Project, name: str, content: bytes) -> None:
    project.write(name, content)
    assert f"binary file ({name})" in await project.refused("read_file", json.dumps({"path": name}))


async def test_a_folder_and_a_missing_file_are_refused_in_words(project: Project) -> None:
    project.write("sub/a.txt", "")
    assert await project.refused("read_file", '{"path":"sub"}') == "tool error: sub: a folder, not a file"
    assert await project.refused("read_file", '{"path":"no.md"}') == "tool error: no.md: no such file or folder"
    assert await project.refused("read_file", '{"path":" "}') == "tool error: path must be a non-empty string"
    assert "path is missing" in await project.refused("read_file", "{}")


async def test_a_folder_is_listed_with_kinds(project: Project) -> None:
    project.write("src/app.ts", "")
    project.write("README.md", "")
    project.write("odd\nf name", "")
    assert await project.ok("list_dir", "{}") == "d src\nf odd\\nf name\nf README.md"
    assert await project.ok("list_dir", json.dumps({"path": str(project.root / "src")})) == "f app.ts"
    assert await project.ok("list_dir", '{"path":" "}') == await project.ok("list_dir", '{"path":null}')


async def test_an_empty_folder_is_called_empty(project: Project) -> None:
    assert await project.ok("list_dir", "") == "(empty)"


async def test_a_file_cannot_be_listed(project: Project) -> None:
    project.write("a.txt", "")
    assert await project.refused("list_dir", '{"path":"a.txt"}') == "tool error: a.txt: not a folder"


async def test_without_a_project_every_file_tool_is_refused(project: Project) -> None:
    project.scope = None  # type: ignore[assignment]
    for tool in ("list_dir", "read_file", "search_files", "write_file", "edit_file"):
        arguments = {"list_dir": "{}", "search_files": '{"query":"x"}', "read_file": '{"path":"a"}'}
        text = arguments.get(tool, '{"path":"a","content":"x"}' if tool == "write_file" else "")
        text = text or '{"path":"a","old":"x","new":"y"}'
        assert "no project folder" in await project.refused(tool, text)


@pytest.mark.skipif("Asia/Tokyo" not in available_timezones(), reason="no timezone data on this machine")
@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ("", "2026-03-01T12:00:00+00:00 (Sunday, UTC)"),
        ('{"timezone":"utc"}', "2026-03-01T12:00:00+00:00 (Sunday, UTC)"),
        ('{"timezone":"Asia/Tokyo"}', "2026-03-01T21:00:00+09:00 (Sunday, Asia/Tokyo)"),
        ('{"timezone":"Pacific/Kiritimati"}', "2026-03-02T02:00:00+14:00 (Monday, Pacific/Kiritimati)"),
    ],
)
async def test_now_tells_the_time_of_a_zone(project: Project, arguments: str, answer: str) -> None:
    assert await project.ok("now", arguments) == answer


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../../etc/passwd", "/etc/passwd", "Europe", "a\0b", "x" * 5000])
async def test_an_unknown_zone_is_refused(project: Project, zone: str) -> None:
    assert "unknown timezone" in await project.refused("now", json.dumps({"timezone": zone}))
