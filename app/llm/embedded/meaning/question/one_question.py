"""The one question of a turn, without the courtesies around it and the words that ask nothing."""

from __future__ import annotations

import re
from typing import Final

from app.llm.embedded.language.question_words import words_in

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
    r"(?:tell me|look up|find(?: out)?|check|let me know|work out|say)\b"
    r"|(?:i|we)(?:'d| would)? (?:need|want|like) to (?:know|see|find(?: out)?|learn)\b|(?:i|we) (?:need|want)\b"
    r"|do you (?:happen to )?know\b|any idea\b|let me know\b|i wonder\b|remind me\b)\W*",
    re.IGNORECASE,
)
_IDLE: Final = re.compile(
    r"\s+(?:in (?:the|our|your) (?:system|database|records|books|data|graph|list)|on (?:record|file|the books)"
    r"|at (?:the|this) moment|at present|right now|these days|by any chance|with us|for us|to us)(?=\W|$)",
    re.IGNORECASE,
)
# "The phone of whoever owns it" asks for no person.
_WHOEVER: Final = re.compile(r"\bwho(?:m)?ever\s+", re.IGNORECASE)


# "What was ordered in May? just the orders": which things are asked for.
_WHICH: Final = re.compile(r"(?:just|only) (?:the |those )?([a-z]+s)(?:\W+please)?\W*", re.IGNORECASE)
_WHAT: Final = re.compile(r"what (?=(?:was|were|is|are|has|have)\b)", re.IGNORECASE)


def one_question(text: str) -> str:
    """Empty where a turn asks several things."""
    asked = [part for part in _END.split(text.strip()) if not _COURTESIES.issuperset(words_in(part))]
    if len(asked) == 2 and (which := _WHICH.fullmatch(asked[1])) and _WHAT.match(asked[0]):
        return _plain(_WHAT.sub(f"which {which[1].lower()} ", asked[0], count=1))
    return _plain(asked[0]) if len(asked) == 1 else ""


_IS_IT_TRUE: Final = re.compile(r"^\W*is it (?:true|correct|right|so|the case) that\b", re.IGNORECASE)


def _plain(question: str) -> str:
    """`question` without its opening and its idle words; all of it where nothing else is left."""
    rest = _IS_IT_TRUE.sub("is", _WHOEVER.sub("", _IDLE.sub("", question)))
    while (opening := _OPENING.match(rest)) and words_in(rest[opening.end() :]):
        rest = rest[opening.end() :]
    return rest if words_in(rest) else question
