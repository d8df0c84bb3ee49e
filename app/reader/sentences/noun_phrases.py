"""Noun phrases: who a sentence is about, and the things it describes (`the doctors that work at Eq7f2k`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from app.reader.sentences.relation_phrases import RelationPhrase, base_form
from kg_store.text.plurals import plural, with_article

Agreement = Callable[[str, str], str]
"""A function that picks the form that agrees in number: (`is`, `are`) -> `is`."""

Clause = Callable[[Agreement], str]


def one(single: str, _many: str) -> str:
    return single


def many(_single: str, several: str) -> str:
    return several


def agree_with_count(single: str, several: str) -> str:
    """Leaves the choice open until the size of the answer is known (app/chat/execution.py): `{1:is|are}`."""
    return f"{{1:{single}|{several}}}"


@dataclass(frozen=True, slots=True)
class Speaker:
    """The subject of a sentence: a pseudonym, `they`, or a longer phrase; `agree` picks singular or plural forms."""

    subject: str
    agree: Agreement
    object: str
    possessive: str | None

    @classmethod
    def named(cls, pseudonym: str) -> Speaker:
        return cls(pseudonym, one, pseudonym, f"{pseudonym}'s")

    @classmethod
    def several(cls) -> Speaker:
        return cls("they", many, "them", "their")

    def has(self, noun: str, agree: Agreement) -> str:
        """`X's doctor`, `the doctor of the patients that ...`."""
        words = agree(noun, plural(noun))
        return f"{self.possessive} {words}" if self.possessive else f"the {words} of {self.object}"

    def predicate(self, phrase: RelationPhrase, be: tuple[str, str]) -> str:
        """`is treated by`, `lives in`, `directed`, `is a child of`; `be` is (is, are) or (was, were)."""
        return _predicate(phrase, self.agree, be)


@dataclass(frozen=True, slots=True)
class Things:
    """Things of one kind (empty if unknown) with clauses about them, or what an owner has (`X's children`)."""

    kind: str
    clauses: tuple[Clause, ...] = ()
    owner: tuple[Speaker, str] | None = None

    def said(self, agree: Agreement) -> str:
        """`patients treated by X`, `X's children`."""
        if self.owner is not None:
            speaker, noun = self.owner
            return " ".join([speaker.has(noun, agree), *self._clauses(agree)])
        head = agree(self.kind, plural(self.kind)) if self.kind else agree("one", "those")
        return " ".join([head, *self._clauses(agree)])

    def definite(self, agree: Agreement) -> str:
        """`the patients treated by X`, `those treated by X`, `X's children`."""
        if self.owner is not None or self.kind:
            return self.said(agree) if self.owner is not None else f"the {self.said(agree)}"
        return " ".join([agree("the one", "those"), *self._clauses(agree)])

    def also(self, *clauses: Clause) -> Things:
        return replace(self, clauses=(*self.clauses, *clauses))

    def as_speaker(self, agree: Agreement) -> Speaker:
        text = self.definite(agree)
        return Speaker(text, agree, text, None if self.clauses else f"{text}'s" if agree is one else None)

    def _clauses(self, agree: Agreement) -> list[str]:
        said = [clause(agree) for clause in self.clauses]
        plain = [each for each in said if not each.startswith("with ")]
        ornate = [each for each in said if each.startswith("with ")]
        return [" and ".join(each) for each in (plain, ornate) if each]


def things_of(speaker: Speaker, phrase: RelationPhrase, kind: str, be: tuple[str, str]) -> Things:
    """The things to which the hop of `phrase` leads from `speaker`."""
    if phrase.form == "noun" and not phrase.inverse:
        return Things(kind, owner=(speaker, phrase.words))
    if not phrase.inverse:
        return Things(kind, (lambda _agree: f"that {speaker.subject} {speaker.predicate(phrase, be)}",))
    return Things(kind, (lambda agree: _clause_backwards(speaker, phrase, agree, be),))


def _clause_backwards(speaker: Speaker, phrase: RelationPhrase, agree: Agreement, be: tuple[str, str]) -> str:
    if phrase.form == "passive":
        return f"{phrase.words} {speaker.object}"
    if phrase.form != "noun":
        return f"that {_predicate(phrase, agree, be)} {speaker.object}"
    if phrase.had:
        return f"that {agree('has', 'have')} {phrase.words} {speaker.object}"
    return f"whose {phrase.words} {be[0]} {speaker.object}"


def _predicate(phrase: RelationPhrase, agree: Agreement, be: tuple[str, str]) -> str:
    # What happened on a day is in the past: "was hired on".
    is_dated = phrase.form == "passive" and phrase.words.endswith(" on") and not phrase.words.startswith("based ")
    verb = agree(*(("was", "were") if is_dated else be))
    match phrase.form:
        case "passive":
            return f"{verb} {phrase.words}"
        case "verb":
            return agree(phrase.words, base_form(phrase.words))
        case "noun_of" if phrase.words == "part of":
            return f"{verb} part of"
        case "noun_of":
            return f"{verb} {agree(with_article(phrase.words), plural(phrase.words))}"
        case _:
            return phrase.words
