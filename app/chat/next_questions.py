"""Suggests questions that may follow an answer, by relations not used yet; each is first answered as a test."""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from typing import Final

import numpy as np

from app.chat.conversations import Reason
from app.chat.execution import AnswerExecutor
from app.chat.pseudonym_meanings import are_persons
from app.chat.question_run import QuestionRun, StageTimer, SuggestedQuestion
from app.chat.reply import cited_by
from app.chat.service import ChatService
from app.chat.suggestions import QuestionMaker
from app.egress.budgets import BudgetUsedUpError
from app.language.readings import AskedStep
from app.llm.reasoner import ReasonerError
from app.privacy.pseudonyms import PseudonymTable, words_in
from app.privacy.safe_text import PrivacyError
from client_sdk.protocol import MAX_MESSAGE_CHARS, MAX_MESSAGES, Message
from kg_store.graph.traversal import concept_of, kind_of, reached, steps_from
from kg_store.storage.vault import NO_NAME, readable_name
from kg_store.terms import NO_MIDS, Hop, Mid, Mids, NodeKind, Schema, Step, ValueKind, as_mids, cached_by_version
from kg_store.text.english import synonyms_of
from kg_store.text.inflection import singular, verbs_of
from kg_store.text.labels import plain_words, reversed_label

_SMALL: Final = frozenset(
    "is has have had was are be by in at on to of from for with the a an as and it its that who which what".split()
)


def is_said(run: QuestionRun, mid: Mid, label: str) -> bool:
    """Returns True if the dialogue has already asked or told about the relation `label` of the thing `mid`.

    That is so if one turn holds all content words of `label`, and names either the thing or nothing at all. A turn
    that names nothing may mean the thing by a pronoun.
    """
    wanted = [_forms(word) for word in plain_words(label).lower().replace("|", " ").replace("^", "").split()]
    wanted = [forms for forms in wanted if forms.isdisjoint(_SMALL)]
    if not wanted:
        return False
    table = run.conversation.table
    for turn in run.read.dialogue.turns:
        named = table.known(turn.text)
        if named and not any(table.entity(word) == mid for word in named):
            continue
        said = {form for each in words_in(turn.text) for form in _forms(each.word.lower())}
        if all(not forms.isdisjoint(said) for forms in wanted):
            return True
    return False


@lru_cache(maxsize=20_000)
def _forms(word: str) -> frozenset[str]:
    return frozenset({word, singular(word)}) | verbs_of(word)


THING: Final = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Stands for the subject in the wording of a question, until its pseudonym or name is inserted."""
MAX_SUBJECTS: Final = 5
MAX_FEW: Final = 5
MAX_ENDS: Final = 20
MAX_OF_A_KIND: Final = 20_000
MAX_OF_THEM: Final = 200
"""The greatest number of things of a set that "they" may stand for. Chosen by hand."""
_NO_NEWS: Final = frozenset({"name", "names", "id", "identifier", "code", "uri", "url", "label"})
"""A relation whose label ends in one of these words is not asked for, because it tells nothing new about a thing."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a question: one thing, or the set of things in the answer if `mid` is None."""

    mids: Mids = field(repr=False)
    mid: Mid | None = None


@dataclass(frozen=True, slots=True)
class NextQuestion:
    """A candidate for a follow-up question.

    `wordings`: texts with THING in place of the subject. `relation`: the words of the relation that it asks for,
    without direction. `expected`: the things that answer it.
    """

    subject: Subject
    wordings: tuple[str, ...]
    relation: str
    expected: Mids = field(repr=False)
    step: Step = ()


def next_questions(run: QuestionRun) -> list[Iterator[NextQuestion]]:
    """Returns, for each thing that a follow-up may ask about, its candidate questions, the best first.

    They are worded as they are drawn, since few are needed.

    Promise: only relations that the asker sees are used, in their own words, and none that the dialogue has already
    asked for or told of the thing.
    """
    subjects = list(islice(_subjects(run), MAX_SUBJECTS))
    return [_of_subject(run, subject) for subject in subjects] or [iter(_of_kinds(run))]


