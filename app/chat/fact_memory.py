"""Keeps, recalls and erases what people tell of a graph, and adds it to answers that differ from it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import attrgetter
from typing import Final, Protocol

from app.chat.concluding import adds_nothing
from app.chat.conversations import Conversation
from app.chat.execution import Conclusion
from app.chat.question_run import ConclusionResult, QuestionRun
from app.chat.search import is_sure
from app.chat.turn_forms import NAME, without_names
from app.language.readings import DatedStatement, MemoryOutcome, MemoryReply, MemoryTurn
from app.llm.embeddings.embedder import Likeness
from app.memory.stated_facts import NO_SUBJECT, KeptFact, MemoryFullError, Mention, StatedFact, StatedFactStore
from app.privacy.plain_wording import Today
from app.privacy.pseudonyms import words_in
from app.strategies.base import FoundFact
from kg_store.algebra.expressions import Call, Expression, Name, parse
from kg_store.catalog import PrivateGraph
from kg_store.graph.schema import masks_of
from kg_store.graph.traversal import concept_of, kind_of
from kg_store.terms import Hop, Mid, NodeKind, Relation, ValueKind, as_mids

MAX_SHOWN: Final = 10
"""The greatest number of sentences that a reply recalls. Chosen by hand."""
MAX_STAND_INS: Final = 8
"""The greatest number of things of the graph that are read in the place of a new name. Chosen by hand."""

MAX_THINGS: Final = 20
"""The greatest number of things that a question names about which told sentences are looked for. Chosen by hand."""
MIN_ALIKE: Final = 0.45
"""The least likeness (cosine) of a question to a told sentence that it asks for.

