"""Word lists of English questions, and the order in which a question's words are read, from its topic outwards.

The topic is a thing that the question names: "nation of the wife of X" is read from X to "wife" to "nation".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from kg_store.text.inflection import is_agent, is_participle, may_be_noun, may_be_verb, singular
from kg_store.text.words import is_pseudonym

# Greatest number of words in a span: labels rarely have more content words, and longer spans cost time. By hand.
MAX_SPAN_WORDS = 3
_WORD = re.compile(r"'s\b|[^\W\d_][^\W_]*(?:'[^\W\d_]+)?")

# Words that name no relation: grammar, question words, and words such as "tell", "list" and "give".
GRAMMAR = frozenset(
    "a an the of is are was were be been being do does did in on at to for from by with and or as that which who "
    "whom whose what when where how why s please tell me name names list give show it its their his her i you we "
    "they them there this those these any some all has have had can could would will shall should must may might much "
    "many us my your our if than then so about into also".split()
)
PREPOSITIONS = ("of", "for", "in", "on", "at", "to", "from", "by", "as", "with")
_ENDINGS = ("by", "in", "at", "for", "to", "on", "from", "with")
_COPULAS = ("is", "are", "was", "were")
# Words by which a question asks for things that have something in common with the topic.
_SHARED = frozenset("share shares shared sharing same together common co joint jointly mutual collaborated".split())
_ARTICLES = frozenset({"the", "a", "an"})
# Words before the topic that join it to the words on its left.
_LEADING = frozenset("of by in at to for with from on as than and or about".split())


class WordUsage(Enum):
    """The part that the topic plays for a word near it: in "X directed", X is the subject of "directed".

    For words farther from the topic, it is the part of what the words before them lead to.
    """

    SUBJECT = auto()  # "X directed", "directed by X", "where X lives"
    OBJECT = auto()  # "who directed X", "who lives in X", "X was directed by whom"
    UNDERGOES = auto()  # "was X born", "was X released": a participle that tells no agent
    HOLDER = auto()  # "the director of X", "X's director"
    FILLER = auto()  # "X is the director of", "whose director is X"


@dataclass(frozen=True, slots=True)
class WordSpan:
    """Neighbouring words of the question that may name a relation, from position `start` to `end` in reading order.

    `usages`: the parts that the topic may play for them. `beside`: they stand directly before the topic. `apposed`:
    they may describe the topic instead of naming a relation ("the director X"). `names_topic`: they can only describe
    it ("the film X").
    """

    start: int
    end: int
    text: str
    usages: frozenset[WordUsage]
    beside: bool
    apposed: bool
    names_topic: bool


@dataclass(frozen=True, slots=True)
class WalkedQuestion:
    """The question's words in reading order (from the topic outwards), with every span that may name a relation.

    `is_content`: for each word, True if it is a content word. `is_shared`: the question asks for what the topic has in
    common with others ("the same director", "together with").
    """

    spans: tuple[WordSpan, ...]
    is_content: tuple[bool, ...]
    is_shared: bool

    @property
    def length(self) -> int:
        return len(self.is_content)

    def spans_at(self, start: int) -> Iterator[tuple[int, WordSpan]]:
        return ((number, span) for number, span in enumerate(self.spans) if span.start == start)


_DOING: Final = (["do"], ["does"], ["did"])


def content_words(text: str) -> list[str]:
    """Returns the words of `text` that may name a relation, a kind or a value."""
    return [word for word in words_in(text) if word not in GRAMMAR and not is_pseudonym(word) and word != "'s"]


def reading_orders(question: str, topic: str) -> list[WalkedQuestion]:
    """Returns the question's words in each order in which they may lead away from `topic`, the likeliest order first.

    Usually the words left of the topic come first, from near to far ("nation of the wife of X"), then those to its
    right. The right side comes first after a possessive ("X's wife"), or if no word on the left leads to the topic
    ("in which city does X live"). Both orders are returned if a content word follows the topic directly ("the director
    of X movies").
    """
    words = words_in(question)
    at = words.index(topic) if topic in words else len(words)
    left, right = words[:at], words[at + 1 :]
    right_first, left_first = [(right, False), (left, True)], [(left, True), (right, False)]
    if _right_is_nearer(left, right):
        return [_walk(right_first)]
    follows = bool(right) and right[0] not in GRAMMAR
    return [_walk(left_first), _walk(right_first)] if follows else [_walk(left_first)]


def _walk(sides: list[tuple[list[str], bool]]) -> WalkedQuestion:
    spans: list[WordSpan] = []
    is_content: list[bool] = []
    is_doing = any(words[-1:] in _DOING for words, backwards in sides if backwards)
    for words_of_side, backwards in sides:
        side = Side([word for word in words_of_side if word not in _SHARED], backwards, is_doing and not backwards)
        spans += _spans(side, len(is_content))
        flags = [word not in GRAMMAR and not is_pseudonym(word) for word in side.words if word != "'s"]
        is_content += flags[::-1] if backwards else flags
    shared = any(not _SHARED.isdisjoint(words) for words, _ in sides)
    return WalkedQuestion(tuple(spans), tuple(is_content), shared)


def _right_is_nearer(left: list[str], right: list[str]) -> bool:
    """Returns True if the words after the topic belong closer to it than those before: "X's wife", "in which city does
    X live".

    That is so if no preposition joins the topic to the words before it, with at most an article and a noun between.
    """
    if right[:1] == ["'s"]:
        return True
    before = left[::-1]
    if before and before[0] not in GRAMMAR:
        before = before[1:]
    if before and before[0] in _ARTICLES:
        before = before[1:]
    return not (before and before[0] in _LEADING)


@dataclass(frozen=True, slots=True)
class Side:
    """The words on one side of the topic; `backwards`: they stand before it and are read from the last one on.

    `is_doing`: the topic does what they say, as in "did X mentor".
    """

    words: list[str]
    backwards: bool
    is_doing: bool = False

    def usages_of(self, start: int, end: int) -> frozenset[WordUsage]:
        """Returns the parts that the topic may play for words[start:end] (see `WordUsage`), judged by the words
        beside.
        """
        span = self.words[start:end]
        before = self.words[start - 1] if start else ""
        after = self.words[end] if end < len(self.words) else ""
        if len(span) > 1 and span[-1] in PREPOSITIONS:
            *span, after = span
        if self.backwards:
            return frozenset(_before_topic(span, before, after, "whose" in self.words))
        return frozenset(_behind_topic(span, before, after, start == 0, self.is_doing))


def _before_topic(span: list[str], before: str, after: str, whose: bool) -> Iterator[WordUsage]:
    if after == "by":
        yield WordUsage.SUBJECT
    elif may_be_verb(span[0]) and not span[0].endswith("ing") and before not in _ARTICLES:
        yield WordUsage.OBJECT
    if not may_be_noun(span[-1]) or after == "by":
        return
    if before == "whose" or (before in _ARTICLES | {"with"} and after == "") or (whose and after in _COPULAS):
        yield WordUsage.FILLER
    elif after in PREPOSITIONS or after == "":
        yield WordUsage.HOLDER


def _behind_topic(span: list[str], before: str, after: str, first: bool, is_doing: bool) -> Iterator[WordUsage]:
    verb = may_be_verb(span[0])
    if verb and after == "by":
        yield WordUsage.OBJECT
    elif verb and is_participle(span[0]) and not _has_object(after):
        yield WordUsage.UNDERGOES
        yield WordUsage.SUBJECT
    elif verb and before not in (*_ARTICLES, "'s"):
        yield WordUsage.SUBJECT
    if not may_be_noun(span[-1]) or after == "by" or (is_doing and first and verb):
        return
    if before == "'s" or first:
        yield WordUsage.HOLDER
    elif before in _ARTICLES:
        yield WordUsage.FILLER


def _has_object(after: str) -> bool:
    """Returns True if the verb before `after` has an object ("X directed which films"; not "where was X born")."""
    return after not in ("", *PREPOSITIONS)


def _spans(side: Side, base: int) -> Iterator[WordSpan]:
    """Yields all spans of up to MAX_SPAN_WORDS words that may name a relation.

    Positions start at `base` and do not count "'s".
    """
    places = [at for at, word in enumerate(side.words) if word != "'s"]
    for first in range(len(places)):
        for last in range(first, min(first + MAX_SPAN_WORDS, len(places))):
            start, end = places[first], places[last] + 1
            span = side.words[start:end]
            if "'s" in span or not _may_name(span):
                continue
            low, high = (len(places) - last - 1, len(places) - first) if side.backwards else (first, last + 1)
            beside = side.backwards and end == len(side.words)
            article = start > 0 and side.words[start - 1] in _ARTICLES
            # A plural cannot name one thing. An agent noun may also name a relation of the topic: "the director X".
            single = may_be_noun(span[-1]) and singular(span[-1]) == span[-1]
            apposed = beside and article and single
            names_topic = apposed and not is_agent(span[-1])
            usages = side.usages_of(start, end)
            yield WordSpan(base + low, base + high, " ".join(span), usages, beside, apposed, names_topic)


def _may_name(span: list[str]) -> bool:
    if any(is_pseudonym(word) for word in span) or span[0] in GRAMMAR:
        return False
    # "directed by" and "lives in" name relations; "films the" does not.
    return span[-1] not in GRAMMAR or (len(span) > 1 and span[-1] in _ENDINGS)


def words_in(text: str) -> list[str]:
    """Returns the words of `text` in lower case; pseudonyms keep their case, and "'s" is a word of its own."""
    words = _WORD.findall(text.replace("’", "'"))
    split = [
        part for word in words for part in ([word[:-2], "'s"] if word.endswith("'s") and word != "'s" else [word])
    ]
    return [word if is_pseudonym(word) else word.lower() for word in split]


def has_words(text: str) -> bool:
    """Returns True if `words_in` would find a word, without looking behind the first."""
    return _WORD.search(text.replace("’", "'")) is not None


MIN_OF_PEOPLE: Final = 2
"""Number of relations that only people have from which a kind counts as people, whatever its name. By hand."""

_PEOPLE: Final = frozenset(
    "human person individual man woman people user chef speaker volunteer buyer contact staff artist musician owner "
    "tenant landlord resident student pupil patient client guest member applicant participant assistant consultant "
    "accountant recipient nurse author captain pilot judge lawyer coach colleague relative neighbour actor singer "
    "director writer president king queen player scientist politician parent child mother father doctor".split()
)
_SOMEBODY: Final = frozenset(
    "boss head chief lead star cast crew mentor guide host aunt uncle cousin son daughter husband wife partner friend "
    "kid heir descendant offspring brother sister dad mom mum".split()
)
_AGENTS: Final = ("er", "or", "ist", "ian", "ee")
"""Endings of agent nouns: teacher, author, artist."""

_HAD_BY_PEOPLE: Final = frozenset(
    "birth gender sex spouse married child parent sibling lives email phone salary hired nationality occupation "
    "profession citizenship first last".split()
)
_HAD_BY_PEOPLE_ALONE: Final = frozenset(
    "birth gender sex spouse married nationality citizenship salary hired surname sibling".split()
)
_GROUPS: Final = frozenset(
    "agency association authority bakery band bank brewery carrier charity church circle clinic club college "
    "commission committee company cooperative corporation council department distributor division employer faculty "
    "firm foundation fund garage gallery government group hospital hotel institute institution insurer insurance "
    "laboratory lab label landlord manufacturer ministry museum operator orchestra organisation organization party "
    "practice producer provider publisher restaurant school shop society sponsor store studio supplier team theatre "
    "trust union university vendor workshop customer client partner chain contractor".split()
)


def names_people(kind: str, kind_type: str, has: Collection[str]) -> bool:
    """Returns True if `kind` names people.

    `kind_type`: the type that the sentence model gives it; `has`: the words of its relations.
    """
    last = _last(kind)
    if last in _PEOPLE or (kind_type in ("person", "group") and len(_HAD_BY_PEOPLE_ALONE & {*has}) >= MIN_OF_PEOPLE):
        return True
    is_agent = last.endswith(_AGENTS) and last not in _GROUPS
    is_group = last in _GROUPS and not names_somebody(last)  # A shop has a phone too; a customer may be a person.
    return kind_type == "person" and not is_group and (is_agent or not _HAD_BY_PEOPLE.isdisjoint(has))


def names_somebody(word: str) -> bool:
    """Returns True for a noun that names a person by role or kinship: actor, boss, child."""
    noun = singular(word.lower())
    return noun in _PEOPLE or noun in _SOMEBODY or noun in _HAD_BY_PEOPLE or noun.endswith(_AGENTS)


def names_a_group(kind: str, kind_type: str) -> bool:
    """Returns True if the last noun of `kind` names a group (firm, clinic).

    Also if `kind_type` is "group" and the noun ends like "carrier" or "operator".
    """
    last = _last(kind)
    return last in _GROUPS or (kind_type == "group" and last.endswith(("er", "or")))


def _last(kind: str) -> str:
    return singular(kind.lower().split()[-1])
