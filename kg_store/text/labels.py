"""Readable words for predicates and classes: labels, inverse labels, local names, and further words to ask by."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

from kg_store.terms import Hop, Schema, Step, cached_by_version, is_mask_word
from kg_store.text.abbreviations import ABBREVIATIONS
from kg_store.text.symbols import SYMBOLS

MAX_LABEL_WORDS = 4
MAX_WORDS_OF_GIVEN = 8
"""The most words of a label that the sources give: "years of pause in the same bed". Chosen by hand."""
_MAX_LABEL_CHARS = 80
# Plurals of abbreviations, such as `ISSNs` and `OrderIDs`, stay one word.
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])(?![A-Z]s(?![a-z]))")
# Matches path segments without meaning for people: versions, dates, plain numbers.
_DULL_SEGMENT = re.compile(r"[\d.]*|v\d.*|ns|terms?|vocab|vocabulary|ontology|www\..*", re.IGNORECASE)
PREPOSITIONS = frozenset({"in", "at", "on", "to", "from", "for", "with", "of", "by", "into", "about"})
# A closed list of third-person verbs, so that plural nouns ("children") are not taken for verbs.
_PARTICIPLES = {
    "acts": "acted", "belongs": "belonged", "buys": "bought", "causes": "caused", "contains": "contained",
    "covers": "covered", "creates": "created", "diagnoses": "diagnosed", "directs": "directed",
    "employs": "employed", "follows": "followed", "gives": "given", "governs": "governed", "hires": "hired",
    "includes": "included", "knows": "known", "leads": "led", "likes": "liked", "lives": "lived",
    "loves": "loved", "makes": "made", "manages": "managed", "offers": "offered", "orders": "ordered",
    "owns": "owned", "performs": "performed", "plays": "played", "prescribes": "prescribed",
    "produces": "produced", "provides": "provided", "publishes": "published", "reads": "read",
    "requires": "required", "sees": "seen", "sells": "sold", "sends": "sent", "specializes": "specialized",
    "speaks": "spoken", "studies": "studied", "supervises": "supervised", "supports": "supported",
    "takes": "taken", "teaches": "taught", "treats": "treated", "uses": "used", "visits": "visited",
    "works": "worked", "writes": "written",
}  # fmt: skip

_EXACT = {
    "belongs to": "has", "born in": "birthplace of", "died in": "place of death of", "lives at": "home of",
    "lives in": "home of", "located in": "location of", "works at": "employs", "works for": "employs",
    "works in": "workplace of",
}  # fmt: skip
_STORED = ("direct ", "statement ", "prop ", "qualifier ")
# Units and types that follow what is measured: "salary eur", "unit price number".
_UNITS = frozenset(
    "eur euro usd gbp chf jpy kg g mg lb lbs km m cm mm mi ft l ml kwh h hours minutes min s pct percent sqm sqft "
    "sqkm m2 km2 m3 ft2".split()
)
_SYMMETRIC = frozenset({"married", "related", "connected", "linked", "adjacent", "similar", "same"})
_VERBS = {participle: verb for verb, participle in _PARTICIPLES.items()}


def local_name(iri: str) -> str:
    """Returns the last part of an IRI, percent-decoded: after `#`, the last `/`, or the last `:`."""
    _, slash, plain = iri.rpartition("/")
    scheme, _, rest = iri.partition(":")
    if scheme in ("mailto", "tel"):
        return unquote(rest)
    if slash and plain.isalnum():
        return plain  # Most names: no sign in them that would have to be looked at.
    whole = iri.rstrip("/#")
    tail = whole[max(whole.rfind("/"), whole.rfind("#")) + 1 :]
    last = tail.rsplit(":", 1)[-1] if scheme in ("urn", "tag") or "/" not in iri else tail
    return unquote(last) if "%" in last else last


def readable(text: str) -> str:
    """Returns text with spaces for underscores and before inner capitals; case is kept: `John_Gage` -> `John Gage`."""
    return " ".join(readable_lines(text).split())


def readable_lines(text: str) -> str:
    """Returns text with spaces before inner capitals, line by line as `readable` has them in a single text."""
    return _CAMEL.sub(" ", text.replace("_", " "))


def readable_relation(predicate: str, is_iri: bool) -> str:
    """Returns the words of a relation without a label: `takesCareOf` -> `takes care of`.

    Dots stay in predicates that are not IRIs (`film.film.genre`).
    """
    text = readable(local_name(predicate)).lower() if is_iri else " ".join(predicate.replace("_", " ").split())
    return clean(text) or "related to"


def clean(label: str) -> str:
    """Returns `label` without characters that labels must not contain, cut to 80 characters."""
    return " ".join(SYMBOLS.sub(" ", FORBIDDEN_IN_LABELS.sub(" ", label)).split())[:_MAX_LABEL_CHARS].strip()


def is_short_label(label: str, max_words: int = MAX_LABEL_WORDS) -> bool:
    """Returns True if a label is a relation's name rather than a sentence about it."""
    short = 0 < len(label.split()) <= max_words and len(label) <= _MAX_LABEL_CHARS
    return short and label[-1] not in ".!?"


