"""Makes texts from a graph's facts, and questions that each text answers or that it does not."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from app.llm.embeddings.embedder import Embedder
from evaluation.dialogue.extractor.statements import Speaker, Statement, StatementDraw
from evaluation.dialogue.extractor.text import (
    Names,
    Place,
    Style,
    is_aside,
    listed,
    mark,
    negated,
    placed,
    replaced,
    sentence,
)
from evaluation.dialogue.extractor.wordings import Choice, carriers, may_mean
from evaluation.training.extractor import LabelledQuestion

STYLES: Final[tuple[Style, ...]] = ("plain", "pseudonyms", "typed")
_STYLE_SHARES: Final = (50, 38, 12)
_HEDGED, _FILLER, _JOINED, _NEGATED = 0.18, 0.25, 0.25, 0.6
_MAX_ASKED, _MAX_IMPOSSIBLE = 3, 2


@dataclass(frozen=True, slots=True)
class _Told:
    """A text, where its things stand, and its statements by number; `spoken`: things that are no pronoun there."""

    text: str = field(repr=False)
    places: Sequence[Place] = field(repr=False)
    statements: Sequence[Statement] = field(repr=False)
    denied: Sequence[Statement] = field(default=(), repr=False)


class Likeness:
    """Of the words of relations, by the sentence model."""

    def __init__(self, embedder: Embedder, relations: Sequence[str]) -> None:
        self._row = {relation: row for row, relation in enumerate(dict.fromkeys(relations))}
        vectors = embedder.sentences(list(self._row))
        self._of = (vectors @ vectors.T).astype(np.float16)

    def may_mean(self, one: str, other: str) -> bool:
        return may_mean(one, other, float(self._of[self._row[one], self._row[other]]))


class PairMaker:
    """Endless; the same `draw` gives the same pairs. `is_unseen`: in wordings that are kept for the test."""

    def __init__(self, statements: StatementDraw, likeness: Likeness, draw: random.Random, *, is_unseen: bool) -> None:
        self._statements, self._likeness, self._draw, self._is_unseen = statements, likeness, draw, is_unseen

    def pairs(self) -> Iterator[list[LabelledQuestion]]:
        """The questions of one text after another."""
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
        """One of the statements is denied."""
        statements = self._statements.drawn(self._draw)[:2]
        speaker = Speaker(self._draw, is_unseen=self._is_unseen)
        clause = speaker.clause(statements[0], 0, with_pronouns=False)
        if is_aside(clause):
            return []
        no = negated(clause, self._draw) if self._draw.random() < _NEGATED else None
        clauses = [no or replaced(self._carrier("denials"), {"s": clause})]
        clauses += [speaker.clause(each, number) for number, each in enumerate(statements[1:], start=1)]
        told = _Told(*placed(self._paragraph(clauses), names, self._draw), statements[1:])
        is_head = self._draw.random() < 0.5
        known = self._draw.choice(statements[0].ends(is_head=not is_head))
        denied = statements[0].relation
        if any(denied == each.relation for each in statements[1:]):
            return []
        asked = self._answered(_Told(told.text, told.places, statements), 1, names) if len(statements) > 1 else []
        return [_question(told, names.of(known), denied, is_head), *asked[:1]]

    def _of_not_found(self, names: Names) -> list[LabelledQuestion]:
        statement = self._statements.drawn(self._draw)[0]
        is_head = self._draw.random() < 0.5
        known, sought = (self._draw.choice(statement.ends(is_head=end)) for end in (not is_head, is_head))
        missing = sought if self._draw.random() < 0.7 else known
        text = self._carrier("not_found").replace("{}", mark(missing, -1))
        if self._draw.random() < 0.2:
            text = f"{text} {self._carrier('fillers')}"
        told = _Told(*placed(text, names, self._draw), ())
        return [_question(told, names.of(known), statement.relation, is_head)]

    def _of_fragment(self, names: Names) -> list[LabelledQuestion]:
        """The answer alone."""
        statement = self._statements.drawn(self._draw)[0]
        is_head = len(statement.heads) > 1 or (len(statement.tails) == 1 and self._draw.random() < 0.5)
        marks = [mark(thing, 0) for thing in statement.ends(is_head=is_head)]
        text = sentence(replaced(self._carrier("fragments"), {"t": listed(marks, self._draw)}))
        if self._draw.random() < _FILLER:
            text = f"{text} {self._carrier('fillers')}"
        told = _Told(*placed(text, names, self._draw), [statement])
        known = self._draw.choice(statement.ends(is_head=not is_head))
        return [_question(told, names.of(known), statement.relation, is_head, [(p.start, p.end) for p in told.places])]

    def _of_mention(self, names: Names) -> list[LabelledQuestion]:
        """One end alone: nothing is said of it."""
        statement = self._statements.drawn(self._draw)[0]
        is_head = self._draw.random() < 0.5
        known = self._draw.choice(statement.ends(is_head=not is_head))
        named = self._draw.choice((known, self._draw.choice(statement.ends(is_head=is_head))))
        text = sentence(replaced(self._carrier("mentions"), {"e": mark(named, -1)}))
        if self._draw.random() < 0.5:
            text = f"{text} {self._carrier('fillers')}"
        told = _Told(*placed(text, names, self._draw), ())
        return [_question(told, names.of(known), statement.relation, is_head)]

    def _paragraph(self, clauses: Sequence[str]) -> str:
        """Sentences in turn, some of two clauses, some with a hedge; here and there one that says nothing."""
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
                clause = replaced(self._carrier("hedges"), {"s": clause, "S": _capital(clause)})
            sentences.append(sentence(clause))
        if self._draw.random() < _FILLER:
            sentences.insert(self._draw.choice((0, len(sentences))), self._carrier("fillers"))
        return " ".join(sentences)

    def _answered(self, told: _Told, number: int, names: Names) -> list[LabelledQuestion]:
        """Both ends of a statement in turn."""
        statement = told.statements[number]
        found = []
        for is_head in (False, True):
            known = self._draw.choice(statement.ends(is_head=not is_head))
            spans = _answers(told, known, statement.relation, is_head=is_head)
            if self._statements.is_symmetric(statement.relation):
                spans = spans | _answers(told, known, statement.relation, is_head=not is_head)
            if spans:
                found.append(_question(told, names.of(known), statement.relation, is_head, sorted(spans)))
        return found

    def _impossible(self, told: _Told, names: Names) -> list[LabelledQuestion]:
        found: list[LabelledQuestion] = []
        makers = (self._other_relation, self._other_relation, self._other_known, self._other_way)
        for _ in range(self._draw.choice((1, 2, _MAX_IMPOSSIBLE))):
            statement = self._draw.choice(told.statements)
            is_head = self._draw.random() < 0.5
            asked = self._draw.choice(makers)(told, statement, is_head)
            if asked is not None:
                known, relation, is_head = asked
                found.append(_question(told, names.of(known), relation, is_head))
        return list(dict.fromkeys(found))

    def _other_relation(self, told: _Told, statement: Statement, is_head: bool) -> tuple[str, str, bool] | None:
        """Of a thing that is spoken of: one that another one has in the text, or one that it has in the graph."""
        known = self._draw.choice(statement.ends(is_head=not is_head))
        others = [each.relation for each in told.statements if known not in each.things]
        if not others or self._draw.random() < 0.5:
            others = self._statements.relations_of(known, is_head=not is_head)
        relation = self._draw.choice(others) if others else statement.relation
        said = [each.relation for each in told.statements if known in each.things]
        is_another = not any(self._likeness.may_mean(relation, each) for each in said)
        return (known, relation, is_head) if is_another else None

    def _other_known(self, told: _Told, statement: Statement, is_head: bool) -> tuple[str, str, bool] | None:
        """Of a thing that is not spoken of, where the text names all of whom it speaks."""
        named = {place.thing for place in told.places}
        if not all(named & set(each.ends(is_head=end)) for each in told.statements for end in (True, False)):
            return None
        other = self._statements.other(statement, self._draw, is_head=not is_head)
        if other is None or other in named or not _all_named(told):
            return None
        return other, statement.relation, is_head

    def _other_way(self, told: _Told, statement: Statement, is_head: bool) -> tuple[str, str, bool] | None:
        """The other end as if it were this one."""
        known = self._draw.choice(statement.ends(is_head=is_head))
        # The relation may be said of it the right way round elsewhere, or go both ways.
        if self._statements.is_symmetric(statement.relation) or _answers(
            told, known, statement.relation, is_head=is_head
        ):
            return None
        same = [each for each in told.statements if each is not statement and known in each.things]
        if any(self._likeness.may_mean(statement.relation, each.relation) for each in same):
            return None
        return known, statement.relation, is_head

    def _carrier(self, choice: Choice) -> str:
        wordings = carriers(choice)
        return wordings.drawn(self._draw, is_unseen=self._is_unseen)


def _answers(told: _Told, known: str, relation: str, *, is_head: bool) -> set[tuple[int, int]]:
    """Where the text names what fills the end `is_head` of the relation to `known`."""
    found: set[tuple[int, int]] = set()
    for number, each in enumerate(told.statements):
        if each.relation != relation or known not in each.ends(is_head=not is_head):
            continue
        for thing in each.ends(is_head=is_head):
            own = {(p.start, p.end) for p in told.places if p.thing == thing and p.statement == number}
            found |= own or {(p.start, p.end) for p in told.places if p.thing == thing}
    return found


def _all_named(told: _Told) -> bool:
    """No statement has a pronoun for an end."""
    return all(
        any(place.thing == thing and place.statement == number for place in told.places)
        for number, each in enumerate(told.statements)
        for thing in each.things
    )


def _question(
    told: _Told, known: str, relation: str, is_head: bool, spans: Sequence[tuple[int, int]] = ()
) -> LabelledQuestion:
    return LabelledQuestion(told.text, known, relation, is_head, tuple(spans))


def _capital(clause: str) -> str:
    return clause if clause[:1] == "\x01" else clause[:1].upper() + clause[1:]
