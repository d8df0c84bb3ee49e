"""Writes drafts in fixed wordings: whoever chose the expressions, the service writes the sentence from them and the
facts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app.language.protocol import Language
from app.llm.tasks import StepInput
from app.strategies.base import Draft
from kg_store.errors import ExpressionError

PLAIN: Final = "The answer is {1}."


def draft_of(language: Language, expressions: Sequence[str], shown: StepInput) -> Draft:
    """The draft of an answer; `shown` holds the facts and ways behind it. Several parts are told one after the other.

    Promise: its text holds fixed wordings of the service, relation labels, concepts and pseudonyms of `shown`, and
    nothing of a model.
    """
    if len(expressions) > 1 and not expressions[1].startswith("count("):
        said = ", ".join(f"{{{number}}}" for number in range(1, len(expressions) + 1))
        return Draft(tuple(expressions), PLAIN.replace("{1}", said))
    try:
        parts, text = language.word_answer(expressions, shown)
    except ExpressionError:
        # Executing it fails as well, and reports the error.
        return Draft(tuple(expressions), PLAIN)
    return Draft(tuple(parts), text)
