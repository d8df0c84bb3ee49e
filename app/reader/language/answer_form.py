"""Reads the form of answer that a question asks for, after replacing idioms and quantifiers by plain words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from app.language.readings import AskedForm
from app.reader.language.question_words import GRAMMAR, words_in
from kg_store.text.english import PLAINER
from kg_store.text.inflection import is_participle, may_be_noun, may_be_verb
from kg_store.text.words import is_pseudonym

_ELDER = "mother|father|parents?|mom|dad|ma|pa"
_YOUNGER = "son|daughter|child|children|kid|sons|daughters|kids"
_PARTNER = "wife|husband|spouse|partner|other half"
_AS_A_JOB = "(?:here|for (?:a living|work|a job|you|us)|by profession|by trade|professionally|at work|as a job)"
_WORKS = "movie|film|book|novel|song|album|record|band|group|show|series|game|play|music"
_PERIOD = r"(?:a|an|per|each|every) (?:hour|day|week|month|year)\b"
_PLAIN = tuple(
    (re.compile(pattern, re.IGNORECASE), said)
    for pattern, said in (
        # Polite and introductory phrases, which do not change what is asked for.
        (
            r"^\s*(?:please|"
            r"(?:can|could|would|will|do) you (?:please )?(?:know|tell me|give me|name|list|show me|say|give)?|"
            r"(?:i (?:want|would like|need)|i['’]d like) to know|do you know|tell me|give me|show me)\b",
            " ",
        ),
        (
            r"\bsince when (?:is|are|has|have) (.+?) (?:been )?"
            r"(?:(?:working|employed)(?: (?:here|there|for us|with us))?"
            r"|with (?:us|(?:the|our) (?:company|firm|team|business)))\W*$",
            r"when was \1 hired",
        ),
        (r"^\s*(?:and )?since (?:when|(?:which|what) (?:year|date|day))\b", "when"),
        (r"\b(part|full)[- ]timers?\b", r"\1 time"),
        (r"\bwhose property (?:is|are|was) (.+?)\W*$", r"who owns \1"),
        (rf"\bwhat (?:sort|kind|type) of (?:{_WORKS}) (?=(?:is|was|are) (?:the )?E\w{{5}}\W*$)", "what genre "),
        (
            r"\bwho(?:m)? (?:do|should|can|could|must|shall|to) (?:(?:we|i|you|one) )?(?:have to )?"
            r"(?:call|ring|phone|contact|notify|inform|alert|tell)(?: up)? in an emergency of\b",
            "who is the emergency contact of",
        ),
        (r"\bin (?:a )?(?:few|one|short|brief)(?: words?)?\b", " "),
        # Constructions put in one standard wording: one or the other, all but some, a date, the most of something.
        (r"\b(in|at|by|from|of|for|to|with|on) (E\w{5}) or \1 (E\w{5})", r"\1 \2 or \3"),
        (
            r"\b(?:except|apart from|other than|excluding|all but)(?: for)? (?:those|the ones|people)"
            r"(?: (?:who|that|which))?(?: (?:is|are))?\b",
            "not",
        ),
        (r"\bon (?:which|what) (?:exact )?(?:date|day)\b(?! of\b)", "when"),
        *(
            (rf"\b(has|have|had|having|with|got|are|is) the (?:{most}) number of\b", rf"\1 the {said}")
            for most, said in (("highest|largest|biggest|greatest", "most"), ("lowest|smallest|least", "fewest"))
        ),
        (r"\babout\s*\?*\s*$", "topic"),
        (r"\bbest[- ]paid\b", "highest paid"),
        (rf"^(?!.*\bhow many\b)(.*)\bmake(?= {_PERIOD})", r"\1earn"),
        (
            r"\b(?:show|teach)(?:es|s|ed|n)? (.{1,40}?) the (?:ropes|job|trade)\b|"
            r"\btaught (.{1,40}?) the (?:ropes|job|trade)\b",
            r"trained \1\2",
        ),
        (r"\b(number of [a-z]+) by (?=[a-z]+\b\W*(?:please)?\W*$)", r"\1 per "),
        (
            r"(?<=\w )(?<!know )about\b|\b(?:deal|deals|dealing|dealt) with\b|\b(?:relate|relates|related) to\b",
            "with topic",
        ),
        (rf"^\s*what (?:does|do|did) (.+?) do(?: {_AS_A_JOB})*\s*\?*\s*$", r"what is \1 's occupation"),
        (
            r"^\s*(?:is|are|was|were) (.+?) (?:a |an )?(?:man|male|boy) or (?:a |an )?(?:woman|female|girl)\s*\?*\s*$",
            r"what is \1 's gender",
        ),
        # "Who is X's father?" asks for a person, "what is X's father?" for his occupation. In a longer chain of
        # relations "what" may ask for a person too, so it stays as it is.
        (rf"^\s*what (?:is|was) (\w+ ?'s (?:{_ELDER}|{_YOUNGER}|{_PARTNER}))\s*\?*\s*$", r"what is \1 's occupation"),
        (rf"\bgrand ?({_ELDER})s? of\b", r"\1 of the parent of"),
        (rf"\bgrand ?({_YOUNGER}) of\b", r"\1 of the child of"),
        (rf"'s grand ?({_ELDER})s?\b", r"'s parent 's \1"),
        (rf"'s grand ?({_YOUNGER})\b", r"'s child 's \1"),
    )
)
_PLAINER = {way: said for ways, said in PLAINER.items() for way in ways.split(", ")}
_WAY = re.compile(
    rf"(?<![\w'’-])(?:{'|'.join(sorted(map(re.escape, _PLAINER), key=len, reverse=True))})(?![\w'’-])", re.IGNORECASE
)
_LETTER = re.compile(r"[^\W\d_]")


def normalise_idioms(question: str) -> str:
    """Returns `question` with idioms replaced by plain words; each pattern is applied once, in order."""
    question = plainer(question)
    for pattern, said in _PLAIN:
        question = pattern.sub(said, question)
    return question.strip()


def plainer(text: str) -> str:
    """Returns `text` with filler removed and colloquial phrases made plain; `text` itself if no letter would be
    left.
    """
    said = _WAY.sub(lambda found: _PLAINER[found[0].lower()], text)
    return said if _LETTER.search(said) else text


Wh = Literal["", "who", "when", "where"]

_WH: dict[str, Wh] = {"who": "who", "whom": "who", "when": "when", "where": "where"}
# Nouns that mean the same as a question word: "which person" means "who".
WIDE_NOUNS: dict[str, Wh] = {
    **dict.fromkeys(("people", "person", "persons", "somebody", "someone", "individual", "individuals"), "who"),
    **dict.fromkeys(("place", "places"), "where"),
}
_SORTS = frozenset("kind kinds type types sort sorts name names".split())
_TRUTHS = frozenset("is are was were does do did has have had can could".split())
_TELL = frozenset("list name show give find tell".split())
_DETERMINERS = frozenset({"which", "what"})


@dataclass(frozen=True, slots=True)
class AskedKind:
    """The kind of thing that a question asks for.

    `wh`: "who", "when" or "where", which imply a kind, else empty. `nouns`: the noun behind "which", from long to
    short: "which romantic movies" -> `("romantic movies", "movies")`.
    """

    wh: Wh
    nouns: tuple[str, ...]


def read_asked_kind(question: str) -> AskedKind:
    """Reads the kind asked for from the first question word, wherever it stands in the question."""
    words = words_in(question)
    for at, word in enumerate(words):
        if word in _WH:
            return AskedKind(_WH[word], ())
        if word in _DETERMINERS:
            return AskedKind("", ("type",)) if _of_sort(words[at + 1 :]) else _named(words[at + 1 :])
    if words[:1] and words[0] in _TRUTHS:
        return AskedKind("", ())
    return _named(words[1:] if words[:1] and words[0] in _TELL else words)


def _named(words: Sequence[str]) -> AskedKind:
    nouns = tuple(_nouns(words))
    wide = WIDE_NOUNS.get(nouns[-1], "") if nouns else ""
    return AskedKind(wide, ()) if wide else AskedKind("", nouns)


def _of_sort(words: Sequence[str]) -> bool:
    """Returns True if the words after the question word ask for a sort, as in "what sort of film is X".

    False for "what sort of films did X direct", which asks for films.
    """
    return words[:1] != [] and words[0] in _SORTS and words[1:2] == ["of"] and words[3:4] in (["is"], ["are"], ["was"])


def _nouns(words: Sequence[str]) -> Iterator[str]:
    """Yields the first run of content words, then each shorter end of it: "romantic movies", then "movies"."""
    start = 0
    while start < len(words) and (
        words[start] in GRAMMAR or (words[start + 1 : start + 2] == ["of"] and words[start] in _SORTS)
    ):
        start += 1
    run: list[str] = []
    for word in words[start:]:
        # The noun ends before a word that cannot be one: "live" in "which people live in X".
        ends = word in GRAMMAR or is_pseudonym(word) or word == "'s"
        if ends or (any(map(may_be_noun, run)) and not may_be_noun(word)):
            break
        run.append(word)
    for at in range(len(run)):
        yield " ".join(run[at:])


# Requires a digit and the case of a pseudonym; else "from Vienna" and "over voices" would be read as filters.
_VALUE = r"((?-i:V(?=[a-z]*[0-9])[a-z0-9]{5}))"
_GREATER = (
    "highest|largest|biggest|greatest|most|latest|newest|youngest|longest|tallest|best|richest|heaviest|maximum|"
    "most recent|last"
)
_LESS = "lowest|smallest|least|earliest|oldest|shortest|cheapest|minimum|fewest|first"
# Words that compare dates: the oldest person has the earliest date of birth.
_BY_DATE = {"oldest": "argmin", "youngest": "argmax", "older": "argmin", "younger": "argmax", "newest": "argmax"}
_COMPARATIVES = "higher|larger|bigger|greater|more|older|younger|later|newer|longer|taller|heavier|better"
_LESSER = "lower|smaller|less|fewer|earlier|shorter|cheaper|lighter|sooner"
_OPERATORS = (
    (r"(?:(?:not|no) (?:more|later|older) than|not after|at most|up to|until|or less than)", "<="),
    (r"(?:(?:not|no) (?:less|fewer|earlier) than|not before|at least|since|from)", ">="),
    (r"(?:more than|greater than|larger than|higher than|later than|over|above|after|exceeding|beyond)", ">"),
    (r"(?:less than|fewer than|lower than|smaller than|earlier than|under|below|before)", "<"),
)
# Matches questions for the value of an extreme: "when was the latest visit?" asks for its date, not for the visit.
_ASKS_FOR_VALUE = re.compile(r"^\s*(?:when|(?:on |in )?(?:what|which) (?:date|day|year))\b", re.IGNORECASE)
_COUNTED = (
    r"\bhow many\b|\b(?:what is |what's )?the number of\b|^\s*(?:total )?number of\b|"
    r"^\s*count(?: of)?(?: the)?\b(?= \w)"
)
_HOW_MANY = r"\bhow many\b|\bnumber of\b|\bcount(?: of)?\b"
_TRUTH = re.compile(r"^\s*(?:is|are|was|were|does|do|did|has|have|had|can)\b", re.IGNORECASE)


# Finds "first" and the like before a verb ("when was X first shown?"), where they choose no member of a set.
_FIRST_DONE = re.compile(r"\b(?:first|last|best|most|least) (\w+)", re.IGNORECASE)


def read_form(question: str, topics: int) -> AskedForm:
    """Returns the form of answer that `question` asks for; `topics` is the number of entities that it names."""
    text = normalise_idioms(question)
    return (
        _per_group(text)
        or _compare(text, topics)
        or _average_or_sum(text)
        or _range(text)
        or _filter(text)
        or _extreme(text)
        or _count(text)
        or _truth(text)
        or AskedForm("things", text)
    )


def _without(text: str, pattern: str) -> str | None:
    found = re.search(pattern, text, re.IGNORECASE)
    return None if found is None else f"{text[: found.start()]} {text[found.end() :]}"


def _per_group(text: str) -> AskedForm | None:
    if not re.search(r"\b(?:each|every|per)\b", text, re.IGNORECASE):
        return None
    rest = _without(text, _HOW_MANY)
    return None if rest is None else AskedForm("per_group", re.sub(r"\b(?:each|every|per)\b", " ", rest))


def _compare(text: str, topics: int) -> AskedForm | None:
    if topics < 2 or not re.search(r"\bor\b|\bthan\b", text, re.IGNORECASE):
        return _than(text) if topics else None
    for words, function in ((_COMPARATIVES, "argmax"), (_LESSER, "argmin")):
        found = re.search(rf"\b(?:{words})\b", text, re.IGNORECASE)
        if found:
            word, rest = found[0].lower(), f"{text[: found.start()]} {text[found.end() :]}"
            truth = _TRUTH.match(text) is not None and not re.search(r"\bor\b", text, re.IGNORECASE)
            rest = _TRUTH.sub(" ", rest) if truth else rest
            return AskedForm("compare", rest, _BY_DATE.get(word, function), by_age=word in _BY_DATE, asks_truth=truth)
    return None


def _than(text: str) -> AskedForm | None:
    """Returns the form of "wards with fewer beds than X" (all things that compare so with X), else None."""
    if _TRUTH.match(text) or not re.search(r"\bthan (?:the )?(?-i:E[a-z0-9]{5})\b", text, re.IGNORECASE):
        return None
    for words in (_COMPARATIVES, _LESSER):
        if (rest := _without(text, rf"\b(?:{words})\b")) is not None:
            return AskedForm("than", re.sub(r"\bthan\b", " ", rest))
    return None


def _average_or_sum(text: str) -> AskedForm | None:
    rest = _without(text, r"\b(?:on average|average|mean)\b")
    if rest is not None:
        return AskedForm("average", rest)
    if re.search(rf"\b(?:{_GREATER}|{_LESS})\b", text, re.IGNORECASE):
        return None
    rest = _without(text, r"\b(?:the sum of|sum of|total|altogether|in total|combined)\b")
    return None if rest is None or re.search(r"\bhow many\b", text, re.IGNORECASE) else AskedForm("sum", rest)


def _filter(text: str) -> AskedForm | None:
    for words, operator in _OPERATORS:
        found = re.search(rf"\b{words}\s+(?:the\s+)?(?:year\s+)?{_VALUE}\b", text, re.IGNORECASE)
        if found:
            rest = f"{text[: found.start()]} {text[found.end() :]}"
            return _filtered(rest, operator, found[found.lastindex or 1])
    return None


def _range(text: str) -> AskedForm | None:
    found = re.search(rf"\b(?:between|from)\s+{_VALUE}\s+(?:and|to|until)\s+{_VALUE}\b", text, re.IGNORECASE)
    return found and _filtered(f"{text[: found.start()]} {text[found.end() :]}", ">=", found[1], found[2])


def _filtered(rest: str, operator: str, value: str, upper: str = "") -> AskedForm:
    function = ""
    if (uncounted := _without(rest, _HOW_MANY)) is not None:
        rest, function = uncounted, "count"
    elif _TRUTH.match(rest):
        rest, function = _TRUTH.sub(" ", rest), "exists"
    return AskedForm("filter", rest, function, operator=operator, value=value, upper=upper)


def _extreme(text: str) -> AskedForm | None:
    for words, function in ((_GREATER, "argmax"), (_LESS, "argmin")):
        found = re.search(rf"\b(?:{words})\b", text, re.IGNORECASE)
        if found and not _is_no_superlative(text):
            rest = f"{text[: found.start()]} {text[found.end() :]}"
            if _ASKS_FOR_VALUE.match(rest):
                return AskedForm(
                    "extreme", _ASKS_FOR_VALUE.sub("date ", rest), "max" if function == "argmax" else "min"
                )
            word, truth = found[0].lower(), _TRUTH.match(rest) is not None
            rest = _TRUTH.sub(" ", rest) if truth else rest
            return AskedForm("extreme", rest, _BY_DATE.get(word, function), by_age=word in _BY_DATE, asks_truth=truth)
    return None


def _is_no_superlative(text: str) -> bool:
    found = _FIRST_DONE.search(text)
    word = found[1].lower() if found else ""
    return word == "name" or is_participle(word) or (may_be_verb(word) and not may_be_noun(word))


def _count(text: str) -> AskedForm | None:
    rest = _without(text, _COUNTED)
    return None if rest is None else AskedForm("count", rest)


def _truth(text: str) -> AskedForm | None:
    if not _TRUTH.match(text) or re.search(r"\bor\b", text, re.IGNORECASE):
        return None
    return AskedForm("truth", _TRUTH.sub(" ", text))


Turn = Literal["", "negated", "others", "except"]

_THING = r"((?-i:[ES](?=[a-z]*[0-9])[a-z0-9]{5}))"
_EXCEPT = re.compile(
    rf",?\s*\b(?:except(?: for)?|other than|apart from|aside from|besides|excluding|but not)\s+{_THING}\b",
    re.IGNORECASE,
)
# Words after a "not" that compares values and does not negate the answer: "not before", "no later than".
_COMPARED = r"(?:more|less|fewer|later|earlier|older|younger|before|after|higher|lower)\b"
_NOT = re.compile(
    rf"\b(?:do|does|did)(?:\s+not|n['’]t)\b(?!\s+{_COMPARED})\s*|\s*\b(?:not|never)\b(?!\s+{_COMPARED}|\s+only)|n['’]t\b",
    re.IGNORECASE,
)
_NO = re.compile(rf"\b(?:no|zero)\b(?!\s+(?:one|{_COMPARED}))\s*|\bnot any\b\s*", re.IGNORECASE)
_WITHOUT = re.compile(r"\b(?:without|lacking|lacks?)\b(?:\s+(?:any|an?))?", re.IGNORECASE)
_OTHERS = re.compile(r"\s*\b(?:else|others?|another)\b(?!\s+half\b)", re.IGNORECASE)
_UNREAD = re.compile(
    r"\b(only|how (?:many|much) more|top \w+|neither|nor|nobody|no one|none|unless|always|exactly|almost|most of|"
    r"(?<!other )half of|either|(?<=\w )and (?:where|when|who|what|how)|"
    r"at least|at most|more than|fewer than|less than)\b",
    re.IGNORECASE,
)
_BEFORE_VALUE = re.compile(r"\s+(?:the\s+)?(?:year\s+)?(?-i:V(?=[a-z]*[0-9])[a-z0-9]{5})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Quantifier:
    """The negation or exclusion in a question, such as "not" or "except X".

    `turn`: its type, empty if there is none; `rest`: the question without its words; `thing`: the pseudonym of the
    thing that is excluded by name. `unread`: a word that cannot be executed, else empty; with such a word, the
    question must not be answered.
    """

    turn: Turn
    rest: str
    thing: str = ""
    unread: str = ""

    @property
    def word(self) -> str:
        return {"negated": "not", "others": "other", "except": "except"}.get(self.turn, "")


def read_quantifier(question: str) -> Quantifier:
    """Returns the exclusion ("except X") of a question, else its negation ("not"), else its "other".

    If the question has two of them, the first is returned and `unread` is set to the word of the second.
    """
    found = [each for each in (_except(question), _negated(question), _others(question)) if each]
    rest = found[0].rest if found else question
    unread = next(
        (each[1].lower() for each in _UNREAD.finditer(rest) if not _BEFORE_VALUE.match(rest, each.end())), ""
    )
    if len(found) > 1 and not unread:
        unread = found[1].word
    turn, thing = (found[0].turn, found[0].thing) if found else ("", "")
    return Quantifier(turn, rest, thing, unread)


def _except(question: str) -> Quantifier | None:
    found = _EXCEPT.search(question)
    return found and Quantifier("except", question[: found.start()] + question[found.end() :], found[1])


def _negated(question: str) -> Quantifier | None:
    for pattern, instead in ((_WITHOUT, "with"), (_NO, ""), (_NOT, " ")):
        if pattern.search(question):
            return Quantifier("negated", " ".join(pattern.sub(instead, question, count=1).split()))
    return None


def _others(question: str) -> Quantifier | None:
    found = _OTHERS.search(question)
    return found and Quantifier("others", question[: found.start()] + question[found.end() :])
