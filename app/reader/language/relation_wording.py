"""Finds the words by which a question may name a schema's relations, and the words that match no relation."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from app.language.readings import UnansweredQuestion
from app.llm.tasks import MaskedRelation
from app.reader.language.answer_form import plainer, read_form, read_quantifier
from app.reader.language.question_words import GRAMMAR, words_in
from kg_store.terms import Hop, Schema, cached_by_version, is_mask_word
from kg_store.text.english import kind_words, synonyms_backwards, synonyms_of
from kg_store.text.inflection import is_done, is_participle, is_third_person, singular, verbs_of
from kg_store.text.labels import HINT, description_in, readable_step, typed_step, with_words, worded, words_of_kinds
from kg_store.text.words import is_pseudonym

Wordings = Mapping[str, tuple[str, ...]]
"""Further words of relations by label; those behind `^` and a label are for the relation walked backwards."""

_NO_WORDINGS: Final[Wordings] = {}
_NO_OWN: Final[Mapping[str, str]] = {}
_WORD = re.compile(r"[0-9A-Za-z]+")


def is_described(step: str) -> bool:
    """Returns True if a relation of the step is masked and its owner's description follows the mask."""
    return any(description_in(hop) is not None for hop in step.split("|"))


def with_descriptions(
    steps: Iterable[str],
    masked: Iterable[MaskedRelation],
    wordings: Wordings = _NO_WORDINGS,
    own_words: Mapping[str, str] = _NO_OWN,
) -> tuple[str, ...]:
    """Returns the labels in the form in which they are compared with a question.

    The owner's description is put after the opaque word of a masked relation (`Rk3m2a`). If the relation has
    `own_words`, they replace the opaque word. `wordings` are further words for relations; they follow in brackets, as
    `kg_store.text.labels.worded` writes them.
    """
    means = {each.relation: f"{each.relation} {each.means}".rstrip() for each in masked} | dict(own_words)
    return tuple(_described(step, means, wordings) for step in steps) if means or wordings else tuple(steps)


def unmask_words(question: str, steps: Sequence[str]) -> tuple[str, list[str]]:
    """Returns the question and the steps with opaque words made lower case, so that they are compared as plain words.

    An opaque word (`Rk3m2a`) stands for a masked relation. A question holds one if its user named the relation.
    """
    masks = {word for word in _WORD.findall(question) if is_mask_word(word)}
    if not masks:
        return question, list(steps)
    spoken = _WORD.sub(lambda found: found[0].lower() if found[0] in masks else found[0], question)
    return spoken, ["|".join(_spoken(hop, masks) for hop in step.split("|")) for step in steps]


def _described(step: str, means: Mapping[str, str], wordings: Wordings) -> str:
    told = ((hop, hop[: hop.startswith("^")] + means.get(bare := hop.lstrip("^"), bare)) for hop in step.split("|"))
    return "|".join(with_words(shown, wordings.get(hop, ())) for hop, shown in told)


def _further_words(hop: str) -> tuple[str, ...]:
    """Returns the further words for a relation that stand in brackets behind its label, without those marked as hints.

    `kg_store.text.labels.worded` writes such labels.
    """
    return tuple(word for word in _words_behind(hop) if not word.startswith(HINT))


def _words_behind(hop: str) -> tuple[str, ...]:
    return tuple(filter(None, hop.partition(" (")[2].rstrip(")").split(", ")))


def _spoken(hop: str, masks: set[str]) -> str:
    """Returns `^Rk3m2a rk3m2a` for the hop `^Rk3m2a` if its opaque word is one of `masks`; other hops unchanged.

    `masks`: the opaque words in the question. The copy in lower case is compared with the question; the first one
    keeps the direction.
    """
    word = hop.split(" ", 1)[0]
    return f"{word} {word.lstrip('^').lower()}" if word.lstrip("^") in masks else hop


Voice = Literal["noun", "passive", "active"]
"""The grammar of a relation's words: a noun (`spouse`), passive (`directed by`) or active (`lives in`)."""

_PLACED = frozenset("in at on to from for with".split())
# The verbs of agent nouns that are not formed from a verb ("doctor"), or that have several ("actor").
_AGENTS = {
    "actor": frozenset({"act", "appear", "perform", "play", "star"}),
    "author": frozenset({"write"}),
    "cast": frozenset({"act", "appear", "perform", "play", "star"}),
    "doctor": frozenset({"treat"}),
    "physician": frozenset({"treat"}),
    "artist": frozenset({"perform", "record"}),
    "student": frozenset({"study", "attend"}),
    "resident": frozenset({"live"}),
    "inhabitant": frozenset({"live"}),
    "employee": frozenset({"work"}),
}
VALUES = frozenset({"number", "date", "year", "age"})
"""Concepts of values that can be measured."""
_PARTICLES = frozenset("after under out off up down over away back along around together aboard".split())
_OR = re.compile(r" *, *| +(?:or|and) +")
_EVERYTHING = frozenset({"thing", "", "number", "text", "yes or no"})


