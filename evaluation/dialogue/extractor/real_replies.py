"""Questions over replies that people wrote (OpenDialKG): what of their gold facts the words of a reply answer."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import Final

from evaluation.dialogue.extractor.fact_graph import FactGraph, is_unseen_relation
from evaluation.dialogue.extractor.pairs import STYLES, Likeness
from evaluation.dialogue.extractor.text import Names, mark, placed
from evaluation.dialogue.opendialkg import DialogueTurn
from evaluation.training.extractor import LabelledQuestion

_MAX_OTHER: Final = 2
_MIN_WORD: Final = 4
_WORD = re.compile(r"\w+")


class ReplyPairs:
    """A gold fact whose unknown end stands in the reply is answered there. A fact of a thing that stands there is not
    answered where no word of its other end does, nor of anything else that the graph has for it."""

    def __init__(self, graph: FactGraph, likeness: Likeness, draw: random.Random, *, with_unseen: bool) -> None:
        self._graph, self._likeness, self._draw, self._with_unseen = graph, likeness, draw, with_unseen

    def pairs(self, turn: DialogueTurn, shares: Sequence[int], *, with_last: bool) -> list[LabelledQuestion]:
        """The questions of one reply, its gold names written in one of `STYLES`, drawn by `shares`. `with_last`: what
        was said last before it is read with it."""
        facts = [fact for fact in sorted(turn.gold) if self._with_unseen or not is_unseen_relation(fact[1])]
        things = sorted({end for head, _, tail in facts for end in (head, tail)})
        names = Names(self._draw.choices(STYLES, shares)[0], self._draw)
        said = f"{turn.history[-1][1]} {turn.reply}" if with_last and turn.history else turn.reply
        marked, named = _with_marks(said, things)
        text, places = placed(marked, names, self._draw)
        where = {thing: [(p.start, p.end) for p in places if p.thing == thing] for thing in named}
        found = []
        for (known, relation, is_head), wanted in _by_question(facts).items():
            spans = tuple(sorted(span for thing in wanted for span in where.get(thing, ())))
            if spans or (known in named and self._is_unsaid(text, known, relation, is_head, wanted)):
                found.append(LabelledQuestion(text, names.of(known), relation, is_head, spans))
        for known in sorted(named):
            found += self._others(text, known, names, facts)
        return found

    def _others(
        self, text: str, known: str, names: Names, facts: Sequence[tuple[str, str, str]]
    ) -> Iterator[LabelledQuestion]:
        """Relations that the thing has in the graph, and of which the reply says nothing."""
        said = [relation for head, relation, tail in facts]
        for is_head in (False, True):
            of = (self._graph.of_tail if is_head else self._graph.of_head).get(known, [])
            relations = [
                relation
                for relation in dict.fromkeys(fact[1] for fact in of)
                if (self._with_unseen or not is_unseen_relation(relation))
                and not any(self._likeness.may_mean(relation, each) for each in said)
            ]
            for relation in self._draw.sample(relations, min(len(relations), _MAX_OTHER)):
                if self._is_unsaid(text, known, relation, is_head, ()):
                    yield LabelledQuestion(text, names.of(known), relation, is_head, ())

    def _is_unsaid(self, text: str, known: str, relation: str, is_head: bool, wanted: Sequence[str]) -> bool:
        of = (self._graph.of_tail if is_head else self._graph.of_head).get(known, [])
        others = [fact[0 if is_head else 2] for fact in of if fact[1] == relation]
        words = set(_WORD.findall(text.lower()))
        return not any(
            word in words and len(word) >= min(_MIN_WORD, len(thing))
            for thing in (*others, *wanted)
            for word in _WORD.findall(thing.lower())
        )


def _by_question(facts: Sequence[tuple[str, str, str]]) -> dict[tuple[str, str, bool], list[str]]:
    """All that fills an unknown end, by the known one, the relation, and whether the unknown is the head."""
    found: dict[tuple[str, str, bool], list[str]] = {}
    for head, relation, tail in facts:
        found.setdefault((head, relation, False), []).append(tail)
        found.setdefault((tail, relation, True), []).append(head)
    return found


def _with_marks(reply: str, things: Sequence[str]) -> tuple[str, set[str]]:
    """The longest name first, and never a part of a longer word."""
    by_name = {thing.lower(): thing for thing in things}
    if not by_name:
        return reply, set()
    names = "|".join(re.escape(name) for name in sorted(by_name, key=len, reverse=True))
    named: set[str] = set()

    def marked(match: re.Match[str]) -> str:
        thing = by_name[match.group().lower()]
        named.add(thing)
        return mark(thing, -1)

    return re.sub(rf"(?<!\w)(?:{names})(?!\w)", marked, reply, flags=re.IGNORECASE), named
