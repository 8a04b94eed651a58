"""No path that a model can write leads out of the project, and nothing is made or changed outside."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from stat import S_IFSOCK

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tools.descent
from tests.tools.conftest import Project
from tools.errors import ToolError
from tools.scope import ProjectScope

TOOLS = {
    "read_file": {},
    "list_dir": {},
    "search_files": {"query": "secret"},
    "write_file": {"content": "evil"},
    "edit_file": {"old": "top", "new": "evil"},
}


@pytest.fixture(params=TOOLS)
def tool(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def arguments(tool: str, path: str) -> str:
    return json.dumps({"path": path, **TOOLS[tool]})


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else b"" for p in folder.rglob("*")}


@pytest.fixture
def nothing_changes_outside(project: Project) -> Iterator[None]:
    before = snapshot(project.outside), sorted(os.listdir(project.root.parent))
    yield
    assert (snapshot(project.outside), sorted(os.listdir(project.root.parent))) == before


@pytest.mark.usefixtures("nothing_changes_outside")
@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("../proj-evil/secret.txt", "outside"),
        ("..", "outside"),
        ("a/../../x", "outside"),
        ("/etc/passwd", "outside"),
        ("//etc/passwd", "outside"),
        ("/", "outside"),
        ("%2e%2e/x", "percent-encoded"),
        ("%2E%2E%2Fproj-evil/secret.txt", "percent-encoded"),
        ("..\\proj-evil\\secret.txt", "backslash"),
        ("\\\\?\\x", "backslash"),
        ("secret\0.txt", "NUL"),
        ("~/x", "not expanded"),
        ("x" * 5000, "too long"),
        ("x" * 300, "too long"),
    ],
)
async def test_a_path_that_leads_out_is_refused_by_every_tool(
    project: Project, tool: str, path: str, words: str
) -> None:
    (project.root / "a").mkdir()
    assert words in await project.refused(tool, arguments(tool, path))


@pytest.mark.usefixtures("nothing_changes_outside")
async def test_an_absolute_path_with_steps_back_is_refused(project: Project, tool: str) -> None:
    for path in (f"{project.root}/../proj-evil/secret.txt", f"{project.root}-evil/secret.txt"):
        result = await project.call(tool, arguments(tool, path))
        assert result.is_error and "outside" in result.content


@pytest.mark.usefixtures("nothing_changes_outside")
@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("/", "link/etc/passwd"),
        ("/etc/passwd", "link"),
        ("../proj-evil", "link/secret.txt"),
        ("../proj-evil", "link/new.txt"),
        ("../proj-evil/secret.txt", "link"),
        ("../proj-evil/new.txt", "link"),
        ("sub/../../proj-evil/secret.txt", "link"),
        ("again", "link"),
        ("nowhere.txt", "link"),
        ("nowhere/deep", "link/x"),
        ("link", "link"),
        (".env", "link"),
        (".git", "link/config"),
    ],
)
async def test_a_link_that_leads_out_or_nowhere_is_refused(project: Project, tool: str, target: str, path: str) -> None:
    project.write("sub/x.txt", "x")
    project.write(".env", "top secret")
    project.write(".git/config", "top secret")
    (project.root / "again").symlink_to("../proj-evil/secret.txt")
    (project.root / "link").symlink_to(target)
    before = snapshot(project.root)
    await project.refused(tool, arguments(tool, path))
    assert snapshot(project.root) == before


async def test_a_link_inside_the_project_works_and_stays_a_link(project: Project) -> None:
    project.write("real/a.txt", "old\n")
    (project.root / "by-name").symlink_to("real/a.txt")
    (project.root / "by-folder").symlink_to(project.root / "real")
    (project.root / "real" / "up").symlink_to("../real")
    for path in ("by-name", "by-folder/a.txt", "real/up/up/a.txt", "by-folder/../real/a.txt"):
        assert await project.ok("read_file", arguments("read_file", path)) == "old\n"
    await project.ok("write_file", arguments("write_file", "by-name"))
    assert (project.root / "by-name").is_symlink()
    assert (project.root / "real/a.txt").read_text() == "evil"
    await project.ok("write_file", arguments("write_file", "by-folder/new.txt"))
    assert (project.root / "real/new.txt").read_text() == "evil"


@pytest.mark.parametrize(
    "name", [".env", ".ENV.local", ".git/config", "sub/.git/HEAD", "keys/id_rsa", "server.PEM", "a.key", ".ssh/x"]
)
async def test_denied_names_are_off_limits_for_every_tool(project: Project, tool: str, name: str) -> None:
    project.write(name, "top secret")
    assert "off limits" in await project.refused(tool, arguments(tool, name))
    assert (project.root / name).read_text() == "top secret"


async def test_a_denied_write_makes_no_folders_on_the_way(project: Project) -> None:
    await project.refused("write_file", arguments("write_file", "new/deep/.env"))
    assert not (project.root / "new").exists()


async def test_denied_names_are_neither_listed_nor_found(project: Project) -> None:
    project.write(".env", "top secret")
    project.write(".git/config", "top secret")
    project.write("id_ed25519.pub", "top secret")
    project.write(".countersign-0123.tmp", "top secret")
    project.write("a.txt", "no harm")
    assert await project.ok("list_dir", "{}") == "f a.txt"
    assert await project.ok("search_files", '{"query":"secret"}') == "(no matches)"


@pytest.mark.usefixtures("nothing_changes_outside")
async def test_a_file_with_a_second_name_is_refused(project: Project, tool: str) -> None:
    os.link(project.outside / "secret.txt", project.root / "hard.txt")
    result = await project.refused(tool, arguments(tool, "hard.txt"))
    assert ("not a folder" if tool == "list_dir" else "hard link") in result


async def test_a_search_does_not_show_a_file_with_a_second_name(project: Project) -> None:
    os.link(project.outside / "secret.txt", project.root / "hard.txt")
    assert await project.ok("search_files", '{"query":"secret"}') == "(no matches)"


def test_an_operator_can_allow_hard_links(project: Project) -> None:
    project.write("a.txt", "text")
    os.link(project.root / "a.txt", project.root / "b.txt")
    scope = ProjectScope("demo", project.root, allow_hard_links=True)
    with scope.open_read("b.txt") as opened:
        assert opened.file.read() == b"text"
    scope.write_atomic("b.txt", b"new")
    assert (project.root / "a.txt").read_text() == "text"


async def test_pipes_sockets_and_devices_are_refused_without_waiting(project: Project, tool: str) -> None:
    os.mkfifo(project.root / "pipe")
    os.mknod(project.root / "socket", S_IFSOCK | 0o600)
    for name in ("pipe", "socket"):
        await project.refused(tool, arguments(tool, name))


@pytest.mark.usefixtures("nothing_changes_outside")
@pytest.mark.parametrize(
    "act",
    [
        lambda scope: scope.open_read("sub/secret.txt").__enter__(),
        lambda scope: scope.write_atomic("sub/secret.txt", b"evil"),
        lambda scope: scope.write_atomic("sub/deep/new.txt", b"evil"),
        lambda scope: scope.resolve("sub/secret.txt"),
        lambda scope: scope.list_dir("sub"),
    ],
)
def test_a_folder_that_becomes_a_link_between_look_and_open_is_not_followed(
    project: Project, monkeypatch: pytest.MonkeyPatch, act: Callable[[ProjectScope], object]
) -> None:
    project.write("sub/secret.txt", "harmless")
    look = tools.descent._stat_entry

    def look_then_swap(name: str, directory: int) -> os.stat_result | None:
        stat = look(name, directory)
        if name == "sub" and not (project.root / "gone").exists():
            (project.root / "sub").rename(project.root / "gone")
            (project.root / "sub").symlink_to(project.outside)
        return stat

    monkeypatch.setattr(tools.descent, "_stat_entry", look_then_swap)
    with pytest.raises(ToolError, match="not a folder"):
        act(project.scope)


@pytest.mark.parametrize("what", ["link", "pipe"])
def test_a_file_that_becomes_something_else_between_look_and_open_is_not_read(
    project: Project, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    path = project.write("a.txt", "harmless")
    look = tools.descent._stat_entry

    def look_then_swap(name: str, directory: int) -> os.stat_result | None:
        stat = look(name, directory)
        path.unlink()
        if what == "link":
            path.symlink_to(project.outside / "secret.txt")
        else:
            os.mkfifo(path)
        return stat

    monkeypatch.setattr(tools.descent, "_stat_entry", look_then_swap)
    with pytest.raises(ToolError, match=r"^a\.txt"):
        project.scope.open_read("a.txt").__enter__()


@pytest.mark.parametrize("name", ["../../x", "", "a/b", ".hidden", "x" * 65, "a b", "a\n"])
def test_a_project_name_is_a_plain_word(project: Project, name: str) -> None:
    with pytest.raises(ValueError, match="project name"):
        ProjectScope(name, project.root)


def test_a_root_is_a_folder_and_not_the_whole_disk(project: Project) -> None:
    for root in (Path("/"), project.outside / "secret.txt", project.root / "absent"):
        with pytest.raises(ValueError, match="the folder of project demo"):
            ProjectScope("demo", root)


parts = st.sampled_from(["..", ".", "", "a", "deep", "out", "in", "up", "file.txt", "absent", "~", "%2e%2e", " "])
paths = st.lists(parts, max_size=8).map("/".join) | st.text(st.characters(), max_size=30)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=paths, absolute=st.booleans())
def test_whatever_the_path_only_the_project_is_read_and_written(project: Project, path: str, absolute: bool) -> None:
    with suppress(FileExistsError):
        project.write("a/deep/file.txt", "inside")
        project.write("file.txt", "inside")
        (project.root / "out").symlink_to(project.outside)
        (project.root / "in").symlink_to("a/deep")
        (project.root / "a/up").symlink_to("../..")
    before = snapshot(project.outside), sorted(os.listdir(project.root.parent))
    path = f"{project.root}/{path}" if absolute else path
    with suppress(ToolError), project.scope.open_read(path) as opened:
        assert opened.file.read() in (b"inside", b"written")
        assert os.path.samestat((project.root / opened.name).lstat(), os.fstat(opened.file.fileno()))
    with suppress(ToolError):
        assert {entry.name for entry in project.scope.list_dir(path)}.isdisjoint({"secret.txt", "proj-evil"})
    with suppress(ToolError):
        project.scope.write_atomic(path, b"written")
    assert (snapshot(project.outside), sorted(os.listdir(project.root.parent))) == before
