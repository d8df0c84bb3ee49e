"""Makes answers that sum, average or count, also for each group, and judges if an answer is of the kind asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from app.reader.language.question_words import names_somebody
from app.reader.meaning.comparisons import Answer
from app.reader.meaning.question.measures import WHERE
from app.reader.meaning.question.question_tokens import LABEL, AskedQuestion
from app.reader.meaning.question.token_roles import TOTALS
from app.reader.meaning.reading import (
    COMMON,
    HOP,
    MEDIATED,
    ONLY_ONE,
    UNSAID_BEFORE_NOUN,
    UNSAID_KIND,
    Reading,
    gain_of,
)
from app.reader.meaning.readings import ReadingBuilder
from app.reader.meaning.said_hops import Said
from app.reader.meaning.schema_graph import NamedThings, SchemaGraph, SchemaHop, are_records, happened_on
from kg_store.text.inflection import singular

_OF_TEXT = re.compile(r'(?:filter\()+S\w{5}, "([^"|]*)", =, V\w{5}\)')
# Gain of an answer of the kind asked for, and cost of one of another kind. Chosen by hand; not fitted.
OF_KIND, WRONG_KIND = 0.5, 1.0
_LAST_STEP = re.compile(r'reach\((.+), "([^"]*)"\)')
_BOTH = re.compile(r'intersect\(reach\((E\w{5}), "([^"]*)"\), reach\((E\w{5}), "([^"]*)"\)\)')
MIN_CALLED: Final = 0.95
"""Least likeness (0 to 1) of words to the relation of a number that is summed although no word asks for a sum.

