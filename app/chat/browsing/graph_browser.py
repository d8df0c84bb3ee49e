"""Shows a graph to those who may inspect it: kinds and relations in clear, things with their names sealed."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Final

from app.accounts.api_keys import Caller, NotPermittedError
from app.chat.answers.capsule import names_of_masks, seal_excerpt
from app.chat.answers.execution import AnswerExecutor
from app.chat.conversations import Conversation, ConversationStore
from app.chat.names_budget import NamesBudget
from client_sdk.crypto.sealing import parse_public_key
from client_sdk.protocol import BrowseRequest, ConceptCount, ExcerptFact, ExcerptThing, GraphExcerpt, GraphOutline
from kg_store.catalog import Catalog, PrivateGraph
from kg_store.graph.traversal import concept_of, kind_of, kinds_of, members_of
from kg_store.terms import NO_MIDS, Hop, Mid, Mids, NodeKind, as_mids

PAGE: Final = 50
MAX_ENDS: Final = 12


class GraphBrowser:
    """Shows the kinds, relations and things of a graph.

    Promise: only a caller who may both ask and inspect a graph sees it, and only what their role may see. Names are
    sealed to the caller's key, things are pseudonyms of the caller's own conversation, and internal ids (MIDs) never
    leave. Limit: the kinds, their sizes and what joins them are shown in clear.
    """

    def __init__(self, catalog: Catalog, conversations: ConversationStore, names: NamesBudget | None = None) -> None:
        self._catalog, self._conversations, self._names = catalog, conversations, names

    def outline(self, caller: Caller, graph: str) -> GraphOutline:
        """Returns the kinds with their sizes, and the relations. Raises NotPermittedError, UnknownGraphError."""
        blind = self._open(caller, graph).blind
        counted = [ConceptCount(concept=each, things=len(members_of(blind, each))) for each in kinds_of(blind.schema)]
        counted.sort(key=lambda each: (-each.things, each.concept))
        words = dict.fromkeys(relation.label for relation in blind.schema.relations)
        return GraphOutline(graph=graph, concepts=[each for each in counted if each.things], relations=list(words))

    def excerpt(self, caller: Caller, graph: str, wanted: BrowseRequest) -> GraphExcerpt:
        """Returns the things of a kind or of a name, or one thing with its facts.

        Raises NotPermittedError, UnknownGraphError, UnknownConversationError, BadPublicKeyError,
        ConversationBusyError, NamesUsedUpError.
        """
        parse_public_key(wanted.public_key)
        opened = self._open(caller, graph)
        schema = opened.blind.schema
        conversation = self._conversations.open(caller.tenant, caller.key_id, graph, wanted.conversation, schema)
        mids = _wanted(opened, conversation, wanted)
        page = mids[wanted.offset : wanted.offset + PAGE]
        things = [_thing(opened, conversation, mid) for mid in page.tolist()]
        facts = _facts(opened, conversation, page) if wanted.thing is not None and len(page) == 1 else []
        self._conversations.save(conversation, schema)
        excerpt = GraphExcerpt(
            id=secrets.token_urlsafe(12),
            graph=graph,
            conversation=conversation.id,
            total=len(mids),
            things=things,
            facts=facts,
        )
        shown = [*things, *(end for fact in facts for end in fact.ends)]
        names = AnswerExecutor(opened, conversation.table, PAGE).names_of(each.pseudonym for each in shown)
        names |= names_of_masks(opened, [fact.relation for fact in facts])
        if self._names is not None:
            self._names.take(opened, caller, "", names)
        return seal_excerpt(wanted.public_key, excerpt, names)

    def _open(self, caller: Caller, graph: str) -> PrivateGraph:
        if not (caller.may_ask(graph) and caller.may_inspect(graph)):
            raise NotPermittedError
        return self._catalog.open_as(caller.tenant, graph, None if caller.is_admin else caller.role_in(graph))


def _wanted(opened: PrivateGraph, conversation: Conversation, wanted: BrowseRequest) -> Mids:
    blind = opened.blind
    if wanted.thing is not None:
        return conversation.table.resolve(wanted.thing, blind)[0]
    if wanted.concept is not None:
        return members_of(blind, wanted.concept)
    found = [mid for each in opened.linker.find_mentions(f'"{wanted.search}"') for mid in each.mids]
    found += [mid for each in opened.linker.find_mentions(wanted.search or "") for mid in each.mids]
    mids = as_mids(found) if found else NO_MIDS
    held = mids if opened.holds is None else as_mids(list(opened.holds(tuple(mids.tolist()))))
    return as_mids([mid for mid in held.tolist() if kind_of(blind, as_mids([mid])) is NodeKind.ENTITY])


def _thing(opened: PrivateGraph, conversation: Conversation, mid: int) -> ExcerptThing:
    one = as_mids([mid])
    if kind_of(opened.blind, one) is NodeKind.VALUE:
        return ExcerptThing(pseudonym=conversation.table.of_value(Mid(mid)), concept="", is_value=True)
    return ExcerptThing(pseudonym=conversation.table.of_entity(Mid(mid)), concept=concept_of(opened.blind, one))


def _facts(opened: PrivateGraph, conversation: Conversation, thing: Mids) -> list[ExcerptFact]:
    """Each relation of one thing, with the first MAX_ENDS things that it leads to."""
    hops: Sequence[Hop] = opened.blind.relations_of(thing)
    facts: list[ExcerptFact] = []
    for hop in hops:
        tails = as_mids(opened.blind.neighbours(thing, hop).tails)
        ends = [_thing(opened, conversation, mid) for mid in tails[:MAX_ENDS].tolist()]
        label = opened.blind.schema.relations[hop.relation].label
        facts.append(ExcerptFact(relation=label, inverse=hop.inverse, ends=ends, total=len(tails)))
    return facts
