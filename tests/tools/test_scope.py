"""Reading, listing, walking and writing inside the project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.tools.conftest import Project
from tools.errors import ToolError
from tools.paths import lexical_name
from tools.scope import MissingError, ProjectScope


def test_a_write_replaces_the_file_in_one_step(project: Project) -> None:
    path = project.write("a.txt", "old")
    with path.open() as reader:
        assert project.scope.write_atomic("a.txt", b"new") is False
        assert reader.read() == "old"  # who has it open keeps the whole old file
    assert path.read_text() == "new"
    assert os.listdir(project.root) == ["a.txt"]


def test_a_write_makes_missing_folders_and_says_that_the_file_is_new(project: Project) -> None:
    assert project.scope.write_atomic("x/y/z.txt", b"new") is True
    assert (project.root / "x/y/z.txt").read_bytes() == b"new"


def test_a_write_keeps_the_permissions(project: Project) -> None:
    path = project.write("run.sh", "old")
    path.chmod(0o750)
    project.scope.write_atomic("run.sh", b"new")
    assert path.stat().st_mode & 0o777 == 0o750


def test_a_new_file_gets_the_permissions_of_any_other(project: Project) -> None:
    project.scope.write_atomic("a.txt", b"")
    assert (project.root / "a.txt").stat().st_mode == project.write("b.txt", "").stat().st_mode


def test_a_read_only_file_stays_as_it_is(project: Project) -> None:
    path = project.write("a.txt", "old")
    path.chmod(0o444)
    with pytest.raises(ToolError, match="read-only"):
        project.scope.write_atomic("a.txt", b"new")
    assert path.read_text() == "old"


@pytest.mark.parametrize("path", ["sub", "sub/", ".", "new/", "a.txt/x", "a.txt/../b.txt", "new/../b.txt"])
def test_a_write_to_what_is_no_file_is_refused(project: Project, path: str) -> None:
    project.write("sub/x", "")
    project.write("a.txt", "")
    with pytest.raises(ToolError):
        project.scope.write_atomic(path, b"new")
    assert sorted(os.listdir(project.root)) == ["a.txt", "sub"]


def test_a_failed_write_leaves_nothing_behind(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    path = project.write("a.txt", "old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ToolError, match=r"^a\.txt: No space left on device$"):
        project.scope.write_atomic("a.txt", b"new")
    assert path.read_text() == "old"
    assert os.listdir(project.root) == ["a.txt"]


def test_a_write_after_somebody_elses_change_is_refused(project: Project) -> None:
    project.write("a.txt", "old")
    with project.scope.open_read("a.txt") as opened:
        seen = opened.stat
    project.write("a.txt", "theirs")
    with pytest.raises(ToolError, match="changed by somebody else"):
        project.scope.write_atomic("a.txt", b"ours", expected=seen)
    assert (project.root / "a.txt").read_text() == "theirs"


def test_absolute_paths_below_the_root_are_accepted_in_both_spellings(project: Project, tmp_path: Path) -> None:
    project.write("sub/a.txt", "text")
    (tmp_path / "alias").symlink_to(project.root)
    scope = ProjectScope("demo", tmp_path / "alias")
    assert scope.root == project.root
    for root in (project.root, tmp_path / "alias"):
        assert scope.resolve(f"{root}/sub/./a.txt") == "sub/a.txt"
        assert scope.resolve(str(root)) == "."


def test_a_missing_file_is_its_own_error(project: Project) -> None:
    for path in ("absent", "absent/deeper"):
        with pytest.raises(MissingError, match=f"^{path}: no such file or folder$"):
            project.scope.resolve(path)


def test_a_listing_has_folders_first_and_follows_links_inside(project: Project) -> None:
    for name in ("b/x", "A/x", "c.txt", "B.txt"):
        project.write(name, "")
    (project.root / "to-folder").symlink_to("b")
    (project.root / "to-outside").symlink_to("/")
    shown = [("d " if e.is_dir else "f ") + e.name for e in project.scope.list_dir(".")]
    assert shown == ["d A", "d b", "d to-folder", "f B.txt", "f c.txt", "f to-outside"]


def test_a_walk_follows_no_link_and_leaves_out_what_is_skipped_or_denied(project: Project) -> None:
    for name in ("b/x", "b/.env", "a", "skip/y", ".git/z"):
        project.write(name, "")
    (project.root / "loop").symlink_to(".")
    os.mkfifo(project.root / "pipe")
    assert list(project.scope.walk(".", frozenset({"skip"}))) == ["a", "b/x"]
    assert list(project.scope.walk("b/x")) == ["b/x"]


def test_every_descriptor_is_closed_again(project: Project) -> None:
    project.write("a/b/c.txt", "")
    (project.root / "link").symlink_to("a/b")
    before = len(os.listdir("/dev/fd"))
    for path in ("a/b/c.txt", "link/c.txt", "a/../../x", "a/b/absent", "link/../..", "a/b/c.txt/x"):
        try:
            with project.scope.open_read(path):
                pass
            project.scope.write_atomic(path, b"")
        except ToolError:
            continue
    next(project.scope.walk("."))
    assert len(os.listdir("/dev/fd")) == before


def test_depth_is_bounded(project: Project) -> None:
    with pytest.raises(ToolError, match="too many folders"):
        project.scope.write_atomic("/".join(["d"] * 150), b"")


def test_one_file_has_one_lexical_name() -> None:
    assert {lexical_name(path) for path in ("a/b", "./a//b", " a/c/../b ", "a/./b")} == {"a/b"}
