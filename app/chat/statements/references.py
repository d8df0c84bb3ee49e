"""Finds the thing that "he", "it", "the film" or "the second" stands for among those that were spoken of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from app.chat.statements.evidence import Evidence
from app.chat.statements.words.tokens import ARTICLES, POINTING, Token, is_grammar, lemmas, noun_base
from app.chat.statements.words.wording import known_kinds

MAX_CANDIDATES: Final = 3
_HE: Final = frozenset("he she him his her himself herself".split())
_IT: Final = frozenset("it its itself this that".split())
_THEY: Final = frozenset("they them their both".split())
_FIRST: Final = frozenset({"first", "former"})
_SECOND: Final = frozenset({"second", "latter"})
_NEVER: Final = frozenset("one way list same".split())


@dataclass(frozen=True, slots=True)
class Reference:
    """Words from `start` to `end` that stand for one of `candidates`, the likeliest first; for all if `is_all`."""

    start: int
    end: int
    candidates: tuple[str, ...]
    is_all: bool = False
    is_certain: bool = False
    """True of a pronoun or an ordinal, which always stands for something."""
    is_owner: bool = False


@dataclass(slots=True)
class Discourse:
    """The names of a reply, sentence by sentence, and those of the dialogue before."""

    evidence: Evidence
    said: list[list[str]] = field(default_factory=list)
    subjects: list[str] = field(default_factory=list)
    """The things that the clauses so far were about."""
    focus: str = ""
    """The thing that the clause before was about."""
    _ahead: Sequence[str] = ()
    _start: int = 0

    def references(self, tokens: Sequence[Token], start: int, end: int, ahead: Sequence[str] = ()) -> list[Reference]:
        """The references among tokens[start:end]; names before them in the sentence count as spoken of, and before
        these the names `ahead`."""
        self._ahead, self._start = ahead, start
        found: list[Reference] = []
        at = start
        while at < end:
            reference = self._reference(tokens, at, end)
            if reference is not None and reference.candidates:
                found.append(reference)
                at = reference.end
            else:
                at += 1
        return found

    def recent(self, before: Sequence[str]) -> list[str]:
        """Names by how likely they are meant: those of this sentence, the one before, and so on."""
        ordered = [*self._ahead, *before]
        for names in reversed(self.said):
            ordered += names
        ordered += [name for name, _ in self.evidence.beside.topics]
        return list(dict.fromkeys(ordered))

    def role_reference(self, tokens: Sequence[Token], start: int, end: int) -> Reference | None:
        """ "The director of E1" and "E1's director" at the front of a piece, with all that are so."""
        words = [token.word for token in tokens[start : min(end, start + 5)]]
        if len(words) < 4:
            return None
        if words[0] == "the" and words[2] == "of" and tokens[start + 3].is_name:
            noun, holder, behind = words[1], words[3], start + 4
        elif tokens[start].is_name and words[1] == "'s":
            noun, holder, behind = words[2], words[0], start + 3
        else:
            return None
        fillers = [
            step.there for step in self.evidence.steps(holder) if step.here in step.wording.holders(noun_base(noun))
        ]
        return Reference(start, behind, tuple(dict.fromkeys(fillers)), is_certain=True) if fillers else None

    def _reference(self, tokens: Sequence[Token], at: int, end: int) -> Reference | None:
        word = "" if tokens[at].is_name else tokens[at].word
        behind = tokens[at + 1].word if at + 1 < end and not tokens[at + 1].is_name else ""
        before = [token.word for token in tokens[:at] if token.is_name]
        if word in _HE:
            fitting = [name for name in self.recent(before) if self.evidence.is_person(name) is not False]
            return self._of(at, at + 1, [name for name in fitting if name[0] == "E"], is_owner=word in ("his", "her"))
        if word in _IT and not (word in POINTING and self._is_noun(behind)) and not self._is_that_clause(tokens, at):
            fitting = [name for name in self.recent(before) if self.evidence.is_person(name) is not True]
            return self._of(at, at + 1, [name for name in fitting if name[0] != "V"], is_owner=word == "its")
        if word == "both" and self._names_follow(tokens, at, end):
            return None
        if word in _THEY:
            group = self._group(before)
            if group and not (word == "both" and self._names_follow(tokens, at, end)):
                return Reference(at, at + 1, tuple(group), is_all=True, is_certain=True, is_owner=word == "their")
            return self._of(
                at, at + 1, [name for name in self.recent(before) if name[0] != "V"], is_owner=word == "their"
            )
        return self._described(tokens, at, end, before)

    def _described(self, tokens: Sequence[Token], at: int, end: int, before: list[str]) -> Reference | None:
        word = "" if tokens[at].is_name else tokens[at].word
        if word not in ("the", "this", "that"):
            return None
        words = [token.word for token in tokens[at + 1 : min(end, at + 4)] if not token.is_name]
        names_next = at + 1 < end and tokens[at + 1].is_name
        if names_next or not words:
            return None
        group = self._group(before)
        if words[0] in _FIRST | _SECOND | {"one", "other"} and len(group) > 1:
            return self._ordinal(at, end, words, group)
        if not self._is_noun(words[0]) or words[0] in _NEVER:
            return None
        if at + 2 < end and tokens[at + 2].is_name:
            return None
        noun = noun_base(words[0])
        own = {token.word for token in tokens[self._start : end] if token.is_name}
        fitting = [name for name in self.recent(before) if noun in self.evidence.kind_words(name)]
        fitting = [name for name in fitting if name[0] != "V" and name not in own]
        is_owner = words[1:2] == ["'s"]
        return Reference(at, at + 2, tuple(fitting[:MAX_CANDIDATES]), is_owner=is_owner)

    def _ordinal(self, at: int, end: int, words: list[str], group: list[str]) -> Reference | None:
        behind = words[1] if len(words) > 1 else ""
        is_kind = behind != "one" and noun_base(behind) in known_kinds()
        if is_kind and noun_base(behind) not in self.evidence.kind_words(group[0]):
            return None
        place = 0 if words[0] in _FIRST or words[0] == "one" else 1
        if words[0] == "other":
            last = self.focus if self.focus in group else group[0]
            place = next((k for k, name in enumerate(group) if name != last), 1)
        stop = at + 2 + (behind in ("one", "case") or is_kind)
        return Reference(at, min(stop, end), (group[place],), is_certain=True)

    def _group(self, before: Sequence[str]) -> list[str]:
        """Two or more of one kind that were named together: in the sentence before, or in this one."""
        for names in [*reversed(self.said), list(before)]:
            kinds: dict[str, list[str]] = {}
            for name in dict.fromkeys(names):
                if name[0] != "V":
                    is_person = self.evidence.is_person(name)
                    kind = "person" if is_person else " ".join(sorted(self.evidence.kinds(name)))
                    kinds.setdefault(kind, []).append(name)
            several = [each for each in kinds.values() if len(each) > 1]
            if several:
                return several[0]
        return []

    def _names_follow(self, tokens: Sequence[Token], at: int, end: int) -> bool:
        return any(token.is_name for token in tokens[at + 1 : min(end, at + 4)])

    def _is_that_clause(self, tokens: Sequence[Token], at: int) -> bool:
        if tokens[at].word == "that" and at + 1 < len(tokens) and tokens[at + 1].word == "of":
            return True
        return tokens[at].word == "that" and at > 0 and not tokens[at - 1].is_name and tokens[at - 1].word != ","

    def _is_noun(self, word: str) -> bool:
        return bool(word) and word not in ARTICLES and not is_grammar(word) and bool(lemmas(word, "NOUN"))

    def _of(self, start: int, end: int, names: Iterable[str], *, is_owner: bool = False) -> Reference:
        chosen = tuple(dict.fromkeys(names))[:MAX_CANDIDATES]
        return Reference(start, end, chosen, is_certain=True, is_owner=is_owner)
