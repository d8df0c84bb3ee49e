"""Turns that ask the graph nothing: greetings, thanks, "what can I ask?"; and those that want a thing described."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from app.llm.embedded.sentences.relation_phrases import plural


def _turn(*ways: str) -> re.Pattern[str]:
    """A turn that is one of `ways` and nothing else."""
    return re.compile(rf"^\W*(?:{'|'.join(ways)})\W*$", re.IGNORECASE)


_HELLO = _turn(
    r"(?:hello|hi|hey|hiya|good (?:morning|afternoon|evening|day)|greetings|howdy)(?: there| all| everyone)?",
)
_THANKS = _turn(
    r"(?:(?:ok|okay|great|perfect|cool|nice|good)\W+)?(?:thanks?(?: you)?|thx|cheers|ta)"
    r"(?: (?:a lot|so much|very much|for .+))?",
    r"(?:you are|you're|that is|that's|that was) (?:really |very |so )?(?:helpful|great|nice|kind|good)\b[^?]*",
    r"ok|okay|great|perfect|cool|nice|good|got it|i see",
)
_CHAT = _turn(
    r"how are you(?: doing)?(?: today)?",
    r"how is it going|what's up|tell me a joke|make me laugh|lol|ha(?:ha)+|wow|hm+|never mind|oops",
)
_BYE = _turn(r"bye|goodbye|good bye|see you(?: later)?|good night|ciao")
_HELP = _turn(
    r"i (?:don't|do not) (?:understand|know)(?:\W+what (?:should|can|do) i (?:type|ask|do|say))?",
    r"what should i (?:type|ask)|what do you know(?: about)?|help|help me",
    r"(?:what|which questions) can (?:i|we) ask(?: you| here| about)?|what (?:can|do) you (?:do|know|answer)",
    r"how does (?:this|it) work|how do (?:i|you) use this|what is (?:this|in (?:this|the) graph)",
    r"who are you|what are you|(?:give|show) me (?:some )?examples?",
)
_ABOUT = _turn(
    r"(?:(?:please |can you |could you )*(?:tell me|show me|give me|show|list)"
    r"(?: (?:something|more|all|everything|what you know|a bit|info|information))?(?: (?:about|on|of))?"
    r"|(?:who or what|who|what)(?: is|'s|’s| was)|what do (?:you|we) (?:know|have) (?:about|on)|describe|profile of"
    r"|info(?:rmation)? (?:on|about)|details (?:on|of|about)|about|(?:please |can you |could you )*summari[sz]e)?"
    r"\s*(?:the (?:\w+ )?)?(?P<thing>E(?=[a-z]*[0-9])[a-z0-9]{5})"
    r"(?:['’]s (?:file|record|profile|details|data|info(?:rmation)?))?(?: for (?:me|us))?\W*(?:please)?",
)
_SORT = _turn(
    r"what (?:kind|sort|type)s? of (?:a )?(?:thing|person|place|object|entity) (?:is|was)"
    r"\s*(?:the (?:\w+ )?)?(?P<thing>E(?=[a-z]*[0-9])[a-z0-9]{5})(?: please)?",
)
EXAMPLES: Final = 3


def small_talk(question: str, kinds: Sequence[str]) -> str:
    """The reply to a turn that asks nothing of the graph; empty for every other. `kinds`: the graph's concepts."""
    if _HELLO.match(question):
        return f"Hello. {_invitation(kinds)}"
    if _THANKS.match(question):
        return "You are welcome."
    if _BYE.match(question):
        return "Goodbye."
    return _invitation(kinds) if _CHAT.match(question) or _HELP.match(question) else ""


def invites(question: str) -> bool:
    """True for small talk whose reply is to say what can be asked."""
    return any(way.match(question) for way in (_HELLO, _CHAT, _HELP))


def described_thing(question: str) -> str:
    """The pseudonym that the question wants to hear about ("tell me about X", "X?"); empty where it asks more."""
    found = _ABOUT.match(question)
    return found["thing"] if found else ""


def sorted_thing(question: str) -> str:
    """The pseudonym of which the question asks what kind of thing it is; empty where it asks anything else."""
    found = _SORT.match(question)
    return found["thing"] if found else ""


def _invitation(kinds: Sequence[str]) -> str:
    named = [plural(kind) for kind in kinds[:EXAMPLES]]
    if not named:
        return "Ask me about what this graph holds, by name."
    listed = ", ".join(named[:-1]) + f" and {named[-1]}" if len(named) > 1 else named[0]
    return f"You can ask me about {listed}: what one of them has, what belongs to it, or how many there are."
