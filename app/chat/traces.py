"""Tracer: what the model was sent and replied for one answer, with names, for those who may inspect it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.accounts.api_keys import Caller, UnknownAnswerError
from app.chat.answers.capsule import names_of_masks, seal_trace
from app.chat.answers.execution import AnswerExecutor
from app.chat.conversations import ConversationStore, UnknownConversationError
from app.chat.names_budget import NamesBudget
from app.egress.ledger.ledger import MAX_ENTRIES, Ledger, LedgerEntry, LedgerReply
from app.privacy.pseudonyms import words_in
from client_sdk.crypto.sealing import parse_public_key
from client_sdk.protocol import Names, SealedTrace, TraceContent, TracedCall
from kg_store.catalog import Catalog
from kg_store.errors import UnknownGraphError

NAMES_OF_A_SET = 50
# A prompt is JSON within JSON, so a word may begin directly after an escape (`\\nEq7f2k`).
_ESCAPE = re.compile(r"\\+(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)


class Tracer:
    """Returns traces.

    Promise: only the key that asked (if it may inspect the graph) and the tenant's admins get a trace; all others get
    the same reply as for an unknown id. It is sealed to the given key. Condition: the conversation is still kept, else
    the trace has no names. Limit: question words that are not in the graph are stored nowhere, so their pseudonyms
    stay.
    """

    def __init__(
        self,
        ledger: Ledger,
        conversations: ConversationStore,
        catalog: Catalog,
        budget: NamesBudget | None = None,
    ) -> None:
        self._ledger, self._conversations, self._catalog, self._budget = ledger, conversations, catalog, budget

    def trace(self, caller: Caller, answer_id: str, public_key: str) -> SealedTrace:
        """Returns the sealed trace of an answer.

        Raises UnknownAnswerError, BadPublicKeyError, LedgerUnavailableError, NamesUsedUpError.
        """
        parse_public_key(public_key)  # Checked before any lookup, so that a bad key reveals nothing.
        entries = self._entries(caller, answer_id)
        graph = self._conversations.graph_of(caller.tenant, entries[0].caller, entries[0].conversation)
        if not caller.may_inspect(graph):
            raise UnknownAnswerError
        calls = _calls(entries, self._ledger.replies_to(entries))
        table = None if graph is None else self._names(caller, entries[0], graph, calls)
        content = TraceContent(answer_id=answer_id, calls=calls, names_kept=table is not None, table=table or {})
        return SealedTrace(answer=answer_id, capsule=seal_trace(public_key, content))

    def _entries(self, caller: Caller, answer_id: str) -> Sequence[LedgerEntry]:
        """The entries of the answer in the order in which they were sent; at least one, else raises
        UnknownAnswerError.
        """
        key_id = None if caller.is_admin else caller.key_id
        entries = self._ledger.entries(caller.tenant, key_id, answer_id, MAX_ENTRIES)
        if not entries:
            raise UnknownAnswerError
        return entries[::-1]

    def _names(
        self, caller: Caller, entry: LedgerEntry, graph_name: str, calls: Sequence[TracedCall]
    ) -> dict[str, Names] | None:
        """The names behind the pseudonyms of `calls`, on the graph as it is now;

        None if they are not known any more.
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
        table_of_names = {meant[word]: name for word, name in names.items()} | names_of_masks(graph, [said], sent)
        if self._budget is not None:
            self._budget.take(graph, caller, "", table_of_names)
        return table_of_names


def _calls(entries: Sequence[LedgerEntry], replies: dict[str, LedgerReply]) -> list[TracedCall]:
    return [_call(entry, replies.get(entry.id)) for entry in entries]


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
