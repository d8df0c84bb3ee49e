"""The corpus of questions that hold names in every form, and values as people write them; what must not be sent."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from random import Random

from evaluation.attacks.names.forms import FORMS, TOLD, Form, FormInput
from evaluation.checks.decoded_text import texts_in, words_of
from evaluation.datasets.questions import QueryPlan, Question
from evaluation.tables.linking import CARRIERS

AS_IT_IS = "as the sets ask"
FOREIGN: Sequence[str] = TOLD["foreign"]
_OURS, _PARTICLES = frozenset(TOLD["ours"].split()), frozenset(TOLD["particles"].split())
_SHORTEST, _SHORTEST_ELSEWHERE = 3, 2
_FOREIGN_SHARE = 0.1
_MIN_FIGURES = 3
_VALUE_CARRIERS: Sequence[str] = (
    "Who was born on {}?", "whose number is {}", "Is {} in the list?", "Which one has the value {}, please?",
    "who can be reached at {}", "More than {} or less?",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PlantedQuestion:
    """One question of the corpus, alone or as the last of `turns`.

    `planted`: what must not be sent, folded as the scanner folds; true where the question writes it in small letters.
    """

    form: Form
    turns: tuple[str, ...] = field(repr=False)
    planted: Mapping[str, bool] = field(repr=False)
    plan: QueryPlan | None = None


def _plainly(group: str, kind: str) -> Form:
    return Form(group, kind, lambda given: (given.name,))


def ask_as_it_is(questions: Sequence[Question], dice: Random, count: int) -> list[PlantedQuestion]:
    """Questions of a set, which ordinary people asked; what they name is planted."""
    form, made = _plainly(AS_IT_IS, AS_IT_IS), []
    able = [question for question in questions if question.topic_entities and len(question.texts) == 1]
    for question in dice.sample(able, min(count, len(able))):
        planted: dict[str, bool] = {}
        for topic in question.topic_entities:
            name = topic.replace("_", " ")
            written = name if name in question.texts[0] else name.lower()
            planted |= _planted((written,), FormInput(written, written, dice))
        made.append(PlantedQuestion(form, question.texts, planted, question.plan))
    return made


def ask_in_every_form(
    names: Sequence[str], dice: Random, count: int, forms: Sequence[Form] = FORMS
) -> list[PlantedQuestion]:
    """`count` questions, evenly over `forms`, each with a name that the form fits."""
    pairs = [name for name in names if _is_first_and_last(name.casefold().split(" "))]
    made: list[PlantedQuestion] = []
    for form in cycle(dice.sample(forms, len(forms))):
        pool = names if form.whole else pairs
        asked = _asked(form, FormInput(dice.choice(pool), dice.choice(names), dice)) if pool else None
        made += [asked] if asked else []
        if len(made) >= count:
            return made
    return made


def _is_first_and_last(words: Sequence[str]) -> bool:
    """Two words, none of them a particle or a Roman number."""
    return len(words) == 2 and all(
        len(word) >= 2 and set(word) - set("ivx") and word not in _PARTICLES and word[-1] != "." for word in words
    )


def _asked(form: Form, given: FormInput) -> PlantedQuestion | None:
    pieces = form.write(given)
    if not pieces:
        return None
    carrier = given.dice.choice(FOREIGN if given.dice.random() < _FOREIGN_SHARE else CARRIERS)
    *earlier, last = pieces
    if last == last.lower() and given.dice.random() < 0.5:
        carrier = carrier.lower()
    return PlantedQuestion(form, (*earlier, carrier.replace("{}", last)), _planted(pieces, given))


def _planted(pieces: Sequence[str], given: FormInput) -> dict[str, bool]:
    """All that was written of a name, and each word of it."""
    capital: dict[str, bool] = {}
    phrases: list[list[str]] = [[word.folded for word in words_of(name)] for name in (given.name, given.other)]
    for text in (text for piece in pieces for text in texts_in(json.dumps(piece).encode())):
        words = words_of(text)
        for word in words:
            capital[word.folded] = capital.get(word.folded, False) or word.plain != word.plain.lower()
        phrases += [[word.folded] for word in words if _tells([word.folded])]
        # The words of the form itself are left out at the ends.
        telling = [at for at, word in enumerate(words) if word.folded not in _OURS]
        phrases += [[word.folded for word in words[telling[0] : telling[-1] + 1]]] if telling else []
    told = filter(_tells, phrases)
    return {" ".join(words): not any(capital.get(word, False) for word in words if len(word) > 1) for words in told}


def _tells(words: Sequence[str]) -> bool:
    """Words, or letters apart: of scripts without spaces each is a word to the scanner."""
    letters = "".join(word for word in words if word not in _OURS)
    return len(set(letters)) > 1 and len(letters) >= (_SHORTEST if letters.isascii() else _SHORTEST_ELSEWHERE)


_Write = Callable[[str], str]


def _dated(form: str) -> _Write:
    return lambda text: f"{dt.date.fromisoformat(text):{form}}"


def _grouped(point: str, comma: str) -> _Write:
    def write(text: str) -> str:
        whole, _, rest = text.partition(".")
        return f"{int(whole):,}".replace(",", point) + (comma + rest if rest else "")

    return write


_KINDS: Mapping[str, Mapping[str, _Write]] = {
    r"\d{4}-\d{2}-\d{2}": {
        "date": str,
        "date in words": _dated("%d %B %Y"),
        "American date": _dated("%B %d, %Y"),
        "date with points": _dated("%d.%m.%Y"),
        "date with slashes": _dated("%m/%d/%Y"),
        "short date": _dated("%d/%m/%y"),
    },
    r"\d{4,}(?:\.\d+)?": {
        "number": str,
        "number with commas": _grouped(",", "."),
        "with points": _grouped(".", ","),
    },
    r"\+?[\d ()./-]{7,}": {
        "code": str,
        "code without signs": lambda text: re.sub(r"\D", "", text),
        "code with spaces": lambda text: re.sub(r"\D+", " ", text).strip(),
        "code with points": lambda text: re.sub(r"\D+", ".", text).strip("."),
    },
    r"[^\s@]+@[^\s@]+\.[a-z]+": {
        "e-mail": str,
        "e-mail in capitals": str.upper,
        "e-mail in brackets": lambda text: f"<{text}>",
    },
}
"""Patterns of dates, numbers, telephone numbers and addresses, and how each is written."""


def ask_for_values(secrets: Iterable[str], dice: Random, count: int) -> list[PlantedQuestion]:
    """`count` questions, evenly over kinds and forms; none for a graph without such values."""
    ordered, made = sorted(secrets), []
    forms = [
        (_plainly("values", kind), write, values)
        for pattern, written in _KINDS.items()
        if (values := [value for value in ordered if re.fullmatch(pattern, value)])
        for kind, write in written.items()
    ]
    for _, (form, write, values) in zip(range(count), cycle(forms), strict=False):
        text = write(dice.choice(values))
        words = [word.folded for word in words_of(text)]
        planted = {word: False for word in words if len(word) >= _MIN_FIGURES and any(map(str.isdigit, word))}
        turn = dice.choice(_VALUE_CARRIERS).replace("{}", text)
        made.append(PlantedQuestion(form, (turn,), {" ".join(words): False, **planted}))
    return made
