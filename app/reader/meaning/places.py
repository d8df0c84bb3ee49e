"""Places within places: what is in a country is known by its cities, and what is in a city by its streets."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from app.llm.tasks import SchemaStep
from app.reader.meaning.question.place_words import PART, are_only_places, says_where
from app.reader.meaning.question.question_tokens import AskedQuestion
from app.reader.meaning.reading import HOP, UNSAID_BEFORE_NOUN, Reading
from app.reader.meaning.schema_graph import NamedThings, SchemaGraph
from kg_store.algebra.expressions import walked_along

MAX_STEPS: Final = 3
_WITHIN: Final = frozenset({"in", "from", "within", "across", "inside"})
_LABEL: Final = re.compile(r'"([^"]*)"')
_PLAIN_CHAIN: Final = re.compile(r"(?:count\()?(?:intersect\()?(?:reach\()+\w{6}(?:, \))+(?:, \w{6}\))?\)?")
_LED_BACK: Final = re.compile(r'reach\((E\w{5}|S\w{5}), "\^([^"|]*)"\)')


class PlacesWithin:
    """Readings of "customers in Norway" where a customer has an address, this a city, and that a country."""

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
        """The things of each noun behind the shortest way through smaller places, if it is the only one so short."""
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
    """True of one thing led back through places alone, which people say as one step: "customers in Norway"."""
    labels = _LABEL.findall(text)
    is_plain = _PLAIN_CHAIN.fullmatch(re.sub(r'"[^"]*"', "", text)) is not None
    return is_plain and len(labels) > 1 and all(each.startswith("^") for each in labels) and are_only_places(labels)


def within_parts(text: str, steps: Collection[SchemaStep], things: Mapping[str, str]) -> str:
    """Returns `text` with what is in a place led to from its parts too, where places are parts of places of one kind.

    `things`: the kinds of each place, by its pseudonym.
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
