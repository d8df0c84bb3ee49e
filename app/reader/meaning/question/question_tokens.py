"""Reads a question as tokens with roles, and lists the spans of it that may express a relation."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from app.reader.language.question_words import GRAMMAR, PREPOSITIONS
from app.reader.language.stated_bounds import (
    FREQUENT,
    NUMBERS,
    FirstOf,
    dates_between,
    first_in,
    is_part_of_first,
    occurrences_in,
)
from app.reader.meaning.question.asked_form import ASKING, TRUTHS, Form, denied_in, form_of, universal_in
from app.reader.meaning.question.measures import (
    OF_MOST,
    POSITIVE,
    SUPERLATIVE,
    Measure,
    StatedUnit,
    is_foreign_unit,
    is_said_by_measure,
    measure_at,
    superlative_of,
    without_units,
)
from app.reader.meaning.question.token_roles import (
    Role,
    ValueLimit,
    denied_spans,
    excluded_in,
    labels_in,
    limits_in,
    mask,
    particles_in,
    roles_of,
    said_words,
    with_prefix_apart,
    words_of,
)
from kg_store.text.english import kind_words
from kg_store.text.inflection import is_participle, singular, verbs_of
from kg_store.text.words import is_pseudonym

LABEL: Final = re.compile(r'"([^"]*)"')
"""Matches a relation label in an expression."""

SORTS: Final = ("type", "kind", "sort")
"""Words that ask for the sort of a thing: "what kind of ward"."""

MIN_OF_ITS_OWN: Final = 5
"""Least number of words of a question that begins with "and" for it to be complete without earlier turns. By hand."""

_HAVING = frozenset("have has had having with".split())
_LACKING = frozenset({"without", "no", "any"})
_DEGREES = frozenset({"most", "least", "more", "less"})
_ALL_OF = frozenset({"the", "these", "those", "both"})
_WORKING = ("negation", "superlative", "comparative", "other", "unknown")
_ANY = frozenset({"any", "some"})
_BEFORE_KIND = (("many",), ("which",), ("list",), ("show",), ("number",))
_MEASURING = ("superlative", "comparative")
_BEFORE_ASKED = frozenset("the a total please me and us what is".split())
"""Words after which "number" or "name" is what is asked for. After others it is part of a noun ("phone number")."""
_VERBS_OF_WHAT = frozenset("have did do does".split())
_GOING_ON = frozenset({"of", "a", "an", "the"})
_EITHER = re.compile(r"E\w{5} or E\w{5}")
_HOW_LONG = ("how", "long")
_RELATIVE = frozenset({"that", "which", "who", "whom"})


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question as tokens: its `words`, and the role of each word in `roles`.

    `form`: the form of answer; `wh`: the first question word, else empty. `asked`: position where the noun of what is
    asked for may begin, else -1. `content`: bit mask of the words that a reading must explain; `working`: of those
    that it must execute, such as a superlative. `measures`: what each comparative or superlative measures, by its
    position. `limits`: the limits on values, each by the position of its value. `excluded`: things that the answer
    leaves out. `grouped`: position where the noun of a group may begin, else -1; `period`: the year or month to group
    by; `function`: sum or average per group. `first`: how many things each superlative asks for, by its position;
    `frequent`: positions of superlatives that ask for what occurs most often. `either`: a union expression for each
    pair "X or Y".
    """

    words: tuple[str, ...]
    roles: tuple[Role, ...]
    form: Form
    wh: str
    asked: int
    content: int
    working: int
    measures: dict[int, Measure] = field(default_factory=dict)
    limits: dict[int, ValueLimit] = field(default_factory=dict)
    grouped: int = -1
    period: str = ""
    function: str = ""
    first: dict[int, FirstOf] = field(default_factory=dict)
    frequent: frozenset[int] = frozenset()
    either: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    text: str = ""

    @property
    def speaks_of_having(self) -> bool:
        """True if the question may ask for things that have a relation at all: "cities that have a clinic"."""
        if "negation" in self.roles or self.asks_members or not _LACKING.isdisjoint(self.words):
            return True
        is_plain = not self.limits and "superlative" not in self.roles and "thing" not in self.roles
        return is_plain and not _HAVING.isdisjoint(self.words)

    @property
    def is_choice(self) -> bool:
        """True if the question asks which of two values one thing has: "is X a machine or a spare part?"."""
        pair = any(limit.other for limit in self.limits.values())
        return pair and self.form == "things" and self.words[0] in TRUTHS and self.roles.count("thing") == 1

    @property
    def in_place_of_kind(self) -> range:
        """Positions where a named thing may stand in place of a noun for a kind.

        Example: "dogs" in "how many dogs", if dog is a species, which is a thing of the graph.
        """
        words, begin = self.words, self.asked
        if self.form == "truth":
            begin = next((at + 1 for at in range(1, len(words)) if words[at] in _ANY), -1)
        elif begin == 0:
            begin = 1 if words[0] == "all" else -1
        elif words[begin - 1 : begin] not in _BEFORE_KIND:
            begin = -1
        begin = next((at for at in range(begin, len(words)) if begin > 0 and self.roles[at] != "grammar"), len(words))
        return range(begin, next((at for at in range(begin, len(words)) if self.roles[at] != "thing"), len(words)))

    @property
    def asks_how_often(self) -> bool:
        return self.form == "count" and bool(occurrences_in(self.words))

    @property
    def asks_members(self) -> bool:
        """True for "which of S smoke": it asks for members of the set S, not for things that they lead to."""
        return (
            self.words[1:2] == ("of",)
            and self.words[0] in ASKING
            and self.words[2][0] == "S"
            and self.roles[2] == "thing"
        )

    @property
    def all_at(self) -> int:
        """Position of "all" in a yes/no question, else -1."""
        return universal_in(self.words, self.roles) if self.form == "truth" else -1

    @property
    def denied_at(self) -> int:
        """Position of the "none" or "no" that denies a whole yes/no question, else -1."""
        return denied_in(self.words, self.roles) if self.form == "truth" else -1

    @property
    def universal(self) -> bool:
        return self.all_at >= 0

    @property
    def asks_if_any(self) -> bool:
        """True for a yes/no question that asks if a set has any member: "is there a", "has any"."""
        return self.form == "truth" and ("there" in self.words[1:2] or not _ANY.isdisjoint(self.words[1:3]))

    @property
    def narrows_first(self) -> bool:
        """True if the superlative chooses from what the other words select: "the oldest patient of X".

        False for "which of the three oldest smoke", where "smoke" selects from the three oldest. False for yes/no
        questions.
        """
        return self.form != "truth" and not is_part_of_first(self.words, min(self.measures, default=0))

    def speaks_of_many(self, at: int) -> bool:
        """Returns True if the noun at position `at` is plural, or follows "every", "each" or "all"."""
        return self.words[at] != singular(self.words[at]) or self.words[max(0, at - 1)] in ("every", "each", "all")

    def at(self, role: Role) -> Iterator[int]:
        return (at for at, each in enumerate(self.roles) if each == role)


