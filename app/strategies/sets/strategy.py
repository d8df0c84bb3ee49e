"""The `sets` strategy: all things that one head reaches by one relation form one set; a round is mostly one call."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from app.egress.budgets import QuestionBudgetUsedUpError
from app.egress.disclosure import Profile
from app.language.readings import NOTHING_LIKELY, LikelyReadings, schema_steps
from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.closed_schemas import labels_in
from app.llm.in_house import HeldMeaning, ReadingScores
from app.llm.tasks import Evidence, PathTriple, PublicTerm, StepInput, StepReply, Task, Thing
from app.strategies.base import Draft, FoundFact, RetrievalResult, StrategyInput
from app.strategies.drafts import CheckedDrafts, QuestionMeaning, draft_of, meaning_of, read_prompt
from app.strategies.retrieval import (
    CandidatePath,
    NodeSet,
    NumberedWays,
    PhrasesByPath,
    Vocabulary,
    Ways,
    arrive,
    as_many_as_fit,
    beside,
    cut_note,
    near_relations,
    numbered,
    over_budget,
    parse_path,
    phrases_of,
    show_dialogue,
    show_evidence,
    show_masked,
    show_things,
    steps_shown,
)
from app.strategies.row_drafts import draft_of_rows
from app.strategies.sets.candidates import (
    CandidateFinder,
    CandidatePages,
    NearestWays,
    Paginator,
    PathPrefix,
    PathRanker,
    WaySelector,
)
from app.strategies.sets.prompts import STEP, STEP_IN_GRAPH, nearest_paths, question_in_form
from app.strategies.sets.said_schema import held_meaning
from app.strategies.sets.times import TimedPaths
from app.strategies.sets.vote import VotedWays, may_vote, walked_ways
from app.strategies.shown_schema import MAX_SHOWN, public_terms_shown, schema_shown, steps_with_rows
from app.strategies.start import declares_kinds, own_steps, starting_places, whole_kinds
from kg_store.graph.kinds import nameless_kinds
from kg_store.graph.schema import own_words_of
from kg_store.terms import Path
from kg_store.text.labels import words_of_kinds, words_of_steps

# Text in quotes is a relation's label and must stay as it is.
_WAY = re.compile(r'"[^"]*"|\bway\(\s*(\d{1,4})\s*\)')


def numbers_in(expressions: Sequence[str]) -> list[int]:
    """Returns the numbers n of all `way(n)` in `expressions`, each once."""
    found = (match[1] for expression in expressions for match in _WAY.finditer(expression))
    return list(dict.fromkeys(int(number) for number in found if number))


def filled(expression: str, pseudonym_of: Callable[[int], str | None]) -> str:
    """Returns `expression` with each `way(n)` replaced by the pseudonym of what candidate n leads to.

    If a candidate has no pseudonym, its `way(n)` stays, and the expression will not parse.
    """

    def replace(match: re.Match[str]) -> str:
        return (pseudonym_of(int(match[1])) if match[1] else None) or match[0]

    return _WAY.sub(replace, expression)


@dataclass(slots=True)
class SearchProgress:
    """The state of one question's search, updated by each round.

    `things`: sets shown beside the evidence. `places`: all sets from which candidates start; `frontier`: the newest of
    them. `trails`: the path by which each set was reached. `walked`: candidates already followed; they are not offered
    again. `shown`: the evidence as prompts show it; new facts are appended. `near`: relation labels, those most like
    the question first. `is_cut`: the token budget left candidates out. `graph`: the schema as
    prompts show it, if they do; `is_part`: it leaves some out; `terms`: the public terms beside it; `nameless`: its
    kinds of nameless nodes.
    """

    drafts: CheckedDrafts
    things: dict[str, NodeSet]
    frontier: list[NodeSet]
    places: dict[str, NodeSet]
    facts: list[FoundFact] = field(default_factory=list)
    shown: list[Evidence] = field(default_factory=list)
    path: list[PathTriple] = field(default_factory=list)
    trails: dict[str, PathPrefix] = field(default_factory=dict)
    walked: set[tuple[str, Path]] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    turned_pages: bool = False
    round: int = 0
    is_cut: bool = False
    near: list[str] = field(default_factory=list)
    kinds: tuple[Thing, ...] = ()
    own: dict[str, tuple[str, ...]] = field(default_factory=dict)
    meaning: QuestionMeaning | None = None
    may_leave: dict[str, bool] = field(default_factory=dict)
    phrases: PhrasesByPath = field(default_factory=dict)
    voted: VotedWays | None = None
    held: HeldMeaning | None = None
    likely: LikelyReadings = NOTHING_LIKELY
    timed: TimedPaths | None = None
    graph: dict[str, list[str]] = field(default_factory=dict)
    is_part: bool = False
    terms: list[PublicTerm] = field(default_factory=list)
    nameless: tuple[Thing, ...] = ()


CHOSEN: Final = ReadingScores("ranked", 1.0, 0.0, share=0.97)
"""The scores of a reading that the asker chose among those offered; its chance is set by hand."""

NOT_THEN: Final = "The graph says when this was so, and it was not at the time that you ask about."

NOT_SURE: Final = (
    "I am not sure what this question means, so I give no answer. Short questions that name one thing and use the "
    "words of the graph are read best."
)


class SetsStrategy:
    """Answers with few model calls: mostly one a round, which follows candidate paths or drafts the answer.

    Under the open profile a round shows all candidates at once. Under the others, which show only what a thing's kind
    has, it shows the best candidates first and further pages if none fits. Where prompts may show a kind's relations,
    a capable model sees the schema instead, at most `max_shown` relations of its kinds, and mostly one call answers.
    `hints`: prompts may show the service's own reading. `selector` chooses the candidates if there are too many.
    """

    def __init__(
        self, embedder: Embedder, hints: bool = True, selector: WaySelector | None = None, max_shown: int = MAX_SHOWN
    ) -> None:
        self._embedder, self._hints, self._selector = embedder, hints, selector or NearestWays()
        self._max_shown = max_shown
        self._ways = PathRanker()

    async def find(self, inquiry: StrategyInput) -> RetrievalResult:
        """Searches for the answer to a question.

        If the question states a time, it is first searched without the time, and the result is narrowed to it. If the
        graph has no dates for the result, it is searched as it stands. A result true only at other times is refused.
        A reading that the asker chose among those offered is taken as it is.
        """
        timed = None if inquiry.chosen else TimedPaths.of(inquiry)
        found = await self._find(timed.inquiry, timed) if timed else None
        if timed is None or found is None or (timed.is_cut and found.draft is None):
            found = await self._find(inquiry)
            if timed is not None and await asyncio.to_thread(timed.excludes, found.draft, found.evidence):
                return replace(found, draft=None, contradicted=NOT_THEN)
        return found

    async def _find(self, inquiry: StrategyInput, timed: TimedPaths | None = None) -> RetrievalResult:
        start = starting_places(inquiry, self._embedder)
        things = {place.pseudonym: place for place in (*start.frontier, *start.kinds)}
        places = {place.pseudonym: place for place in start.frontier}
        progress = SearchProgress(CheckedDrafts(inquiry), things, list(start.frontier), places, timed=timed)
        if declares_kinds(inquiry.graph.schema):
            progress.kinds, progress.own = whole_kinds(inquiry), own_steps(inquiry, start.frontier)
            shown = await asyncio.to_thread(schema_shown, inquiry, self._embedder.similarity, self._max_shown)
            progress.graph, progress.is_part = shown.lines, not shown.is_whole
            if progress.graph:
                progress.terms = await asyncio.to_thread(public_terms_shown, inquiry, self._embedder.similarity)
            if progress.graph or not inquiry.reasoner.is_model:
                progress.nameless = whole_kinds(inquiry, nameless_kinds(inquiry.graph.schema))
        if not inquiry.reasoner.is_model and not declares_kinds(inquiry.graph.schema) and start.frontier:
            await asyncio.to_thread(self._look_around, inquiry, progress)
        if not start.frontier:
            return RetrievalResult(None, (), (), 0, ("Nothing in the question was found in the graph.",))
        if not inquiry.reasoner.is_model and progress.kinds and inquiry.language.other_language(inquiry.asked):
            given = _step(inquiry, progress, numbered(inquiry, ()), 1, 0, is_last=False)
            given = given.model_copy(update={"question": inquiry.asked})
            progress.held = await asyncio.to_thread(inquiry.language.read_other_language, given, inquiry.result_of)
            if progress.held is None:
                return replace(_found(progress, None), contradicted=NOT_SURE)
        elif not inquiry.reasoner.is_model and inquiry.chosen:
            progress.held = HeldMeaning(inquiry.chosen, CHOSEN)
        elif not inquiry.reasoner.is_model and progress.kinds and timed is None:
            progress.likely = await asyncio.to_thread(_likely_readings, inquiry, progress)
            if answered := progress.likely.answered:
                progress.held = HeldMeaning(answered.expression, answered.scores)
        meaning = await meaning_of(inquiry, (*start.frontier, *start.kinds))
        progress.drafts.meant = meaning.gives if meaning else None
        progress.drafts.read = meaning.own if meaning else None
        # Where the schema is shown, the model reads for itself: most first readings that are not sure are wrong.
        progress.meaning = meaning if self._hints and not progress.graph else None
        near = await asyncio.to_thread(near_relations, inquiry, self._embedder.similarity)
        progress.near = list(dict.fromkeys([*(meaning.labels if meaning and near else ()), *near]))
        try:
            return await self._rounds(inquiry, progress)
        except QuestionBudgetUsedUpError:
            return over_budget(_found(progress, None))

    def _look_around(self, inquiry: StrategyInput, progress: SearchProgress) -> None:
        """Walks every single step from the things that the question names, and keeps the results in `progress`.

        `progress.voted` is the vote over what these steps lead to. `progress.held` is the meaning of a question that
        no single path answers. Used without a model, on graphs that declare no kinds.
        """
        graph, votes = inquiry.graph, may_vote(inquiry, progress.frontier)
        labels = inquiry.language.said_labels(inquiry.asked, graph)
        if not (votes or labels.is_compound):
            return
        ways = walked_ways(graph, progress.frontier)
        if votes:
            progress.voted = VotedWays.of(inquiry, self._ways, ways, progress.timed)
        if labels.is_compound or (progress.voted and progress.voted.is_unsure and labels.is_chain):
            progress.held = held_meaning(inquiry, labels, progress.frontier, ways)

    async def _rounds(self, inquiry: StrategyInput, progress: SearchProgress) -> RetrievalResult:
        for number in range(1, inquiry.limits.depth + 2):
            progress.round = number
            inquiry.on_round(number)
            reply, offered = await self._round(inquiry, progress, number)
            if progress.drafts.refusal:
                return replace(_found(progress, None), contradicted=progress.drafts.refusal)
            if reply.action == "answer" and reply.answer:
                draft = _draft(inquiry, progress, reply, offered)
                timed = progress.timed
                if timed is None:
                    return _found(progress, draft)
                settled = await asyncio.to_thread(timed.settled, draft, progress.facts)
                found = _found(progress, settled or (draft if timed.may_stand else None))
                return replace(found, things=(*found.things, *timed.names))
            if progress.is_part:  # What is asked may lie in the part that was not shown.
                progress.graph, progress.is_part = {}, False
            elif not _follow(inquiry, progress, _chosen(inquiry, reply, offered)):
                return _found(progress, None)
        return _found(progress, None)

    async def _round(
        self, inquiry: StrategyInput, progress: SearchProgress, number: int
    ) -> tuple[StepReply, NumberedWays]:
        """Shows the candidates page by page until the reply answers or follows one, or no page is left.

        Returns the last reply and the candidates that it saw.
        """
        shelf = await self._shelf(inquiry, progress, number)
        for page, ways in enumerate(shelf.pages or ((),)):
            progress.turned_pages |= page > 0
            reply, offered = await self._ask(inquiry, progress, ways, number, shelf.behind(page))
            if len(offered.ways) < len(ways):
                progress.notes.append(cut_note(number, len(ways) - len(offered.ways) + shelf.behind(page) + shelf.cut))
                progress.is_cut = True
                return reply, offered
            if (reply.action == "answer" and reply.answer) or _chosen(inquiry, reply, offered):
                return reply, offered
        if shelf.cut:
            progress.notes.append(f"Step {number}: {shelf.cut} possible paths, ranked last, were not offered.")
        return reply, offered

    async def _shelf(self, inquiry: StrategyInput, progress: SearchProgress, number: int) -> CandidatePages:
        if number > inquiry.limits.depth or progress.voted is not None:
            return progress.voted.page if progress.voted and number == 1 else CandidatePages(())
        # Candidates from earlier sets are still offered, so that a wrong choice or a second topic loses nothing.
        newest = {place.pseudonym for place in progress.frontier}
        earlier = [place for word, place in progress.places.items() if word not in newest]
        if inquiry.profile.is_open:
            finder = CandidateFinder(inquiry, self._selector)
            offered = await asyncio.to_thread(finder.of, progress.frontier, earlier)
            fresh = [way for way in offered.ways if (way.start.pseudonym, way.path) not in progress.walked]
            return CandidatePages((tuple(fresh),), offered.cut)
        found = await self._kind_pages(inquiry, progress, earlier)
        return CandidatePages(found.pages[:1]) if progress.graph else found

    async def _kind_pages(
        self, inquiry: StrategyInput, progress: SearchProgress, earlier: list[NodeSet]
    ) -> CandidatePages:
        """Returns the candidates in pages, those that the kinds of things have."""
        given = self._ways, self._selector, progress.places, progress.trails, progress.turned_pages
        shelves = Paginator(inquiry, *given)
        if shelves.is_ready(progress.frontier, earlier):
            return shelves.of(progress.frontier, earlier, progress.walked)
        # The paths of a kind are computed once. This takes seconds with thousands of relations, so a thread does it.
        return await asyncio.to_thread(shelves.of, progress.frontier, earlier, progress.walked)

    async def _ask(
        self, inquiry: StrategyInput, progress: SearchProgress, ways: Ways, number: int, further: int
    ) -> tuple[StepReply, NumberedWays]:
        """Asks for one step, showing as many of `ways` as the token budget allows; returns the reply and those shown.

        `further`: the number of candidates on later pages. Raises QuestionBudgetUsedUpError if nothing can be shown.
        """

        def step_of(shown: Ways) -> Task[StepReply]:
            behind, is_last = (further if len(shown) == len(ways) else 0), bool(ways) and not shown
            offered = whole if shown is ways else numbered(inquiry, shown)
            given = _step(inquiry, progress, offered, number, behind, is_last)
            is_strict, kind = inquiry.profile is Profile.STRICT, replace(inquiry, profile=Profile.KIND)
            in_full = _step(kind, progress, offered, number, behind, is_last) if is_strict else given
            if not inquiry.profile.is_open:
                # No prompt follows a step that was held back, so none can tell of withheld words. Openly candidates
                # are counted too, which change, so that a later step may leave.
                in_full = in_full.model_copy(update={"typed": inquiry.asked_in_house})
            return Task(STEP_IN_GRAPH if given.graph else STEP, given, in_house=in_full)

        whole = numbered(inquiry, ways)
        if inquiry.profile is Profile.STRICT and not progress.path:
            progress.path = nearest_paths(inquiry, ways)
        is_asked = inquiry.reasoner.is_model and inquiry.profile is not Profile.STRICT
        has_none = progress.meaning is None and not declares_kinds(inquiry.graph.schema)
        if self._hints and number == 1 and is_asked and has_none:
            progress.meaning = await asyncio.to_thread(
                read_prompt, inquiry.language, _step(inquiry, progress, whole, number, further, is_last=False)
            )
        if progress.graph and not inquiry.reasoner.fits(step_of(ways)):
            progress.graph, progress.is_cut = {}, True
        shown = as_many_as_fit(inquiry.reasoner, ways, inquiry.limits.width, step_of)
        if ways and not shown and not progress.facts:
            raise QuestionBudgetUsedUpError("not one path could be shown")
        reply = await progress.drafts.ask(step_of(shown))
        if not progress.path:
            progress.path = parse_path(reply.path, Vocabulary.of(inquiry.graph.schema, list(progress.things)))
        return reply, whole if shown is ways else numbered(inquiry, shown)


def _things(inquiry: StrategyInput, progress: SearchProgress, question: str) -> list[Thing]:
    """Returns the things that a prompt shows; to a model also the kinds that stand in `question`, or in its graph."""
    things = show_things(inquiry, progress.things.values())
    named = {each.name for each in things}
    told = (*progress.kinds, *progress.nameless) if inquiry.reasoner.is_model else ()
    shown = {kind for kinds in progress.graph for kind in kinds.split(", ")}
    kinds = (each for each in told if each.concept in shown or each.name in question)
    return [*things, *(each for each in kinds if each.name not in named)]


def _step(
    inquiry: StrategyInput, progress: SearchProgress, offered: NumberedWays, number: int, further: int, is_last: bool
) -> StepInput:
    candidates = offered.candidates
    is_strict = inquiry.profile is Profile.STRICT
    known = steps_shown(progress.shown, candidates)
    relations = labels_in(progress.graph) or beside(progress.near, known)
    question = question_in_form(inquiry) if is_strict else inquiry.dialogue.question
    given = StepInput(
        graph=progress.graph,
        public_terms=progress.terms if progress.graph else [],
        question=question,
        dialogue=[] if is_strict else show_dialogue(inquiry),
        things=_things(inquiry, progress, question),
        evidence=progress.shown,
        path=progress.path,
        candidates=candidates,
        relations=[] if progress.graph else relations,
        masked_relations=show_masked(inquiry, *known, *relations),
        further=further,
        round=number,
        last_round=is_last or number > inquiry.limits.depth,
        width=inquiry.limits.width,
        **_schema(inquiry, progress),
        voted=progress.voted.shown(inquiry) if progress.voted else None,
        meant=progress.held,
        likely=progress.likely.offered,
        is_doubted=progress.likely.is_doubted,
        cases=inquiry.cases,
        nearest=offered.nearest,
        phrases=phrases_of(inquiry, candidates, progress.phrases) if inquiry.reasoner.is_model else (),
        typed="" if inquiry.reasoner.is_model else inquiry.asked,
    )
    hint = progress.meaning.hint_for(given) if progress.meaning and not is_strict else ""
    if hint and hint not in progress.may_leave:
        progress.may_leave[hint] = inquiry.may_leave([hint])[0]
    return given.model_copy(update={"hint": hint}) if hint and progress.may_leave[hint] else given


def _likely_readings(inquiry: StrategyInput, progress: SearchProgress) -> LikelyReadings:
    """Returns what a question may mean: the reading to be answered, or those to be offered."""
    given = _step(inquiry, progress, numbered(inquiry, ()), 1, 0, is_last=False)
    given = given.model_copy(update={"question": inquiry.asked_in_house})
    return inquiry.language.likely_readings(given, inquiry.result_of)


def _schema(inquiry: StrategyInput, progress: SearchProgress) -> dict[str, Any]:
    """Returns the fields of a StepInput that hold the schema; they stay in the house."""
    schema = inquiry.graph.schema
    return {
        "steps": schema_steps(inquiry.graph) if progress.kinds else (),
        "kinds": progress.kinds,
        "own": progress.own,
        "row_steps": steps_with_rows(inquiry) if progress.nameless else (),
        "row_kinds": progress.nameless,
        "wordings": dict(words_of_steps(schema)),
        "kind_words": dict(words_of_kinds(schema)),
        "own_words": dict(own_words_of(schema)),
    }


def _chosen(inquiry: StrategyInput, reply: StepReply, offered: NumberedWays) -> list[CandidatePath]:
    """Returns the candidates that the reply follows, best first, at most `width`; unknown numbers are ignored."""
    if reply.action != "follow":
        return []
    ways = offered.by_number
    return [ways[number] for number in dict.fromkeys(reply.choices) if number in ways][: inquiry.limits.width]


def _follow(inquiry: StrategyInput, progress: SearchProgress, chosen: list[CandidatePath]) -> bool:
    """Walks the chosen candidates and makes their ends the frontier; returns False if none leads anywhere."""
    reached = [place for way in chosen if (place := _walk(inquiry, progress, way)) is not None]
    fresh = progress.facts[len(progress.shown) :]
    # New facts come after the earlier ones, so that the prompt begins as before and the endpoint's cache can be used.
    progress.shown = [*progress.shown, *show_evidence(inquiry, fresh, told=_told(progress))]
    progress.frontier = [place for place in reached if place.pseudonym not in progress.places]
    progress.places |= {place.pseudonym: place for place in reached}
    return bool(reached)


def _walk(inquiry: StrategyInput, progress: SearchProgress, way: CandidatePath) -> NodeSet | None:
    start = way.start.pseudonym
    progress.walked.add((start, way.path))
    arrival = arrive(inquiry, way)
    if arrival is None:
        return None
    place, fact = arrival
    if fact not in progress.facts:
        progress.facts.append(fact)
    before = progress.trails.get(start, PathPrefix(start))
    progress.trails.setdefault(place.pseudonym, PathPrefix(before.root, (*before.path, *way.path)))
    return place


def _told(progress: SearchProgress) -> set[str]:
    return {*progress.things, *(fact.end for fact in progress.facts)}


def _draft(inquiry: StrategyInput, progress: SearchProgress, reply: StepReply, offered: NumberedWays) -> Draft:
    """Returns the reply's answer as a draft, in the service's own words.

    Candidates that the answer uses are walked first, so that their facts become evidence.
    """
    ends: dict[int, str | None] = {}
    for number in numbers_in(reply.answer)[: inquiry.limits.width]:
        way = offered.by_number.get(number)
        place = _walk(inquiry, progress, way) if way is not None else None
        ends[number] = place.pseudonym if place else None
    expressions = [filled(expression, ends.get) for expression in reply.answer]
    plainly = replace(inquiry, profile=Profile.KIND) if inquiry.profile is Profile.STRICT else inquiry
    fresh = show_evidence(inquiry, progress.facts[len(progress.shown) :], told=_told(progress))
    shown = _step(plainly, progress, offered, progress.round, 0, is_last=False)
    shown = shown.model_copy(update={"evidence": [*progress.shown, *fresh]})
    rows = draft_of_rows(inquiry, expressions, shown)
    return rows or draft_of(inquiry.language, expressions, shown)


def _found(progress: SearchProgress, draft: Draft | None) -> RetrievalResult:
    offered = [each.name for each in (*progress.kinds, *progress.nameless)] + [each.name for each in progress.terms]
    whole = [name for name in offered if draft and name in " ".join(draft.expressions)]
    return RetrievalResult(
        draft,
        (*progress.things, *whole, *(draft.things if draft else ())),
        tuple(progress.facts),
        progress.round,
        tuple(progress.notes),
        not draft and progress.is_cut,
        own=progress.drafts.own,
        asks_back=() if draft else progress.drafts.asks_back,
        in_order=progress.voted.in_order if progress.voted else None,
    )
