"""Measures of replies beside attachment: KQA and string match (Kang et al., 2023), shared words, variety, and replies
from knowledge with other tails.

A question joins something of the history with something of the gold reply by a fact; whatever the graph lets stand in
the place of the latter is acceptable (SURGE, section 4 and appendix E.1).
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import fmean
from typing import Final

from app.graphs.markdown_table import markdown_table
from evaluation.bench.question_sets import Show
from evaluation.dialogue.dialogue_sets import DialogueGraph, DialogueTurn, Triple, is_said
from evaluation.dialogue.figures import NOT_MEASURED, Estimate, estimate, percent, published
from evaluation.dialogue.spans import ExactNames, Judge, SpanQuestion, squad_f1, squad_words
from evaluation.dialogue.writers import Writer
from evaluation.tables.measures import Measure, share

FACTS: Final = (3, 5, 10)
MIN_STRING_MATCH: Final = 0.58
BLEU_ORDERS: Final = (1, 2, 3, 4)
ROUGE_KINDS: Final = ("rouge1", "rouge2", "rougeL")


class ReplyQuestions:
    """Makes the questions of turns over one graph; their context is to be filled in."""

    def __init__(self, graph: DialogueGraph) -> None:
        self._graph, self._names = graph, ExactNames(graph.facts_of)

    def of(self, turn: DialogueTurn) -> list[SpanQuestion]:
        """None where history and gold reply have no fact in common; a turn's gold facts are facts of the graph."""
        spoken, replied = self._named(turn.said), self._named(turn.reply)
        asked = {
            (known, relation, is_head)
            for known in spoken
            for triple in self._graph.facts_of[known]
            for relation, other, is_head in _sides(triple, known)
            if other in replied and other != known
        }
        asked |= {
            (known, relation, is_head)
            for triple in turn.gold
            for known in (triple[0], triple[2])
            for relation, other, is_head in _sides(triple, known)
            if is_said(known, turn.said) and not is_said(other, turn.said)
        }
        return [self._question(turn, *each) for each in sorted(asked)]

    def _named(self, text: str) -> set[str]:
        return {name for mention in self._names.find(text) if mention.is_name for name in mention.names}

    def _question(self, turn: DialogueTurn, known: str, relation: str, is_head: bool) -> SpanQuestion:
        sides = (_sides(fact, known) for fact in (*self._graph.facts_of.get(known, ()), *turn.gold))
        fills = {other for side in sides for words, other, head in side if (words, head) == (relation, is_head)}
        return SpanQuestion("", known, relation, is_head, tuple(sorted(fills)), turn.id, turn.dialogue)


def _sides(triple: Triple, known: str) -> list[tuple[str, str, bool]]:
    """Relation, other end, and True where that is the head; both where a thing is joined with itself."""
    head, relation, tail = triple
    sides = [(head, (relation, tail, False)), (tail, (relation, head, True))]
    return [side for end, side in sides if end == known]


def string_matches(questions: Sequence[SpanQuestion], replies: Mapping[str, str]) -> list[float]:
    """1 for a question of which at least one acceptable answer stands in the reply, by the turn's id. It is no KQA."""
    return [float(any(is_said(name, replies[each.turn]) for name in each.acceptable)) for each in questions]


def kqa_scores(
    questions: Sequence[SpanQuestion], turns: Mapping[str, DialogueTurn], replies: Mapping[str, str], judge: Judge
) -> list[tuple[float, float]]:
    """Exact match and F1 of the best span for each question, read from history and reply together.

    A question without a span has neither: KQA knows no impossible question.
    """
    said = {name: " ".join([*(text for _, text in turns[name].history), reply]) for name, reply in replies.items()}
    found = judge([replace(each, context=said[each.turn]) for each in questions])
    scores = []
    for each, spans in zip(questions, found, strict=True):
        wanted = [squad_words(name) for name in each.acceptable]
        exact = any(squad_words(span) in wanted for span in spans or ())
        scores.append((float(exact), max((squad_f1(span, each.acceptable) for span in spans or ()), default=0.0)))
    return scores


def knowledge_f1(reply: str, question: SpanQuestion) -> float:
    """With the question and all acceptable answers together as the gold reply (Kang et al., section 5.4)."""
    return squad_f1(reply, [" ".join((question.known, question.relation, *question.acceptable))])


def given_knowledge_f1(reply: str, given: Sequence[Triple]) -> float:
    """With the triples that the reply was written from (Kang et al., table 3)."""
    return squad_f1(reply, [" ".join(" ".join(triple) for triple in given)])


