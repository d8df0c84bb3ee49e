"""Turns a reading into answers: the set itself, its size, yes or no, a sum, groups, or the greater of two."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from app.reader.language.question_words import PREPOSITIONS
from app.reader.meaning.comparisons import Comparisons, Truths
from app.reader.meaning.groups import OF_KIND, WRONG_KIND, AskedKind, Groups
from app.reader.meaning.question.measures import PLACES, POSITIVE, are_only_places
from app.reader.meaning.question.question_tokens import LABEL, AskedQuestion
from app.reader.meaning.question.token_roles import mask
from app.reader.meaning.reading import Reading, joins_records
from app.reader.meaning.readings import ReadingBuilder
from app.reader.meaning.schema_graph import NamedThings, SchemaGraph, SchemaHop
from app.reader.scoring.path_scoring import is_active_clause
from kg_store.text.inflection import is_agent, is_participle, singular, verbs_of

_FIRST_STEP = re.compile(r'reach\((E\w{5}), "([^"]*)"\)')
_AUXILIARIES: Final = frozenset("do does did has have had".split())
_NOTHING = re.compile(r'(?:having|reach)\(difference\(.*, having\(\w+, ("[^"]*")\)\), \1\)')
"""Matches a hop from exactly those things that lack the hop, which leads to nothing in every graph."""
_EITHER_VALUE = re.compile(r'union\(filter\((E\w{5}), ("[^"]*"), =, V\w{5}\), filter\(\1, \2, =, V\w{5}\)\)')
_BACK = re.compile(r'reach\(reach\((E\w{5}), "[^"^]*"\), "\^[^"]*"\)')
_AGENT = re.compile(r'reach\(E\w{5}, "\^[^"]*\|[^"|^]* by"\)$')
_ONLY_ITSELF = re.compile(r"(?:filter|having|intersect)\((\w{6}), ")
_OUTSIDE = re.compile(r"(?:count\(|exists\()?(?:difference|none)\(")
_OF_VALUE = re.compile(r"(?:count\()?(?:intersect\()?filter\(")
# Costs of a content word that is not explained, and of an operator or name that is not executed; the latter is higher
# because it changes the meaning more. Chosen by hand; not fitted.
UNEXPLAINED, UNEXECUTED = 1.0, 1.5
_GOT = (("got",), ("gets",), ("was",), ("is",), ("were",), ("are",))
MIN_HEAD: Final = 0.72
"""Least likeness (0 to 1) of the asked noun to the step that explains it. Chosen by hand; not fitted."""
_NO_TRUTHS: Final = frozenset({"who", "whom", "whose", "when", "where"})
_WHAT_IT_DOES: Final = frozenset(("what", word) for word in ("do", "does", "did"))


_HOLDING: Final = frozenset(
    "work works working live lives living stay stays run runs come comes go goes employed hired".split()
)
"""Verbs that add nothing to a property that is true or false: "does X work full time"."""
_LIGHT: Final = frozenset(
    "take keep hold offer provide give ask pay put send receive demand require show bear".split()
)
"""Verbs that add little if their object names a value: "what salary does X get paid"."""
_PLACED: Final = frozenset("based located situated sit sits sitting stand stands standing lie lies lying".split())
"""Verbs that add nothing to the noun of a place that is asked for: "in what country is X based"."""
_LIVING: Final = frozenset("live lives living lived stay stays reside resides residing come comes".split())
_BELONGING: Final = frozenset("work works working worked employed belong belongs assigned".split())
"""Verbs that add nothing to the asked noun: those of _LIVING if it is a place ("which city does X live in"), those of
_BELONGING if it is another thing ("which department does X work in").
"""
_PLACING: Final = frozenset({"in", "at", "located", "based", "situated"})
_DOING: Final = frozenset("do does did can could would will should must has have had".split())
_MONEY: Final = frozenset(
    "eur euro usd gbp chf price cost salary wage fee rent deposit budget stipend premium".split()
)


_LAST_STEP: Final = re.compile(r'reach\((.+), "([^"]*)"\)')
_BY_DATE: Final = re.compile(r'arg(?:max|min)\(.*, "([^"]*)"\)$')
"""Matches the first or last of a set, by a date: "when was the last visit" asks for that date."""
_OF_ONE: Final = re.compile(r"(?:(?:filter|having)\()+E\w{5},")
"""Matches one named thing that conditions narrow, whose members nobody counts."""
_OF_ALL: Final = ("group", "average", "sum")


class IdleWords:
    """Finds words that a meaning may leave unexplained, because its relations say the same already.

    Example: "live" in "customers that live in Norway", if customers have an address there.
    """

    def __init__(self, asked: AskedQuestion, builder: ReadingBuilder) -> None:
        self._asked, self._builder = asked, builder
        words = asked.words
        self._holding = mask(at for at, word in enumerate(words) if word in _HOLDING)
        self._placed = mask(at for at, word in enumerate(words) if word in _PLACED)
        self._living = mask(at for at, word in enumerate(words) if word in _LIVING)
        self._belonging = mask(at for at, word in enumerate(words) if word in _BELONGING)
        self._how_much = mask(at for at in range(1, len(words)) if words[at - 1 : at + 1] == ("how", "much"))
        self._money = mask(at for at in range(2, len(words)) if words[at - 2 : at + 1] == ("how", "much", "money"))
        self._objects = {at: self._object_of(at) for at, word in enumerate(words) if self._is_light(at, word)}

    def of(self, expression: str, left: int, value: str, is_head: bool, kind: str) -> int:
        """Returns the tokens among `left` that `expression` may leave unexplained; both are bit masks of positions.

        `value`: the type of the values that `expression` leads to, else empty. `is_head`: the noun that says what is
        asked for expresses the last hop. `kind`: that noun if it names the kind to which the last hop leads, else
        empty.
        """
        labels = set(LABEL.findall(expression))
        idle = 0
        for label in labels if left & self._asked.content else ():
            explained = self._builder.explained(label) & self._asked.content
            idle |= explained | (explained >> 1 & self._holding if expression.startswith("holds(") else 0)
        last = set((LABEL.findall(expression) or [""])[-1].lower().split())
        if value == "number":
            idle |= self._how_much | (self._money if not _MONEY.isdisjoint(last) else 0)
        says_it = bool(kind) and last == {singular(kind)}  # Exactly the kind: X need not live in its "birth city".
        if is_head or says_it or (kind and not _PLACING.isdisjoint(last)):
            idle |= self._placed
        if are_only_places(LABEL.findall(expression)):
            # Verbs of living add nothing to places: "customers that live in Norway" have an address there.
            idle |= self._living | self._placed
        if says_it:
            idle |= self._living if singular(kind) in PLACES else self._belonging
        return idle | self._light(labels, left & ~idle)

    def _light(self, labels: set[str], left: int) -> int:
        """Returns the bit mask of light verbs in `left` ("take", "keep") whose object is explained.

        Returns 0 if no relation of `labels` leads to values.
        """
        if not any(self._builder.values.get(label) for label in labels):
            return 0
        return mask(at for at, said in self._objects.items() if left >> at & 1 and said and not left & said)

    def _is_light(self, at: int, word: str) -> bool:
        """Returns True for a verb with little meaning of its own ("take", "keep") that no relation uses.

        If a relation is called "kept at", "keep" is not light.
        """
        verbs = verbs_of(word)
        if self._asked.roles[at] != "content" or verbs.isdisjoint(_LIGHT):
            return False
        called = {said for label in self._builder.values for said in label.lower().replace("|", " ").split()}
        return all(verbs.isdisjoint(verbs_of(said)) or is_agent(said) for said in called)

    def _object_of(self, verb: int) -> int:
        """Returns the bit mask of the verb's object, or 0 if there is none or it names a kind.

        The object stands after the verb, or before the "did" of a question.
        """
        words, roles = self._asked.words, self._asked.roles
        behind = next((at for at in range(verb + 1, len(words)) if roles[at] in ("content", "thing", "person")), -1)
        before = next((at for at in range(1, verb) if words[at] in _DOING and roles[at - 1] == "content"), 0) - 1
        kinds = mask(at for used, _ in self._builder.nouns.values() for at in range(len(words)) if used >> at & 1)
        said = (at for at in (behind, before) if at >= 0 and roles[at] == "content" and not kinds >> at & 1)
        return next((1 << at for at in said), 0)


Doubt = Literal["against voice", "unfit measure"]
"""A reason not to answer by a meaning although all words are explained: its verb would be passive where the question's
is active, or an adjective of the question does not measure its values ("how old": a hiring date).
"""


@dataclass(frozen=True, slots=True)
class Meaning:
    """An expression that the question may mean, with its score.

    `left`: bit mask of the tokens that it does not explain. `is_whole`: it uses all that the question names and gives
    the kind asked for. `may_be_whole`: the same, but its kind may be unknown. `weakest`: the least likeness (0 to 1)
    of a step to the words that express it. `silent`: number of steps that no word expresses. `doubts`: see `Doubt`.
    """

    expression: str
    score: float
    left: int
    is_whole: bool
    may_be_whole: bool
    weakest: float
    silent: int = 0
    doubts: frozenset[Doubt] = frozenset()


class AnswerForms:
    """Makes answers from readings and scores each by the words of the question that it leaves unexplained."""

    def __init__(self, asked: AskedQuestion, graph: SchemaGraph, builder: ReadingBuilder, named: NamedThings) -> None:
        self._asked, self._graph, self._builder, self._named = asked, graph, builder, named
        self._comparisons = Comparisons(asked, graph, builder)
        self._truths = Truths(asked, graph, builder, self._comparisons)
        self._noun = self._asked_noun()
        self._head, self._value = self._head_of_asked(), self._asked_value()
        words, self._asks_members = asked.words, asked.asks_members
        # "Who got X prescribed" asks for the patient, not for the doctor.
        got = words[:1] == ("who",) and (words[1:2] in _GOT or words[1:3] in (("has", "been"), ("have", "been")))
        self._asks_recipient = got and "by" not in words and any(map(is_participle, words[2:]))
        self._how_much = ("how", "much") in set(pairwise(words))
        self._given = mask(at for at in builder.nouns if self._is_given(at))
        self._idle = IdleWords(asked, builder)
        self._groups = Groups(asked, graph, builder, self._noun)
        self._kind = AskedKind(asked, graph, builder, named, self._noun, self._head)

    def _asked_noun(self) -> int:
        """Returns the position of the noun that says what is asked for, or -1; of a compound it is the last.

        "Which equipment types" asks for types; "which patients doctors treat" is no compound, as its first noun is
        plural.
        """
        called, words = self._builder.called, self._asked.words
        noun = next((at for at in sorted(called) if self._is_asked(at)), -1)
        while noun + 1 in called and not self._asked.speaks_of_many(noun) and words[noun] != words[noun + 1]:
            noun += 1
        return noun

    def _is_asked(self, at: int) -> bool:
        """Returns True if the noun at `at` says what is asked for.

        Only content words directly before it (which *home* cities) may stand between it and the question word.
        """
        begin, roles = self._asked.asked, self._asked.roles
        if not 0 <= begin <= at:
            return False
        first = at
        while first > begin and roles[first - 1] == "content":
            first -= 1
        return not any(roles[each] in ("content", "thing", "value", "person") for each in range(begin, first))

    def _head_of_asked(self) -> int:
        """Returns the bit mask of the word that says what is asked for, or 0 if it names a kind of the graph.

        Example: "salary" in "what salary does X have". Also 0 unless things or a count are asked for.
        """
        asked = self._asked
        if asked.asked < 0 or asked.form not in ("things", "count"):
            return 0
        at = next((n for n in range(asked.asked, len(asked.roles)) if asked.roles[n] != "grammar"), -1)
        is_kind = any(used >> at & 1 for used, _ in self._builder.nouns.values()) if at >= 0 else True
        return 0 if is_kind or asked.roles[at] != "content" else 1 << at

    def meanings(self, readings: Sequence[Reading]) -> list[Meaning]:
        """Returns the meanings of all readings, best first, each expression once."""
        found: dict[str, Meaning] = {}
        for reading in readings:
            for expression, used, gain in (*self._summed(reading), *self._answers(reading, readings)):
                if _NOTHING.search(expression) or joins_records(expression) or not self._holds_pairs(expression):
                    continue
                if self._asks_recipient and _AGENT.search(expression):
                    continue
                if self._says_its_topic(expression):
                    continue
                meaning = self._judged(expression, used, reading, gain)
                if expression not in found or found[expression].score < meaning.score:
                    found[expression] = meaning
        return sorted(found.values(), key=lambda each: -each.score)

    def _says_its_topic(self, expression: str) -> bool:
        """Returns True if a question for things would be answered by the one thing that it names itself.

        False if it asks for one of several: of the things told before, or of things with the same name ("which Smith
        was born in 1980").
        """
        found, words = _ONLY_ITSELF.match(expression), self._asked.words
        is_of_some = self._asked.form == "things" and self._asked.wh
        if found is None or not is_of_some or found[1] in self._named.spoken:
            return False
        named, choosing = list(self._asked.at("thing")), {"which", "what", *(("of",) if found[1][0] == "S" else ())}
        return [words[at] for at in named] == [found[1]] and words[named[0] - 1] not in choosing

    def _judged(self, expression: str, used: int, reading: Reading, gain: float) -> Meaning:
        asked = self._asked
        left = (asked.content | asked.working) & ~used & ~(asked.words[0] == "and" and bool(reading.value))
        is_head = bool(self._head & reading.final)
        kind = asked.words[self._noun] if reading.said == self._noun >= 0 else ""
        left &= ~self._idle.of(expression, left, reading.value, is_head, kind)
        named = sum(not used >> at & 1 for role in ("thing", "value") for at in asked.at(role))
        idle = (asked.content & left).bit_count() * UNEXPLAINED + (asked.working & left).bit_count() * UNEXECUTED
        score = reading.score + gain - idle - UNEXECUTED * named
        bound = self._noun >= 0 or "person" in asked.roles or asked.form in ("average", "sum", "group")
        bound = (
            bound
            or (is_head and expression.startswith("having("))  # "Which smokers" are those that are one.
            or self._is_asked_value(expression)
            or asked.asks_members
            or (asked.form == "truth" and sum(role in ("thing", "value") for role in asked.roles) > 1)
        )
        fits = not named and gain > -WRONG_KIND and self._joins_either(expression) and self._denies(expression)
        fits = (
            fits
            and (expression.startswith("sum(") or not self._strays(used, reading))
            and not (asked.asks_members and f"reach({asked.words[2]}," in expression)
        )
        fits = fits and not self._given & reading.final and not self._is_roundabout(expression)
        # A path between two things of which no word expresses the hops does not prove a "yes".
        # In "is there a swing at X" the swing says what is between them: the equipment that is one.
        sorts = sum(asked.words[at - 1] in ("a", "an", "any") for at in asked.at("thing") if at)
        fits = fits and not (asked.form == "truth" and reading.silent > 1 + sorts and not asked.content)
        whole = fits and (bound or not reading.unsaid)
        doubts = frozenset(self._doubts(expression, reading))
        return Meaning(expression, score, left, whole, fits, reading.weakest, reading.silent, doubts)

    def _doubts(self, expression: str, reading: Reading) -> Iterator[Doubt]:
        labels = LABEL.findall(expression)
        if (first := _FIRST_STEP.search(expression)) is not None and self._is_against_voice(first[1], first[2]):
            yield "against voice"
        said = set(labels[-1].lower().replace("|", " ").split()) if labels else set[str]()
        measures = (POSITIVE[word] for word in self._asked.words if word in POSITIVE)
        if reading.value in ("date", "number") and not all(each.may_be_of(said) for each in measures):
            yield "unfit measure"

    def _is_against_voice(self, name: str, label: str) -> bool:
        """Returns True if a step by a passive relation ("mentored by") does not fit the voice of the question's verb.

        In "whom did X coach" the named thing acts, so that the step leads back; in "who coached X" it does not.
        """
        words = self._asked.words
        at, kinds = (words.index(name) if name in words else 0), self._builder.kinds_of(name)
        if at < 2 or "|" in label or not label.endswith(" by"):
            return False
        if not any(hop.label == label and not hop.ends.isdisjoint(kinds) for hop, _ in self._graph.leaving(kinds)):
            return False
        before = words[at - 2] if words[at - 1] == "the" else words[at - 1]
        behind = words[at + 1 : at + 2]
        acts = before in _AUXILIARIES and bool(behind) and bool(verbs_of(behind[0])) and words[-1] != "by"
        return acts != label.startswith("^") if acts or is_active_clause(words, at) else False

    def _is_roundabout(self, expression: str) -> bool:
        """Returns True if the expression takes a detour.

        Example: "all wards of the clinic that X works at", if X itself has a ward and the question names no other
        kind.
        """
        found = _BACK.fullmatch(expression)
        if found is None or len(self._builder.nouns) != 1 or self._noun < 0:
            return False
        kinds = self._builder.nouns[self._noun][1]
        own = [
            hop for hop, _ in self._graph.leaving(self._builder.kinds_of(found[1])) if hop.ends and hop.ends <= kinds
        ]
        return any("^" not in hop.label and self._named.has(found[1], hop.label) for hop in own)

    def _is_given(self, at: int) -> bool:
        """Returns True for a noun that is context and not asked for, as the band in "what does X play in the band"."""
        words = self._asked.words
        return at > 1 and words[:2] in _WHAT_IT_DOES and words[at - 1] == "the" and words[at - 2] in PREPOSITIONS

    def _is_asked_value(self, expression: str) -> bool:
        """Returns True if the expression selects things by the value that stands in place of a noun.

        Example: "accountants in X", if "accountant" is an occupation and not a kind of things.
        """
        return bool(self._value) and _OF_VALUE.match(expression) is not None and f"=, {self._value})" in expression

    def _asked_value(self) -> str:
        """Returns the pseudonym of the value that stands where the asked noun may begin, else an empty string.

        A thing must be named as well.
        """
        asked = self._asked
        if asked.asked < 0 or asked.form not in ("things", "count") or "thing" not in asked.roles:
            return ""
        at = next((n for n in range(asked.asked, len(asked.roles)) if asked.roles[n] != "grammar"), -1)
        return asked.words[at] if at >= 0 and asked.roles[at] == "value" else ""

    def _strays(self, used: int, reading: Reading) -> bool:
        """Returns True if the answer is not what the question asks for.

        That is so if the noun that says what is asked for expresses an earlier step instead of the end of the path. It
        is also so if a step fits its words with likeness below MIN_HEAD.
        """
        return bool(self._head & used) and not (self._head & reading.final and reading.weakest >= MIN_HEAD)

    def _denies(self, expression: str) -> bool:
        """Returns True if the expression executes a "no" after a noun correctly, or if the question has none.

        "Doctors that treat no smokers" are all doctors without those that treat smokers, not doctors that treat
        non-smokers.
        """
        words, roles = self._asked.words, self._asked.roles
        denied = any(words[at] == "no" and roles[at - 1] == "content" for at in self._asked.at("negation") if at)
        return not denied or _OUTSIDE.match(expression) is not None

    def _joins_either(self, expression: str) -> bool:
        """Returns False if an "or" of the question asks for a union and the expression has none, else True."""
        asked = self._asked
        is_read = "or" not in asked.words or asked.form not in ("things", "count", "truth") or asked.is_choice
        return is_read or "union(" in expression

    def _holds_pairs(self, expression: str) -> bool:
        """Returns True if the expression holds every union that an "or" between two named things asks for."""
        return all(pair in expression for pair in self._asked.either)

    def _answers(self, each: Reading, readings: Sequence[Reading]) -> Iterator[tuple[str, int, float]]:
        """Yields answers to the question as (expression, bit mask of tokens used, gain in score)."""
        text, form = self._builder.text(each), self._asked.form
        # "The average delay" is that of all things with a delay: no word needs to say their kind.
        if not text or (self._asks_members and text[:6] == "reach(") or (each.is_implied and form not in _OF_ALL):
            return
        for name in self._asked.excluded if not each.value and form in ("things", "count") else ():
            text = f"difference({text}, {name})"
        if "other" in self._asked.roles and form in ("things", "count"):
            yield from self._others(each, text)
            return
        if form == "truth":
            yield from self._truths.of(each, readings)
        elif form == "compare":
            yield from self._comparisons.outnumbering(each, readings)
            yield from self._comparisons.of(each, readings)
        elif form == "minus":
            yield from self._comparisons.differences(each, readings)
        elif self._asked.is_choice and (choice := _EITHER_VALUE.fullmatch(text)):
            yield f"reach({choice[1]}, {choice[2]})", each.used, OF_KIND
        elif (each.is_bare and form not in ("average", "sum")) or (form == "count" and _OF_ONE.match(text)):
            return
        elif form == "count":
            yield from self._counts(each, text)
        elif form in ("average", "sum"):
            yield from self._groups.totals(each, text)
        elif form == "group":
            yield from self._groups.per_group(each, text)
        elif each.value == "truth" and (self._asked.wh in _NO_TRUTHS or self._asked.words[:2] in _WHAT_IT_DOES):
            return  # A yes/no value does not answer "when was it fixed".
        elif each.value == "truth" and each.anchor >= 0 and text.startswith("reach(E"):
            yield f"holds({text})", each.used, 0.0
        elif each.value == "truth" or (each.anchor >= 0 and text == self._asked.words[each.anchor]):
            return
        else:
            yield self._things(each, text)

    def _things(self, each: Reading, text: str) -> tuple[str, int, float]:
        """Returns the answer that lists a reading: its dates for "when", people for "who", the sum for "how much"."""
        if self._asked.wh == "when" and (dates := self._dates_of(each, text)):
            return dates, each.used, OF_KIND
        if self._asked.wh in ("who", "whom") and (people := self._only_step(each, text, self._leads_to_people)):
            return people, each.used, OF_KIND
        led = _LAST_STEP.fullmatch(text) if each.value == "number" and self._how_much else None
        if led is not None and self._is_of_rows(led):
            return f'sum({led[1]}, "{led[2]}")', each.used, OF_KIND
        return text, each.used, self._kind.fit(each)

    def _is_of_rows(self, led: re.Match[str]) -> bool:
        """Returns True if a last step reads the numbers of several rows, which "how much" adds up."""
        labels = [label for label in LABEL.findall(led[0]) if "^" in label or "|" in label]
        return any(not hop.is_one for hop in self._graph.hops if hop.label in labels)

    def _counts(self, each: Reading, text: str) -> Iterator[tuple[str, int, float]]:
        if self._asked.asks_how_often:
            yield from self._groups.occurrences(each, text)
        elif each.value == "number" and self._noun < 0 and "different" not in self._asked.words:
            yield from self._groups.counted_values(each, text)
        else:
            yield self._counted(each, text)

    def _dates_of(self, each: Reading, text: str) -> str:
        """Returns the latest or earliest date if `text` chooses by it, or the only dates that rows have; else ""."""
        chosen = _BY_DATE.match(text)
        if chosen and any(hop.is_date for hop in self._graph.hops if hop.label == chosen[1]):
            return text.removeprefix("arg")
        return self._only_step(each, text, lambda hop: hop.is_date)

    def _leads_to_people(self, hop: SchemaHop) -> bool:
        return bool(hop.ends) and hop.ends <= self._named.persons

    def _only_step(self, each: Reading, text: str, fits: Callable[[SchemaHop], bool]) -> str:
        """Returns the ends of the only step from some rows that `fits`; empty if there are several, or no rows."""
        if not (each.kinds and each.kinds <= self._graph.rows) or each.value or each.is_whole:
            return ""
        labels = [hop.label for hop, _ in self._graph.leaving(each.kinds) if fits(hop)]
        return f'reach({text}, "{labels[0]}")' if len(labels) == 1 else ""

    def _summed(self, each: Reading) -> Iterator[tuple[str, int, float]]:
        """Yields answers that add up numbers although no word asks for a sum, such as the beds of a clinic."""
        if self._asked.form == "count" and self._builder.text(each):
            yield from self._groups.of_parts(each)
            yield from self._groups.of_all(each) if each.is_implied else ()

    def _counted(self, each: Reading, text: str) -> tuple[str, int, float]:
        """Returns an answer that counts the members of a reading, as for "in how many countries".

        The answer is (expression, bit mask of tokens used, gain). If the members are values, the gain is lower by
        OF_KIND, unless the noun after "how many" names their relation.
        """
        is_other = bool(each.value) and not self._head & each.final
        return f"count({text})", each.used, self._kind.fit(each) - OF_KIND * is_other

    def _others(self, each: Reading, text: str) -> Iterator[tuple[str, int, float]]:
        """Yields the answers to "who else": the set without what is named, and without what was spoken of last.

        Both only if they are of the kind asked for.
        """
        asked = self._asked
        groups = [asked.words[at] for at in asked.at("thing")], self._named.spoken
        alike = (
            [name for name in names if not self._builder.kinds_of(name).isdisjoint(each.kinds)] for names in groups
        )
        names = [next(iter(found)) for found in alike if found]
        if names and not each.value:
            used = each.used | mask(list(asked.at("other")))
            for name in names:
                text = f"difference({text}, {name})"
            yield (f"count({text})" if asked.form == "count" else text), used, self._kind.fit(each)
