"""Natural questions with their gold answers, and the judge of an answer: right, partly right, wrong or refused."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from app.chat.concluding import NOT_IN_GRAPH
from app.chat.search import NOTHING_TO_SAY
from client_sdk.answers.answer import Answer
from evaluation.checks.metrics import comparable
from evaluation.datasets.questions import read_lines
from kg_store.text.words import folded_text

Half = Literal["seen", "shut"]
GoldType = Literal["entities", "values", "number", "boolean", "table", "describe", "smalltalk", "unanswerable"]
Cell = str | bool | int | float

SETS: Final = Path(__file__).parent / "sets"
FILES: Final[dict[Half, Path]] = {"seen": SETS / "seen.jsonl", "shut": SETS / "shut.jsonl.gz"}
"""The shut half is compressed, so that a search in the files does not show it by chance."""


class Gold(BaseModel):
    """An answer that counts as right.

    `items`: names, values, one number, one truth value, rows of a table, or facts of a thing to be described. A
    description must name all of `concept` and tell `at_least` facts or more. No items mean that the right answer is
    "nothing".
    """

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)

    type: GoldType
    items: tuple[Cell | tuple[Cell, ...], ...] = ()
    concept: tuple[str, ...] = ()
    at_least: int = 1

    @property
    def texts(self) -> list[str]:
        return [str(item) for item in self.items if not isinstance(item, tuple)]

    @property
    def rows(self) -> list[tuple[str, ...]]:
        return [tuple(map(str, item)) for item in self.items if isinstance(item, tuple)]


class NaturalQuestion(BaseModel):
    """One question after its earlier `turns`; `also` holds the answers of other reasonable readings."""

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)

    id: str
    graph: str
    kind: str
    turns: tuple[str, ...] = ()
    question: str
    gold: Gold
    also: tuple[Gold, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """Returns the user's texts turn by turn; the answer belongs to the last one."""
        return (*self.turns, self.question)

    @property
    def golds(self) -> tuple[Gold, ...]:
        return (self.gold, *self.also)


def read_natural(half: Half) -> list[NaturalQuestion]:
    """Reads all questions of the seen half or of the shut half, which nobody looks at, in order.

    Raises QuestionsError, which quotes nothing of the file.
    """
    return [question for _, question in read_lines(FILES[half], NaturalQuestion)]


Verdict = Literal["right", "partly", "refused", "wrong"]
VERDICTS: Final[tuple[Verdict, ...]] = ("right", "partly", "refused", "wrong")
"""From best to worst; if several readings are reasonable, the best verdict counts."""

_MIDNIGHT = re.compile(r"(?<=\d)[t ]00:00:00(?:\.0+)?(?:z|[+-]\d\d:\d\d)?$")
_WITH_UNIT = re.compile(r"(?P<number>[+-]?[\d,]*\.?\d+) ?(?P<unit>[^\W\d_]{1,3}|[€$£%])")
_WRITTEN_DATES = ("%d %B %Y", "%B %d, %Y", "%d %b %Y")
_NOTHING = frozenset({"no", "none", "nobody", "nothing", "0"})
_NAMING = frozenset({"label", "altlabel", "is a", "instance of"})
_WITHIN = re.compile(r"(?:\[|; )[^:;\[\]]+: ([^;\[\]]+)")


def judge(question: NaturalQuestion, answer: Answer | None) -> Verdict:
    """Judges an answer by the best fitting gold answer; None (the question ended with an error) is "refused"."""
    if answer is None:
        return "refused"
    return min((_judged(gold, answer) for gold in question.golds), key=VERDICTS.index)


def _judged(gold: Gold, answer: Answer) -> Verdict:
    if gold.type == "unanswerable":
        return "wrong" if answer.answered else "right"
    if gold.type == "smalltalk":
        is_reply = answer.answered or answer.text.startswith(NOTHING_TO_SAY)
        return "wrong" if answer.entities else "right" if is_reply else "refused"
    if not answer.answered:
        # This text says that a search found nothing, which is right here; other refusals mean "not understood".
        says_none = gold.type == "entities" and not gold.items and answer.text.startswith(NOT_IN_GRAPH)
        return "right" if says_none else "refused"
    if gold.type == "describe":
        return _described(gold, answer.text)
    if gold.type == "boolean":
        return "right" if _truths(answer) == {comparable(text) for text in gold.texts} else "wrong"
    return _compared_rows(gold, answer.names) if gold.type == "table" else _compared(gold.texts, answer.names)