def read_question(
    question: str,
    unknown: Collection[str] = (),
    phrases: Collection[tuple[str, ...]] = (),
    numbers: Collection[str] = (),
    verbs: Collection[tuple[str, str]] = (),
) -> AskedQuestion:
    """Reads `question` as tokens. `unknown`: words that the graph does not hold; `phrases`: see `roles_of`;
    `numbers`: see `first_in`; `verbs`: see `particles_in`.
    """
    said, units = without_units(said_words(question), [" ".join(phrase) for phrase in phrases], numbers)
    words = with_prefix_apart(words_of(_reworded(said, phrases), unknown), phrases)
    roles, first, limits, excluded = _with_values(words, phrases, numbers, particles_in(words, verbs))
    form, silent, group = form_of(words, roles)
    measures = {at: measure_at(words, at) for at, role in enumerate(roles) if role in _MEASURING}
    silent += [n + 1 for n in measures if words[n] in _DEGREES and {*words[n + 1 : n + 2]} & {*OF_MOST, *FREQUENT}]
    silent += [at for at in range(len(words)) if is_said_by_measure(words, at)]
    for at in (*silent, *_without_sense(words, roles, limits)):
        roles[at] = "grammar"
    for at in _unread(words, form):
        roles[at] = "unknown" if (words[at],) not in phrases else "content"
    return AskedQuestion(
        words=words,
        roles=tuple(roles),
        form=form,
        wh=next((word for word in words if word in ASKING), ""),
        asked=_asked(words, form),
        content=mask(at for at, role in enumerate(roles) if role == "content"),
        working=mask(at for at, role in enumerate(roles) if role in _WORKING),
        measures=measures,
        limits={at: replace(limit, unit=_unit_of(limit, units)) for at, limit in limits.items()},
        grouped=group.at,
        period=group.period,
        function=group.function,
        first=first,
        frequent=frozenset(at for at in measures if words[at + 1 : at + 2] and words[at + 1] in FREQUENT),
        excluded=tuple(words[at] for at in excluded),
        either=tuple(_unions(words)) if form in ("things", "count") else (),
        text=question,
    )


