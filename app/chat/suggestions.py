"""Suggests questions about a graph: made of its schema's words, and kept only if the service could answer them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import chain, islice, zip_longest
from typing import Final, Literal

from app.accounts.api_keys import Caller
from app.chat.service import ChatService
from app.egress.budgets import BudgetUsedUpError
from app.language.protocol import Language
from app.language.readings import AskedOfKind
from app.llm.reasoner import ReasonerError
from app.privacy.safe_text import PrivacyError
from client_sdk.protocol import ChatAnswer, ChatRequest, GraphSuggestions, ItemKind, Message
from kg_store.algebra.evaluator import SetAlgebra
from kg_store.algebra.expressions import ExpressionResult, Operand, parse
from kg_store.catalog import Catalog, PrivateGraph
from kg_store.errors import ExpressionError
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.traversal import kind_of, members_of, reached, tail_concept
from kg_store.terms import NO_MIDS, Hop, Mids, NodeKind, Schema, ValueKind, as_mids

MIN_THINGS: Final = 3
MAX_AT_THE_TOP: Final = 3
MAX_MEASURE: Final = Decimal(10) ** 9
"""A relation with greater numbers is not asked for, as these are mostly codes such as ISBNs. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class QuestionCandidate:
    """One question that may be suggested, in the `wordings` that are tried.

    A right answer has a single part, which is of one of `kinds` and has `size` members (None: any number). `members`:
    the things that answer the question. `relation`: the label of the relation that it asks for.
    """

    wordings: tuple[str, ...]
    kinds: frozenset[ItemKind]
    size: int | None = None
    members: Mids = field(default_factory=lambda: NO_MIDS, repr=False)
    relation: str = ""

    def is_answered_by(self, reply: ChatAnswer) -> bool:
        """Returns True if `reply` is a certain answer of one part with the expected kind and size."""
        if not (reply.answered and reply.grounded) or reply.ambiguous or reply.notes or len(reply.entities) != 1:
            return False
        part = reply.entities[0]
        return part.kind in self.kinds and self.size in (None, part.size)


@dataclass(frozen=True, slots=True)
class QuestionMaker:
    """Makes question candidates for one graph as one role sees it.

    Promise: a question holds no name and no value, only words of the schema that the role sees. Values are only
    compared, to find out if a question has a good answer.
    """

    graph: BlindGraph = field(repr=False)
    algebra: SetAlgebra = field(repr=False)
    language: Language = field(repr=False)

    def candidates(self) -> Iterator[QuestionCandidate]:
        """Yields candidates in the order in which they are tried: one of each form in turn (greatest, count, average,
        total), then the next of each. Masked relations are never used."""
        forms = (self._greatest(), self._counts(), self._averages(), self._totals())
        return (each for each in chain.from_iterable(zip_longest(*forms)) if each is not None)

    def greatest_of(self, concept: str) -> Iterator[QuestionCandidate]:
        """Yields questions for the thing of `concept` with the greatest number or the latest date."""
        return self._greatest(concept)

    @property
    def _schema(self) -> Schema:
        return self.graph.schema

    def _greatest(self, only: str = "") -> Iterator[QuestionCandidate]:
        """Yields questions for the things with the greatest number, then for those with the latest date.

        `only`: if given, the concept of the things.
        """
        for kind in (ValueKind.NUMBER, ValueKind.DATE):
            for concept, label, members in self._measured(kind, only):
                best = self._evaluated(f'argmax(S, "{label}")', members)
                if best is not None and 0 < len(best.mids) <= MAX_AT_THE_TOP:
                    wordings = self._asked("greatest", concept, label, is_date=kind is ValueKind.DATE)
                    found = as_mids(best.mids)
                    yield QuestionCandidate(wordings, frozenset({"entity", "set"}), len(found), found, label)

    def _averages(self) -> Iterator[QuestionCandidate]:
        """Yields questions for averages, one for each relation to numbers, in reverse order.

        So the first suggested average is of another relation than the first question of `_greatest`, if there are two.
        """
        for concept, label, _ in reversed(list(self._measured(ValueKind.NUMBER))):
            yield QuestionCandidate(self._asked("average", concept, label), frozenset({"number"}))

    def _counts(self) -> Iterator[QuestionCandidate]:
        for concept, hop in self._heads():
            relation, tail = self._schema.relations[hop.relation], tail_concept(self._schema, (hop,))
            if relation.value_kind is not None or not _is_plain(tail):
                continue
            own = (each for each in self._schema.signatures if self._schema.concepts[each.id] == concept)
            hops = {hop for each in own for hop in each.hops}
            leading = {hop for hop in hops if tail in tail_concept(self._schema, (hop,)).split(", ")}
            asked = AskedOfKind("per_group", concept, relation.label, tail, is_only=len(leading) == 1)
            wordings = tuple(self.language.word_question(asked))
            members = members_of(self.graph, concept)
            ends = reached(self.graph, members, ((hop,),)) if wordings else members
            # Ends without names could not be told apart, and groups of one thing each are not worth counting.
            if len(ends) < len(members) and kind_of(self.graph, ends) is NodeKind.ENTITY:
                yield QuestionCandidate(wordings, frozenset({"table"}), len(ends))

    def _totals(self) -> Iterator[QuestionCandidate]:
        schema = self._schema
        named = {str(schema.concepts[each.id]) for each in schema.signatures if each.kind is NodeKind.ENTITY}
        sizes = {concept: len(members_of(self.graph, concept)) for concept in named if _is_plain(concept)}
        for concept in sorted(sizes, key=lambda concept: (-sizes[concept], concept)):
            yield QuestionCandidate(self._asked("total", concept), frozenset({"number"}))

    def _measured(self, kind: ValueKind, only: str = "") -> Iterator[tuple[str, str, Mids]]:
        """Yields (concept, relation label, things of the concept) for relations to values of `kind`, numbers or dates.

        The language must be able to word a question by the relation, and numbers must be measures, not codes.
        """
        for concept, hop in self._heads():
            relation = self._schema.relations[hop.relation]
            if only not in ("", concept) or relation.value_kind is not kind:
                continue
            if self._asked("average", concept, relation.label):
                members = members_of(self.graph, concept)
                if kind is not ValueKind.NUMBER or self._is_measure(reached(self.graph, members, ((hop,),))):
                    yield concept, relation.label, members

    def _asked(
        self, form: Literal["greatest", "average", "total"], concept: str, label: str = "", is_date: bool = False
    ) -> tuple[str, ...]:
        """Returns the wordings of a question by the relation `label`; empty if the language has none.

        If the schema has both "total" and "total number", "total" is used.
        """
        base = label.removesuffix(" number")
        of_base = any(each.label == base for each in self._schema.relations)
        asked = AskedOfKind(form, concept, base if of_base else label, is_date=is_date)
        return tuple(self.language.word_question(asked))

    def _is_measure(self, values: Mids) -> bool:
        greatest = self._evaluated("max(S)", values)
        return greatest is not None and (greatest.number is None or abs(greatest.number) <= MAX_MEASURE)

    def _evaluated(self, expression: str, members: Mids) -> ExpressionResult | None:
        try:
            return self.algebra.evaluate(parse(expression), lambda _: Operand(members))
        except ExpressionError:
            return None

    def _heads(self) -> Iterator[tuple[str, Hop]]:
        """Yields pairs of a concept and one of its unmasked relations, those that most things have first.

        At least MIN_THINGS things must have the relation.
        """
        schema = self._schema
        sizes: dict[tuple[str, Hop], int] = {}
        for signature in schema.signatures:
            if signature.kind is NodeKind.ENTITY:
                for hop in signature.hops:
                    if not hop.inverse and schema.relations[hop.relation].mask is None:
                        key = (schema.concepts[signature.id], hop)
                        sizes[key] = sizes.get(key, 0) + signature.size
        for (concept, hop), size in sorted(sizes.items(), key=lambda found: -found[1]):
            if size >= MIN_THINGS and _is_plain(concept) and schema.relations[hop.relation].label.isascii():
                yield concept, hop


