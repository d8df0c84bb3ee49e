"""Says whether the words of a piece fit a relation: its own, everyday ones, those of its ends, or none at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from app.chat.statements.evidence import Evidence, Step
from app.chat.statements.words.tokens import NUMBERS, POSSESSIVES, Token, is_form, is_grammar, lemmas, noun_base
from app.chat.statements.words.wording import (
    TABLE,
    frame_words,
    label_words,
    noun_phrases,
    plain_label,
    verb_phrases,
    wording_of,
)

_SUPERLATIVES: Final = frozenset("best worst most least top finest ultimate".split())
_DATE_WORDS: Final = frozenset({"date", "dated"})
_PREFIXES: Final = frozenset({"mid"})
_PARTICLES: Final = frozenset("off out up down away back over".split())
MIN_STEM: Final = 4
_ENDINGS: Final = (
    "ment",
    "ation",
    "ition",
    "sion",
    "tion",
    "ion",
    "ance",
    "ence",
    "ing",
    "ship",
    "able",
    "ible",
    "al",
)
NEUTRAL: Final = frozenset(TABLE["neutral"]["words"].split())


@dataclass(frozen=True, slots=True)
class WordCheck:
    """`fitting`: words that say the relation; `foreign`: that say another one; `unknown`: that say neither."""

    fitting: tuple[str, ...]
    foreign: tuple[str, ...]
    unknown: tuple[str, ...]
    others: tuple[str, ...] = ()
    """Words of `foreign` that say another relation of the graph."""


def check_words(evidence: Evidence, tokens: Sequence[Token], steps: Sequence[Step], near: Iterable[str]) -> WordCheck:
    """The content words of a piece against the facts that would carry it; `near`: names that it speaks of."""
    words = _Words(evidence, tokens, steps, tuple(near))
    sorts = [(token.word, words.sort_of(at)) for at, token in enumerate(tokens)]
    unknown = tuple(word for word, sort in sorts if sort == "unknown")
    fitting = tuple(word for word, sort in sorts if sort == "fitting")
    foreign = tuple(word for word, sort in sorts if sort == "foreign")
    return WordCheck(fitting, foreign, unknown, words.saying_others(foreign))


class _Words:
    """The words that say some facts, and those for the things of a piece."""

    def __init__(
        self, evidence: Evidence, tokens: Sequence[Token], steps: Sequence[Step], near: Sequence[str]
    ) -> None:
        named = {token.word for token in tokens if token.is_name}
        self._tokens = tokens
        self._known = frozenset[str]().union(*(relation_words(step.label) for step in steps))
        self._kinds = frozenset[str]().union(
            *(_parts(evidence.kind_words(name)) for name in near if name in named),
            *(_parts(evidence.concept_words(name)) for name in near),
        )
        self._concepts = frozenset(part for name in near for kind in evidence.kinds(name) for part in kind.split())
        self._labels = tuple(evidence.beside.labels)
        self._graph = words_of_labels(tuple(evidence.beside.labels))
        self._verbs = {key[0] for step in steps for key in step.wording.verbs}
        self._nouns = {noun for step in steps for noun in step.wording.nouns} if steps else noun_phrases()
        sorts = {step.sort for step in steps if step.here == "start"}
        self._is_number = sorts == {"number"}

    def sort_of(self, at: int) -> str:
        """fitting, foreign, unknown, or nothing for a word that tells nothing."""
        token = self._tokens[at]
        before = self._tokens[at - 1].word if at and not self._tokens[at - 1].is_name else ""
        if self._is_foreign(token.word, before):
            return "foreign"
        is_bound = token.word in ("most", "least") and before == "at"
        is_bound = is_bound or (token.word == "own" and before in (*POSSESSIVES, "'s"))
        is_plain = token.is_word and not is_grammar(token.word) and token.word != "'s"
        if not is_plain or is_bound or token.word in NUMBERS or token.is_number:
            return ""
        forms, word = bases(token.word), token.word
        if _is_superlative(word) and word not in self._known:
            return "unknown"
        if "-" in word and not _is_joined(word, self._known | self._kinds | NEUTRAL):
            return "unknown"
        if not forms.isdisjoint(self._known) or is_derived(word, self._known):
            return "fitting"
        is_held = at + 1 < len(self._tokens) and self._tokens[at + 1].word == "of"
        if forms & NEUTRAL or not forms.isdisjoint(self._concepts if is_held else self._kinds):
            return ""
        return "unknown" if forms.isdisjoint(all_frame_words()) and forms.isdisjoint(self._graph) else "foreign"

    def saying_others(self, foreign: Sequence[str]) -> tuple[str, ...]:
        said = words_of_relations(self._labels)
        return tuple(word for word in foreign if word in _PARTICLES or not bases(word).isdisjoint(said))

    def _is_foreign(self, word: str, before: str) -> bool:
        """ "First name" of a phone number, "set off" of an arrival, "dated" of an amount."""
        if word in _DATE_WORDS and self._is_number and word not in self._known:
            return True
        phrase = f"{before} {noun_base(word)}"
        if before in NEUTRAL and phrase in noun_phrases() and phrase not in self._nouns:
            return True
        phrases = {f"{base} {word}" for base in lemmas(before, "VERB")} if before and word in _PARTICLES else set()
        is_said = bool(phrases & verb_phrases()) or is_form(before, "VBD") or is_form(before, "VBN")
        is_said = is_said or bool(NEUTRAL.intersection(lemmas(before, "VERB")))
        return bool(phrases) and is_said and not phrases & self._verbs


@lru_cache(maxsize=50_000)
def bases(word: str) -> frozenset[str]:
    """The word itself and its base forms; of a joined word its parts."""
    parts = [word, *word.split("-")] if "-" in word else [word]
    found = {base for part in parts for kind in ("VERB", "NOUN", "ADJ", "ADV") for base in lemmas(part, kind)}
    return frozenset(found | {*parts, noun_base(word)})


@lru_cache(maxsize=4096)
def relation_words(step: str) -> frozenset[str]:
    """The base forms of words that say the step."""
    label = plain_label(step.split("|")[-1])
    said = wording_of(step).words | label_words(label)
    words = frozenset(base for word in said for base in bases(word)) - NEUTRAL
    own = frozenset(word for word in label.split() if not is_grammar(word))
    return words if own - NEUTRAL else words | own


@lru_cache(maxsize=256)
def words_of_labels(labels: tuple[str, ...]) -> frozenset[str]:
    """The base forms of the words that the relations of a graph are called by."""
    words = {word for label in labels for hop in label.split("|") for word in plain_label(hop).split()}
    return frozenset(base for word in words if not is_grammar(word) for base in bases(word)) - NEUTRAL


@lru_cache(maxsize=256)
def words_of_relations(labels: tuple[str, ...]) -> frozenset[str]:
    """The base forms of the words that say one of the relations of a graph."""
    return frozenset(word for label in labels for word in relation_words(label))


@lru_cache(maxsize=1)
def all_frame_words() -> frozenset[str]:
    """The base forms of the words that say any relation of the table."""
    return frozenset(base for word in frame_words() for base in bases(word)) - NEUTRAL


def _parts(words: Iterable[str]) -> frozenset[str]:
    return frozenset(part for word in words for part in word.split())


def _is_superlative(word: str) -> bool:
    return word in _SUPERLATIVES or (
        word.endswith("est") and bool(lemmas(word, "ADJ")) and word not in lemmas(word, "ADJ")
    )


def _is_joined(word: str, known: frozenset[str]) -> bool:
    """True of "co-driver" where it is known whole, or part by part."""
    return word in known or all(part in _PREFIXES or not bases(part).isdisjoint(known) for part in word.split("-"))


@lru_cache(maxsize=50_000)
def is_derived(word: str, known: frozenset[str]) -> bool:
    """ "Treatment" of treat, "supervision" of supervise."""
    ending = next((each for each in _ENDINGS if word.endswith(each)), "")
    stem = word.removesuffix(ending)
    return (
        bool(ending)
        and len(stem) >= MIN_STEM
        and any(verb in known for verb in (stem, f"{stem}e", f"{stem}s", f"{stem}se", f"{stem}t", f"{stem}de"))
    )
