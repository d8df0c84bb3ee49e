"""Defines Reading, a set that a question may describe, and the costs of building it step by step.

A record is a node that only joins others (a mediator), such as a purchase; a hop with the label `a|b` passes through
one. All costs and gains are in units of a score in which each explained word of the question counts about 1. Unless a
docstring says otherwise, they were chosen by hand on questions used in development; they were not fitted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final, NamedTuple

from app.llm.tasks import SchemaStep
from app.reader.meaning.question.measures import PART, are_only_places, says_where
from app.reader.meaning.question.question_tokens import LABEL, AskedQuestion
from app.reader.meaning.said_hops import Said
from app.reader.meaning.schema_graph import NamedThings, SchemaGraph
from kg_store.algebra.expressions import walked_along
from kg_store.text.english import synonyms_of
from kg_store.text.labels import plain_words

EXTREMES: Final = ("argmax(", "argmin(", "most(", "fewest(", "limit(")
_RECORD: Final = re.compile(
    r'reach\((?:intersect\(\w+, )?filter\(\w+, "([^"|]*\|[^"]*)", [<>=!]+, \w+\)\)?, "([^"]*)"\)'
)
# Least likeness at which words express a hop; at 0.5 they would gain nothing (see `gain_of`). Chosen by hand.
MIN_LIKENESS: Final = 0.55
# Costs: HOP of every hop, so that the shorter of two paths wins; MEDIATED in addition for each record on the way, so
# that a direct relation is preferred; UNSAID_KIND if no word names the kind; OUT_OF_ORDER if words come in the wrong
# order; HAVING if a relation is only required to exist; TURNED of going straight back, so high that it never wins
# unless the question speaks of sharing; EXTREME_INSIDE of a superlative inside another set; UNSAID of a hop that no
# word expresses, UNSAID_BEFORE_NOUN if its end has a noun in the question, UNSAID_FURTHER_ON if the hop then does not
# leave a thing of the question; OF_WHOLE of intersecting what all things of a kind lead to; NOT_OWN of a hop that the
# named thing does not have; OTHER_KIND of ends whose noun names another kind; OF_OTHER_SORT of a number that is
# compared with a date or year. Gains: SAYS_HAS if both question and label say "has"; BY_PREPOSITION if both have the
# same preposition. All were chosen by hand; none is fitted.
HOP, MEDIATED, UNSAID_KIND, OUT_OF_ORDER, HAVING = 0.1, 0.3, 0.25, 0.4, 0.15
TURNED, EXTREME_INSIDE, OF_OTHER_SORT, SAYS_HAS = 4.0, 0.6, 0.3, 0.2
UNSAID_FURTHER_ON, BY_PREPOSITION = 0.5, 0.2
UNSAID_BEFORE_NOUN, UNSAID, OF_WHOLE, NOT_OWN, OTHER_KIND = 0.15, 0.55, 0.6, 0.2, 0.5
BEHIND_COUNTED: Final = 0.3
"""Cost if words after "the most patients" describe something else than the patients."""

COMMON, ONLY_ONE = -0.05, -0.2
"""Gains (negative, so costs) of a measured value that no word names: COMMON if the adjective usually measures it,
ONLY_ONE if it is the only value of its type.
"""


class Reading(NamedTuple):
    """A set of things, or of the values at the end of a path, built from some words of the question.

    `expression`: empty for whole kinds. `used`: bit mask of the tokens that it explains or executes. `value`: type of
    its values. `anchor`: position of the thing from which its path starts, -1 for kinds; `near`, `far`: leftmost and
    rightmost token used. `said`: position of the noun that names its kinds, -1 if none. `is_bare`: it is a thing of
    the question itself; `is_whole`: it is everything of its kinds; `is_of_whole`: it is what all things of a kind lead
    to. `is_implied`: no word names its kind. `silent`: number of hops that no word expresses; `unsaid`: those of them
    with the full cost UNSAID. `weakest`: the least likeness of a hop to its words. `partner`: a second thing from
    which the same hops start; the set is what both lead to. `final`: tokens that say what the last hop leads to.
    `counted`: tokens of the noun that is counted ("films" in "the most films").
    """

    expression: str
    kinds: frozenset[str]
    used: int
    score: float
    value: str = ""
    anchor: int = -1
    near: int = 99
    far: int = -1
    said: int = -1
    is_bare: bool = False
    is_whole: bool = False
    unsaid: int = 0
    weakest: float = 1.0
    is_of_whole: bool = False
    is_implied: bool = False
    partner: str = ""
    is_owner: bool = False
    silent: int = 0
    final: int = 0
    counted: int = 0

    @property
    def names(self) -> list[str]:
        """The pseudonym of the named thing that the reading consists of, or of both things of an "X or Y"."""
        return [word for word in self.expression.replace("union(", "").rstrip(")").split(", ") if word]

    @property
    def joins_things(self) -> bool:
        """True if the set is what two named things have in common: the exam that X took in Y."""
        return self.expression.startswith("intersect(") and self.expression.count("(E") == 2

    @property
    def is_exclusive(self) -> bool:
        """True for a set such as "patients with only gout"; no further hop leaves such a set."""
        return ", reach(difference(" in self.expression

    @property
    def key(self) -> object:
        """The key by which readings are compared; readings with equal keys differ only in score and similar
        figures.
        """
        return (
            self.expression,
            self.partner,
            (self.kinds if self.is_whole else None),
            self.used,
            self.value,
            self.said,
            self.is_implied,
        )

    def text(self, graph: SchemaGraph) -> str:
        """Returns the expression; empty for a whole kind that has no pseudonym."""
        return graph.whole(self.kinds) if self.is_whole else self.expression

    def spanning(self, used: int) -> Reading:
        """Returns this reading with the tokens of the bit mask `used` added."""
        near, far = (used & -used).bit_length() - 1, used.bit_length() - 1
        return self._replace(used=self.used | used, near=min(self.near, near), far=max(self.far, far))

    def paid(self, said: Said | None, cost: float) -> Reading:
        """Returns this reading after one more hop at this cost; `said`: the words that express the hop, or None."""
        if said is None:
            return self._replace(score=self.score - cost, silent=self.silent + 1)
        return self._replace(
            used=self.used | said.used,
            near=min(self.near, said.first),
            far=max(self.far, said.last),
            score=self.score + gain_of(said) - cost - self._disorder(said),
            weakest=min(self.weakest, said.likeness),
        )

    def _disorder(self, said: Said) -> float:
        """Returns the cost of words out of order. Words farther from the topic should express later hops.

        Otherwise "X's mother's children" could be read as the mother of X's children. What an owner has comes first:
        in "the father of X's mother" the mother does.
        """
        if self.anchor < 0:
            return 0.0
        if self.is_owner and self.near < self.anchor < said.first:
            return OUT_OF_ORDER
        if said.last < self.anchor:
            return 0.0 if said.last < self.near or self.near == self.anchor else OUT_OF_ORDER
        return 0.0 if said.first > self.far else OUT_OF_ORDER

    def merged(self, other: Reading, expression: str, further: int = 0) -> Reading:
        """Returns the intersection of this reading and `other`; `further`: bit mask of the tokens that join them."""
        return self.spanning(other.used | further)._replace(
            expression=expression,
            kinds=self.kinds & other.kinds,
            score=self.score + other.score + (1.0 if further else 0.0),
            said=max(self.said, other.said),
            is_whole=False,
            anchor=-1,
            unsaid=self.unsaid + other.unsaid,
            silent=self.silent + other.silent,
            final=self.final | other.final,
            weakest=min(self.weakest, other.weakest),
            is_of_whole=self.is_of_whole or other.is_of_whole,
            is_implied=False,
        )


def gain_of(said: Said) -> float:
    """Returns the gain of words that express a hop: their number at likeness 1, falling to 0 at likeness 0.5."""
    return said.count * (2 * said.likeness - 1)


def narrowed(text: str, narrow: Callable[[str], str], is_inside: bool) -> str:
    """Returns the expression `text` narrowed by `narrow`.

    With `is_inside`, the operand of a superlative is narrowed, so that it chooses from the narrowed set.
    """
    if not (is_inside and text.startswith((*EXTREMES, "sort("))):
        return narrow(text)
    begin = text.index("(") + 1
    end = _end_of_operand(text, begin)
    chosen = text[begin:end]
    if text.startswith("sort(") and chosen.startswith("having("):
        begin += len("having(")
        end = _end_of_operand(text, begin)
        chosen = text[begin:end]
    return text[:begin] + narrowed(chosen, narrow, is_inside) + text[end:]


def lacks(text: str, label: str) -> bool:
    """Returns True if the set `text` leaves out everything that has the relation `label`.

    A hop by that relation would then lead nowhere.
    """
    return text.startswith("difference(") and f', "{label}"))' in text


def joins_records(expression: str) -> bool:
    """Returns True if the expression takes a value from one record and an end from another.

    Example: "who played X" must not find the whole cast of the film in which somebody played X.
    """
    return any(_first_word(met) == _first_word(step) for met, step in _RECORD.findall(expression))


def _first_word(label: str) -> str:
    return plain_words(label.partition("|")[0])


def operands_of(text: str) -> list[str]:
    """Returns the operands of a function call, as texts."""
    found, begin = list[str](), text.index("(") + 1
    while begin < len(text):
        end = _end_of_operand(text, begin)
        found.append(text[begin:end].strip())
        begin = end + 1
    return found


def _end_of_operand(text: str, begin: int) -> int:
    """Returns the position after the last character of the operand that begins at `begin`."""
    depth, quoted = 0, False
    for at in range(begin, len(text)):
        quoted ^= text[at] == '"'
        depth += 0 if quoted else (text[at] == "(") - (text[at] == ")")
        if depth < 0 or (text[at] == "," and not depth and not quoted):
            return at
    return len(text)


def named_things(asked: AskedQuestion, named: NamedThings, graph: SchemaGraph) -> Iterator[Reading]:
    """Yields the things of a question and each "X or Y"; for a category also its members."""
    words, things = asked.words, list(asked.at("thing"))
    for at in things:
        kinds = named.things.get(words[at], frozenset())
        bare = words[at][0] == "E"
        owns = words[at + 1 : at + 2] == ("'s",)
        yield Reading(words[at], kinds, 1 << at, 1.0, anchor=at, near=at, far=at, is_bare=bare, is_owner=owns)
        if bare and at in asked.in_place_of_kind:
            yield from _members(words[at], at, kinds, graph)
        other = at + 2
        joined = ("and",) if asked.form in ("average", "sum") else ("or",)
        if words[at + 1 : other] == joined and other in things and asked.form != "compare":
            both = f"union({words[at]}, {words[other]})"
            kinds = kinds & named.things.get(words[other], frozenset())
            yield Reading(both, kinds, 1 << at | 1 << other, 2.0, anchor=at, near=at, far=other, is_bare=bare)
        elif words[at + 1 : other] == ("and",) and other in things and bare:
            kinds = kinds & named.things.get(words[other], frozenset())
            used = 1 << at | 1 << other
            yield Reading(
                words[at], kinds, used, 2.0, anchor=at, near=at, far=other, is_bare=True, partner=words[other]
            )


def _members(name: str, at: int, kinds: frozenset[str], graph: SchemaGraph) -> Iterator[Reading]:
    """Yields the members of a category: "how many dogs" asks for everything of the species dog."""
    called = {word for kind in kinds for word in (kind.lower(), kind.lower().split()[-1])}
    hops = [
        hop
        for hop, _ in graph.leaving(kinds)
        if hop.shown.startswith("^") and "|" not in hop.label and _is_called(hop.shown[1:].lower(), called)
    ]
    if len(kinds) == len(hops) == 1:
        reached = f'reach({name}, "{hops[0].label}")'
        score = 1.0 - HOP - UNSAID_BEFORE_NOUN + 1.0
        yield Reading(reached, hops[0].ends, 1 << at, score, anchor=at, near=at, far=at, said=at, silent=1)


def _is_called(relation: str, kinds: Collection[str]) -> bool:
    """Returns True if the relation's name means the kind it leads to, as "occupation" for professions."""
    return relation in kinds or not {*synonyms_of(relation)}.isdisjoint(kinds)


