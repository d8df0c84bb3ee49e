"""Attachment of replies to the graph, as LLM-KAT measures it (Sheikhi et al., 2025): every reply is written, judged,
and counted as published and with what was left out there.

One question for each fact of the coming turn, one of whose ends is left out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Final, Literal

from app.graphs.markdown_table import markdown_table
from evaluation.bench.question_sets import Show
from evaluation.dialogue.anonymised import ALL_VARIANTS, Anonymiser, DialogueVariant
from evaluation.dialogue.dialogue_sets import DialogueTurn, Triple, is_said, names_of
from evaluation.dialogue.extractor_texts import carriers
from evaluation.dialogue.figures import NOT_MEASURED, Estimate, estimate, percent, published_rows
from evaluation.dialogue.spans import ExactNames, Judge, Judged, SpanQuestion, squad_f1, squad_words
from evaluation.dialogue.writers import PromptStyle, Writer
from evaluation.tables.measures import Measure, share

MIN_F1: Final = 0.95
MIN_F1_IN_FULL: Final = 0.90
MIN_FLAGGED: Final = 0.95
STRING_MATCH: Final = "string match (no judge)"
_NUMBER = re.compile(r"(?<!\w)\d+(?!\w)")

ContextKind = Literal["turn", "reply"]
"""`turn`: the last utterance of the history and the reply, as the authors' code does; `reply`: the reply alone."""
JudgeOf = Callable[[Sequence[DialogueTurn]], Judge]
"""A judge for one set of turns: the match of strings needs their names, the others need nothing."""


def questions_of(turn: DialogueTurn, reply: str, context: ContextKind = "turn") -> list[SpanQuestion]:
    text = f"{turn.history[-1][1]} {reply}" if context == "turn" and turn.history else reply
    found = []
    for (head, relation, tail), unknown_is_head in unknown_ends(turn):
        known, at = (tail, 2) if unknown_is_head else (head, 0)
        fills = {each[2 - at] for each in turn.gold if each[1] == relation and each[at] == known}
        found.append(
            SpanQuestion(text, known, relation, unknown_is_head, tuple(sorted(fills)), turn.id, turn.dialogue)
        )
    return found


def unknown_ends(turn: DialogueTurn) -> list[tuple[Triple, bool]]:
    """Each gold fact, and True where the reply is to bring its head, False where its tail.

    The published walks begin with what was spoken of, and the question is for where each step leads. The facts here
    have lost that direction: so it is the end that neither the history nor an earlier fact has named, and the tail
    where that does not tell.
    """
    known = {name for name in names_of(turn.gold) if is_said(name, turn.said)}
    found: list[tuple[Triple, bool]] = []
    left = list(turn.gold)
    while left:
        at = next((at for at, (head, _, tail) in enumerate(left) if (head in known) != (tail in known)), 0)
        triple = left.pop(at)
        found.append((triple, triple[2] in known and triple[0] not in known))
        known |= {triple[0], triple[2]}
    return sorted(found, key=lambda each: (each[0], not each[1]))


def impossible_questions(questions: Sequence[SpanQuestion]) -> list[SpanQuestion]:
    """The control: the same questions, each about one of the held-out sentences in turn, in which the right name
    stands and which does not tell the relation; a judge should find every one impossible."""
    sentences = carriers("not_found").held
    return [
        replace(question, context=sentences[at % len(sentences)].replace("{}", question.acceptable[0]))
        for at, question in enumerate(questions)
    ]


def flagged(judged: Sequence[Judged]) -> float:
    """The share that was found impossible, of all that were judged; the rest are false positives."""
    told = [spans for spans in judged if spans is not None]
    return sum(not spans for spans in told) / len(told) if told else 0.0


def string_judge(turns: Sequence[DialogueTurn]) -> Judge:
    """Gives every name that stands letter by letter in the context, but for the known end of the fact. It reads no
    relation, so it is no judge: an upper bound, for comparison."""
    told = sorted(names_of(triple for turn in turns for triple in turn.knowledge))
    names = ExactNames(told)
    # Years are things of a graph too, and have no letter to be found by.
    numbers = {name for name in told if _NUMBER.fullmatch(name)}

    def answer(question: SpanQuestion) -> tuple[str, ...]:
        text = question.context
        spans = [text[each.start : each.end] for each in names.find(text)]
        spans += [number for number in _NUMBER.findall(text) if number in numbers]
        known = squad_words(question.known)
        return tuple(span for span in dict.fromkeys(spans) if squad_words(span) != known)

    return lambda batch: [answer(question) for question in batch]


@dataclass(frozen=True, slots=True)
class KatFigures:
    """All between 0 and 1. Questions that were judged impossible and failed calls are left out, as published, but for
    `in_full`, where those judged impossible count as 0. `per_turn` and `in_full` with their intervals, by dialogue.
    `at_half`, `at_one`: an F1 below 0.5 or 1 counts as 0, as in the authors' code."""

    questions: int
    per_turn: Estimate
    at_half: float
    at_one: float
    per_session: float
    impossible: float
    failed: float
    in_full: Estimate


