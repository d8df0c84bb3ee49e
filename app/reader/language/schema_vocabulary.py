"""The words by which a schema's relations and concepts may be asked for, found without a sentence model."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from app.reader.language.idioms import plainer
from app.reader.language.question_words import GRAMMAR, words_in
from app.reader.language.relation_wording import hop_words, kinds_in, verbs_said
from kg_store.terms import Hop, Schema, cached_by_version
from kg_store.text.english import kind_words
from kg_store.text.inflection import singular, verbs_of
from kg_store.text.labels import worded, words_of_kinds
from kg_store.text.words import is_pseudonym

EMPTY: Final = frozenset(
    "please exactly currently current now ever person people one ones thing things somebody someone anyone anybody "
    "everyone everybody got get gets getting belong belongs called named kind kinds type types sort there here both "
    "same together share shared shares sharing common actually really just still yet different certain "
    "respective following given altogether total know known find see tell looking want like new own use used "
    "made make makes making go goes involve involved involving include including includes included found "
    "happen happened took taken many pls all listed each recently recent came come comes "
    "something anything everything stuff doing done".split()
)
"""Words that say little by themselves, so a reading need not explain them."""
# Words that share fewer first letters are not treated as related. Chosen by hand; not fitted.
MIN_KIN_LETTERS: Final = 5


@dataclass(frozen=True, slots=True)
class SchemaVocabulary:
    """The words of a schema: nouns in the singular as `words`, base forms of verbs as `verbs`."""

    words: frozenset[str]
    verbs: frozenset[str]

    def lacks(self, text: str) -> list[str]:
        """Returns the content words of `text` that no relation and no concept of the schema uses; each
        once, in order.
        """
        return [word for word in dict.fromkeys(filter(is_telling, words_in(plainer(text)))) if not self._has(word)]

    def _has(self, word: str) -> bool:
        return (
            not kind_words(singular(word)).isdisjoint(self.words)
            or is_kin(word, self.words)
            or not self.verbs.isdisjoint(verbs_of(word))
        )


@cached_by_version
def vocabulary_of(schema: Schema, concepts: tuple[str, ...]) -> SchemaVocabulary:
    """The vocabulary of the relations of `schema`, in both directions, and of `concepts`."""
    steps = [
        worded(schema, (Hop(relation.id, inverse),)) for relation in schema.relations for inverse in (False, True)
    ]
    hops = [hop_words(step, "") for step in steps]
    further = words_of_kinds(schema)
    texts = _all((*hop.relation, *hop.hints) for hop in hops) | _all(map(kinds_in, concepts))
    texts |= _all(further.get(concept, ()) for concept in concepts)
    words = {singular(word) for text in texts for word in text.lower().split()}
    return SchemaVocabulary(frozenset(words), frozenset(_all(hop.verbs | verbs_said(hop.further) for hop in hops)))


def _all(groups: Iterable[Iterable[str]]) -> set[str]:
    return set[str]().union(*groups)


def is_kin(word: str, said: Collection[str]) -> bool:
    """True if `word` shares a long beginning with a word of `said`: `licence` and `licensed`, `specialise`,
    `specializes`.
    """
    least = max(MIN_KIN_LETTERS, len(word) - 3)
    beginning = word[:least]
    if len(word) >= least:
        for other in said:  # A plain loop, because this runs for each word and each step.
            if other.startswith(beginning):
                return True
    return False


def is_telling(word: str) -> bool:
    """True for a content word: a question that uses it can be answered only if the graph has something for it."""
    return word not in GRAMMAR and word not in EMPTY and not is_pseudonym(word) and word != "'s" and len(word) > 1