MAX_STEPS: Final = 3
_WITHIN: Final = frozenset({"in", "from", "within", "across", "inside"})
_PLAIN_CHAIN: Final = re.compile(r"(?:count\()?(?:intersect\()?(?:reach\()+\w{6}(?:, \))+(?:, \w{6}\))?\)?")
_LED_BACK: Final = re.compile(r'reach\((E\w{5}|S\w{5}), "\^([^"|]*)"\)')


class PlacesWithin:
    """Makes readings of "customers in Norway" where a customer has an address, this a city, and that a country."""

    def __init__(
        self,
        asked: AskedQuestion,
        graph: SchemaGraph,
        named: NamedThings,
        nouns: Mapping[int, tuple[int, frozenset[str]]],
    ) -> None:
        self._asked, self._graph, self._nouns = asked, graph, nouns
        self._places, self._persons = named.places - named.groups, named.persons

    def of(self, place: Reading) -> Iterator[Reading]:
        """Yields, for each noun of the question, the things of its kind that lie in `place`: the customers in Norway.

        The path is the shortest one through smaller places (address, city). Yields none if several are equally short.
        """
        if not place.is_bare or not self._is_within(place):
            return
        wanted = [(at, used, kinds) for at, (used, kinds) in self._nouns.items() if not used & place.used]
        if not wanted and self._asked.wh == "who":
            wanted = [(-1, 0, self._persons)]
        for at, used, kinds in wanted:
            ways = self._shortest(place.kinds & self._places, kinds)
            if len(ways) != 1 or len(ways[0][0]) < 2:
                continue
            labels, ends = ways[0]
            text, both = walked_along(place.expression, labels), ends & kinds
            if not ends <= kinds:
                text = f"intersect({text}, {self._graph.whole(both)})"
            score = place.score + used.bit_count() - UNSAID_BEFORE_NOUN - HOP * len(labels)
            yield place.spanning(used)._replace(
                expression=text, kinds=both, score=score, said=at, is_bare=False, final=used, silent=len(labels)
            )

    def _is_within(self, place: Reading) -> bool:
        words = [word for word in self._asked.words[max(0, place.anchor - 2) : place.anchor] if word != "the"]
        return bool(words) and words[-1] in _WITHIN and not place.kinds.isdisjoint(self._places)

    def _shortest(self, start: frozenset[str], wanted: frozenset[str]) -> list[tuple[tuple[str, ...], frozenset[str]]]:
        ways: list[tuple[tuple[str, ...], frozenset[str]]] = [((), start)]
        for _ in range(MAX_STEPS):
            longer = [
                ((*labels, hop.label), hop.ends)
                for labels, kinds in ways
                for hop, _ in self._graph.leaving(kinds)
                if hop.label.startswith("^") and "|" not in hop.label and not hop.value and hop.ends
            ]
            found = [way for way in longer if way[1] & wanted]
            if found:
                return found
            ways = [way for way in longer if way[1] <= self._places]
        return []


