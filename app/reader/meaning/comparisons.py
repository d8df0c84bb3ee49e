"""Makes answers that compare two sets or values, and answers of yes or no."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from app.reader.language.question_words import PREPOSITIONS
from app.reader.language.stated_bounds import TRUTHS
from app.reader.meaning.extremes import sign_of
from app.reader.meaning.question.question_tokens import LABEL, AskedQuestion
from app.reader.meaning.question.token_roles import mask
from app.reader.meaning.reading import HAVING, HOP, MEDIATED, Reading, gain_of
from app.reader.meaning.readings import ReadingBuilder
from app.reader.meaning.schema_graph import SchemaGraph, SchemaHop
from kg_store.text.inflection import is_participle

_MORE_OR_FEWER = frozenset({"more", "fewer", "less"})
# Greatest number of sets tried for the second side of a comparison; limits the time. Chosen by hand.
MAX_SETS: Final = 250
Answer = tuple[str, int, float]
"""An expression, the bit mask of the tokens that it uses, and its gain: what it adds to the score of its reading."""


class Comparisons:
    """Makes answers from two readings that say the same of two things, such as the beds of X and the beds of Y."""

    def __init__(self, asked: AskedQuestion, graph: SchemaGraph, builder: ReadingBuilder) -> None:
        self._asked, self._graph, self._builder = asked, graph, builder
        self._things = list(asked.at("thing"))[:2]
        self._word = min((*asked.at("comparative"), *asked.at("superlative")), default=-1)
        is_counted = self._word >= 0 and asked.words[self._word] in _MORE_OR_FEWER
        counts = self._word + 1 in builder.nouns or asked.roles[self._word + 1 : self._word + 2] == ("value",)
        self._counts_things = is_counted and counts
        self._than = asked.words.index("than") if "than" in asked.words else -1

    def of(self, each: Reading, readings: Sequence[Reading]) -> Iterator[Answer]:
        """Yields the greater of two things, by a value or by the number of things they lead to.

        For a yes/no question, yields a test if the first thing is the greater one.
        """
        asked, measure = self._asked, self._asked.measures[self._word]
        truth = asked.words[0] in TRUTHS and "or" not in asked.words
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
                sign = sign_of(measure, hop) if self._is_of(each, hop, other) else 0
                for said, gain in (
                    self._builder.extremes.ways_to_measure(measure, hop, used, each.kinds) if sign else ()
                ):
                    best = f'{"argmax" if sign > 0 else "argmin"}({both}, "{hop.label}")'
                    if sign > 0:
                        best = f'compare({first}, {second}, "{hop.label}")'
                    text = f"exists(intersect({best}, {first}))" if truth else best
                    yield text, used | (said.used if said else 0), gained + 1.0 + gain - HOP

    def _others(self, each: Reading, readings: Sequence[Reading]) -> Iterator[tuple[Reading, float]]:
        """Yields the readings that say of the second thing what `each` says of the first, with their gain in score."""
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

    def _is_of(self, each: Reading, hop: SchemaHop, other: Reading) -> bool:
        """Returns True if things of the kinds of `other` also have the hop `hop`, and it can be compared.

        Several numbers, such as the payments of two people, can't: their sums or their greatest may be meant.
        """
        labels = {label for label in (*LABEL.findall(each.expression), hop.label) if "^" in label or "|" in label}
        is_one = hop.value != "number" or labels <= {other.label for other in self._graph.hops if other.is_one}
        return is_one and any(leaving.label == hop.label for leaving, _ in self._graph.leaving(other.kinds))

    def outnumbering(self, each: Reading, readings: Sequence[Reading]) -> Iterator[Answer]:
        """Yields tests if one set is larger than another: "are there more doctors than nurses"."""
        asked = self._asked
        if not self._counts_things or self._than < 0 or asked.words[0] not in TRUTHS or each.value or each.is_bare:
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
        """Yields the second set of a comparison that names only what differs: "more customers in X than in Y".

        It is `text`, the expression of the first set, with X replaced by Y. Yields none unless the question names
        exactly two things or values, one on each side of "than".
        """
        asked = self._asked
        named = [at for role in ("thing", "value") for at in asked.at(role)]
        if len(named) != 2 or not min(named) < self._than < max(named):
            return
        first, second = (asked.words[at] for at in sorted(named))
        if each.used >> min(named) & 1 and self._builder.are_alike(first, second):
            used = 1 << max(named)
            yield text.replace(first, second), used, 1.0

    def _other_sets(self, each: Reading, readings: Sequence[Reading], behind: int) -> Iterator[Answer]:
        """Yields the sets that the words after "than" describe.

        `behind`: the bit mask of these words. Yields none if only one side of "than" names a thing or value, because
        that may be meant to narrow both sides.
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
        """Yields the one of two things that `hop` joins with more (or fewer) things: "which has more wards, X or Y".

        `both`: the expression of the two things. `used`: bit mask of tokens that are taken already.
        """
        function = {"more": "most", "fewer": "fewest", "less": "fewest"}.get(self._asked.words[self._word], "")
        noun = self._builder.nouns.get(self._word + 1)
        if not function or noun is None:
            return
        some = "" if hop.leads_to_all_of(noun[1]) else self._graph.whole(hop.ends & noun[1])
        for tokens, score in self._counted(hop, used, bool(some)):
            yield f'{function}({both}, "{hop.label}"' + (f", {some})" if some else ")"), tokens, 2.0 + score

    def _counted(self, hop: SchemaHop, used: int, leads_to_some: bool = False) -> Iterator[tuple[int, float]]:
        """Yields the ways to say that the ends of `hop` are counted, each as (bit mask of tokens, score).

        `leads_to_some`: only some ends of the hop are of the counted kind.
        """
        noun = self._builder.nouns.get(self._word + 1)
        counted = noun[0] if noun and (leads_to_some or hop.leads_to_all_of(noun[1])) else 0
        for said in [*self._builder.said(hop, used | counted), None] if counted else ():
            score = counted.bit_count() + (gain_of(said) if said else 0.0) - HOP - MEDIATED * hop.label.count("|")
            yield used | counted | (said.used if said else 0), score

    def differences(self, each: Reading, readings: Sequence[Reading]) -> Iterator[Answer]:
        """Yields the difference of two values: "how many more beds has X than Y", "how much older is X"."""
        word = self._asked.words[self._word] if self._word >= 0 else ""
        for other, gained in self._others(each, readings):
            first, second = each.expression, other.expression
            used = each.used | other.used | (1 << self._word if self._word >= 0 else 0)
            for hop, _ in self._graph.leaving(each.kinds):
                if not self._is_of(each, hop, other):
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
        """Yields (sign, bit mask of tokens, gain) for each way to express `hop`.

        The sign is 1 if more of the measure means a greater value, -1 if it means a lesser one.
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
        """Yields tests if one hop leads from both things to a common one: "do X and Y live in the same city"."""
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


_CHAIN: Final = re.compile(r'(?:reach\()*\w+(?:, "[^"]*"\))*')
_BEFORE_KIND: Final = frozenset("a an the one of also our my your their these those".split())
_HAS: Final = frozenset({"has", "have", "had"})
_DATED: Final = re.compile(r'reach\((E\w{5}), "([^"|]*)"\)')
_OF_KIND: Final = re.compile(r'having\(S\w{5}, "([^"|]*)"\)')
_OF_ONE: Final = re.compile(r'(?:intersect\()?reach\(E\w{5}, "[^"]*"\)(?:, S\w{5}\))?')
_ITS: Final = frozenset({"its", "his", "her", "their"})
_DEAD: Final = frozenset({"dead", "deceased"})
_IN_THE_PAST: Final = frozenset("was were has have did".split())
_OF_SOME: Final = frozenset({"there", "any", "some"})
# Gain of the expression that begins with the thing named first (a tie-break), and cost of comparing all members with a
# set that is not a plain chain of hops. Chosen by hand; not fitted.
FIRST_NAMED: Final = 0.02
NO_CHAIN: Final = 0.3
TOLD_AT_ONCE: Final = 3
"""Number of things that one record joins in a yes/no question: "did X prescribe Y to Z"."""

MAX_PAIRED: Final = 250


class Truths:
    """Makes yes/no answers from readings."""

    def __init__(
        self, asked: AskedQuestion, graph: SchemaGraph, builder: ReadingBuilder, comparisons: Comparisons
    ) -> None:
        self._asked, self._graph, self._builder, self._comparisons = asked, graph, builder, comparisons
        self._all, self._denied = asked.all_at, asked.denied_at
        self._noun = min((at for at in builder.nouns if at > self._all), default=-1)
        self._before = any(role in ("content", "thing", "value") for role in asked.roles[: max(self._all, 0)])

        # "Has X paid all its orders" asks about X's own orders only.
        self._of_subject = self._all >= 0 and not _ITS.isdisjoint(asked.words[self._all + 1 : self._all + 3])
        self._non = asked.words.index("non") if "non" in asked.words else -1
        self._subject = self._of_any()
        # "Has X got children?" asks what X has, not whether X is a child.
        told = next((word for word, role in zip(asked.words, asked.roles, strict=True) if role == "content"), "")
        self._asks_what_is_had = asked.words[0] in _HAS and not is_participle(told)

    def _of_any(self) -> int:
        """Returns the position of the noun in "is there an office"; -1 if there is none or if content precedes it."""
        asked = self._asked
        first = next((at for at, role in enumerate(asked.roles) if role in ("content", "thing", "value")), -1)
        return first if asked.asks_if_any and first in self._builder.nouns else -1

    def of(self, each: Reading, readings: Sequence[Reading]) -> Iterator[Answer]:
        """Yields answers as (expression, bit mask of tokens used, gain in score)."""
        yield from self._comparisons.outnumbering(each, readings)
        if self._all >= 0:
            yield from self._all_are(each, readings) if not (each.value or each.is_bare) else ()
            return
        denied = self._denied
        for text, used, gain in self._any(each, readings):
            if denied < 0:
                yield text, used, gain
            elif text.startswith("exists("):
                yield f"none({text.removeprefix('exists(')}", used | 1 << denied, gain

    def _all_are(self, whole: Reading, readings: Sequence[Reading]) -> Iterator[Answer]:
        """Yields answers to "are all patients of X smokers": true if all members of the first set are in the other."""
        text = self._builder.text(whole)
        if not text or not self._is_meant(whole) or (self._of_subject and not self._is_of_subject(whole)):
            return
        yield from self._all_have(whole, text)
        for other in readings[:MAX_PAIRED]:
            if other.kinds.isdisjoint(whole.kinds) or not self._stands_apart(other.used & ~whole.used, whole):
                continue
            parts = [other.expression.removeprefix(f"{function}({text}, ") for function in ("having", "filter")]
            if any(part != other.expression and part.count('"') == 2 for part in parts):
                yield f"none(difference({text}, {other.expression}))", other.used, other.score - whole.score
            elif not (other.used & whole.used or other.is_whole or other.is_bare or other.value):
                if self._before and other.expression.startswith(("having(", "intersect(having(")):
                    continue  # In "X paid all orders" only the orders of X count, not all paid ones.
                cost = 0.0 if _CHAIN.fullmatch(other.expression) else NO_CHAIN
                yield f"none(difference({text}, {other.expression}))", whole.used | other.used, other.score - cost

    def _is_of_subject(self, whole: Reading) -> bool:
        """Returns True if the set is one hop from the thing before "all": "has X paid all its orders"."""
        return whole.near < self._all and _OF_ONE.fullmatch(whole.expression) is not None

    def _all_have(self, whole: Reading, text: str) -> Iterator[Answer]:
        """Yields answers to "are all animals of X insured": true if no member lacks the relation.

        For "uninsured": true if no member has it.
        """
        for hop, _ in self._graph.leaving(whole.kinds):
            for said in self._builder.said(hop, whole.used):
                if self._stands_apart(said.used, whole):
                    score = gain_of(said) - HOP - HAVING - MEDIATED * hop.label.count("|")
                    used, having = whole.used | said.used, f'having({text}, "{hop.label}")'
                    if said.first == self._non + 1:
                        yield f"none({having})", used | 1 << self._non, score + 1.0
                    else:
                        yield f"none(difference({text}, {having}))", used, score

    def _is_one_of(self, each: Reading) -> Iterator[Answer]:
        """Yields answers to "is X a nurse" and "is X one of our patients": true if X is of the kind."""
        for noun, (used, kinds) in self._builder.nouns.items():
            whole = self._graph.whole(kinds)
            between = self._asked.words[each.anchor + 1 : noun]
            if whole and noun > each.anchor and _BEFORE_KIND.issuperset(between):
                yield (
                    f"exists(intersect({each.expression}, {whole}))",
                    each.used | used,
                    float(used.bit_count()) - HOP,
                )

    def _is_without(self, each: Reading) -> Iterator[Answer]:
        """Yields answers to "is X unmarried" and "is X a non-smoker": true if X lacks the relation."""
        for hop, _ in self._graph.leaving(each.kinds) if self._non >= 0 else ():
            for said in self._builder.said(hop, each.used):
                if said.first == self._non + 1 and (
                    hop.value in ("truth", "date") or is_participle(self._asked.words[said.first])
                ):
                    text = f'exists(difference({each.expression}, having({each.expression}, "{hop.label}")))'
                    yield text, each.used | said.used | 1 << self._non, gain_of(said) - HOP

    def _is_meant(self, whole: Reading) -> bool:
        """Returns True if the set is what the words after "all" name, as the doctors in "do all doctors smoke"."""
        asked = self._asked
        named = min((at for role in ("thing", "value") for at in asked.at(role) if at > self._all), default=-1)
        if self._noun >= 0 and (named < 0 or self._noun < named or asked.words[named + 1 : named + 2] == ("'s",)):
            return whole.said == self._noun
        return bool(whole.used >> named & 1) if named >= 0 else True

    def _stands_apart(self, used: int, whole: Reading) -> bool:
        """Returns True if the tokens `used` may state what is asked of all members.

        They must lie behind "all X", or before "all" if the question names something there.
        """
        if self._before:
            return 0 < used < 1 << self._all and (self._of_subject or whole.near > self._all)
        return used > 1 << whole.far

    def _holds_too(self, other: Reading) -> bool:
        """Returns True for the set of all things with a yes/no property, such as all smokers.

        "Does X smoke" is answered by the value of X itself, not by this set. False if the question says "there", "any"
        or "some".
        """
        found = _OF_KIND.fullmatch(other.expression) if _OF_SOME.isdisjoint(self._asked.words) else None
        return found is not None and any(hop.label == found[1] and hop.value == "truth" for hop in self._graph.hops)

    def _at_one_record(self, each: Reading) -> Iterator[Answer]:
        """Yields answers to "did X prescribe Y to Z": true if one record, such as a prescription, joins all three."""
        things = list(self._asked.at("thing"))
        if len(things) != TOLD_AT_ONCE or each.anchor != things[0]:
            return
        names = [self._asked.words[at] for at in things]
        kinds = [self._builder.kinds_of(name) for name in names]
        for record in self._graph.kinds if all(kinds) else ():
            ways = [self._ways_to(record, of) for of in kinds]
            if any(record in of for of in kinds) or any(len(each_way) != 1 for each_way in ways):
                continue
            hops = [way[0] for way in ways]
            sets = [f'reach({name}, "{hop.label}")' for name, hop in zip(names, hops, strict=True)]
            text = f"exists(intersect(intersect({sets[0]}, {sets[1]}), {sets[2]}))"
            for said in (said for hop in hops for said in self._builder.said(hop, mask(things))):
                yield text, mask(things) | said.used, len(things) - 1 + gain_of(said) - len(things) * HOP

    def _ways_to(self, record: str, kinds: frozenset[str]) -> list[SchemaHop]:
        """Returns the single hops from things of `kinds` to the kind `record`."""
        return [hop for hop, _ in self._graph.leaving(kinds) if record in hop.ends and "|" not in hop.label]

    def _was_done(self, each: Reading) -> Iterator[Answer]:
        """Yields answers to "was X shipped" and "is X dead": true if X has a date of shipping or of death."""
        found, words = _DATED.fullmatch(each.expression), self._asked.words
        if found is None or each.value != "date":
            return
        said = [words[at] for at in range(len(words)) if each.used >> at & 1 and self._asked.roles[at] == "content"]
        if len(said) == 1 and (said[0] in _DEAD or (is_participle(said[0]) and words[0] in _IN_THE_PAST)):
            having, denied = f'having({found[1]}, "{found[2]}")', words.index(said[0]) - 1
            if self._asked.roles[denied] == "negation":  # "Has X not died" is true if there is no such date.
                yield f"none({having})", each.used | 1 << denied, -HAVING
            else:
                yield f"exists({having})", each.used, -HAVING

    def _any(self, each: Reading, readings: Sequence[Reading]) -> Iterator[Answer]:
        if each.value == "truth" and _OF_SOME.isdisjoint(self._asked.words):
            yield f"holds({each.expression})", each.used, 0.0
        if each.value:
            yield from self._was_done(each)
            return
        if each.expression.startswith("filter(E") and each.expression.count("(") == 1:
            yield f"exists({each.expression})", each.used, 0.0
        if each.is_bare and "same" in self._asked.words:
            yield from self._comparisons.same(each)
            return
        if each.is_bare:
            yield from self._is_without(each)
            yield from self._at_one_record(each)
            yield from self._is_one_of(each)
            for other in readings:
                if (
                    other.value
                    or other.is_bare
                    or other.is_whole
                    or other.used & each.used
                    or other.kinds.isdisjoint(each.kinds)
                    or (self._asks_what_is_had and other.anchor < 0)
                    or self._holds_too(other)
                ):
                    continue
                # Of two equivalent expressions, the one that begins with the thing named first wins.
                first = FIRST_NAMED * (0 <= other.anchor < each.anchor)
                text = f"exists(intersect({other.expression}, {each.expression}))"
                yield text, each.used | other.used, other.score + first
            return
        if not each.is_whole and (self._subject < 0 or each.said == self._subject):
            yield f"exists({each.expression})", each.used, -0.2
