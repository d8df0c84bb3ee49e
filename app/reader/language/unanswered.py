"""Finds the words of an unanswered question that nothing in the graph stands for."""

from __future__ import annotations

from app.language.readings import UnansweredQuestion
from app.reader.language.answer_form import read_form
from app.reader.language.quantifiers import read_quantifier
from app.reader.language.question_words import words_in
from app.reader.language.schema_vocabulary import is_telling, vocabulary_of
from kg_store.terms import Schema


def read_unanswered(question: str, schema: Schema, kinds: tuple[str, ...]) -> UnansweredQuestion:
    """Reads why `question` has no answer. `kinds`: the concepts of `schema`; without them no word
    counts as lacking.
    """
    turned = read_quantifier(question)
    rest = read_form(turned.rest, topics=0).rest
    lacking = vocabulary_of(schema, kinds).lacks(rest) if kinds else []
    telling = tuple(word for word in words_in(turned.rest) if is_telling(word))
    return UnansweredQuestion(tuple(lacking), telling, turned.unread, turned.word)
