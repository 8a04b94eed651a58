"""What holds for every built-in tool, also for the next one."""

from __future__ import annotations

import inspect
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import pytest

import tools.builtin
from tools.base import Tool
from tools.builtin import Deps, builtin_tools
from tools.registry import ToolRegistry

DEPS = Deps()
MODULES = [module.name for module in iter_modules(tools.builtin.__path__) if not module.name.startswith("_")]


def test_the_folder_is_the_list() -> None:
    registry = ToolRegistry(builtin_tools(DEPS))  # refuses two of one name
    assert set(registry.names) >= {"read_file", "list_dir", "search_files", "write_file", "edit_file", "now"}
    assert set(registry.names) >= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_keeps_the_rules_of_the_house(name: str) -> None:
    module = import_module(f"tools.builtin.{name}")
    made: tuple[Tool[Any], ...] = module.tools(DEPS)
    assert made
    for tool in made:
        assert tool.name.isidentifier() and tool.name.islower() and len(tool.name) <= 64
        assert tool.description.endswith(".")
        assert tool.schema["additionalProperties"] is False
        properties = tool.schema["properties"]
        assert isinstance(properties, dict)
        assert all(isinstance(p, dict) and p["description"] for p in properties.values())
        assert tool.idempotent != tool.needs_approval, "reading may be repeated, writing is asked about"
        if "write_atomic" in inspect.getsource(module):
            assert tool.needs_approval and tool.preview is not None
