"""The native forms as data: the marks that models were trained on, which leak where a server does not know them.

Sources: the chat templates of Hermes 2 Pro, Qwen 2.5 / 3 / 3-Coder, Mistral (v3 and v11), Llama 3.1, FunctionGemma,
Gemma 3 (tool_code), Gemma 4 and GLM 4.5.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from pipeline.providers._text_calls.found import Called, Form
from pipeline.providers._text_calls.gemma_calls import read_gemma_call
from pipeline.providers._text_calls.json_calls import read_calls, read_named
from pipeline.providers._text_calls.known import KnownTools
from pipeline.providers._text_calls.python_calls import read_code, read_python_call
from pipeline.providers._text_calls.source import Source, Steps
from pipeline.providers._text_calls.tagged_calls import read_function, read_glm, read_wrapped_function


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeForm:
    """`opening`, white space, a body that begins with a character of the class `begins`, and `closing`, which may be
    missing. `read` takes the body; it raises NotACall where the opening was only mentioned, Unreadable where it is
    broken."""

    form: Form
    opening: str
    begins: str
    read: Callable[[Source, KnownTools], Steps[list[Called]]]
    closing: str = ""


_JSON, _WORD = r"[{\[]", r"\w"

NATIVE: tuple[NativeForm, ...] = tuple(
    NativeForm(form=form, opening=opening, begins=begins, read=read, closing=closing)
    for form, opening, begins, read, closing in (
        (Form.HERMES, "<tool_call>", _JSON, read_calls, "</tool_call>"),
        (Form.FUNCTION_TAG, "<tool_call>", "<", read_wrapped_function, "</tool_call>"),
        (Form.GLM, "<tool_call>", _WORD, read_glm, "</tool_call>"),
        (Form.FUNCTION_TAG, "<function=", r"[\w\"']", read_function, "</function>"),
        (Form.MISTRAL, "[TOOL_CALLS]", _JSON, read_calls, ""),
        (Form.MISTRAL, "[TOOL_CALLS]", _WORD, read_named, ""),
        (Form.PYTHON_TAG, "<|python_tag|>", _JSON, read_calls, ""),
        (Form.PYTHON_TAG, "<|python_tag|>", _WORD, read_python_call, ""),
        (Form.GEMMA_CALL, "<start_function_call>", "c", read_gemma_call, "<end_function_call>"),
        (Form.GEMMA_CALL, "<|tool_call>", "c", read_gemma_call, "<tool_call|>"),
        (Form.GEMMA_CODE, "<tool_code>", r"\S", read_code, "</tool_code>"),
        (Form.GEMMA_CODE, "```tool_code\n", r"\S", read_code, "```"),
        (Form.GEMMA_CODE, "```tool_code\r\n", r"\S", read_code, "```"),
    )
)
NATIVE_FORMS = frozenset(Form) - {Form.VERBATIM, Form.GLM}
"""What local models let slip without having been asked."""

_OPENINGS = "|".join(re.escape(form.opening) for form in NATIVE)
_NAME_IN_BROKEN = re.compile(
    rf"""(?:\A(?:{_OPENINGS})\s*+(?:<function=|call:|print\()?|["']name["']\s*:)\s*+["']?([A-Za-z_][\w-]*)"""
)


def name_in(broken: str, tools: KnownTools) -> str:
    """The name in a call that cannot be read, or nothing. `broken` begins with the opening mark."""
    found = _NAME_IN_BROKEN.search(broken)
    return tools.resolve(found[1]) if found else ""