Chosen by hand: on the seen half of the utterances of `arog eval memory` 0.80 of the questions are as near to what they
ask for, and 0.04 to anything else that was told.
"""
MIN_ALIKE_BESIDE: Final = 0.55
"""The least likeness beside an answer of the graph. On the same half: 0.63 and 0.003."""

AskInHouse = Callable[[str], Awaitable[QuestionRun]]
"""Asks the graph a question in pseudonyms inside the service, and returns its run."""


class GraphInPseudonyms(Protocol):
    """A graph as an asker sees it, and the conversation whose pseudonyms its things have; a QuestionRun is one."""

    @property
    def graph(self) -> PrivateGraph: ...

    @property
    def conversation(self) -> Conversation: ...


class UnclearMentionError(Exception):
    """A statement names something that no sentence can be kept of, such as the result of an earlier question."""


@dataclass(frozen=True, slots=True)
class StatedStep:
    """The step of the graph that a question asks about: from the pseudonym `start` by the relation `label`.

    `end`: the pseudonym that a question for yes or no asks of; empty for other questions.
    """

    start: str
    label: str
    end: str = ""


class FactMemory:
    """Replies to the turns by which people tell facts, and knows what they told.

    Promise: what is told is kept apart from the graph, sealed, and shown to its owner alone, as far as their role
    still sees what it mentions; it is read inside the service, and no model is asked about it. Condition: turns that
    tell, recall or forget are left out of what models are sent. Limit: a fact counts as one of the graph's relations
    if reading it as a question is sure; it is always shown in the words in which it was told.
    """

    def __init__(self, store: StatedFactStore, today: Today, likeness: Likeness | None = None) -> None:
        """`likeness`: finds the told sentence that a question asks for; without it only relations of the graph do."""
        self._store, self._today, self._likeness = store, today, likeness

    async def relation_of(self, run: QuestionRun, ask: AskInHouse) -> StatedStep | None:
        """Returns the relation of the graph that the turn's statement is read as; None if no reading is sure."""
        turn, table = run.memory_turn, run.conversation.table
        if turn is None or not turn.question:
            return None
        named = table.known(turn.question)
        found = step_stated(turn.statement, await ask(turn.question), named) if len(named) == 2 else None
        if found is not None or len(named) != 2:
            return found
        steps = set[StatedStep]()
        for new, instead in _stand_ins(run, named):
            said, asked = (text.replace(new, instead) for text in (turn.statement, turn.question))
            step = step_stated(said, await ask(asked), {*named, instead} - {new})
            if step is not None and step.end == instead:
                steps.add(replace(step, end=new))
        return steps.pop() if len(steps) == 1 else None

    def replied(self, run: QuestionRun, step: StatedStep | None) -> QuestionRun:
        """Returns the run with the reply to its memory turn; `step`: the relation that a told statement is read as.

        Raises MasterKeyError.
        """
        turn = run.memory_turn
        assert turn is not None  # nosec B101
        replies = {
            "tell": lambda: self._kept(run, turn, step),
            "recall": lambda: self._recalled(run, turn),
            "forget": lambda: self._forgotten(run, turn),
            "say": lambda: self._offered(run, turn),
        }
        reply = replies.get(turn.kind, lambda: MemoryReply("declined", self._today()))()
        text = run.reader.memory.word_reply(reply)
        return replace(run, ended=ConclusionResult(Conclusion(text, (), {}), sentence=text))

    def with_stated(self, run: QuestionRun) -> QuestionRun:
        """Returns the run with a sentence on what its asker told beside the answer or instead of it, if they did."""
        near = self._near(run)
        told = self._told_otherwise(run, near) or self._told_alike(run, near)
        if told is None:
            return run
        said = run.reader.memory.word_reply(self._reply("recalled", run, [told], 1))
        if run.ended.conclusion is not None:
            return replace(run, ended=replace(run.ended, sentence=f"{run.ended.sentence} {said}"))
        return replace(run, ended=ConclusionResult(Conclusion(said, (), {}), sentence=said))

    def _near(self, run: QuestionRun) -> list[KeptFact]:
        """Returns the newest facts that mention what the question names, or the newest of all if it names nothing."""
        topics = (topic.mids.tolist() for topic in run.read.dialogue.topics if topic.newest)
        named = [mid for mids in topics for mid in mids][:MAX_THINGS]
        told = [*self._store.on_subjects(run.fact_owner, named or [NO_SUBJECT]), *self._store.newest(run.fact_owner)]
        by_id = {each.id: each for each in told if not named or not each.fact.mids.isdisjoint(named)}
        return sorted(by_id.values(), key=attrgetter("made_at"), reverse=True)

    def _told_otherwise(self, run: QuestionRun, near: Sequence[KeptFact]) -> KeptFact | None:
        """Returns the newest fact of the answer's relation that says something else than the graph."""
        conclusion, draft = run.ended.conclusion, run.found.draft
        if conclusion is None or draft is None or not draft.expressions:
            return None
        step = _step_of_answer(draft.expressions[0], run.found.evidence)
        mid = run.conversation.table.entity(step.start) if step else None
        relation = _relation_called(run, step.label) if step else None
        if mid is None or relation is None:
            return None
        tails = set(run.graph.blind.neighbours(as_mids([mid]), Hop(relation.id, False)).tails.tolist())
        told = (each for each in near if each.fact.relation == relation.iri and each.fact.subject_mid == mid)
        newest = next((each for each in told if sentence_of(each.fact, run)), None)
        if newest is None or not tails.isdisjoint(_mids_of(newest.fact.mentions[newest.fact.object], run)):
            return None
        return newest

    def _told_alike(self, run: QuestionRun, near: Sequence[KeptFact]) -> KeptFact | None:
        """Returns the told fact most like the question; None if none is like it.

        Beside an answer of the graph stands no fact of another relation of the graph.
        """
        if self._likeness is None:
            return None
        near = [each for each in near if not (run.ended.conclusion and each.fact.relation)]
        sentences = [NAME.join(each.fact.texts) for each in near]
        asked = run.read.dialogue.question
        question = without_names(asked, run.conversation.table.known(asked))
        alike = self._likeness(question, sentences)  # Texts that name the same are not alike for that.
        least = MIN_ALIKE_BESIDE if run.ended.conclusion else MIN_ALIKE
        best_first = sorted(zip(alike.tolist(), near, strict=True), key=lambda pair: -pair[0])
        return next((each for cosine, each in best_first if cosine >= least and sentence_of(each.fact, run)), None)

    def _offered(self, run: QuestionRun, turn: MemoryTurn) -> MemoryReply:
        try:
            sentence = sentence_of(fact_of(turn.statement, run, None), run)
        except UnclearMentionError:
            return MemoryReply("unclear", self._today())
        return MemoryReply("offered", self._today(), (DatedStatement(sentence or turn.statement, self._today()),))

    def _kept(self, run: QuestionRun, turn: MemoryTurn, step: StatedStep | None) -> MemoryReply:
        if not turn.statement:
            return MemoryReply("states nothing", self._today())
        try:
            fact = fact_of(turn.statement, run, step)
            self._store.keep(run.fact_owner, fact)
        except UnclearMentionError:
            return MemoryReply("unclear", self._today())
        except MemoryFullError:
            return MemoryReply("full", self._today())
        told = DatedStatement(sentence_of(fact, run) or turn.statement, self._today())
        return MemoryReply("kept" if fact.relation else "kept as said", self._today(), (told,))

    def _recalled(self, run: QuestionRun, turn: MemoryTurn) -> MemoryReply:
        found = self._meant(run, turn)
        return self._reply("recalled", run, found[:MAX_SHOWN], len(found), turn.about)

    def _forgotten(self, run: QuestionRun, turn: MemoryTurn) -> MemoryReply:
        found = self._meant(run, turn)
        gone = self._store.forget(run.fact_owner, [each.id for each in found])
        return self._reply("forgotten", run, found if gone == 1 else (), gone, turn.about)

    def _reply(
        self, outcome: MemoryOutcome, run: QuestionRun, shown: Sequence[KeptFact], total: int, about: str = ""
    ) -> MemoryReply:
        texts = ((sentence_of(each.fact, run), each.made_at.date()) for each in shown)
        told = tuple(DatedStatement(text, day) for text, day in texts if text)
        return MemoryReply(outcome, self._today(), told, total, about)

    def _meant(self, run: QuestionRun, turn: MemoryTurn) -> list[KeptFact]:
        """Returns the asker's facts that a turn recalls or has erased, newest first: those that they may still see."""
        told = self._store.of_owner(run.fact_owner)
        sentences = {each.id: sentence for each in told if (sentence := sentence_of(each.fact, run))}
        shown = [each for each in told if each.id in sentences]
        if turn.is_last:
            return shown[:1]
        if turn.statement:
            return [each for each in shown if sentences[each.id].casefold() == turn.statement.casefold()]
        return [each for each in shown if not turn.about or _is_about(each.fact, turn.about, run)]


