"""Family 2: names that stand inside text values: notes, contacts, addresses, logins, of hidden relations too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from evaluation.attacks.forms.corpus.everyday_words import is_everyday, is_in_dictionary
from evaluation.attacks.forms.corpus.graph_names import GraphNames
from evaluation.attacks.forms.corpus.plain_letters import plain
from evaluation.attacks.forms.corpus.sentences import sentence
from evaluation.attacks.forms.families.case import Case, TypedCase, put_into, spread

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_ADDRESS = re.compile(r"[\w.+-]+@[\w.-]+")
_MIN_LETTERS = 3


def names_in_texts(names: GraphNames, language: str, dice: Random, count: int) -> Iterator[Case]:
    """Words of text values that no dictionary has, or that have a capital inside a text."""
    chosen = dice.sample(names.texts, min(20 * count, len(names.texts)))
    for typed in spread([form for text in chosen for form in _forms_of(text)], dice, count):
        yield put_into("2 names inside text values", typed, sentence(language, ("open", "marked"), dice), dice)


def _forms_of(text: str) -> Iterator[TypedCase]:
    if address := _ADDRESS.search(text):
        yield from _parts_of_address(address[0])
        return
    for match in _WORD.finditer(text):
        word = match[0]
        if len(word) >= _MIN_LETTERS and _is_name(word, match.start() > 0):
            yield TypedCase("a word, small", word.lower(), (word,))
            yield TypedCase("a word, as it is", word, (word,))
            yield TypedCase("a word without accents", plain(word), (word,))
            before = text[: match.start()].split()[-1:]
            if before and before[0][-1:] == ".":
                yield TypedCase("with its initial, small", f"{before[0]} {word}".lower(), (word,), marked=True)
    if " " in text:
        rare = _rare(text)
        common = frozenset(plain(word) for word in _WORD.findall(text) if word not in rare)
        yield TypedCase("the whole text, small", text.lower(), rare, common)


def _is_name(word: str, is_inside: bool) -> bool:
    """A capital inside a text, and no word of a dictionary as the kinds of streets are."""
    return is_inside and word[:1].isupper() and not _is_common(word)


def _rare(text: str) -> tuple[str, ...]:
    words = [word for word in _WORD.findall(text) if len(word) >= _MIN_LETTERS]
    return tuple(word for word in words if not _is_common(word))


def _is_common(word: str) -> bool:
    return is_in_dictionary(word.lower()) or is_everyday(word.lower())


def _parts_of_address(address: str) -> Iterator[TypedCase]:
    local, _, host = address.lower().partition("@")
    parts = [part for part in re.split(r"[\W\d_]+", local) if len(part) > _MIN_LETTERS]
    yield TypedCase("an e-mail's login", local, tuple(parts) or (local,))
    yield TypedCase(
        "an e-mail, capitals", address.upper(), tuple(parts) or (local,), frozenset(re.split(r"\W+", host))
    )
    for part in parts:
        yield TypedCase("a part of a login", part, (part,))
