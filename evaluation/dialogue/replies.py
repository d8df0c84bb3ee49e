"""Writers of replies (gold, all triples said, embedded reasoner), and the measures of replies other than LLM-KAT's.

They are KQA and string match (Kang et al., 2023), shared words, and variety. A question of KQA gives a thing of the
history and a relation, by a fact that joins it to a thing of the gold reply; all things that the graph has at the
other end of this relation are right answers (SURGE, section 4 and appendix E.1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import fmean
from typing import Final, NamedTuple

from app.graphs.markdown_table import markdown_table
from app.llm.tasks import Evidence, ReplyInput, Thing, Turn
from app.reader.sentences.dialogue_text import dialogue_text
from evaluation.bench.question_sets import Show
from evaluation.dialogue.anonymised import UNKNOWN_TYPE, ExactNames, pseudonyms, replacing, types_of
from evaluation.dialogue.dialogue_sets import (
    NOT_MEASURED,
    DialogueGraph,
    DialogueTurn,
    Estimate,
    Judge,
    SpanQuestion,
    Triple,
    estimate,
    is_said,
    names_of,
    percent,
    published,
    squad_f1,
    squad_words,
)
from evaluation.tables.measures import Measure, share

FACTS: Final = (3, 5, 10)
MIN_STRING_MATCH: Final = 0.58
BLEU_ORDERS: Final = (1, 2, 3, 4)
ROUGE_KINDS: Final = ("rouge1", "rouge2", "rougeL")

Writer = Callable[[Sequence[DialogueTurn]], list[str]]
"""Writes one reply to each turn from all of its knowledge; an empty text if it has none."""


def gold_replies(turns: Sequence[DialogueTurn]) -> list[str]:
    """Returns the replies of the set, written by people who knew the triples."""
    return [turn.reply for turn in turns]


def all_triples(turns: Sequence[DialogueTurn]) -> list[str]:
    """Returns every triple of the knowledge as a sentence: replies that are as attached to the graph as possible."""
    return [" ".join(f"{' '.join(triple)}." for triple in turn.knowledge) for turn in turns]


def embedded_replies(turns: Sequence[DialogueTurn]) -> list[str]:
    """Returns the replies of the embedded reasoner, which gets the evidence in pseudonyms as strategies show it.

    Names are hidden before it sees a turn and put back into its sentences.
    """
    found = []
    for turn in turns:
        words = pseudonyms(sorted(names_of(turn.knowledge)), turn.id)
        said = " ".join(each.text for each in dialogue_text(reply_input(turn, words)))
        found.append(replacing({word: name for name, word in words.items()})(said))
    return found


def reply_input(turn: DialogueTurn, words: Mapping[str, str]) -> ReplyInput:
    """Returns the turn as a strategy gives it to a model.

    Each fact starts at the end that the dialogue has named; facts that were told already are ranked last.
    """
    hidden = replacing(words)
    said = {name for name in words if is_said(name, turn.said)}
    kinds = {**{name: kind.lower() for name, kind in types_of(turn.knowledge).items()}, **turn.concepts}
    concepts = {words[name]: kinds.get(name, UNKNOWN_TYPE.lower()) for name in words}
    is_told = [head in said and tail in said for head, _, tail in turn.knowledge]
    evidence = []
    for head, relation, tail in turn.knowledge:
        is_inverse = tail in said and head not in said
        start, end = (words[tail], words[head]) if is_inverse else (words[head], words[tail])
        path = [f"^{relation}" if is_inverse else relation]
        ends = {"start_concept": concepts[start], "end_concept": concepts[end]}
        evidence.append(Evidence(start=start, path=path, end=end, size="1", **ends))
    return ReplyInput(
        question=hidden(turn.history[-1][1]) if turn.history else "",
        dialogue=[
            Turn(role="assistant" if speaker == "assistant" else "user", text=hidden(text))
            for speaker, text in turn.history[:-1]
        ],
        things=[Thing(name=words[name], concept=concepts[words[name]], size="1") for name in sorted(said)],
        evidence=evidence,
        ranked=tuple(sorted(range(len(is_told)), key=lambda at: is_told[at])),
    )


class ReplyQuestions:
    """Makes the KQA questions of turns over one graph, without a context: `kqa_scores` puts in history and reply."""

    def __init__(self, graph: DialogueGraph) -> None:
        self._graph, self._names = graph, ExactNames(graph.facts_of)

    def of(self, turn: DialogueTurn) -> list[SpanQuestion]:
        """Returns the questions of a turn; empty if history and gold reply share no fact."""
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
    """Returns (relation, other end, True if that is the head) for each end of the triple that is `known`."""
    head, relation, tail = triple
    sides = [(head, (relation, tail, False)), (tail, (relation, head, True))]
    return [side for end, side in sides if end == known]


def kqa_scores(
    questions: Sequence[SpanQuestion], turns: Mapping[str, DialogueTurn], replies: Mapping[str, str], judge: Judge
) -> list[tuple[float, float]]:
    """Returns exact match and F1 of the judge's best span for each question, read from history and reply together.

    A question without a span scores 0 in both, since KQA has no impossible questions.
    """
    said = {name: " ".join([*(text for _, text in turns[name].history), reply]) for name, reply in replies.items()}
    found = judge([replace(each, context=said[each.turn]) for each in questions])
    scores = []
    for each, spans in zip(questions, found, strict=True):
        wanted = [squad_words(name) for name in each.acceptable]
        exact = any(squad_words(span) in wanted for span in spans or ())
        scores.append((float(exact), max((squad_f1(span, each.acceptable) for span in spans or ()), default=0.0)))
    return scores


def distinct(replies: Sequence[str], length: int) -> float:
    """Returns the share of distinct runs of `length` words among all such runs in the replies."""
    texts = [reply.lower().split() for reply in replies]
    runs = [tuple(words[at : at + length]) for words in texts for at in range(len(words) - length + 1)]
    return len(set(runs)) / len(runs) if runs else 0.0


def bleu(replies: Sequence[str], gold: Sequence[str]) -> tuple[float, ...]:
    """Returns BLEU-1 to BLEU-4 of the whole set, between 0 and 1, in lower case."""
    from sacrebleu.metrics.bleu import BLEU

    if not replies:
        return (0.0,) * len(BLEU_ORDERS)
    scorers = (BLEU(lowercase=True, max_ngram_order=order) for order in BLEU_ORDERS)
    return tuple(scorer.corpus_score(list(replies), [list(gold)]).score / 100 for scorer in scorers)


def rouge(replies: Sequence[str], gold: Sequence[str]) -> tuple[float, ...]:
    """Returns the mean F1 of ROUGE-1, ROUGE-2 and ROUGE-L, without stemming."""
    from rouge_score.rouge_scorer import RougeScorer

    if not replies:
        return (0.0,) * len(ROUGE_KINDS)
    scorer = RougeScorer(list(ROUGE_KINDS))
    found = [scorer.score(right, reply) for reply, right in zip(replies, gold, strict=True)]
    return tuple(fmean(float(scores[kind].fmeasure) for scores in found) for kind in ROUGE_KINDS)


class ReplyFigures(NamedTuple):
    """The measures of replies, between 0 and 1 except `length` (words without articles).

    KQA is None without an extractor. `string_match`: an acceptable answer stands in the reply. `knowledge_f1`: words
    shared with the question and all acceptable answers (Kang et al., section 5.4); `entity_f1`: with an acceptable
    answer; `unigram_f1`: with the gold reply.
    """

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
    """Returns the measures of replies; `turns` and `questions` are those of the set, unchanged."""
    said = {turn.id: reply for turn, reply in zip(turns, replies, strict=True)}
    gold = [turn.reply for turn in turns]
    by_question = partial(estimate, dialogues=[question.dialogue for question in questions])
    exact: Estimate | None = None
    f1: Estimate | None = None
    if judge:
        scores = kqa_scores(questions, {turn.id: turn for turn in turns}, said, judge)
        exact, f1 = (by_question([score[at] for score in scores]) for at in (0, 1))
    matches = [float(any(is_said(name, said[each.turn]) for name in each.acceptable)) for each in questions]
    known = [[" ".join((each.known, each.relation, *each.acceptable))] for each in questions]
    return ReplyFigures(
        len(questions),
        exact,
        f1,
        by_question(matches),
        by_question([squad_f1(said[each.turn], told) for each, told in zip(questions, known, strict=True)]),
        by_question([squad_f1(said[each.turn], each.acceptable) for each in questions]),
        estimate(
            [squad_f1(reply, [right]) for reply, right in zip(replies, gold, strict=True)],
            [turn.dialogue for turn in turns],
        ),
        bleu(replies, gold),
        rouge(replies, gold),
        (distinct(replies, 1), distinct(replies, 2)),
        fmean(len(squad_words(reply)) for reply in replies) if replies else 0.0,
    )


@dataclass(slots=True)
class RepliesRun:
    """Measures replies of several writers, written from gold facts or from the 3, 5 or 10 best ranked ones.

    `ranked` maps the id of a turn to the facts around it, best first. A turn that it lacks is measured on gold facts
    only.
    """

    turns: Sequence[DialogueTurn] = field(repr=False)
    graph: DialogueGraph = field(repr=False)
    judge: Judge | None
    ranked: Mapping[str, Sequence[Triple]] = field(repr=False)
    show: Show
    rows: dict[tuple[str, str], ReplyFigures] = field(default_factory=dict)
    """The measures by writer and by what its replies were written from."""
    _questions: dict[str, list[SpanQuestion]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        maker = ReplyQuestions(self.graph)
        self._questions = {turn.id: maker.of(turn) for turn in self.turns}

    def measure(self, name: str, write: Writer, facts: int | None) -> None:
        """Measures the replies that `write` makes of the best `facts` ranked facts, or of the gold facts with None."""
        turns = self.turns if facts is None else [turn for turn in self.turns if turn.id in self.ranked]
        given = turns
        if facts is not None:
            given = [replace(turn, so_far=(), gold=tuple(self.ranked[turn.id][:facts])) for turn in turns]
        what = "gold facts" if facts is None else f"{facts} facts"
        self.show(f"{name}: {what}", 0, len(turns))
        questions = [question for turn in turns for question in self._questions[turn.id]]
        self.rows[name, what] = reply_figures(turns, write(given), questions, self.judge)


def replies_markdown(rows: Mapping[tuple[str, str], ReplyFigures]) -> str:
    """Returns the figures times 100, with 95 % intervals by dialogue in brackets; the length is in words."""
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
        )
        for (writer, given), told in rows.items()
    ]
    beside = [(f"published: {name}", "", *figures, "") for name, *figures in published_]
    return markdown_table(("replies", "questions", *head[1:], "length"), [*ours, *beside])


def replies_measures(rows: Mapping[tuple[str, str], ReplyFigures], writer: str) -> list[Measure]:
    """Returns the line with the bound for the replies of `writer` from the retriever's best three facts, as in SURGE.

    It counts as missed if it was not measured.
    """
    given = f"{FACTS[0]} facts"
    name, told = "string match of any acceptable answer", rows.get((writer, given))
    if told is None:
        return [share(name, 0.0, 0, MIN_STRING_MATCH)]
    return [share(f"{name}, {given}", told.string_match.mean, told.questions, MIN_STRING_MATCH)]
