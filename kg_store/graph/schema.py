"""The words of a schema: concepts, saving and reading, and the opaque words of masked relations."""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from kg_store.errors import LoadError
from kg_store.lexicon.lexicon import in_lexicon
from kg_store.terms import (
    Concept,
    Hop,
    Mid,
    NodeKind,
    Relation,
    RelationId,
    Schema,
    Signature,
    SignatureId,
    ValueKind,
    ValueView,
    cached_by_version,
    is_mask_word,
    keyed_word,
)
from kg_store.text.english import PublicWords, frequent_words, is_ordinary
from kg_store.text.inflection import singular
from kg_store.text.labels import clean, readable_relation, words_of_kinds
from kg_store.text.normalise import normalise


def with_concepts(schema: Schema, concepts: Sequence[str]) -> Schema:
    """Returns `schema` with one concept for each signature (the kind, classes and hops that nodes share).

    Raises LoadError if the numbers differ.
    """
    if len(concepts) != len(schema.signatures):
        raise LoadError(f"{len(schema.signatures)} signatures got {len(concepts)} concepts")
    return replace(schema, concepts=tuple(Concept(clean(concept) or "thing") for concept in concepts))


def placeholder(signature: Signature) -> Concept:
    """Returns a concept for a signature until it is named: its most specific class, else `value` or `thing`."""
    if signature.classes:
        return Concept(signature.classes[0])
    return Concept("value" if signature.kind is NodeKind.VALUE else "thing")


def phrases_of(schema: Schema) -> Iterable[str]:
    """Yields all words of the schema. Prompts show them, so a name that equals one of them counts as public."""
    for relation in schema.relations:
        yield from (relation.label, relation.inverse_label, relation.description, *relation.words)
    yield from set(schema.concepts)
    yield from {word for signature in schema.signatures for word in signature.classes}
    for words in words_of_kinds(schema).values():
        yield from words


def schema_bytes(schema: Schema) -> bytes:
    """Returns the schema as compressed JSON; a hop is written as `2 * relation + inverse`."""
    relations = [
        [each.iri, each.label, each.inverse_label, each.value_kind, each.value_view]
        + ([] if each.mask is None else [each.mask, each.description])
        for each in schema.relations
    ]
    signatures = [
        [each.kind, each.classes, [hop.relation * 2 + hop.inverse for hop in each.hops], each.size]
        for each in schema.signatures
    ]
    words = {str(each.id): each.words for each in schema.relations if each.words}
    hints = {str(each.id): each.hints for each in schema.relations if each.hints}
    masked = {str(each.id): each.masked for each in schema.signatures if each.masked}
    content = {
        "relations": relations, "signatures": signatures, "concepts": schema.concepts,
        "words": words, "hints": hints, "kind_words": dict(schema.kind_words),
        "masked_classes": masked,
    }  # fmt: skip
    return zlib.compress(json.dumps(content, separators=(",", ":")).encode(), level=1)


def read_schema(data: bytes) -> Schema:
    """Returns the schema that `schema_bytes` wrote; fields that older data lack are empty."""
    content = json.loads(zlib.decompress(data))
    masked = content.get("masked_classes", {})
    words, hints = content.get("words", {}), content.get("hints", {})
    hops = [Hop(RelationId(code >> 1), bool(code & 1)) for code in range(2 * len(content["relations"]))]
    relations, signatures = list[Relation](), list[Signature]()
    for at, (iri, label, inverse_label, kind, view, *mask) in enumerate(content["relations"]):
        value_kind = ValueKind(kind) if kind else None
        found = Relation(RelationId(at), iri, label, inverse_label, value_kind, ValueView(view), *mask)
        relations.append(replace(found, words=tuple(words.get(str(at), ())), hints=tuple(hints.get(str(at), ()))))
    for at, (kind, classes, codes, size) in enumerate(content["signatures"]):
        met, unsaid = tuple(hops[code] for code in codes), tuple(map(Mid, masked.get(str(at), ())))
        signatures.append(Signature(SignatureId(at), NodeKind(kind), tuple(classes), met, size, unsaid))
    return Schema(
        tuple(relations),
        tuple(signatures),
        tuple(Concept(concept) for concept in content["concepts"]),
        {kind: tuple(further) for kind, further in content.get("kind_words", {}).items()},
    )


