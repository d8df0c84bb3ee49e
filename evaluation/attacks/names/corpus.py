"""The corpus of questions that hold names in every form, and what of each must never be sent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from random import Random

from evaluation.attacks.names.forms import SPELLINGS, Form, FormInput
from evaluation.attacks.names.positions import PLACES
from evaluation.checks.decoded_text import texts_in, words_of
from evaluation.datasets.misspellings import CARRIERS
from evaluation.datasets.questions import QueryPlan, Question

_OURS = frozenset(
    """i ask about my patient is called know that the first last name is who mean this one it and of vs dot at dr mr jr
    file https http ftp www com example clinic people info mailto subject find files user users home letter txt docx
    pdf git host urn person begin end vcard fn nbsp amp json strong bold by title do you my me are was
    what wendeline sr srs""".split()
)
"""Words of the forms themselves."""

_PARTICLES = frozenset("of de la le van von der den du di da the and ii iii iv".split())
_SHORTEST, _SHORTEST_ELSEWHERE = 3, 2
_FOREIGN_SHARE = 0.1
AS_IT_IS = "as the sets ask"
FORMS: Sequence[Form] = (*SPELLINGS, *PLACES)
FOREIGN: Sequence[str] = (
    "Wo wohnt {}?", "Quel médecin traite {} ?", "¿Dónde vive {}?", "Где живёт {}?", "{}はどこに住んでいますか",
    "أين يعيش {}؟", "Kto leczy osobę {}?", "请问{}的医生是谁", "{}さんの主治医は誰ですか", "{}씨의 의사는 누구입니까",
    "คุณ{}อยู่ที่ไหน",
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


def ask_as_it_is(questions: Sequence[Question], dice: Random, count: int) -> list[PlantedQuestion]:
    """Questions of a set, which ordinary people asked; what they name is planted."""
    form = Form(AS_IT_IS, AS_IT_IS, lambda given: (given.name,))
    able = [question for question in questions if question.topic_entities and len(question.texts) == 1]
    chosen = dice.sample(able, min(count, len(able)))
    return [_as_it_is(form, question, dice) for question in chosen]


def _as_it_is(form: Form, question: Question, dice: Random) -> PlantedQuestion:
    planted: dict[str, bool] = {}
    for topic in question.topic_entities:
        name = topic.replace("_", " ")
        written = name if name in question.texts[0] else name.lower()
        planted |= _planted((written,), FormInput(written, written, dice))
    return PlantedQuestion(form, question.texts, planted, question.plan)


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
        phrases += [[word.folded] for word in words if _tells(word.folded)]
        phrases.append(_without_ours([word.folded for word in words]))
    telling = [words for words in phrases if _tells_together(words)]
    return {" ".join(words): not any(capital.get(word, False) for word in words if len(word) > 1) for words in telling}


def _without_ours(words: list[str]) -> list[str]:
    """Without the words of the form itself at its ends."""
    telling = [at for at, word in enumerate(words) if word not in _OURS]
    return words[telling[0] : telling[-1] + 1] if telling else []


def _tells_together(words: Sequence[str]) -> bool:
    """Words, or letters apart: of scripts without spaces each is a word to the scanner."""
    letters = "".join(word for word in words if word not in _OURS)
    return len(set(letters)) > 1 and len(letters) >= (_SHORTEST if letters.isascii() else _SHORTEST_ELSEWHERE)


def _tells(word: str) -> bool:
    return (
        word not in _OURS
        and len(set(word)) > 1
        and len(word) >= (_SHORTEST if word.isascii() else _SHORTEST_ELSEWHERE)
    )
