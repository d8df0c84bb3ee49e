"""Finds the facts between a history and a reply by Hard Matching (Zhou et al., ACL 2022), and how rare each is.

A fact is between them if one of its ends stands in the history and the other in the reply, both compared by lemmas.
Chance does much here, since common words have many facts: a reply to another dialogue is also joined to the history
in many cases. So measures of it are to be read beside those of replies that were swapped among the dialogues.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import chain
from typing import Final

from app.privacy.words.grammar import ADVERBS, CONJUNCTIONS, FUNCTION_WORDS, NEVER_NAMES, PRONOUNS
from evaluation.demands.dialogues import DialoguePair
from evaluation.dialogue.dialogue_sets import Triple, squad_words
from kg_store.lexicon.lexicon import kinds_of
from kg_store.text.english import zipf_frequency
from kg_store.text.inflection import lemmas

LemmaRun = tuple[str, ...]

_STOP_WORDS: Final = FUNCTION_WORDS | PRONOUNS | CONJUNCTIONS | NEVER_NAMES | ADVERBS
_AUXILIARY: Final = "f"
_SPACED_APOSTROPHE: Final = re.compile(r"\s*[’'`]\s*")
_WORD_OR_SIGN: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*|[^\w\s'-]")
_NEGATED: Final = "'t"


class HardMatcher:
    """Finds the facts of one graph between texts. Its phrases are indexed once; a text is looked up by its runs."""

    def __init__(self, facts: Iterable[Triple]) -> None:
        self._facts: defaultdict[LemmaRun, list[tuple[LemmaRun, Triple]]] = defaultdict(list)
        phrase = cache(_phrase)
        for fact in dict.fromkeys(facts):
            head, tail = phrase(fact[0]), phrase(fact[2])
            if head and tail and head != tail:
                self._facts[head].append((tail, fact))
                self._facts[tail].append((head, fact))
        self._longest = max(map(len, self._facts), default=0)
        self._runs_of = lru_cache(maxsize=50_000)(self._runs)

    def facts_between(self, history: Sequence[str], reply: str) -> frozenset[Triple]:
        """Returns the facts with one end in a turn of `history` and the other in `reply`."""
        spoken = frozenset(chain.from_iterable(map(self._runs_of, history)))
        return frozenset(fact for run in self._runs_of(reply) for other, fact in self._facts[run] if other in spoken)

    def _runs(self, text: str) -> frozenset[LemmaRun]:
        """Returns the phrases of the graph that stand in `text`."""
        found = set[LemmaRun]()
        for lemmas_ in _clauses(text):
            for start in range(len(lemmas_)):
                ends = range(start + 1, min(len(lemmas_), start + self._longest) + 1)
                found.update(run for end in ends if (run := tuple(lemmas_[start:end])) in self._facts)
        return frozenset(found)


@dataclass(frozen=True, slots=True)
class FactRarity:
    """In how many of `pairs` pairs of history and reply each fact was found."""

    pairs: int
    counts: Mapping[Triple, int] = field(repr=False)

    @classmethod
    def of(cls, matcher: HardMatcher, pairs: Iterable[DialoguePair]) -> FactRarity:
        """Counts the facts of `pairs`: give all pairs of the dialogues for development.

        The paper does not state over which texts it counts. Its test set would be too small and would weigh a fact by
        the replies that are measured, so here it is the pairs that nothing is measured on.
        """
        counts, number = Counter[Triple](), 0
        for pair in pairs:
            number += 1
            counts.update(matcher.facts_between(pair.history, pair.reply))
        return cls(number, counts)

    def idf(self, fact: Triple) -> float:
        """Returns log((1 + N) / (1 + df)), natural logarithm: 0 for a fact of every pair, most for one of none."""
        return math.log((1 + self.pairs) / (1 + self.counts.get(fact, 0)))


def _phrase(text: str) -> LemmaRun:
    """Returns a phrase of a graph as lemmas; empty if it is of stop words alone, which say nothing."""
    is_content = any(word and not _is_stop_word(word) for word in _words(text))
    return tuple(chain.from_iterable(_clauses(text))) if is_content else ()


def _clauses(text: str) -> list[list[str]]:
    """Returns the lemmas of `text` in order, without articles, split where a sign stands: no phrase goes over it."""
    clauses: list[list[str]] = [[]]
    for word in _words(text):
        if not word:
            clauses.append([])
        elif lemma := _lemma(word):
            clauses[-1].append(lemma)
    return clauses


def _words(text: str) -> Iterator[str]:
    """Yields the words of `text` in small letters and an empty text for each sign.

    The set writes "it ’ s" for "it's". Of such a word the first part counts, but a negated auxiliary ("won't") is no
    word of any phrase, and its parts would be read as others.
    """
    for token in _WORD_OR_SIGN.findall(_SPACED_APOSTROPHE.sub("'", text.lower())):
        is_word = token[0].isalnum() and not token.endswith(_NEGATED)
        yield token.partition("'")[0] if is_word else ""


@lru_cache(maxsize=50_000)
def _lemma(word: str) -> str:
    """Returns the most frequent word that `word` may be a form of; empty for an article, as SQuAD compares texts."""
    forms = {form for forms in lemmas(word).values() for form in forms}
    lemma = max(sorted(forms), key=zipf_frequency, default=word)
    return lemma if squad_words(word) else ""


@lru_cache(maxsize=50_000)
def _is_stop_word(word: str) -> bool:
    return word in _STOP_WORDS or _AUXILIARY in kinds_of(word)
