"""Prepares a dialogue and its relations for `app.retriever`: words of relations, with every pseudonym hidden."""

from __future__ import annotations

import re
from collections.abc import Mapping

from app.privacy.safe_text import SafeDialogue
from app.retriever.features import Mention, Utterance
from kg_store.terms import Schema, Step, cached_by_version
from kg_store.text.words import is_pseudonym

_WORD = re.compile(r"[^\W_]+")


def utterances_of(dialogue: SafeDialogue, numbers: Mapping[str, tuple[int, ...]]) -> tuple[Utterance, ...]:
    """Returns the turns as the retriever reads them.

    `numbers`: for each pseudonym, the numbers of its things in the query; every other pseudonym is hidden as well.
    """
    return tuple(Utterance(turn.role, turn.text, tuple(_mentions(turn.text, numbers))) for turn in dialogue.turns)


def relation_words(schema: Schema, step: Step) -> str:
    """Returns the words of a step without its direction: `has admission ward`."""
    return _words_by_step(schema).setdefault(step, _said(schema, step))


def _mentions(text: str, numbers: Mapping[str, tuple[int, ...]]) -> list[Mention]:
    words = [(match[0], match.start(), match.end()) for match in _WORD.finditer(text)]
    return [
        Mention(start, end, numbers.get(word, ()))
        for word, start, end in words
        if word in numbers or is_pseudonym(word)
    ]


@cached_by_version
def _words_by_step(_schema: Schema) -> dict[Step, str]:
    return {}


def _said(schema: Schema, step: Step) -> str:
    relations = [schema.relations[hop.relation] for hop in step]
    return " ".join((each.description if each.mask is not None else "") or each.label for each in relations)
