"""Shows callers with the `inspect` grant the prompts behind an answer, and the graph itself, with sealed names."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from typing import Final

from app.accounts.api_keys import Caller, NotPermittedError, UnknownAnswerError
from app.chat.conversations import Conversation, ConversationStore, UnknownConversationError
from app.chat.execution import AnswerExecutor
from app.chat.names_budget import NamesBudget, RestoredNames
from app.chat.sealing import names_of_masks, seal_excerpt, seal_trace
from app.egress.ledger.ledger import MAX_ENTRIES, Ledger, LedgerEntry, LedgerReply
from app.privacy.pseudonyms import words_in
from client_sdk.crypto.sealing import parse_public_key
from client_sdk.protocol import (
    BrowseRequest,
    ConceptCount,
    ExcerptFact,
    ExcerptThing,
    GraphExcerpt,
    GraphOutline,
    Names,
    SealedTrace,
    TraceContent,
    TracedCall,
)
from kg_store.catalog import Catalog, PrivateGraph
from kg_store.errors import UnknownGraphError
from kg_store.graph.kinds import kinds_of
from kg_store.graph.traversal import concept_of, kind_of, members_of
from kg_store.terms import NO_MIDS, Hop, Mid, Mids, NodeKind, as_mids

NAMES_OF_A_SET = 50
# A prompt is JSON within JSON, so a word may begin directly after an escape (`\\nEq7f2k`).
_ESCAPE = re.compile(r"\\+(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)


class Tracer:
    """Returns the trace of an answer: the prompts and replies of its model calls, with the names behind pseudonyms.

    Promise: only the API key that asked (if it may inspect the graph) and the tenant's admins get a trace; all others
    get the same error as for an unknown id. A trace is sealed to the given public key. Condition: the conversation
    still exists, else the trace has no names. Limit: typed words that are not in the graph stay pseudonyms, because
    they are stored nowhere.
    """

    def __init__(
        self, ledger: Ledger, conversations: ConversationStore, catalog: Catalog, budget: NamesBudget | None = None
    ) -> None:
        self._ledger, self._conversations, self._catalog, self._budget = ledger, conversations, catalog, budget

    def trace(self, caller: Caller, answer_id: str, public_key: str) -> SealedTrace:
        """Returns the trace of an answer, encrypted to `public_key`.

        Raises UnknownAnswerError, BadPublicKeyError, LedgerUnavailableError, NamesUsedUpError.
        """
        parse_public_key(public_key)  # Checked before any lookup, so that a bad key reveals nothing.
        key_id = None if caller.is_admin else caller.key_id
        entries = self._ledger.entries(caller.tenant, key_id, answer_id, MAX_ENTRIES)[::-1]
        if not entries:
            raise UnknownAnswerError
        graph = self._conversations.graph_of(caller.tenant, entries[0].caller, entries[0].conversation)
        if not caller.may_inspect(graph):
            raise UnknownAnswerError
        replies = self._ledger.replies_to(entries)
        calls = [_call(entry, replies.get(entry.id)) for entry in entries]
        table = None if graph is None else self._names(caller, entries[0], graph, calls)
        content = TraceContent(answer_id=answer_id, calls=calls, names_kept=table is not None, table=table or {})
        return SealedTrace(answer=answer_id, capsule=seal_trace(public_key, content))

    def _names(
        self, caller: Caller, entry: LedgerEntry, graph_name: str, calls: Sequence[TracedCall]
    ) -> dict[str, Names] | None:
        """Returns the names behind the pseudonyms of `calls`, from the graph as it is now.

        None if the graph or the conversation is gone.
        """
        try:
            role = None if caller.is_admin else caller.role_in(graph_name)
            graph = self._catalog.open_as(entry.tenant, graph_name, role)
            conversation = self._conversations.open(
                entry.tenant, entry.caller, graph_name, entry.conversation, graph.blind.schema
            )
        except (UnknownGraphError, UnknownConversationError):
            return None
        said = " ".join(_ESCAPE.sub(" ", text) for call in calls for text in (call.prompt, call.reply) if text)
        table, sent = conversation.table, conversation.table.wire_pseudonyms(graph.blind.schema, entry.answer)
        ours = {word: pseudonym for pseudonym, word in sent.items()}
        meant = {ours.get(each.word, each.word): each.word for each in words_in(said)}
        names = AnswerExecutor(graph, table, NAMES_OF_A_SET).names_of([word for word in meant if table.meaning(word)])
        masks = names_of_masks(graph, [said], sent)
        if self._budget is not None:
            self._budget.take(graph, caller, RestoredNames(names | masks, entry.answer, table=table))
        return {meant[word]: name for word, name in names.items()} | masks


def _call(entry: LedgerEntry, reply: LedgerReply | None) -> TracedCall:
    if entry.verdict == "blocked":
        return TracedCall(step=entry.step, at=entry.at, outcome="blocked")
    return TracedCall(
        step=entry.step,
        at=entry.at,
        outcome="none" if reply is None else reply.outcome,
        prompt=None if entry.payload is None else entry.payload.decode("utf-8", "replace"),
        reply=None if reply is None else reply.text,
        anonymity=entry.anonymity,
    )


PAGE: Final = 50
MAX_ENDS: Final = 12


class GraphBrowser:
    """Shows the kinds, relations and things of a graph.

    Promise: only a caller who may both ask and inspect a graph sees it, and only what their role may see. Names are
    sealed to the caller's key, things are pseudonyms of the caller's own conversation, and internal ids (MIDs) never
    leave. Limit: the kinds, their sizes and the relations are shown in clear.
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
        """Returns the things of a kind or with a name, in pages of PAGE things, or one thing with its facts.

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
            told = [
                (things[0].pseudonym, (f"^{fact.relation}" if fact.inverse else fact.relation,), end.pseudonym)
                for fact in facts
                for end in fact.ends
            ]
            restored = RestoredNames(names, excerpt.id, table=conversation.table, facts=told)
            self._names.take(opened, caller, restored)
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
    """Returns one fact for each relation of a thing, with the first MAX_ENDS things that it leads to."""
    hops: Sequence[Hop] = opened.blind.relations_of(thing)
    facts: list[ExcerptFact] = []
    for hop in hops:
        tails = as_mids(opened.blind.neighbours(thing, hop).tails)
        ends = [_thing(opened, conversation, mid) for mid in tails[:MAX_ENDS].tolist()]
        label = opened.blind.schema.relations[hop.relation].label
        facts.append(ExcerptFact(relation=label, inverse=hop.inverse, ends=ends, total=len(tails)))
    return facts
