"""Family 10: local names of masked and hidden relations, and of those that hold a name, as people type them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from random import Random

from evaluation.attacks.forms.corpus.everyday_words import HARMLESS, is_in_dictionary
from evaluation.attacks.forms.corpus.plain_letters import tokens
from evaluation.attacks.forms.corpus.sentences import sentence
from evaluation.attacks.forms.families.case import Case, Family, TypedCase, put_into, spread

_FAMILY: Family = "10 words of masked and hidden relations"
_HUMP = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


def relation_words(local_names: Sequence[str], language: str, dice: Random, count: int) -> Iterator[Case]:
    """Each local name run together, in snake, kebab and camel case, in words, and its rare words alone."""
    forms = [form for name in local_names for form in _forms_of(name)] * (1 + count // len(local_names))
    for typed in spread(forms, dice, count):
        yield put_into(_FAMILY, typed, sentence(language, ("open", "marked"), dice), dice)


def words_of(local_name: str) -> list[str]:
    return [word.lower() for word in _HUMP.findall(local_name)]


def rare_words_of(local_name: str) -> tuple[str, ...]:
    """Those that say more than a dictionary does."""
    return tuple(word for word in words_of(local_name) if not is_in_dictionary(word) and word not in HARMLESS)


def _forms_of(local_name: str) -> Iterator[TypedCase]:
    words, rare = words_of(local_name), rare_words_of(local_name)
    harmless = frozenset(tokens(" ".join(word for word in words if word not in rare)))
    together = ("".join(words), *rare)
    yield TypedCase("run together, small", "".join(words), together)
    yield TypedCase("as it stands", local_name, together)
    yield TypedCase("capitals", "".join(words).upper(), together)
    yield TypedCase("with a capital", "".join(word.capitalize() for word in words), together)
    if rare:
        yield TypedCase("snake case", "_".join(words), rare, harmless)
        yield TypedCase("kebab case", "-".join(words), rare, harmless)
        yield TypedCase("in words, small", " ".join(words), rare, harmless)
        yield TypedCase("rare words, small", " ".join(rare), rare)
        yield TypedCase("rare words, plural", " ".join(f"{word}s" for word in rare), rare)
