"""Pairs of a text and a question that it answers or does not answer, to train and test the extractor.

The texts are generated from facts of public graphs, some of which are kept for the test, or are replies that people
wrote (OpenDialKG).
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple
from zlib import crc32

import numpy as np

from app.extractor.features import relation_words
from app.llm.embeddings.embedder import Embedder
from evaluation.datasets.questions import QuestionsError
from evaluation.dialogue.dialogue_sets import DialogueTurn, Triple
from evaluation.dialogue.extractor_texts import (
    Choice,
    Names,
    Place,
    Speaker,
    Statement,
    Style,
    capital,
    carriers,
    is_aside,
    listed,
    mark,
    may_mean,
    negated,
    placed,
    replaced,
    sentence,
)
from evaluation.training.extractor import LabelledQuestion

Source = Literal["metaqa", "opendialkg", "webqsp", "pathquestion"]
Part = Literal["learnt", "things", "relations", "all"]
"""A part of a graph's facts. `things`: facts whose head is kept for the test; `relations`: whose relation is."""
LEARNT: Final[tuple[Source, ...]] = ("metaqa", "opendialkg", "webqsp")
UNSEEN_GRAPH: Final[Source] = "pathquestion"
MAX_LISTED: Final = 4

_FILES: Final[dict[Source, tuple[str, str]]] = {
    "metaqa": ("kb.txt", "|"),
    "opendialkg": ("triples.tsv", "\t"),
    "webqsp": ("triples.tsv", "\t"),
    "pathquestion": ("PQ-3H.kb.tsv", "\t"),
}
_UNSEEN_RELATIONS, _UNSEEN_THINGS = 8, 12
_MAX_NAME, _SYMMETRIC, _MIN_FACTS, _LISTED = 60, 0.3, 5, 0.35
_ALWAYS_SYMMETRIC: Final = frozenset("spouse|sibling|siblings|spouse (or domestic partner)|peer|adjoins".split("|"))


class FactGraph:
    """Facts of a graph by relation, by head and by tail."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        self.by_relation: dict[str, list[Triple]] = defaultdict(list)
        self.of_head: dict[str, list[Triple]] = defaultdict(list)
        self.of_tail: dict[str, list[Triple]] = defaultdict(list)
        self._all = frozenset(triples)
        for triple in sorted(self._all):
            head, relation, tail = triple
            self.by_relation[relation].append(triple)
            self.of_head[head].append(triple)
            self.of_tail[tail].append(triple)
        self._symmetric = _ALWAYS_SYMMETRIC | {
            relation
            for relation, facts in self.by_relation.items()
            if sum((tail, relation, head) in self._all for head, _, tail in facts) > _SYMMETRIC * len(facts)
        }

    def about(self, thing: str, *, is_head: bool) -> Sequence[Triple]:
        """Returns the facts that have `thing` as their head, or else as their tail."""
        return (self.of_head if is_head else self.of_tail).get(thing, ())

    def is_symmetric(self, relation: str) -> bool:
        """Returns True if many of the relation's facts also hold the other way round, as for spouse and sibling."""
        return relation in self._symmetric


