"""Recognises small talk, what asks about one thing, and questions that the turn before offered, by their wording."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal

from app.llm.embeddings.embedder import Likeness
from app.privacy.safe_text import SafeDialogue
from client_sdk.protocol import Message
from kg_store.text.inflection import plural
from kg_store.text.words import folded_text

DID_YOU_MEAN: Final = "Did you mean:"
_OR: Final = " Or: "


def did_you_mean(questions: Sequence[str]) -> str:
    """Returns a sentence that asks back, such as `Did you mean: Who treats X? Or: Whom does X treat?`"""
    return f"{DID_YOU_MEAN} {_OR.join(questions)}"


def was_offered(dialogue: SafeDialogue) -> bool:
    """Returns True if the question is one that the turn before it offered with "Did you mean:", word for word."""
    before = dialogue.turns[-2].text if len(dialogue.turns) > 1 else ""
    offered = before.removeprefix(DID_YOU_MEAN).split(_OR) if before.startswith(DID_YOU_MEAN) else []
    return folded_text(dialogue.question) in map(folded_text, offered)


TO_TRY: Final = "Questions to try:"
KNOWN: Final = "I do know "


def with_questions(sentence: str, questions: Sequence[str]) -> str:
    """Returns `sentence` followed by the questions; unchanged if there are none."""
    return f"{sentence} {TO_TRY} {' '.join(questions)}" if questions else sentence


def with_knowledge(sentence: str, known: Sequence[str], kind: str, relations: Sequence[str]) -> str:
    """Returns `sentence` followed by the things that were understood, and by relations that may be asked for.

    `known`: things with their kind ("Eq7f2k, a ward"). `kind`: the kind of the first one with its article, else empty.
    `relations`: labels of relations of that kind.
    """
    if not known:
        return sentence
    told = f"{sentence} {KNOWN}{' and '.join(known)}."
    return f"{told} Of {kind or 'it'} I can tell: {', '.join(relations)}." if relations else told


def without_questions(messages: Iterable[Message]) -> list[Message]:
    """Returns the turns; those of the assistant without the suggested questions and known things appended to them."""
    bare = []
    for message in messages:
        said = message.content.partition(TO_TRY)[0].partition(f" {KNOWN}")[0].strip()
        is_helped = message.role == "assistant" and said and said != message.content
        bare.append(message.model_copy(update={"content": said}) if is_helped else message)
    return bare


def _turn(*ways: str) -> re.Pattern[str]:
    """Returns a pattern that matches a whole turn in one of the wordings `ways` (regular expressions)."""
    return re.compile(rf"^\W*(?:{'|'.join(ways)})\W*$", re.IGNORECASE)


_VAGUE = r"(?:(?:my|our|the|some|this|these|a few) )?(?:\w+ )?(?:stuff|things?|data|numbers|figures|topics?|work|info)"
"""Matches words that are too vague to name anything of a graph, such as "our sales stuff"."""
_HELLO = _turn(
    r"(?:hello|hi|hey|hiya|good (?:morning|afternoon|evening|day)|greetings|howdy)"
    r"(?: there| all| everyone| again| team| folks)?",
    r"(?:nice|good|glad) to (?:meet|see) you(?: again)?|it's me(?: again)?",
)
_THANKS = _turn(
    r"(?:(?:ok|okay|great|perfect|cool|nice|good)\W+)*(?:thanks?(?: you)?|thx|cheers|ta)"
    r"(?: (?:a lot|so much|very much))?(?: for [^,.;!?]+)?(?: again)?",
    r"(?:you are|you're|that is|that's|that was) (?:really |very |so )?(?:helpful|great|nice|kind|good)\b[^?]*",
    r"(?:ok|okay|great|perfect|cool|nice|good|got it|i see|all right|alright|fine)(?: then)?",
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
    r"i(?:'m|’m| am) (?:new|just starting)(?: here| to this| with this)?",
    r"(?:it's|this is) my first (?:day|time)(?: here)?",
    rf"(?:(?:can|could|would|will) you |please )*help (?:me|us)(?: out)?(?: with {_VAGUE})?(?: please| today)?",
    rf"i(?:'ve| have|'d have|’ve)? (?:got )?(?:a|some|a few) questions?(?: (?:about|on) {_VAGUE})?",
)
_ABOUT = _turn(
    r"(?:(?:please |can you |could you )*(?:tell me|show me|give me|show|list)"
    r"(?: (?:something|more|all|everything|what you know|a bit|info|information))?(?: (?:about|on|of))?"
    r"|(?:please )?tell (?:me|us) what (?:you|we) (?:know|have) (?:about|on)(?: (?!not\b)[a-z]+(?= E))?"
    r"|(?:who or what|who|what)(?: is|'s|’s| was)|what do (?:you|we) (?:know|have) (?:about|on)|describe|profile of"
    r"|(?:(?:can you |could you |please )*(?:give|show) (?:me|us) )?(?:an? )?(?:\w+ )?"
    r"(?:overview|summary|rundown) (?:of|on)"
    r"|info(?:rmation)? (?:on|about)|details (?:on|of|about)|about|(?:please |can you |could you )*summari[sz]e)?"
    r"\s*(?:the (?:\w+ )?)?(?P<thing>E(?=[a-z]*[0-9])[a-z0-9]{5})"
    r"(?:['’]s (?:file|record|profile|details|data|info(?:rmation)?))?(?: for (?:me|us))?"
    r"\W*(?:please|thanks|thank you|i(?:'m|’m| am) new(?: here)?)?"
)
_SORT = _turn(
    r"what (?:kind|sort|type)s? of (?:a )?(?:thing|person|place|object|entity) (?:is|was)"
    r"\s*(?:the (?:\w+ )?)?(?P<thing>E(?=[a-z]*[0-9])[a-z0-9]{5})(?: please)?"
)
_A_NOUN = r"(?:an?|the|(?:one|some) of (?:the|our|my)) ((?:[a-z]+ )?[a-z]+)"
_TWO_NOUNS = rf"{_A_NOUN},? or {_A_NOUN}"
_A_NAME = r"(?:the (?:\w+ )?)?(?P<{}>E(?=[a-z]*[0-9])[a-z0-9]{{5}})"
_CHOICE = _turn(
    rf"(?:is|was) {_A_NAME.format('asked')} {_TWO_NOUNS}",
    rf"{_A_NAME.format('first')}\s*(?:,|-|–|:)\s*(?:is|was) (?:it|that|this|he|she) {_TWO_NOUNS}",
    rf"what (?:is|was) {_A_NAME.format('named')}(?: (?:to|for) us)?\W+(?:is (?:it|that|this) )?{_TWO_NOUNS}",
)
EXAMPLES: Final = 3


Talk = Literal["hello", "thanks", "bye", "chat", "help"]
_WAYS: Final[tuple[tuple[Talk, re.Pattern[str]], ...]] = (
    ("hello", _HELLO), ("thanks", _THANKS), ("bye", _BYE), ("chat", _CHAT), ("help", _HELP),
)  # fmt: skip
_FIRST: Final[tuple[Talk, ...]] = ("help", "hello", "bye", "thanks", "chat")
"""The order of kinds of small talk: if a turn holds several, the first of them in this order is replied to."""
_CLAUSE: Final = re.compile(r"[,.;!?]+(?:\s+|$)|\s+[-–—]+\s+")
MIN_LIKENESS: Final = 0.48
MAX_WORDS: Final = 12
MAX_PARTS: Final = 4
_SAID: Final[tuple[tuple[Talk, str], ...]] = (
    ("hello", "hello, is anybody there?; hi everyone; nice to meet you; good morning"),
    ("thanks", "thanks, that helped; thank you very much for your help; that is what I needed; well done; good job"),
    ("thanks", "that was very helpful; you are the best; awesome; great, thanks a lot; I appreciate it"),
    ("bye", "bye; see you tomorrow; that is all for today; have a nice day; no more questions; that's all, thanks"),
    ("chat", "how are you?; how is it going?; tell me a joke; are you a robot?; are you human?; what is your name?"),
    ("chat", "who made you?; that is funny; wow, nice; sorry; you are stupid; that was not helpful; this is wrong"),
    ("chat", "I am bored; do you like music?; do you speak German?; how old are you?; are you an AI?"),
    ("help", "I need help; can you help me?; what can you do?; what else can you do?; how does this work?"),
    ("help", "who are you?; what do you know?; I am lost; I don't know what to ask; what now?"),
    ("help", "what kind of questions can I ask?; what topics do you cover?; what data do you have?; can I trust you?"),
    ("help", "where does your information come from?; explain what you can do; how can I search?; what should I do?"),
)
_EXAMPLES: Final = tuple((talk, each) for talk, said in _SAID for each in said.split("; "))


def talk_of(question: str, likeness: Likeness | None = None) -> Talk | None:
    """Returns the kind of small talk if the whole turn is small talk, else None.

    `likeness`: compares the turn with known small talk by the sentence model; to be given only for turns with no name
    and no word of the graph.
    """
    parts = [part for part in _CLAUSE.split(question) if part.strip()]
    if len(parts) > 1 and len(parts) <= MAX_PARTS:
        talks = [_talk_of_one(part, likeness) for part in parts]
        return next((talk for talk in _FIRST if talk in talks), None) if all(talks) else _known(question)
    return _talk_of_one(question, likeness)


def _known(question: str) -> Talk | None:
    """Returns the kind of small talk if the turn has a known wording, or two joined by "and" (the second counts); else
    None."""
    whole = next((talk for talk, way in _WAYS if way.match(question)), None)
    first, _, second = question.partition(" and ")
    if whole or not second or _known(first) is None:
        return whole
    return _known(second)


def _talk_of_one(question: str, likeness: Likeness | None) -> Talk | None:
    known = _known(question)
    if known or likeness is None or len(question.split()) > MAX_WORDS:
        return known
    near = likeness(question, [example for _, example in _EXAMPLES])
    best = int(near.argmax())
    return _EXAMPLES[best][0] if near[best] >= MIN_LIKENESS else None


def reply_to(talk: Talk, kinds: Sequence[str]) -> str:
    """Returns the reply to small talk; `kinds`: the graph's concepts, which a reply may offer to ask about."""
    replies = {"hello": f"Hello. {invitation(kinds)}", "thanks": "You are welcome.", "bye": "Goodbye."}
    return replies.get(talk) or invitation(kinds)


