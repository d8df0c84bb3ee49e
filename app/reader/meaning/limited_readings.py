"""Makes readings that are narrowed by a limit on values, and readings that combine two sets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from app.reader.language.question_words import GRAMMAR, PREPOSITIONS
from app.reader.language.relation_wording import voice_of
from app.reader.meaning.extremes import Nouns, sign_of
from app.reader.meaning.question.question_tokens import LABEL, AskedQuestion, follows_directly
from app.reader.meaning.question.token_roles import ValueLimit, mask
from app.reader.meaning.reading import (
    BEHIND_COUNTED,
    EXTREME_INSIDE,
    EXTREMES,
    HAVING,
    HOP,
    MEDIATED,
    MIN_LIKENESS,
    OF_OTHER_SORT,
    OF_WHOLE,
    UNSAID,
    UNSAID_BEFORE_NOUN,
    Reading,
    lacks,
    narrowed,
    operands_of,
)
from app.reader.meaning.said_hops import KIN, Said, SaidHops
from app.reader.meaning.schema_graph import NamedThings, SchemaGraph, SchemaHop, happened_on
from app.reader.scoring.path_scoring import is_turned_verb
from kg_store.text.inflection import singular
from kg_store.text.labels import reversed_label

_BEFORE_COUNTED = 4
"""Number of operands of the function `counted` before the one that is the counted set."""

_COUNTING = ("counted(", "most(", "fewest(")

SPLIT = 0.5
"""Cost of using two different relations for a question that asks the same about two topics.

