"""Lists the hops that leave each kind of a schema, and finds the kinds that words of a question name."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from app.language.readings import schema_steps
from app.llm.tasks import SchemaStep, Thing
from app.reader.language.question_words import names_people
from app.reader.language.relation_wording import Wordings
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.kinds import kinds_of
from kg_store.terms import PSEUDONYM
from kg_store.text.english import kind_words as synonyms_of_kind
from kg_store.text.inflection import is_participle, may_be_noun, noun_lemma, singular, verbs_of
from kg_store.text.labels import plain_words, readable_step, reversed_label, words_of_kinds

# Least likeness (cosine) of words to the name of the kind that they mean. Chosen by hand; not fitted.
_WHOLE = re.compile(r"S\w{5}|union\((?:S\w{5}, )+S\w{5}\)")
_NO_WORDINGS: Wordings = {}
# The verbs for the event that each kind of record stands for.
RECORDS = {
    "purchase": "buy bought purchased buys purchase", "order": "buy bought order ordered orders place placed buys",
    "prescription": "prescribe prescribed", "appointment": "visit visited see", "admission": "admitted admit",
    "rental": "rent rented", "loan": "borrow borrowed lend lent", "booking": "book booked", "sale": "sell sold",
    "enrolment": "enrol enrolled", "payment": "pay paid", "visit": "visit visited", "delivery": "deliver delivered",
}  # fmt: skip


def are_records(kinds: frozenset[str]) -> bool:
    """Returns True if all `kinds` are records of an event, so that counting them says how often it happened.

    Example: purchases.
    """
    return bool(kinds) and all(kind.lower() in RECORDS for kind in kinds)


_ENDING = frozenset(
    "end ended ends until expires expired expiry terminated termination left closed discharged discharge returned "
    "finished".split()
)
_TYPING = frozenset({"instance of", "subclass of"})


class SchemaHop(NamedTuple):
    """One hop from things of `kind` to things of the kinds `ends`, or to values of type `value`.

    `label`: its label in expressions; `shown`: its words, with the descriptions of masked relations. `is_one`: it
    leads from each thing to one other at most. `is_sort`: all things have it, so that having it says nothing.
    """

    kind: str
    label: str
    shown: str
    ends: frozenset[str]
    value: str
    is_one: bool = False
    is_sort: bool = False

    @property
    def text(self) -> str:
        """The hop in words, with the kinds at its ends: "treats | doctor to patient"."""
        ends = self.value or ", ".join(sorted(self.ends)) or "thing"
        is_back = self.label.split("|")[-1].startswith("^")
        words = " ".join(readable_step(part.lstrip("^")) for part in self.shown.split("|")).lower()
        return f"{'inverse ' if is_back else ''}{words} | {self.kind.lower()} to {ends.lower()}"

    @property
    def is_date(self) -> bool:
        """True for a hop that leads to dates, or to years that are stored as numbers ("year", "built in")."""
        words = self.shown.lower().split()
        is_year = "year" in words or (words[-1:] == ["in"] and is_participle(words[0]))
        return self.value == "date" or (self.value == "number" and is_year)

    @property
    def leads_back_to_several(self) -> bool:
        """True for a backward hop that ends in several kinds, as from an animal to its visits and vaccinations."""
        return self.label.startswith("^") and len(self.ends) > 1

    def leads_to_all_of(self, kinds: frozenset[str]) -> bool:
        """Returns True if the hop leads only to things of `kinds`, so that counting its ends counts these."""
        return bool(self.ends) and self.ends <= kinds


class NearHop(NamedTuple):
    """The likeness of a hop to a whole question, compared in context.

    `score`: 0 to 1. `behind`: how far it lies behind the best hop that leaves the same kind; `place`: its place among
    these, from 0. `by_word`: the likeness of each word of the question. `leads_on`: it leads to things from which one
    of the hops goes on that are the nearest of the whole schema.
    """

    score: float
    behind: float
    place: int
    by_word: tuple[float, ...]
    leads_on: bool


def happened_on(hop: SchemaHop, kinds: frozenset[str]) -> bool:
    """Returns True if `hop` is the date of the event that the kind stands for.

    Example: the date on which an order is ordered.
    """
    words = {*hop.shown.lower().split()}
    told = {word for kind in kinds for word in (*kind.lower().split(), *RECORDS.get(kind.lower(), "").split())}
    verbs = frozenset[str]().union(*map(verbs_of, words))
    return hop.value == "date" and not (words.isdisjoint(told) and verbs.isdisjoint(told))


class SchemaGraph:
    """All hops of a schema by the kinds that they leave.

    `kinds`: for each kind, the pseudonym of the set of all its things; `kind_words`: further words for a kind.
    `things`: what the question names, in order; `rows`: the kinds of nodes without a name.
    """

    def __init__(
        self,
        steps: Sequence[SchemaStep],
        kinds: Sequence[Thing],
        kind_words: Wordings = _NO_WORDINGS,
        things: Sequence[Thing] = (),
        rows: frozenset[str] = frozenset(),
    ) -> None:
        self.rows = rows
        self._places = {each.name: f"{place:04}" for place, each in enumerate((*things, *kinds))}
        self._orders: dict[str, str] = {}
        self._said_as = {
            kind.concept: frozenset(_in_singular(each) for each in (kind.concept, *kind_words.get(kind.concept, ())))
            for kind in kinds
        }
        self.kinds = {kind.concept: kind.name for kind in kinds}
        self._by_kind: defaultdict[str, list[SchemaHop]] = defaultdict(list)
        self._leaving: dict[frozenset[str], list[tuple[SchemaHop, frozenset[str]]]] = {}
        for hop in _each_once(steps):
            self._by_kind[hop.kind].append(hop)
        self.hops = tuple(hop for hops in self._by_kind.values() for hop in hops)
        for noun, kind in self._called_since().items():
            self._said_as[kind] = self._said_as.get(kind, frozenset()) | {noun}

    def leaving(self, kinds: frozenset[str]) -> Sequence[tuple[SchemaHop, frozenset[str]]]:
        """Returns one hop for each label that leaves things of `kinds`, with those of `kinds` that have the label."""
        known = self._leaving.get(kinds)
        if known is None:
            found: dict[str, list[SchemaHop]] = {}
            for kind in sorted(kinds):
                for hop in self._by_kind.get(kind, ()):
                    found.setdefault(hop.label, []).append(hop)
            known = self._leaving[kinds] = [(hops[0], frozenset(hop.kind for hop in hops)) for hops in found.values()]
        return known

    def _called_since(self) -> dict[str, str]:
        """Returns nouns in relations such as "client since", each with the only kind that has the relation.

        Such a noun is another word for the kind.
        """
        found = defaultdict[str, set[str]](set)
        for hop in self.hops:
            words = hop.shown.lower().split()
            if words[1:] == ["since"] and may_be_noun(words[0]) and not is_participle(words[0]):
                found[singular(words[0])].add(hop.kind)
        known = frozenset[str]().union(*self._said_as.values())
        nouns = {noun: kinds for noun, kinds in found.items() if synonyms_of_kind(noun).isdisjoint(known)}
        return {noun: next(iter(kinds)) for noun, kinds in nouns.items() if len(kinds) == 1 and kinds <= {*self.kinds}}

    def turned(self, hop: SchemaHop) -> SchemaHop | None:
        """Returns the hop in the opposite direction, or None if `hop` leads to values."""
        label = reversed_label(hop.label)
        ways = (each for kind in sorted(hop.ends) for each in self._by_kind.get(kind, ()) if each.label == label)
        return next(ways, None)

    def whole(self, kinds: frozenset[str]) -> str:
        """Returns an expression for everything of `kinds`; empty if one of them has no pseudonym."""
        names = [self.kinds.get(kind, "") for kind in sorted(kinds)]
        if not names or not all(names):
            return ""
        return names[0] if len(names) == 1 else f"union({', '.join(names)})"

    def shared(self, text: str, other: str, kinds: frozenset[str]) -> str:
        """Returns an expression for the members that the sets `text` and `other` have in common.

        It is just `other` if `text` is everything of some kinds and these include `kinds`, the kinds of `other`.
        """
        names = {name: kind for kind, name in self.kinds.items()}
        whole = {names.get(name) for name in re.findall(r"S\w{5}", text)} if _WHOLE.fullmatch(text) else {None}
        if None not in whole and kinds <= whole:
            return other
        return f"intersect({', '.join(sorted((text, other), key=self.order_of))})"

    def order_of(self, text: str) -> str:
        """Returns a sort key for `text` that does not depend on pseudonyms, which differ from question to question."""
        known = self._orders.get(text)
        if known is None:
            known = self._orders[text] = PSEUDONYM.sub(lambda found: self._places.get(found[0], found[0]), text)
        return known

    def is_person(self, kind: str, kind_type: str) -> bool:
        """Returns True if the kind's name is a word for people, or its things have relations that only people have."""
        own = [hop for hop in self._by_kind.get(kind, ()) if "|" not in hop.label]
        return names_people(kind, kind_type, {word for hop in own for word in hop.shown.lower().split()})

    def may_be_over(self, labels: Collection[str]) -> bool:
        """Returns True if facts of the relations `labels` may have ended, as a person may have left a flat.

        That is so if the things that they join have an end date, and none of `labels` leads to it.
        """
        met = {*labels, *(label.partition("|")[0] for label in labels)}
        kinds = {kind for hop in self.hops if hop.label in met for kind in (hop.kind, *hop.ends)}
        ending = {hop.label for hop in self.hops if hop.kind in kinds and hop.is_date and _says_end(hop.shown)}
        return bool(ending) and not any(_says_end(label) for label in labels)

    def kinds_said(self, words: Sequence[str]) -> frozenset[str]:
        """Returns the kinds that `words` name, in singular or plural.

        A kind is named by its name, a synonym of it, a short form ("prof"), or the last word of a name of several
        words.
        """
        said = " ".join(map(noun_lemma, words))
        names = synonyms_of_kind(said) | synonyms_of_kind(" ".join(map(singular, words)))
        exact = frozenset(kind for kind in self.kinds if not names.isdisjoint(self._said_as[kind]))
        begun = " ".join(map(singular, words))
        short = [kind for kind in self.kinds if len(begun) > 2 and _is_short(begun, kind.lower())]
        if len(short) > 1:
            short = [kind for kind in short if " " not in kind]
        if not exact and len(short) == 1:
            return frozenset(short)
        return exact or frozenset(
            kind for kind in self.kinds if " " in kind and singular(kind.lower().split()[-1]) in names
        )