def _reworded(said: Sequence[str], phrases: Collection[tuple[str, ...]]) -> list[str]:
    said = _with_own_sort(_with_when(_with_own_negation(_of_several(said), phrases), phrases), phrases)
    return _with_labels_joined(said, phrases)


def _of_several(said: Sequence[str]) -> list[str]:
    """Returns "of the two drugs, which has the longer life" as "of the drugs, which has the longest life"."""
    kept, is_compared = [*said[:1]], "than" in said
    for before, word, after in zip(said, said[1:], (*said[2:], ""), strict=False):
        if before != "the" or is_compared:
            kept.append(word)
        elif word not in NUMBERS or after in SUPERLATIVE or word == "one":
            kept.append(superlative_of(word) or word)
    return kept


def _with_own_negation(said: Sequence[str], phrases: Collection[tuple[str, ...]]) -> list[str]:
    """Returns the words with "shouldn't be mixed" as "not mixed", where a relation has such words itself."""
    spans = [*denied_spans(said, phrases)]
    between = {at for span in spans for at in span[1:-1]}
    denying = {span.start for span in spans}
    return ["not" if at in denying else word for at, word in enumerate(said) if at not in between]


def _with_labels_joined(said: Sequence[str], phrases: Collection[tuple[str, ...]]) -> list[str]:
    """Returns the words with "days from sowing to harvest" as "days sowing harvest", where a relation is called so.

    All of them then say that one relation, and no other.
    """
    inside = {at for span in labels_in(said, phrases) for at in span[1:-1] if said[span.start] != "number"}
    return [word for at, word in enumerate(said) if at not in inside or word not in GRAMMAR]


def _with_own_sort(said: Sequence[str], phrases: Collection[tuple[str, ...]]) -> list[str]:
    """Returns the words with "kind" or "sort" as the one word of them that is a relation of the graph: "type"."""
    own = [word for word in SORTS if (word,) in phrases]
    return [own[0] if len(own) == 1 and singular(word) in SORTS else word for word in said]


_DATES: Final = frozenset({"day", "month", "year", "date"})


def _with_when(said: Sequence[str], phrases: Collection[tuple[str, ...]]) -> list[str]:
    """Returns "in what year did X open" as "when did X open", unless a relation has the word "year" itself."""
    at = 1 if said[:1] and said[0] in ("in", "on") else 0
    asks, period, verb = (*said[at : at + 3], "", "", "")[:3]
    is_time = asks in ("what", "which") and singular(period) in _DATES and verb in TRUTHS
    is_relation = any(singular(period) in phrase for phrase in phrases)
    return ["when", *said[at + 2 :]] if is_time and not is_relation else list(said)


def _unions(words: Sequence[str]) -> Iterator[str]:
    """Yields a union expression for each "X or Y" of two things."""
    for pair in _EITHER.findall(" ".join(words)):
        yield f"union({pair.replace(' or ', ', ')})"


