"""Forms of English words: singular, plural, parts of speech, and the verb or the field behind a noun for a person."""

from __future__ import annotations

import gzip
import importlib
import re
import sys
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any, Final

IRREGULAR: Final = {"people": "person", "men": "man", "women": "woman", "children": "child"}

_OF_IE: Final = frozenset(
    "aunties birdies bookies brownies calories cookies genies goalies hippies hoodies movies newbies pixies prairies "
    "rookies selfies smoothies talkies zombies".split()
)
_OF_ONE_FORM: Final = frozenset("series species news staff personnel equipment information aircraft".split())
_IRREGULAR_PLURALS: Final = {one: many for many, one in IRREGULAR.items()}
_NO_MEN: Final = frozenset("human german roman norman ottoman shaman talisman caiman".split())
_BEHIND_HEAD: Final = frozenset(
    "in at on to from for with by into about since under against near after before of".split()
)


def singular(word: str) -> str:
    """Returns an English noun without its plural ending: cities -> city."""
    if word in IRREGULAR:
        return IRREGULAR[word]
    if word in _OF_ONE_FORM:
        return word
    if word.endswith("ies") and len(word) > 4 and word not in _OF_IE:
        return word[:-3] + "y"
    if word.endswith(("sses", "ches", "shes", "xes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3 else word


def regular_plural(word: str) -> str:
    """Returns an English noun with its regular plural ending: city -> cities."""
    if word.endswith("sis"):
        return word[:-2] + "es"
    if word.endswith(("s", "x", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2:-1] not in tuple("aeiou"):
        return word[:-1] + "ies"
    return word + "s"


def plural(noun: str) -> str:
    """Returns the plural of a noun phrase, which inflects its head: `head of department` -> `heads of department`."""
    words = noun.split()
    at = head_of(words)
    words[at] = _plural_word(words[at])
    return " ".join(words)


def singular_phrase(words: Sequence[str]) -> str:
    """Returns the singular of a noun phrase."""
    at = head_of(words)
    return " ".join([*words[:at], singular(words[at]), *words[at + 1 :]])


def head_of(words: Sequence[str]) -> int:
    """Returns the position of a noun phrase's head: the last word before its first preposition."""
    before = next((at for at, word in enumerate(words) if at and word in _BEHIND_HEAD), len(words))
    return before - 1


def with_article(noun: str) -> str:
    """Returns the noun with its indefinite article: `ward` -> `a ward`."""
    return f"{'an' if noun[:1].lower() in tuple('aeiou') else 'a'} {noun}"


def _plural_word(word: str) -> str:
    if word in _OF_ONE_FORM:
        return word
    if word in _IRREGULAR_PLURALS:
        return _IRREGULAR_PLURALS[word]
    if word.endswith("man") and len(word) > 3 and word not in _NO_MEN:
        return word[:-3] + "men"
    return regular_plural(word)


class _NoSpacy:
    """A module finder that makes spaCy look uninstalled."""

    def find_spec(self, name: str, *_where: object) -> ModuleSpec | None:
        if name == "spacy":
            raise ModuleNotFoundError(name, name=name)
        return None


def _lemminflect() -> Any:
    """Imports lemminflect without spaCy, which would load torch with it: 4 s and 250 MB for nothing."""
    finder = _NoSpacy()
    sys.meta_path.insert(0, finder)
    try:
        return importlib.import_module("lemminflect")
    finally:
        sys.meta_path.remove(finder)


lemminflect = _lemminflect()


class _LinesByWord:
    """A dictionary file of lemminflect that is parsed word by word, when a word is asked for.

    lemminflect parses it whole at the first question, which takes a second of processor time and 60 MB.
    """

    def __init__(self, path: str, parse: Callable[[str], Mapping[str, Any]], fixed: Mapping[str, Any]) -> None:
        """`parse` reads one line; `fixed` holds the words that no line decides on."""
        self._path, self._parse, self._fixed = path, parse, fixed

    @cached_property
    def _lines(self) -> list[str]:
        # Sorted as lines, in which a comma follows the word.
        return sorted(gzip.decompress(Path(self._path).read_bytes()).decode().splitlines())

    def __contains__(self, word: str) -> bool:
        return word in self._fixed or bool(self._of(word))

    def get(self, word: str, default: Mapping[str, Any]) -> Mapping[str, Any]:
        """Returns what all lines of `word` say."""
        if word in self._fixed:
            return self._fixed[word]  # type: ignore[no-any-return]
        return {kind: forms for line in self._of(word) for kind, forms in self._parse(line).items()} or default

    def _of(self, word: str) -> list[str]:
        at = end = bisect_left(self._lines, f"{word},")
        while end < len(self._lines) and self._lines[end].startswith(f"{word},"):
            end += 1
        return self._lines[at:end]


def _lemmas_in(line: str) -> dict[str, tuple[str, ...]]:
    _, category, forms = lemminflect.codecs.LemmaLUCodec.LemmaLUCodec.fromString(line)
    return {lemminflect.core.LexicalUtils.categoryToUPos(category): forms}


def _read_word_by_word() -> _LinesByWord:
    """Lets lemminflect parse its files word by word, and returns its dictionary of lemmas."""
    codec = lemminflect.codecs.InflectionLUCodec.InflectionLUCodec
    lemmatizer, inflections = lemminflect.Lemmatizer(), lemminflect.Inflections()
    known = _LinesByWord(lemmatizer.lemma_lu_fn, _lemmas_in, {})
    lemmatizer.lemma_dict = known
    inflections.infl_dict = _LinesByWord(
        inflections.infl_lu_fn, lambda line: codec.fromString(line)[2], codec.updateForAuxMod({})
    )  # fmt: skip
    return known


_DICTIONARY: Final = _read_word_by_word()


def in_other_number(noun: str) -> Iterator[str]:
    """Yields the plurals of a singular noun, or the singular of a plural: accountants, accountant.

    Yields nothing for other words, or for nouns with only one number. Only words of lemminflect's own dictionary are
    cached, because other words may be names that people typed.
    """
    yield from _listed_forms(noun) if noun in _DICTIONARY else _forms_in_other_number(noun)


def _forms_in_other_number(noun: str) -> Iterator[str]:
    known = lemminflect.getAllLemmas(noun)
    if not known:
        one = singular(noun)
        yield one if one != noun else f"{noun}s"
    for lemma in known.get("NOUN", ()):
        if lemma != noun:
            yield str(lemma)
        else:
            yield from (str(form) for form in lemminflect.getInflection(lemma, "NNS") if form != noun)


@cache
def _listed_forms(noun: str) -> tuple[str, ...]:
    return tuple(_forms_in_other_number(noun))


def lemmas(word: str) -> dict[str, tuple[str, ...]]:
    """Returns the words of which `word` may be a form, by part of speech: NOUN, VERB, ADJ, ADV, AUX.

    Caches nothing, because the word may be a name; the functions below are for words of questions without names.
    """
    return lemminflect.getAllLemmas(word)  # type: ignore[no-any-return]


_known = lru_cache(maxsize=50_000)(lemmas)


def lemmas_of(word: str) -> frozenset[str]:
    """Returns `word` and every word of which it may be a form. Caches nothing, because the word may be a name."""
    return frozenset({word, *(each for forms in lemmas(word).values() for each in forms)})


# Third-person verbs that are also plural nouns; at the beginning of a label they mean the verb.
_DONE = frozenset(
    "affects borders buys causes covers influences leads loves makes offers orders supplies supports takes targets "
    "treats uses".split()
)


@lru_cache(maxsize=50_000)
def verbs_of(word: str) -> frozenset[str]:
    """Returns the verbs that `word` may be a form or the agent of: wrote, writers -> write; empty for other words."""
    known = _known(word)
    found = set(known.get("VERB", ()))
    for noun in known.get("NOUN", () if known else (word,)):
        found |= _agent_verbs(noun)
    return frozenset(found)


def noun_lemma(word: str) -> str:
    """Returns the singular of a noun: theses -> thesis; other words stay as they are."""
    return _known(word).get("NOUN", (word,))[0]


def may_be_verb(word: str) -> bool:
    """Returns True if `word` is a form of some verb: directed, wrote, star."""
    return "VERB" in _known(word)


def may_be_noun(word: str) -> bool:
    """Returns True if `word` is a noun; unknown words count as nouns."""
    kinds = _known(word)
    return "NOUN" in kinds or not kinds


def is_compared(word: str) -> bool:
    """Returns True for a comparative or superlative (thicker, busiest), False for a noun that looks like one."""
    known = _known(word)
    is_adjective = "ADJ" in known and known.keys() <= {"ADJ", "ADV"}
    return is_adjective and word.endswith(("er", "est")) and word not in known["ADJ"]


def is_participle(word: str) -> bool:
    """Returns True if `word` is a past participle: directed, written, born; or unknown with the ending "ed"."""
    return _is_form(word, "VBN") or (word.endswith("ed") and not _known(word))


def tells_an_event(word: str) -> bool:
    """Returns True for a past participle that is no other form of its verb: built, entered; but not cost or hit."""
    return is_participle(word) and word not in verbs_of(word)


def is_past(word: str) -> bool:
    """Returns True if `word` is a past tense form: directed, wrote."""
    return _is_form(word, "VBD")


def is_form_of(word: str, verbs: Collection[str], is_verb: bool = False) -> bool:
    """Returns True if `word` is a past form (treated) or an -ing form (treating) of one of `verbs`.

    An -ing form that may also be a noun ("building") counts only with `is_verb`.
    """
    if verbs_of(word).isdisjoint(verbs):
        return False
    return is_past(word) or is_participle(word) or (word.endswith("ing") and (is_verb or not may_be_noun(word)))


def is_third_person(word: str) -> bool:
    """Returns True if `word` is a verb in the third person: lives, treats."""
    return _is_form(word, "VBZ")


@lru_cache(maxsize=50_000)
def is_agent(word: str) -> bool:
    """Returns True if `word` names somebody by what they do: director, screenwriters."""
    return any(_agent_verbs(noun) for noun in _known(word).get("NOUN", (word,)))


def _agent_verbs(noun: str) -> set[str]:
    return _of_agent(noun) or _of_compound(noun)


def is_done(word: str) -> bool:
    """Returns True if a label that begins with `word` most likely means the verb and not a noun: contains, treats."""
    return is_third_person(word) and (word in _DONE or not may_be_noun(word))


@lru_cache(maxsize=50_000)
def _is_form(word: str, form: str) -> bool:
    return any(word in lemminflect.getInflection(verb, form) for verb in _known(word).get("VERB", ()))


def _of_compound(noun: str) -> set[str]:
    """Returns the verbs behind a compound noun that ends in an agent noun: screenwriter -> write."""
    if not noun.endswith(("er", "or")):
        return set()
    for at in range(3, len(noun) - 4):
        verbs = _of_agent(noun[at:]) if "NOUN" in _known(noun[at:]) else set()
        if verbs:
            return verbs
    return set()


def _of_agent(noun: str) -> set[str]:
    """Returns the verbs of an agent noun: director -> direct, writer -> write, runner -> run."""
    if not noun.endswith(("or", "er")) or len(noun) < 5:
        return set()
    stem = noun[:-2]
    able = {stem, f"{stem}e", *([stem[:-1]] if stem[-1] == stem[-2] else [])}
    return {verb for verb in able if verb in _known(verb).get("VERB", ())}


_ENDINGS: Final = (
    ("ologist", ("ology",)),
    ("iatrist", ("iatry",)),
    ("iatrician", ("iatrics", "iatry")),
    ("therapist", ("therapy",)),
    ("surgeon", ("surgery",)),
    ("ographer", ("ography",)),
    ("onomer", ("onomy",)),
    ("onomist", ("onomy", "onomics")),
    ("sopher", ("sophy",)),
    ("metrist", ("metry",)),
    ("ician", ("ics", "ic")),
    ("icist", ("ics",)),
    ("dontist", ("dontics",)),
    ("dentist", ("dentistry",)),
    ("paedist", ("paedics",)),
    ("pedist", ("pedics",)),
    ("chemist", ("chemistry",)),
    ("macist", ("macy",)),
    ("thetist", ("thetics", "thesia")),
    ("historian", ("history",)),
    ("engineer", ("engineering",)),
    ("nurse", ("nursing",)),
    ("midwife", ("midwifery",)),
    ("lawyer", ("law",)),
    ("architect", ("architecture",)),
    ("accountant", ("accounting", "accountancy")),
    ("journalist", ("journalism",)),
    ("plumber", ("plumbing",)),
    ("carpenter", ("carpentry",)),
    ("buddhist", ("buddhism",)),
    ("hindu", ("hinduism",)),
    ("christian", ("christianity",)),
    ("muslim", ("islam",)),
    ("jew", ("judaism",)),
    ("sikh", ("sikhism",)),
    ("protestant", ("protestantism",)),
)
"""Endings of nouns for people in the singular, each with the endings of the fields that they work in or follow."""

_OTHER: Final = frozenset(("physician", "magician", "tactician", "apologist"))
"""Nouns with these endings that do not come from such a field: a physician does not work in physics."""

_PLURALS: Final = {"midwives": "midwife"}
_SPELLINGS: Final = (
    ("ae", "e"),
    ("oe", "e"),
    ("paed", "ped"),
    ("gynaec", "gynec"),
    ("haemat", "hemat"),
    ("anaesth", "anesth"),
)
_AGENT: Final = re.compile(rf"(?:{'|'.join(ending for ending, _ in _ENDINGS)})s?\Z|midwives\Z")


def fields_of(noun: str) -> Iterator[str]:
    """Yields the fields that a noun for people may come from (`cardiologist` -> cardiology), the likeliest first.

    `noun` is in lower case, singular or plural; for most nouns there is no field. Both British and American spellings
    are given. The caller has to check which of the fields exist.
    """
    if _AGENT.search(noun) is None:
        return
    single = _PLURALS.get(noun) or noun.removesuffix("s")
    if single in _OTHER:
        return
    for ending, fields in _ENDINGS:
        if single.endswith(ending):
            stem = single.removesuffix(ending)
            yield from dict.fromkeys(each for field in fields for each in _spelt(stem + field))


def _spelt(field: str) -> Iterator[str]:
    yield field
    for british, american in _SPELLINGS:
        if british in field or american in field:
            yield field.replace(british, american)
            yield field.replace(american, british)
