"""The house rules that no other tool keeps."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import discord
import pytest
from dotenv import dotenv_values

from bot.settings import load_settings
from bot.settings_docs import configuration_page, env_example

ROOT = Path(__file__).resolve().parent.parent
MOST_LINES = 320


def files(*suffixes: str) -> Iterator[Path]:
    """The files of the project: those that git knows or would take."""
    if not (ROOT / ".git").exists():
        pytest.skip("the tree is not a git checkout, so which files belong to it is not known")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    for name in listed.split("\0"):
        path = ROOT / name
        if name and path.is_file() and (not suffixes or path.suffix in suffixes):
            yield path


def test_the_pipeline_brings_no_discord_and_the_tools_bring_no_pipeline() -> None:
    program = """
import pkgutil, sys
import tools
for module in pkgutil.walk_packages(tools.__path__, "tools."): __import__(module.name)
assert not [name for name in sys.modules if name.split(".")[0] in {"discord", "bot", "pipeline"}]
import pipeline
for module in pkgutil.walk_packages(pipeline.__path__, "pipeline."):
    if ".migrations" not in module.name: __import__(module.name)
assert not [name for name in sys.modules if name.split(".")[0] in {"discord", "bot"}]
"""
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_no_source_file_is_too_long() -> None:
    lengths = {path: path.read_text("utf-8").count("\n") for path in files(".py", ".js", ".css", ".html")}
    assert not {str(path.relative_to(ROOT)): lines for path, lines in lengths.items() if lines > MOST_LINES}


def test_scripts_are_short_executable_and_posix() -> None:
    for script in (ROOT / "scripts").iterdir():
        if script.read_bytes().startswith(b"#!/bin/sh"):
            assert script.stat().st_mode & 0o111, script
            assert 3 <= len(script.read_text().splitlines()) <= 10, script
            assert subprocess.run(["/bin/sh", "-n", script], check=False).returncode == 0


def test_only_the_settings_read_the_environment() -> None:
    readers = re.compile(r"\bos\.(environ|getenv)\b|from os import .*\b(environ|getenv)\b")
    code = [path for path in files(".py") if path.relative_to(ROOT).parts[0] in {"bot", "pipeline", "tools"}]
    assert [path.relative_to(ROOT).as_posix() for path in code if readers.search(path.read_text("utf-8"))] == [
        "bot/settings.py"
    ]


def test_no_file_names_a_registry_or_a_place_on_one_machine() -> None:
    # Put together here, so that this file is not among the finds.
    words = ("py" + "pi.org", "python" + "hosted.org", "--index" + "-url", "/" + "work/", "/root/" + ".")
    finds = []
    for path in files():
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        finds += [f"{path.relative_to(ROOT)}: {word}" for word in (*words, str(ROOT) + "/") if word in text]
    assert finds == []


@pytest.mark.parametrize(
    ("name", "written"), [("docs/configuration.md", configuration_page()), (".env.example", env_example())]
)
def test_the_configuration_pages_are_what_the_settings_say(name: str, written: str) -> None:
    assert (ROOT / name).read_text("utf-8") == written, "run scripts/fix"


def test_env_example_taken_in_whole_gives_the_defaults(tmp_path: Path) -> None:
    lines = (ROOT / ".env.example").read_text("utf-8").splitlines()
    taken = [line[2:] for line in lines if re.match(r"# [A-Z][A-Z_]*=", line) and "__" not in line]
    env = tmp_path / ".env"
    env.write_text("\n".join(taken) + "\n")
    assert len(dotenv_values(env)) > 40
    plain, read = load_settings({}, env_file=None), load_settings({}, env_file=env)
    assert read.model_dump(exclude={"approvers"}) == plain.model_dump(exclude={"approvers"})


def test_the_readme_invites_with_exactly_the_permissions_it_lists() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    invited = discord.Permissions(
        view_channel=True,
        send_messages=True,
        create_public_threads=True,
        send_messages_in_threads=True,
        embed_links=True,
        attach_files=True,
        read_message_history=True,
        add_reactions=True,
    )
    assert f"permissions={invited.value}" in readme


def test_links_in_the_documents_lead_somewhere() -> None:
    for path in files(".md"):
        for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", path.read_text("utf-8")):
            assert (path.parent / target).exists(), f"{path.relative_to(ROOT)}: {target}"