MIN_OWN_WORD: Final = 4
"""The fewest letters of a word that may stand for a masked class: "articles" for `doaj article sample`."""
MASKED_KIND: Final = "masked "
"""Stands before the noun of a masked kind ("masked person"), so that no other word of an answer's text is like it."""
_EMPTY_WORDS = ("has ", "have ", "is ")
_WORD = re.compile(r"[^\W\d_]{3,}")


def mask_word(key: bytes, told: str, taken: Container[str] = ()) -> str:
    """Returns the opaque word for `told`, for example `Rk3ma2`; it is derived from `key` and not in `taken`.

    Nobody without the key can tell it from a random word.
    """
    # A last letter might make it look like an inflected word: "R18zer" like a noun in -er.
    return keyed_word("R", told, key, lambda word: is_mask_word(word) and word[-1].isdigit(), taken)


def own_words(predicate: str, is_iri: bool, labels: Iterable[str]) -> tuple[str, ...]:
    """Returns the real names of a masked or hidden relation or class, the best first.

    First come `labels` and the local name: as they are, without their type (`spouse` of `people.person.spouse`), and
    without `has` or `is`. Then come those of their single words that no dictionary has.
    """
    found: dict[str, None] = {}
    for label in (*labels, readable_relation(predicate, is_iri)):
        for form in (label, label.rpartition(".")[2].strip()):
            found[form] = None
            found |= dict.fromkeys(form.removeprefix(word) for word in _EMPTY_WORDS)
    rare = [word for text in found for word in _WORD.findall(normalise(text).text) if not is_ordinary(word)]
    return tuple(text for text in dict.fromkeys([*found, *rare]) if text)


@cached_by_version
def masks_of(schema: Schema) -> Mapping[int, str]:
    """Returns the opaque word of each masked relation, by the MID under which its real words are stored."""
    return {each.mask: each.label for each in schema.relations if each.mask is not None}


def read_in_house(schema: Schema, called: Mapping[int, str]) -> Schema:
    """Returns `schema` with the real names of masked relations and classes, for the question reader.

    The question reader sends nothing out. `called`: the real names, by the MIDs under which the vault stores them.
    Labels and concepts keep the opaque words, so expressions and answers do too. Returns `schema` itself if nothing is
    masked.
    """
    if not unsaid_of(schema):
        return schema
    relations = (
        replace(each, own=called.get(each.mask, "")) if each.mask is not None else each for each in schema.relations
    )
    words = {concept: (*schema.kind_words.get(concept, ()), *own) for concept, own in _own_kinds(schema, called)}
    return replace(schema, relations=tuple(relations), kind_words={**schema.kind_words, **words})


def unsaid_of(schema: Schema) -> list[int]:
    """Returns the MIDs under which the vault stores the words of masked relations and classes."""
    return [*masks_of(schema), *{mid for each in schema.signatures for mid in each.masked}]


@cached_by_version
def kinds_of_masked(schema: Schema) -> Mapping[int, str]:
    """Returns the concept of each masked class, by the class's MID, where the two mean the same entities.

    That is: all entities of the concept are of that class, and no other concept has entities of it.
    """
    of_concept: dict[str, frozenset[Mid]] = {}
    for signature in schema.signatures:
        concept = str(schema.concepts[signature.id])
        if signature.kind is NodeKind.ENTITY and not signature.classes:
            masked = frozenset(signature.masked)
            of_concept[concept] = of_concept.get(concept, masked) & masked
        else:
            of_concept[concept] = frozenset()
    met = Counter(mid for mids in of_concept.values() for mid in mids)
    return {mid: concept for concept, mids in of_concept.items() for mid in sorted(mids) if met[mid] == 1}


