"""Suggests questions about a graph: of its relation words alone, asked here, and kept where they were answered."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, zip_longest
from typing import Final

from app.accounts.api_keys import Caller
from app.chat.service import ChatService
from app.llm.embedded.sentences.relation_phrases import base_form, plural
from client_sdk.protocol import ChatRequest, GraphSuggestions, Message
from kg_store.catalog import Catalog
from kg_store.graph.traversal import tail_concept
from kg_store.terms import Hop, NodeKind, Schema, ValueKind

MAX_SUGGESTIONS: Final = 3
MAX_TRIED: Final = 12
MIN_THINGS: Final = 3
_KEY_ID: Final = "suggestions"  # no key is called so: the ledger tells these rows from a person's
_PREPOSITIONS: Final = (" by", " in", " at", " with", " for", " on", " of", " to", " from")


class QuestionSuggester:
    """Promise: no name or value is in a suggestion, for only words of the shown schema are; and each was answered.

    `chat` asks a reasoner inside the service: nothing leaves the machine for a suggestion. What was found once is kept
    as long as its version of the graph is open.
    """

    def __init__(self, catalog: Catalog, chat: ChatService) -> None:
        self._catalog, self._chat = catalog, chat

    async def suggest(self, caller: Caller, graph: str) -> GraphSuggestions:
        """At most three; none rather than one that can't be answered. Raises UnknownGraphError."""
        role = caller.role_in(graph)
        opened = await asyncio.to_thread(self._catalog.open_as, caller.tenant, graph, role)
        kept = opened.blind.schema.derived
        if _KEY_ID not in kept:
            asking = replace(caller, key_id=_KEY_ID)
            kept[_KEY_ID] = await self._answered(asking, graph, opened.blind.schema)
        return GraphSuggestions(questions=kept[_KEY_ID])

    async def _answered(self, caller: Caller, graph: str, schema: Schema) -> list[str]:
        found: list[str] = []
        for question in candidates(schema)[:MAX_TRIED]:
            reply = await self._chat.answer(
                caller, ChatRequest(graph=graph, messages=[Message(role="user", content=question)])
            )
            if reply.answered and reply.grounded and reply.entities and not (reply.ambiguous or reply.notes):
                found.append(question)
            if len(found) == MAX_SUGGESTIONS:
                break
        return found


def candidates(schema: Schema) -> list[str]:
    """Questions in the order in which they are tried, each form in turn; what is masked has no words to ask with."""
    by_form = zip_longest(list(_greatest(schema)), list(_counts(schema)), list(_averages(schema)))
    return [question for question in chain.from_iterable(by_form) if question is not None]


def _heads(schema: Schema) -> Iterator[tuple[str, Hop, int]]:
    """Concepts of things, and the unmasked relations that most of their things have; those of many first."""
    sizes: dict[tuple[str, Hop], int] = {}
    for signature in schema.signatures:
        if signature.kind is NodeKind.ENTITY:
            for hop in signature.hops:
                if not hop.inverse and schema.relations[hop.relation].mask is None:
                    key = (schema.concepts[signature.id], hop)
                    sizes[key] = sizes.get(key, 0) + signature.size
    for (concept, hop), size in sorted(sizes.items(), key=lambda found: -found[1]):
        if size >= MIN_THINGS and "," not in concept and schema.relations[hop.relation].label.isascii():
            yield concept, hop, size


def _greatest(schema: Schema) -> Iterator[str]:
    for concept, label in _numbered(schema):
        yield f"Which {concept} has the highest {label}?"


def _averages(schema: Schema) -> Iterator[str]:
    for concept, label in _numbered(schema):
        yield f"What is the average {label} of {plural(concept)}?"


def _numbered(schema: Schema) -> Iterator[tuple[str, str]]:
    for concept, hop, _ in _heads(schema):
        relation = schema.relations[hop.relation]
        if relation.value_kind is ValueKind.NUMBER and _is_noun(relation.label):
            yield concept, relation.label


def _counts(schema: Schema) -> Iterator[str]:
    for concept, hop, _ in _heads(schema):
        relation = schema.relations[hop.relation]
        tail = tail_concept(schema, (hop,))
        if relation.value_kind is not None or "," in tail or not relation.label.endswith(_PREPOSITIONS):
            continue
        label = relation.label.removeprefix("is ")
        verb = label.split()[0]
        words = f"are {label}" if verb.endswith("ed") else base_form(label)
        yield f"How many {plural(concept)} {words} each {tail}?"


def _is_noun(label: str) -> bool:
    return not label.endswith(_PREPOSITIONS) and not label.startswith(("has ", "is ", "was ", "have "))