def distinct(replies: Sequence[str], length: int) -> float:
    """Different runs of `length` words, of all there are in all replies."""
    texts = [reply.lower().split() for reply in replies]
    runs = [tuple(words[at : at + length]) for words in texts for at in range(len(words) - length + 1)]
    return len(set(runs)) / len(runs) if runs else 0.0


def mean_length(replies: Sequence[str]) -> float:
    """Words without articles and punctuation."""
    return fmean(len(squad_words(reply)) for reply in replies) if replies else 0.0


def bleu(replies: Sequence[str], gold: Sequence[str]) -> tuple[float, ...]:
    """BLEU-1 to BLEU-4 of the whole set, between 0 and 1, in small letters."""
    from sacrebleu.metrics.bleu import BLEU

    if not replies:
        return (0.0,) * len(BLEU_ORDERS)
    scorers = (BLEU(lowercase=True, max_ngram_order=order) for order in BLEU_ORDERS)
    return tuple(scorer.corpus_score(list(replies), [list(gold)]).score / 100 for scorer in scorers)


def rouge(replies: Sequence[str], gold: Sequence[str]) -> tuple[float, ...]:
    """Mean F1 of ROUGE-1, ROUGE-2 and ROUGE-L, without stemming."""
    from rouge_score.rouge_scorer import RougeScorer

    if not replies:
        return (0.0,) * len(ROUGE_KINDS)
    scorer = RougeScorer(list(ROUGE_KINDS))
    found = [scorer.score(right, reply) for reply, right in zip(replies, gold, strict=True)]
    return tuple(fmean(float(scores[kind].fmeasure) for scores in found) for kind in ROUGE_KINDS)


@dataclass(frozen=True, slots=True)
class ReplyFigures:
    """All between 0 and 1 but `length`, in words; those with an interval are means over turns. KQA is None where there
    is no extractor. `questions` were asked of the replies."""

    questions: int
    kqa_exact: Estimate | None
    kqa_f1: Estimate | None
    string_match: Estimate
    knowledge_f1: Estimate
    entity_f1: Estimate
    unigram_f1: Estimate
    bleu: tuple[float, ...]
    rouge: tuple[float, ...]
    distinct: tuple[float, float]
    length: float


def reply_figures(
    turns: Sequence[DialogueTurn],
    replies: Sequence[str],
    questions: Sequence[SpanQuestion],
    judge: Judge | None = None,
) -> ReplyFigures:
    """`turns` and their `questions` as the set has them, whatever the replies were written from."""
    said = {turn.id: reply for turn, reply in zip(turns, replies, strict=True)}
    gold = [turn.reply for turn in turns]
    by_question = partial(estimate, dialogues=[question.dialogue for question in questions])
    exact: Estimate | None = None
    f1: Estimate | None = None
    if judge:
        scores = kqa_scores(questions, {turn.id: turn for turn in turns}, said, judge)
        exact, f1 = (by_question([score[at] for score in scores]) for at in (0, 1))
    return ReplyFigures(
        len(questions),
        exact,
        f1,
        by_question(string_matches(questions, said)),
        by_question([knowledge_f1(said[each.turn], each) for each in questions]),
        by_question([squad_f1(said[each.turn], each.acceptable) for each in questions]),
        _shared_words(turns, replies),
        bleu(replies, gold),
        rouge(replies, gold),
        (distinct(replies, 1), distinct(replies, 2)),
        mean_length(replies),
    )


def _shared_words(turns: Sequence[DialogueTurn], replies: Sequence[str]) -> Estimate:
    """The F1 of each reply's words with those of the gold reply."""
    pairs = zip(replies, turns, strict=True)
    return estimate([squad_f1(reply, [turn.reply]) for reply, turn in pairs], [turn.dialogue for turn in turns])


def with_modified_tails(turns: Sequence[DialogueTurn], graph: DialogueGraph, seed: int = 0) -> list[DialogueTurn]:
    """The gold facts alone, each with another tail of the same relation, which its head does not have: what a reply
    says then was read, and not known before (Kang et al., table 3)."""
    draw = random.Random(seed)  # noqa: S311  # a sample, no secret  # nosec B311
    tails: dict[str, set[str]] = defaultdict(set)
    own: dict[tuple[str, str], set[str]] = defaultdict(set)
    for head, relation, tail in (fact for facts in graph.facts_of.values() for fact in facts):
        tails[relation].add(tail)
        own[head, relation].add(tail)
    for head, relation, tail in (triple for turn in turns for triple in turn.gold):
        own[head, relation].add(tail)
    ordered = {relation: sorted(names) for relation, names in tails.items()}

    def modified(triple: Triple) -> Triple:
        head, relation, _ = triple
        held, others = own[head, relation], ordered.get(relation, [])
        free = [name for name in draw.sample(others, min(len(others), len(held) + 1)) if name not in held]
        return (head, relation, free[0]) if free else triple

    return [replace(turn, so_far=(), gold=tuple(modified(triple) for triple in turn.gold)) for turn in turns]