@dataclass(frozen=True, slots=True)
class HopWords:
    """The words that may express one step: its `relation`, the thing `reached`, and the `kinds` of that thing.

    `inverse`: the relation is walked backwards. `verbs`: base forms of the action, or of what its agent does: direct
    for `directed by`, star and act for `starred actors`. `further`: words that the owner or the sources give beside
    the label. `everyday`: words that people use for many relations like it. `hints`: single words that are weaker
    evidence.
    """

    relation: tuple[str, ...]
    reached: tuple[str, ...]
    kinds: tuple[str, ...]
    inverse: bool
    voice: Voice
    verbs: frozenset[str]
    further: tuple[str, ...] = ()
    everyday: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()


@lru_cache(maxsize=65_536)
def hop_words(label: str, concept: str) -> HopWords:
    """Returns the wordings of the step `label`, which leads to things of `concept`."""
    kinds = kinds_in(concept)
    said = _everyday_words(label)
    label = _by_its_noun(label)
    relation = _relation_words(label, said)
    last = readable_step(label.split("|")[-1])
    return HopWords(
        relation=tuple(relation),
        reached=tuple(f"{kind} {relation[0]}" for kind in kinds if relation),
        kinds=kinds,
        inverse=label.split("|")[-1].startswith("^"),
        voice=voice_of(last),
        verbs=verbs_named(last),
        further=_further_words(label.split("|")[-1]),
        everyday=said,
        hints=tuple(word.removeprefix(HINT) for word in _words_behind(label.split("|")[-1]) if word.startswith(HINT)),
    )


@lru_cache(maxsize=65_536)
def particle_verbs(label: str) -> frozenset[tuple[str, str]]:
    """Returns the phrasal verbs that express the step `label`, as pairs: ("look", "after"), ("put", "out")."""
    texts = (text.lower().split() for text in hop_words(label, "").relation)
    return frozenset((words[0], words[1]) for words in texts if len(words) == 2 and words[1] in _PARTICLES)


def kinds_in(concept: str) -> tuple[str, ...]:
    """Returns the concepts that `concept` lists, separated by commas, without general ones such as "thing"."""
    return tuple(kind for part in concept.split(",") if (kind := part.strip()) not in _EVERYTHING)


def voice_of(relation: str) -> Voice:
    """Returns the voice of a label: passive for `directed by`, active for `lives in`, noun for `spouse`."""
    words = relation.lower().split()
    if not words or words[0] in ("has", "have", "is"):
        return "noun"
    if words[-1] == "by" and is_participle(words[0]):
        return "passive"
    if len(words) > 1 and words[1] in _PLACED and (is_participle(words[0]) or is_third_person(words[0])):
        return "active"
    return "active" if is_done(words[0]) else "noun"


def verbs_named(relation: str) -> frozenset[str]:
    """Returns the base forms of the verbs in a label: of a participle, a third-person verb or an agent noun.

    `directed by` -> direct; `place of birth` -> none, because "place" is a noun there.
    """
    words = relation.lower().split()
    first = words[:1] if words and (is_participle(words[0]) or voice_of(relation) != "noun") else []
    known = frozenset(verb for word in (*first, *_agents(words)) for verb in verbs_of(word))
    return known.union(*(_AGENTS.get(singular(word), frozenset()) for word in words[-1:]))


def verbs_said(texts: Iterable[str]) -> frozenset[str]:
    """Returns the base forms of verbs that stand alone or before a preposition in `texts`: `pays in` -> pay."""
    words = (text.lower().split() for text in texts)
    done = (each[0] for each in words if len(each) == 1 or each[1] in _PLACED)
    return frozenset[str]().union(*map(verbs_of, done))


def _agents(words: list[str]) -> list[str]:
    return [word for word in words[-1:] if word.rstrip("s").endswith(("or", "er")) or singular(word) in _AGENTS]


def _by_its_noun(label: str) -> str:
    """Returns the label of a role, `mentor of`, as the noun in the other direction, `^mentor`; any other unchanged.

    X is the mentor of Y: it is Y that has a mentor.
    """
    *before, last = label.split("|")
    hop, _, rest = last.partition(" (")
    noun = hop.removeprefix("^").removesuffix(" of")
    if not hop.endswith(" of") or voice_of(hop.removeprefix("^")) != "noun" or is_participle(noun.split(" ")[0]):
        return label
    turned = noun if hop.startswith("^") else f"^{noun}"
    return "|".join([*before, turned + (f" ({rest}" if rest else "")])


def _relation_words(label: str, said: Sequence[str]) -> list[str]:
    """Returns the texts that may express a relation: its label, its further words and its everyday words.

    In a path through a record (a node that only joins others), the last hop alone comes first: `has admission|admitted
    to` -> "admitted to".
    """
    whole = " ".join(dict.fromkeys(readable_step(label).split()))
    last = readable_step(label.split("|")[-1])
    bare = [words.removeprefix("has ") for words in (last, whole)]
    # An owner may describe a masked relation by several words: "husband or wife".
    ways = _OR.split(description_in(label.split("|")[-1]) or "")
    further = _further_words(label.split("|")[-1])
    return [words for words in dict.fromkeys([*bare, last, whole, typed_step(label), *further, *said, *ways]) if words]