def step_stated(statement: str, run: QuestionRun, named: Collection[str]) -> StatedStep | None:
    """Returns the step of the graph from one of `named` to the other that a statement says.

    `run`: that of the question if the statement is true. None if its answer uses more than these two, or if it is not
    sure and the statement has words that the relation does not have. A step that is walked backwards is turned round.
    """
    draft, graph, table = run.found.draft, run.graph.blind, run.conversation.table
    if draft is None or not draft.expressions or run.ended.conclusion is None:
        return None
    step = _step_of_answer(draft.expressions[0], run.found.evidence)
    if step is None or not step.end or {step.start, step.end} != {*named}:
        return None
    if step.label.startswith("^"):
        step = StatedStep(step.end, step.label[1:], step.start)
    if table.entity(step.start) is None or _relation_called(run, step.label) is None:
        return None
    start, end = (concept_of(graph, table.resolve(word, graph)[0]) for word in (step.start, step.end))
    fact = FoundFact(step.start, start, (step.label,), step.end, end, "1")
    bare = statement.replace("'s ", " ").replace("’s ", " ")
    return step if is_sure(run) or adds_nothing(bare, [fact]) else None


def _step_of_answer(expression: str, evidence: Sequence[FoundFact]) -> StatedStep | None:
    """Returns the single step that an answer's expression follows from one thing, or None."""
    tree = parse(expression)
    if not (isinstance(tree, Call) and tree.function == "exists"):
        return _step_behind(tree, evidence)
    asked = tree.operands[0]
    if not isinstance(asked, Call) or len(asked.operands) != 2:
        return None
    one, other = asked.operands
    if asked.function == "filter" and asked.words[1:2] == ("=",):
        if isinstance(one, Name) and isinstance(other, Name):
            return StatedStep(one.pseudonym, asked.words[0], other.pseudonym)
        return None
    for walked, named in ((one, other), (other, one)) if asked.function == "intersect" else ():
        step = _step_behind(walked, evidence)
        if step is not None and isinstance(named, Name):
            return replace(step, end=named.pseudonym)
    return None


def _step_behind(tree: Expression, evidence: Sequence[FoundFact]) -> StatedStep | None:
    if isinstance(tree, Call):
        start = tree.operands[0]
        if tree.function == "reach" and isinstance(start, Name):
            return StatedStep(start.pseudonym, tree.words[0])
        return None
    facts = (fact for fact in evidence if fact.end == tree.pseudonym and len(fact.path) == 1 and not fact.public)
    return next((StatedStep(fact.start, fact.path[0]) for fact in facts), None)