def _truths(answer: Answer) -> set[str]:
    """Returns "yes" or "no" as the parts of the answer say, else as its text begins."""
    truths = {comparable(name) for entity in answer.entities if entity.kind == "truth" for name in entity.names}
    return truths or {comparable(word) for word in re.findall(r"^\W*(yes|no)\b", answer.text, re.IGNORECASE)}


def _compared(wanted: Collection[str], given: Collection[str]) -> Verdict:
    """Returns "right" if both hold the same things, "partly" if they share some, else "wrong"."""
    if not wanted:
        return "right" if {comparable(name) for name in given} <= _NOTHING else "wrong"
    found = [text for text in wanted if any(same_text(text, name) for name in given)]
    if len(found) == len(wanted) and all(any(same_text(text, name) for text in wanted) for name in given):
        return "right"
    return "partly" if found else "wrong"


def _compared_rows(gold: Gold, given: Collection[str]) -> Verdict:
    """Compares rows, which are given as `name: value`; a single row may also be given as separate parts."""
    if len(gold.rows) == 1 and _compared(gold.rows[0], given) == "right":
        return "right"
    wanted = {tuple(map(_plain, row)) for row in gold.rows}
    rows = {tuple(map(_plain, name.rsplit(": ", 1))) for name in given}
    if rows == wanted:
        return "right"
    return "partly" if rows & wanted else "wrong"


def same_text(gold: str, given: str) -> bool:
    """Compares numbers by value to two places and dates to the day; a missing unit fits any, another unit does not."""
    (wanted, unit), (number, other) = _parted(gold), _parted(given)
    return wanted == number and (unit == other or not unit or not other)


def _parted(text: str) -> tuple[str, str]:
    """Splits `1,841.30 EUR` into number and unit; other texts have the unit ""."""
    plain = _plain(text)
    measured = _WITH_UNIT.fullmatch(plain)
    return (comparable(measured["number"]), measured["unit"]) if measured else (plain, "")


def _plain(text: str) -> str:
    plain = _MIDNIGHT.sub("", comparable(text))
    for form in _WRITTEN_DATES:
        try:
            return datetime.strptime(plain, form).date().isoformat()
        except ValueError:
            continue
    return plain


def _described(gold: Gold, text: str) -> Verdict:
    """Returns "right" if the text names the thing with its kind and tells enough facts, "partly" if only some."""
    folded = folded_text(text)
    told = sum(any(_is_said(value, folded) for value in values) for values in _facts(gold))
    if not told:
        return "wrong"
    named = all(_is_said(concept, folded) for concept in gold.concept)
    return "right" if named and told >= gold.at_least else "partly"


def _facts(gold: Gold) -> Iterator[set[str]]:
    """Yields for each fact of the gold answer the texts any of which tells it, without the thing's own name.

    A fact is written `thing | relation | end`; its ends count, or, if it nests other texts, those.
    """
    thing = gold.concept[0] if gold.concept else ""
    for item in gold.texts:
        head, *rest = item.split(" | ")
        if rest and rest[0].casefold() in _NAMING:
            continue
        ends = {*_WITHIN.findall(item)} or {head, rest[-1] if rest else head}
        yield {end.strip() for end in ends} - {thing}


def _is_said(value: str, folded: str) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(form)}(?!\w)", folded) for form in _forms(value))


def _forms(value: str) -> Iterator[str]:
    """Yields `value` as a sentence may write it: a date in words, a number with separated thousands."""
    plain = folded_text(_MIDNIGHT.sub("", value.casefold()))
    yield plain
    with suppress(ValueError):
        day = date.fromisoformat(plain)
        month = day.strftime("%B").casefold()
        yield from (f"{day.day} {month} {day.year}", f"{month} {day.day}, {day.year}")
    with suppress(ValueError):
        yield from (f"{float(plain):,.2f}", f"{float(plain):,.15g}", f"{float(plain):.15g}")
