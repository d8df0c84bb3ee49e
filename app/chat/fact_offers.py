"""Lists the sentences that people offer to a graph's owner, and notes which the owner takes or refuses."""

from __future__ import annotations

import csv
import io
import re
import secrets
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Final

from app.accounts.api_keys import Caller
from app.chat.conversations import ConversationStore
from app.chat.fact_list import ShownGraph, names_in
from app.chat.fact_memory import sentence_of
from app.chat.names_budget import NamesBudget, RestoredNames
from app.chat.sealing import seal_memory
from app.memory.stated_facts import KeptFact, StatedFact, StatedFactStore
from client_sdk.crypto.sealing import parse_public_key
from client_sdk.protocol import Names, OfferChoice, OfferList, OfferListed, OffersChanged
from kg_store.catalog import Catalog

_KEY: Final = "offers"  # No API key has this id; the conversation in whose pseudonyms a list is worded is not saved.
_RUN: Final = re.compile(r"[0-9A-Za-z]+")
_FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r")


class FactOffers:
    """The offers of all graphs, for their owners.

    Promise: an owner sees only what its asker offers, and who that is; names are sealed to the owner's key, and count
    and are recorded as read. Nothing is put into the graph: who takes an offer changes the graph's own files. Limit:
    the words between the names come in clear.
    """

    def __init__(
        self,
        catalog: Catalog,
        conversations: ConversationStore,
        facts: StatedFactStore,
        names: NamesBudget | None = None,
    ) -> None:
        self._catalog, self._conversations, self._facts, self._names = catalog, conversations, facts, names

    def listed(self, caller: Caller, graph: str, public_key: str | None = None) -> OfferList:
        """Returns the open offers, the newest first; without a public key no names.

        Raises UnknownGraphError, BadPublicKeyError, MasterKeyError.
        """
        if public_key is not None:
            parse_public_key(public_key)
        shown = self._shown(caller.tenant, graph)
        offers = [each for each, _ in self._offers(caller.tenant, graph, shown)]
        told = OfferList(id=secrets.token_urlsafe(12), graph=graph, offers=offers)
        if public_key is None:
            return told
        names = _names_of(offers, shown)
        if self._names is not None:
            self._names.take(shown.graph, caller, RestoredNames(names, told.id, table=shown.conversation.table))
        return seal_memory(public_key, told, names)

    def settle(self, tenant: str, graph: str, wanted: OfferChoice) -> OffersChanged:
        """Notes that the owner took or refused offers, which their askers see; others than open ones stay.

        Raises UnknownGraphError, MasterKeyError.
        """
        self._catalog.open(tenant, graph)
        chosen = {*wanted.ids} & {each.id for each in self._facts.offered(tenant, graph)}
        return OffersChanged(facts=self._facts.set_offer(tenant, graph, chosen, wanted.outcome))

    def as_csv(self, tenant: str, graph: str) -> str:
        """Returns the open offers as CSV with names in clear, for the owner's own files.

        A row has the id, day, subject, relation (its IRI), object and sentence; without the three in the middle if no
        relation of the graph says it. Raises UnknownGraphError, MasterKeyError.
        """
        shown, written = self._shown(tenant, graph), io.StringIO()
        offers = [*self._offers(tenant, graph, shown)]
        names = _names_of([each for each, _ in offers], shown)
        rows = csv.writer(written, lineterminator="\n")
        rows.writerow(("id", "day", "subject", "relation", "object", "sentence"))
        for each, kept in offers:
            words = [_clear(word, names) for word in _mentioned(each.text, kept.fact)]
            ends = [words[at] if each.relation else "" for at in (kept.fact.subject, kept.fact.object)]
            said = "".join(part for pair in zip_longest(kept.fact.texts, words, fillvalue="") for part in pair)
            relation = kept.fact.relation if each.relation else ""
            cells = (each.id, f"{each.made_at:%Y-%m-%d}", ends[0], relation, ends[1], said)
            rows.writerow([_harmless(cell) for cell in cells])
        return written.getvalue()

    def _offers(self, tenant: str, graph: str, shown: ShownGraph) -> Iterator[tuple[OfferListed, KeptFact]]:
        """Yields what is offered of things that are in the graph still."""
        labels = {each.iri: each.label for each in shown.graph.blind.schema.relations}
        for kept in self._facts.offered(tenant, graph):
            if text := sentence_of(kept.fact, shown):
                yield _as_listed(kept, text, labels.get(kept.fact.relation, "")), kept

    def _shown(self, tenant: str, graph: str) -> ShownGraph:
        opened = self._catalog.open(tenant, graph)
        return ShownGraph(opened, self._conversations.open(tenant, _KEY, graph, None, opened.blind.schema))


def _as_listed(kept: KeptFact, text: str, relation: str) -> OfferListed:
    words = _mentioned(text, kept.fact)
    return OfferListed(
        id=kept.id,
        key_id=kept.key_id,
        person=kept.fact.person,
        made_at=kept.made_at,
        text=text,
        relation=relation,
        subject=words[kept.fact.subject] if relation else "",
        object=words[kept.fact.object] if relation else "",
    )


def _mentioned(text: str, fact: StatedFact) -> list[str]:
    """Returns the words that stand for a fact's mentions in its sentence."""
    words, at = list[str](), len(fact.texts[0])
    for after in fact.texts[1:]:
        found = _RUN.match(text, at)
        words.append(found[0] if found else "")
        at += len(words[-1]) + len(after)
    return words


def _clear(word: str, names: Mapping[str, Names]) -> str:
    return names[word].names[0] if word in names and names[word].names else word


def _harmless(cell: str) -> str:
    """Returns a cell that no spreadsheet takes for a formula: others than the owner typed it."""
    return f"'{cell}" if cell.startswith(_FORMULAS) else cell


def _names_of(offers: list[OfferListed], shown: ShownGraph) -> dict[str, Names]:
    return names_in([*(each.text for each in offers), *(each.relation for each in offers)], shown)
