"""`name(...)`: what may stand between the brackets of a call that a model was asked to write."""

from __future__ import annotations

import json

from pipeline.providers._text_calls.json_calls import as_received, parts
from pipeline.providers._text_calls.known import Signature
from pipeline.providers._text_calls.source import SPACE, NotACall, Source, Steps


def read_arguments(source: Source, signature: Signature) -> Steps[str]:
    """The arguments as the text of a JSON object: an object, the text of the one required parameter, or nothing where
    none is required. Unknown and missing keys are for the loop to judge. Raises NotACall or Unreadable.
    """
    if not (yield from source.skip("(")):
        raise NotACall
    yield from source.run(SPACE)
    match (yield from source.peek()):
        case "{":
            text = yield from source.bracketed()
            read = parts(text)
            if not isinstance(read, dict):
                raise NotACall
            text = as_received(text)
        case '"' if (parameter := signature.single_text) is not None:
            text = yield from source.string()
            read = parts(f"[{text}]")
            if not isinstance(read, list):
                raise NotACall
            text = json.dumps({parameter: read[0].value}, ensure_ascii=False)
        case ")" if not signature.required:
            text = "{}"
        case _:
            raise NotACall
    yield from source.run(SPACE)
    if not (yield from source.skip(")")):
        raise NotACall
    return text
