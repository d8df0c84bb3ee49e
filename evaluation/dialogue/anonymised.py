"""The sets of LLM-KAT: plain, anonymised, and half-anonymised (half of the dialogues are anonymised).

Names are replaced by identifiers: a kind and a number as in LLM-KAT (Person1), or pseudonyms with a concept.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Final, Literal, NamedTuple, cast

from app.privacy.pseudonyms import is_shaped
from evaluation.dialogue.dialogue_sets import DialogueGraph, DialogueTurn, Triple, names_of
from kg_store.lexicon.lexicon import in_lexicon
from kg_store.terms import ALPHABET, TAIL_LENGTH

MAX_WORDS: Final = 15
"""The longest names that are looked for, in words."""
UNKNOWN_TYPE: Final = "Thing"
HALF_SEED: Final = 42
_TOKEN = re.compile(r"\w+|[^\w\s]")
# A match must not be part of a longer name: no letter before it, not even beyond a hyphen or an apostrophe
# ("Anne-Rose", "O'Rose"); none behind it, nor a hyphen and a capital ("Rose-Marie"; "Rose-coloured" does match).
_BEFORE: Final = r"(?<!\w)(?<!\w-)(?<!\w['’])"
_AFTER: Final = r"(?!\w)(?!-(?-i:[A-Z]))"


@dataclass(frozen=True, slots=True)
class DialogueVariant:
    """One of the sets, with the kind of identifiers that replace names in it."""

    name: Literal["plain", "half-anonymised", "anonymised"]
    identifiers: Literal["typed", "pseudonym"] | None = None

    @property
    def title(self) -> str:
        words = {None: "", "typed": ", Person1", "pseudonym": ", Eq7f2k (person)"}
        return self.name + words[self.identifiers]


PLAIN: Final = DialogueVariant("plain")
ANONYMISED: Final = DialogueVariant("anonymised", "pseudonym")
ALL_VARIANTS: Final = (
    PLAIN,
    DialogueVariant("half-anonymised", "typed"),
    DialogueVariant("anonymised", "typed"),
    DialogueVariant("half-anonymised", "pseudonym"),
    ANONYMISED,
)


@dataclass(frozen=True, slots=True)
class Anonymiser:
    """Replaces the names in dialogues by identifiers.

    Replaced are the names in a dialogue's facts, and those that `find` returns for a text, as written there. A name
    has one identifier throughout a dialogue and another in every other dialogue. `kinds` maps further names, in small
    letters, to the kinds that their graph tells.
    """

    find: Callable[[str], Iterable[str]] = lambda _text: ()
    kinds: Mapping[str, str] = field(default_factory=dict, repr=False)

    def variant(self, variant: DialogueVariant, turns: Sequence[DialogueTurn]) -> list[DialogueTurn]:
        """Returns the turns in order, with names replaced in no, all or half of the dialogues, as the variant says.

        The half is drawn by a fixed seed.
        """
        dialogues: dict[str, list[DialogueTurn]] = defaultdict(list)
        for turn in turns:
            dialogues[turn.dialogue].append(turn)
        chosen = [] if variant.name == "plain" else sorted(dialogues)
        if variant.name == "half-anonymised":
            chosen = random.Random(HALF_SEED).sample(chosen, len(chosen) // 2)  # noqa: S311  # a sample, no secret  # nosec B311
        types = types_of(triple for turn in turns for triple in turn.knowledge)
        is_typed = variant.identifiers == "typed"
        changed = {turn.id: turn for name in chosen for turn in self._dialogue(dialogues[name], types, is_typed)}
        return [changed.get(turn.id, turn) for turn in turns]

    def _dialogue(self, turns: Sequence[DialogueTurn], types: Mapping[str, str], is_typed: bool) -> list[DialogueTurn]:
        found = {
            name
            for turn in turns
            for text in (*(text for _, text in turn.history), turn.reply)
            for name in self.find(text)
        }
        known = sorted(names_of(triple for turn in turns for triple in turn.knowledge))
        spelled = set(map(_spelling, known))
        others = sorted(name for name in found if _spelling(name) not in spelled)
        types = {**{name: self.kinds[name.lower()] for name in others if name.lower() in self.kinds}, **types}
        names = [*known, *others]
        words = typed_identifiers(names, types) if is_typed else pseudonyms(names, f"{HALF_SEED} {turns[0].dialogue}")
        return [_renamed(turn, words, {} if is_typed else types) for turn in turns]


def names_in(graph: DialogueGraph) -> Callable[[str], list[str]]:
    """Returns a function that finds the names of the graph in a text, as they are written there."""
    names = ExactNames(graph.facts_of)
    return lambda text: [text[each.start : each.end] for each in names.find(text) if each.is_name]


def kinds_in(graph: DialogueGraph) -> dict[str, str]:
    """Maps the names of all things of the graph, in small letters, to their kinds."""
    facts = (fact for name, facts in graph.facts_of.items() for fact in facts if fact[0] == name)
    return {name.lower(): kind for name, kind in types_of(facts).items()}


def types_of(triples: Iterable[Triple]) -> dict[str, str]:
    """Maps each end of the triples to its kind, as most of the relations around it tell; UNKNOWN_TYPE if none does.

    A narrower kind wins over "Work".
    """
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for head, relation, tail in triples:
        of_head, of_tail = _ends().get(relation, ("", ""))
        votes[head][of_head] += 1
        votes[tail][of_tail] += 1
    found = {}
    for name, count in votes.items():
        kinds = [kind for kind, _ in sorted(count.items(), key=lambda each: (-each[1], each[0])) if kind]
        found[name] = next((kind for kind in kinds if kind != "Work"), kinds[0] if kinds else UNKNOWN_TYPE)
    return found


def typed_identifiers(names: Sequence[str], types: Mapping[str, str]) -> dict[str, str]:
    """Maps names to identifiers like Person1, Person2, Film1, numbered in the order of the names."""
    counts: Counter[str] = Counter()
    found = {}
    for name in names:
        kind = types.get(name, UNKNOWN_TYPE)
        counts[kind] += 1
        found[name] = f"{kind}{counts[kind]}"
    return found


def pseudonyms(names: Sequence[str], seed: str) -> dict[str, str]:
    """Maps names to words in the form of the service's pseudonyms, drawn by `seed`: for public data only."""
    draw = random.Random(seed)  # noqa: S311  # a measure that can be repeated, no secret  # nosec B311
    found: dict[str, str] = {}
    for name in names:
        word = ""
        while not is_shaped(word) or word in found.values():
            word = "E" + "".join(draw.choices(ALPHABET, k=TAIL_LENGTH))
        found[name] = word
    return found