class StatementDraw:
    """Draws statements around facts of one part of a graph.

    The statements of one draw belong together or are easily confused. Rare relations are drawn more often than they
    occur.
    """

    def __init__(self, graph: FactGraph, part: Part, *, with_unseen: bool) -> None:
        """Indexes the facts of `part`; `with_unseen` includes relations that are kept for the test."""
        self.graph, self._with_unseen = graph, with_unseen
        self._facts = {
            relation: kept
            for relation, facts in graph.by_relation.items()
            if len(kept := [fact for fact in facts if part in ("all", part_of(fact))]) >= _MIN_FACTS
        }
        self._relations = list(self._facts)
        self._weights = [len(facts) ** 0.5 for facts in self._facts.values()]

    def __bool__(self) -> bool:
        return bool(self._relations)

    def drawn(self, draw: random.Random) -> list[Statement]:
        """Draws one to four statements."""
        relation = draw.choices(self._relations, self._weights)[0]
        found = [self._statement(draw.choice(self._facts[relation]), draw)]
        for _ in range(draw.choices((0, 1, 2, 3), (30, 32, 24, 14))[0]):
            if (more := self._next(found, draw)) is not None:
                found.append(self._statement(more, draw))
        return found

    def other(self, statement: Statement, draw: random.Random, *, is_head: bool) -> str | None:
        """Returns the head (or tail) of a random fact of the statement's relation; None if the statement holds it."""
        head, _, tail = draw.choice(self.graph.by_relation[statement.relation])
        found = head if is_head else tail
        return None if found in statement.things else found

    def relations_of(self, thing: str, *, is_head: bool) -> list[str]:
        relations = dict.fromkeys(fact[1] for fact in self.graph.about(thing, is_head=is_head))
        return [relation for relation in relations if self._may_be_used(relation)]

    def _next(self, said: Sequence[Statement], draw: random.Random) -> Triple | None:
        last = said[-1]
        head, tail = said[0].heads[0], draw.choice(last.tails)
        pools = (
            self.graph.of_head[head],
            self.graph.of_tail[tail],
            self.graph.of_head.get(tail, []),
            self.graph.by_relation[last.relation],
        )
        pool = draw.choices(pools, (50, 15, 15, 20))[0]
        named = {thing for each in said for thing in each.things}
        for _ in range(4 if pool else 0):
            fact = draw.choice(pool)
            ends = {fact[0], fact[2]}
            is_new = not any(fact[1] == each.relation and ends & set(each.things) for each in said)
            # At least one end must be new, so that no pair of things has two relations.
            if is_new and self._may_be_used(fact[1]) and not ends <= named:
                return fact
        return None

    def _statement(self, fact: Triple, draw: random.Random) -> Statement:
        head, relation, tail = fact
        heads: tuple[str, ...] = (head,)
        tails: tuple[str, ...] = (tail,)
        if draw.random() < _LISTED:
            tails = _with([each[2] for each in self.graph.of_head[head] if each[1] == relation], tail, draw)
            if len(tails) == 1:
                heads = _with([each[0] for each in self.graph.of_tail[tail] if each[1] == relation], head, draw)
        return Statement(heads, relation, tails)

    def _may_be_used(self, relation: str) -> bool:
        return self._with_unseen or not is_unseen_relation(relation)


def _with(pool: Sequence[str], one: str, draw: random.Random) -> tuple[str, ...]:
    others = [each for each in dict.fromkeys(pool) if each != one]
    return (one, *draw.sample(others, min(len(others), draw.randint(1, MAX_LISTED - 1))))


def part_of(fact: Triple) -> Part:
    """Returns the part of a fact, which depends on its words only, so that it is the same for every seed."""
    head, relation, _ = fact
    if is_unseen_relation(relation):
        return "relations"
    return "things" if crc32(head.encode()) % _UNSEEN_THINGS == 0 else "learnt"


def is_unseen_relation(relation: str) -> bool:
    return crc32(f"kept {relation}".encode()) % _UNSEEN_RELATIONS == 0


def read_fact_graph(data: Path, source: Source) -> FactGraph:
    """Reads the facts between two names of a public graph; ids and long texts are left out. Raises QuestionsError."""
    name, between = _FILES[source]
    found: list[Triple] = []
    try:
        for line in (data / source / name).read_text("utf-8").splitlines():
            head, relation, tail = line.split(between)[:3]
            if relation.startswith("~"):
                head, tail = tail, head
            if source == UNSEEN_GRAPH:
                # This source writes names in small letters with underscores.
                head, tail = (" ".join(map(str.capitalize, each.split("_"))) for each in (head, tail))
            if head != tail and _is_name(head) and _is_name(tail):
                found.append((head, relation_words(relation), tail))
        return FactGraph(found)
    except (OSError, ValueError):
        raise QuestionsError(f"{source}/{name} can't be read: a line is head, relation and tail") from None


