"""Further words of a schema: other words by which its relations and kinds may be asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from kg_store.terms import Hop, Schema, Step, cached_by_version
from kg_store.text.labels import clean, inverse_of

HINT: Final = "~"
"""Stands before a word that is weaker evidence than others."""


@cached_by_version
def words_of_kinds(schema: Schema) -> Mapping[str, tuple[str, ...]]:
    """Returns the further words of each concept and class that `schema` has; those of hidden kinds are left out."""
    known = {*map(str, schema.concepts), *(word for signature in schema.signatures for word in signature.classes)}
    return {kind: words for kind, words in schema.kind_words.items() if kind in known}


def unknown_kinds(schema: Schema) -> int:
    """Returns the number of concepts and classes with further words that are not in `schema`."""
    return len(schema.kind_words) - len(words_of_kinds(schema))


@cached_by_version
def words_of_steps(schema: Schema) -> Mapping[str, tuple[str, ...]]:
    """Returns the further words of each relation by its label, and with `^` before the label those for walking it
    backwards.

    Hints have HINT in front. Of a masked relation they are its description, beside its own words, and else none.
    """
    found = {}
    for relation in schema.relations:
        inverse = (relation.inverse_label,) if relation.inverse_label != clean(inverse_of(relation.label)) else ()
        described = (relation.description,) if relation.own and relation.description else ()
        further = (*relation.words, *described, *(HINT + word for word in relation.hints))
        found[relation.label] = further
        found[f"^{relation.label}"] = tuple(dict.fromkeys((*inverse, *further)))
    masked = {relation.label for relation in schema.relations if relation.mask is not None and not relation.own}
    return {label: words for label, words in found.items() if words and label.lstrip("^") not in masked}


def worded(schema: Schema, step: Step) -> str:
    """Returns `Schema.described` with further words in brackets after each label: `salary (earn, paid)`.

    For comparison with a question inside the service; no prompt shows it.
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