@dataclass(slots=True)
class RepliesRun:
    """Writers from gold facts, from 3, 5 or 10 ranked facts, and from modified tails. `ranked`: the facts around a
    turn, best first, by the turn's id; turns without are left out where facts are ranked."""

    turns: Sequence[DialogueTurn] = field(repr=False)
    graph: DialogueGraph = field(repr=False)
    judge: Judge | None
    ranked: Mapping[str, Sequence[Triple]] = field(repr=False)
    seed: int
    show: Show
    rows: dict[tuple[str, str], ReplyFigures] = field(default_factory=dict)
    """By writer, and what its replies were written from."""
    modified: dict[str, tuple[Estimate, Estimate]] = field(default_factory=dict)
    """By writer: words shared with the gold reply, and with what was given."""
    _questions: dict[str, list[SpanQuestion]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        maker = ReplyQuestions(self.graph)
        self._questions = {turn.id: maker.of(turn) for turn in self.turns}

    def measure(self, name: str, write: Writer) -> None:
        """All that there is of a writer but of the gold reply, which is written from nothing else."""
        self.measure_from(name, write, None)
        for facts in FACTS:
            self.measure_from(name, write, facts)
        given = with_modified_tails(self.turns, self.graph, self.seed)
        self.show(f"{name}: modified tails", 0, len(given))
        replies = write(given, "default")
        of_given = [given_knowledge_f1(reply, turn.gold) for turn, reply in zip(given, replies, strict=True)]
        self.modified[name] = (
            _shared_words(given, replies),
            estimate(of_given, [turn.dialogue for turn in given]),
        )

    def measure_from(self, name: str, write: Writer, facts: int | None) -> None:
        """Replies from gold facts, or from the best `facts` that were ranked."""
        turns = self.turns if facts is None else [turn for turn in self.turns if turn.id in self.ranked]
        given = turns
        if facts is not None:
            given = [replace(turn, so_far=(), gold=tuple(self.ranked[turn.id][:facts])) for turn in turns]
        what = "gold facts" if facts is None else f"{facts} facts"
        self.show(f"{name}: {what}", 0, len(turns))
        questions = [question for turn in turns for question in self._questions[turn.id]]
        self.rows[name, what] = reply_figures(turns, write(given, "default"), questions, self.judge)


def replies_markdown(rows: Mapping[tuple[str, str], ReplyFigures]) -> str:
    """Figures times 100, 95 % intervals by dialogue in brackets; length in words."""
    head, published_ = published("replies")
    ours = [
        (
            f"{writer}, {given}",
            told.questions,
            told.kqa_exact or NOT_MEASURED,
            told.kqa_f1 or NOT_MEASURED,
            *(told.string_match, told.knowledge_f1, told.entity_f1, told.unigram_f1),
            *percent([*told.bleu, *told.rouge, *told.distinct]),
            f"{told.length:.1f}",
            NOT_MEASURED,
        )
        for (writer, given), told in rows.items()
    ]
    beside = [(f"published: {name}", "", *figures, "", NOT_MEASURED) for name, *figures in published_]
    return markdown_table(("replies", "questions", *head[1:], "length", "human"), [*ours, *beside])


def modified_markdown(rows: Mapping[str, tuple[Estimate, Estimate]]) -> str:
    head, published_ = published("modified")
    beside = [(f"published: {name}", *figures) for name, *figures in published_]
    return markdown_table(head, [*((writer, *found) for writer, found in rows.items()), *beside])


def replies_measures(rows: Mapping[tuple[str, str], ReplyFigures], writer: str) -> list[Measure]:
    """The bound, for the replies of `writer` from the three facts that the retriever ranks first, as SURGE has them;
    missed where it is not measured."""
    given = f"{FACTS[0]} facts"
    name, told = "string match of any acceptable answer", rows.get((writer, given))
    if told is None:
        return [share(name, 0.0, 0, MIN_STRING_MATCH)]
    return [share(f"{name}, {given}", told.string_match.mean, told.questions, MIN_STRING_MATCH)]