def _own_kinds(schema: Schema, called: Mapping[int, str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yields (concept, words of its masked classes) for each concept that means the same entities as such a class.

    A word that is the whole name of another class is left out: a tool loan is no tool.
    """
    found: dict[str, dict[str, None]] = {}
    whole = {*called.values(), *map(str, schema.concepts)}
    for mid, concept in kinds_of_masked(schema).items():
        if name := called.get(mid):
            words = (word for word in name.split() if len(word) >= MIN_OWN_WORD and in_lexicon(word))
            found.setdefault(concept, {}).update(dict.fromkeys((name, *(word for word in words if word not in whole))))
    yield from ((concept, tuple(words)) for concept, words in found.items())


_FREQUENT: Final = 200
"""Number of words of English that are too frequent to tell a relation ("from", "with", "time"). Chosen by hand."""
_SHOWN: Final = 0
"""Stands for all relations and concepts that are not masked, where the MID of a masked one would stand."""


@cached_by_version
def words_of_masked(schema: Schema) -> Mapping[str, int]:
    """Returns the MID of the masked relation or class that a single word of its real name tells, by that word.

    The words are in lower case and in the singular. Names of kinds go before parts of them, and these before words of
    relations. Left out are the most frequent words of English, and those that tell several of a sort. `schema` comes
    from `read_in_house`.
    """
    mids = {concept: mid for mid, concept in kinds_of_masked(schema).items()}
    kinds = [
        (name, mids.get(concept, _SHOWN))
        for concept in dict.fromkeys(map(str, schema.concepts))
        for name in (concept, *schema.kind_words.get(concept, ()))
    ]
    whole = [(name, mid) for name, mid in kinds if " " not in name]
    relations = [
        (each.own or each.label, each.mask if each.own and each.mask is not None else _SHOWN)
        for each in schema.relations
    ]
    found: dict[str, set[int]] = {}
    for names in (whole, kinds, relations):
        told: dict[str, set[int]] = {}
        for name, mid in names:
            for word in _WORD.findall(normalise(name).text):
                told.setdefault(singular(word), set()).add(mid)
        found = {**told, **found}
    frequent = frequent_words("en", _FREQUENT)
    return {
        word: min(told)
        for word, told in found.items()
        if len(told) == 1 and _SHOWN not in told and word not in frequent
    }


@cached_by_version
def own_words_of(schema: Schema) -> Mapping[str, str]:
    """Returns the real name of each masked relation by its opaque word.

    It is empty unless `schema` comes from `read_in_house`, which puts the real names in.
    """
    return {each.label: each.own for each in schema.relations if each.own}


def holds_any(text: str, unsaid: Iterable[Sequence[str]]) -> bool:
    """Returns True if `text` holds a phrase of `unsaid`, the real words of masked or hidden relations and classes."""
    return _holds(text, (f" {normalise(word).text} " for words in unsaid for word in words))


def refuse_telling(schema: Schema, unsaid: Sequence[Sequence[str]], public: PublicWords) -> None:
    """Raises LoadError if a description or a further word in the policy holds real words of a masked relation.

    Everybody can read a description, and further words may be sent out in questions. `unsaid` holds the real words of
    masked and hidden relations and classes.
    """
    patterns = [f" {text} " for words in unsaid for word in words if (text := normalise(word).text) not in public]
    telling = sum(_holds(each.description, patterns) for each in schema.relations)
    if telling:
        raise LoadError(
            f"the descriptions of {telling} masked relations hold words of a relation that is to stay unsaid"
        )
    worded = [*(each.words for each in schema.relations), *words_of_kinds(schema).values()]
    telling = sum(any(_holds(word, patterns) for word in words) for words in worded)
    if telling:
        raise LoadError(
            f"the policy gives {telling} relations or classes `words` that hold those of a relation or class which is "
            "masked or hidden: take them out, or show that one (show_relations, show_classes)"
        )


def notes_on(unsaid: Sequence[Sequence[str]], public: PublicWords) -> tuple[str, ...]:
    """Returns a note for the owner on masked or hidden words that are public anyway.

    Other relations, concepts or everyday English have these words too, so questions send them as they are. Empty if
    there are none.
    """
    count = sum(any(normalise(word).text in public for word in words) for words in unsaid)
    if not count:
        return ()
    return (
        f"{count} of the relations that are masked or hidden have words that stay public: other relations, concepts "
        "or everyday English hold them. Who asks by these words tells them to the model.",
    )


def _holds(text: str, patterns: Iterable[str]) -> bool:
    words = " ".join(re.findall(r"\w+", normalise(text).text))
    spelled = f" {words} "
    return any(pattern in spelled for pattern in patterns)
