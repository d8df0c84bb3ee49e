"""Sets that are narrowed by a value of the question: born in 1984, with at least three orders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from app.reader.language.question_words import GRAMMAR, PREPOSITIONS
from app.reader.language.relation_wording import voice_of
from app.reader.meaning.extremes import Nouns, sign_of
from app.reader.meaning.question.question_tokens import AskedQuestion, follows_directly
from app.reader.meaning.question.value_limits import ValueLimit
from app.reader.meaning.reading import (
    HAVING,
    HOP,
    MEDIATED,
    MIN_LIKENESS,
    OF_OTHER_SORT,
    UNSAID,
    UNSAID_BEFORE_NOUN,
    Reading,
    narrowed,
)
from app.reader.meaning.said_hops import KIN, Said, SaidHops
from app.reader.meaning.schema_graph import NamedThings, SchemaGraph, SchemaHop, happened_on
from app.reader.scoring.directions import is_turned_verb
from kg_store.text.labels import reversed_label
from kg_store.text.plurals import singular

_COMPARABLE: Final = {"date": {"date", "year", "number"}, "number": {"number", "date", "year"}, "text": {"text"}}
OF_NOUN: Final = 0.3
"""Gain of a limit that no word says, where the noun says it: orders in May were ordered in May."""

_FILLING: Final = frozenset(
    "a an any the been be ever have has had work works got get gets left leave given give gave us".split()
)
SURELY: Final = 0.8
_ALL: Final = frozenset({"all", "each", "every"})
MIN_CALLED: Final = 0.95
"""The least likeness of a noun to the step that leads to what it counts."""

_EXACTLY: Final = frozenset({"only", "just", "exactly"})


class Limits:
    """The readings that the values of a question make of others."""

    def __init__(
        self, asked: AskedQuestion, graph: SchemaGraph, said: SaidHops, named: NamedThings, nouns: Nouns
    ) -> None:
        self._asked, self._graph, self._said, self._named, self._nouns = asked, graph, said, named, nouns
        self._narrows_first = asked.narrows_first
        self._may_deny = "negation" in asked.roles and (asked.form != "truth" or asked.asks_if_any)
        unread = [(at, asked.words[at]) for at in asked.at("unknown")]
        self._only = [at for at, word in unread if word in _ALL or (word == "only" and asked.words[at - 1] != "the")]

    def of(self, each: Reading, text: str, hop: SchemaHop, said: Said | None, cost: float) -> Iterator[Reading]:
        """Those of `each`, whose expression is `text`, with such a value at the end of `hop`."""
        for at, stated in self._asked.limits.items() if hop.value else ():
            limit = self._of_measure(stated, hop, said, may_be_unsaid=each.said >= 0 or each.is_bare)
            if limit is None:
                continue
            counts = (
                limit.counts in self._nouns and limit.unit is None and self._named.values.get(limit.name) != "text"
            )
            if each.partner or each.used >> at & 1 or counts or not self._may_equal(hop, limit):
                continue
            is_number = limit.unit is not None or self._is_number(limit)
            is_other = hop.value == "number" and not is_number
            unsaid = 0.0 if said or limit.measure else self._unsaid(each, hop, limit)
            longer = each.paid(said, cost + unsaid + OF_OTHER_SORT * is_other)
            longer = longer.spanning(limit.used)
            chosen = narrowed(text, partial(limit.of, label=hop.label), self._narrows_first)
            yield longer._replace(
                expression=chosen, score=longer.score + 1.0, is_bare=False, is_whole=False, is_implied=False
            )

    def _unsaid(self, each: Reading, hop: SchemaHop, limit: ValueLimit) -> float:
        """The cost of a value that no word says the relation of: less where it is a value of one relation alone."""
        if hop.value == "text" and each.said >= 0:
            own = {reversed_label(label) for name in limit.names for label in self._named.own.get(name, ())}
            if [other.label for other, _ in self._graph.leaving(each.kinds) if other.label in own] == [hop.label]:
                return UNSAID_BEFORE_NOUN
        return UNSAID - OF_NOUN * (each.said >= 0 and happened_on(hop, each.kinds))

    def _of_measure(
        self, limit: ValueLimit, hop: SchemaHop, said: Said | None, *, may_be_unsaid: bool
    ) -> ValueLimit | None:
        """The limit on values of `hop`: older is earlier. None where the measure is said of no such values, and of a
        date beside what may be a number of years."""
        if limit.measure is None:
            return limit
        is_of_date = hop.is_date and self._named.values.get(limit.name) not in ("date", "year")
        is_meant = said or (may_be_unsaid and limit.measure.is_hinted(hop.shown))
        sign = sign_of(limit.measure, hop) if is_meant and not is_of_date else 0
        return replace(limit, operator=">" if sign > 0 else "<") if sign else None

    def _is_number(self, limit: ValueLimit) -> bool:
        return limit.name[0] != "V" or self._named.values.get(limit.name) == "number"

    def only(self, each: Reading, text: str, hop: SchemaHop, stepped: Reading) -> Iterator[Reading]:
        """ "With only gout", "had all of their orders sent": those that `hop` leads to from `each`, and from no other
        thing of its kind."""
        for at in self._only:
            said = stepped.used | 1 << at
            first = each.said if self._asked.words[at] in _ALL else each.near
            is_before = hop.value or each.is_whole or first < at or each.used >> at & 1
            if is_before or self._leaves(range(at + 1, first), said):
                continue
            kinds = each.kinds | {other.kind for other in self._graph.hops if other.label == hop.label}
            if whole := self._graph.whole(kinds):
                others = f'reach(difference({whole}, {text}), "{hop.label}")'
                chosen = f"difference({stepped.expression}, {others})"
                yield stepped.spanning(1 << at)._replace(expression=chosen, score=stepped.score + 1.0, anchor=-1)

    def _leaves(self, between: range, said: int) -> bool:
        """True where a word of these tokens says more than what is said already."""
        roles = self._asked.roles
        return any(roles[at] not in ("grammar", "unknown") and not said >> at & 1 for at in between)

    def _may_equal(self, hop: SchemaHop, limit: ValueLimit) -> bool:
        """True where values of `hop` compare with the one that is named, and may be that one."""
        if limit.operator != "=" and hop.value not in ("number", "date"):
            return False
        if limit.name.isdecimal() and hop.value == "date":
            return False
        if limit.unit is not None and not limit.unit.fits(hop.label, hop.value):
            return False
        kinds = {self._named.values.get(name, "number" if name.isdecimal() else "text") for name in limit.names}
        if not kinds <= _COMPARABLE.get(hop.value, set()):
            return False
        if limit.operator == "=" and hop.value == "text":
            return all(reversed_label(hop.label) in self._named.own.get(name, ()) for name in limit.names)
        return True

    def counted(self, each: Reading, text: str, hop: SchemaHop, cost: float) -> Iterator[Reading]:
        """ "With at least 3 orders": those that a step leads to so many things from. Of a yes or no the one thing that
        it asks about, or things that it names."""
        is_truth = self._asked.form == "truth"
        may_count = (each.is_bare or each.is_whole or each.said >= 0) if is_truth else not each.is_bare
        for at, limit in self._asked.limits.items() if may_count and not each.is_implied else ():
            if limit.unit or limit.measure or not self._is_number(limit) or each.used >> at & 1:
                continue
            is_exact = not _EXACTLY.isdisjoint(self._asked.words[max(0, at - 1) : at])
            operator = "=" if is_exact else ">=" if limit.operator == "=" else limit.operator
            used = limit.used | (1 << at - 1 if is_exact else 0)
            for said, noun, some in self._ways_to_count(each, hop, limit):
                longer = each.paid(said, cost + (0.0 if said else UNSAID_BEFORE_NOUN)).spanning(used | noun)
                score = longer.score + 1.0 + noun.bit_count()
                operands = f'"{hop.label}", {operator}, {limit.name}{some and f", {some}"}'
                chosen = narrowed(text, f"counted({{}}, {operands})".format, self._narrows_first)
                having = each.kinds & {other.kind for other in self._graph.hops if other.label == hop.label}
                yield longer._replace(
                    expression=chosen, kinds=having, score=score, is_whole=False, is_bare=False, counted=noun
                )

    def _ways_to_count(
        self, each: Reading, hop: SchemaHop, limit: ValueLimit
    ) -> Iterator[tuple[Said | None, int, str]]:
        """The words that say the step to what is counted, or none; the noun of what is counted, where it is not the
        step itself that is called so ("two children"); and the set that is counted, where the step leads further."""
        asked, (noun, kinds) = self._asked, self._nouns.get(limit.counts, (0, frozenset[str]()))
        free = asked.content & ~(each.used | limit.used | noun)
        if noun and not each.used & noun and not hop.ends.isdisjoint(kinds):
            some = "" if hop.leads_to_all_of(kinds) else self._graph.whole(hop.ends & kinds)
            if some or hop.leads_to_all_of(kinds):
                yield from ((said, noun, some) for said in self._said.of(hop, free, MIN_LIKENESS))
                yield None, noun, some
        elif not noun and limit.counts >= 0 and asked.roles[limit.counts] == "person":
            ways = self._said.of(hop, free, MIN_LIKENESS) if hop.ends <= self._named.persons else ()
            is_own = not hop.ends.isdisjoint(each.kinds)
            for said in ways:
                if not (is_own and is_turned_verb(asked.words, said.first, hop.label)):
                    yield said, 0, ""
        elif not noun and voice_of(hop.shown) == "noun" and not hop.label.startswith("^"):
            said_so = self._said.of(hop, free, MIN_CALLED)
            yield from ((said, 0, "") for said in said_so if said.first == limit.counts)

    def lacking(self, each: Reading, text: str, hop: SchemaHop, said: Said | None) -> Iterator[Reading]:
        """ "Non-smokers", "who has no boss": those of a set that do not have it, where a "no" stands before its words.

        Of a step among things of one kind it is the one that its noun names: who has no manager may well be one.
        """
        if said is None or each.is_bare or not self._may_deny:
            return
        asked, explained = self._asked, self._said.explained(hop.label, SURELY)
        at, filling = self._denial_of(each, hop, said, explained)
        rest = follows_directly(asked, said.last)
        if rest >= 0 and rest != each.said and not explained >> rest & 1 and asked.words[at] != "non":
            return  # "No date of death" is more than no date; "unmarried patients" are not married.
        if self._is_more_behind(each, hop, said.last, explained):
            return
        is_noun = not hop.label.startswith("^") and (voice_of(hop.shown) == "noun" or asked.words[at] == "non")
        is_set = each.is_whole or text[0] == "S"
        is_way_round = (is_noun or hop.ends.isdisjoint(each.kinds)) and says_having(asked, each, hop, said)
        if not (at >= 0 and is_set and is_way_round):
            return
        base = hop.shown.removeprefix("^").lower()
        words = {singular(word) for word in asked.words[said.first : said.last + 1]}
        if hop.label.startswith("^") and voice_of(base) == "noun" and not words.isdisjoint(base.split()):
            return  # Of "no doctor" a doctor is missing, and not what comes with a doctor.
        is_surely = hop.value == "truth" and said.likeness >= SURELY
        if self._leads_by_the_way(each, hop, said) or (each.is_implied and not is_surely):
            return
        cost = HOP + MEDIATED * hop.label.count("|") + (0.0 if hop.value == "truth" else HAVING)
        longer = each.paid(said, cost - 1.0 - filling.bit_count()).spanning(1 << at | filling)
        chosen, final = f'difference({text}, having({text}, "{hop.label}"))', longer.final | said.used
        yield longer._replace(expression=chosen, final=final, is_whole=False, is_implied=False)

    def _denial_of(self, each: Reading, hop: SchemaHop, said: Said, explained: int) -> tuple[int, int]:
        """The token that denies what is `said`, -1 for none, and the content words between that say nothing."""
        asked, at, filling = self._asked, said.first - 1, 0
        # "Not at weekends", "not work at weekends": it is the weekends that hold or don't.
        at -= hop.value == "truth" and at > 0 and asked.words[at] in PREPOSITIONS and asked.words[at] != "of"
        while at > 0 and (asked.words[at] in _FILLING or asked.words[at : at + 2] == ("of", asked.words[said.first])):
            is_of = asked.words[at] == "of"  # "No date of death".
            if is_of and not explained >> (at - 1) & 1:
                return -1, 0
            at -= is_of
            filling |= 1 << at & asked.content & ~each.used
            at -= 1
        before = at - 1  # "Left no phone number".
        while before > 0 and asked.words[before] in _FILLING:
            filling |= 1 << before & asked.content & ~each.used
            before -= 1
        is_negated = at >= 0 and asked.roles[at] == "negation" and not each.used >> at & 1
        return (at if is_negated else -1), filling

    def _is_more_behind(self, each: Reading, hop: SchemaHop, last: int, explained: int) -> bool:
        """True of "not work at weekends" for the step to where somebody works: what is denied stands behind it."""
        words, roles = self._asked.words, self._asked.roles
        if words[last + 1 : last + 2] == () or words[last + 1] not in PREPOSITIONS:
            return False
        at = next((n for n in range(last + 1, len(words)) if roles[n] != "grammar"), -1)
        if at < 0 or roles[at] != "content" or explained >> at & 1 or at == each.said:
            return False
        kinds = next((kinds for used, kinds in self._nouns.values() if used >> at & 1), frozenset[str]())
        return hop.ends.isdisjoint(kinds)

    def _leads_by_the_way(self, each: Reading, hop: SchemaHop, said: Said) -> bool:
        """True where the words are those of a kind, and another step leads to it plainly: "no doctor" is more than no
        appointment with a doctor."""
        kinds = next((kinds for used, kinds in self._nouns.values() if used == said.used), frozenset[str]())
        words = {singular(word) for word in self._asked.words[said.first : said.last + 1]}
        own = {word for word in hop.shown.lower().split() if word not in GRAMMAR}
        if kinds and words < own:
            return True  # "No nurse" is more than no head nurse.
        steps = [one for one, _ in self._graph.leaving(each.kinds) if not one.ends.isdisjoint(kinds)]
        return "|" in hop.label and any("|" not in one.label for one in steps)


def says_having(asked: AskedQuestion, each: Reading, hop: SchemaHop, said: Said) -> bool:
    """False where the verb says the step the other way round, and where it leads to more than what is said: what has
    no vaccination may have visits."""
    if hop.leads_back_to_several and said.likeness < KIN:
        return False
    return hop.ends.isdisjoint(each.kinds) or not is_turned_verb(asked.words, said.first, hop.label)
