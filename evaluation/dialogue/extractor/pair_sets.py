"""The pairs that the extractor is trained on, and those that it is measured on, part by part."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from app.llm.embeddings.embedder import Embedder
from evaluation.dialogue.extractor.fact_graph import (
    LEARNT,
    UNSEEN_GRAPH,
    FactDraw,
    FactGraph,
    Source,
    read_fact_graph,
)
from evaluation.dialogue.extractor.pairs import Likeness, PairMaker
from evaluation.dialogue.extractor.real_replies import ReplyPairs
from evaluation.dialogue.extractor.statements import StatementDraw
from evaluation.dialogue.extractor.wordings import carriers
from evaluation.dialogue.opendialkg import FOLDER, DialogueTurn, read_turns, split
from evaluation.dialogue.training_set import SPLIT_SEED
from evaluation.training.extractor import LabelledQuestion

PAIRS: Final = 200_000
TEST_PAIRS: Final = 1_000
"""Of each part that is made from graphs."""
CONTROL: Final = "impossible control, unseen carriers"
UNSEEN_THINGS: Final = "unseen things"
UNSEEN_WORDINGS: Final = "unseen things, unseen wordings"
UNSEEN_RELATIONS: Final = "unseen relations"
UNSEEN_GRAPHS: Final = "unseen graph (PathQuestion)"
SYNTHETIC: Final = (UNSEEN_THINGS, UNSEEN_WORDINGS, UNSEEN_RELATIONS, UNSEEN_GRAPHS)
REPLIES: Final = "replies of unseen dialogues"
REPLIES_HIDDEN: Final = "the same, in pseudonyms"
TURNS: Final = "the same, with what was said before"

_REPLY_ROUNDS, _REPLY_STYLES = 4, (40, 48, 12)
_SHARES: Final[dict[Source, int]] = {"metaqa": 25, "opendialkg": 45, "webqsp": 30}
Questions = Sequence[LabelledQuestion]


@dataclass(frozen=True, slots=True)
class PairSource:
    """All that pairs are made of. `learnt`, `unseen`: turns of OpenDialKG, apart by dialogue."""

    graphs: Mapping[Source, FactGraph] = field(repr=False)
    likeness: Likeness = field(repr=False)
    learnt: Sequence[DialogueTurn] = field(repr=False)
    unseen: Sequence[DialogueTurn] = field(repr=False)


def read_pair_source(data: Path, embedder: Embedder) -> PairSource:
    """`data`: the folder of the public sets. Raises QuestionsError."""
    graphs = {source: read_fact_graph(data, source) for source in (*LEARNT, UNSEEN_GRAPH)}
    learnt, unseen = split(read_turns(data / FOLDER), SPLIT_SEED)
    said = [relation for turn in (*learnt, *unseen) for _, relation, _ in sorted(turn.gold)]
    relations = [relation for graph in graphs.values() for relation in graph.relations]
    return PairSource(graphs, Likeness(embedder, [*relations, *said]), learnt, unseen)


def to_learn_from(source: PairSource, count: int, seed: int) -> list[LabelledQuestion]:
    """`count` pairs, and those of the replies among them, each `_REPLY_ROUNDS` times in other names."""
    draw = random.Random(seed)  # noqa: S311  # a sample, no secret  # nosec B311
    replies = ReplyPairs(source.graphs["opendialkg"], source.likeness, draw, with_unseen=False)
    found = [
        pair
        for number in range(_REPLY_ROUNDS)
        for turn in source.learnt
        for pair in replies.pairs(turn, _REPLY_STYLES, with_last=number % 2 == 1)
    ][: count // 5]
    makers = {
        name: PairMaker(
            StatementDraw(FactDraw(source.graphs[name], "learnt"), with_unseen=False),
            source.likeness,
            draw,
            is_unseen=False,
        ).pairs()
        for name in LEARNT
    }
    while len(found) < count:
        name = draw.choices(LEARNT, [_SHARES[each] for each in LEARNT])[0]
        found += next(makers[name])
    return found[:count]


def to_measure(source: PairSource, seed: int) -> dict[str, Questions]:
    """By part; none of their facts, dialogues and carriers is learnt from."""
    draw = random.Random(f"{seed} test")  # noqa: S311  # as above  # nosec B311
    unseen = [turn for turn in source.unseen if not turn.gold & {fact for each in source.learnt for fact in each.gold}]
    replies = ReplyPairs(source.graphs["opendialkg"], source.likeness, draw, with_unseen=True)
    return {
        UNSEEN_THINGS: _made(source, LEARNT, "things", draw, is_unseen=False),
        UNSEEN_WORDINGS: _made(source, LEARNT, "things", draw, is_unseen=True),
        UNSEEN_RELATIONS: _made(source, ("opendialkg", "webqsp"), "relations", draw, is_unseen=False),
        UNSEEN_GRAPHS: _made(source, (UNSEEN_GRAPH,), "all", draw, is_unseen=False),
        REPLIES: [pair for turn in unseen for pair in replies.pairs(turn, (1, 0, 0), with_last=False)],
        REPLIES_HIDDEN: [pair for turn in unseen for pair in replies.pairs(turn, (0, 1, 0), with_last=False)],
        TURNS: [pair for turn in unseen for pair in replies.pairs(turn, (1, 0, 0), with_last=True)],
        CONTROL: control(source.unseen),
    }


def control(turns: Sequence[DialogueTurn]) -> list[LabelledQuestion]:
    """As in LLM-KAT, section 4.1, with five sentences in turn: a gold tail is named, and nothing said of it."""
    facts = [fact for turn in turns for fact in sorted(turn.gold)]
    held = carriers("not_found").held
    return [
        LabelledQuestion(held[number % len(held)].replace("{}", tail), head, relation, False, ())
        for number, (head, relation, tail) in enumerate(facts)
    ]


def _made(
    source: PairSource,
    graphs: Sequence[Source],
    part: Literal["things", "relations", "all"],
    draw: random.Random,
    *,
    is_unseen: bool,
) -> list[LabelledQuestion]:
    found: list[LabelledQuestion] = []
    for name in graphs:
        facts = FactDraw(source.graphs[name], part)
        if not facts:
            continue
        statements = StatementDraw(facts, with_unseen=part != "things")
        made = PairMaker(statements, source.likeness, draw, is_unseen=is_unseen).pairs()
        own: list[LabelledQuestion] = []
        while len(own) < TEST_PAIRS // len(graphs):
            own += next(made)
        found += own[: TEST_PAIRS // len(graphs)]
    return found
