"""Measure how well replies keep to the graph, as LLM-KAT does (Sheikhi et al., 2025); and run `arog eval dialogue`.

For each fact of the coming turn one question is asked, with one end of the fact left out. Figures are given as
published, and also with the questions counted that the paper leaves out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Final, Literal, NamedTuple

from app.graphs.markdown_table import markdown_table
from app.settings import Settings
from evaluation.bench.question_sets import Show
from evaluation.dialogue.anonymised import (
    ALL_VARIANTS,
    ANONYMISED,
    Anonymiser,
    DialogueVariant,
    ExactNames,
    kinds_in,
    names_in,
)
from evaluation.dialogue.dialogue_sets import (
    DialogueGraph,
    DialogueTurn,
    Estimate,
    Judge,
    Judged,
    SpanQuestion,
    Triple,
    estimate,
    is_said,
    names_of,
    percent,
    published,
    read_graph,
    read_test_turns,
    squad_f1,
    squad_words,
)
from evaluation.dialogue.extractor_texts import carriers
from evaluation.dialogue.replies import (
    FACTS,
    RepliesRun,
    Writer,
    all_triples,
    embedded_replies,
    gold_replies,
    replies_markdown,
    replies_measures,
)
from evaluation.dialogue.retrieval import RetrievalRun, retrieval_markdown, retrieval_measures
from evaluation.tables.measures import Measure, share

MIN_F1: Final = 0.95
MIN_F1_IN_FULL: Final = 0.90
MIN_FLAGGED: Final = 0.95
STRING_MATCH: Final = "string match (no judge)"
EXTRACTOR: Final = "trained extractor"
EMBEDDED: Final = "embedded reasoner"
GOLD, ALL_TRIPLES = "gold reply", "all triples said"
_NUMBER = re.compile(r"(?<!\w)\d+(?!\w)")

Part = Literal["retrieval", "replies", "attachment"]
ContextKind = Literal["turn", "reply"]
"""The text that a judge reads. `turn`: the utterance before the reply, and the reply, as in the authors' code;
`reply`: the reply alone."""
JudgeOf = Callable[[Sequence[DialogueTurn]], Judge]
"""Makes a judge for a set of turns. String matching needs the names in them; other judges ignore them."""


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
    """Returns each gold fact with True if the reply is to name its head, False if its tail.

    The published questions ask where each step of a walk leads, but the facts here have lost the walk's direction. So
    the unknown end is the one that neither the history nor an earlier fact names, and the tail if that does not
    decide.
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


def control_questions(turns: Sequence[DialogueTurn]) -> list[SpanQuestion]:
    """Returns the questions of all turns, each with a held-out sentence that names the answer but states no fact.

    A judge should find every one impossible.
    """
    sentences = carriers("not_found").held
    asked = [question for turn in turns for question in questions_of(turn, "")]
    return [
        replace(question, context=sentences[at % len(sentences)].replace("{}", question.acceptable[0]))
        for at, question in enumerate(asked)
    ]


def flagged(judged: Sequence[Judged]) -> float:
    """Returns the share of judged questions that the judge found impossible; failed calls are left out.

    All control questions are impossible, so that this is the share judged rightly there.
    """
    told = [spans for spans in judged if spans is not None]
    return sum(not spans for spans in told) / len(told) if told else 0.0


def string_judge(turns: Sequence[DialogueTurn]) -> Judge:
    """Returns a judge that answers with every name in the context but the known end of the fact.

    It does not read the relation, so that it is only an upper bound for comparison.
    """
    told = sorted(names_of(triple for turn in turns for triple in turn.knowledge))
    names = ExactNames(told)
    # Years are entities of a graph too, but `ExactNames` finds only names with a letter.
    numbers = {name for name in told if _NUMBER.fullmatch(name)}

    def answer(question: SpanQuestion) -> tuple[str, ...]:
        text = question.context
        spans = [text[each.start : each.end] for each in names.find(text)]
        spans += [number for number in _NUMBER.findall(text) if number in numbers]
        known = squad_words(question.known)
        return tuple(span for span in dict.fromkeys(spans) if squad_words(span) != known)

    return lambda batch: [answer(question) for question in batch]