def _is_name(text: str) -> bool:
    is_id = text.startswith(("m.", "g.")) and " " not in text
    return not is_id and 1 < len(text) <= _MAX_NAME and any(map(str.isalnum, text)) and "http" not in text


STYLES: Final[tuple[Style, ...]] = ("plain", "pseudonyms", "typed")
_STYLE_SHARES: Final = (50, 38, 12)
_HEDGED, _FILLER, _JOINED, _NEGATED = 0.18, 0.25, 0.25, 0.6
_MAX_ASKED, _MAX_IMPOSSIBLE, _MAX_OTHER = 3, 2, 2
_MIN_WORD: Final = 4
_WORD = re.compile(r"\w+")

Impossible = tuple[str, str, bool]
"""An unanswerable question: known end, relation, and True if the unknown end is the head."""


class Likeness:
    """Compares relations by the cosine of the sentence vectors of their words."""

    def __init__(self, embedder: Embedder, relations: Sequence[str]) -> None:
        self._row = {relation: row for row, relation in enumerate(dict.fromkeys(relations))}
        vectors = embedder.sentences(list(self._row))
        self._of = (vectors @ vectors.T).astype(np.float16)

    def may_mean(self, one: str, others: Sequence[str]) -> bool:
        """Returns True if the relation may be read as one of the others."""
        return any(may_mean(one, other, float(self._of[self._row[one], self._row[other]])) for other in others)


class _Told(NamedTuple):
    """A text with the places of its things and the statements that it makes."""

    text: str
    places: Sequence[Place]
    statements: Sequence[Statement] = ()

    def answers(self, known: str, relation: str, *, is_head: bool) -> set[tuple[int, int]]:
        """Returns the spans in the text that answer a question for the other end of a fact of `known` and `relation`.

        `is_head` says that the head is asked for.
        """
        found: set[tuple[int, int]] = set()
        for number, each in enumerate(self.statements):
            if each.relation == relation and known in each.ends(is_head=not is_head):
                for thing in each.ends(is_head=is_head):
                    places = [place for place in self.places if place.thing == thing]
                    found |= {p.span for p in places if p.statement == number} or {p.span for p in places}
        return found

    def relations_about(self, thing: str, *, is_of_it: bool) -> list[str]:
        return [each.relation for each in self.statements if (thing in each.things) == is_of_it]