def _with_values(
    words: Sequence[str], phrases: Collection[tuple[str, ...]], numbers: Collection[str], of_verbs: Collection[int]
) -> tuple[list[Role], dict[int, FirstOf], dict[int, ValueLimit], dict[int, int]]:
    """Returns the roles of the words, and three mappings for numbers and values: first things, limits and exclusions.

    First things ("the three largest") are keyed by the position of the superlative, limits by that of their value, and
    exclusions by that of the excluded thing. `of_verbs`: positions of particles that belong to the verb before them.
    """
    roles = roles_of(words, _asked(words, "things"), phrases)
    first = first_in(words, roles, numbers)
    for at in of_verbs:
        roles[at - 1] = roles[at] = "content"
    for at in dates_between(words, roles):
        roles[at] = "content" if at in of_verbs else "comparative"
    for at, each in first.items():
        roles = ["grammar" if each.used >> n & 1 else role for n, role in enumerate(roles)]
        roles[at] = "superlative"
    for at in range(1, len(words)):
        if roles[at - 1] == "value" and is_foreign_unit(words[at]):
            roles[at] = "unknown"
    limits, excluded = limits_in(words, roles, numbers), excluded_in(words, roles)
    limits = {at: limit for at, limit in limits.items() if not any(limit.used & each.used for each in first.values())}
    for used in (*(limit.used for limit in limits.values()), *excluded.values()):
        kept = {at for at in limits if words[at] in NUMBERS and words[at - 1] not in _ALL_OF}
        roles = [
            "unknown" if at in kept else "grammar" if used >> at & 1 and role != "value" else role
            for at, role in enumerate(roles)
        ]
    return roles, first, limits, excluded


def _unit_of(limit: ValueLimit, units: Mapping[str, StatedUnit]) -> StatedUnit | None:
    return next((units[name] for name in limit.names if name in units), None)


def _without_sense(words: Sequence[str], roles: Sequence[Role], limits: Mapping[int, ValueLimit]) -> Iterator[int]:
    """Yields the positions of words that add no meaning: "either" before two joined things, and "but" before "not"."""
    is_joined = any(limit.other for limit in limits.values()) or _EITHER.search(" ".join(words)) is not None
    for at, word in enumerate(words):
        if (word == "either" and is_joined) or (word == "but" and "negation" in roles):
            yield at


def _unread(words: Sequence[str], form: Form) -> Iterator[int]:
    """Yields the positions of words that cannot be read.

    These are "and" in "and his siblings?", which needs the turn before, and "for" in "what for?".
    """
    is_asked = bool({*words[1:3]} & {*ASKING, "how"})
    if words[:1] == ("and",) and not is_asked and ("'s" in words or len(words) < MIN_OF_ITS_OWN):
        yield 0
    is_of_verb = not _RELATIVE.isdisjoint(words[1:-2])  # "For" belongs to a verb: "the clinic that X works for".
    if words[-1:] == ("for",) and form == "things" and words[:2] != _HOW_LONG and not is_of_verb:
        yield len(words) - 1


def _is_relative(before: Sequence[str]) -> bool:
    """Returns True if "which" after the words `before` is relative, as in "the films in which somebody plays"."""
    noun = before[:-1] if before[-1:] and before[-1] in PREPOSITIONS else before
    is_named = any(map(is_pseudonym, noun)) or not {*noun}.isdisjoint({*ASKING, *TRUTHS, "how"})
    return bool(noun) and not is_named and noun[-1] not in GRAMMAR and singular(noun[-1]) != noun[-1]


