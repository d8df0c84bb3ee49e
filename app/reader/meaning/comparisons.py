"""Compares two things: which is greater by a value or a count, by how much, and whether they share something."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from app.reader.language.question_words import PREPOSITIONS
from app.reader.meaning.extremes import sign_of
from app.reader.meaning.question.question_tokens import AskedQuestion
from app.reader.meaning.question.token_roles import mask
from app.reader.meaning.reading import HOP, MEDIATED, Reading, gain_of
from app.reader.meaning.readings import ReadingBuilder
from app.reader.meaning.schema_graph import SchemaGraph, SchemaHop

_TRUTHS = frozenset("is are was were does do did has have".split())
_MORE_OR_FEWER = frozenset({"more", "fewer", "less"})
# The greatest number of sets tried for the second side of a comparison; bounds the time. Chosen by hand.
MAX_SETS: Final = 250
Answer = tuple[str, int, float]
"""An expression, the bit mask of the tokens that it uses, and what it adds to the score of the reading it was made
from.
"""


class Comparisons:
    """Makes answers from a reading and its counterpart for the question's second thing."""

    def __init__(self, asked: AskedQuestion, graph: SchemaGraph, builder: ReadingBuilder) -> None:
        self._asked, self._graph, self._builder = asked, graph, builder
        self._things = list(asked.at("thing"))[:2]
        self._word = min((*asked.at("comparative"), *asked.at("superlative")), default=-1)
        is_counted = self._word >= 0 and asked.words[self._word] in _MORE_OR_FEWER
        counts = self._word + 1 in builder.nouns or asked.roles[self._word + 1 : self._word + 2] == ("value",)
        self._counts_things = is_counted and counts
        self._than = asked.words.index("than") if "than" in asked.words else -1

    def of(self, each: Reading, readings: Sequence[Reading]) -> Iterator[Answer]:
        """The greater of two things by a value or by the number of things they lead to; or whether the first is
        greater.
        """
        asked, measure = self._asked, self._asked.measures[self._word]
        truth = asked.words[0] in _TRUTHS and "or" not in asked.words
        for other, gained in self._others(each, readings):
            first, second = each.expression, other.expression
            both, used = f"union({first}, {second})", each.used | other.used | 1 << self._word
            for hop, _ in self._graph.leaving(each.kinds):
                if not hop.value:
                    if each.is_bare and not truth:
                        yield from self._counts(hop, used, both)
                    continue
                if self._counts_things:
                    continue
                sign = sign_of(measure, hop) if self._is_of(hop, other) else 0
                for said, gain in (
                    self._builder.extremes.ways_to_measure(measure, hop, used, each.kinds) if sign else ()
                ):
                    best = f'{"argmax" if sign > 0 else "argmin"}({both}, "{hop.label}")'
                    if sign > 0:
                        best = f'compare({first}, {second}, "{hop.label}")'
                    text = f"exists(intersect({best}, {first}))" if truth else best
                    yield text, used | (said.used if said else 0), gained + 1.0 + gain - HOP

    def _others(self, each: Reading, readings: Sequence[Reading]) -> Iterator[tuple[Reading, float]]:
        """Finds readings that say of the second thing what `each` says of the first; with what each
        adds to the score.
        """
        if len(self._things) < 2 or each.anchor != self._things[0] or each.value or each.unsaid:
            return
        first, second = (self._asked.words[at] for at in self._things)
        if each.is_bare:
            yield Reading(second, self._builder.kinds_of(second), 1 << self._things[1], 1.0), 1.0
            return
        for other in readings:
            is_behind = other.anchor == self._things[1] and other.near > each.far and not other.used & each.used
            if is_behind and other.expression.replace(second, first) == each.expression:
                yield other, other.score

    def _is_of(self, hop: SchemaHop, other: Reading) -> bool:
        """True if things of the kinds of `other` have the same value `hop` as well."""
        return any(each.label == hop.label for each, _ in self._graph.leaving(other.kinds))

    def outnumbering(self, each: Reading, readings: Sequence[Reading]) -> Iterator[Answer]:
        """Tests if one set is larger than another: "are there more doctors than nurses", "more customers in X than in
        Y".
        """
        asked = self._asked
        if not self._counts_things or self._than < 0 or asked.words[0] not in _TRUTHS or each.value or each.is_bare:
            return
        behind = -1 << self._than
        text, word = self._builder.text(each), 1 << self._word
        is_called = each.said == self._word + 1 or self._word + 1 not in self._builder.nouns
        if not text or each.used & behind or not is_called or each.is_implied or asked.words[-1] in PREPOSITIONS:
            return
        swapped = asked.words[self._word] != "more"
        is_set_said = asked.content & behind
        others = self._other_sets(each, readings, behind) if is_set_said else self._beside(each, text)
        for other, used, score in others:
            sides = (other, text) if swapped else (text, other)
            yield f"outnumbers({', '.join(sides)})", each.used | used | word, score + 1.0

    def _beside(self, each: Reading, text: str) -> Iterator[Answer]:
        """Compares the set before "than" with the same set for the only thing or value named after it."""
        asked = self._asked
        named = [at for role in ("thing", "value") for at in asked.at(role)]
        if len(named) != 2 or not min(named) < self._than < max(named):
            return
        first, second = (asked.words[at] for at in sorted(named))
        if each.used >> min(named) & 1 and self._builder.are_alike(first, second):
            used = 1 << max(named)
            yield text.replace(first, second), used, 1.0

    def _other_sets(self, each: Reading, readings: Sequence[Reading], behind: int) -> Iterator[Answer]:
        """Sets named after "than". None if only one side is narrowed, because the narrowing may be meant for both
        sides.
        """
        named = [at for role in ("thing", "value") for at in self._asked.at(role)]
        if named and (min(named) > self._than or max(named) < self._than):
            return
        for other in readings[:MAX_SETS]:
            is_set = not (other.value or other.is_bare or other.is_implied) and other.used & behind == other.used
            if (
                is_set
                and other.said > self._than
                and other.is_whole == each.is_whole
                and (text := self._builder.text(other))
            ):
                yield text, other.used, other.score

    def _counts(self, hop: SchemaHop, used: int, both: str) -> Iterator[Answer]:
        """The thing that leads to more or fewer others: "which has more wards, X or Y"."""
        function = {"more": "most", "fewer": "fewest", "less": "fewest"}.get(self._asked.words[self._word], "")
        noun = self._builder.nouns.get(self._word + 1)
        if not function or noun is None:
            return
        some = "" if hop.leads_to_all_of(noun[1]) else self._graph.whole(hop.ends & noun[1])
        for tokens, score in self._counted(hop, used, bool(some)):
            yield f'{function}({both}, "{hop.label}"' + (f", {some})" if some else ")"), tokens, 2.0 + score

    def _counted(self, hop: SchemaHop, used: int, leads_to_some: bool = False) -> Iterator[tuple[int, float]]:
        """Yields the bit mask of tokens that say that the things at the end of `hop` are counted, with a score."""
        noun = self._builder.nouns.get(self._word + 1)
        counted = noun[0] if noun and (leads_to_some or hop.leads_to_all_of(noun[1])) else 0
        for said in [*self._builder.said(hop, used | counted), None] if counted else ():
            score = counted.bit_count() + (gain_of(said) if said else 0.0) - HOP - MEDIATED * hop.label.count("|")
            yield used | counted | (said.used if said else 0), score

    def differences(self, each: Reading, readings: Sequence[Reading]) -> Iterator[Answer]:
        """The difference of two values: "how many more beds has X than Y", "how much older is X"."""
        word = self._asked.words[self._word] if self._word >= 0 else ""
        for other, gained in self._others(each, readings):
            first, second = each.expression, other.expression
            used = each.used | other.used | (1 << self._word if self._word >= 0 else 0)
            for hop, _ in self._graph.leaving(each.kinds):
                if not self._is_of(hop, other):
                    continue
                if not hop.value:
                    sides = [f'count(reach({text}, "{hop.label}"))' for text in (first, second)]
                    if word in _MORE_OR_FEWER:
                        is_more = word == "more"
                        for tokens, score in self._counted(hop, used):
                            yield _less(sides, is_more), tokens, gained + 1.0 + score
                    continue
                if self._counts_things:
                    continue
                sides = [f'reach({text}, "{hop.label}")' for text in (first, second)]
                for sign, tokens, gain in self._measured(hop, each, used):
                    yield _less(sides, sign > 0), used | tokens, gained + 1.0 + gain - HOP

    def _measured(self, hop: SchemaHop, each: Reading, used: int) -> Iterator[tuple[int, int, float]]:
        """Yields (sign, bit mask of tokens, gain) for each way to say `hop`; sign is 1 if more means a greater value,
        -1 if less.
        """
        if self._word < 0:
            for words in self._builder.said(hop, used) if hop.value in ("number", "date") else ():
                yield 1, words.used, gain_of(words)
            return
        measure = self._asked.measures[self._word]
        sign = sign_of(measure, hop)
        for said, gain in self._builder.extremes.ways_to_measure(measure, hop, used, each.kinds) if sign else ():
            yield sign, said.used if said else 0, gain

    def same(self, each: Reading) -> Iterator[Answer]:
        """Tests if one hop leads from both things to a common one: "do X and Y live in the same city"."""
        asked = self._asked
        things, same = list(asked.at("thing")), [at for at, word in enumerate(asked.words) if word == "same"]
        if len(things) != 2 or each.anchor != things[0]:
            return
        first, second = (asked.words[at] for at in things)
        used = mask([*things, *same])
        for hop, _ in self._graph.leaving(each.kinds & self._builder.kinds_of(second)):
            for said in self._builder.said(hop, used):
                nouns = sum(n for n, kinds in self._builder.nouns.values() if not kinds.isdisjoint(hop.ends))
                text = f'exists(intersect(reach({first}, "{hop.label}"), reach({second}, "{hop.label}")))'
                yield text, used | said.used | nouns, 2.0 + gain_of(said) + (nouns & ~said.used).bit_count() - HOP


def _less(sides: Sequence[str], is_first: bool) -> str:
    first, second = sides if is_first else sides[::-1]
    return f"minus({first}, {second})"
