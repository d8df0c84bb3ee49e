"""Says whether the words of a piece fit a relation: its own, everyday ones, those of its ends, or none at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from app.chat.statements.evidence import Evidence, Step
from app.chat.statements.tokens import NUMBERS, Token, is_form, is_grammar, lemmas, noun_base
from app.chat.statements.wording import (
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
    is_adorned: bool = False
    """True where a name that the house did not give, an adjective or an adverb adds something that no fact says."""


def check_words(evidence: Evidence, tokens: Sequence[Token], steps: Sequence[Step], near: Iterable[str]) -> WordCheck:
    """The content words of a piece against the facts that would carry it; `near`: names that it speaks of."""
    known = frozenset[str]().union(*(relation_words(step.label) for step in steps))
    named = {token.word for token in tokens if token.is_name}
    kinds = frozenset[str]().union(
        *(_parts(evidence.kind_words(name)) for name in near if name in named),
        *(_parts(evidence.concept_words(name)) for name in near),
    )
    own_phrases = {key[0] for step in steps for key in step.wording.verbs}
    own_nouns = {noun for step in steps for noun in step.wording.nouns}
    fitting, foreign, unknown = [], [], []
    concepts = frozenset(part for name in near for kind in evidence.kinds(name) for part in kind.split())
    is_number = bool(steps) and all(step.sort == "number" for step in steps if step.here == "start")
    for at, (before, token) in enumerate(zip([None, *tokens], tokens, strict=False)):
        if token.word in _DATE_WORDS and is_number and token.word not in known and any(s.sort for s in steps):
            foreign.append(token.word)
            continue
        phrase = f"{before.word} {noun_base(token.word)}" if before is not None else ""
        if phrase in noun_phrases() and steps and phrase not in own_nouns and before.word in NEUTRAL:  # type: ignore[union-attr]
            foreign.append(token.word)
            continue
        is_held = tokens[at + 1].word == "of" if at + 1 < len(tokens) else False
        if token.word in _PARTICLES and before is not None and not before.is_name:
            phrases = {f"{base} {token.word}" for base in lemmas(before.word, "VERB")}
            if phrases & verb_phrases() and not phrases & own_phrases:
                foreign.append(token.word)
                continue
        if token.word in ("most", "least") and before is not None and before.word == "at":
            continue
        if token.is_name or not token.is_word or is_grammar(token.word) or token.word == "'s":
            continue
        if token.word in NUMBERS or token.is_number:
            continue
        forms = bases(token.word)
        if (_is_superlative(token.word) and token.word not in known) or (
            "-" in token.word and not _is_joined(token.word, known | kinds | NEUTRAL)
        ):
            unknown.append(token.word)
        elif not forms.isdisjoint(known) or _is_derived(token.word, known):
            fitting.append(token.word)
        elif forms & NEUTRAL or not forms.isdisjoint(concepts if is_held else kinds):
            continue
        elif not forms.isdisjoint(all_frame_words()):
            foreign.append(token.word)
        else:
            unknown.append(token.word)
    adorned = any(token.is_capital and token.word in unknown for token in tokens) or any(map(_adorns, unknown))
    return WordCheck(tuple(fitting), tuple(foreign), tuple(unknown), adorned)


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


def _adorns(word: str) -> bool:
    """True of "famous", "brilliantly", "award-winning" and "greatest"; and of figures."""
    if not word.isalpha() or _is_superlative(word):
        return True
    if is_form(word, "VBD") or is_form(word, "VBN"):
        return True
    if not any(lemmas(word, part) for part in ("NOUN", "VERB", "ADJ", "ADV")):
        return True
    return not lemmas(word, "NOUN") and not lemmas(word, "VERB") and bool(lemmas(word, "ADJ") or lemmas(word, "ADV"))


@lru_cache(maxsize=50_000)
def _is_derived(word: str, known: frozenset[str]) -> bool:
    """ "Treatment" of treat, "supervision" of supervise."""
    ending = next((each for each in _ENDINGS if word.endswith(each)), "")
    stem = word.removesuffix(ending)
    return (
        bool(ending)
        and len(stem) >= MIN_STEM
        and any(verb in known for verb in (stem, f"{stem}e", f"{stem}s", f"{stem}se", f"{stem}t", f"{stem}de"))
    )