def _asked(words: Sequence[str], form: Form) -> int:
    """Returns the position where the noun of what is asked for may begin, or -1 if the form has none."""
    if form == "truth" or occurrences_in(words):
        return -1
    for at, word in enumerate(words):
        is_compound = word in ("number", "name", "count") and at > 0 and words[at - 1] not in _BEFORE_ASKED
        if word == "what" and words[at + 1 : at + 2] and words[at + 1] in _VERBS_OF_WHAT:
            return -1  # "What have the children of X" does not ask for the children.
        if word == "which" and _is_relative(words[:at]):
            return 0
        if word in ("which", "what", "many", "number", "list", "show", "name", "give", "count") and not is_compound:
            is_part = words[at + 1 : at + 2] == ("of",) and words[at + 3 : at + 4] == ("'s",)
            return at + 4 if is_part else at + 1  # In "which of X's films" the noun stands behind the owner.
    return 0 if words[:1] and words[0] not in ("who", "when", "where", "how", "whose", "whom") else -1


def follows_directly(asked: AskedQuestion, last: int) -> int:
    """Returns the position of the content word that continues the phrase ending at `last`, or -1.

    Examples: "date of birth", "left a number". A participle begins a new phrase.
    """
    at, is_of = last + 1, asked.words[last + 1 : last + 2] == ("of",)
    while at < len(asked.words) and asked.words[at] in _GOING_ON:
        at += 1
    is_content = at < len(asked.words) and asked.roles[at] == "content"
    return at if is_content and (is_of or not is_participle(asked.words[at])) else -1


def without_apposed(
    asked: AskedQuestion, kinds_said: Callable[[Sequence[str]], frozenset[str]], kinds_of: Mapping[str, frozenset[str]]
) -> AskedQuestion:
    """Returns the question without nouns that only repeat what kind of thing follows: "nurse X" if X is a nurse.

    `kinds_said` returns the kinds that words name; `kinds_of` has the kinds of each named thing.
    """
    apposed = 0
    for at in (at for at in asked.at("thing") if at and asked.content >> (at - 1) & 1):
        if not kinds_said(asked.words[at - 1 : at]).isdisjoint(kinds_of.get(asked.words[at], ())):
            apposed |= 1 << at - 1
    roles = tuple("grammar" if apposed >> at & 1 else role for at, role in enumerate(asked.roles))
    return replace(asked, roles=roles, content=asked.content & ~apposed) if apposed else asked


# Greatest number of words in a span: labels rarely have more content words, and longer spans cost time. By hand.
MAX_SPAN_WORDS: Final = 3


class SaidWord(NamedTuple):
    """A word of a question with its singular, the other words for the same kind of thing (`called`), and its verbs."""

    text: str
    singular: str
    called: frozenset[str]
    verbs: frozenset[str]

    @classmethod
    def of(cls, word: str) -> SaidWord:
        one = singular(word)
        return cls(word, one, kind_words(one), verbs_of(word))


@dataclass(frozen=True, slots=True)
class Span:
    """Neighbouring words of a question that may express a relation.

    `texts`: the forms that the sentence model compares ("lives", "lives in"). `used` is the bit mask of the positions,
    `first` and `last` are the outer ones, and `count` is the number of content words.
    """

    words: tuple[str, ...]
    saying: tuple[SaidWord, ...]
    texts: tuple[str, ...]
    used: int
    first: int
    last: int
    count: int


def spans_of(asked: AskedQuestion) -> Iterator[Span]:
    """Yields all runs of up to MAX_SPAN_WORDS content words.

    The texts of a span include it with the preposition behind it ("lives" and "lives in").
    """
    words, saying = asked.words, [SaidWord.of(word) for word in asked.words]
    is_content = [asked.content >> at & 1 for at in range(len(asked.words))]
    for first in range(len(words)):
        for last in range(first, min(first + MAX_SPAN_WORDS, len(words))):
            if not is_content[last]:
                break
            said = words[first : last + 1]
            texts = [" ".join(said)]
            after = words[last + 1] if last + 1 < len(words) else ""
            if after in PREPOSITIONS:
                texts.append(f"{texts[0]} {after}")
            if len(said) == 1 and said[0] in POSITIVE:
                texts += POSITIVE[said[0]].hints
            used = sum(1 << at for at in range(first, last + 1))
            yield Span(said, tuple(saying[first : last + 1]), tuple(texts), used, first, last, len(said))
