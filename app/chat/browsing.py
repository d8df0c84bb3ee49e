"""Shows callers with the `inspect` grant a graph itself: its kinds as tables, and its things with their facts."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

from app.accounts.api_keys import Caller, NotPermittedError
from app.accounts.names_read import NamesUsedUpError
from app.chat.conversations import Conversation, ConversationBusyError, ConversationStore
from app.chat.execution import AnswerExecutor
from app.chat.names_budget import NamesBudget, RestoredNames, ToldFact
from app.chat.sealing import names_of_kinds, names_of_masks, seal_excerpt
from client_sdk.crypto.sealing import parse_public_key
from client_sdk.protocol import (
    BrowseRequest,
    ExcerptFact,
    ExcerptThing,
    GraphExcerpt,
    GraphTable,
    KindCount,
    Names,
    TableCell,
    TableChoice,
    TableColumn,
    TableFilter,
    TableRequest,
    TableRow,
)
from kg_store.algebra.kind_table import Column, KindTable, RowFilter, kind_sizes
from kg_store.catalog import Catalog, PrivateGraph
from kg_store.graph.kinds import row_kind_of
from kg_store.graph.traversal import concept_of, kind_of
from kg_store.storage.vault import NO_NAME
from kg_store.terms import NO_MIDS, Hop, Mid, Mids, NodeKind, as_mids

PAGE: Final = 50
MAX_ENDS: Final = 12
ROWS: Final = 25
"""The rows of a page of a table. It is fixed: whoever asks for a row of few gets all of them, and all are counted."""
FEWER: Final = (12, 6, 3, 1)
"""The rows that are tried where those of a whole page are more than the reader may still read."""
MAX_IN_CELL: Final = 3
"""The most things that a cell shows, beside their number."""
TRIES: Final = 4
"""The tries of a look while others in its conversation are saved, since quick clicks do not wait for each other."""

LookT = TypeVar("LookT")


class GraphBrowser:
    """Shows the kinds, relations and things of a graph.

    Promise: only a caller who may both ask and inspect a graph sees it, and only what their role may see; each name,
    each fact and each condition on rows counts in their budget before it is answered. Names are sealed to the
    caller's key, things are pseudonyms of the caller's own conversation, and internal ids (MIDs) never leave. Limit:
    the kinds, their sizes, the relations, and numbers of rows are shown in clear.
    """

    def __init__(self, catalog: Catalog, conversations: ConversationStore, names: NamesBudget | None = None) -> None:
        self._catalog, self._conversations, self._names = catalog, conversations, names

    def excerpt(self, caller: Caller, graph: str, wanted: BrowseRequest) -> GraphExcerpt:
        """Returns the things with a name, in pages of PAGE things, or one thing with its facts.

        Raises NotPermittedError, UnknownGraphError, UnknownConversationError, BadPublicKeyError,
        ConversationBusyError, NamesUsedUpError.
        """
        parse_public_key(wanted.public_key)
        opened = self._open(caller, graph)
        conversation, excerpt = self._looked(
            opened, caller, wanted.conversation, lambda conversation: _excerpt_of(opened, conversation, wanted)
        )
        things, facts = excerpt.things, excerpt.facts
        shown = [*things, *(end for fact in facts for end in fact.ends)]
        names = _restored(opened, conversation, [each.pseudonym for each in shown])
        names |= names_of_masks(opened, [fact.relation for fact in facts])
        names |= names_of_kinds(opened, {each.concept for each in shown})
        ends = [(f"^{fact.relation}" if fact.inverse else fact.relation, end) for fact in facts for end in fact.ends]
        told = _told_of(things[0], ends, names) if ends else []
        self._take(opened, caller, RestoredNames(names, excerpt.id, table=conversation.table, facts=told))
        return seal_excerpt(wanted.public_key, excerpt, names)

    def table(self, caller: Caller, graph: str, wanted: TableRequest) -> GraphTable:
        """Returns the kinds of a graph, and a page of the things of one of them as a table.

        The page has as many rows as the caller may still read. Raises NotPermittedError, UnknownGraphError,
        UnknownConversationError, UnknownColumnError, BadPublicKeyError, ConversationBusyError, NamesUsedUpError.
        """
        parse_public_key(wanted.public_key)
        opened = self._open(caller, graph)
        if wanted.filters:
            # It is counted by itself and first: else the refusal of rows would tell that there are some, for nothing.
            self._take(opened, caller, RestoredNames({}, conditions=[_condition(wanted)]))
        conversation, table = self._looked(
            opened, caller, wanted.conversation, lambda conversation: _table_of(opened, conversation, wanted)
        )
        return self._within_budget(opened, caller, conversation, wanted.public_key, table)

    def _within_budget(
        self, opened: PrivateGraph, caller: Caller, conversation: Conversation, public_key: str, table: GraphTable
    ) -> GraphTable:
        """Returns the sealed table, with as many of its rows as the caller may still read, but one at least."""
        names, whole = _names_of(opened, conversation, table), len(table.rows)
        most, fewer = whole, iter([each for each in FEWER if each < whole])
        while True:
            shown = table.model_copy(update={"rows": table.rows[:most], "withheld": whole - most})
            kept = {word: names[word] for word in _words_of(shown) if word in names}
            told = RestoredNames(kept, table.id, table=conversation.table, facts=_told_by(shown, kept))
            try:
                self._take(opened, caller, told)
            except NamesUsedUpError:
                most = next(fewer, 0)
                if not most:
                    raise
                continue
            return seal_excerpt(public_key, shown, kept)

    def _looked(
        self, opened: PrivateGraph, caller: Caller, conversation_id: str | None, look: Callable[[Conversation], LookT]
    ) -> tuple[Conversation, LookT]:
        """Returns the saved conversation and the result of `look`, which gives things pseudonyms in it.

        It looks again if the conversation was saved by another look in the meantime. Raises ConversationBusyError.
        """
        schema, left = opened.blind.schema, TRIES
        while True:
            conversation = self._conversations.open(caller.tenant, caller.key_id, opened.name, conversation_id, schema)
            found = look(conversation)
            try:
                self._conversations.save(conversation, schema)
            except ConversationBusyError:
                left -= 1
                if not left:
                    raise
                continue
            return conversation, found

    def _take(self, opened: PrivateGraph, caller: Caller, restored: RestoredNames) -> None:
        if self._names is not None:
            self._names.take(opened, caller, restored)

    def _open(self, caller: Caller, graph: str) -> PrivateGraph:
        if not (caller.may_ask(graph) and caller.may_inspect(graph)):
            raise NotPermittedError
        return self._catalog.open_as(caller.tenant, graph, None if caller.is_admin else caller.role_in(graph))


def _excerpt_of(opened: PrivateGraph, conversation: Conversation, wanted: BrowseRequest) -> GraphExcerpt:
    mids = _wanted(opened, conversation, wanted)
    page = mids[wanted.offset : wanted.offset + PAGE]
    return GraphExcerpt(
        id=secrets.token_urlsafe(12),
        graph=opened.name,
        conversation=conversation.id,
        total=len(mids),
        things=[_thing(opened, conversation, mid) for mid in page.tolist()],
        facts=_facts(opened, conversation, page) if wanted.thing is not None and len(page) == 1 else [],
    )


def _wanted(opened: PrivateGraph, conversation: Conversation, wanted: BrowseRequest) -> Mids:
    blind = opened.blind
    if wanted.thing is not None:
        return conversation.table.resolve(wanted.thing, blind)[0]
    found = [mid for each in opened.linker.find_mentions(f'"{wanted.search}"') for mid in each.mids]
    found += [mid for each in opened.linker.find_mentions(wanted.search or "") for mid in each.mids]
    mids = as_mids(found) if found else NO_MIDS
    held = mids if opened.holds is None else as_mids(list(opened.holds(tuple(mids.tolist()))))
    return as_mids([mid for mid in held.tolist() if kind_of(blind, as_mids([mid])) is NodeKind.ENTITY])


def _thing(opened: PrivateGraph, conversation: Conversation, mid: int) -> ExcerptThing:
    one = as_mids([mid])
    if kind_of(opened.blind, one) is NodeKind.VALUE:
        return ExcerptThing(pseudonym=conversation.table.of_value(Mid(mid)), concept="", is_value=True)
    rows = row_kind_of(opened.blind.schema, frozenset(opened.blind.signatures_of(one).tolist()))
    concept = rows or concept_of(opened.blind, one)
    return ExcerptThing(pseudonym=conversation.table.of_entity(Mid(mid)), concept=concept)


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


def _condition(wanted: TableRequest) -> str:
    """Returns one text for what a request asks of the rows; another order or page asks nothing more."""
    asked = {"kind", "filters", "choices_of"}
    return json.dumps(wanted.model_dump(mode="json", include=asked, exclude_none=True), sort_keys=True)


def _table_of(opened: PrivateGraph, conversation: Conversation, wanted: TableRequest) -> GraphTable:
    """Returns the kinds, and the page of rows that is wanted. A page beyond the end is the last one."""
    kinds = [KindCount(kind=kind, things=size) for kind, size in kind_sizes(opened.blind).items()]
    table = GraphTable(id=secrets.token_urlsafe(12), graph=opened.name, conversation=conversation.id, kinds=kinds)
    if wanted.kind is None:
        return table
    found = KindTable(opened.blind, opened.vault, wanted.kind)
    filters = [_filter_of(each, opened, conversation) for each in wanted.filters]
    rows = found.rows(filters, wanted.sort, descending=wanted.descending)
    offset = min(wanted.offset, max(0, len(rows) - 1)) // ROWS * ROWS
    choices = [] if wanted.choices_of is None else _choices(found, wanted.choices_of, filters, opened, conversation)
    return table.model_copy(
        update={
            "kind": wanted.kind,
            "named": found.is_named,
            "sortable": found.is_name_sortable,
            "columns": [_column_of(each) for each in found.columns],
            "rows": _rows(found, rows[offset : offset + ROWS], opened, conversation),
            "total": len(rows),
            "offset": offset,
            "choices": choices,
        }
    )


def _filter_of(wanted: TableFilter, opened: PrivateGraph, conversation: Conversation) -> RowFilter:
    mids = None if wanted.value is None else conversation.table.resolve(wanted.value, opened.blind)[0]
    return RowFilter(wanted.column, mids, wanted.contains)


def _column_of(column: Column) -> TableColumn:
    return TableColumn(
        column=column.label,
        leads_to=column.leads_to,
        value_kind=column.value_kind,
        masked=column.is_masked,
        counted=column.counted,
        filled=column.filled,
        distinct=column.distinct,
        sortable=column.is_sortable,
        has_choices=column.has_choices,
    )


def _rows(found: KindTable, page: Mids, opened: PrivateGraph, conversation: Conversation) -> list[TableRow]:
    cells = [(column.counted, found.cells(column, page)) for column in found.columns]
    rows: list[TableRow] = []
    for mid in page.tolist():
        of_row = [(counted, ends.get(mid, [])) for counted, ends in cells]
        shown = [
            TableCell(
                ends=[] if counted else [_thing(opened, conversation, end) for end in ends[:MAX_IN_CELL]],
                total=len(ends),
            )
            for counted, ends in of_row
        ]
        rows.append(TableRow(thing=_thing(opened, conversation, mid), cells=shown))
    return rows


def _choices(
    found: KindTable, column: str, filters: Sequence[RowFilter], opened: PrivateGraph, conversation: Conversation
) -> list[TableChoice]:
    counts, without = found.choices(column, filters)
    choices = [TableChoice(value=_thing(opened, conversation, mid), rows=rows) for mid, rows in counts]
    return [*choices, TableChoice(value=None, rows=without)] if without else choices


def _names_of(opened: PrivateGraph, conversation: Conversation, table: GraphTable) -> dict[str, Names]:
    """Returns the names of all that a table shows, and the own words of its masked kinds and columns."""
    words = [*_words_of(table)]
    names = _restored(opened, conversation, words)
    names |= names_of_masks(opened, [each.column for each in table.columns])
    return names | names_of_kinds(opened, words)


def _restored(opened: PrivateGraph, conversation: Conversation, words: Iterable[str]) -> dict[str, Names]:
    """Returns the names behind pseudonyms; what has no name is left out."""
    found = AnswerExecutor(opened, conversation.table, PAGE).names_of(words)
    return {word: names for word, names in found.items() if names.names != [NO_NAME]}


def _words_of(table: GraphTable) -> Iterable[str]:
    """Yields every word of a table that may stand for a name."""
    yield from (each.kind for each in table.kinds)
    for column in table.columns:
        yield column.column.removeprefix("^")
        yield from column.leads_to.split(", ")
    for row in table.rows:
        yield row.thing.pseudonym
        yield from (end.pseudonym for cell in row.cells for end in cell.ends)
    yield from (each.value.pseudonym for each in table.choices if each.value is not None)


def _told_by(table: GraphTable, names: Mapping[str, Names]) -> list[ToldFact]:
    """Returns the facts that the cells of a table tell."""
    labels = [column.column for column in table.columns]
    found: list[ToldFact] = []
    for row in table.rows:
        cells = [(label, end) for label, cell in zip(labels, row.cells, strict=True) for end in cell.ends]
        found += _told_of(row.thing, cells, names)
    return found


def _told_of(
    thing: ExcerptThing, ends: Sequence[tuple[str, ExcerptThing]], names: Mapping[str, Names]
) -> list[ToldFact]:
    """Returns the facts of one thing, from the words of its relations and what they lead to.

    A thing without a name is no end of a fact: they are told of the first thing that it leads to, or else of the first
    value.
    """
    things = [thing] if thing.pseudonym in names else [end for _, end in ends if not end.is_value]
    head = next(iter(things or [end for _, end in ends]), None)
    return [(head.pseudonym, (label,), end.pseudonym) for label, end in ends if head and end is not head]