def invites(talk: Talk | None) -> bool:
    """Returns True for kinds of small talk to which the reply says what can be asked."""
    return talk in ("hello", "chat", "help")


def described_thing(question: str) -> str:
    """Returns the pseudonym that a turn wants described ("tell me about X", "X?"); empty if it asks anything else."""
    found = _ABOUT.match(question)
    return found["thing"] if found else ""


def sorted_thing(question: str) -> str:
    """Returns the pseudonym whose kind is asked for ("what kind of thing is X"); empty if anything else is asked."""
    found = _SORT.match(question)
    return found["thing"] if found else ""


def thing_to_sort(question: str, names_kind: Callable[[str], bool]) -> str:
    """Returns the pseudonym in "X, is it a depot or a workshop?"; empty if anything else is asked.

    `names_kind`: returns True for a noun that names a kind of the graph.
    """
    found = _CHOICE.match(question)
    if found is None:
        return ""
    thing = next(name for name in found.groupdict().values() if name)
    nouns = (noun for noun in found.groups() if noun and noun != thing)
    return thing if all(names_kind(noun.lower()) for noun in nouns) else ""


def invitation(kinds: Sequence[str]) -> str:
    """Returns a sentence that invites questions about the first EXAMPLES of `kinds`."""
    named = [plural(kind) for kind in kinds[:EXAMPLES]]
    if not named:
        return "Ask me about what this graph holds, by name."
    listed = ", ".join(named[:-1]) + f" and {named[-1]}" if len(named) > 1 else named[0]
    return f"You can ask me about {listed}: what one of them has, what belongs to it, or how many there are."
