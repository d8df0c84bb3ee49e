"""Checks a draft answer against its question: kind of result, and negations and comparisons left out or added."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeGuard

from app.language.readings import TRUTH, Contradiction, ResultKind
from app.llm.tasks import AnswerInput, StepInput
from app.reader.language.language_detection import foreign_language
from app.reader.meaning.draft_kinds import DraftKinds, words_of
from app.reader.meaning.question.asked_form import TRUTHS
from app.reader.meaning.question.question_tokens import SORTS, AskedQuestion, read_question
from app.reader.meaning.schema_graph import SchemaGraph, schema_graph
from kg_store.algebra.expressions import Call, Expression, Name, is_walk, names_in, parse
from kg_store.errors import ExpressionError
from kg_store.graph.blind_graph import BlindGraph
from kg_store.terms import Schema, cached_by_version
from kg_store.text.english import stems
from kg_store.text.inflection import singular

_IS: Final = frozenset({"is", "are", "was", "were"})
_DETERMINERS: Final = frozenset({"which", "what", "many"})


@dataclass(frozen=True, slots=True)
class AskedNoun:
    """The noun that says what a question asks for, such as "doctors" in "which doctors smoke".

    `kinds`: the concepts that it names. `is_direct`: it follows directly after the question word. `after`: the word
    after it.
    """

    kinds: frozenset[str]
    is_direct: bool
    after: str

    def leaves_room_for(self, label: Collection[str]) -> bool:
        """Returns True if the question may ask for a value and not for the things that the noun names.

        `label`: the words of the value's relation. "The number of the doctor" may ask for a value of the relation
        "number".
        """
        return not self.is_direct or singular(self.after) in label


def noun_of(asked: AskedQuestion, graph: SchemaGraph) -> AskedNoun | None:
    """Returns the noun that says what is asked for, or None if there is none.

    Also None if a name, a value or a word such as "people" comes before it, and if its sort is asked for ("what kind
    of doctor").
    """
    for at in range(_begin(asked), len(asked.words)) if _begin(asked) >= 0 else ():
        if asked.roles[at] in ("thing", "value", "person"):
            return None
        if asked.roles[at] == "content":
            is_sort = at > 1 and asked.words[at - 1] == "of" and singular(asked.words[at - 2]) in SORTS
            return None if is_sort else _noun_at(asked, graph, at)
    return None


def asks_for_people(asked: AskedQuestion) -> bool:
    """Returns True if the question asks for people in general: "how many people", "which persons"."""
    for at in range(_begin(asked), len(asked.words)) if asked.asked >= 0 else ():
        if asked.roles[at] not in ("grammar", "superlative"):
            return asked.roles[at] == "person"
    return False


def _begin(asked: AskedQuestion) -> int:
    """Returns the position of the first word that may say what is asked for ("doctor" in "who is the doctor"), or
    -1 if none may.
    """
    words = asked.words
    if words[:1] == ("who",) and len(words) > 3 and words[1] in _IS and words[2] == "the":
        return 3
    return asked.asked


def _noun_at(asked: AskedQuestion, graph: SchemaGraph, at: int) -> AskedNoun | None:
    words, roles = asked.words, asked.roles
    found, end = frozenset[str](), at
    for length in (2, 1):
        run = roles[at : at + length]
        if not found and len(run) == length and set(run) == {"content"}:
            found, end = graph.kinds_said(words[at : at + length]), at + length
    if found and roles[end : end + 1] == ("content",) and (further := graph.kinds_said(words[end : end + 1])):
        found, end = further, end + 1
    while words[end : end + 1] in (("or",), ("and",)) and (also := graph.kinds_said(words[end + 1 : end + 2])):
        found, end = found | also, end + 2
    after = words[end] if end < len(words) else ""
    if not found or after in ("'s", "s"):
        return None
    before = [word for i, word in enumerate(words[:at]) if roles[i] != "superlative"]
    return AskedNoun(found, bool(before) and before[-1] in _DETERMINERS, after)


_WAY: Final = re.compile(r"\bway\(\s*(\d{1,4})\s*\)")
_TAKES_OUT: Final = frozenset({"difference", "none"})
_BESIDE: Final = frozenset({"except", "besides", "excluding", "apart", "aside"})
_OTHERS: Final = frozenset({"other", "others", "else", "another"}) | _BESIDE
_OPPOSITE: Final = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
# Words of a question that justify an exclusion in the answer, although they are no negation.
_MAY_TAKE_OUT: Final = frozenset(
    "all every each both only just unless nor neither either solely exclusively different distinct missing absent "
    "rest remaining rather free unlike but yet still never always if".split()
)
_DENYING: Final = re.compile(r"(?:un|non|dis)\w{4,}|\w+less")
_RULING: Final = frozenset({"must", "should", "may"})
"""Words before "not" that say a rule, which a graph may hold itself: what "must not be used" leaves nothing out."""
_UNREAD_NEGATION: Final = frozenset("i we you know sure mind remember or why not".split())
_ONLY_ASKS: Final = frozenset("who what is are was were show tell describe know about me the you do".split())
_PLACES: Final = frozenset({"who", "whom", "where"})


@dataclass(frozen=True, slots=True)
class DraftChecks:
    """The checks of draft answers to one question.

    `named`: pseudonyms of the things and values that the question names. `also`: for each concept, the further classes
    that its things have. `persons`: the concepts that are people. `meant`: the kind of result that the service's own
    reading gives, or None if that reading is uncertain.
    """

    asked: AskedQuestion
    graph: SchemaGraph
    named: frozenset[str]
    also: Mapping[str, frozenset[str]]
    persons: frozenset[str] = frozenset()
    meant: ResultKind | None = None

    def contradiction(self, answer: Sequence[str], shown: DraftKinds) -> Contradiction | None:
        """Returns the first way in which `answer` contradicts the question, or None.

        Expressions that do not parse are ignored.
        """
        parsed = list(_parsed(answer))
        if not parsed:
            return None
        results = [shown.of(each) for each in parsed]
        checks = (self._form(results), self._kind(parsed, results, shown), self._negation(parsed, shown))
        found = next((each for each in checks if each is not None), None)
        return found or self._named(parsed) or self._unused(parsed, shown) or self._compared(parsed, shown)

    def _form(self, results: Sequence[ResultKind]) -> Contradiction | None:
        form = self.asked.form
        if form == "truth" and self._asks_for_truth() and not any(each.value == TRUTH for each in results):
            return Contradiction.TRUTH
        is_total = form in ("average", "sum") and TRUTHS.isdisjoint(self.asked.words[:1])
        if (is_total or (form == "count" and self._asks_for_number())) and not any(map(_may_be_number, results)):
            return Contradiction.NUMBER
        if self._asks_for_things() and all(each.is_worked_out for each in results):
            return Contradiction.THINGS
        return None

    def _asks_for_things(self) -> bool:
        """Returns True if the question asks for things or stored values, not for a computed result such as a count."""
        if self.asked.form != "things" or self.asked.words[:1] == ("any",):
            return False  # "Any walks in May?" is answered by a yes as well as by the walks.
        if self.meant is not None and self.meant.is_known:
            return not self.meant.is_worked_out
        is_said = self.asked.wh in (*_PLACES, "when", "which") or noun_of(self.asked, self.graph) is not None
        return is_said and {"how", "number"}.isdisjoint(self.asked.words)

    def _asks_for_truth(self) -> bool:
        """Returns True for a real yes/no question.

        False if it offers a choice ("or") or only introduces another question ("do you know who treats X").
        """
        words = self.asked.words
        return not {"you", "who", "whom", "which", "what", "where", "when", "or"} & set(words[1:])

    def _asks_for_number(self) -> bool:
        """Returns True if the question asks for a number itself.

        False if "number" describes something else that is asked for, as in "which has the larger number of beds".
        """
        words, roles = self.asked.words, self.asked.roles
        if not {"comparative", "superlative"}.isdisjoint(roles):
            return False
        at = next((at for at, word in enumerate(words) if word in ("many", "number", "count")), 0)
        return words[at] == "many" or "content" not in roles[:at]

    def _kind(
        self, parsed: Sequence[Expression], results: Sequence[ResultKind], shown: DraftKinds
    ) -> Contradiction | None:
        if self.asked.form not in ("things", "count", "compare"):
            return None
        noun = noun_of(self.asked, self.graph)
        counted = [_inside_count(each) for each in parsed]
        sets = [shown.of(each) for each in counted]
        known = [(each, of) for each, of in zip(counted, sets, strict=True) if of.is_known and not of.is_worked_out]
        if not known or len(known) < len(results):
            return None
        if noun is not None:
            fits = any(self._is_of(of, noun.kinds) or self._is_worded(each, shown, noun) for each, of in known)
        elif self._may_mean(self.meant):
            fits = any(self._may_be(of, self.meant) or self._is_worded(each, shown) for each, of in known)
        else:
            fits = not self._is_out_of_place(known, shown)
        return None if fits else Contradiction.KIND

    def _may_mean(self, meant: ResultKind | None) -> TypeGuard[ResultKind]:
        """Returns True if the kind `meant` fits the question word: people for "who", anything but people for
        "where".
        """
        if meant is None or not meant.is_known or self.asked.form != "things" or self.asked.wh == "whose":
            return False
        are_people = bool(meant.kinds) and meant.kinds <= self.persons
        if self.asked.wh in ("who", "whom"):
            return are_people
        return not meant.value and meant.kinds.isdisjoint(self.persons) if self.asked.wh == "where" else True

    def _is_out_of_place(self, known: Sequence[tuple[Expression, ResultKind]], shown: DraftKinds) -> bool:
        """Returns True if no result fits the question word.

        Dates and numbers do not fit "who" or "where", people do not fit "where", things do not fit "when".
        """
        if self.persons and asks_for_people(self.asked):
            return all(of.kinds.isdisjoint(self.persons) for _, of in known)
        if self.asked.form != "things":
            return False
        if self.asked.wh == "where" and all(of.kinds and of.kinds <= self.persons for _, of in known):
            return True
        if self.asked.wh in _PLACES:
            wrong = {"date", "number", "truth"}
            return all(of.value in wrong and not self._is_worded(each, shown) for each, of in known)
        return self.asked.wh == "when" and all(of.kinds for _, of in known)

    def _is_of(self, of: ResultKind, nouns: frozenset[str]) -> bool:
        """Returns True if every concept of the result `of` is in `nouns`, or has things of a further class that is."""
        return bool(of.kinds) and all(not nouns.isdisjoint(self._with_classes(kind)) for kind in of.kinds)

    def _may_be(self, of: ResultKind, meant: ResultKind) -> bool:
        if of.value or meant.value:
            return of.value == meant.value
        wider = frozenset[str]().union(*map(self._with_classes, of.kinds))
        return not wider.isdisjoint(meant.kinds)

    def _with_classes(self, kind: str) -> frozenset[str]:
        return self.also.get(kind, frozenset()) | {kind}

    def _is_worded(self, each: Expression, shown: DraftKinds, noun: AskedNoun | None = None) -> bool:
        """Returns True if the result is a value whose relation the question names: "what is the doctor's phone"."""
        if not shown.of(each).value:
            return False
        said = {singular(word) for word in self.asked.words}
        labels = [label for label in shown.last_words(each) if label and label <= said]
        return any(noun is None or noun.leaves_room_for(label) for label in labels)

    def _negation(self, parsed: Sequence[Expression], shown: DraftKinds) -> Contradiction | None:
        takes_out = any(_takes_out(each) for each in parsed)
        denied = self._denies(parsed, shown)
        if denied and not takes_out and not self._is_let_be(parsed, shown) and not any(map(self._turns_limit, parsed)):
            return Contradiction.NEGATION
        words = set(self.asked.words)
        excused = denied or not words.isdisjoint(_MAY_TAKE_OUT | _OTHERS) or any(map(_DENYING.fullmatch, words))
        excused = excused or "negation" in self.asked.roles or bool(self.asked.excluded) or self._says_more()
        return Contradiction.ADDED if takes_out and not excused else None

    def _says_more(self) -> bool:
        """Returns True if the question has a word that the schema lacks, which an exclusion may express.

        Loans without a date of return may be what "outstanding" means. Never for a yes or no, which it would turn.
        """
        if self.asked.form == "truth":
            return False
        known = {form for hop in self.graph.hops for word in hop.label.split() for form in _forms(word.lstrip("^"))}
        content = [word for word, role in zip(self.asked.words, self.asked.roles, strict=True) if role == "content"]
        return any(known.isdisjoint(_forms(word)) and not self.graph.kinds_said((word,)) for word in content)

    def _denies(self, parsed: Sequence[Expression], shown: DraftKinds) -> bool:
        """Returns True if the question excludes something that the draft may hold.

        A word that is in a relation label of the prompt excludes nothing.
        """
        asked, words = self.asked, self.asked.words
        if asked.excluded:
            return True
        for at, word in enumerate(words):
            is_other = word in _OTHERS and words[at - 1 : at] != ("each",)
            if not is_other and asked.roles[at] != "negation":
                continue
            around = {*words[max(0, at - 1) : at], *words[at + 1 : at + 2]}
            is_tag = at == 0 and asked.form == "truth"
            is_rule = not _RULING.isdisjoint(words[max(0, at - 1) : at])
            if is_tag or is_rule or not around.isdisjoint(_UNREAD_NEGATION) or word in shown.label_words:
                continue
            if not self._is_beside(at, parsed, shown):
                return True
        return False

    def _is_beside(self, at: int, parsed: Sequence[Expression], shown: DraftKinds) -> bool | None:
        """Returns True if the draft has nothing to do with what the question leaves aside by the word at `at`.

        A count of members needs no exclusion for "not counting tools". False if the draft has such things, None if the
        question names no kind and no amount there.
        """
        parts = [part for each in parsed for part in _parts_of(each)]
        sets = [part for part in parts if isinstance(part, Name) or part.function == "reach"]
        concepts = [shown.concepts_of(each) for each in sets]
        used = frozenset[str]().union(*(self._with_classes(kind) for each in concepts for kind in each))
        labels = {words_of(label) for part in parts if isinstance(part, Call) for label in part.words}
        for words in self._left_aside(at):
            said = frozenset(map(singular, words))
            if kinds := self.graph.kinds_said(words):
                return all(concepts) and used.isdisjoint(kinds) and said not in labels
            if any(words_of(hop.label) == said and hop.value == "number" for hop in self.graph.hops):
                return said not in labels
        return None

    def _left_aside(self, at: int) -> Iterator[tuple[str, ...]]:
        """Yields the words that may say what is left aside at `at`, the longest first: "apart from tools" is tools."""
        words, roles = self.asked.words, self.asked.roles
        if words[at] == "aside" and words[at + 1 : at + 2] != ("from",):
            first = at
            while first and roles[first - 1] == "content":
                first -= 1
            yield from (words[start:at] for start in range(first, at))
            return
        is_doing = roles[at] == "negation" and words[at + 1 : at + 2] and words[at + 1].endswith("ing")
        if words[at] not in _BESIDE and not is_doing:
            return
        start = at + 2 if is_doing else at + 1
        while roles[start : start + 1] == ("grammar",):
            start += 1
        end = start
        while roles[end : end + 1] == ("content",):
            end += 1
        yield from (words[start:last] for last in range(end, start, -1))

    def _turns_limit(self, expression: Expression) -> bool:
        """Returns True if a filter compares with a value of the question in the opposite way: >= for "not before"."""
        if not isinstance(expression, Call):
            return False
        stated = {limit.name: limit.operator for limit in self.asked.limits.values() if limit.measure is None}
        value = expression.operands[-1] if expression.function == "filter" else None
        if isinstance(value, Name) and _OPPOSITE.get(stated.get(value.pseudonym, "")) == expression.words[1]:
            return True
        return any(map(self._turns_limit, expression.operands))

    def _is_let_be(self, parsed: Sequence[Expression], shown: DraftKinds) -> bool:
        """Returns True if a draft without an exclusion is right although the question has one, such as "who else".

        That is so if the draft is a plain set or a walk: executing it leaves out the things that the question names.
        False if the question has a negation, or leaves out a kind of things that the draft has.
        """
        if "negation" in self.asked.roles or not self.named:
            return False
        if any(self._is_beside(at, parsed, shown) is False for at in range(len(self.asked.words))):
            return False
        return any(is_walk(each) and not (isinstance(each, Name) and each.pseudonym in self.named) for each in parsed)

    def _named(self, parsed: Sequence[Expression]) -> Contradiction | None:
        """Returns NAMED if the answer only repeats things that the question names, else None.

        Returns None also if the question offers a choice ("X or Y", "the older of X and Y"), or holds little more than
        names.
        """
        asked = self.asked
        is_choice = "or" in asked.words or not {"comparative", "superlative"}.isdisjoint(asked.roles)
        if asked.form != "things" or is_choice or _ONLY_ASKS.issuperset(set(asked.words) - self.named):
            return None
        is_named = all(isinstance(each, Name) and each.pseudonym in self.named for each in parsed)
        return Contradiction.NAMED if is_named else None

    def _unused(self, parsed: Sequence[Expression], shown: DraftKinds) -> Contradiction | None:
        """Returns UNUSED if the question names things, and the draft is of whole kinds alone."""
        is_about_things = any(name[0] == "E" for name in self.named)
        is_of_kinds = all(shown.is_kind(name) for each in parsed for name in names_in(each))
        return Contradiction.UNUSED if is_about_things and is_of_kinds else None

    def _compared(self, parsed: Sequence[Expression], shown: DraftKinds) -> Contradiction | None:
        """Returns ALL or VALUE if the draft of a yes/no question leaves out "all" or a thing that is compared."""
        if any(_is_always_so(each, self.named) for each in parsed if shown.of(each).value == TRUTH):
            return Contradiction.VALUE
        if self.asked.form != "truth" or not self._asks_for_truth():
            return None
        truths = [each for each in parsed if shown.of(each).value == TRUTH]
        if not truths:
            return None
        if self.asked.universal and "both" not in self.asked.words[1:3] and not any(map(_is_of_all, truths)):
            return Contradiction.ALL
        used = {name for each in truths for name in shown.lineage(names_in(each))}
        lacks = len(self.named) > 1 and not self.named <= used
        return Contradiction.VALUE if lacks or any(_exists_over_truths(each, shown) for each in truths) else None


def _parsed(answer: Sequence[str]) -> Iterator[Expression]:
    for text in answer:
        try:
            yield parse(_WAY.sub(r"way\1", text))
        except ExpressionError:
            continue


def _may_be_number(of: ResultKind) -> bool:
    return not of.kinds and of.value not in (TRUTH, "truth", "date")


def _takes_out(expression: Expression) -> bool:
    if not isinstance(expression, Call):
        return False
    if expression.function in _TAKES_OUT or "!=" in expression.words:
        return True
    if expression.function == "counted" and expression.words[1:] == ("<", "1"):
        return True
    return any(map(_takes_out, expression.operands))


def _parts_of(expression: Expression) -> Iterator[Expression]:
    yield expression
    for operand in expression.operands if isinstance(expression, Call) else ():
        yield from _parts_of(operand)


def _forms(word: str) -> set[str]:
    return {word.lower(), singular(word.lower()), *stems(word.lower())}


def _inside_count(expression: Expression) -> Expression:
    if isinstance(expression, Call) and expression.function == "count":
        return expression.operands[0]
    return expression


def _is_of_all(expression: Expression) -> bool:
    """Returns True if the expression tests all members of a set: `none(difference(A, B))`, or `holds(...)`."""
    if not isinstance(expression, Call) or expression.function not in ("none", "holds"):
        return False
    inner = expression.operands[0]
    takes_out = isinstance(inner, Call) and (inner.function == "difference" or "!=" in inner.words)
    return expression.function == "holds" or takes_out


def _is_always_so(expression: Expression, named: frozenset[str]) -> bool:
    """Returns True for `exists` and `none` of named things, or of extremes among them, which are never empty."""
    if isinstance(expression, Name):
        return expression.pseudonym in named and expression.pseudonym[0] == "E"
    if expression.function not in ("exists", "none", "union", "argmax", "argmin", "compare"):
        return False
    return all(_is_always_so(each, named) for each in expression.operands)


def _exists_over_truths(expression: Expression, shown: DraftKinds) -> bool:
    if not isinstance(expression, Call) or expression.function not in ("exists", "none"):
        return False
    return shown.of(expression.operands[0]).value == "truth"


def denies(asked: AskedQuestion, answer: Sequence[str]) -> bool:
    """Returns True if the question or the answer excludes something, so that the answer's sentence may say "not"."""
    return "negation" in asked.roles or any(map(_takes_out, _parsed(answer)))


@dataclass(frozen=True, slots=True)
class QuestionChecks:
    """Implements `app.language.protocol.DraftChecks` with the checks of one question."""

    checks: DraftChecks

    def contradiction(self, answer: Sequence[str], shown: StepInput | AnswerInput) -> Contradiction | None:
        """Returns the first way in which `answer` contradicts the question, by the schema and by what `shown`
        holds.
        """
        ways = shown.candidates if isinstance(shown, StepInput) else ()
        relations = shown.relations_of_graph if isinstance(shown, StepInput) else ()
        kinds = DraftKinds(self.checks.graph, shown.things, shown.evidence, ways, relations)
        return self.checks.contradiction(answer, kinds)


def checks_of_question(
    question: str,
    named: Collection[str],
    graph: BlindGraph,
    meant: ResultKind | None,
    type_of: Callable[[str], str],
) -> QuestionChecks | None:
    """Returns the checks for `question`, or None if it is not in English.

    `type_of` returns the type of a concept: person, group, place, date, number or thing.
    """
    if foreign_language(question) is not None:
        return None
    asked, schema = read_question(question), schema_graph(graph)
    persons = frozenset(kind for kind in schema.kinds if schema.is_person(kind, type_of(kind)))
    things = frozenset(named) & frozenset(asked.words)
    return QuestionChecks(DraftChecks(asked, schema, things, classes_beside(graph.schema), persons, meant))


@cached_by_version
def classes_beside(schema: Schema) -> Mapping[str, frozenset[str]]:
    """Returns, for each concept, all classes that things of that concept have."""
    found: dict[str, frozenset[str]] = {}
    for signature in schema.signatures:
        for concept in schema.concepts[signature.id].split(", "):
            found[concept] = found.get(concept, frozenset()) | frozenset(signature.classes)
    return found