def _subjects(run: QuestionRun) -> Iterator[Subject]:
    """Yields the subjects of follow-ups: single things in the answer, those in the question, then sets in the answer.

    After a set comes its first member in order of names.
    """
    table, graph = run.conversation.table, run.graph.blind
    items = run.ended.conclusion.items if run.ended.conclusion else ()
    told = [(item, table.resolve(item.pseudonym, graph)[0]) for item in items if item.kind in ("entity", "set")]
    asked = [topic.mids for topic in run.read.dialogue.topics if topic.newest and not topic.value_kind]
    singles = [mids for mids in (*(mids for _, mids in told), *asked) if len(mids) == 1]
    seen = set[int]()
    for mids in singles:
        if (mid := int(mids[0])) not in seen and kind_of(graph, mids) is NodeKind.ENTITY:
            seen.add(mid)
            yield Subject(mids, Mid(mid))
    for _, mids in told:
        if 1 < len(mids) <= MAX_OF_THEM and kind_of(graph, mids) is NodeKind.ENTITY:
            yield Subject(mids)
            # The first in order of names, among the members whose names the answer shows.
            records = run.graph.vault.records(mids[: run.request.options.names].tolist())
            named = {mid: readable_name(record, run.language) for mid, record in records.items()}
            held = (Mid(mid) for mid, name in named.items() if name != NO_NAME)
            first = min(held, key=lambda mid: named[mid], default=None)
            if first is not None and first not in seen:
                seen.add(first)
                yield Subject(as_mids([first]), first)


def _of_kinds(run: QuestionRun) -> list[NextQuestion]:
    """Returns candidates after an answer about all things of a kind, for example their number.

    They ask for the thing of the kind with the greatest number or the latest date.
    """
    table, draft = run.conversation.table, run.found.draft
    meanings = [table.meaning(word) for word in table.known(" ".join(draft.expressions))] if draft else []
    maker, found = QuestionMaker(run.graph.blind, run.graph.algebra, run.reader), list[NextQuestion]()
    for meaning in meanings:
        if meaning is None or meaning.concept is None or not len(meaning.mids) <= MAX_OF_A_KIND:
            continue
        for each in islice(maker.greatest_of(meaning.concept), MAX_SUBJECTS):
            found.append(NextQuestion(Subject(meaning.mids), each.wordings, each.relation, each.members))
    return found


@dataclass(frozen=True, slots=True)
class _Way:
    step: Step
    label: str
    members: Mids
    value: ValueKind | None
    spread: int
    """The number of things in the graph that have the step's first relation in this direction."""

    @property
    def worth(self) -> tuple[bool, bool, bool, bool, int, str]:
        """A sort key, the best step first: few results before many, the subject's own relations before those that lead
        to it, descriptions before others, things before values, and then relations that more things have."""
        inverse, is_value = self.label.startswith("^"), self.value is not None
        describes = not inverse and "describe" in synonyms_of(self.label)
        return len(self.members) > MAX_FEW, inverse, not describes, is_value, -self.spread, self.label


def _of_subject(run: QuestionRun, subject: Subject) -> Iterator[NextQuestion]:
    graph = run.graph.blind
    told = _told_of(run, subject)
    known = {int(mid) for each in _subjects_named(run) for mid in each.tolist()}
    for way in sorted(_ways(run, subject), key=lambda way: way.worth):
        if way.label in told or known.issuperset(way.members.tolist()):
            continue
        if subject.mid is not None and is_said(run, subject.mid, way.label):
            continue
        kinds = () if way.value is not None else tuple(concept_of(graph, way.members).split(", "))
        is_somebody = way.value is None and are_persons(graph, way.members)
        thing = "" if subject.mid is None else THING
        asked = AskedStep(thing, way.label, kinds, way.value, len(way.members) == 1, is_somebody)
        if texts := run.reader.word_question(asked):
            # A source may state a fact twice, directly and through a mediator; both get the same words.
            relation = " ".join(dict.fromkeys(plain_words(way.label).replace("^", "").split("|")))
            yield NextQuestion(subject, tuple(texts), relation, way.members, way.step)


@cached_by_version
def _spreads(schema: Schema) -> Mapping[Hop, int]:
    """Returns, for each relation and direction, the number of things in the graph that have it."""
    sizes = Counter[Hop]()
    for signature in schema.signatures:
        sizes.update(dict.fromkeys(signature.hops, signature.size))
    return sizes


def _ways(run: QuestionRun, subject: Subject) -> Iterator[_Way]:
    graph, schema = run.graph.blind, run.graph.blind.schema
    spreads = _spreads(schema)
    for step in steps_from(graph, subject.mids):
        relations = [schema.relations[hop.relation] for hop in step]
        if any(each.mask is not None or not each.label.isascii() for each in relations):
            continue
        words = plain_words(relations[-1].label).lower().split()
        if words[-1] in _NO_NEWS or words == ["number"] or relations[-1].value_kind is ValueKind.TRUTH:
            continue
        members = as_mids(reached(graph, subject.mids, (step,)))
        kind = kind_of(graph, members) if len(members) else NodeKind.MEDIATOR
        if kind is NodeKind.MEDIATOR or len(members) > MAX_ENDS:
            continue
        value = (relations[-1].value_kind or ValueKind.TEXT) if kind is NodeKind.VALUE else None
        if value is not None and subject.mid is None:
            continue  # A list of the values of many things says little without the things.
        yield _Way(step, schema.label_step(step), members, value, spreads.get(step[0], 0))


