"""Words one step from one thing as the question that it answers: `Who is Eq7f2k treated by?`.

Promise: a question holds our own words, those of an unmasked relation, a concept, and whatever stands for the thing.
Limit: where the words are not certain to make good English, there is no question.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from app.llm.embedded.language.morphology import is_participle, verbs_of
from app.llm.embedded.language.people_and_groups import names_somebody
from app.llm.embedded.language.question_words import PREPOSITIONS
from app.llm.embedded.meaning.schema_graph import plain_words
from app.llm.embedded.sentences.noun_phrases import Speaker, many, one
from app.llm.embedded.sentences.relation_phrases import RelationPhrase, base_form, phrase_of, plural, with_article
from kg_store.terms import ValueKind

_BE: Final = ("is", "are")
_DATED: Final = (" on", " in")


@dataclass(frozen=True, slots=True)
class AskedStep:
    """One step, and what it leads to: things of these `kinds`, or values of the kind `value`; `is_one`: a single
    one."""

    label: str
    kinds: tuple[str, ...]
    value: ValueKind | None
    is_one: bool


def wordings(speaker: Speaker, step: AskedStep) -> list[str]:
    """Ways to ask for what `step` leads to from `speaker`, the plainest first; none where it can't be said."""
    phrase = _phrase(step.label)
    if phrase is None:
        return []
    ways = _for_values if step.value is not None else _backwards if phrase.inverse else _forwards
    return [f"{each[:1].upper()}{each[1:]}?" for each in ways(speaker, phrase, step)]


def _phrase(label: str) -> RelationPhrase | None:
    """None where a noun is none: "occurred on trip" says of itself what it is."""
    phrase = phrase_of(plain_words(label))
    words = phrase.words.split() if phrase is not None and phrase.form == "noun" else []
    return None if words and is_participle(words[0]) and not set(PREPOSITIONS).isdisjoint(words[1:]) else phrase


def _for_values(speaker: Speaker, phrase: RelationPhrase, step: AskedStep) -> Iterator[str]:
    be, words = speaker.agree(*_BE), phrase.words
    if phrase.form == "noun":
        number = one if step.is_one and speaker.agree is one else many
        yield f"what {number(*_BE)} {speaker.has(words, number)}"
        yield f"what {number(*_BE)} the {number(words, plural(words))} of {speaker.object}"
    elif phrase.form == "passive" and step.value is ValueKind.DATE and words.endswith(_DATED):
        was = "was" if be == "is" else "were"
        yield f"when {was} {speaker.subject} {words.rpartition(' ')[0]}"


def _forwards(speaker: Speaker, phrase: RelationPhrase, step: AskedStep) -> Iterator[str]:
    be, does = speaker.agree(*_BE), speaker.agree("does", "do")
    subject, words, number = speaker.subject, phrase.words, one if step.is_one else many
    asked = _asked(step)
    match phrase.form:
        case "noun":
            who = "who" if names_somebody(words.split(" of ")[0].split()[-1]) or _are_people(step.kinds) else "what"
            yield f"{who} {number(*_BE)} {speaker.has(words, number)}"
            yield f"which {number(words, plural(words))} {does} {subject} have"
        case "passive":
            if words.endswith(" by") and _are_people(step.kinds):
                yield f"who {be} {subject} {words}"
            yield f"{asked} {be} {subject} {words}"
        case "verb":
            yield f"{asked} {does} {subject} {base_form(words)}"
        case "past":
            first, _, rest = words.partition(" ")
            for verb in sorted(verbs_of(first)):
                yield f"{asked} did {subject} {f'{verb} {rest}'.strip()}"
        case "noun_of":
            yield f"{asked} {be} {subject} {words if words == 'part of' else with_article(words)}"


def _backwards(speaker: Speaker, phrase: RelationPhrase, step: AskedStep) -> Iterator[str]:
    thing, words, number = speaker.object, phrase.words, one if step.is_one else many
    asked = _asked(step)
    match phrase.form:
        case "passive":
            yield f"{asked} {number(*_BE)} {words} {thing}"
        case "verb":
            yield f"{asked} {number(words, base_form(words)) if asked[:5] == 'which' else words} {thing}"
        case "past":
            yield f"{asked} {words} {thing}"
        case "noun_of" if words == "part of":
            yield f"{asked} {number(*_BE)} part of {thing}"
        case "noun_of":
            yield f"{asked} {number(f'is {with_article(words)}', f'are {plural(words)}')} {thing}"
        case "noun":
            yield f"{asked} {number('has', 'have')} {thing} as {with_article(words)}"
            if phrase.had:
                yield f"whose {words} {speaker.agree(*_BE)} {speaker.subject}"


def _asked(step: AskedStep) -> str:
    """`which doctor`, `which wards`; `who` or `what` where the end is of several kinds, or of one that tells none."""
    kinds = step.kinds
    if len(kinds) == 1 and kinds[0] not in ("", "thing"):
        return f"which {kinds[0] if step.is_one else plural(kinds[0])}"
    return "who" if kinds and _are_people(kinds) else "what"


def _are_people(kinds: Sequence[str]) -> bool:
    return all(bool(kind) and names_somebody(kind.split()[-1]) for kind in kinds) and bool(kinds)