def _says_end(label: str) -> bool:
    return not _ENDING.isdisjoint(re.split(r"[\s|^]+", label.lower()))


def _is_short(word: str, kind: str) -> bool:
    """Returns True if `word` shortens the kind's name ("prof" for professor).

    False if it is the verb of that name ("drive" for driver).
    """
    return kind.startswith(word) and word not in verbs_of(kind)


def _in_singular(words: str) -> str:
    said = words.lower().split()
    return " ".join(map(singular, said[1:] if said[:1] in (["a"], ["an"], ["the"]) and said[1:] else said))


def _each_once(steps: Sequence[SchemaStep]) -> Iterator[SchemaHop]:
    """Yields the hops without duplicates.

    If a fact is stored plainly and also through a record (`a|b`), the plain hop is kept.
    """
    hops = [
        SchemaHop(
            s.kind,
            s.label,
            plain_words(s.shown).replace("-", " "),
            frozenset(s.concept.split(", ")),
            s.value,
            s.is_one,
            s.is_sort,
        )
        for s in steps
    ]
    hops = [hop for hop in hops if not _TYPING & set(hop.shown.replace("^", "").split("|"))]
    labels = {(hop.kind, hop.shown) for hop in hops}
    hops = [
        hop._replace(shown=base) if (hop.kind, base := hop.shown.removesuffix(" number")) in labels else hop
        for hop in hops
    ]
    plain = {(hop.kind, hop.shown) for hop in hops if "direct " in hop.label and "|" not in hop.label}
    # Nobody asks about nodes that only hold the parts of one fact together, so paths only lead through them.
    nodes = {hop.kind for hop in hops if hop.label.startswith("statement ")} if plain else set()
    return (hop for hop in hops if hop.kind not in nodes and not _is_twice(hop, plain))