class PairMaker:
    """Makes an endless stream of pairs; the same `draw` gives the same pairs.

    `is_unseen` uses wordings that are kept for the test.
    """

    def __init__(self, statements: StatementDraw, likeness: Likeness, draw: random.Random, *, is_unseen: bool) -> None:
        self._statements, self._likeness, self._draw, self._is_unseen = statements, likeness, draw, is_unseen

    def pairs(self) -> Iterator[list[LabelledQuestion]]:
        """Yields the questions of one text after another."""
        makers = (self._of_statements, self._of_denial, self._of_not_found, self._of_fragment, self._of_mention)
        while True:
            maker = self._draw.choices(makers, (72, 8, 9, 2, 9))[0]
            names = Names(self._draw.choices(STYLES, _STYLE_SHARES)[0], self._draw)
            if found := maker(names):
                yield found

    def _of_statements(self, names: Names) -> list[LabelledQuestion]:
        statements = self._statements.drawn(self._draw)
        speaker = Speaker(self._draw, is_unseen=self._is_unseen)
        clauses = [speaker.clause(each, number) for number, each in enumerate(statements)]
        told = _Told(*placed(self._paragraph(clauses), names, self._draw), statements)
        asked = [question for number in range(len(statements)) for question in self._answered(told, number, names)]
        asked = self._draw.sample(asked, min(len(asked), _MAX_ASKED))
        return asked + self._impossible(told, names)

    def _of_denial(self, names: Names) -> list[LabelledQuestion]:
        """Makes a text in which one of the statements is denied."""
        first, *rest = statements = self._statements.drawn(self._draw)[:2]
        speaker = Speaker(self._draw, is_unseen=self._is_unseen)
        clause = speaker.clause(first, 0, with_pronouns=False)
        if is_aside(clause):
            return []
        no = negated(clause, self._draw) if self._draw.random() < _NEGATED else None
        clauses = [no or replaced(self._carrier("denials"), {"s": clause})]
        clauses += [speaker.clause(each, number) for number, each in enumerate(rest, start=1)]
        told = _Told(*placed(self._paragraph(clauses), names, self._draw), statements)
        is_head = self._draw.random() < 0.5
        known = self._draw.choice(first.ends(is_head=not is_head))
        if any(first.relation == each.relation for each in rest):
            return []
        asked = self._answered(told, 1, names) if rest else []
        return [_question(told, names, known, first.relation, is_head), *asked[:1]]

    def _of_not_found(self, names: Names) -> list[LabelledQuestion]:
        statement = self._statements.drawn(self._draw)[0]
        is_head = self._draw.random() < 0.5
        known, sought = (self._draw.choice(statement.ends(is_head=end)) for end in (not is_head, is_head))
        missing = sought if self._draw.random() < 0.7 else known
        text = self._with_filler(self._carrier("not_found").replace("{}", mark(missing, -1)), 0.2)
        return [_question(_Told(*placed(text, names, self._draw)), names, known, statement.relation, is_head)]

    def _of_fragment(self, names: Names) -> list[LabelledQuestion]:
        """Makes a text that consists of the answer alone."""
        statement = self._statements.drawn(self._draw)[0]
        is_head = len(statement.heads) > 1 or (len(statement.tails) == 1 and self._draw.random() < 0.5)
        marks = [mark(thing, 0) for thing in statement.ends(is_head=is_head)]
        text = sentence(replaced(self._carrier("fragments"), {"t": listed(marks, self._draw)}))
        told = _Told(*placed(self._with_filler(text, _FILLER), names, self._draw))
        known = self._draw.choice(statement.ends(is_head=not is_head))
        return [_question(told, names, known, statement.relation, is_head, [place.span for place in told.places])]

    def _of_mention(self, names: Names) -> list[LabelledQuestion]:
        """Makes a text that names one end only and says nothing of it."""
        statement = self._statements.drawn(self._draw)[0]
        is_head = self._draw.random() < 0.5
        known = self._draw.choice(statement.ends(is_head=not is_head))
        named = self._draw.choice((known, self._draw.choice(statement.ends(is_head=is_head))))
        text = self._with_filler(sentence(replaced(self._carrier("mentions"), {"e": mark(named, -1)})), 0.5)
        return [_question(_Told(*placed(text, names, self._draw)), names, known, statement.relation, is_head)]

    def _paragraph(self, clauses: Sequence[str]) -> str:
        """Joins clauses into a paragraph.

        At random, two clauses become one sentence, a sentence gets a hedge, and a filler sentence is added first or
        last.
        """
        sentences: list[str] = []
        rest = list(clauses)
        while rest:
            clause = rest.pop(0)
            if clause[-1] in ".!?":
                sentences.append(clause)
                continue
            if rest and rest[0][-1] not in ".!?" and self._draw.random() < _JOINED:
                clause += self._draw.choice((" and ", ", and ", ", while ", "; ")) + rest.pop(0)
            if self._draw.random() < _HEDGED:
                clause = replaced(self._carrier("hedges"), {"s": clause, "S": capital(clause)})
            sentences.append(sentence(clause))
        if self._draw.random() < _FILLER:
            sentences.insert(self._draw.choice((0, len(sentences))), self._carrier("fillers"))
        return " ".join(sentences)

    def _with_filler(self, text: str, chance: float) -> str:
        return f"{text} {self._carrier('fillers')}" if self._draw.random() < chance else text

    def _carrier(self, choice: Choice) -> str:
        return carriers(choice).drawn(self._draw, is_unseen=self._is_unseen)

    def _answered(self, told: _Told, number: int, names: Names) -> list[LabelledQuestion]:
        """Asks for the head and for the tail of a statement."""
        statement = told.statements[number]
        found = []
        for is_head in (False, True):
            known = self._draw.choice(statement.ends(is_head=not is_head))
            spans = told.answers(known, statement.relation, is_head=is_head)
            if self._statements.graph.is_symmetric(statement.relation):
                spans |= told.answers(known, statement.relation, is_head=not is_head)
            if spans:
                found.append(_question(told, names, known, statement.relation, is_head, sorted(spans)))
        return found

    def _impossible(self, told: _Told, names: Names) -> list[LabelledQuestion]:
        found: list[LabelledQuestion] = []
        makers: tuple[Callable[[_Told, Statement, bool], Impossible | None], ...]
        makers = (self._other_relation, self._other_relation, self._other_known, self._other_way)
        for _ in range(self._draw.choice((1, 2, _MAX_IMPOSSIBLE))):
            statement = self._draw.choice(told.statements)
            is_head = self._draw.random() < 0.5
            asked = self._draw.choice(makers)(told, statement, is_head)
            if asked is not None:
                found.append(_question(told, names, *asked))
        return list(dict.fromkeys(found))

    def _other_relation(self, told: _Told, statement: Statement, is_head: bool) -> Impossible | None:
        """Makes an unanswerable question about a thing of the text with a relation that the text does not state of it.

        The relation is one that the text states of other things, or that the graph has for this thing. Returns None if
        the text may be read as stating it.
        """
        known = self._draw.choice(statement.ends(is_head=not is_head))
        others = told.relations_about(known, is_of_it=False)
        if not others or self._draw.random() < 0.5:
            others = self._statements.relations_of(known, is_head=not is_head)
        relation = self._draw.choice(others) if others else statement.relation
        is_said = self._likeness.may_mean(relation, told.relations_about(known, is_of_it=True))
        return None if is_said else (known, relation, is_head)

    def _other_known(self, told: _Told, statement: Statement, is_head: bool) -> Impossible | None:
        """Makes an unanswerable question about a thing that the text does not name.

        Returns None if a pronoun or a missing name in the text may stand for that thing.
        """
        named = {place.thing for place in told.places}
        if not all(named & set(each.ends(is_head=end)) for each in told.statements for end in (True, False)):
            return None
        other = self._statements.other(statement, self._draw, is_head=not is_head)
        places = {(place.thing, place.statement) for place in told.places}
        said = [(thing, at) for at, each in enumerate(told.statements) for thing in each.things]
        has_pronoun = any(each not in places for each in said)
        return None if other is None or other in named or has_pronoun else (other, statement.relation, is_head)

    def _other_way(self, told: _Told, statement: Statement, is_head: bool) -> Impossible | None:
        """Makes an unanswerable question in which the two ends of a statement change places.

        Returns None if the relation is symmetric, or if the text may state it in that direction elsewhere.
        """
        known, relation = self._draw.choice(statement.ends(is_head=is_head)), statement.relation
        # The text may state the relation in this direction elsewhere, or the relation is symmetric.
        if self._statements.graph.is_symmetric(relation) or told.answers(known, relation, is_head=is_head):
            return None
        same = [each.relation for each in told.statements if each is not statement and known in each.things]
        return None if self._likeness.may_mean(relation, same) else (known, relation, is_head)