Chosen by hand; not fitted.
"""

_WHOLES: Final = frozenset({"of", "in", "to", "at"})
_PER_GROUP = {"sum": "sums", "average": "averages"}


class Groups:
    """Makes answers that are numbers from readings. `noun`: position of the noun that is asked for, else -1."""

    def __init__(self, asked: AskedQuestion, graph: SchemaGraph, builder: ReadingBuilder, noun: int) -> None:
        self._asked, self._graph, self._builder, self._noun = asked, graph, builder, noun

    def totals(self, each: Reading, text: str) -> Iterator[Answer]:
        """Yields the sum or the average of a number that each member of a set has."""
        for hop, _ in () if each.value else self._graph.leaving(each.kinds):
            if hop.value != "number":
                continue
            for said in self._builder.said(hop, each.used):
                fit = 0.0 if self._noun < 0 or each.said == self._noun else -OF_KIND
                yield f'{self._asked.form}({text}, "{hop.label}")', each.used | said.used, gain_of(said) - HOP + fit

    def occurrences(self, each: Reading, text: str) -> Iterator[Answer]:
        """Yields the count that answers "how often".

        It counts records of an event, such as visits. It also counts things with a date that are selected by a text:
        "how often were lost keys reported". If hops may be meant without a word, whatever one leads to is counted.
        """
        if each.value or each.is_whole:
            return
        dates = [hop for hop, _ in self._graph.leaving(each.kinds) if hop.value == "date"]
        if are_records(each.kinds) or (self._builder.near and each.anchor >= 0 and not each.is_bare):
            yield f"count({text})", each.used, 0.0
        elif (found := _OF_TEXT.match(each.expression)) and dates and self._builder.values.get(found[1]) == "text":
            is_dated = each.expression.count("filter(") > 1
            said = [] if is_dated else [words.used for hop in dates for words in self._builder.said(hop, each.used)]
            yield f"count({text})", each.used | sum(said[:1]), 0.0

    def counted_values(self, each: Reading, text: str) -> Iterator[Answer]:
        """Yields the answer to "how many beds has X": the number that X itself has.

        For several things, it is the sum of their numbers.
        """
        if both := _BOTH.fullmatch(text):
            if not TOTALS.isdisjoint(self._asked.words) and both[2] == both[4]:
                yield f'sum(union({both[1]}, {both[3]}), "{both[2]}")', each.used, 0.0
            return
        parts = _LAST_STEP.fullmatch(text)
        if parts and not re.fullmatch(r"E\w{5}", parts[1]):
            text = f'sum({parts[1]}, "{parts[2]}")'
        yield text, each.used, 0.0

    def of_parts(self, each: Reading) -> Iterator[Answer]:
        """Yields the answer to "how many beds has X" if X itself has no such number: the sum over its parts.

        Only one relation may lead to parts that have the number.
        """
        if not each.is_bare or any(
            True for hop, _ in self._graph.leaving(each.kinds) for _ in self._numbers(hop, each)
        ):
            return
        steps = [hop for hop, _ in self._graph.leaving(each.kinds) if _leads_to_parts(hop)]
        found = [
            (step, number, said)
            for step in steps
            for number, _ in self._graph.leaving(step.ends)
            for said in list(self._numbers(number, each))[:1]
        ]
        for step, number, said in found if len(found) == 1 else ():
            nouns = sum(
                used for used, kinds in self._builder.nouns.values() if kinds & step.ends and not used & said.used
            )
            text = f'sum(reach({each.expression}, "{step.label}"), "{number.label}")'
            yield text, each.used | said.used | nouns, gain_of(said) + nouns.bit_count() - UNSAID_BEFORE_NOUN - 2 * HOP

    def of_all(self, each: Reading) -> Iterator[Answer]:
        """Yields the answer to "how many beds are there": the sum over all things that have beds.

        Only one kind of things may have them.
        """
        asked = self._asked
        if (
            self._builder.nouns
            or not {"thing", "value", "person"}.isdisjoint(asked.roles)
            or "negation" in asked.roles
        ):
            return
        found = {(hop.kind, hop.label): said for hop in self._graph.hops for said in self._numbers(hop, each)}
        for (kind, label), said in found.items() if len(found) == 1 else ():
            if each.kinds == {kind} and said.first == asked.asked:
                yield f'sum({self._builder.text(each)}, "{label}")', said.used, gain_of(said) - HOP

    def _numbers(self, hop: SchemaHop, each: Reading) -> Iterator[Said]:
        """Yields the spans of the question that express `hop`, if its values are counts, such as "seats"."""
        words = hop.shown.lower().split()
        is_count = not {"number", "count"}.isdisjoint(words) or singular(words[-1]) != words[-1]
        if hop.value == "number" and "|" not in hop.label and is_count:
            yield from (said for said in self._builder.said(hop, each.used) if said.likeness >= MIN_CALLED)

    def per_group(self, each: Reading, text: str) -> Iterator[Answer]:
        """Yields a count, sum or average for each group: "patients per ward".

        The group is the noun after "per", or the thing that a relation leads to.
        """
        behind = sum(used for at, (used, _) in self._builder.nouns.items() if at > self._asked.grouped)
        if each.value or each.is_bare or each.used & behind:
            return  # The words after "per" describe the group, not the members: "per city of the clinic".
        if self._asked.function == "average" and each.is_whole and each.said == self._asked.grouped:
            yield from self._of_each(each, text)
        elif each.is_implied or self._asked.function:
            yield from self._measured(each)
        elif self._asked.period:
            yield from self._per_period(each, text)
        if not each.is_implied and not self._asked.function and not self._asked.period:
            fit = 0.0 if self._noun in (-1, self._asked.grouped) or each.said == self._noun else -WRONG_KIND
            for label, used, score in self._ways_to_group(each):
                yield f'group({text}, "{label}")', used, score + fit

    def _of_each(self, each: Reading, text: str) -> Iterator[Answer]:
        """Yields the average of a number that each thing after "per" itself has: "beds per ward"."""
        for hop, _ in self._graph.leaving(each.kinds):
            for said in self._builder.said(hop, each.used) if hop.value == "number" and "|" not in hop.label else ():
                yield f'average({text}, "{hop.label}")', each.used | said.used, gain_of(said) - HOP

    def _ways_to_group(self, each: Reading) -> Iterator[tuple[str, int, float]]:
        """Yields the paths of one or two hops from the things of a reading to the group after "per".

        Each is (label, bit mask of all tokens used, score).
        """
        grouped = self._asked.grouped
        noun, kinds = self._builder.nouns.get(grouped, (0, frozenset[str]()))
        for hop, _ in self._graph.leaving(each.kinds):
            score = -HOP - MEDIATED * hop.label.count("|")
            if noun and not noun & each.used and not kinds.isdisjoint(hop.ends):
                used = each.used | noun
                yield hop.label, used, score + noun.bit_count()
                for said in self._builder.said(hop, used):
                    yield hop.label, used | said.used, score + noun.bit_count() + gain_of(said)
            for said in () if noun else self._builder.said(hop, each.used):
                if said.first == grouped:
                    yield hop.label, each.used | said.used, score + gain_of(said)
            if noun and not noun & each.used and not hop.value and "|" not in hop.label:
                yield from self._further(each, hop, noun, kinds)

    def _further(
        self, each: Reading, hop: SchemaHop, noun: int, kinds: frozenset[str]
    ) -> Iterator[tuple[str, int, float]]:
        """Yields labels of two hops to the group, if words of the question express the first hop.

        Example: "patients per city of their clinic".
        """
        used = each.used | noun
        said_kinds = [n for n, ends in self._builder.nouns.values() if not ends.isdisjoint(hop.ends) and not n & used]
        said = [(each.used, gain_of(each)) for each in self._builder.said(hop, used)]
        for tokens, gain in [*said, *((n, float(n.bit_count())) for n in said_kinds)]:
            for second, _ in self._graph.leaving(hop.ends):
                if not kinds.isdisjoint(second.ends) and "|" not in second.label:
                    yield f"{hop.label}|{second.label}", used | tokens, noun.bit_count() + gain - 3 * HOP

    def _measured(self, each: Reading) -> Iterator[Answer]:
        """Yields a number that the question names, summed or averaged for each group: "total weight per type"."""
        function = _PER_GROUP[self._asked.function or "sum"]
        for hop, _ in self._graph.leaving(each.kinds):
            if hop.value != "number" or "|" in hop.label:
                continue
            for said in self._builder.said(hop, each.used):
                if each.is_implied and not self._asked.function and said.first != self._asked.asked:
                    continue
                longer = each.spanning(said.used)
                cost = HOP - gain_of(said) + (UNSAID_BEFORE_NOUN - UNSAID_KIND if each.is_implied else 0.0)
                for label, used, score in self._ways_to_group(longer):
                    if text := self._all_with(each, hop.label, label):
                        yield f'{function}({text}, "{label}", "{hop.label}")', used, score - cost

    def _all_with(self, each: Reading, measure: str, label: str) -> str:
        """Returns the expression of the set whose members are grouped.

        It is the set of the reading. If no word names that set, it is all things that have both the relation `measure`
        and the relation `label`, which leads to the group.
        """
        if not each.is_implied:
            return self._builder.text(each)
        found = [
            {hop.kind for hop in self._graph.hops if hop.label == wanted} for wanted in (measure, label.split("|")[0])
        ]
        return self._graph.whole(frozenset(found[0] & found[1]))

    def _per_period(self, each: Reading, text: str) -> Iterator[Answer]:
        """Yields counts for each year or month of a date.

        The date is one that words say, the one that the kind's own verb implies, or the only date that there is.
        """
        dates = [hop for hop, _ in self._graph.leaving(each.kinds) if hop.value == "date" and "|" not in hop.label]
        fit = 0.0 if self._noun < 0 or each.said == self._noun else -WRONG_KIND
        for hop in dates:
            group = f'group({text}, "{hop.label}", {self._asked.period})'
            for said in self._builder.said(hop, each.used):
                yield group, each.used | said.used, fit + gain_of(said) - HOP
            if happened_on(hop, each.kinds):
                yield group, each.used, fit + COMMON - HOP
            elif len(dates) == 1:
                yield group, each.used, fit + ONLY_ONE - HOP


def _leads_to_parts(hop: SchemaHop) -> bool:
    """Returns True for a hop from a whole to its parts: read from the other side, its label is "part of" or the
    like.
    """
    base = hop.shown.removeprefix("^").lower().split()
    return hop.label.startswith("^") and "|" not in hop.label and not _WHOLES.isdisjoint(base)


# Cost of a date or a person as the answer to "what" with a verb. Chosen by hand; not fitted.
NO_WHAT: Final = 0.3


class AskedKind:
    """Judges readings by the kind of thing that the question asks for.

    `noun`: position of the noun that says so if it names a kind of the graph, else -1. `head`: bit mask of that noun
    if it names no kind of the graph, else 0.
    """

    def __init__(
        self,
        asked: AskedQuestion,
        graph: SchemaGraph,
        builder: ReadingBuilder,
        named: NamedThings,
        noun: int,
        head: int,
    ) -> None:
        self._asked, self._graph, self._builder, self._named = asked, graph, builder, named
        self._noun, self._head = noun, head
        # "The job of the person who ..." asks for the job, not for the person.
        told = list(zip(asked.words, asked.roles, strict=True))[: head.bit_length() if head else None]
        self._asks_people = any(role == "person" and word not in ("who", "whom") for word, role in told)

    def fit(self, each: Reading) -> float:
        """Returns the gain of a reading: positive if it is of the kind asked for, negative if not, else 0."""
        if self._noun >= 0:
            used, kinds = self._builder.called[self._noun]
            is_member = self._noun not in self._builder.nouns and each.used & used and each.kinds <= kinds
            if each.said == self._noun or (is_member and not each.value):
                return OF_KIND
            return -WRONG_KIND if each.value or each.kinds.isdisjoint(kinds) or used & each.used else 0.0
        if self._head and not each.value and self._is_no_somebody(each):
            return -WRONG_KIND
        wh = self._asked.wh
        if self._asked.words[0] == "whose" and each.said == 1:
            return -WRONG_KIND  # "Whose books are kept at X" asks for the people who own them, not for the books.
        if wh in ("who", "whom") or (self._noun < 0 and self._asks_people):
            return self._fits_people(each)
        if wh == "when":
            return OF_KIND if each.value == "date" or self._is_year(each) else -WRONG_KIND
        if wh == "where":
            return 0.0 if self._is_place(each) else -WRONG_KIND
        if "how" in self._asked.words and self._asked.form == "things":
            return OF_KIND if each.value in ("number", "date") else -WRONG_KIND
        return -NO_WHAT if self._is_no_what(each) else 0.0

    def _is_no_somebody(self, each: Reading) -> bool:
        """Returns True if the asked noun means people or groups ("which directors") but the reading leads to
        neither.
        """
        people = self._named.persons | self._named.groups
        return names_somebody(self._asked.words[self._head.bit_length() - 1]) and each.kinds.isdisjoint(people)

    def _is_place(self, each: Reading) -> bool:
        """Returns True if the reading leads to places, or its last relation says where: "lives in", "home address"."""
        if each.value in ("date", "number", "truth") or (each.kinds and each.kinds <= self._named.persons):
            return False
        last = (LABEL.findall(each.expression) or [""])[-1].split("|")[-1]
        return not (each.kinds.isdisjoint(self._named.places) and WHERE.isdisjoint(last.lower().split()))

    def _is_no_what(self, each: Reading) -> bool:
        """Returns True for dates and people, which nobody asks for by "what" with a verb: "what was X prescribed"."""
        words = self._asked.words
        if words[0] != "what" or words[1:2] == ("is",) or "of" in words or "'s" in words:
            return False
        last = (LABEL.findall(each.expression) or [""])[-1].split(" ")[-1]
        return last in ("on", "by") and (each.value == "date" or each.kinds <= self._named.persons)

    def _says_its_noun(self, each: Reading) -> bool:
        """Returns True if the question says the noun of the last relation.

        Example: "who are the authors of X" asks for authors, even if the graph stores them as texts.
        """
        last = (LABEL.findall(each.expression) or [""])[-1].split(" ")[-1]
        return bool(last) and singular(last.lower()) in map(singular, self._asked.words)

    def _is_year(self, each: Reading) -> bool:
        labels = LABEL.findall(each.expression)
        return bool(each.value and labels) and any(hop.is_date for hop in self._graph.hops if hop.label == labels[-1])

    def _fits_people(self, each: Reading) -> float:
        words = {self._asked.words[at] for at in self._asked.at("person")}
        may_be_group = self._asked.wh in ("who", "whom") and words <= {"who", "whom"}
        if each.value == "text" and self._says_its_noun(each):
            return 0.0
        if each.value or not each.kinds & (
            self._named.persons | (self._named.groups if may_be_group else frozenset())
        ):
            return -WRONG_KIND
        return OF_KIND if each.kinds & self._named.persons else OF_KIND / 2
