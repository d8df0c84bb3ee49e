"""Finds the only question of a turn, without greetings, thanks and other words that ask nothing."""

from __future__ import annotations

import re
from typing import Final

from app.reader.language.question_words import has_words, words_in

_END: Final = re.compile(r"(?<=[?!])\s+")
_COURTESIES: Final = frozenset(
    "hi hello hey thanks thank thx you very much so a lot please pls plz ok okay cheers sorry good morning evening "
    "afternoon names name only just them ones which one list and full in advance".split()
)
_OPENING: Final = re.compile(
    r"^\W*(?:(?:hi|hello|hey|ok|okay|so|well|please|pls)\b(?!\s+(?:many|much))(?: (?:there|all|everyone|again)\b)?"
    r"|good (?:morning|afternoon|evening|day)\b|(?:just )?(?:an? )?(?:quick|short|silly|stupid) question\b"
    r"|i(?:'m|’m| am) (?:new|just starting)(?: here| to this)?\b|(?:and )?one (?:more|last|other) (?:thing|question)\b"
    r"|(?:thanks|thank you|thx)\b[^,.;?!]*[,.;!]"
    r"|i was (?:just )?wondering\b(?: if you (?:could|can) (?:tell me|say)\b)?"
    r"|(?:sorry|excuse me)\b[^,?]*,(?:\s*but\b)?"
    r"|(?:can|could|would|will) you (?:please |kindly |maybe )?"
    r"(?:tell me|look up|find(?: out)?|check|let me know|work out|say)\b(?: for (?:me|us)\b)?"
    r"|(?:i(?:'m|’m| am)|we(?:'re|’re| are)) (?:looking|searching) for\b"
    r"|(?:i|we) (?:look|search) for\b"
    r"|(?:one of (?:the|our|my|your) [a-z]+|somebody|someone|(?:my|our|the) [a-z]+)"
    r" (?:wants|needs|would like) to know\b"
    r"|(?:i|we)(?:'d| would)? (?:need|want|like) to (?:know|see|find(?: out)?|learn)\b|(?:i|we) (?:need|want)\b"
    r"|do you (?:happen to )?know\b|any idea\b|let me know\b|i wonder\b|remind me\b)\W*",
    re.IGNORECASE,
)
_TAIL: Final = re.compile(
    r"[,.;?!]\s*(?:(?:can|could|would|will) you (?:please |kindly )?(?:look (?:that|this|it|them) up"
    r"|help(?: (?:me|us))?(?: out| with (?:that|this|it))?|check(?: (?:that|this|it))?"
    r"|find (?:that|it) out|tell me|let me know)"
    r"(?: for (?:me|us))?|i(?:'m|’m| am) new(?: here| to this)?"
    r"|(?:i|we)(?: just| only)? (?:need|want)(?: to know)? (?:their names|the names|them(?: all)?|"
    r"all of them|(?:a|the) list))(?:,? (?:please|thanks))?\W*$",
    re.IGNORECASE,
)
_IDLE: Final = re.compile(
    r"\s+(?:(?:in|at) this (?:uni(?:versity)?|database|system|place|company|firm|graph)"
    r"|in (?:the|our|your) (?:system|database|records|books|data|graph|list)"
    r"|on (?:record|file|(?:the|our|your) books)"
    r"|at (?:the|this) moment|at present|right now|these days|by any chance|with us|for us|to us|of (?:yours|ours)"
    r"|(?<=been\s)with (?:the|our) (?:company|firm|business|team)(?!\s+(?:E\w{5}|of|that|which|who))"
    r"|on (?:our|your) (?:side|end))(?=\W|$)",
    re.IGNORECASE,
)
# Matches "whoever", which does not ask for a person: "the phone of whoever owns it".
_WHOEVER: Final = re.compile(r"\bwho(?:m)?ever\s+", re.IGNORECASE)


# Matches a second part that says which things are asked for: "What was ordered in May? just the orders".
_WHICH: Final = re.compile(r"(?:just|only) (?:the |those )?([a-z]+s)(?:\W+please)?\W*", re.IGNORECASE)
_ANY: Final = re.compile(r"\W*(?:are|is) there (?:any )?", re.IGNORECASE)
_WHO: Final = re.compile(r"(?:and )?(?:if so,? )?(?:which|who)(?: (?:ones?|are they|is it))?\W*", re.IGNORECASE)
_WHAT: Final = re.compile(r"what (?=(?:was|were|is|are|has|have)\b)", re.IGNORECASE)