def _question(
    told: _Told, names: Names, known: str, relation: str, is_head: bool, spans: Sequence[tuple[int, int]] = ()
) -> LabelledQuestion:
    return LabelledQuestion(told.text, names.of(known), relation, is_head, tuple(spans))


class ReplyPairs:
    """Makes questions about replies that people wrote, each for one end of a fact.

    A gold fact is a question with an answer if the asked end stands in the reply. A question has no answer if the
    reply names the known end, but no word of anything that the graph has at the asked end.
    """

    def __init__(self, graph: FactGraph, likeness: Likeness, draw: random.Random, *, with_unseen: bool) -> None:
        self._graph, self._likeness, self._draw, self._with_unseen = graph, likeness, draw, with_unseen

    def pairs(self, turn: DialogueTurn, shares: Sequence[int], *, with_last: bool) -> list[LabelledQuestion]:
        """Returns the questions of one reply, with names in one of `STYLES`, which is drawn with the weights `shares`.

        `with_last` puts the utterance before the reply in front of it.
        """
        facts = [fact for fact in turn.gold if self._with_unseen or not is_unseen_relation(fact[1])]
        names = Names(self._draw.choices(STYLES, shares)[0], self._draw)
        said = f"{turn.history[-1][1]} {turn.reply}" if with_last and turn.history else turn.reply
        marked, named = _with_marks(said, {end for head, _, tail in facts for end in (head, tail)})
        text, places = placed(marked, names, self._draw)
        asked: dict[Impossible, list[str]] = {}
        for head, relation, tail in facts:
            asked.setdefault((head, relation, False), []).append(tail)
            asked.setdefault((tail, relation, True), []).append(head)
        found = []
        for (known, relation, is_head), wanted in asked.items():
            spans = tuple(sorted(place.span for place in places if place.thing in wanted))
            if spans or (known in named and self._is_unsaid(text, known, relation, is_head, wanted)):
                found.append(LabelledQuestion(text, names.of(known), relation, is_head, spans))
        for known in sorted(named):
            found += self._others(text, known, names, [fact[1] for fact in facts])
        return found

    def _others(self, text: str, known: str, names: Names, said: Sequence[str]) -> Iterator[LabelledQuestion]:
        """Yields questions with relations that the thing has in the graph but that the reply says nothing about."""
        for is_head in (False, True):
            relations = [
                relation
                for relation in dict.fromkeys(fact[1] for fact in self._graph.about(known, is_head=not is_head))
                if (self._with_unseen or not is_unseen_relation(relation))
                and not self._likeness.may_mean(relation, said)
            ]
            for relation in self._draw.sample(relations, min(len(relations), _MAX_OTHER)):
                if self._is_unsaid(text, known, relation, is_head, ()):
                    yield LabelledQuestion(text, names.of(known), relation, is_head, ())

    def _is_unsaid(self, text: str, known: str, relation: str, is_head: bool, wanted: Sequence[str]) -> bool:
        of = self._graph.about(known, is_head=not is_head)
        others = [fact[0 if is_head else 2] for fact in of if fact[1] == relation]
        words = set(_WORD.findall(text.lower()))
        return not any(
            word in words and len(word) >= min(_MIN_WORD, len(thing))
            for thing in (*others, *wanted)
            for word in _WORD.findall(thing.lower())
        )


def _with_marks(reply: str, things: set[str]) -> tuple[str, set[str]]:
    """Returns the reply with the names of `things` replaced by marks (placeholders), and the things that it names.

    Names are replaced as whole words, the longest first.
    """
    by_name = {thing.lower(): thing for thing in sorted(things)}
    if not by_name:
        return reply, set()
    names = "|".join(re.escape(name) for name in sorted(by_name, key=len, reverse=True))
    named: set[str] = set()

    def marked(match: re.Match[str]) -> str:
        thing = by_name[match.group().lower()]
        named.add(thing)
        return mark(thing, -1)

    return re.sub(rf"(?<!\w)(?:{names})(?!\w)", marked, reply, flags=re.IGNORECASE), named
