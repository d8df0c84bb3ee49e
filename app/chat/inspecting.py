"""Shows callers with the `inspect` grant the prompts behind an answer, with sealed names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.accounts.api_keys import Caller, UnknownAnswerError
from app.chat.conversations import ConversationStore, UnknownConversationError
from app.chat.execution import AnswerExecutor
from app.chat.names_budget import NamesBudget, RestoredNames
from app.chat.sealing import names_of_masks, seal_trace
from app.egress.ledger.ledger import MAX_ENTRIES, Ledger, LedgerEntry, LedgerReply
from app.privacy.pseudonyms import words_in
from client_sdk.crypto.sealing import parse_public_key
from client_sdk.protocol import (
    Names,
    SealedTrace,
    TraceContent,
    TracedCall,
)
from kg_store.catalog import Catalog
from kg_store.errors import UnknownGraphError

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
