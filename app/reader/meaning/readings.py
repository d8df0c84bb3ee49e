"""Builds the sets that a question may describe, hop by hop from what it names; no word is used twice."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from app.reader.language.question_words import PREPOSITIONS
from app.reader.meaning.extremes import Extremes
from app.reader.meaning.limited_readings import Joins, Limits, says_having
from app.reader.meaning.question.question_tokens import AskedQuestion
from app.reader.meaning.question.token_roles import mask
from app.reader.meaning.reading import (
    BY_PREPOSITION,
    EXTREMES,
    HAVING,
    HOP,
    MEDIATED,
    MIN_LIKENESS,
    NOT_OWN,
    OTHER_KIND,
    SAYS_HAS,
    TURNED,
    UNSAID,
    UNSAID_BEFORE_NOUN,
    UNSAID_FURTHER_ON,
    UNSAID_KIND,
    PlacesWithin,
    Reading,
    lacks,
    named_things,
    narrowed,
)
from app.reader.meaning.said_hops import LEXICAL, Said, SaidHops
from app.reader.meaning.schema_graph import NamedThings, NearHop, SchemaGraph, SchemaHop
from app.reader.scoring.path_scoring import (
    PathScorer,
    contrary_verb,
    filled_in,
    is_active_clause,
    is_turned_clause,
    is_turned_superior,
    says_sharing,
)
from kg_store.text.labels import reversed_label

# Limits of the search: readings kept in each level (MAX_KEPT), least likeness of an explained word (SURELY), and
# number of levels. Chosen by hand.
MAX_KEPT: Final = 70
SURELY: Final = 0.7
MAX_LEVELS: Final = 5
MAX_PLACE, MAX_UNSAID = 3, 2
"""Of the hops that leave a kind, the MAX_PLACE most like the whole question may be meant without a word for them, at
most MAX_UNSAID in one reading. Measured: the needed hop is among the first three for 0.89 of refused questions.
"""
_OF_MANY: Final = (("of",), ("from",))
_NESTING: Final = frozenset({"of", "the", "'s", "s"})
_HAS: Final = frozenset({"has", "have", "had", "having"})


class ReadingBuilder:
    """Builds the readings of one question level by level, and continues from the best MAX_KEPT of each level.

    `values`: the value type of each relation label. `nouns`: each noun that names kinds, as its position -> (bit mask
    of its tokens, kinds). `called`: the same, together with names of categories.
    """

    def __init__(
        self,
        asked: AskedQuestion,
        graph: SchemaGraph,
        said: SaidHops,
        named: NamedThings,
        scorer: PathScorer,
        near: Mapping[SchemaHop, NearHop] = MappingProxyType({}),
    ) -> None:
        self._asked, self._graph, self._said, self._named, self._scorer = asked, graph, said, named, scorer
        self.near = near
        self.values = {hop.label: hop.value for hop in graph.hops}
        self.nouns = {at: (used, kinds) for at, used, kinds in self._nouns()}
        categories = [each for each in named_things(asked, named, graph) if each.said >= 0]
        self.called = {each.said: (each.used, each.kinds) for each in categories} | self.nouns
        self.extremes = Extremes(asked, graph, said, self.nouns, named)
        self._chooses_implied = bool(asked.frequent) or not (self.nouns or "person" in asked.roles)
        self._narrows_first, self._speaks_of_having = asked.narrows_first, asked.speaks_of_having
        self._says_having = not _HAS.isdisjoint(asked.words)
        self._filler, self._filled = filled_in(asked.words)
        self._within = PlacesWithin(asked, graph, named, self.nouns)
        self._limits, self._joins = Limits(asked, graph, said, named, self.nouns), Joins(asked, graph)

    @property
    def persons(self) -> frozenset[str]:
        """The kinds whose things are people."""
        return self._named.persons

    def readings(self) -> list[Reading]:
        """Returns all readings, best first."""
        level = list(self._beginnings())
        found = {each.key: each for each in level}
        for _ in range(MAX_LEVELS):
            known = sorted(found.values(), key=lambda each: -each.score)[:MAX_KEPT]
            fresh: dict[object, Reading] = {}
            for each in (*self._longer(level), *self._joins.of(level, known)):
                key = each.key
                if key not in found or found[key].score < each.score:
                    fresh[key] = max(each, fresh.get(key, each), key=lambda one: one.score)
            level = sorted(fresh.values(), key=lambda each: -each.score)[:MAX_KEPT]
            if not level:
                break
            found |= {each.key: each for each in level}
        return sorted(found.values(), key=lambda each: -each.score)

    def said(self, hop: SchemaHop, used: int) -> list[Said]:
        """Returns the spans that express `hop` and use no token of the bit mask `used`."""
        return self._said.of(hop, self._asked.content & ~used, MIN_LIKENESS)

    def kinds_of(self, name: str) -> frozenset[str]:
        """Returns the kinds of a thing that the question names."""
        return self._named.things.get(name, frozenset())

    def are_alike(self, first: str, second: str) -> bool:
        """Returns True for two things of one kind, or two values of one relation: the same can be asked of both."""
        if first[0] == "E":
            return not self.kinds_of(first).isdisjoint(self.kinds_of(second))
        own = self._named.own
        is_shared = not {*own.get(first, ())}.isdisjoint(own.get(second, ())) or not (first in own or second in own)
        return is_shared and self._named.values.get(first) == self._named.values.get(second)

    def explained(self, label: str) -> int:
        """Returns the bit mask of all tokens that can express the relation `label`, used by a reading or not."""
        return self._said.explained(label, SURELY)

    def is_elsewhere(self, at: int) -> bool:
        """Returns True if the content word at `at`, in any form, is the whole label of some relation of the schema.

        Example: "wrote", if a relation is called "written by".
        """
        return bool(self._asked.content >> at & 1) and self._said.most(at) > LEXICAL

    def most(self, at: int) -> float:
        """Returns the greatest likeness (0 to about 1) of the content word at `at` to any relation of the schema."""
        return self._said.most(at)

    def nearness(self, at: int, labels: Collection[str]) -> float:
        """Returns the greatest likeness (0 to about 1) of the content word at `at` to the relations `labels`."""
        return self._said.nearness(at, labels)

    def text(self, each: Reading) -> str:
        """Returns the expression of a reading; empty if it has none."""
        return each.text(self._graph)

    def _beginnings(self) -> Iterator[Reading]:
        asked = self._asked
        yield from named_things(asked, self._named, self._graph)
        for at, (used, kinds) in self.nouns.items():
            if asked.form == "count" and not asked.content % (1 << at) and not _HAS.isdisjoint(asked.words[:at]):
                continue  # "How many things have an owner" counts no owners.
            score = float(used.bit_count())
            far = used.bit_length() - 1
            yield Reading("", kinds, used, score, near=at, far=far, said=at, is_whole=True, final=used)
        people = next(asked.at("person"), -1)
        if people >= 0 and self._named.persons:
            yield Reading("", self._named.persons, 0, 0.0, near=people, far=people, is_whole=True)
        for kind in self._graph.kinds:
            yield Reading("", frozenset({kind}), 0, -UNSAID_KIND, is_whole=True, is_implied=True)

    def _nouns(self) -> Iterator[tuple[int, int, frozenset[str]]]:
        """Yields the runs of one or two content words that name kinds, the longer ones first.

        Each comes with its position, the bit mask of its tokens, and the kinds.
        """
        words, taken = self._asked.words, self._said.modifiers
        for length in (2, 1):
            for at in range(len(words) - length + 1):
                used = mask(range(at, at + length))
                kinds = self._graph.kinds_said(words[at : at + length]) if used & self._asked.content == used else None
                if kinds and not used & taken:
                    taken |= used
                    yield at, used, kinds

    def _longer(self, level: list[Reading]) -> Iterator[Reading]:
        for each in level:
            if each.value:
                continue
            yield from self._restricted(each)
            yield from self._within.of(each)
            for hop, kinds in self._graph.leaving(each.kinds):
                narrow = each._replace(kinds=kinds) if each.is_whole and kinds != each.kinds else each
                text = self.text(narrow)
                is_vague = hop.value not in ("", "truth") and each.unsaid and not (each.joins_things or self.near)
                if text and not is_vague:
                    yield from self._along(narrow, text, hop)

    def _along(self, each: Reading, text: str, hop: SchemaHop) -> Iterator[Reading]:
        back = self._graph.turned(hop) if each.is_whole else None
        # What has any sort is everything: "dogs that may go off lead" are not those of yes or no.
        is_everything = back is not None and back.is_sort
        ways, may_have = list(self._ways_to_say(hop, each)), self._speaks_of_having
        taken = self._cost(text, hop, each.is_whole) if ways or self._asked.limits else 0.0
        for said, cost in ways:
            if not (each.is_implied or each.is_exclusive or is_everything):
                again = TURNED * (said is not None and self._is_said_again(each, text, hop, said))
                stepped = self._stepped(each, text, hop, said, cost, taken - again)
                yield stepped
                yield from self._limits.only(each, text, hop, stepped)
            is_had = hop.value == "truth" or (may_have and (not each.is_implied or "negation" in self._asked.roles))
            # Everything that a hop leads to has the hop in the opposite direction, so requiring it adds nothing.
            is_known = text.startswith("having(") or text.endswith(f', "{reversed_label(hop.label)}")')
            is_new = not (each.is_bare or is_known or hop.is_sort or lacks(text, hop.label))
            if said and is_had and is_new and says_having(self._asked, each, hop, said):
                yield self._having(each, text, hop, said)
            yield from self._limits.lacking(each, text, hop, said)
            yield from self._limits.of(each, text, hop, said, taken)
        if self._asked.limits:
            if hop.value:
                yield from self._limits.of(each, text, hop, None, taken)
            else:
                yield from self._limits.counted(each, text, hop, self._cost(text, hop, is_whole=False))
        if self.extremes.chooses and (self._chooses_implied or not each.is_implied):
            yield from self.extremes.of(each, text, hop)
        if self.extremes.compares:
            yield from self.extremes.than(each, text, hop)

    def _ways_to_say(self, hop: SchemaHop, start: Reading) -> Iterator[tuple[Said | None, float]]:
        """Yields the words that express `hop`, or None for no words, with the cost of each."""
        is_own = not start.is_bare or all(self._named.has(name, hop.label) for name in start.names)
        free = self._asked.content & ~start.used
        if start.is_bare and start.anchor == self._filler:
            yield from self._said.of_filler(hop, start.kinds, self._filled, self.nouns)
            return
        for said in self._said.of(hop, free, MIN_LIKENESS):
            if not self._is_contrary(start, hop, said):
                yield said, 0.0 if is_own else NOT_OWN
        if self._may_be_meant(hop, start) and is_own:
            yield None, UNSAID
            return
        if hop.value or start.unsaid or not is_own or start.is_implied:
            return
        if start.expression.startswith(EXTREMES) and hop.shown.startswith("^has "):
            # A superlative is followed to its owner without a word: "who had the latest appointment".
            if hop.ends <= self._named.persons and "person" in self._asked.roles and self._says_having:
                yield None, UNSAID_BEFORE_NOUN
        elif start.is_whole:
            others = [kinds for at, (_, kinds) in self.nouns.items() if at != start.said]
            if start.said >= 0 and any(not hop.ends.isdisjoint(each) for each in others):
                yield None, UNSAID_BEFORE_NOUN
        elif any(not hop.ends.isdisjoint(kinds) for used, kinds in self.nouns.values() if used & free == used):
            yield None, (UNSAID_BEFORE_NOUN if start.is_bare else UNSAID_FURTHER_ON) - self._by_preposition(start, hop)
        elif start.anchor >= 0 and ("|" not in hop.label or self._alone_leads_to_people(start, hop)):
            yield None, UNSAID

    def _may_be_meant(self, hop: SchemaHop, start: Reading) -> bool:
        """Returns True if `hop` is so like the whole question that it may be meant although no single word says it."""
        near = self.near.get(hop)
        is_free = start.unsaid < MAX_UNSAID and not start.is_implied and (start.anchor >= 0 or start.said >= 0)
        return near is not None and is_free and (near.place < MAX_PLACE or near.leads_on)

    def _alone_leads_to_people(self, start: Reading, hop: SchemaHop) -> bool:
        """Returns True if "who" is asked and `hop`, through a record (`a|b`), is the only hop that leads to people.

        Example: "who is on the board".
        """
        if not start.is_bare or self._asked.wh not in ("who", "whom") or not hop.ends <= self._named.persons:
            return False
        leading = (
            each for each, _ in self._graph.leaving(start.kinds) if each.ends and each.ends <= self._named.persons
        )
        return [each.label for each in leading] == [hop.label]

    def _by_preposition(self, start: Reading, hop: SchemaHop) -> float:
        """Returns the gain of a hop whose label has the preposition used: "doctors at X" prefers "works at" to
        "leads".
        """
        words = self._asked.words[max(0, start.anchor - 2) : start.anchor] if start.is_bare else ()
        if words[1:] in _OF_MANY and start.anchor - 2 in self.nouns and self._asked.speaks_of_many(start.anchor - 2):
            return -BY_PREPOSITION * (not hop.label.startswith("^"))  # "Doctors of X" hardly asks for the head of X.
        return BY_PREPOSITION if set(words) & set(PREPOSITIONS) & set(hop.shown.split()) else 0.0

    def _is_contrary(self, start: Reading, hop: SchemaHop, said: Said) -> bool:
        """Returns True if the verb of the question expresses `hop` in the opposite direction."""
        name, words = start.expression, self._asked.words
        if not start.is_bare:
            return start.near > said.last and is_turned_clause(words, said.first, hop.label)
        kinds, at = self._named.things.get(name, frozenset()), words.index(name) if name in words else 0
        if is_turned_superior(words, at, hop.shown):
            return True
        first = hop.shown.partition("|")[0]
        is_checked = is_active_clause(words, at) or not kinds.isdisjoint(hop.ends) or self._leads_back(hop, kinds)
        return is_checked and any(
            contrary_verb(self._asked.text, name, shown, ", ".join(sorted(hop.ends))) for shown in {hop.shown, first}
        )

    def _leads_back(self, hop: SchemaHop, kinds: frozenset[str]) -> bool:
        """Returns True if such things are on both sides of a row that `hop` leads to: who waters, and for whom."""
        others = (each for each, _ in self._graph.leaving(hop.ends) if each.label != reversed_label(hop.label))
        return "|" in hop.label or any("|" not in each.label and not each.ends.isdisjoint(kinds) for each in others)

    def _cost(self, text: str, hop: SchemaHop, is_whole: bool) -> float:
        """Returns the cost of adding `hop` to the reading with the expression `text`.

        A hop through a record (`a|b`) costs more. A hop straight back by the same relation costs much more, because a
        question rarely means that. A label with "has" costs less from a whole kind, if the question says "has" too.
        """
        turned = f'"{reversed_label(hop.label)}")' in text or f'"{hop.label}")' in text
        turned = turned and not says_sharing(self._asked.words, hop.shown)
        has = is_whole and hop.shown.startswith("has ") and not _HAS.isdisjoint(self._asked.words)
        return HOP + MEDIATED * hop.label.count("|") + TURNED * turned - SAYS_HAS * has

    def _is_said_again(self, each: Reading, text: str, hop: SchemaHop, said: Said) -> bool:
        """Returns True if a relation already followed is meant once more: "the manager of the manager of X".

        Its words must stand right around those that were read so far, which said that relation too.
        """
        words = self._asked.words
        between = words[said.last + 1 : each.near] if said.last < each.near else words[each.far + 1 : said.first]
        return f'"{hop.label}")' in text and bool(each.final and between) and _NESTING.issuperset(between)

    def _stepped(
        self, each: Reading, text: str, hop: SchemaHop, said: Said | None, cost: float, taken: float
    ) -> Reading:
        longer = each.paid(said, cost + taken)
        reached = f'reach({text}, "{hop.label}")'
        if each.partner:
            reached = f'intersect({reached}, reach({each.partner}, "{hop.label}"))'
        longer = longer._replace(
            expression=reached, partner="", kinds=frozenset() if hop.value else hop.ends, value=hop.value,
            said=-1, final=said.used if said else 0, is_bare=False, is_whole=False,
            unsaid=each.unsaid + (cost == UNSAID), is_of_whole=each.is_whole or each.is_of_whole,
        )  # fmt: skip
        return self._called(longer, said) if said and not (hop.value or said.used & mask(self._filled)) else longer

    def _called(self, each: Reading, said: Said) -> Reading:
        """Returns the reading narrowed to the kind of the noun that expresses the hop: "patients of X" leaves out
        nurses.
        """
        for at, (used, kinds) in self.nouns.items():
            if used & said.used != used:
                continue
            both = each.kinds & kinds
            if not both:
                return each._replace(score=each.score - OTHER_KIND)
            if not each.kinds <= kinds:
                each = each._replace(expression=f"intersect({each.expression}, {self._graph.whole(both)})")
            each = each._replace(kinds=both, said=at)
        return each

    def _having(self, each: Reading, text: str, hop: SchemaHop, said: Said) -> Reading:
        longer = each.paid(said, HOP + MEDIATED * hop.label.count("|") + (0.0 if hop.value == "truth" else HAVING))
        chosen = narrowed(text, lambda inner: f'having({inner}, "{hop.label}")', self._narrows_first)
        final = longer.final | said.used if hop.value == "truth" else longer.final
        return longer._replace(expression=chosen, is_bare=False, is_whole=False, is_implied=False, final=final)

    def _restricted(self, each: Reading) -> Iterator[Reading]:
        for at, (used, kinds) in self.nouns.items() if not each.is_whole else ():
            both = each.kinds & kinds
            if not both or used & each.used:
                continue
            text, score = each.expression, each.score + used.bit_count()
            if not each.kinds <= kinds:
                whole = self._graph.whole(both)
                narrow = partial(self._graph.shared, other=whole, kinds=both)
                is_extreme = text.startswith(EXTREMES)
                text = narrowed(text, narrow, is_inside=True) if is_extreme else f"intersect({text}, {whole})"
            yield each.spanning(used)._replace(
                expression=text, kinds=both, score=score, said=at, final=each.final | used
            )
