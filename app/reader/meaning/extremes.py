"""Applies superlatives: the members of a set with the greatest or least value, or the most or fewest of something."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from app.reader.language.relation_wording import voice_of
from app.reader.language.stated_bounds import OFTEN, FirstOf
from app.reader.meaning.question.asked_form import IN_TIME
from app.reader.meaning.question.measures import Measure
from app.reader.meaning.question.question_tokens import AskedQuestion
from app.reader.meaning.question.token_roles import TOTALS, mask
from app.reader.meaning.reading import (
    BEHIND_COUNTED,
    COMMON,
    HOP,
    MEDIATED,
    MIN_LIKENESS,
    ONLY_ONE,
    SAYS_HAS,
    UNSAID_BEFORE_NOUN,
    Reading,
    gain_of,
)
from app.reader.meaning.said_hops import Said, SaidHops
from app.reader.meaning.schema_graph import NamedThings, SchemaGraph, SchemaHop, are_records
from kg_store.text.inflection import is_participle, noun_lemma
from kg_store.text.labels import reversed_label

_COUNTS = {"most": "most", "fewest": "fewest", "least": "fewest"}
_MORE = {"more": ">", "fewer": "<", "less": "<"}
Nouns = Mapping[int, tuple[int, frozenset[str]]]
"""The nouns that name kinds, by the position of their first token: the bit mask of their tokens, and the kinds."""


SURELY_SAID = 0.9
"""Least likeness (0 to 1) of the noun after "most" to the relation whose ends it counts. Chosen by hand."""
_OCCURS = frozenset("occurs occur appears appear comes".split())
"""Verbs that add nothing to "most often": "which reason occurs most often"."""


class Extremes:
    """Makes new readings from other readings by applying a superlative or comparative of the question."""

    def __init__(
        self, asked: AskedQuestion, graph: SchemaGraph, said: SaidHops, nouns: Nouns, named: NamedThings
    ) -> None:
        self._asked, self._graph, self._said, self._nouns, self._named = asked, graph, said, nouns, named
        self._narrows_first = asked.form == "truth" or asked.narrows_first
        self._superlatives, things = tuple(asked.at("superlative")), list(asked.at("thing"))
        behind = ((at, next((thing for thing in things if thing > at), -1)) for at in asked.at("comparative"))
        self._compared = [(at, thing) for at, thing in behind if thing >= 0]
        self.chooses, self.compares = bool(self._superlatives), bool(self._compared)
        totals = [at for at in asked.at("unknown") if asked.words[at] in TOTALS]
        self._totals, self._in_total = mask(totals), mask(at for at in totals if asked.words[at - 1] == "in")

    def of(self, each: Reading, text: str, hop: SchemaHop) -> Iterator[Reading]:
        """Yields `each` (expression `text`) narrowed to its members with the greatest or the least value of `hop`."""
        for at in self._superlatives:
            if each.used >> at & 1 or each.is_bare or not (self._narrows_first or each.is_whole):
                continue
            counted = self._counted_behind(at) if self._asked.words[at] in _COUNTS else None
            if self._is_degree(at):
                yield from self._done_most(each, text, hop, at)
            if at in self._asked.first:
                yield from () if counted else self._greatest(each, text, hop, at)
            elif at in self._asked.frequent:
                yield from self._frequent(each, text, hop, at)
            elif self._asked.words[at] in _COUNTS and is_participle("".join(self._asked.words[at + 1 : at + 2])):
                yield from self._most_done(each, text, hop, at)
            elif counted:
                yield from self._with_most(each, text, hop, at, counted)
            elif not (self._is_degree(at) and self._is_aside(each)):
                if self._asked.words[at] in _COUNTS and self._counts_ends(each, at):
                    yield from self._most_ends(each, text, hop, at)
                    continue
                yield from self._greatest(each, text, hop, at)
                yield from self._with_greatest_sum(each, text, hop, at)

    def _counted_behind(self, at: int) -> tuple[int, frozenset[str]] | None:
        """Returns what "most" or "fewest" at position `at` counts, as (bit mask of its tokens, kinds), or None.

        Examples: "films" in "the most films", "people" in "the most people".
        """
        if self._asked.roles[at + 1 : at + 2] == ("person",) and self._named.persons:
            return 1 << at + 1, self._named.persons
        return self._nouns.get(at + 1)

    def _is_degree(self, at: int) -> bool:
        """Returns True for "the most" and "most often" at the end of a question, where they say how much is done."""
        words = self._asked.words
        return words[at] in _COUNTS and (at + 1 == len(words) or words[at + 1] in OFTEN) and at > 1

    def _is_aside(self, each: Reading) -> bool:
        """Returns True for a set that is not the one asked for, as the orders in "which customer orders the most"."""
        return each.said > min(self._nouns, default=0)

    def _done_most(self, each: Reading, text: str, hop: SchemaHop, at: int) -> Iterator[Reading]:
        """Yields the thing that has the most records of an event: "the drug that was prescribed most often".

        `hop` joins that thing with its records.
        """
        if hop.value or not are_records(hop.ends) or self._is_aside(each) or each.near > at:
            return
        free = self._asked.content & ~each.used & (1 << at) - 1
        ways = [(said.used, gain_of(said), said.likeness) for said in self._said.of(hop, free, MIN_LIKENESS)]
        nouns = [n for n, kinds in self._nouns.values() if hop.ends <= kinds and n & free == n]
        for used, gain, likeness in (*ways, *((n, float(n.bit_count()), 1.0) for n in nouns)):
            chosen = f'{_COUNTS[self._asked.words[at]]}({text}, "{hop.label}")'
            longer = each.spanning(1 << at | used)._replace(expression=chosen, is_whole=False, is_implied=False)
            score = each.score + 1.0 + gain - HOP - (HOP + MEDIATED) * hop.label.count("|")
            yield longer._replace(score=score, weakest=min(each.weakest, likeness))

    def _greatest(self, each: Reading, text: str, hop: SchemaHop, at: int) -> Iterator[Reading]:
        measure = self._asked.measures[at]
        sign = sign_of(measure, hop)
        noun = self._nouns.get(at + 1)
        if noun and each.kinds.isdisjoint(noun[1]) and not any(kind in hop.shown for kind in noun[1]):
            return
        for said, gain in self.ways_to_measure(measure, hop, each.used, each.kinds) if sign else ():
            first = self._asked.first.get(at)
            if first and said is None and self._asked.words[at] == "top":
                continue
            longer = each.spanning(1 << at | (said.used | self._in_total if said else 0))
            chosen = f'{"argmax" if sign > 0 else "argmin"}({text}, "{hop.label}")'
            if first:
                chosen = _first(text, hop.label, sign, first)
            weakest = min(each.weakest, said.likeness) if said else each.weakest
            has = (
                each.is_whole
                and hop.shown.startswith("has ")
                and not {"has", "have", "had"}.isdisjoint(self._asked.words)
            )
            score = each.score + 1.0 + gain - HOP * (1 + hop.label.count("|")) + SAYS_HAS * has
            yield longer._replace(expression=chosen, score=score, is_whole=False, weakest=weakest, is_implied=False)

    def _with_most(
        self, each: Reading, text: str, hop: SchemaHop, at: int, counted: tuple[int, frozenset[str]]
    ) -> Iterator[Reading]:
        """Yields the members of a set that lead to the most things: "who directed the most films".

        Also yields the things to which most members of the set lead. `counted`: the noun that is counted ("films"), as
        (bit mask of tokens, kinds).
        """
        used, kinds = counted
        function = _COUNTS[self._asked.words[at]]
        free = self._asked.content & ~(each.used | used)
        ways = [(said, gain_of(said)) for said in self._said.of(hop, free, MIN_LIKENESS)]
        is_free = (
            not (hop.value or self._counts_ones(hop, each))
            and not each.used & used
            and each.near < at
            and self._is_way_round(hop, each, at)
        )
        leads, some = is_free and hop.leads_to_all_of(kinds), self._graph.whole(hop.ends & kinds) if is_free else ""
        for said, gain in (*ways, (None, ONLY_ONE)):
            tokens = 1 << at | used | (said.used if said else 0)
            score = each.score + 1.0 + gain - HOP - (HOP + MEDIATED) * hop.label.count("|")
            if leads or some:
                score -= BEHIND_COUNTED * (each.used > used)
                chosen = f'{function}({text}, "{hop.label}"' + (")" if leads else f", {some})")
                longer = each.spanning(tokens)._replace(score=score + used.bit_count(), counted=used)
                yield longer._replace(expression=chosen, is_whole=False, is_implied=False)
            elif each.is_whole and each.used & used and not hop.value and said and not self._is_of_one(hop):
                chosen = f'{function}(reach({text}, "{hop.label}"), "{reversed_label(hop.label)}")'
                longer = each.spanning(tokens)
                longer = longer._replace(kinds=hop.ends, is_whole=False, said=-1, final=said.used)
                yield longer._replace(expression=chosen, score=score)

    def _counts_ones(self, hop: SchemaHop, each: Reading) -> bool:
        """Returns True if `hop` leads from each member to one thing, and another hop to such things leads to several.

        Nobody counts the doctors who lead a clinic where other doctors work there.
        """
        others = (one for one, _ in self._graph.leaving(each.kinds) if "|" not in one.label)
        return hop.is_one and any(not one.is_one and not one.ends.isdisjoint(hop.ends) for one in others)

    def _is_of_one(self, hop: SchemaHop) -> bool:
        """Returns True if all that `hop` leads to has one start: nobody counts the patients of a prescription."""
        back = self._graph.turned(hop)
        return back is not None and back.is_one

    def _is_way_round(self, hop: SchemaHop, each: Reading, at: int) -> bool:
        """Returns True if `hop` leads in the direction in which the question counts.

        It can be False only for a hop between things of one kind. "Who manages the most people" counts the people whom
        somebody manages, not the managers of somebody.
        """
        if hop.ends.isdisjoint(each.kinds):
            return True
        base = hop.shown.removeprefix("^")
        is_done_to = voice_of(base) in ("noun", "passive") and not base.startswith("has ")
        before = [word for word in self._asked.words[:at] if word != "the"][-1:]
        return hop.shown.startswith("^") == (is_done_to and before != ["by"]) or "|" in base

    def _frequent(self, each: Reading, text: str, hop: SchemaHop, at: int) -> Iterator[Reading]:
        """Yields the values or things to which most members lead: "the most common reason", "the most popular one"."""
        function = _COUNTS.get(self._asked.words[at], "")
        cost = HOP * (1 + hop.label.count("|"))
        if not function or not each.is_whole:
            return
        for said in self._said.of(hop, self._asked.content & ~each.used, MIN_LIKENESS):
            if not hop.value and (said.first != at + 2 or hop.label.startswith("^")):
                continue
            chosen = f'{function}(reach({text}, "{hop.label}"), "{reversed_label(hop.label)}")'
            longer = each.spanning(1 << at | said.used)._replace(expression=chosen, kinds=hop.ends, said=-1)
            longer = longer._replace(final=said.used, value=hop.value, is_whole=False, is_implied=False)
            yield longer._replace(score=each.score + 1.0 + gain_of(said) - cost)
        if hop.value:
            return
        if each.said == at + 2 or (at + 2 == len(self._asked.words) and 0 <= each.said < at):
            occurs = 1 << at - 1 if self._asked.words[at - 1] in _OCCURS else 0
            for tokens, gain in self._who_lead(hop, each):
                longer = each.spanning(1 << at | tokens | occurs)
                chosen = f'{function}({text}, "{hop.label}")'
                yield longer._replace(expression=chosen, score=each.score + 1.0 + gain - cost, is_whole=False)

    def _most_done(self, each: Reading, text: str, hop: SchemaHop, at: int) -> Iterator[Reading]:
        """Yields the thing to which a participle's relation leads most often: "the most prescribed drug"."""
        if hop.value or "|" in hop.label or not each.is_whole or each.said < 0:
            return
        for said in self._said.of(hop, self._asked.content & ~each.used, MIN_LIKENESS):
            if said.first == at + 1:
                chosen = f'{_COUNTS[self._asked.words[at]]}({text}, "{hop.label}")'
                longer = each.spanning(1 << at | said.used)._replace(expression=chosen, is_whole=False)
                weakest = min(each.weakest, said.likeness)
                yield longer._replace(score=each.score + 1.0 + gain_of(said) - HOP, weakest=weakest)

    def _who_lead(self, hop: SchemaHop, each: Reading) -> Iterator[tuple[int, float]]:
        """Yields the words that name the things counted to find the most popular one, as (bit mask of tokens, gain).

        These things lead by `hop` to the popular one: "students" in "the most popular course among students". Without
        such words the mask is 0, and `hop` must be the only hop that leads there from people. If none leads there from
        people, it must be the only one at all, and the question must not say "popular".
        """
        for used, kinds in self._nouns.values():
            if not used & each.used and not kinds.isdisjoint(hop.ends):
                yield used, float(used.bit_count())
        for said in self._said.of(hop, self._asked.content & ~each.used, MIN_LIKENESS):
            yield said.used, gain_of(said)
        led = [one for one, _ in self._graph.leaving(each.kinds) if one.label.startswith("^") and one.ends]
        by_people = [one for one in led if one.ends <= self._named.persons]
        is_popular = "popular" in self._asked.words
        if [one.label for one in by_people or ([] if is_popular else led)] == [hop.label]:
            yield 0, ONLY_ONE

    def _counts_ends(self, each: Reading, at: int) -> bool:
        """Returns True if the noun after the superlative names a relation to things: "most routes" are counted, not
        measured.
        """
        hops = (hop for hop, _ in self._graph.leaving(each.kinds) if not hop.value and "|" not in hop.label)
        return any(self._ends_said(hop, each, at) for hop in hops)

    def _ends_said(self, hop: SchemaHop, each: Reading, at: int) -> list[Said]:
        noun = "".join(self._asked.words[at + 1 : at + 2])
        if not noun or noun_lemma(noun) == noun:
            return []
        said = self._said.of(hop, self._asked.content & ~each.used, MIN_LIKENESS)
        return [one for one in said if one.first == at + 1 and one.likeness >= SURELY_SAID]

    def _most_ends(self, each: Reading, text: str, hop: SchemaHop, at: int) -> Iterator[Reading]:
        """Yields the members with the most ends of the relation that the noun after the superlative names: "most
        routes".
        """
        if hop.value or "|" in hop.label or not each.is_whole:
            return
        for said in self._ends_said(hop, each, at):
            chosen = f'{_COUNTS[self._asked.words[at]]}({text}, "{hop.label}")'
            longer = each.spanning(1 << at | said.used)._replace(expression=chosen, is_whole=False)
            turned = HOP * hop.label.startswith("^")
            yield longer._replace(score=each.score + 1.0 + gain_of(said) - HOP - 2 * turned)

    def _with_greatest_sum(self, each: Reading, text: str, hop: SchemaHop, at: int) -> Iterator[Reading]:
        """Yields the members whose things add up to the most: "the clinic with the most beds in total"."""
        measured = {1: "most", -1: "fewest"}[self._asked.measures[at].number or 1] if self._totals else ""
        function = _COUNTS.get(self._asked.words[at], measured)
        if not function or hop.value or not each.is_whole or each.said < 0:
            return
        free = self._asked.content & ~each.used
        for measure, _ in self._graph.leaving(hop.ends):
            if measure.value != "number" or "|" in measure.label:
                continue
            for said in self._said.of(measure, free, MIN_LIKENESS):
                chosen = f'{function}({text}, "{hop.label}", "{measure.label}")'
                nouns = sum(
                    n for n, kinds in self._nouns.values() if kinds & hop.ends and not n & (each.used | said.used)
                )
                longer = each.spanning(1 << at | said.used | self._totals | nouns)
                cost = HOP * (2 + hop.label.count("|")) + MEDIATED * hop.label.count("|") + UNSAID_BEFORE_NOUN
                score = each.score + 1.0 + gain_of(said) + nouns.bit_count() - cost
                weakest = min(each.weakest, said.likeness)
                yield longer._replace(expression=chosen, score=score, is_whole=False, weakest=weakest)

    def than(self, each: Reading, text: str, hop: SchemaHop) -> Iterator[Reading]:
        """Yields members by comparing their value with that of a named thing: "wards with fewer beds than X"."""
        asked = self._asked
        for at, thing in self._compared if not each.is_bare else ():
            sign = sign_of(asked.measures[at], hop)
            is_said = "than" in asked.words[at:thing] or asked.words[at] in IN_TIME
            if each.used >> at & 1 or each.used >> thing & 1 or not (is_said and self._has(thing, hop)):
                continue
            counted = self._nouns.get(at + 1) if asked.words[at] in _MORE else None
            if counted and not hop.value:
                yield from self._more_than(each, text, hop, (at, thing), counted)
            if counted or not sign:
                continue
            used = 1 << at | 1 << thing
            for said, gain in self.ways_to_measure(asked.measures[at], hop, each.used | used, each.kinds):
                if not said and asked.words[at] in IN_TIME:
                    continue
                value = f'reach({asked.words[thing]}, "{hop.label}")'
                chosen = f'filter({text}, "{hop.label}", {">" if sign > 0 else "<"}, {value})'
                longer = each.spanning(used | (said.used if said else 0))
                score = each.score + 2.0 + gain - HOP
                yield longer._replace(expression=chosen, score=score, is_whole=False, is_implied=False)

    def _has(self, thing: int, hop: SchemaHop) -> bool:
        """Returns True if the thing named at position `thing` has the hop `hop` too."""
        kinds = self._named.things.get(self._asked.words[thing], frozenset())
        return any(each.label == hop.label for each, _ in self._graph.leaving(kinds))

    def _more_than(
        self, each: Reading, text: str, hop: SchemaHop, compared: tuple[int, int], counted: tuple[int, frozenset[str]]
    ) -> Iterator[Reading]:
        """Yields members that lead to more (or fewer) things than a named thing: "authors with more books than X"."""
        used, (at, thing) = counted[0], compared
        if each.used & used or not hop.leads_to_all_of(counted[1]):
            return
        number = f'count(reach({self._asked.words[thing]}, "{hop.label}"))'
        chosen = f'counted({text}, "{hop.label}", {_MORE[self._asked.words[at]]}, {number})'
        free = self._asked.content & ~(each.used | used)
        for said in [*self._said.of(hop, free, MIN_LIKENESS), None]:
            longer = each.spanning(1 << at | 1 << thing | used | (said.used if said else 0))
            score = each.score + 2.0 + used.bit_count() + (gain_of(said) if said else 0.0)
            score -= HOP + MEDIATED * hop.label.count("|")
            yield longer._replace(expression=chosen, score=score, is_whole=False, is_implied=False)

    def ways_to_measure(
        self, measure: Measure, hop: SchemaHop, used: int, kinds: frozenset[str]
    ) -> Iterator[tuple[Said | None, float]]:
        """Yields the ways in which an adjective may measure the values of `hop`, each with its gain in score.

        A way is the span of words that names the hop, or None if no word does. It is None only if the hop is usual for
        the adjective (age for "old"), or is the only one with values of its type that can be meant.
        """
        nouns = {tokens for tokens, _ in self._nouns.values()}
        for said in self._said.of(hop, self._asked.content & ~used, MIN_LIKENESS):
            if said.used not in nouns:
                yield said, gain_of(said)
        words = set(hop.shown.split("|")[-1].lower().split())
        if measure.is_hinted(hop.shown):
            yield None, COMMON
        elif (not measure.hints or hop.is_date) and measure.may_be_of(words) and self._is_only(hop, kinds):
            yield None, ONLY_ONE

    def _is_only(self, hop: SchemaHop, kinds: frozenset[str]) -> bool:
        hops = [each for each, _ in self._graph.leaving(kinds) if "|" not in each.label]
        if hop.is_date:  # Years that are stored as numbers are no other numbers.
            return {each.label for each in hops if each.is_date} == {hop.label}
        return {each.label for each in hops if each.value == hop.value and not each.is_date} == {hop.label}


def _first(text: str, label: str, sign: int, first: FirstOf) -> str:
    """Returns the expression for the first members in the order of `label`, or for the one at a rank.

    Members without a value are left out.
    """
    ways = ("descending", "ascending") if sign > 0 else ("ascending", "descending")
    found = f'limit(sort(having({text}, "{label}"), "{label}", {ways[0]}), {first.number})'
    return f'limit(sort({found}, "{label}", {ways[1]}), 1)' if first.is_rank else found


def sign_of(measure: Measure, hop: SchemaHop) -> int:
    """Returns 1 if more of the measure means a greater value of `hop`, -1 if a lesser one, 0 if it does not apply.

    A year counts as a date, even if it is stored as a number.
    """
    return measure.sign("date" if hop.is_date else hop.value) if hop.value else 0