def _everyday_words(label: str) -> tuple[str, ...]:
    last = readable_step(label.split("|")[-1])
    return synonyms_backwards(last) if label.split("|")[-1].startswith("^") else synonyms_of(last)


EMPTY: Final = frozenset(
    "please exactly currently current now ever person people one ones thing things somebody someone anyone anybody "
    "everyone everybody got get gets getting belong belongs called named kind kinds type types sort there here both "
    "same together share shared shares sharing common actually really just still yet different certain "
    "respective following given altogether total know known find see tell looking want like new own use used "
    "made make makes making go goes involve involved involving include including includes included found "
    "happen happened took taken many pls all listed each recently recent came come comes "
    "something anything everything stuff doing done".split()
)
"""Words that say so little by themselves that a reading need not explain them."""
# Least number of equal first letters of two words that are treated as related. Chosen by hand; not fitted.
MIN_KIN_LETTERS: Final = 5
MIN_VERB_LETTERS: Final = 3
_NOUN_ENDINGS: Final = ("", "e", "al", "ing", "ment", "ation", "ition", "ion", "ance", "ence", "ery", "age", "ure")
"""Endings that make the noun of what is done from a verb without its last e."""


@dataclass(frozen=True, slots=True)
class SchemaVocabulary:
    """The words of a schema: `words` holds nouns in the singular, `verbs` holds base forms of verbs."""

    words: frozenset[str]
    verbs: frozenset[str]

    def lacks(self, text: str) -> list[str]:
        """Returns the content words of `text` that no relation or concept of the schema uses, each once, in order."""
        return [word for word in dict.fromkeys(filter(is_telling, words_in(plainer(text)))) if not self._has(word)]

    def _has(self, word: str) -> bool:
        return (
            not kind_words(singular(word)).isdisjoint(self.words)
            or is_kin(word, self.words)
            or not nouns_made_of(word).isdisjoint(self.words)
            or not self.verbs.isdisjoint(verbs_of(word))
        )


@cached_by_version
def vocabulary_of(schema: Schema, concepts: tuple[str, ...]) -> SchemaVocabulary:
    """Returns the vocabulary of the relations of `schema`, in both directions, and of `concepts`."""
    steps = [
        worded(schema, (Hop(relation.id, inverse),)) for relation in schema.relations for inverse in (False, True)
    ]
    hops = [hop_words(step, "") for step in steps]
    further = words_of_kinds(schema)
    texts = _all((*hop.relation, *hop.hints) for hop in hops) | _all(map(kinds_in, concepts))
    texts |= _all(further.get(concept, ()) for concept in concepts)
    words = {singular(word) for text in texts for word in text.lower().split()}
    return SchemaVocabulary(frozenset(words), frozenset(_all(hop.verbs | verbs_said(hop.further) for hop in hops)))


def _all(groups: Iterable[Iterable[str]]) -> set[str]:
    return set[str]().union(*groups)


def is_kin(word: str, said: Collection[str]) -> bool:
    """Returns True if `word` shares a long beginning with a word of `said`, as `licence` does with `licensed`."""
    least = max(MIN_KIN_LETTERS, len(word) - 3)
    beginning = word[:least]
    if len(word) >= least:
        for other in said:  # A plain loop, because this runs for each word and each step.
            if other.startswith(beginning):
                return True
    return False


@lru_cache(maxsize=16_384)
def nouns_made_of(verb: str) -> frozenset[str]:
    """Returns the nouns that a form of a verb may give by an ending, whether they exist or not: rented -> rental."""
    stems = (base.removesuffix("e") for base in verbs_of(verb) if len(base) >= MIN_VERB_LETTERS)
    return frozenset(stem + ending for stem in stems for ending in _NOUN_ENDINGS)


def is_telling(word: str) -> bool:
    """Returns True for a word with a meaning of its own, which something in the graph must match.

    False for grammar ("the"), filler ("please"), pseudonyms and single letters.
    """
    return word not in GRAMMAR and word not in EMPTY and not is_pseudonym(word) and word != "'s" and len(word) > 1


def read_unanswered(question: str, schema: Schema, kinds: tuple[str, ...]) -> UnansweredQuestion:
    """Returns the words that may explain why `question` has no answer.

    `kinds`: the concepts of `schema`; if it is empty, no word is reported as lacking.
    """
    turned = read_quantifier(question)
    rest = read_form(turned.rest, topics=0).rest
    lacking = vocabulary_of(schema, kinds).lacks(rest) if kinds else []
    telling = tuple(word for word in words_in(turned.rest) if is_telling(word))
    return UnansweredQuestion(tuple(lacking), telling, turned.unread, turned.word)