def _is_twice(hop: SchemaHop, plain: Collection[tuple[str, str]]) -> bool:
    """Returns True if `hop` passes through a record (`a|b`) and a hop in `plain` (kind and label) means the same."""
    parts = hop.shown.split("|")
    ends = {parts[0], parts[-1]} if len({part.lstrip("^") for part in parts}) == 1 else set()
    return "direct " not in hop.label and any((hop.kind, end) in plain for end in ends)


@dataclass(frozen=True, slots=True)
class NamedThings:
    """Everything that a question names, by pseudonym.

    `things`: kinds of things; `values`: types of values; `own`: labels of the hops that leave each. `persons`,
    `groups` (firms, teams), `places`: the kinds that are such; firms are places too. `spoken`: things of earlier
    turns, the latest first.
    """

    things: Mapping[str, frozenset[str]]
    values: Mapping[str, str]
    own: Mapping[str, tuple[str, ...]]
    persons: frozenset[str]
    groups: frozenset[str] = frozenset()
    places: frozenset[str] = frozenset()
    spoken: tuple[str, ...] = ()

    def has(self, name: str, label: str) -> bool:
        """Returns True if `name` has a hop with this label, or if nothing is known about its hops."""
        return name not in self.own or label in self.own[name]


def schema_graph(graph: BlindGraph) -> SchemaGraph:
    """Returns the schema graph of `graph`, with concepts in place of pseudonyms; computed once for each version."""
    known = graph.schema.derived.get(schema_graph)
    if not isinstance(known, SchemaGraph):
        kinds = [Thing(name=kind, concept=kind) for kind in kinds_of(graph.schema)]
        known = graph.schema.derived[schema_graph] = SchemaGraph(
            schema_steps(graph), kinds, words_of_kinds(graph.schema)
        )
    return known
