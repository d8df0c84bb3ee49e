"""Writes questions to suggest, in plain English: about one step from a thing, and about all things of a kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from app.language.readings import AskedOfKind, AskedStep
from app.reader.language.question_words import GRAMMAR, PREPOSITIONS, names_a_group, names_somebody
from app.reader.sentences.phrases import RelationPhrase, Speaker, base_form, many, one, phrase_of
from kg_store.terms import ValueKind
from kg_store.text.inflection import is_participle, may_be_noun, may_be_verb, plural, singular, verbs_of, with_article
from kg_store.text.labels import plain_words

_PREPOSITIONS: Final = frozenset("by in at with for on of to from since until as about per".split())
_PERIODS: Final = frozenset("days weeks months quarters semesters terms years hours minutes seconds".split())
_UNITS: Final = frozenset(
    "litre litres liter liters metre metres meter meters kilometre kilometres kilogram kilograms gram grams ton tons "
    "tonne tonnes euro euros dollar dollars pound pounds percent degrees".split()
)
_NO_NOUN: Final = frozenset("has have is was are max min maximum minimum".split())
_LONG: Final = frozenset("duration length distance runtime".split())
_LARGE: Final = frozenset("area size population capacity volume surface".split())


def questions_of_kind(asked: AskedOfKind) -> list[str]:
    """Returns questions that ask for `asked`, the plainest first; empty if no noun names its things or its measure."""
    if not _is_counted(asked.concept) or (asked.form == "per_group" and not _is_counted(asked.tail)):
        return []
    if asked.form == "total":
        return [f"How many {plural(asked.concept)} are there?"]
    if asked.form == "per_group":
        return list(counts_per(asked.concept, asked.label, asked.tail, is_only=asked.is_only))
    noun = noun_for(asked.label)
    if not noun:
        return []
    if asked.form == "average":
        return [f"What is the average {noun} of {plural(asked.concept)}?"]
    most = ["latest"] if asked.is_date else greatest(noun)
    return [f"Which {asked.concept} has the {each} {noun}?" for each in most]


def _is_counted(concept: str) -> bool:
    """Returns True if things can be counted by that word: not "held by", "lives", "where" or "thing 2"."""
    last = concept.split()[-1].lower()
    return last.isalpha() and may_be_noun(last) and singular(last) == last and last not in GRAMMAR


def noun_for(label: str) -> str:
    """Returns the noun for what `label` measures, without its unit, or an empty string if there is none.

    `seats` -> `number of seats`, `weight kg` -> `weight`.
    """
    words = plain_words(label).split()
    while len(words) > 1 and (words[-1].lower() in _UNITS or any(map(str.isdigit, words[-1]))):
        words.pop()
    if words[0].lower() in _NO_NOUN | _PREPOSITIONS or words[-1].lower() in _PREPOSITIONS or "year" in words:
        return ""  # "The highest year" is not a natural question.
    is_period = len(words) > 1 and words[-1].lower() in _PERIODS
    if is_period and may_be_noun(words[-2]) and not is_participle(words[-2]):
        words = words[:-1]
    head = next((at for at, word in enumerate(words) if at and word in _PREPOSITIONS), len(words)) - 1
    last, said = words[head].lower(), " ".join(words)
    if not may_be_noun(last):
        return ""
    return f"number of {said}" if singular(last) != last and words[0] != "number" else said


def greatest(noun: str) -> list[str]:
    """Returns the superlatives for what `noun` measures, the most natural first: "longest", "highest"."""
    last = singular(noun.split(" of ")[0].split(" in ")[0].split()[-1].lower())
    said = "longest" if last in _LONG else "largest" if last in _LARGE else "highest"
    return list(dict.fromkeys([said, "highest"]))


def counts_per(concept: str, label: str, tail: str, *, is_only: bool) -> Iterator[str]:
    """Yields questions that count things of `concept` for each `tail` that `label` leads to.

    Yields none that would mislead. `is_only`: no other relation joins the two, so the question need not name this one.
    """
    if concept == tail:
        return
    per = f"How many {plural(concept)} are there per {tail}?"
    phrase = phrase_of(plain_words(label))
    form = phrase.form if phrase is not None else ""
    if is_only:
        yield per
    if phrase is not None and (form == "passive" or phrase.words == "part of"):
        yield f"How many {plural(concept)} are {phrase.words} each {tail}?"
    elif phrase is not None and form == "verb":
        yield f"How many {plural(concept)} {base_form(phrase.words).removesuffix(f' {tail}')} each {tail}?"


_BE: Final = ("is", "are")
_DATED: Final = (" on", " in")


def wordings(step: AskedStep) -> list[str]:
    """Returns questions that ask for what `step` leads to, the plainest first; empty if there is no good wording."""
    speaker = Speaker.named(step.thing) if step.thing else Speaker.several()
    phrase = phrase_of(plain_words(step.label)) or _by_noun(step.label)
    if phrase is None:
        return []
    ways = _for_values if step.value is not None else _backwards if phrase.inverse else _forwards
    return [f"{each[:1].upper()}{each[1:]}?" for each in ways(speaker, phrase, step)]


def _by_noun(label: str) -> RelationPhrase | None:
    """Returns the phrase of a one-word label that must be a noun (`supervisor`) or is measured (`salary eur`).

    Returns None for other labels.
    """
    word = plain_words(label).removeprefix("^").lower()
    measured = phrase_of(label)
    is_measured = measured is not None and measured.form == "noun"
    is_noun = word.isalpha() and may_be_noun(word) and (is_measured or not may_be_verb(word))
    return RelationPhrase("noun", singular(word), label.startswith("^")) if is_noun else None


def _for_values(speaker: Speaker, phrase: RelationPhrase, step: AskedStep) -> Iterator[str]:
    words, was = phrase.words, speaker.agree("was", "were")
    first, last = words.split()[0], words.split()[-1]
    if is_participle(last) and not may_be_noun(last):  # The label states an event: "year built", "first registered".
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
    """Returns `which doctor`, `which wards`, or, if the end is of several kinds or an unknown one, `who` or `what`."""
    kinds = step.kinds
    if len(kinds) == 1 and kinds[0] not in ("", "thing"):
        return f"which {kinds[0] if step.is_one else plural(kinds[0])}"
    return "who" if _are_people(step) else "what"


def _are_people(step: AskedStep, *nouns: str) -> bool:
    """Returns True if the step leads to people, or to groups named by what they do, such as customers and insurers.

    `nouns`: if given, they are judged in place of the kinds of the step.
    """
    lasts = [each.split(" of ")[0].split()[-1] for each in (nouns or step.kinds) if each]
    return step.is_somebody or (bool(lasts) and all(names_somebody(w) and names_a_group(w, "") for w in lasts))


def _is_noun(words: str) -> bool:
    """Returns True for nouns that make sense after an owner ("X's salary"); False for "valid in months"."""
    said = words.split()
    head = next((at for at, word in enumerate(said) if at and word in PREPOSITIONS), len(said)) - 1
    is_done = is_participle(said[0]) and not set(PREPOSITIONS).isdisjoint(said[1:])
    return may_be_noun(said[head]) and not is_done


def _without_object(words: str, kinds: Sequence[str]) -> str:
    """Returns `attend` for `attend course` if the question asks for courses."""
    verb, _, last = words.rpartition(" ")
    return verb if verb and any(each.split()[-1:] == [singular(last)] for each in kinds) else words
