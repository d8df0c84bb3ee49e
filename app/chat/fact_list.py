"""Lists and deletes what people told of a graph, outside a dialogue."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from app.accounts.api_keys import Caller
from app.chat.conversations import Conversation, ConversationStore
from app.chat.execution import AnswerExecutor
from app.chat.fact_memory import sentence_of
from app.chat.names_budget import NamesBudget, RestoredNames
from app.chat.sealing import names_of_masks, seal_memory
from app.memory.stated_facts import FactOwner, KeptFact, OfferState, StatedFactStore
from client_sdk.crypto.sealing import parse_public_key
from client_sdk.protocol import MEMORY_PAGE, MemoryFact, MemoryForgotten, MemoryPage, Names, OffersChanged
from kg_store.catalog import Catalog, PrivateGraph


class UnknownFactError(Exception):
    """The caller told nothing of that id, or it is deleted."""


@dataclass(frozen=True, slots=True)
class ShownGraph:
    """The graph as the caller sees it, and a new conversation, which is kept nowhere, for the pseudonyms of a list."""

    graph: PrivateGraph
    conversation: Conversation = field(repr=False)


class StatedFactList:
    """Shows a person what they told of a graph, and deletes it.

    Promise: it shows each sentence to its owner alone (tenant, key and person), and only if their role still sees all
    that it mentions. A reply has pseudonyms; their names count in the person's budget, and are sealed to the caller's
    key. Limit: the words between the names, the days, and how many sentences there are come in clear. A deletion of
    all deletes what is not shown too.
    """

    def __init__(
        self,
        catalog: Catalog,
        conversations: ConversationStore,
        facts: StatedFactStore,
        names: NamesBudget | None = None,
    ) -> None:
        self._catalog, self._conversations, self._facts, self._names = catalog, conversations, facts, names

    def page(
        self, caller: Caller, graph: str, person: str = "", offset: int = 0, public_key: str | None = None
    ) -> MemoryPage:
        """Returns at most MEMORY_PAGE sentences from `offset` on, the newest first; without a public key no names.

        Raises UnknownGraphError, BadPublicKeyError, MasterKeyError, NamesUsedUpError.
        """
        if public_key is not None:
            parse_public_key(public_key)  # Checked before any look-up, so that a bad key reveals nothing.
        owner, shown = _owner(caller, graph, person), self._shown(caller, graph)
        told = [(each, text) for each in self._facts.of_owner(owner) if (text := sentence_of(each.fact, shown))]
        facts = [_as_wire(each, text) for each, text in told[offset : offset + MEMORY_PAGE]]
        page_id = secrets.token_urlsafe(12)
        page = MemoryPage(id=page_id, graph=graph, facts=facts, total=len(told), offset=offset)
        if public_key is None:
            return page
        names = names_in([fact.text for fact in facts], shown)
        if self._names is not None:
            restored = RestoredNames(names, page_id, owner.person, table=shown.conversation.table)
            self._names.take(shown.graph, caller, restored)
        return seal_memory(public_key, page, names)

    def forget(self, caller: Caller, graph: str, fact_id: str, person: str = "") -> MemoryForgotten:
        """Deletes one sentence that the person told. Raises UnknownFactError, MasterKeyError."""
        owner = _owner(caller, graph, person)
        if all(each.id != fact_id for each in self._facts.of_owner(owner)):
            raise UnknownFactError
        return MemoryForgotten(facts=self._facts.forget(owner, [fact_id]))

    def offer(
        self, caller: Caller, graph: str, fact_id: str, person: str = "", *, is_offered: bool = True
    ) -> OffersChanged:
        """Offers one sentence to the graph's owner, who then sees it and whose it is; or withdraws that.

        One that the owner took stays taken. Raises UnknownFactError, MasterKeyError.
        """
        told = [each for each in self._facts.of_owner(_owner(caller, graph, person)) if each.id == fact_id]
        if not told:
            raise UnknownFactError
        if told[0].fact.offer == "taken":
            return OffersChanged(facts=0)
        state: OfferState = "offered" if is_offered else ""
        return OffersChanged(facts=self._facts.set_offer(caller.tenant, graph, [fact_id], state))

    def forget_all(self, caller: Caller, graph: str, person: str = "") -> MemoryForgotten:
        """Deletes all that the person told of the graph, what is not shown too. Raises MasterKeyError."""
        owner = _owner(caller, graph, person)
        ids = [each.id for each in self._facts.of_owner(owner)]
        return MemoryForgotten(facts=self._facts.forget(owner, ids))

    def _shown(self, caller: Caller, graph: str) -> ShownGraph:
        opened = self._catalog.open_as(caller.tenant, graph, caller.role_in(graph))
        conversation = self._conversations.open(caller.tenant, caller.key_id, graph, None, opened.blind.schema)
        return ShownGraph(opened, conversation)


def _owner(caller: Caller, graph: str, person: str) -> FactOwner:
    # Nobody who has signed in is several persons: POST /chat keeps what they tell under no other sign either.
    return FactOwner(caller.tenant, graph, caller.key_id, "" if caller.is_person else person)


def _as_wire(kept: KeptFact, text: str) -> MemoryFact:
    return MemoryFact(
        id=kept.id,
        made_at=kept.made_at,
        text=text,
        form="fact" if kept.fact.relation else "words",
        conversation=kept.fact.conversation,
        offer=kept.fact.offer,
    )


def names_in(texts: Sequence[str], shown: ShownGraph) -> dict[str, Names]:
    """Returns the names behind the pseudonyms in `texts`."""
    table = shown.conversation.table
    words = dict.fromkeys(word for text in texts for word in table.known(text))
    return AnswerExecutor(shown.graph, table, MEMORY_PAGE).names_of(words) | names_of_masks(shown.graph, texts)
