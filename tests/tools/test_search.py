"""search_files: the same answers with ripgrep and without."""

from __future__ import annotations

import json

import pytest

from tests.tools.conftest import Project
from tools.builtin import Deps, builtin_tools, find_ripgrep
from tools.registry import ToolRegistry


@pytest.fixture(params=["with ripgrep", "without"], autouse=True)
def finder(request: pytest.FixtureRequest, project: Project) -> str:
    if request.param == "without":
        project.registry = ToolRegistry(builtin_tools(Deps()))
    return str(request.param)


async def search(project: Project, query: str, **arguments: object) -> str:
    return await project.ok("search_files", json.dumps({"query": query, **arguments}))


def test_ripgrep_is_found_beside_the_interpreter() -> None:
    assert find_ripgrep() is not None


async def test_matches_are_shown_with_file_line_and_text(project: Project) -> None:
    project.write("b/two.py", "x\n  needle two\r\n")
    project.write("a.txt", "needle one\nno\nneedle three")
    assert await search(project, "needle") == ("a.txt:1: needle one\na.txt:3: needle three\nb/two.py:2:   needle two")
    assert await search(project, "absent") == "(no matches)"


async def test_a_lower_case_query_finds_upper_case_but_not_the_other_way(project: Project) -> None:
    project.write("a.txt", "TODO\ntodo\n")
    assert await search(project, "todo") == "a.txt:1: TODO\na.txt:2: todo"
    assert await search(project, "TODO") == "a.txt:1: TODO"


@pytest.mark.parametrize("query", ["a.c", "-e", "--pre=sh", "(", "[", "\\", "$HOME", "*", "é漢", " x "])
async def test_a_literal_query_means_itself(project: Project, query: str) -> None:
    project.write("a.txt", f"abc\n<{query}>\n")
    assert await search(project, query) == f"a.txt:2: <{query}>"


async def test_a_search_can_be_limited_to_a_folder_a_file_and_a_glob(project: Project) -> None:
    for name in ("a.py", "sub/b.py", "sub/deep/c.txt"):
        project.write(name, "needle\n")
    assert await search(project, "needle", path="sub") == "sub/b.py:1: needle\nsub/deep/c.txt:1: needle"
    assert await search(project, "needle", path="sub/b.py") == "sub/b.py:1: needle"
    assert await search(project, "needle", glob="*.py") == "a.py:1: needle\nsub/b.py:1: needle"
    assert await search(project, "needle", glob="**/*.py") == await search(project, "needle", glob="*.py")
    assert await search(project, "needle", glob="sub/*.py") == "sub/b.py:1: needle"


async def test_links_binaries_and_installed_packages_are_not_searched(project: Project) -> None:
    (project.outside / "x.txt").write_text("needle\n")
    (project.root / "folder").symlink_to(project.outside)
    (project.root / "file.txt").symlink_to(project.outside / "x.txt")
    (project.root / "loop").symlink_to(".")
    project.write("data", b"needle\0needle\n")
    project.write("node_modules/m.js", "needle\n")
    project.write(".github/ci.yml", "needle\n")
    project.write(".gitignore", "*\n")
    assert await search(project, "needle") == ".github/ci.yml:1: needle"


async def test_names_with_odd_characters_are_shown_on_one_line(project: Project) -> None:
    project.write("a\nb:1: fake.txt", "needle\n")
    assert await search(project, "needle") == "a\\nb:1: fake.txt:1: needle"


async def test_a_long_line_is_shown_round_the_match(project: Project) -> None:
    project.write("min.js", "x" * 5000 + "needle" + "y" * 5000)
    shown = await search(project, "needle")
    assert "xxneedleyy" in shown
    assert len(shown) < 300


async def test_many_matches_are_bounded_in_number_and_size(project: Project) -> None:
    project.write("a.txt", "needle\n" * 500)
    lines = (await search(project, "needle")).split("\n")
    assert len(lines) == 101
    assert lines[-1] == "[stopped at 100 matches; narrow the search with path or glob]"
    project.max_result_bytes = 400
    shown = await search(project, "needle")
    assert len(shown.encode()) <= 400
    assert shown.endswith("[more matches do not fit; narrow the search with path or glob]")


async def test_denied_files_do_not_use_up_the_matches(project: Project) -> None:
    project.write(".env", "needle\n" * 500)
    project.write(".git/log", "needle\n" * 500)
    project.write("a.txt", "needle\n")
    assert await search(project, "needle") == "a.txt:1: needle"


@pytest.mark.parametrize(
    "arguments", [{"query": "a\nb"}, {"query": ""}, {"query": "a", "glob": "!*.py"}, {"query": "x" * 1001}]
)
async def test_a_query_that_makes_no_sense_is_refused(project: Project, arguments: dict[str, object]) -> None:
    await project.refused("search_files", json.dumps(arguments))


async def test_regular_expressions_need_ripgrep(project: Project, finder: str) -> None:
    project.write("a.txt", "n33dle\n")
    text = json.dumps({"query": r"^n\d+dle$", "regex": True})
    if finder == "without":
        assert "need ripgrep" in await project.refused("search_files", text)
    else:
        assert await project.ok("search_files", text) == "a.txt:1: n33dle"
