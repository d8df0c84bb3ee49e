"""English morphology: base forms of words, parts of speech, and the verb behind an agent noun."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from kg_store.text.inflection import lemminflect

# Third-person verbs that are also plural nouns, but mean the verb at the beginning of a label.
_DONE = frozenset(
    "affects borders buys causes covers influences leads loves makes offers orders supplies supports takes targets "
    "treats uses".split()
)


@lru_cache(maxsize=50_000)
def verbs_of(word: str) -> frozenset[str]:
    """Returns the verbs that `word` may be a form or the agent of: wrote, writers -> write; empty for other words."""
    lemmas = lemminflect.getAllLemmas(word)
    found = set(lemmas.get("VERB", ()))
    for noun in lemmas.get("NOUN", (word,) if not lemmas else ()):
        found |= _agent_verbs(noun)
    return frozenset(found)


@lru_cache(maxsize=50_000)
def noun_lemma(word: str) -> str:
    """Returns the singular of a noun: theses -> thesis; other words stay as they are."""
    lemmas = lemminflect.getAllLemmas(word).get("NOUN", ())
    return str(lemmas[0]) if lemmas else word


@lru_cache(maxsize=50_000)
def may_be_verb(word: str) -> bool:
    """True if `word` is a form of some verb: directed, wrote, star."""
    return "VERB" in lemminflect.getAllLemmas(word)


@lru_cache(maxsize=50_000)
def may_be_noun(word: str) -> bool:
    """True if `word` is a noun; unknown words count as nouns."""
    kinds = lemminflect.getAllLemmas(word)
    return "NOUN" in kinds or not kinds


@lru_cache(maxsize=50_000)
def is_compared(word: str) -> bool:
    """True of an adjective in the comparative or superlative (thicker, busiest), false of a noun that
    looks like one.
    """
    lemmas = lemminflect.getAllLemmas(word)
    is_adjective = "ADJ" in lemmas and lemmas.keys() <= {"ADJ", "ADV"}
    return is_adjective and word.endswith(("er", "est")) and word not in lemmas["ADJ"]


def is_participle(word: str) -> bool:
    """True if `word` is a past participle: directed, written, born; for unknown words the ending "ed" decides."""
    return _is_form(word, "VBN") or (word.endswith("ed") and not lemminflect.getAllLemmas(word))


def is_past(word: str) -> bool:
    """True if `word` is a past tense form: directed, wrote."""
    return _is_form(word, "VBD")


def is_form_of(word: str, verbs: Collection[str], is_verb: bool = False) -> bool:
    """True if `word` is a past or -ing form of one of `verbs`; an -ing form that may be a noun counts only with
    `is_verb`.
    """
    if verbs_of(word).isdisjoint(verbs):
        return False
    return is_past(word) or is_participle(word) or (word.endswith("ing") and (is_verb or not may_be_noun(word)))


def is_third_person(word: str) -> bool:
    """True if `word` is a verb in the third person: lives, treats."""
    return _is_form(word, "VBZ")


@lru_cache(maxsize=50_000)
def is_agent(word: str) -> bool:
    """True if `word` names somebody by what they do: director, screenwriters."""
    return any(_agent_verbs(noun) for noun in lemminflect.getAllLemmas(word).get("NOUN", (word,)))


def _agent_verbs(noun: str) -> set[str]:
    return {verb for verb in _of_agent(noun) if _is_verb(verb)} or _of_compound(noun)


def is_done(word: str) -> bool:
    """True if a label that begins with `word` most likely means the verb and not a noun: contains, treats."""
    return is_third_person(word) and (word in _DONE or not may_be_noun(word))


@lru_cache(maxsize=50_000)
def _is_form(word: str, form: str) -> bool:
    return any(
        word in lemminflect.getInflection(verb, form) for verb in lemminflect.getAllLemmas(word).get("VERB", ())
    )


def _is_verb(word: str) -> bool:
    return word in lemminflect.getAllLemmas(word).get("VERB", ())


def _of_compound(noun: str) -> set[str]:
    """The verbs of a compound agent noun: screenwriter -> write; the longest ending that is an agent noun itself."""
    if not noun.endswith(("er", "or")):
        return set()
    for at in range(3, len(noun) - 4):
        if "NOUN" in lemminflect.getAllLemmas(noun[at:]):
            verbs = {verb for verb in _of_agent(noun[at:]) if _is_verb(verb)}
            if verbs:
                return verbs
    return set()


def _of_agent(noun: str) -> tuple[str, ...]:
    """The words that may be the verb of an agent noun: director -> direct, writer -> write, runner -> run."""
    if not noun.endswith(("or", "er")) or len(noun) < 5:
        return ()
    stem = noun[:-2]
    return (stem, f"{stem}e", stem[:-1]) if stem[-1] == stem[-2] else (stem, f"{stem}e")
