"""CaseStore: the cases of all tenants' graphs, one sealed row each, and counts of their effects."""

from __future__ import annotations

import datetime as dt
import json
import secrets
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Final

from sqlalchemy import Connection, Engine, delete, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from app.database.tables import case_effects, cases
from app.memory.cases import Case, CaseContent, Rating, content_from_json, content_to_json
from kg_store.storage.master_key import MasterKey, bind

PURPOSE: Final = "case"
MAX_CASES_OF_A_KEY: Final = 2_000
"""The greatest number of cases of a key in one graph; the oldest that nobody approved are deleted first. Chosen by
hand.
"""
MAX_CACHED: Final = 20_000
_ID_BYTES: Final = 12
_PAD_BYTES: Final = 256


class UnknownCaseError(Exception):
    """The graph has no case of that id."""


@dataclass(frozen=True, slots=True)
class CaseEffects:
    """Counts of the answers that used cases of a graph, and of those among them that were rated."""

    leaned: int = 0
    right: int = 0
    wrong: int = 0


class CaseStore:
    """Stores cases.

    Promise: a row in the database reveals no word of a question and no relation (AES-256-GCM under the master key,
    bound to tenant, key and graph). Condition: the master key is stored elsewhere. Limit: which key has how many cases
    in which graph, since when, and how often each was used, is stored in clear.
    """

    def __init__(self, engine: Engine, master: MasterKey) -> None:
        self._engine, self._master = engine, master
        # What a row holds never changes; another rating of its answer makes another row. The context is part of the
        # key, so that a row which was moved does not open here either.
        self._opened: dict[bytes, CaseContent] = {}

    def keep(self, tenant: str, graph: str, key_id: str, answer_id: str, content: CaseContent) -> None:
        """Stores the case of an answer in place of an earlier one of that answer; an identical one stays as it is."""
        case_id, answer = secrets.token_hex(_ID_BYTES), _digest(answer_id)
        kept = [each.content for each in self._of_answer(tenant, graph, key_id, answer)]
        if any(replace(each, vector=content.vector) == replace(content, vector=content.vector) for each in kept):
            return
        row = {"id": case_id, "tenant": tenant, "graph": graph, "key_id": key_id, "answer": answer, "used": 0}
        row["sealed"] = self._sealed(bind(tenant, key_id, graph, case_id), content)
        row["made_at"] = dt.datetime.now(dt.UTC)
        try:
            with self._engine.begin() as connection:
                connection.execute(delete(cases).where(_of_answer(tenant, graph, key_id, answer)))
                connection.execute(insert(cases), row)
                self._make_room(connection, tenant, graph, key_id)
        except IntegrityError:
            return  # The same answer was rated twice at once: the other's case stands.

    def forget_answer(self, tenant: str, graph: str, key_id: str, answer_id: str) -> None:
        """Deletes the case of an answer, if there is one."""
        with self._engine.begin() as connection:
            connection.execute(delete(cases).where(_of_answer(tenant, graph, key_id, _digest(answer_id))))

    def usable_by(self, tenant: str, graph: str, key_id: str) -> list[Case]:
        """Returns a key's own cases and those that an owner approved. Raises MasterKeyError."""
        mine = or_(cases.c.key_id == key_id, cases.c.approved_at.is_not(None))
        return self._found(tenant, graph, mine)

    def of_graph(self, tenant: str, graph: str) -> list[Case]:
        """Returns all cases of a graph, oldest first. Raises MasterKeyError."""
        return self._found(tenant, graph)

    def approve(self, tenant: str, graph: str, ids: Collection[str]) -> int:
        """Makes these cases count for every key and returns how many.

        Raises UnknownCaseError, and approves none then.
        """
        with self._engine.begin() as connection:
            chosen = _of_graph(tenant, graph) & cases.c.id.in_(list(ids))
            now = dt.datetime.now(dt.UTC)
            done = connection.execute(update(cases).where(chosen).values(approved_at=now)).rowcount
            if done != len(set(ids)):
                raise UnknownCaseError
        return done

    def forget(self, tenant: str, graph: str, ids: Collection[str]) -> int:
        """Deletes these cases and returns how many. Raises UnknownCaseError, and deletes none then."""
        with self._engine.begin() as connection:
            chosen = _of_graph(tenant, graph) & cases.c.id.in_(list(ids))
            gone = connection.execute(delete(cases).where(chosen)).rowcount
            if gone != len(set(ids)):
                raise UnknownCaseError
        self._opened = {}
        return gone

    def forget_graph(self, tenant: str, graph: str, key_id: str | None = None) -> int:
        """Deletes the cases of a graph, or of one key only; returns how many. The graph's counts are deleted with the
        last case.
        """
        with self._engine.begin() as connection:
            chosen = _of_graph(tenant, graph)
            if key_id is None:
                ours = (case_effects.c.tenant == tenant) & (case_effects.c.graph == graph)
                connection.execute(delete(case_effects).where(ours))
            else:
                chosen &= cases.c.key_id == key_id
            self._opened = {}
            return connection.execute(delete(cases).where(chosen)).rowcount

    def forget_without(
        self, tenant: str, graph: str, labels: Collection[str], is_told: Callable[[str], bool] = lambda _asked: False
    ) -> int:
        """Deletes cases with a relation that the graph no longer has, or of whose words `is_told`; returns how many.

        Of the others goes what they tell of the answer before, where that had such a relation.
        """
        found = self.of_graph(tenant, graph)
        gone = [each.id for each in found if not each.content.is_shown_by(labels) or is_told(each.content.asked)]
        kept = [(each, each.content.without_others(labels)) for each in found if each.id not in gone]
        with self._engine.begin() as connection:
            for case_id in gone:
                connection.execute(delete(cases).where(_of_graph(tenant, graph) & (cases.c.id == case_id)))
            for case, content in kept:
                if content is not case.content:
                    sealed = self._sealed(bind(tenant, case.key_id, graph, case.id), content)
                    connection.execute(update(cases).where(cases.c.id == case.id).values(sealed=sealed))
        self._opened = {}
        return len(gone)

    def count_use(self, tenant: str, graph: str, ids: Sequence[str]) -> None:
        """Counts an answer that used these cases."""
        with self._engine.begin() as connection:
            chosen = _of_graph(tenant, graph) & cases.c.id.in_(list(ids))
            connection.execute(update(cases).where(chosen).values(used=cases.c.used + 1))
        self._add_effects(tenant, graph, {"leaned": 1})

    def count_rating(self, tenant: str, graph: str, before: Rating | str, now: Rating) -> None:
        """Counts the rating of an answer that used cases, in place of an earlier rating."""
        if before != now:
            self._add_effects(tenant, graph, {now: 1, **({before: -1} if before else {})})

    def effects(self, tenant: str, graph: str) -> CaseEffects:
        query = select(case_effects).where(case_effects.c.tenant == tenant, case_effects.c.graph == graph)
        with self._engine.connect() as connection:
            row = connection.execute(query).one_or_none()
        return CaseEffects() if row is None else CaseEffects(row.leaned, row.right, row.wrong)

    def _sealed(self, context: bytes, content: CaseContent) -> bytes:
        plain = json.dumps(content_to_json(content), separators=(",", ":")).encode()
        return self._master.seal(PURPOSE, context, plain + b" " * (-len(plain) % _PAD_BYTES))

    def _of_answer(self, tenant: str, graph: str, key_id: str, answer: str) -> list[Case]:
        return self._found(tenant, graph, _of_answer(tenant, graph, key_id, answer))

    def _found(self, tenant: str, graph: str, chosen: Any = True) -> list[Case]:
        columns = (
            cases.c.id,
            cases.c.tenant,
            cases.c.graph,
            cases.c.key_id,
            cases.c.made_at,
            cases.c.approved_at,
            cases.c.used,
        )
        query = select(*columns).where(_of_graph(tenant, graph), chosen).order_by(cases.c.made_at, cases.c.id)
        with self._engine.connect() as connection:
            found = [(row, self._content(connection, row)) for row in connection.execute(query).all()]
        return [_case(row, content) for row, content in found if content is not None]

    def _content(self, connection: Connection, row: Any) -> CaseContent | None:
        """The content of a case; None if the row has been deleted since it was listed."""
        context = bind(row.tenant, row.key_id, row.graph, row.id)
        if context in self._opened:
            return self._opened[context]
        sealed = connection.execute(select(cases.c.sealed).where(cases.c.id == row.id)).scalar_one_or_none()
        if sealed is None:
            return None
        content = content_from_json(json.loads(self._master.open(PURPOSE, context, sealed)))
        if len(self._opened) >= MAX_CACHED:
            self._opened = {}
        self._opened[context] = content
        return content

    def _add_effects(self, tenant: str, graph: str, counts: dict[str, int]) -> None:
        for _ in range(2):
            with suppress(IntegrityError), self._engine.begin() as connection:
                # Where two make the first row at once, the second finds it when it looks again.
                _add_effects(connection, tenant, graph, counts)
                return

    def _make_room(self, connection: Connection, tenant: str, graph: str, key_id: str) -> None:
        own = _of_graph(tenant, graph) & (cases.c.key_id == key_id) & cases.c.approved_at.is_(None)
        newest = select(cases.c.id).where(own).order_by(cases.c.made_at.desc()).offset(MAX_CASES_OF_A_KEY)
        if old := connection.execute(newest).scalars().all():
            connection.execute(delete(cases).where(cases.c.id.in_(old)))


def _add_effects(connection: Connection, tenant: str, graph: str, counts: dict[str, int]) -> None:
    ours = (case_effects.c.tenant == tenant) & (case_effects.c.graph == graph)
    changed = {name: case_effects.c[name] + count for name, count in counts.items()}
    if connection.execute(update(case_effects).where(ours).values(changed)).rowcount:
        return
    zero = {"leaned": 0, "right": 0, "wrong": 0}
    fresh = {name: max(0, count) for name, count in {**zero, **counts}.items()}
    connection.execute(insert(case_effects), {"tenant": tenant, "graph": graph, **fresh})


def _of_graph(tenant: str, graph: str) -> Any:
    return (cases.c.tenant == tenant) & (cases.c.graph == graph)


def _of_answer(tenant: str, graph: str, key_id: str, answer: str) -> Any:
    return _of_graph(tenant, graph) & (cases.c.key_id == key_id) & (cases.c.answer == answer)


def _digest(answer_id: str) -> str:
    return blake2b(answer_id.encode(), digest_size=16).hexdigest()


def _case(row: Any, content: CaseContent) -> Case:
    return Case(row.id, row.key_id, row.made_at, row.approved_at, row.used, content)