Chosen by hand; not fitted.
"""
_HAVING = re.compile(r'having\(\w+, "([^"]*)"\)')


class Joins:
    """Makes the readings that combine two other readings."""

    def __init__(self, asked: AskedQuestion, graph: SchemaGraph) -> None:
        self._asked, self._graph = asked, graph
        self._narrows_first = asked.narrows_first
        self._may_deny = "negation" in asked.roles and (asked.form != "truth" or asked.asks_if_any)

    def of(self, level: Sequence[Reading], known: Sequence[Reading]) -> Iterator[Reading]:
        """Yields combinations of a reading in `level` with one in `known`: both sets, or one set without the other.

        `level`: the newest readings; `known`: the best ones so far. The two must use different words and have a kind
        in common.
        """
        sets = [each for each in known if _is_set(each)]
        for first in filter(_is_set, level):
            for second in sets:
                if first.counted or second.counted:
                    yield from self._with_most_of(first, second)
                    yield from self._with_most_of(second, first)
                if first.used & second.used or first.kinds.isdisjoint(second.kinds):
                    continue
                yield from self._both(first, second)
                yield from self._without(first, second)
                yield from self._without(second, first)

    def _both(self, first: Reading, second: Reading) -> Iterator[Reading]:
        if first.is_whole or second.is_whole or _contradict(first.expression, second.expression):
            return
        if self._asked.form != "truth" and _names_its_answer(first, second):
            return
        if self._graph.order_of(first.expression) > self._graph.order_of(second.expression):
            first, second = second, first
        extremes = [each for each in (first, second) if each.expression.startswith(EXTREMES)]
        if len(extremes) == 1 and self._narrows_first:
            other = second if extremes[0] is first else first
            narrow = partial(self._graph.shared, other=other.expression, kinds=other.kinds)
            chosen = narrowed(extremes[0].expression, narrow, is_inside=True)
            both = first.merged(second, chosen)
            cost = OF_WHOLE * (first.is_of_whole + second.is_of_whole)
            cost += BEHIND_COUNTED * (0 < extremes[0].counted < 1 << other.near)
            yield both._replace(score=both.score - cost)
            return
        both, inside = first.merged(second, f"intersect({first.expression}, {second.expression})"), len(extremes)
        cost = OF_WHOLE * (first.is_of_whole + second.is_of_whole) + EXTREME_INSIDE * inside
        cost += SPLIT * self._splits(first, second)
        yield both._replace(score=both.score - cost)

    def _splits(self, first: Reading, second: Reading) -> bool:
        """Returns True if one thing is asked of "X and Y" but the two readings use different relations."""
        near, far = sorted((first.anchor, second.anchor))
        is_listed = near >= 0 and far == near + 2 and self._asked.words[near + 1] == "and"
        return is_listed and LABEL.findall(first.expression) != LABEL.findall(second.expression)

    def _with_most_of(self, first: Reading, second: Reading) -> Iterator[Reading]:
        """Yields `first` with the things it counts narrowed to `second`: "the most patients in Arnsbridge".

        The words of `second` must follow those of the counted things.
        """
        begins = (first.counted & -first.counted).bit_length() - 1
        is_said = (
            bool(first.counted) and first.used & second.used == first.counted and second.near == second.said == begins
        )
        # After a further hop, the expression no longer begins with the counting, and `second` cannot narrow it.
        is_said = is_said and first.expression.startswith(_COUNTING)
        if is_said and not second.is_whole and not second.expression.startswith(EXTREMES):
            both, counts = first.spanning(second.used), _without_counted(first.expression)
            score = first.score + second.score - first.counted.bit_count()
            yield both._replace(
                expression=f"{counts}, {second.expression})", score=score, counted=0,
                unsaid=first.unsaid + second.unsaid, silent=first.silent + second.silent,
                weakest=min(first.weakest, second.weakest),
            )  # fmt: skip

    def _without(self, whole: Reading, taken: Reading) -> Iterator[Reading]:
        """Yields the set before a "not" without the set after it."""
        text, roles = whole.text(self._graph), self._asked.roles
        if taken.is_whole or not text or not self._may_deny or _undoes(text, taken.expression):
            return
        for at in self._asked.at("negation"):
            if (whole.used | taken.used) >> at & 1:
                continue
            if self._asked.words[at] == "non" and roles[at + 1 : at + 2] == ("content",):
                continue  # A prefix ("unpaid" as "non paid") denies a property of the thing itself: see `lacking`.
            between = mask(range(max(taken.near, 0), taken.far))
            further = follows_directly(self._asked, taken.far)
            if taken.near < at or (whole.used & between) or (further >= 0 and not taken.used >> further & 1):
                continue
            next_said = next((n for n in range(at + 1, len(roles)) if roles[n] in ("content", "thing", "value")), -1)
            if next_said >= 0 and taken.used >> next_said & 1:
                if not whole.kinds <= taken.kinds:
                    text = f"intersect({text}, {self._graph.whole(whole.kinds & taken.kinds)})"
                rest = narrowed(text, lambda inner: f"difference({inner}, {taken.expression})", self._narrows_first)
                found = whole.merged(taken, rest, 1 << at)
                yield found._replace(score=found.score - OF_WHOLE * taken.is_of_whole)


def _without_counted(text: str) -> str:
    """Returns `most(A, "label"` for the expression `most(A, "label", S)` or `most(A, "label")`.

    S is the set whose members are counted. The closing bracket is left out too, so that another set may follow.
    """
    if text.startswith("counted("):
        return f"counted({', '.join(operands_of(text)[:_BEFORE_COUNTED])}"
    return text[: text.rindex('"') + 1]


def _undoes(text: str, taken: str) -> bool:
    """Returns True if leaving the set `taken` out of the set `text` would contradict `text`.

    That is so if `text` requires a relation of its members and all things in `taken` have that relation. Nobody asks
    for such an exclusion.
    """
    had = {reversed_label(label) for label in _HAVING.findall(text)}
    return any(f'"{label}"' in taken for label in had)


def _contradict(first: str, second: str) -> bool:
    """Returns True if one of the two sets requires a relation and the other one excludes everything that has it."""
    pairs = ((first, second), (second, first))
    return any(lacks(one, label) for one, other in pairs for label in _HAVING.findall(other) if one != other)


def _names_its_answer(first: Reading, second: Reading) -> bool:
    """Returns True if the combined set could only be a thing that the question itself names."""
    named = [each.expression for each in (first, second) if "(" not in each.expression]
    return len(named) == 2 or any(each[0] == "E" for each in named)


def _is_set(each: Reading) -> bool:
    return not (each.value or each.is_bare or each.is_implied)


_COMPARABLE: Final = {"date": {"date", "year", "number"}, "number": {"number", "date", "year"}, "text": {"text"}}
OF_NOUN: Final = 0.3
"""Gain if no word expresses the relation of a limit but the noun implies it: orders in May were ordered in May.

