"""Turns that ask the graph nothing: greetings, thanks, "what can I ask?". And those that want to hear about a thing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from app.llm.embedded.sentences.relation_phrases import plural

_HELLO = re.compile(
    r"^\W*(?:hello|hi|hey|hiya|good (?:morning|afternoon|evening|day)|greetings|howdy)(?: there| all| everyone)?\W*$",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"^\W*(?:(?:ok|okay|great|perfect|cool|nice|good)\W+)?(?:thanks?(?: you)?|thx|cheers|ta)(?: (?:a lot|so much|very much|for .+))?\W*$"
    r"|^\W*(?:you are|you're|that is|that's|that was) (?:really |very |so )?(?:helpful|great|nice|kind|good)\b[^?]*$"
    r"|^\W*(?:ok|okay|great|perfect|cool|nice|good|got it|i see)\W*$",
    re.IGNORECASE,
)
_CHAT = re.compile(
    r"^\W*(?:how are you(?: doing)?(?: today)?|how is it going|what's up|tell me a joke|make me laugh|lol|ha(?:ha)+|wow|"
    r"(?:yes|no|yeah|nope|sure|fine|sorry|hm+|never mind|oops))\W*$",
    re.IGNORECASE,
)
_BYE = re.compile(r"^\W*(?:bye|goodbye|good bye|see you(?: later)?|good night|ciao)\W*$", re.IGNORECASE)
_HELP = re.compile(
    r"^\W*(?:i (?:don't|do not) (?:understand|know)(?:\W+what (?:should|can|do) i (?:type|ask|do|say))?|what should i (?:type|ask)|"
    r"what do you know(?: about)?|help|help me|(?:what|which questions) can (?:i|we) ask(?: you| here| about)?|what (?:can|do) you (?:do|know|answer)"
    r"|how does (?:this|it) work|how do (?:i|you) use this|what is (?:this|in (?:this|the) graph)|who are you|what are you"
    r"|(?:give|show) me (?:some )?examples?)\W*$",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"^\W*(?:(?:please |can you |could you )*(?:tell me|show me|give me|show|list)(?: (?:something|more|all|everything|what you know|a bit|info|information))?"
    r"(?: (?:about|on|of))?|(?:who|what)(?: is|'s|’s| was)|what do (?:you|we) (?:know|have) (?:about|on)|describe|profile of|info(?:rmation)? (?:on|about)|details (?:on|of|about)"
    r"|about)?\s*(?:the \w+ )?(?P<thing>E(?=[a-z]*[0-9])[a-z0-9]{5})\W*(?:please)?\W*$",
    re.IGNORECASE,
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


def described_thing(question: str) -> str:
    """The pseudonym that the question wants to hear about ("tell me about X", "X?"); empty where it asks more."""
    found = _ABOUT.match(question)
    return found["thing"] if found else ""


def _invitation(kinds: Sequence[str]) -> str:
    named = [plural(kind) for kind in kinds[:EXAMPLES]]
    if not named:
        return "Ask me about what this graph holds, by name."
    listed = ", ".join(named[:-1]) + f" and {named[-1]}" if len(named) > 1 else named[0]
    asked = " ".join(f"How many {kind} are there?" for kind in named)
    return f"You can ask me about {listed}: what one of them has, who or what belongs to it, or how many there are. For example: {asked}"