AND_WHO: Final = re.compile(
    r"[,;.?]?\s*\band (?:who|which|what)(?: ones?| are they(?: called)?| are their names)?\W*$", re.IGNORECASE
)
AND_HOW_MANY: Final = re.compile(
    r"[,;.?]?\s*\band how many(?: (?:are|is) (?:there|they|it)| of them)?\W*$", re.IGNORECASE
)
"""Match the end of a question that also asks for the members of what is counted (AND_WHO) or for their number."""


def one_question(text: str) -> str:
    """Returns the only question in `text`, or an empty string if it asks several.

    An "and who?" or "and how many?" at the end (AND_WHO, AND_HOW_MANY) is dropped and does not count as a question.
    """
    for beside in (AND_WHO, AND_HOW_MANY):
        text = beside.sub("?", text)
    while (tail := _TAIL.search(text)) and has_words(text[: tail.start()]):
        text = text[: tail.start()]
    parts = _END.split(text.strip())
    if len(parts) == 2 and _WHO.fullmatch(parts[1]) and _ANY.match(parts[0]):
        # Two parts ask one question: "Are there doctors without patients? Which?"
        return _plain(_ANY.sub("which ", parts[0], count=1))
    asked = [part for part in parts if not _COURTESIES.issuperset(words_in(part))]
    if len(asked) == 2 and (which := _WHICH.fullmatch(asked[1])) and _WHAT.match(asked[0]):
        return _plain(_WHAT.sub(f"which {which[1].lower()} ", asked[0], count=1))
    return _plain(asked[0]) if len(asked) == 1 else ""


_SECOND_QUESTION: Final = re.compile(
    r"\s*(?:[,;.?!]\s*(?:and\s+)?|\band\s+)"
    r"(?=(?:(?:in|at|on|for|by|with|from|to|of) )?(?:who|whom|whose|what|which|when|where|how)\b)",
    re.IGNORECASE,
)
# Matches two things asked of one: "what are the phone number and the address of X", "X's salary and city".
_TWO_OF_ONE: Final = re.compile(
    r"(?P<head>.*?\b(?:is|are|was|were|me|show|list|know|have|need)\s+)?"
    r"(?P<whose>(?i:the|his|her|its|their|my|our)\s+|.*?['’]s?\s+)(?P<one>[a-z]+(?:[ -][a-z]+){0,3}?)\s+and\s+"
    r"(?:(?:the|his|her|its|their)\s+)?(?P<two>[a-z]+(?:[ -][a-z]+){0,3}?)(?P<of>\s+(?:of|for)\s+.+|\W*)"
)


# Matches two question words that ask of one sentence: "where and when was X born?".
_TWO_WORDS: Final = re.compile(
    r"^\W*(?P<one>who|what|when|where|why|how)\s+and\s+(?P<two>who|what|when|where|why|how)\s+"
    r"(?!many\b|much\b|often\b|long\b)(?P<rest>.+)",
    re.IGNORECASE,
)


MAX_CHARS_OF_TWO: Final = 300
"""Longer turns are not parted: the time to match them grows faster than their length. Chosen by hand."""


def two_questions(text: str) -> tuple[str, str] | None:
    """Returns the two questions that `text` asks in one sentence, each as it would be asked alone; None if it doesn't.

    "Where does X live, and when was she born?" asks two; so does "What are the salary and the city of X?".
    """
    if len(text) > MAX_CHARS_OF_TWO:
        return None
    if pair := _TWO_WORDS.match(text):
        return f"{pair['one']} {pair['rest']}", f"{pair['two']} {pair['rest']}"
    for found in _SECOND_QUESTION.finditer(text) if _ASKED.match(text) else ():
        first, second = text[: found.start()], text[found.end() :]
        # A short part without "and" says the first again: "where is X, in which town?".
        if len(words_in(first)) > 2 and ("and" in found[0].lower() or len(words_in(second)) > 3):
            return f"{first}?", second
    pair = _TWO_OF_ONE.fullmatch(text.strip())
    if pair is None or not (pair["of"].strip("?!. ") or pair["whose"].strip().endswith(("'s", "’s", "'", "’"))):
        return None
    before = (pair["head"] or "") + pair["whose"]
    return f"{before}{pair['one']}{pair['of']}", f"{before}{pair['two']}{pair['of']}"


