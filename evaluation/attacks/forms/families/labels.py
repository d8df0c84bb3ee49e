"""Families 5 and 6: words in the middle of labels, what else people write into labels, and labels that are dirty."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from html import entities
from random import Random
from urllib.parse import quote, unquote

from evaluation.attacks.forms.corpus.graph_names import GraphNames, reads_as_name
from evaluation.attacks.forms.corpus.sentences import sentence
from evaluation.attacks.forms.families.case import Case, TypedCase, put_into, spread

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_MIN_WORDS, _MIN_LETTERS = 3, 3
_DIRTY = re.compile(r"&#?\w+;|%[0-9A-F]{2}|<\w+>")
_NAMED = {chr(code): f"&{name};" for name, code in entities.name2codepoint.items() if code > 127}


def middle_words(names: GraphNames, language: str, dice: Random, count: int) -> Iterator[Case]:
    """Words and figures of longer labels that stand neither first nor last, each alone or two together."""
    longer = [label for label in names.labels if not _DIRTY.search(label) and len(_words(label)) >= _MIN_WORDS]
    chosen = dice.sample(longer, min(3 * count, len(longer)))
    for typed in spread([form for label in chosen for form in _middles(label, dice)], dice, count):
        yield put_into("5 middle words of labels", typed, sentence(language, ("open", "marked"), dice), dice)


def _words(label: str) -> list[str]:
    return _WORD.findall(label)


def _middles(label: str, dice: Random) -> Iterator[TypedCase]:
    words = _words(label)
    inner = [word for word in words[1:-1] if len(word) >= _MIN_LETTERS]
    if inner:
        word = dice.choice(inner)
        yield TypedCase("a figure" if word.isdigit() else "one word, small", word.lower(), (word,))
        yield TypedCase("one word, a capital", word.capitalize(), (word,))
    if len(words) > _MIN_WORDS:
        two = words[1:3]
        yield TypedCase("two words, small", " ".join(two).lower(), tuple(two))
    yield TypedCase("without the first, small", " ".join(words[1:]).lower(), tuple(words[1:]))
    yield TypedCase("the other way round, small", " ".join(reversed(words)).lower(), tuple(words))
    if re.search(r"\b(geb|née|born)\b", label):
        yield TypedCase("a maiden name, small", words[-1].lower(), (words[-1],))
        yield TypedCase(
            "a maiden name with its word, small", f"{' '.join(words[-2:])}".lower(), (words[-1],), marked=True
        )
    if words[-1].isdigit():
        yield TypedCase("a figure", words[-1], (words[-1],))


def dirty_labels(names: GraphNames, language: str, dice: Random, count: int) -> Iterator[Case]:
    """Labels with entities, percent escapes and tags, typed clean; clean ones typed with entities and escapes."""
    dirty = [label for label in names.labels if _DIRTY.search(label)]
    forms = [form for label in dice.sample(dirty, min(count, len(dirty))) for form in _cleaned(label)]
    forms += [form for name in names.some(dice, count) for form in _dirtied(name)]
    for typed in spread(forms, dice, count):
        yield put_into("6 dirty labels", typed, sentence(language, ("open", "marked"), dice), dice)


def _cleaned(label: str) -> Iterator[TypedCase]:
    clean = re.sub(r"<[^>]*>", "", unquote(html.unescape(html.unescape(label))))
    words = _words(clean)
    yield TypedCase("of a dirty label: whole, small", clean.lower(), (clean,))
    yield TypedCase("of a dirty label: last word, small", words[-1].lower(), (words[-1],))
    yield TypedCase("of a dirty label: middle word, small", words[len(words) // 2].lower(), (words[len(words) // 2],))
    yield TypedCase("of a dirty label: as it stands", label, (clean,), _MARKUP)


def _dirtied(name: str) -> Iterator[TypedCase]:
    word = name.split(" ")[-1]
    last = (word if reads_as_name(word) else name).lower()
    yield TypedCase("typed with entities", "".join(_NAMED.get(sign, sign) for sign in name.lower()), (name,))
    yield TypedCase("typed with numbered entities", "".join(f"&#{ord(sign)};" for sign in last), (last,))
    yield TypedCase("typed with hexadecimal entities", "".join(f"&#x{ord(sign):x};" for sign in last), (last,))
    yield TypedCase("typed with percent signs", quote(name.lower()), (name,))
    yield TypedCase(
        "typed with every letter a percent sign", "".join(f"%{byte:02X}" for byte in last.encode()), (last,)
    )
    yield TypedCase("typed with escapes of JSON", "".join(f"\\u{ord(sign):04x}" for sign in last), (last,))
    yield TypedCase("typed with entities twice", "".join(f"&amp;#{ord(sign)};" for sign in last), (last,))
    yield TypedCase("typed with a tag", f"<b>{last}</b>", (last,), _MARKUP)


_MARKUP = frozenset(("b", "amp", "quot"))
