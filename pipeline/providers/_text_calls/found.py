"""What a parser of text-form calls is asked for, and what it finds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Form(StrEnum):
    """The ways to write a call that a parser can look for."""

    VERBATIM = "verbatim"
    HERMES = "hermes"
    MISTRAL = "mistral"
    PYTHON_TAG = "python_tag"
    FUNCTION_TAG = "function_tag"
    GEMMA_CALL = "gemma_call"
    GEMMA_CODE = "gemma_code"
    GLM = "glm"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A piece of visible text."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """A call. `arguments` is the text of a JSON object, as received where it was one.

    A call that cannot be read has what was written as its `arguments`, and no name where none was readable: the answer
    that the loop gives to it tells the model more than silence.
    """

    name: str
    arguments: str


Found = Said | Called