class KatFigures(NamedTuple):
    """The figures of LLM-KAT, all between 0 and 1 but `questions`, their number.

    `per_turn` and `per_session`: mean F1 over the answered questions, as published. `impossible`: the share of
    questions that the judge found unanswerable. `failed`: the share of failed calls. `in_full`: mean F1 with
    impossible questions counted as 0. `per_turn` and `in_full` have intervals, for which whole dialogues are
    resampled.
    """

    questions: int
    per_turn: Estimate
    per_session: float
    impossible: float
    failed: float
    in_full: Estimate


def kat_figures(questions: Sequence[SpanQuestion], judged: Sequence[Judged]) -> KatFigures:
    """Returns the figures of judged questions; if a judge gave several spans, the one with the best F1 counts.

    If nothing was answered, F1 is 0.
    """
    found = [
        (question.dialogue, bool(spans), max((squad_f1(span, question.acceptable) for span in spans), default=0.0))
        for question, spans in zip(questions, judged, strict=True)
        if spans is not None
    ]
    answered = [(dialogue, f1) for dialogue, is_answered, f1 in found if is_answered]
    sessions: dict[str, list[float]] = defaultdict(list)
    for dialogue, f1 in answered:
        sessions[dialogue].append(f1)
    count = max(len(questions), 1)
    return KatFigures(
        len(questions),
        per_turn=estimate([f1 for _, f1 in answered], [dialogue for dialogue, _ in answered]),
        # Each session has the same weight, however long it is.
        per_session=fmean(map(fmean, sessions.values())) if sessions else 0.0,
        impossible=(len(found) - len(answered)) / count,
        failed=(len(questions) - len(found)) / count,
        in_full=estimate([f1 for _, _, f1 in found], [dialogue for dialogue, _, _ in found]),
    )


class KatRow(NamedTuple):
    """The figures of one writer's replies on one set, as one judge reads them."""

    writer: str
    variant: DialogueVariant
    context: ContextKind
    judge: str
    figures: KatFigures


def kat_rows(
    turns: Sequence[DialogueTurn],
    judges: Mapping[str, JudgeOf],
    variant: DialogueVariant,
    writer: str,
    write: Writer,
    contexts: Sequence[ContextKind] = ("turn", "reply"),
) -> list[KatRow]:
    """Writes replies to `turns` once, and have every judge judge them in each context.

    A question without a reply counts as failed, without asking a judge.
    """
    rows, replies = [], write(turns)
    for context in contexts:
        asked = [
            (question, bool(reply))
            for turn, reply in zip(turns, replies, strict=True)
            for question in questions_of(turn, reply, context)
        ]
        for judge, make in judges.items():
            found = iter(make(turns)([question for question, is_there in asked if is_there]))
            judged = [next(found) if is_there else None for _, is_there in asked]
            figures = kat_figures([question for question, _ in asked], judged)
            rows.append(KatRow(writer, variant, context, judge, figures))
    return rows


def kat_markdown(rows: Sequence[KatRow]) -> str:
    """Returns the figures times 100, with 95 % intervals by dialogue in brackets, above those of the paper."""
    head = (
        *("replies", "set", "judge reads", "judge", "questions", "F1 per turn", "F1 per session", "impossible"),
        *("failed", "F1, impossible as 0"),
    )
    ours = []
    for writer, variant, context, judge, told in rows:
        shares = percent([told.per_session, told.impossible, told.failed])
        ours.append((writer, variant.title, context, judge, told.questions, told.per_turn, *shares, told.in_full))
    beside = [
        (f"published: {model}", name, "turn", "DeepSeek-R1-32B", "", per_turn, per_session, "", "", "")
        for model, name, per_turn, per_session in published("llm_kat")[1]
    ]
    return markdown_table(head, [*ours, *beside])


def impossible_markdown(found: Mapping[str, tuple[int, float]]) -> str:
    """Returns the table of the control, in which a sentence holds the right name but does not state the relation."""
    ours = [(name, count, *percent([share_of, 1 - share_of])) for name, (count, share_of) in found.items()]
    beside = [(f"published: {judge}", "20000", *figures) for judge, *figures in published("impossible")[1]]
    return markdown_table(("judge", "questions", "flagged", "false positives"), [*ours, *beside])


