"""Masked and hidden relations: the opaque word that stands for one, and its own words, which nobody may send."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence

from kg_store.errors import LoadError
from kg_store.terms import Schema, cached_by_version, is_mask_word, keyed_word
from kg_store.text.english import PublicWords, is_ordinary
from kg_store.text.further_words import words_of_kinds
from kg_store.text.labels import readable_relation
from kg_store.text.normalise import normalise

_EMPTY_WORDS = ("has ", "have ", "is ")
_WORD = re.compile(r"[^\W\d_]{3,}")


def mask_word(key: bytes, told: str, taken: Container[str] = ()) -> str:
    """The opaque word of `told`, e.g. `Rk3ma2`; not in `taken`. Without `key` nobody can tell it from a random one."""
    return keyed_word("R", told, key, _is_no_form, taken)


def _is_no_form(word: str) -> bool:
    """True of an opaque word that no ending makes a form of another: "R18zer" would be one who does something."""
    return is_mask_word(word) and word[-1].isdigit()


def own_words(predicate: str, is_iri: bool, labels: Iterable[str]) -> tuple[str, ...]:
    """The names of a relation: `labels`, the best first, and its local name; each also without its type
    (`people.person.spouse`) and without `has`; and words of these that no dictionary has, alone."""
    found: dict[str, None] = {}
    for label in (*labels, readable_relation(predicate, is_iri)):
        for form in (label, label.rpartition(".")[2].strip()):
            found[form] = None
            found |= dict.fromkeys(form.removeprefix(word) for word in _EMPTY_WORDS)
    rare = [word for text in found for word in _WORD.findall(normalise(text).text) if not is_ordinary(word)]
    return tuple(text for text in dict.fromkeys([*found, *rare]) if text)


@cached_by_version
def masks_of(schema: Schema) -> Mapping[int, str]:
    """The opaque word of each masked relation, by the MID under which its own words are kept."""
    return {each.mask: each.label for each in schema.relations if each.mask is not None}


def holds_any(text: str, unsaid: Iterable[Sequence[str]]) -> bool:
    """True where `text` holds the own words of a relation or class that is masked or hidden."""
    return _holds(text, (f" {normalise(word).text} " for words in unsaid for word in words))


def refuse_telling(schema: Schema, unsaid: Sequence[Sequence[str]], public: PublicWords) -> None:
    """Raises LoadError where a description, or a further word that the policy gives, holds the own words of a masked
    or hidden relation: all would read the one, and the other may leave in questions."""
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
    """Notes for the owner: a word that is public for another reason can't be kept from a question."""
    count = sum(any(normalise(word).text in public for word in words) for words in unsaid)
    if not count:
        return ()
    return (
        f"{count} of the relations that are masked or hidden have words that stay public: other relations, concepts "
        "or everyday English hold them. Who asks by these words tells them to the model.",
    )


def _holds(text: str, patterns: Iterable[str]) -> bool:
    spelled = f" {_words_of(text)} "
    return any(pattern in spelled for pattern in patterns)


def _words_of(text: str) -> str:
    return " ".join(re.findall(r"\w+", normalise(text).text))