def inverse_of(label: str) -> str:
    """Returns words for the relation walked backwards: `directed by` -> `directed`, `spouse` -> `spouse of`."""
    prefix, dot, stem = label.rpartition(".")
    words = stem.split()
    return prefix + dot + _inverse(words) if words else f"{label} inverse"


def _inverse(words: list[str]) -> str:
    text, first, last = " ".join(words), words[0], words[-1]
    if text in _EXACT or first in _SYMMETRIC:
        return _EXACT.get(text, text)
    if first in ("has", "have") and len(words) > 1:
        return f"{' '.join(words[1:])} of"
    if first in _PARTICIPLES and (len(words) == 1 or last in PREPOSITIONS):
        return f"{' '.join([_PARTICIPLES[first], *words[1:]])} by"
    if len(words) == 1 or last not in PREPOSITIONS:
        return f"{text} of"
    if last == "by":
        return _VERBS[first] if first in _VERBS and len(words) == 2 else " ".join(words[:-1])
    return f"has {' '.join(words[:-1])}" + (" here" if last in ("in", "at") else "")


def distinct_labels(labels: Sequence[str], predicates: Sequence[str]) -> list[str]:
    """Returns `labels`, with equal ones made different.

    A word of the predicate's namespace is put in front; labels that are still equal get a number behind. Plain text
    predicates that differ only in underscores keep their own spelling.
    """
    result = list(labels)
    for clash in _clashes(result):
        for position in clash:
            result[position] = _longer(labels[position], predicates[position])
    for clash in _clashes(result):
        for count, position in enumerate(clash[1:], start=2):
            result[position] = f"{result[position]} {count}"
    # A label with its number may equal another label; in that rare case the predicate's position is added.
    for clash in _clashes(result):
        for position in clash[1:]:
            result[position] = f"{result[position]} n{position}"
    return result


def _clashes(labels: Sequence[str]) -> list[list[int]]:
    positions: dict[str, list[int]] = defaultdict(list)
    for position, label in enumerate(labels):
        positions[label.casefold()].append(position)
    return [found for found in positions.values() if len(found) > 1]


def _longer(label: str, predicate: str) -> str:
    if "/" not in predicate and "#" not in predicate:
        return clean(predicate) or label
    segments = [part for part in re.split(r"[/#]", predicate.partition("://")[2])[:-1] if part]
    telling = [part for part in segments if not _DULL_SEGMENT.fullmatch(part)]
    return f"{readable(clean(unquote(telling[-1]))).lower()} {label}" if telling else label


def class_word(iri: str, labels: Mapping[str, str], is_iri: bool = True) -> str:
    """Returns a class in words: its short label if the file has one, else its readable local name."""
    label = clean(labels.get(iri, ""))
    if is_short_label(label):
        return label.lower() if label in (label.title(), label.capitalize()) else label
    word = readable(local_name(iri)).lower() if is_iri else " ".join(iri.replace("_", " ").split())
    return clean(word) or "thing"


FORBIDDEN_IN_LABELS = re.compile(r'["()|^\x00-\x1f]')


def clean_label(label: str) -> str:
    """Returns `label` without surrounding spaces. Raises ValueError if it is empty or holds a forbidden character."""
    if not label.strip() or FORBIDDEN_IN_LABELS.search(label) or SYMBOLS.search(label):
        raise ValueError('a label or description is not empty and holds none of " ( ) | ^ ° and no control character')
    return label.strip()


@lru_cache(maxsize=16_384)
def plain_words(label: str) -> str:
    """Returns `label` without words about storage ("direct") in front and without a unit at its end."""
    return "|".join(_bare(part) for part in label.split("|"))


@lru_cache(maxsize=4_096)
def reversed_label(label: str) -> str:
    """Returns the label of the same step walked the other way: `^directed by` for `directed by`."""
    parts = label.split("|")[::-1]
    return "|".join(part[1:] if part.startswith("^") else f"^{part}" for part in parts)


def without_storage(words: str) -> str:
    """Returns a relation's words without a leading word about storage: "direct director" -> "director"."""
    prefix = next((each for each in _STORED if words.startswith(each) and len(words) > len(each)), "")
    return words.removeprefix(prefix)


