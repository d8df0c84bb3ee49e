"""Parsing of the concept path: whatever the model invented in it is dropped before it can travel again."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from app.llm.embedded.language.concept_nouns import GENERAL_NOUNS
from app.llm.tasks import PathTriple
from kg_store.graph.version_cache import cached_by_version
from kg_store.terms import Schema

_WORD = re.compile(r"[^\W_]+")
MAX_TRIPLES = 8


class Vocabulary:
    """The words that may stand in a concept path: pseudonyms that were sent, concepts and relation words."""

    def __init__(self, pseudonyms: Collection[str], words: frozenset[str]) -> None:
        self._pseudonyms, self._words = frozenset(pseudonyms), words

    @classmethod
    def of(cls, schema: Schema, pseudonyms: Collection[str]) -> Vocabulary:
        """The words of a graph's schema, beside these pseudonyms."""
        return cls(pseudonyms, _words_of(schema))

    def keep(self, text: str) -> str:
        """`text` without every word that is not of the vocabulary; a guessed name never travels again."""
        kept = [word for word in _WORD.findall(text) if word in self._pseudonyms or word.casefold() in self._words]
        return " ".join(kept)


def parse_path(path: Iterable[PathTriple], vocabulary: Vocabulary) -> list[PathTriple]:
    """The triples of `path` in the vocabulary's words; triples that have no relation left are dropped."""
    parsed = []
    for triple in list(path)[:MAX_TRIPLES]:
        relation = vocabulary.keep(triple.relation)
        if relation:
            head, tail = vocabulary.keep(triple.head), vocabulary.keep(triple.tail)
            parsed.append(PathTriple(head=head or "thing", relation=relation, tail=tail or "thing"))
    return parsed


@cached_by_version
def _words_of(schema: Schema) -> frozenset[str]:
    labels = [words for relation in schema.relations for words in (relation.label, relation.inverse_label)]
    phrases = {*labels, *schema.concepts, *GENERAL_NOUNS}
    return frozenset(word.casefold() for phrase in phrases for word in _WORD.findall(phrase))