def _stand_ins(run: QuestionRun, named: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yields (pseudonym of a name that the graph does not have, pseudonym of something that the other leads to).

    The reader is sure of a relation only between what the graph has: "Rose lives in Tarnmouth", where there is no
    Tarnmouth, is read like "Rose lives in Ghent".
    """
    graph, table = run.graph.blind, run.conversation.table
    things = [word for word in named if table.entity(word) is not None]
    new = [word for word in named if not len(table.resolve(word, graph)[0])]
    if len(things) != 1 or len(new) != 1:
        return
    thing = table.resolve(things[0], graph)[0]
    tails = (graph.neighbours(thing, hop).tails[:1] for hop in graph.relations_of(thing) if not hop.inverse)
    for tail in islice((tail for tail in tails if kind_of(graph, tail) is NodeKind.ENTITY), MAX_STAND_INS):
        yield new[0], table.of_entity(Mid(int(tail[0])))


def fact_of(statement: str, run: QuestionRun, step: StatedStep | None) -> StatedFact:
    """Returns a statement in pseudonyms as it is kept. Raises UnclearMentionError."""
    texts, words, mentions, at = list[str](), list[str](), list[Mention](), 0
    masks = {word: mid for mid, word in masks_of(run.graph.blind.schema).items()}
    for each in words_in(statement):
        mention = Mention((masks[each.word],)) if each.word in masks else _mention(each.word, run)
        if mention is not None:
            texts.append(statement[at : each.start])
            words.append(each.word)
            mentions.append(mention)
            at = each.end
    person, conversation = run.request.options.person, run.conversation.id
    fact = StatedFact((*texts, statement[at:]), tuple(mentions), conversation, person)
    relation = _relation_called(run, step.label) if step else None
    if step is None or relation is None:
        return fact
    return replace(fact, relation=relation.iri, subject=words.index(step.start), object=words.index(step.end))


def _mention(word: str, run: QuestionRun) -> Mention | None:
    meaning = run.conversation.table.meaning(word)
    if meaning is None:
        return None
    if meaning.kind in ("entity", "value", "group"):
        return Mention(tuple(meaning.mids.tolist()), value_kind=meaning.value_kind or "")
    if meaning.kind == "literal" and meaning.literal:
        return Mention((), meaning.literal, meaning.value_kind or ValueKind.TEXT)
    raise UnclearMentionError


def sentence_of(fact: StatedFact, run: GraphInPseudonyms) -> str:
    """Returns a fact's sentence in pseudonyms of this conversation; empty if the asker no longer sees all it names."""
    graph, table = run.graph, run.conversation.table
    if fact.relation and all(relation.iri != fact.relation for relation in graph.blind.schema.relations):
        return ""
    masks, said = masks_of(graph.blind.schema), fact.texts[0]
    for mention, text in zip(fact.mentions, fact.texts[1:], strict=True):
        mids, kind = mention.mids, ValueKind(mention.value_kind) if mention.value_kind else None
        if mids and mids[0] in masks:
            word = masks[mids[0]]
        elif not mids:
            word = table.of_literal(mention.literal, kind or ValueKind.TEXT, _mids_of(mention, run))
        elif not is_seen(mids, run):
            return ""
        else:
            shown = next(mid for mid in mids if is_seen((mid,), run))  # Things that share a name are called alike.
            word = table.of_entity(Mid(shown)) if kind is None else table.of_value(Mid(shown), kind)
        said += word + text
    return said


def is_seen(mids: tuple[int, ...], run: GraphInPseudonyms) -> bool:
    """Returns True if things are in the graph still and, where the asker has a role, one of them is in its part."""
    is_there = bool((run.graph.blind.signatures_of(as_mids(mids)) >= 0).all())
    return is_there and (run.graph.holds is None or bool(run.graph.holds(mids)))


def _mids_of(mention: Mention, run: GraphInPseudonyms) -> tuple[int, ...]:
    """Returns what a mention means in the graph: for a typed text, the values that equal it."""
    if mention.mids or not mention.literal:
        return mention.mids
    found = run.graph.names.mids_of_value(ValueKind(mention.value_kind), mention.literal)
    return found if run.graph.holds is None else run.graph.holds(found)


def _is_about(fact: StatedFact, about: str, run: QuestionRun) -> bool:
    """Returns True if a fact mentions what `about` names, or holds its words if it names nothing."""
    table = run.conversation.table
    named = table.known(about)
    if not named:
        return about.casefold() in fact.words.casefold()
    mids = {int(mid) for word in named for mid in table.resolve(word, run.graph.blind)[0]}
    literals = {(meaning.literal or "").casefold() for word in named if (meaning := table.meaning(word)) is not None}
    return bool(mids & fact.mids) or any(
        each.literal and each.literal.casefold() in literals for each in fact.mentions
    )


def _relation_called(run: QuestionRun, label: str) -> Relation | None:
    return next((each for each in run.graph.blind.schema.relations if each.label == label), None)