Chosen by hand; not fitted.
"""

_FILLING: Final = frozenset(
    "a an any the been be ever have has had work works got get gets left leave given give gave us".split()
)
# Least likeness at which a word counts as explained by a hop. Chosen by hand; not fitted.
SURELY: Final = 0.8
_ALL: Final = frozenset({"all", "each", "every"})
MIN_CALLED: Final = 0.95
"""Least likeness (0 to 1) of a noun to the relation that leads to the things it counts. Chosen by hand; not fitted."""

_EXACTLY: Final = frozenset({"only", "just", "exactly"})


class Limits:
    """Makes readings that narrow other readings by a value of the question."""

    def __init__(
        self, asked: AskedQuestion, graph: SchemaGraph, said: SaidHops, named: NamedThings, nouns: Nouns
    ) -> None:
        self._asked, self._graph, self._said, self._named, self._nouns = asked, graph, said, named, nouns
        self._narrows_first = asked.narrows_first
        self._may_deny = "negation" in asked.roles and (asked.form != "truth" or asked.asks_if_any)
        unread = [(at, asked.words[at]) for at in asked.at("unknown")]
        self._only = [at for at, word in unread if word in _ALL or (word == "only" and asked.words[at - 1] != "the")]

    def of(self, each: Reading, text: str, hop: SchemaHop, said: Said | None, cost: float) -> Iterator[Reading]:
        """Yields the members of `each` (expression `text`) whose value of `hop` keeps to a limit of the question."""
        is_told = text[0] == "S" and text in self._named.things
        for at, stated in self._asked.limits.items() if hop.value else ():
            limit = self._of_measure(stated, hop, said, may_be_unsaid=each.said >= 0 or each.is_bare or is_told)
            if limit is None:
                continue
            counts = (
                limit.counts in self._nouns and limit.unit is None and self._named.values.get(limit.name) != "text"
            )
            if each.partner or each.used >> at & 1 or counts or not self._may_equal(hop, limit):
                continue
            is_number = limit.unit is not None or self._is_number(limit)
            is_other = hop.value == "number" and not is_number
            if is_other and not (said or hop.is_date or limit.measure):
                continue  # A year is no amount, where nothing says that one is meant.
            # One thing that is named is not narrowed by its own value, but what is asked of it; a set is.
            is_settled = each.is_bare and not is_told and "|" not in hop.label and self._asked.form != "truth"
            is_said = bool(said or limit.measure)
            if is_settled and hop.is_date and not is_said:
                continue
            unsaid = 0.0 if is_said else self._unsaid(each, hop, limit)
            longer = each.paid(said, cost + unsaid + OF_OTHER_SORT * is_other + UNSAID * is_settled)
            longer = longer.spanning(limit.used)
            chosen = narrowed(text, partial(limit.of, label=hop.label), self._narrows_first)
            yield longer._replace(
                expression=chosen, score=longer.score + 1.0, is_bare=False, is_whole=False, is_implied=False
            )

    def _unsaid(self, each: Reading, hop: SchemaHop, limit: ValueLimit) -> float:
        """Returns the cost of limiting values of `hop` although no word names that relation.

        The cost is low if the stated value occurs with this relation alone, or a date with the only date that such
        things have.
        """
        is_told = not (each.is_implied and self._nouns)  # Of what the question names, if it names anything.
        values = {self._named.values.get(name) for name in limit.names}
        is_date = is_told and hop.is_date and values <= {"date", "year"}
        if is_date and [other.label for other, _ in self._graph.leaving(each.kinds) if other.is_date] == [hop.label]:
            return UNSAID_BEFORE_NOUN
        if hop.value == "text" and each.said >= 0:
            own = {reversed_label(label) for name in limit.names for label in self._named.own.get(name, ())}
            if [other.label for other, _ in self._graph.leaving(each.kinds) if other.label in own] == [hop.label]:
                return UNSAID_BEFORE_NOUN
        return UNSAID - OF_NOUN * (each.said >= 0 and happened_on(hop, each.kinds))

    def _of_measure(
        self, limit: ValueLimit, hop: SchemaHop, said: Said | None, *, may_be_unsaid: bool
    ) -> ValueLimit | None:
        """Returns the limit as it applies to values of `hop`: "older than" means earlier for a date of birth.

        None if the measure does not fit these values, or if a date would be compared with a number of years.
        """
        if limit.measure is None:
            return limit
        is_of_date = hop.is_date and self._named.values.get(limit.name) not in ("date", "year")
        is_meant = said or (may_be_unsaid and limit.measure.is_hinted(hop.shown))
        sign = sign_of(limit.measure, hop) if is_meant and not is_of_date else 0
        return replace(limit, operator=">" if sign > 0 else "<") if sign else None

    def _is_number(self, limit: ValueLimit) -> bool:
        return limit.name[0] != "V" or self._named.values.get(limit.name) == "number"

    def only(self, each: Reading, text: str, hop: SchemaHop, stepped: Reading) -> Iterator[Reading]:
        """Yields the things that `hop` joins with members of `each` and with nothing else: patients "with only gout".

        `text`: the expression of `each`. `stepped`: the reading of all things that the hop joins with a member of
        `each`.
        """
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
        """Returns True if the tokens at `between` hold a word with meaning that the bit mask `said` does not cover."""
        roles = self._asked.roles
        return any(roles[at] not in ("grammar", "unknown") and not said >> at & 1 for at in between)

    def _may_equal(self, hop: SchemaHop, limit: ValueLimit) -> bool:
        """Returns True if values of `hop` can be compared with the limit's value.

        They must have a comparable type and a fitting unit; a text must also occur with this relation.
        """
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
        """Yields members that lead to a given number of things: "with at least 3 orders".

        In a yes/no question, `each` may be the one thing that is asked about.
        """
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
        """Yields the ways to say that the ends of `hop` are counted, each as (words, noun, set).

        words: the span that expresses the hop, or None. noun: bit mask of the counted noun ("orders" in "3 orders");
        it is 0 if the noun names the hop itself ("two children"). set: expression of the things that are counted; it
        is empty if these are all that the hop leads to.
        """
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
        """Yields members that lack something, if "no" or "not" stands before its words: "non-smokers", "has no boss".

        If the hop joins things of one kind, its direction follows the noun: who has no manager may still be a manager.
        """
        if said is None or each.is_bare or not self._may_deny:
            return
        asked, explained = self._asked, self._said.explained(hop.label, SURELY)
        at, filling = self._denial_of(each, hop, said, explained)
        rest = follows_directly(asked, said.last)
        if rest >= 0 and rest != each.said and not explained >> rest & 1 and asked.words[at] != "non":
            return  # "No date of death" does not mean "no date"; in "unmarried patients" only "married" is denied.
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
            return  # "No doctor" means that the doctor is missing, not something that comes with a doctor.
        is_surely = hop.value == "truth" and said.likeness >= SURELY
        if self._leads_by_the_way(each, hop, said) or (each.is_implied and not is_surely):
            return
        cost = HOP + MEDIATED * hop.label.count("|") + (0.0 if hop.value == "truth" else HAVING)
        longer = each.paid(said, cost - 1.0 - filling.bit_count()).spanning(1 << at | filling)
        chosen, final = f'difference({text}, having({text}, "{hop.label}"))', longer.final | said.used
        yield longer._replace(expression=chosen, final=final, is_whole=False, is_implied=False)

    def _denial_of(self, each: Reading, hop: SchemaHop, said: Said, explained: int) -> tuple[int, int]:
        """Returns the position of the "no" or "not" that denies the words `said`, or -1 if there is none.

        The second result is the bit mask of filler words beside it, as "left" in "left no phone number". `explained`:
        bit mask of tokens that express the hop.
        """
        asked, at, filling = self._asked, said.first - 1, 0
        # A preposition belongs to the denied property: "at" in "not work at weekends".
        at -= hop.value == "truth" and at > 0 and asked.words[at] in PREPOSITIONS and asked.words[at] != "of"
        while at > 0 and (asked.words[at] in _FILLING or asked.words[at : at + 2] == ("of", asked.words[said.first])):
            is_of = asked.words[at] == "of"  # A noun before "of" belongs to what is denied: "no date of death".
            if is_of and not explained >> (at - 1) & 1:
                return -1, 0
            at -= is_of
            filling |= 1 << at & asked.content & ~each.used
            at -= 1
        before = at - 1  # Verbs before the "no" may be filler too: "left no phone number".
        while before > 0 and asked.words[before] in _FILLING:
            filling |= 1 << before & asked.content & ~each.used
            before -= 1
        is_negated = at >= 0 and asked.roles[at] == "negation" and not each.used >> at & 1
        return (at if is_negated else -1), filling

    def _is_more_behind(self, each: Reading, hop: SchemaHop, last: int, explained: int) -> bool:
        """Returns True if words after the verb are what is denied.

        "Not work at weekends" denies the weekends, not the relation to the place of work.
        """
        words, roles = self._asked.words, self._asked.roles
        if words[last + 1 : last + 2] == () or words[last + 1] not in PREPOSITIONS:
            return False
        at = next((n for n in range(last + 1, len(words)) if roles[n] != "grammar"), -1)
        if at < 0 or roles[at] != "content" or explained >> at & 1 or at == each.said:
            return False
        kinds = next((kinds for used, kinds in self._nouns.values() if used >> at & 1), frozenset[str]())
        return hop.ends.isdisjoint(kinds)

    def _leads_by_the_way(self, each: Reading, hop: SchemaHop, said: Said) -> bool:
        """Returns True if the denied words mean a plainer hop than `hop`.

        Example: "no doctor" does not mean "no appointment with a doctor".
        """
        kinds = next((kinds for used, kinds in self._nouns.values() if used == said.used), frozenset[str]())
        words = {singular(word) for word in self._asked.words[said.first : said.last + 1]}
        own = {word for word in hop.shown.lower().split() if word not in GRAMMAR}
        if kinds and words < own:
            return True  # The label has more words than are denied: "no nurse" does not mean "no head nurse".
        steps = [one for one, _ in self._graph.leaving(each.kinds) if not one.ends.isdisjoint(kinds)]
        return "|" in hop.label and any("|" not in one.label for one in steps)


def says_having(asked: AskedQuestion, each: Reading, hop: SchemaHop, said: Said) -> bool:
    """Returns True if the words `said` express `hop` in its own direction, and no more than the hop.

    False if the verb runs in the opposite direction. False also if the hop ends in several kinds and the words name it
    only roughly: an animal without a vaccination may have visits.
    """
    if hop.leads_back_to_several and said.likeness < KIN:
        return False
    return hop.ends.isdisjoint(each.kinds) or not is_turned_verb(asked.words, said.first, hop.label)
