"""Finds words that say nothing beside the noun of a relation: "take" in "take emergencies"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Protocol

from app.reader.meaning.question.place_words import PLACES, are_only_places
from app.reader.meaning.question.question_tokens import AskedQuestion
from app.reader.meaning.question.token_roles import mask
from kg_store.text.inflection import is_agent, singular, verbs_of

_LABEL: Final = re.compile(r'"([^"]*)"')
_HOLDING: Final = frozenset(
    "work works working live lives living stay stays run runs come comes go goes employed hired".split()
)
"""Verbs that add nothing to a property that is true or false: "does X work full time"."""
_LIGHT: Final = frozenset(
    "take keep hold offer provide give ask pay put send receive demand require show bear".split()
)
"""Verbs that add little if their object names a value: "what salary does X get paid"."""
_PLACED: Final = frozenset("based located situated sit sits sitting stand stands standing lie lies lying".split())
"""Verbs that add nothing to the noun of a place that is asked for: "in what country is X based"."""
_LIVING: Final = frozenset("live lives living lived stay stays reside resides residing come comes".split())
_BELONGING: Final = frozenset("work works working worked employed belong belongs assigned".split())
"""Verbs that add nothing to the noun of a place, or of another thing, that is asked for: "which city does X live in",
"which department does X work in". Where somebody works is not where they live."""
_PLACING: Final = frozenset({"in", "at", "located", "based", "situated"})
_DOING: Final = frozenset("do does did can could would will should must has have had".split())
_MONEY: Final = frozenset(
    "eur euro usd gbp chf price cost salary wage fee rent deposit budget stipend premium".split()
)


class WordUses(Protocol):
    """The uses of a question's words over a schema."""

    @property
    def nouns(self) -> Mapping[int, tuple[int, frozenset[str]]]: ...

    @property
    def values(self) -> Mapping[str, str]:
        """The value type at the end of each relation, by label; an empty text if it leads to things."""

    def explained(self, label: str) -> int: ...


class IdleWords:
    """The words that a meaning need not explain because another word already says the same."""

    def __init__(self, asked: AskedQuestion, uses: WordUses) -> None:
        self._asked, self._uses = asked, uses
        words = asked.words
        self._holding = mask(at for at, word in enumerate(words) if word in _HOLDING)
        self._placed = mask(at for at, word in enumerate(words) if word in _PLACED)
        self._living = mask(at for at, word in enumerate(words) if word in _LIVING)
        self._belonging = mask(at for at, word in enumerate(words) if word in _BELONGING)
        self._how_much = mask(at for at in range(1, len(words)) if words[at - 1 : at + 1] == ("how", "much"))
        self._money = mask(at for at in range(2, len(words)) if words[at - 2 : at + 1] == ("how", "much", "money"))
        self._objects = {at: self._object_of(at) for at, word in enumerate(words) if self._is_light(at, word)}

    def of(self, expression: str, left: int, value: str, is_head: bool, kind: str) -> int:
        """Returns the bit mask of the tokens in `left` that are idle in `expression`.

        `value`: the value type that `expression` ends in, else empty. `is_head`: the asked noun says its last hop;
        `kind`: the asked noun where it names the kind that this leads to, else empty.
        """
        labels = set(_LABEL.findall(expression))
        idle = 0
        for label in labels if left & self._asked.content else ():
            explained = self._uses.explained(label) & self._asked.content
            idle |= explained | (explained >> 1 & self._holding if expression.startswith("holds(") else 0)
        last = set((_LABEL.findall(expression) or [""])[-1].lower().split())
        if value == "number":
            idle |= self._how_much | (self._money if not _MONEY.isdisjoint(last) else 0)
        says_it = bool(kind) and last == {singular(kind)}  # A birth city is not where somebody lives.
        if is_head or says_it or (kind and not _PLACING.isdisjoint(last)):
            idle |= self._placed
        if are_only_places(_LABEL.findall(expression)):
            # "Customers that live in Norway" are those with an address there.
            idle |= self._living | self._placed
        if says_it:
            idle |= self._living if singular(kind) in PLACES else self._belonging
        return idle | self._light(labels, left & ~idle)

    def _light(self, labels: set[str], left: int) -> int:
        """Bit mask of the verbs in `left` whose object names a value that a relation leads to."""
        if not any(self._uses.values.get(label) for label in labels):
            return 0
        return mask(at for at, said in self._objects.items() if left >> at & 1 and said and not left & said)

    def _is_light(self, at: int, word: str) -> bool:
        """True of a light verb ("take", "keep") that no relation uses. If a relation reads "kept at", "keep" is not
        light.
        """
        verbs = verbs_of(word)
        if self._asked.roles[at] != "content" or verbs.isdisjoint(_LIGHT):
            return False
        called = {said for label in self._uses.values for said in label.lower().replace("|", " ").split()}
        return all(verbs.isdisjoint(verbs_of(said)) or is_agent(said) for said in called)

    def _object_of(self, verb: int) -> int:
        """Bit mask of the verb's object, after it or before the "did" of a question; 0 if there is none or it names a
        kind.
        """
        words, roles = self._asked.words, self._asked.roles
        behind = next((at for at in range(verb + 1, len(words)) if roles[at] in ("content", "thing", "person")), -1)
        before = next((at for at in range(1, verb) if words[at] in _DOING and roles[at - 1] == "content"), 0) - 1
        kinds = mask(at for used, _ in self._uses.nouns.values() for at in range(len(words)) if used >> at & 1)
        said = (at for at in (behind, before) if at >= 0 and roles[at] == "content" and not kinds >> at & 1)
        return next((1 << at for at in said), 0)