def kat_figures(questions: Sequence[SpanQuestion], judged: Sequence[Judged]) -> KatFigures:
    """The best span of each question counts. No F1 where nothing was answered counts as 0."""
    found = [
        (question.dialogue, bool(spans), max((squad_f1(span, question.acceptable) for span in spans), default=0.0))
        for question, spans in zip(questions, judged, strict=True)
        if spans is not None
    ]
    answered = [(dialogue, f1) for dialogue, is_answered, f1 in found if is_answered]
    sessions: dict[str, list[float]] = defaultdict(list)
    for dialogue, f1 in answered:
        sessions[dialogue].append(f1)
    values, count = [f1 for _, f1 in answered], max(len(questions), 1)
    return KatFigures(
        len(questions),
        per_turn=estimate(values, [dialogue for dialogue, _ in answered]),
        at_half=_mean([f1 if f1 >= 0.5 else 0.0 for f1 in values]),
        at_one=_mean([f1 if f1 >= 1.0 else 0.0 for f1 in values]),
        # A short session counts as much as a long one.
        per_session=_mean([fmean(each) for each in sessions.values()]),
        impossible=(len(found) - len(answered)) / count,
        failed=(len(questions) - len(found)) / count,
        in_full=estimate([f1 for _, _, f1 in found], [dialogue for dialogue, _, _ in found]),
    )


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0


@dataclass(frozen=True, slots=True)
class KatRow:
    """Figures of one writer's replies on one set, as one judge reads them."""

    writer: str
    style: PromptStyle
    variant: DialogueVariant
    context: ContextKind
    judge: str
    figures: KatFigures


@dataclass(slots=True)
class AttachmentRun:
    """`judges` by name, the best last. `replies`: those that were written last, by writer and set."""

    turns: Sequence[DialogueTurn] = field(repr=False)
    judges: Mapping[str, JudgeOf]
    anonymiser: Anonymiser = field(default_factory=Anonymiser)
    show: Show = lambda _title, _done, _total: None
    replies: dict[tuple[str, DialogueVariant], list[str]] = field(default_factory=dict, repr=False)
    _sets: dict[DialogueVariant, list[DialogueTurn]] = field(default_factory=dict, repr=False)

    def rows(
        self,
        name: str,
        write: Writer,
        styles: Sequence[PromptStyle] = ("default",),
        variants: Sequence[DialogueVariant] = ALL_VARIANTS,
        contexts: Sequence[ContextKind] = ("turn", "reply"),
    ) -> list[KatRow]:
        """Replies are written once for each style and set, and judged by every judge."""
        rows = []
        for variant in variants:
            turns = self.turns_of(variant)
            for style in styles:
                self.show(f"{name}: {variant.title}, {style}", 0, len(turns))
                self.replies[name, variant] = replies = write(turns, style)
                rows += [
                    KatRow(name, style, variant, context, judge, _judged(turns, replies, context, make(turns)))
                    for context in contexts
                    for judge, make in self.judges.items()
                ]
        return rows

    def turns_of(self, variant: DialogueVariant) -> list[DialogueTurn]:
        if variant not in self._sets:
            self._sets[variant] = self.anonymiser.variant(variant, self.turns)
        return self._sets[variant]

    def impossible_flagged(self) -> dict[str, tuple[int, float]]:
        """By judge: questions of the control, and the share that was found impossible."""
        asked = impossible_questions([question for turn in self.turns for question in questions_of(turn, "")])
        return {name: (len(asked), flagged(make(self.turns)(asked))) for name, make in self.judges.items()}


def _judged(turns: Sequence[DialogueTurn], replies: Sequence[str], context: ContextKind, judge: Judge) -> KatFigures:
    """A question without a reply has failed: no judge is asked."""
    asked = [
        (question, bool(reply))
        for turn, reply in zip(turns, replies, strict=True)
        for question in questions_of(turn, reply, context)
    ]
    found = iter(judge([question for question, is_there in asked if is_there]))
    return kat_figures(
        [question for question, _ in asked], [next(found) if is_there else None for _, is_there in asked]
    )


def kat_markdown(rows: Sequence[KatRow]) -> str:
    """Figures times 100, 95 % intervals by dialogue in brackets; the papers' below."""
    head = (
        *("replies", "prompt", "set", "judge reads", "judge", "questions", "F1 per turn", "F1 >= 0.5", "F1 = 1"),
        *("F1 per session", "impossible", "failed", "F1, impossible as 0", "naturalness, coherence (UniEval)"),
    )
    ours = []
    for row in rows:
        told = row.figures
        shares = percent([told.at_half, told.at_one, told.per_session, told.impossible, told.failed])
        cells = (row.writer, row.style, row.variant.title, row.context, row.judge, told.questions, told.per_turn)
        ours.append((*cells, *shares, told.in_full, NOT_MEASURED))
    published = [
        (f"published: {model}", prompt, name, "turn", "DeepSeek-R1-32B", "", per_turn, "", "", per_session, *[""] * 4)
        for model, prompt, name, per_turn, per_session in published_rows(
            "llm_kat", "model", "prompt", "set", "F1 per turn", "F1 per session"
        )
    ]
    return markdown_table(head, [*ours, *published])


def impossible_markdown(found: Mapping[str, tuple[int, float]]) -> str:
    """The control: the right name in a sentence that does not tell the relation."""
    ours = [(name, count, *percent([share_of, 1 - share_of])) for name, (count, share_of) in found.items()]
    published = [
        (f"published: {judge}", "20000", *figures)
        for judge, *figures in published_rows("impossible", "judge", "flagged", "false positives")
    ]
    return markdown_table(("judge", "questions", "flagged", "false positives"), [*ours, *published])


def kat_measures(figures: KatFigures | None, control: tuple[int, float]) -> list[Measure]:
    """The bounds, for the embedded reasoner's replies over gold facts and the trained extractor. What is not measured
    is missed."""
    questions = figures.questions if figures else 0
    per_turn, in_full = (figures.per_turn.mean, figures.in_full.mean) if figures else (0.0, 0.0)
    return [
        share("LLM-KAT F1 per turn, gold triples", per_turn, questions, MIN_F1),
        share("the same, impossible as 0", in_full, questions, MIN_F1_IN_FULL),
        share("impossible control flagged, held-out carriers", control[1], control[0], MIN_FLAGGED),
    ]