_IS_IT_TRUE: Final = re.compile(
    r"^\W*(?:is it (?:true|correct|right|so|the case)|would you say)(?: that)?\b|^\W*(?:whether|if)\b(?: or not\b)?",
    re.IGNORECASE,
)
_IS_THAT_TRUE: Final = re.compile(
    r"\W+(?:(?:is|was) (?:that|this|it) (?:still )?(?:true|correct|right|so|the case)|right|correct|true)\s*\?\s*$",
    re.IGNORECASE,
)
# Matches the tag of "X is a nurse, isn't she?".
_TAG: Final = re.compile(
    r"(?:,\s*(?:is|are|was|were|do|does|did|has|have|had|can|will|would)(?:n['’]?t)?"
    r"|\s(?:is|are|was|were|do|does|did|has|have|had|ca|wo|would)n['’]t)\s+(?:it|he|she|they|there|that|this|we)\W*$",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(r"\b(?:not|no|never|none|nobody|nothing|cannot)\b|n['’]t\b", re.IGNORECASE)
_TOLD: Final = re.compile(
    r"^\W*(?:(?:i|we) (?:was|were|have been) told|(?:i|we) (?:heard|read|think|thought|believe|guess|suppose|assume)"
    r"|(?:somebody|someone|they) (?:told (?:me|us)|said|says|say))\b(?: that\b)?",
    re.IGNORECASE,
)
_ASKED: Final = re.compile(r"^\W*(?:who|whom|whose|what|which|when|where|why|how)\b", re.IGNORECASE)
_AUXILIARY: Final = re.compile(r"\b(?:is|are|was|were|has|have|had|does|do|did|can)\b", re.IGNORECASE)
_WITHIN: Final = re.compile(r"\b(?:who|whom|whose|that|which|where)\b", re.IGNORECASE)
# Matches a topic that stands before the question: "the husband of X, which doctor treats him?".
_TOPIC: Final = re.compile(
    r"^\W*((?:[a-z'’.]+ ){0,6}(?-i:E\w{5}))\s*(?:,|\s[-–—]|:)\s*"
    r"((?:who|whom|whose|what|which|when|where|how|is|are|was|were|does|do|did|has|have|had)\b.*)$",
    re.IGNORECASE,
)
_OF_TOPIC: Final = re.compile(
    r"\b(?:(his|its|their|her)(?= [a-z])|he|him|she|her|it|they|them|that(?=\W*$))\b", re.IGNORECASE
)
_OWNED: Final = re.compile(r" ((?:[a-z]+ ){0,2}[a-z]+)\W*", re.IGNORECASE)


def _plain(question: str) -> str:
    """Returns `question` without its opening and filler, and a statement as a yes/no question.

    Returns it unchanged if nothing else would be left.
    """
    rest = _without_opening(_WHOEVER.sub("", _IDLE.sub("", question)))
    stated = _IS_THAT_TRUE.sub("", rest)
    if (tag := _TAG.search(stated)) and not (_DENIED.search(stated[: tag.start()]) or _ASKED.match(stated)):
        return _plain(f"is it true that {stated[: tag.start()]}?")
    if stated != rest and (told := _TOLD.sub("", stated)).strip():
        rest = _as_truth(told)
    elif found := _IS_IT_TRUE.match(rest):
        rest = _as_truth(rest[found.end() :])
    rest = _with_topic(rest)
    return rest if has_words(rest) else question


def _without_opening(rest: str) -> str:
    while (opening := _OPENING.match(rest)) and has_words(rest[opening.end() :]):
        rest = rest[opening.end() :]
    return rest


def _as_truth(statement: str) -> str:
    """Returns the yes/no question for a statement: "X is a smoker" -> "is X a smoker"."""
    statement = statement.strip()
    verb, within = _AUXILIARY.search(statement), _WITHIN.search(statement)
    if verb is None or (within and within.start() < verb.start()):
        return f"does {statement}"
    return f"{verb[0].lower()} {statement[: verb.start()].strip()} {statement[verb.end() :].strip()}"


def _with_topic(question: str) -> str:
    """Returns the question with its only pronoun replaced by the topic before it.

    Example: "the husband of X, which doctor treats him?".
    """
    found = _TOPIC.match(question)
    pronouns = list(_OF_TOPIC.finditer(found[2])) if found else []
    if found is None or len(pronouns) != 1 or _WITHIN.search(found[1]):
        return question
    at, said, rest = pronouns[0], found[1], found[2][pronouns[0].end() :]
    if at[1]:
        owned = _OWNED.fullmatch(rest)
        said, rest = (f"the {owned[1]} of {said}", "") if owned else (f"{said}'s", rest)
    return f"{found[2][: at.start()]}{said}{rest}"