def _told_of(run: QuestionRun, subject: Subject) -> set[str]:
    table, graph = run.conversation.table, run.graph.blind
    told = set[str]()
    for fact in cited_by(table, run.found, run.ended.conclusion):
        if len(fact.path) != 1:
            continue
        if np.array_equal(table.resolve(fact.start, graph)[0], subject.mids):
            told.add(fact.path[0])
        if np.array_equal(table.resolve(fact.end, graph)[0], subject.mids) and subject.mid is None:
            told.add(reversed_label(fact.path[0]))
    return told


def _subjects_named(run: QuestionRun) -> Iterator[Mids]:
    """Yields the things that the question or its answer named; a question answered by these would tell nothing new."""
    table, graph = run.conversation.table, run.graph.blind
    yield from (topic.mids for topic in run.read.dialogue.topics if topic.newest)
    for item in run.ended.conclusion.items if run.ended.conclusion else ():
        yield table.resolve(item.pseudonym, graph)[0] if item.kind in ("entity", "set", "value") else NO_MIDS


MAX_TRIED: Final = 6
MAX_WORDINGS: Final = 2
MAX_FAILURES: Final = 2
"""A wording that failed with this many things of a kind is not tried again, as then no single name is the reason.
Chosen by hand."""

_WordingOfKind = tuple[str, str, Step, bool]
"""A wording with THING in it, the kind of its subject, the step that it asks for, and True if that leads to one thing.
"""


@cached_by_version
def _failures(_schema: Schema) -> dict[_WordingOfKind, int]:
    """Returns the record of tests on one version of a graph, empty at the first call, for the caller to fill.

    For each wording it holds the number of tests that failed; 0 means that one was answered rightly. It holds no name.
    """
    return {}


@dataclass(frozen=True, slots=True)
class NextQuestions:
    """Suggests follow-up questions, each of which was first asked as a test and answered rightly.

    Promise: the answer to each was exactly what its relation leads to, on the graph as the asker sees it. The test is
    the question itself in a copy of the conversation, or one in the same wording about others of the kind. Only
    the number of failures of a wording is remembered, while this version of the graph is open: no turn, no pseudonym,
    no row in the ledger, no use of a budget. Condition: `chat` uses the embedded reasoner, so nothing leaves the
    service. Limit: a model that answers later may read the same question differently.

    `most`: the greatest number of questions for one answer.
    """

    chat: ChatService = field(repr=False)
    most: int = 3

    async def after(self, run: QuestionRun) -> tuple[SuggestedQuestion, ...]:
        """Returns follow-up questions, at most as many as the request wants, in pseudonyms of the conversation."""
        most = min(self.most, run.request.options.suggestions)
        if not run.ended.grounded or run.read.ambiguous:
            return ()
        chosen: list[SuggestedQuestion] = []
        asked = set[str]()
        for candidate, wording in islice(_in_turn(next_questions(run), asked), MAX_TRIED):
            if await self._holds(run, candidate, wording):
                asked.add(candidate.relation)
                mid, table = candidate.subject.mid, run.conversation.table
                text = wording if mid is None else wording.replace(THING, table.of_entity(mid))
                chosen.append(SuggestedQuestion(text, candidate.expected))
            if len(chosen) == most:
                break
        return tuple(chosen)

    async def _holds(self, run: QuestionRun, candidate: NextQuestion, wording: str) -> bool:
        """Returns True if the question is answered by exactly what its relation leads to.

        It is not asked if a test with another thing of the kind has already shown that its wording works or fails.
        """
        failures, key = _failures(run.graph.blind.schema), _wording_of_kind(run, candidate, wording)
        # If each prompt must match at least k things, the result depends on the thing: each question is tested.
        if self.chat.options.disclosure.k > 1:
            return await self._is_answered(run, candidate, wording)
        if key in failures and (failures[key] == 0 or failures[key] >= MAX_FAILURES):
            return failures[key] == 0 and _has_own_name(run, candidate)
        is_answered = await self._is_answered(run, candidate, wording)
        failures[key] = 0 if is_answered else failures.get(key, 0) + 1
        return is_answered

    async def _is_answered(self, run: QuestionRun, candidate: NextQuestion, wording: str) -> bool:
        """Returns True if the question, asked as the next turn, is answered by exactly what its relation leads to."""
        try:
            following = await asyncio.to_thread(_next_run, run, candidate, wording)
            if following is None:
                return False
            ended = await self.chat.concluded(following, StageTimer())
        except (BudgetUsedUpError, PrivacyError, ReasonerError):
            return False  # The user did not ask this question, so its failure is not reported.
        return _is_answer(ended, candidate)