def kat_measures(figures: KatFigures | None, control: tuple[int, float]) -> list[Measure]:
    """Returns the lines with bounds for the embedded reasoner's replies over gold facts, judged by the extractor.

    What was not measured counts as missed.
    """
    questions = figures.questions if figures else 0
    per_turn, in_full = (figures.per_turn.mean, figures.in_full.mean) if figures else (0.0, 0.0)
    return [
        share("LLM-KAT F1 per turn, gold triples", per_turn, questions, MIN_F1),
        share("the same, impossible as 0", in_full, questions, MIN_F1_IN_FULL),
        share("impossible control flagged, held-out carriers", control[1], control[0], MIN_FLAGGED),
    ]


_WRITERS: Final[dict[str, Writer]] = {
    GOLD: gold_replies,
    ALL_TRIPLES: all_triples,
    EMBEDDED: embedded_replies,
}


@dataclass
class DialogueRun:
    """One run over at most `limit` test turns, which collects `measures` and, by title, `tables` in Markdown.

    Raises QuestionsError, NetworkWeightsError.
    """

    data: Path
    settings: Settings
    seed: int
    weights: Path | None
    extractor: Judge | None
    limit: int | None
    show: Show
    tables: dict[str, str] = field(default_factory=dict)
    measures: list[Measure] = field(default_factory=list)

    def run(self, parts: Iterable[Part], *, ablations: bool) -> None:
        for part in parts:
            if part == "retrieval":
                rows = self._retrieval.rows(ablations=ablations)
                self.measures += retrieval_measures(rows)
                self.tables["Facts that the next turn needs"] = retrieval_markdown(rows)
            elif part == "replies":
                self._reply()
            else:
                self._attach()

    @cached_property
    def _retrieval(self) -> RetrievalRun:
        return RetrievalRun(self.data, self.settings, self.seed, self.show, self.weights)

    @cached_property
    def _graph(self) -> DialogueGraph:
        return read_graph(self.data)

    @cached_property
    def _turns(self) -> list[DialogueTurn]:
        return read_test_turns(self.data, self.limit)

    def _reply(self) -> None:
        run = RepliesRun(self._turns, self._graph, self.extractor, self._retrieval.ranked_facts(), self.show)
        run.measure(GOLD, gold_replies, None)
        for name in (ALL_TRIPLES, EMBEDDED):
            for facts in (None, *FACTS):
                run.measure(name, _WRITERS[name], facts)
        self.measures += replies_measures(run.rows, EMBEDDED)
        self.tables["Replies, measured by words"] = replies_markdown(run.rows)

    def _attach(self) -> None:
        extractor, judges = self.extractor, dict[str, JudgeOf]({STRING_MATCH: string_judge})
        if extractor is not None:
            judges[EXTRACTOR] = lambda _turns: extractor
        anonymiser, rows = Anonymiser(names_in(self._graph), kinds_in(self._graph)), list[KatRow]()
        for variant in ALL_VARIANTS:
            turns = anonymiser.variant(variant, self._turns)
            for at, (name, write) in enumerate(_WRITERS.items()):
                self.show(f"attachment: {variant.title}", at, len(_WRITERS))
                rows += kat_rows(turns, judges, variant, name, write)
        rows.sort(key=lambda row: list(_WRITERS).index(row.writer))
        asked = control_questions(self._turns)
        control = {name: (len(asked), flagged(make(self._turns)(asked))) for name, make in judges.items()}
        # The bound is for pseudonyms in all dialogues, as the service works.
        bounded = (EMBEDDED, ANONYMISED, "turn", EXTRACTOR)
        reached = [row.figures for row in rows if row[:-1] == bounded]
        self.measures += kat_measures(reached[0] if reached else None, control.get(EXTRACTOR, (0, 0.0)))
        self.tables["LLM-KAT"] = kat_markdown(rows)
        self.tables["Questions that can't be answered"] = impossible_markdown(control)
