"""The one error that a tool raises on purpose."""

from __future__ import annotations


class ToolError(Exception):
    """A refusal or a failure in words for the model and the people: it becomes an error result.

    The message says what to do next, names paths as the model wrote them, and holds nothing about the host.
    """