def _bare(part: str) -> str:
    mark, words = ("^", part[1:]) if part.startswith("^") else ("", part)
    parts = without_storage(words.replace("_", " ")).split(" ")
    whole = len(parts)
    while len(parts) > 1 and (parts[-1].lower() in _UNITS or (parts[-1] in ("per", "in") and len(parts) < whole)):
        parts.pop()  # "Rent cap in eur per sqm" becomes "rent cap".
    return mark + " ".join(parts)


def readable_step(label: str) -> str:
    """Returns the words of a step's label without types and marks: `people.person.spouse` -> `spouse`.

    For a masked relation it returns the owner's description; empty if there is none.
    """
    return " ".join(filter(None, (_typed(part, types=0) for part in label.split("|"))))


def typed_step(label: str) -> str:
    """Returns the words of a step's label with their last type: `people.person.spouse` -> `person spouse`."""
    words = [word for part in label.split("|") for word in _typed(part, types=1).split()]
    return " ".join(dict.fromkeys(words))


def description_in(hop: str) -> str | None:
    """Returns the description after a hop's opaque word (`^Rk3m2a who fell ill`); None if it is not masked."""
    word, _, description = hop.lstrip("^").partition(" ")
    return description if is_mask_word(word) else None


def _typed(hop: str, types: int) -> str:
    """Returns the words of one hop, with its last `types` types in front; for a masked relation its description.

    With one type, `people.person.spouse` gives `person spouse`.
    """
    said, hop = description_in(hop), hop.partition(" (")[0]
    return " ".join(hop.lstrip("^").split(".")[-1 - types :]) if said is None else said


HINT: Final = "~"  # The mark before a word that is weaker evidence than others.


@cached_by_version
def words_of_kinds(schema: Schema) -> Mapping[str, tuple[str, ...]]:
    """Returns the further words of the concepts and classes that `schema` has.

    `schema.kind_words` may also hold words for concepts of another role or version; these are left out.
    """
    known = {*map(str, schema.concepts), *(word for signature in schema.signatures for word in signature.classes)}
    return {kind: words for kind, words in schema.kind_words.items() if kind in known}


def unknown_kinds(schema: Schema) -> int:
    """Returns the number of names in `schema.kind_words` that are no concept or class of `schema`."""
    return len(schema.kind_words) - len(words_of_kinds(schema))


_OF_MEASURES: Final = {"max": "maximum", "min": "minimum"}  # In a name they may be Max and Min.


@cached_by_version
def words_of_steps(schema: Schema) -> Mapping[str, tuple[str, ...]]:
    """Returns the further words of each relation: by its label, and for its inverse by `^` and the label.

    Hints (single words of the relation's comments) have HINT in front. A masked relation has no words here, except in
    the schema for the question reader: there it has its description.
    """
    found = {}
    for relation in schema.relations:
        inverse = (relation.inverse_label,) if relation.inverse_label != clean(inverse_of(relation.label)) else ()
        described = (relation.description,) if relation.own and relation.description else ()
        shown = relation.own or relation.label
        full = written_out(shown)
        in_full = (full,) if full != shown else ()
        further = (*relation.words, *in_full, *described, *(HINT + word for word in relation.hints))
        found[relation.label] = further
        found[f"^{relation.label}"] = tuple(dict.fromkeys((*inverse, *further)))
    masked = {relation.label for relation in schema.relations if relation.mask is not None and not relation.own}
    return {label: words for label, words in found.items() if words and label.lstrip("^") not in masked}


def written_out(label: str) -> str:
    """Returns a relation's label with short forms as full words: "max daily qty" is the maximum daily quantity."""
    words = label.split(" ")
    return " ".join(ABBREVIATIONS.get(word) or _OF_MEASURES.get(word, word) for word in words)


def worded(schema: Schema, step: Step) -> str:
    """Returns `Schema.described` with further words in brackets after each label: `salary (earn, paid)`.

    It is used to compare a step with a question inside the service; no prompt shows it.
    """
    words = _worded_hops(schema)
    return "|".join(words[hop] for hop in step)


@cached_by_version
def _worded_hops(schema: Schema) -> Mapping[Hop, str]:
    words = words_of_steps(schema)
    hops = [Hop(relation.id, inverse) for relation in schema.relations for inverse in (False, True)]
    return {hop: with_words(schema.described((hop,)), words.get(schema.label(hop), ())) for hop in hops}


def with_words(label: str, words: Sequence[str]) -> str:
    """Returns `label` with `words` after it in brackets."""
    return f"{label} ({', '.join(words)})" if words else label