def is_chain_of_places(text: str) -> bool:
    """Returns True for things that lead to one place through places only, which people say as one step.

    Example: "customers in Norway".
    """
    labels = LABEL.findall(text)
    is_plain = _PLAIN_CHAIN.fullmatch(re.sub(r'"[^"]*"', "", text)) is not None
    return is_plain and len(labels) > 1 and all(each.startswith("^") for each in labels) and are_only_places(labels)


def within_parts(text: str, steps: Collection[SchemaStep], things: Mapping[str, str]) -> str:
    """Returns `text` changed so that what is in a place includes what is in the parts of that place.

    Only for places whose kind has exactly one relation to parts of the same kind. `things`: the kinds of each place,
    by its pseudonym.
    """

    def widened(found: re.Match[str]) -> str:
        place, label = found[1], found[2]
        kinds = things.get(place, "").split(", ")
        parts = {
            step.label for step in steps
            if step.kind in kinds and step.concept == step.kind
            and step.label.startswith("^") and "|" not in step.label
            and set(step.shown.lstrip("^").lower().split()) & PART
        }  # fmt: skip
        if len(parts) != 1 or f"^{label}" in parts or not says_where([label]):
            return found[0]
        (part,) = parts
        inner = f'reach({place}, "{part}")'
        return f'reach(union({place}, {inner}, reach({inner}, "{part}")), "^{label}")'

    return _LED_BACK.sub(widened, text)