def _is_plain(concept: str) -> bool:
    return "," not in concept and concept not in ("", "thing")


MAX_SUGGESTIONS: Final = 3
MAX_TRIED: Final = 16
_KEY_ID: Final = "suggestions"  # No API key has this id, so the ledger tells these rows from a person's.


class QuestionSuggester:
    """Suggests questions that a graph answers.

    Promise: a suggestion holds no name and no value, only words of the schema that the role sees, and the service has
    answered it. `chat` must use the embedded reasoner, so that nothing leaves the machine. Results are cached for each
    role while this version of the graph is open.
    """

    def __init__(self, catalog: Catalog, chat: ChatService, language: Language) -> None:
        self._catalog, self._chat, self._language = catalog, chat, language
        self._asking = asyncio.Lock()

    async def suggest(self, caller: Caller, graph: str) -> GraphSuggestions:
        """Returns at most MAX_SUGGESTIONS questions that can be answered, or none. Raises UnknownGraphError."""
        role = caller.role_in(graph)
        opened = await asyncio.to_thread(self._catalog.open_as, caller.tenant, graph, role)
        kept = opened.blind.schema.derived
        if _KEY_ID not in kept:
            async with self._asking:  # If several requests come at once, one searches and the others wait for it.
                if _KEY_ID not in kept:
                    kept[_KEY_ID] = await self._answered(replace(caller, key_id=_KEY_ID), graph, opened)
        return GraphSuggestions(questions=kept[_KEY_ID])

    async def _answered(self, caller: Caller, graph: str, opened: PrivateGraph) -> list[str]:
        found: list[str] = []
        candidates = QuestionMaker(opened.blind, opened.algebra, self._language).candidates()
        for candidate in await asyncio.to_thread(lambda: list(islice(candidates, MAX_TRIED))):
            if question := await self._answered_wording(caller, graph, candidate):
                found.append(question)
            if len(found) == MAX_SUGGESTIONS:
                break
        return found

    async def _answered_wording(self, caller: Caller, graph: str, candidate: QuestionCandidate) -> str:
        for question in candidate.wordings:
            request = ChatRequest(graph=graph, messages=[Message(role="user", content=question)])
            try:
                reply = await self._chat.answer(caller, request)
            except (BudgetUsedUpError, PrivacyError, ReasonerError):
                continue  # The user did not ask this question, so its failure is not reported.
            if candidate.is_answered_by(reply):
                return question
        return ""