def replacing(replacements: Mapping[str, str]) -> Callable[[str], str]:
    """Returns a function that replaces names in texts, the longest first, in any case.

    Promise: no longer word that contains a name is touched ("Rose" in "Rosewood"), and no replacement is replaced
    again. Limit: nicknames and misspellings stay.
    """
    words = {_spelling(name): word for name, word in replacements.items() if name.strip()}
    if not words:
        return str
    # Longest first, or "New York" would hide inside "New York Times".
    names = sorted(words, key=lambda name: (-len(name), name))
    pattern = re.compile(f"{_BEFORE}(?:{'|'.join(map(_any_spacing, names))}){_AFTER}", re.IGNORECASE)

    def replacement(match: re.Match[str]) -> str:
        if (word := words.get(_spelling(match.group()))) is not None:
            return word
        # A pattern that ignores case equates signs that `lower` keeps apart, such as the long s and s.
        return words[next(name for name in names if re.fullmatch(_any_spacing(name), match.group(), re.IGNORECASE))]

    return lambda text: pattern.sub(replacement, text)


def _renamed(turn: DialogueTurn, words: Mapping[str, str], types: Mapping[str, str]) -> DialogueTurn:
    """Returns the turn with names replaced by `words`; concepts are added if there are `types`."""
    replaced = replacing(words)

    def renamed(triples: Iterable[Triple]) -> tuple[Triple, ...]:
        return tuple((words[head], relation, words[tail]) for head, relation, tail in triples)

    return replace(
        turn,
        history=tuple((speaker, replaced(text)) for speaker, text in turn.history),
        so_far=renamed(turn.so_far),
        gold=renamed(turn.gold),
        reply=replaced(turn.reply),
        concepts={words[name]: types.get(name, UNKNOWN_TYPE).lower() for name in names_of(turn.knowledge)}
        if types
        else {},
        originals={word: name for name, word in words.items()},
    )


def _any_spacing(name: str) -> str:
    return r"\s+".join(re.escape(word) for word in name.split())


def _spelling(name: str) -> str:
    return " ".join(name.lower().split())


@cache
def _ends() -> dict[str, list[str]]:
    """Returns for each relation of OpenDialKG the kinds of its head and tail, as `entity_types.toml` lists them."""
    text = Path(__file__).with_name("entity_types.toml").read_text("utf-8")
    return cast(dict[str, list[str]], tomllib.loads(text)["ends"])


class NameMention(NamedTuple):
    """A span of a text that names something.

    `names` are all names of the graph that equal the span but for case. `is_name`: see `_stands_as_name`.
    """

    start: int
    end: int
    names: tuple[str, ...]
    is_name: bool


class ExactNames:
    """Finds the names of a graph in a text, exactly but for case.

    Of overlapping names the one that begins first is taken, and of those the longest.
    """

    def __init__(self, names: Iterable[str]) -> None:
        spelled: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for name in names:
            words = tuple(_TOKEN.findall(name.lower()))
            if any(character.isalpha() for word in words for character in word):
                spelled[words].append(name)
        self._names = {words: tuple(sorted(names)) for words, names in spelled.items() if len(words) <= MAX_WORDS}
        self._longest = max(map(len, self._names), default=0)

    def find(self, text: str) -> list[NameMention]:
        words = [(match.group().lower(), match.start(), match.end()) for match in _TOKEN.finditer(text)]
        found: list[NameMention] = []
        at = 0
        while at < len(words):
            here = tuple(word for word, _, _ in words[at : at + self._longest])
            count = next((count for count in range(len(here), 0, -1) if here[:count] in self._names), 0)
            if count:
                start, end = words[at][1], words[at + count - 1][2]
                found.append(NameMention(start, end, self._names[here[:count]], _stands_as_name(text, start, end)))
            at += max(count, 1)
        return found


def _stands_as_name(text: str, start: int, end: int) -> bool:
    """Returns False for common words in small letters, and for one common word at the start of a sentence ("Yes")."""
    span = text[start:end]
    words = [word for word in _TOKEN.findall(span.lower()) if word[0].isalnum()]
    if not all(in_lexicon(word) or word.isdigit() for word in words):
        return True
    before = text[:start].rstrip(" \"'")
    begins = not before or before[-1] in ".!?"
    return span != span.lower() and not (begins and len(words) == 1)
