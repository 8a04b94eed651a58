"""Text before a tool call: when it is the answer already, so that no further pass is needed.

| provider, tool | the turn |
| --- | --- |
| any, a silent tool (`is_silent`: the memory's) | ends |
| `ends_after_text` (NovelAI's habit), a tool that brings something to tell (`requires_follow_up`) | goes on |
| `ends_after_text`, any other tool | ends |
| other providers, other tools | goes on |

Only successes are asked about, and only behind text that people saw. Of several calls in a pass, one that goes on is
enough.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pipeline.provider import ProviderTraits
from tools.base import Tool


def ends_with_text(traits: ProviderTraits, tools: Iterable[Tool[Any] | None]) -> bool:
    """Whether a turn ends with the text before its calls, all of which succeeded. `tools` are those called."""
    return all(
        tool is not None and (tool.is_silent or (traits.ends_after_text and not tool.requires_follow_up))
        for tool in tools
    )
