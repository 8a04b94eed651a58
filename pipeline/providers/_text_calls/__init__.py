"""Calls that a model writes into its text: asked to (`verbatim_instructions`), or as the leaked form of its training.

`TextCallParser` parts a streamed answer into what people see and what is called. What counts as a call, and what as
text about one, is written down in `parser`.
"""

from pipeline.providers._text_calls.found import Called, Form, Said
from pipeline.providers._text_calls.instructions import verbatim_instructions
from pipeline.providers._text_calls.parser import NATIVE_FORMS, TextCallParser

__all__ = ["NATIVE_FORMS", "Called", "Form", "Said", "TextCallParser", "verbatim_instructions"]