def _in_turn(candidates: Sequence[Iterable[NextQuestion]], asked: Set[str]) -> Iterator[tuple[NextQuestion, str]]:
    """Yields (candidate, wording) pairs: the first of each subject, then the second of each, and so on.

    Relations in `asked` are skipped, also those that the caller adds to it meanwhile.
    """
    queues = [_wordings_of(each, asked) for each in candidates]
    while queues:
        for queue in list(queues):
            if attempt := next(queue, None):
                yield attempt
            else:
                queues.remove(queue)


def _wordings_of(candidates: Iterable[NextQuestion], asked: Set[str]) -> Iterator[tuple[NextQuestion, str]]:
    tried = set[str]()
    for candidate in candidates:
        for wording in candidate.wordings[:MAX_WORDINGS]:
            if candidate.relation not in asked and wording not in tried:
                tried.add(wording)
                yield candidate, wording


def _wording_of_kind(run: QuestionRun, candidate: NextQuestion, wording: str) -> _WordingOfKind:
    """Returns the key under which the test of a question counts for all like it.

    Two questions have the same key if they ask in the same words by the same relation, about things of the same kind,
    and both expect one thing or both several.
    """
    kind = concept_of(run.graph.blind, candidate.subject.mids)
    return wording, kind, candidate.step, len(candidate.expected) == 1


def _has_own_name(run: QuestionRun, candidate: NextQuestion) -> bool:
    """Returns True if no other thing has the subject's name; otherwise the service would ask back which is meant.

    Always True if the subject is a set, because the question then says "they" and no name.
    """
    mid = candidate.subject.mid
    if mid is None:
        return True
    record = run.graph.vault.records([mid]).get(mid)
    return record is not None and run.graph.names.named(readable_name(record, run.language)) == (mid,)


def _next_run(run: QuestionRun, candidate: NextQuestion, wording: str) -> QuestionRun | None:
    """Returns a run that asks the question as the next turn in a copy of the conversation.

    None if its text would be too long or its subject has no name.
    """
    before, schema = run.conversation, run.graph.blind.schema
    table = PseudonymTable.from_bytes(before.table.to_bytes(schema), schema)
    text = _as_asked(run, candidate, wording, table)
    if not text or len(text) > MAX_MESSAGE_CHARS:
        return None
    turns = [*run.request.messages, Message(role="assistant", content=run.ended.sentence)]
    messages = [*turns[-(MAX_MESSAGES - 2) :], Message(role="user", content=text)]
    request = run.request.model_copy(update={"messages": messages, "conversation": before.id})
    copied = replace(
        before, version=before.version + 1, table=table, reason=Reason(), revealed={*before.revealed}, answers={}
    )
    return QuestionRun(secrets.token_urlsafe(12), run.caller, request, run.graph, copied, run.lexicon, run.reader)


def _as_asked(run: QuestionRun, candidate: NextQuestion, wording: str, table: PseudonymTable) -> str:
    """Returns the question as the user would send it: with the subject's name, or its pseudonym if the asker has no
    key to read names with. Empty if the subject has no name."""
    mid = candidate.subject.mid
    if mid is None:
        return wording
    word = table.of_entity(mid)
    if run.request.public_key is None:
        return wording.replace(THING, word)
    executor = AnswerExecutor(run.graph, table, run.request.options.names, run.language)
    found = executor.names_of([word]).get(word)
    return wording.replace(THING, found.names[0]) if found is not None and found.names else ""


def _is_answer(ended: QuestionRun, candidate: NextQuestion) -> bool:
    """Returns True if the answer is certain, has one part, and equals what the candidate's relation leads to."""
    conclusion, read = ended.ended.conclusion, ended.read
    if conclusion is None or not ended.ended.grounded or read.ambiguous or read.inexact or ended.asks_why:
        return False
    if len(conclusion.items) != 1 or conclusion.items[0].kind not in ("entity", "set", "value"):
        return False
    told = ended.conversation.table.resolve(conclusion.items[0].pseudonym, ended.graph.blind)[0]
    # The answer may leave out things that the question names, if other members remain.
    expected, others = candidate.expected, as_mids(np.setdiff1d(candidate.expected, candidate.subject.mids))
    wanted = others if len(others) else expected
    return np.array_equal(as_mids(told), wanted) or np.array_equal(as_mids(told), as_mids(expected))
