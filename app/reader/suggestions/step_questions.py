"""Words one hop from one thing as the question that it answers: `Who is Eq7f2k treated by?`.

Promise: a question holds fixed wordings of this module, an unmasked label, a concept, and whatever stands for the
thing. Limit: no question is made of words that do not certainly make good English.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from app.language.readings import AskedStep
from app.reader.language.people_and_groups import names_a_group, names_somebody
from app.reader.language.question_words import PREPOSITIONS
from app.reader.sentences.noun_phrases import Speaker, many, one
from app.reader.sentences.relation_phrases import RelationPhrase, base_form, phrase_of
from app.reader.suggestions.kind_questions import noun_for
from kg_store.terms import ValueKind
from kg_store.text.inflection import is_participle, may_be_noun, may_be_verb, plural, singular, verbs_of, with_article
from kg_store.text.labels import plain_words

_BE: Final = ("is", "are")
_DATED: Final = (" on", " in")


def wordings(step: AskedStep) -> list[str]:
    """Ways to ask for what `step` leads to, the plainest first; none where it can't be said."""
    speaker = Speaker.named(step.thing) if step.thing else Speaker.several()
    phrase = phrase_of(plain_words(step.label)) or _by_noun(step.label)
    if phrase is None:
        return []
    ways = _for_values if step.value is not None else _backwards if phrase.inverse else _forwards
    return [f"{each[:1].upper()}{each[1:]}?" for each in ways(speaker, phrase, step)]


def _by_noun(label: str) -> RelationPhrase | None:
    """The phrase of a one-word label that can only be a noun, or that is measured: `supervisor`, `salary eur`; else
    None.
    """
    word = plain_words(label).removeprefix("^").lower()
    measured = phrase_of(label)
    is_measured = measured is not None and measured.form == "noun"
    is_noun = word.isalpha() and may_be_noun(word) and (is_measured or not may_be_verb(word))
    return RelationPhrase("noun", singular(word), label.startswith("^")) if is_noun else None


def _for_values(speaker: Speaker, phrase: RelationPhrase, step: AskedStep) -> Iterator[str]:
    words, was = phrase.words, speaker.agree("was", "were")
    first, last = words.split()[0], words.split()[-1]
    if is_participle(last) and not may_be_noun(last):  # "Year built", "first registered".
        if step.value is ValueKind.DATE or first == "year":
            yield f"when {was} {speaker.subject} {words.removeprefix('year ')}"
    elif phrase.form == "noun" and _is_noun(words):
        counted = noun_for(step.label).removeprefix("number of ")
        if step.value is ValueKind.NUMBER and counted == plural(words):
            yield f"how many {counted} {speaker.agree('does', 'do')} {speaker.subject} have"
        number = one if step.is_one and speaker.agree is one else many
        yield f"what {number(*_BE)} {speaker.has(words, number)}"
        yield f"what {number(*_BE)} the {number(words, plural(words))} of {speaker.object}"
    elif phrase.form == "passive" and step.value is ValueKind.DATE and words.endswith(_DATED):
        yield f"when {was} {speaker.subject} {words.rpartition(' ')[0]}"


def _forwards(speaker: Speaker, phrase: RelationPhrase, step: AskedStep) -> Iterator[str]:
    be, does = speaker.agree(*_BE), speaker.agree("does", "do")
    subject, words, number = speaker.subject, phrase.words, one if step.is_one else many
    asked = _asked(step)
    match phrase.form:
        case "noun" if words.startswith("part of "):
            yield f"which {number(words[8:], plural(words[8:]))} {be} {subject} part of"
        case "noun" if _is_noun(words):
            yield f"{'who' if _are_people(step, words) else 'what'} {number(*_BE)} {speaker.has(words, number)}"
            if speaker.agree is one:
                yield f"which {number(words, plural(words))} {does} {subject} have"
        case "passive":
            if words.endswith(" by") and _are_people(step):
                yield f"who {be} {subject} {words}"
            yield f"{asked} {be} {subject} {words}"
        case "verb":
            yield f"{asked} {does} {subject} {_without_object(base_form(words), step.kinds)}"
        case "past":
            first, _, rest = words.partition(" ")
            for verb in sorted(verbs_of(first)):
                yield f"{asked} did {subject} {_without_object(f'{verb} {rest}'.strip(), step.kinds)}"
        case "noun_of" if words == "part of":
            yield f"{asked} {be} {subject} part of"
        case "noun_of":
            yield f"{asked} {be} {subject} {speaker.agree(with_article(words), plural(words))}"


def _backwards(speaker: Speaker, phrase: RelationPhrase, step: AskedStep) -> Iterator[str]:
    thing, words, asked = speaker.object, phrase.words, _asked(step)
    number = one if step.is_one or asked in ("who", "what") else many
    match phrase.form:
        case "passive":
            yield f"{asked} {number(*_BE)} {words} {thing}"
        case "verb":
            yield f"{asked} {number(words, base_form(words))} {thing}"
        case "past":
            yield f"{asked} {words} {thing}"
        case "noun_of" if words == "part of":
            yield f"{asked} {number(*_BE)} part of {thing}"
        case "noun_of":
            yield f"{asked} {number(f'is {with_article(words)}', f'are {plural(words)}')} {thing}"
        case "noun" if words.startswith("part of "):
            yield f"{asked} {number(*_BE)} part of {thing}"
        case "noun" if _is_noun(words) and speaker.agree is one:
            yield f"{asked} {number('has', 'have')} {thing} as {with_article(words)}"
            if phrase.had:
                yield f"whose {words} is {thing}"


def _asked(step: AskedStep) -> str:
    """`which doctor`, `which wards`; `who` or `what` if the end is of several kinds or of an unknown one."""
    kinds = step.kinds
    if len(kinds) == 1 and kinds[0] not in ("", "thing"):
        return f"which {kinds[0] if step.is_one else plural(kinds[0])}"
    return "who" if _are_people(step) else "what"


def _are_people(step: AskedStep, *nouns: str) -> bool:
    """True of people, and of groups that are named by what they do: customers, insurers."""
    lasts = [each.split(" of ")[0].split()[-1] for each in (nouns or step.kinds) if each]
    return step.is_somebody or (bool(lasts) and all(names_somebody(w) and names_a_group(w, "") for w in lasts))


def _is_noun(words: str) -> bool:
    """True of nouns that make sense after an owner ("X's salary"); false of "valid in months", "occurred on trip"."""
    said = words.split()
    head = next((at for at, word in enumerate(said) if at and word in PREPOSITIONS), len(said)) - 1
    is_done = is_participle(said[0]) and not set(PREPOSITIONS).isdisjoint(said[1:])
    return may_be_noun(said[head]) and not is_done


def _without_object(words: str, kinds: Sequence[str]) -> str:
    """`attend` for `attend course`, if courses are asked for."""
    verb, _, last = words.rpartition(" ")
    return verb if verb and any(each.split()[-1:] == [singular(last)] for each in kinds) else words
