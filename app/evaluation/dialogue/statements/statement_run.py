"""Checks labelled replies, and counts the false clauses that stay and the true ones that go."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final

from app.chat.statements.evidence import ReplyWords, StatementContext
from app.chat.statements.quantities import comparator, counts_in, is_denying
from app.chat.statements.replies import CheckedReply, check_reply
from app.chat.statements.words.tokens import PERSONAL, POSSESSIVES, Token, tokenize
from app.evaluation.dialogue.statements.fact_house import FactHouse
from app.evaluation.dialogue.statements.labelled_replies import Clause, LabelledReply
from app.strategies.base import FoundFact

_STAND_INS: Final = PERSONAL | POSSESSIVES | {"which", "who"}
MAX_BETWEEN: Final = 2
"""Words that may stand between those of a clause: "E1, a film" may become "E1 is a film"."""

BOUNDS: Final = {"contradicted": 0.0, "unsupported": 0.05, "true": 0.03}
"""Of contradicted and unsupported clauses the share that may stay, of true ones the share that may be lost: neither
their words stay nor does the reply tell the facts between their names."""


@dataclass(slots=True)
class StatementFigures:
    """`amiss`: clauses that stayed and are false, or are lost and true, by kind. `restated`: true clauses whose words
    went and whose facts are told. `milliseconds`: the median check."""

    clauses: Counter[str] = field(default_factory=Counter)
    amiss: Counter[str] = field(default_factory=Counter)
    restated: int = 0
    stated: int = 0
    carried: int = 0
    times: list[float] = field(default_factory=list, repr=False)

    def share(self, truth: str) -> float:
        return self.amiss[truth] / self.clauses[truth] if self.clauses[truth] else 0.0

    @property
    def milliseconds(self) -> float:
        return median(self.times) * 1000 if self.times else 0.0


def checked(reply: LabelledReply, words: ReplyWords = "model") -> CheckedReply:
    house = FactHouse(reply.facts, reply.names)
    return check_reply(
        reply.sentences, reply.facts, StatementContext(house.truth_of, reply.labels, reply.topics, words)
    )  # fmt: skip


def measure(replies: Sequence[LabelledReply], words: ReplyWords = "model") -> StatementFigures:
    figures = StatementFigures()
    for reply in replies:
        begun = time.perf_counter()
        result = checked(reply, words)
        figures.times.append(time.perf_counter() - begun)
        figures.stated += result.stated
        figures.carried += result.carried
        count_clauses(figures, reply, result)
    return figures


def count_clauses(figures: StatementFigures, reply: LabelledReply, result: CheckedReply) -> None:
    """Adds the clauses of one reply, by whether they stand in what is left of it."""
    for clause in reply.clauses:
        figures.clauses[clause.truth] += 1
        is_there = stays(clause, result)
        if clause.truth == "true" and not is_there:
            is_there = is_told(clause, result, reply.facts)
            figures.restated += is_there
        figures.amiss[clause.truth] += is_there == (clause.truth in ("contradicted", "unsupported"))


def stays(clause: Clause, result: CheckedReply) -> bool:
    """True where the words of `clause` stand in a sentence of the model's that was kept; a pronoun may have become a
    name."""
    words = _words(clause.text)
    own = (sentence for sentence in result.sentences if not sentence.is_restated)
    return any(_stands(words, _words(sentence.text)) for sentence in own)


def is_told(clause: Clause, result: CheckedReply, facts: Sequence[FoundFact]) -> bool:
    """True where facts that the reply tells tie the names of `clause` together, or tell of the one that it holds. A
    comparison and a denial are not told by facts, nor a count but that of the names."""
    words = _words(clause.text)
    names = {token.word for token in words if token.is_name}
    if not names or comparator(words) or any(map(is_denying, words)):
        return False
    if any(number not in (len(names), len(names) - 1) for number, _, _ in counts_in(words)):
        return False
    told = [facts[at] for sentence in result.sentences for at in sentence.facts]
    ends = [{fact.start, fact.end} for fact in told]
    if len(names) > 1 and all(any(name in pair and pair <= names for pair in ends) for name in names):
        return True
    reached = {min(names)}
    for _ in told:
        reached |= {end for fact in told if reached & {fact.start, fact.end} for end in (fact.start, fact.end)}
    return len(reached) > 1 and names <= reached


def _words(text: str) -> list[Token]:
    return [token for token in tokenize(text) if token.is_name or token.is_word]


def _stands(words: Sequence[Token], sentence: Sequence[Token]) -> bool:
    """The words stand in this order, with no more than a few others between them."""
    for begin in range(len(sentence)):
        at, place = begin, 0
        while at < len(sentence) and place < len(words) and at - begin - place <= MAX_BETWEEN:
            place += _is_same(words[place], sentence[at])
            at += 1
        if place == len(words):
            return True
    return False


def _is_same(word: Token, said: Token) -> bool:
    return word.word == said.word or (word.word in _STAND_INS and said.is_name)
