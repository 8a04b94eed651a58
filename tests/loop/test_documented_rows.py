"""The pages about the loop name tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "pipeline" / "README.md"


def test_every_row_of_the_page_names_tests_that_exist() -> None:
    known = {
        node.name
        for path in TESTS.rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    _, _, rows = PAGE.read_text("utf-8").partition("## Which test shows which row")
    named = re.findall(r"`(test_\w+)`", rows)
    assert len(named) > 50
    assert sorted(set(named) - known) == []
    rows_without = [
        row for row in rows.splitlines() if row.startswith("| ") and "`test_" not in row and "**" not in row
    ]
    assert rows_without[:2] == ["| row | test |", "| --- | --- |"] and len(rows_without) == 2
