"""The pairs that the extractor is trained on and measured on, part by part, with the table and bounds."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from app.extractor.extractor import Extractor
from app.graphs.markdown_table import markdown_table
from app.llm.embeddings.embedder import Embedder
from evaluation.bench.question_sets import Show
from evaluation.checks.metrics import mean
from evaluation.dialogue.dialogue_sets import DialogueTurn, read_turns, split, squad_f1, squad_words
from evaluation.dialogue.extractor_pairs import (
    LEARNT,
    UNSEEN_GRAPH,
    FactGraph,
    Likeness,
    PairMaker,
    Part,
    ReplyPairs,
    Source,
    StatementDraw,
    read_fact_graph,
)
from evaluation.dialogue.extractor_texts import carriers
from evaluation.tables.measures import Measure, share
from evaluation.training.extractor import LabelledQuestion

MIN_F1: Final = 0.88
MIN_FLAGGED: Final = 0.95
TEST_PAIRS: Final = 1_000
"""The number of pairs in each part that is generated from graphs."""
CONTROL: Final = "impossible control, unseen carriers"
UNSEEN_THINGS: Final = "unseen things"
UNSEEN_WORDINGS: Final = "unseen things, unseen wordings"
UNSEEN_RELATIONS: Final = "unseen relations"
UNSEEN_GRAPHS: Final = "unseen graph (PathQuestion)"
SYNTHETIC: Final = (UNSEEN_THINGS, UNSEEN_WORDINGS, UNSEEN_RELATIONS, UNSEEN_GRAPHS)
REPLIES: Final = "replies of unseen dialogues"
REPLIES_HIDDEN: Final = "the same, in pseudonyms"
TURNS: Final = "the same, with what was said before"

_AT_ONCE: Final = 500
_REPLY_ROUNDS, _REPLY_STYLES = 4, (40, 48, 12)
_SHARES: Final[dict[Source, int]] = {"metaqa": 25, "opendialkg": 45, "webqsp": 30}
_NAME = re.compile(r"[A-Z0-9]\w*(?:[ '.&:-]+(?:of |the |and |in |de )?[A-Z0-9]\w*)*")
Questions = Sequence[LabelledQuestion]
Answers = Sequence[tuple[str, ...]]


class PairSource(NamedTuple):
    """Everything that pairs are made of. `learnt` and `unseen` are turns of different dialogues of OpenDialKG."""

    graphs: Mapping[Source, FactGraph]
    likeness: Likeness
    learnt: Sequence[DialogueTurn]
    unseen: Sequence[DialogueTurn]


def read_pair_source(data: Path, embedder: Embedder) -> PairSource:
    """Reads graphs and turns from `data`, the folder of the public sets. Raises QuestionsError."""
    graphs = {source: read_fact_graph(data, source) for source in (*LEARNT, UNSEEN_GRAPH)}
    learnt, unseen = split(read_turns(data))
    said = [relation for turn in (*learnt, *unseen) for _, relation, _ in turn.gold]
    relations = [relation for graph in graphs.values() for relation in graph.by_relation]
    return PairSource(graphs, Likeness(embedder, [*relations, *said]), learnt, unseen)


def to_learn_from(source: PairSource, count: int, seed: int) -> list[LabelledQuestion]:
    """Returns `count` pairs to train on, up to a fifth of them about replies that people wrote.

    The replies are gone through `_REPLY_ROUNDS` times, each time with other names in them.
    """
    draw = random.Random(seed)  # noqa: S311  # a sample, no secret  # nosec B311
    replies = ReplyPairs(source.graphs["opendialkg"], source.likeness, draw, with_unseen=False)
    found = [
        pair
        for number in range(_REPLY_ROUNDS)
        for turn in source.learnt
        for pair in replies.pairs(turn, _REPLY_STYLES, with_last=number % 2 == 1)
    ][: count // 5]
    statements = {name: StatementDraw(source.graphs[name], "learnt", with_unseen=False) for name in LEARNT}
    makers = {
        name: PairMaker(each, source.likeness, draw, is_unseen=False).pairs() for name, each in statements.items()
    }
    while len(found) < count:
        name = draw.choices(LEARNT, [_SHARES[each] for each in LEARNT])[0]
        found += next(makers[name])
    return found[:count]


def to_measure(source: PairSource, seed: int) -> dict[str, Questions]:
    """Returns the test pairs by part; none of their facts, dialogues and carrier sentences is used in training."""
    draw = random.Random(f"{seed} test")  # noqa: S311  # as above  # nosec B311
    learnt = {fact for turn in source.learnt for fact in turn.gold}
    unseen = [turn for turn in source.unseen if not learnt.intersection(turn.gold)]
    replies = ReplyPairs(source.graphs["opendialkg"], source.likeness, draw, with_unseen=True)
    # As in LLM-KAT, section 4.1: five sentences in turn name a gold tail and say nothing about it.
    facts, held = [fact for turn in source.unseen for fact in turn.gold], carriers("not_found").held
    control = [
        LabelledQuestion(held[number % len(held)].replace("{}", tail), head, relation, False, ())
        for number, (head, relation, tail) in enumerate(facts)
    ]

    def replied(shares: Sequence[int], *, with_last: bool) -> list[LabelledQuestion]:
        return [pair for turn in unseen for pair in replies.pairs(turn, shares, with_last=with_last)]

    return {
        UNSEEN_THINGS: _made(source, LEARNT, "things", draw),
        UNSEEN_WORDINGS: _made(source, LEARNT, "things", draw, is_unseen=True),
        UNSEEN_RELATIONS: _made(source, ("opendialkg", "webqsp"), "relations", draw),
        UNSEEN_GRAPHS: _made(source, (UNSEEN_GRAPH,), "all", draw),
        REPLIES: replied((1, 0, 0), with_last=False),
        REPLIES_HIDDEN: replied((0, 1, 0), with_last=False),
        TURNS: replied((1, 0, 0), with_last=True),
        CONTROL: control,
    }


def _made(
    source: PairSource, graphs: Sequence[Source], part: Part, draw: random.Random, *, is_unseen: bool = False
) -> list[LabelledQuestion]:
    found: list[LabelledQuestion] = []
    for name in graphs:
        statements = StatementDraw(source.graphs[name], part, with_unseen=part != "things")
        made = PairMaker(statements, source.likeness, draw, is_unseen=is_unseen).pairs()
        own: list[LabelledQuestion] = []
        while statements and len(own) < TEST_PAIRS // len(graphs):
            own += next(made)
        found += own[: TEST_PAIRS // len(graphs)]
    return found


def other_names(batch: Questions) -> list[tuple[str, ...]]:
    """Returns for each question the answers of string matching, the simple method that the extractor is compared with.

    They are the capitalised words and numbers of the text that share no word with the known end.
    """
    found = []
    for question in batch:
        known = set(squad_words(question.known))
        names = dict.fromkeys(match.group() for match in _NAME.finditer(question.context))
        found.append(tuple(name for name in names if not known & set(squad_words(name))))
    return found


class PartFigures(NamedTuple):
    """The figures of one part.

    `f1` is over all pairs, as in SQuAD 2: an unanswerable one counts 1 if it is flagged, else 0. `answered` is the F1
    over answerable pairs; `flagged` the share of unanswerable ones that are flagged. Both are None without such pairs.
    """

    pairs: int
    f1: float
    answered: float | None
    flagged: float | None


class ExtractorRow(NamedTuple):
    """The figures of the extractor and of string matching on one part."""

    part: str
    learned: PartFigures
    strings: PartFigures


def run_extractor(extractor: Extractor, parts: Mapping[str, Questions], show: Show) -> list[ExtractorRow]:
    rows = []
    for part, questions in parts.items():
        found: list[tuple[str, ...]] = []
        for start in range(0, len(questions), _AT_ONCE):
            found += extractor.answers_to(questions[start : start + _AT_ONCE])
            show(part, len(found), len(questions))
        rows.append(ExtractorRow(part, figures(questions, found), figures(questions, other_names(questions))))
    return rows


def figures(questions: Questions, found: Answers) -> PartFigures:
    """Returns the figures of the found spans; of several spans the best one counts."""
    answered, flagged = [], []
    for question, spans in zip(questions, found, strict=True):
        if question.spans:
            answered.append(max((squad_f1(span, question.answers) for span in spans), default=0.0))
        else:
            flagged.append(float(not spans))
    shares = (mean(each) if each else None for each in (answered, flagged))
    return PartFigures(len(questions), mean([*answered, *flagged]), *shares)


def extractor_measures(rows: Sequence[ExtractorRow]) -> list[Measure]:
    """Returns two lines with bounds: F1 on the pairs made from graphs, and the share of the control that is flagged.

    The control is texts that name the right thing but state no fact, so that every question is impossible.
    """
    made = [row.learned for row in rows if row.part in SYNTHETIC]
    pairs = sum(each.pairs for each in made)
    f1 = sum(each.f1 * each.pairs for each in made) / max(pairs, 1)
    held = next((row.learned for row in rows if row.part == CONTROL), PartFigures(0, 0.0, None, None))
    return [
        share("extractor on held-out pairs, F1", f1, pairs, MIN_F1),
        share("impossible control flagged, held-out carriers", held.flagged or 0.0, held.pairs, MIN_FLAGGED),
    ]


def extractor_markdown(rows: Sequence[ExtractorRow]) -> str:
    head = ("pairs of", "pairs", "F1", "with an answer", "flagged", "names: F1", "names: flagged")
    cells = []
    for part, learned, strings in rows:
        shown = (learned.f1, learned.answered, learned.flagged, strings.f1, strings.flagged)
        cells.append((part, learned.pairs, *("" if each is None else f"{each:.3f}" for each in shown)))
    return markdown_table(head, cells)
