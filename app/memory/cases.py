"""Stores cases (a question's words and vector, and the relation paths that answered it), one encrypted row each."""

from __future__ import annotations

import base64
import datetime as dt
import json
import secrets
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, Engine, Select, bindparam, delete, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from app.database.tables import case_effects, cases
from kg_store.storage.master_key import MasterKey, bind

Vector = npt.NDArray[np.float32]
LabelPath = tuple[str, ...]
"""A path as the labels of its steps, such as `^directed by` (backwards) or `a|b` (through a mediator)."""

Rating = Literal["right", "wrong"]
MAX_RATABLE = 7
"""The greatest number of answers of one conversation that can be rated, the newest ones: those of the exchanges that a
question is read with. Each takes nearly a kilobyte of the conversation's row.
"""
MAX_CORRECTED_CONFIDENCE = 0.5
"""The highest confidence (0 to 1) of an answer that follows a path learnt from a correction. It was not measured how
often corrections are right, so the answer counts as no surer than a coin. Chosen by hand.
"""

# Built once, because SQLAlchemy needs longer to build a statement than SQLite needs to find the rows.
_OF_GRAPH: Final = [cases.c[name] == bindparam(name) for name in ("tenant", "graph")]
_IS_OF_KEY: Final = cases.c.key_id == bindparam("key_id")
_COLUMNS: Final = [cases.c[name] for name in ("id", "tenant", "graph", "key_id", "made_at", "approved_at", "used")]
_ALL: Final = select(*_COLUMNS).where(*_OF_GRAPH).order_by(cases.c.made_at, cases.c.id)
_USABLE: Final = _ALL.where(or_(_IS_OF_KEY, cases.c.approved_at.is_not(None)))
_OF_ANSWER: Final = _ALL.where(_IS_OF_KEY, cases.c.answer == bindparam("answer"))


@dataclass(frozen=True, slots=True)
class CaseContent:
    """The content of a case: the question's vector by the sentence model `model`, and paths of relation labels.

    It names no entity. `is_whole`: a single path is the whole answer; nothing was counted, compared or excluded.
    `asked`: the words of the question without its names, for the owner who approves the case. `before`: the paths of
    the answer that was rated wrong. `person`: who rated it, among those who share an API key. `most`: the highest
    confidence (0 to 1) of an answer that follows the case until an owner approves it. `is_held`: the case contradicts
    an answer that was sure, so it counts for nobody until an owner approves it.
    """

    model: str
    vector: Vector = field(repr=False)
    paths: tuple[LabelPath, ...] = field(repr=False)
    is_whole: bool = False
    asked: str = field(default="", repr=False)
    before: tuple[LabelPath, ...] = field(default=(), repr=False)
    person: str = field(default="", repr=False)
    most: float = 1.0
    is_held: bool = False

    def is_shown_by(self, labels: Collection[str]) -> bool:
        """Returns True if all relations of its paths are among `labels`, those that a role sees."""
        return _are_shown(self.paths, labels)

    def without_others(self, labels: Collection[str]) -> CaseContent:
        """Returns the content, without the paths in `before` if some of their relations are not among `labels`."""
        return self if _are_shown(self.before, labels) else replace(self, before=())


@dataclass(frozen=True, slots=True)
class Case:
    """A stored case. `used`: number of answers that followed it. `approved_at`: None until an owner approves it."""

    id: str
    key_id: str
    made_at: dt.datetime
    approved_at: dt.datetime | None
    used: int
    content: CaseContent

    @property
    def most(self) -> float:
        """The highest confidence (0 to 1) of an answer that follows the case."""
        return self.content.most if self.approved_at is None else 1.0

    def counts_for(self, key_id: str, person: str) -> bool:
        """Returns True if the case may be used for questions of this key and person.

        Once an owner approved it, it counts for everybody; until then only for the person who rated, unless `is_held`.
        """
        own = self.key_id == key_id and self.content.person == person and not self.content.is_held
        return own or self.approved_at is not None


@dataclass(frozen=True, slots=True)
class RatableAnswer:
    """An answer of a conversation that can still be rated.

    `content`: the case that it makes. `topics`: pseudonyms of the things that its question names. `leaned`: it
    followed a path of a case. `rating`: the last one, empty for none. `confidence`: 0 to 1; 0 if not measured.
    """

    content: CaseContent
    topics: tuple[str, ...] = ()
    leaned: bool = False
    rating: Rating | Literal[""] = ""
    confidence: float = 0.0

    def rated_right(self) -> CaseContent:
        """Returns the case that is stored if this answer is rated right.

        Its highest confidence is that of the answer, or MAX_CORRECTED_CONFIDENCE if that was not measured.
        """
        return replace(self.content, most=self.confidence or MAX_CORRECTED_CONFIDENCE)

    def to_json(self) -> dict[str, Any]:
        rest = {"topics": list(self.topics), "leaned": self.leaned, "rating": self.rating, "sure": self.confidence}
        return {**content_to_json(self.content), **rest}

    @staticmethod
    def from_json(data: dict[str, Any]) -> RatableAnswer:
        content, topics = content_from_json(data), tuple(data["topics"])
        return RatableAnswer(content, topics, data["leaned"], data["rating"], data.get("sure", 0.0))


def content_to_json(content: CaseContent) -> dict[str, Any]:
    """Returns the content as JSON values; the vector has half precision, which keeps cosines to three digits."""
    packed = base64.b64encode(content.vector.astype("<f2").tobytes()).decode()
    return {
        "model": content.model,
        "vector": packed,
        "paths": [list(path) for path in content.paths],
        "whole": content.is_whole,
        "asked": content.asked,
        "before": [list(path) for path in content.before],
        "person": content.person,
        "most": content.most,
        "held": content.is_held,
    }


def content_from_json(data: dict[str, Any]) -> CaseContent:
    """Reads the values that `content_to_json` returned; old rows may lack fields such as `person` and `asked`."""
    vector = np.frombuffer(base64.b64decode(data["vector"]), dtype="<f2").astype(np.float32)
    return CaseContent(
        model=data["model"],
        vector=vector,
        paths=tuple(map(tuple, data["paths"])),
        is_whole=data["whole"],
        asked=data.get("asked", ""),
        before=tuple(map(tuple, data.get("before", ()))),
        person=data.get("person", ""),
        most=data.get("most", MAX_CORRECTED_CONFIDENCE),
        is_held=data.get("held", False),
    )


def parts_of(step: str) -> Sequence[str]:
    """Returns the relation labels in the label of a step: `a` and `b` for `^a|b`."""
    return [part.removeprefix("^") for part in step.split("|")]


def _are_shown(paths: Collection[LabelPath], labels: Collection[str]) -> bool:
    return all(part in labels for path in paths for step in path for part in parts_of(step))


PURPOSE: Final = "case"
MAX_CASES_OF_A_KEY: Final = 2_000
"""The greatest number of cases of an API key in one graph that no owner has approved; beyond it, the oldest are
deleted. Chosen by hand.
"""
MAX_CACHED: Final = 20_000
_ID_BYTES: Final = 12
_PAD_BYTES: Final = 256


class UnknownCaseError(Exception):
    """The graph has no case with one of the given ids."""


@dataclass(frozen=True, slots=True)
class CaseEffects:
    """The effects of a graph's cases: the number of answers that followed them (`leaned`), and how many of these were
    rated right and wrong."""

    leaned: int = 0
    right: int = 0
    wrong: int = 0


class CaseStore:
    """Stores the cases of all tenants.

    Promise: a row in the database reveals no word of a question and no relation (AES-256-GCM under the master key,
    bound to tenant, API key and graph). Condition: the master key is stored elsewhere. Limit: how many cases an API
    key has in a graph, since when, and how often each was used, is stored in clear.
    """

    def __init__(self, engine: Engine, master: MasterKey) -> None:
        self._engine, self._master = engine, master
        # A cache of decrypted rows. Another rating makes another row, so a row's content stays valid; whatever changes
        # rows empties the cache. Its key is the context of the encryption, so that a moved row does not open here.
        self._opened: dict[bytes, CaseContent] = {}

    def keep(self, tenant: str, graph: str, key_id: str, answer_id: str, content: CaseContent) -> None:
        """Stores the case of an answer in place of an earlier case of that answer, unless both are the same."""
        case_id, answer = secrets.token_hex(_ID_BYTES), _digest(answer_id)
        ours = {"tenant": tenant, "graph": graph, "key_id": key_id, "answer": answer}
        kept = [each.content for each in self._found(_OF_ANSWER, ours)]
        if any(replace(each, vector=content.vector) == replace(content, vector=content.vector) for each in kept):
            return
        row: dict[str, Any] = {**ours, "id": case_id, "used": 0}
        row["sealed"] = self._sealed(bind(tenant, key_id, graph, case_id), content)
        row["made_at"] = dt.datetime.now(dt.UTC)
        try:
            with self._engine.begin() as connection:
                connection.execute(delete(cases).where(_of_answer(tenant, graph, key_id, answer)))
                connection.execute(insert(cases), row)
                self._make_room(connection, tenant, graph, key_id)
        except IntegrityError:
            return  # The same answer was rated twice at the same moment: the case of the other rating is kept.

    def forget_answer(self, tenant: str, graph: str, key_id: str, answer_id: str) -> None:
        """Deletes the case of an answer, if there is one."""
        with self._engine.begin() as connection:
            connection.execute(delete(cases).where(_of_answer(tenant, graph, key_id, _digest(answer_id))))

    def usable_by(self, tenant: str, graph: str, key_id: str) -> list[Case]:
        """Returns the cases of this API key and those that an owner approved. Raises MasterKeyError."""
        return self._found(_USABLE, {"tenant": tenant, "graph": graph, "key_id": key_id})

    def of_graph(self, tenant: str, graph: str) -> list[Case]:
        """Returns all cases of a graph, oldest first. Raises MasterKeyError."""
        return self._found(_ALL, {"tenant": tenant, "graph": graph})

    def approve(self, tenant: str, graph: str, ids: Collection[str]) -> int:
        """Approves the cases with these ids, so that they count for every key; returns how many.

        Raises UnknownCaseError if one does not exist, and then approves none.
        """
        with self._engine.begin() as connection:
            chosen = _of_graph(tenant, graph) & cases.c.id.in_(list(ids))
            now = dt.datetime.now(dt.UTC)
            done = connection.execute(update(cases).where(chosen).values(approved_at=now)).rowcount
            if done != len(set(ids)):
                raise UnknownCaseError
        return done

    def forget(self, tenant: str, graph: str, ids: Collection[str]) -> int:
        """Deletes the cases with these ids and returns how many.

        Raises UnknownCaseError if one does not exist, and then deletes none.
        """
        with self._engine.begin() as connection:
            chosen = _of_graph(tenant, graph) & cases.c.id.in_(list(ids))
            gone = connection.execute(delete(cases).where(chosen)).rowcount
            if gone != len(set(ids)):
                raise UnknownCaseError
        self._opened = {}
        return gone

    def forget_graph(self, tenant: str, graph: str, key_id: str | None = None) -> int:
        """Deletes all cases of a graph with the counts of their effects, or only the cases of one API key.

        Returns how many cases.
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
        """Deletes a graph's cases that use a relation outside of `labels`, and returns their number.

        Also deletes the cases whose question words `is_told` accepts, such as those that hold an erased name. Other
        cases stay, but lose the paths in `before` that use a relation outside of `labels`.
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
        """Counts one more answer that followed the cases with these ids."""
        with self._engine.begin() as connection:
            chosen = _of_graph(tenant, graph) & cases.c.id.in_(list(ids))
            connection.execute(update(cases).where(chosen).values(used=cases.c.used + 1))
        self._add_effects(tenant, graph, {"leaned": 1})

    def count_rating(self, tenant: str, graph: str, before: Rating | str, now: Rating) -> None:
        """Counts the rating `now` of an answer that followed cases; an earlier rating `before` no longer counts."""
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

    def _found(self, query: Select[Any], wanted: dict[str, str]) -> list[Case]:
        with self._engine.connect() as connection:
            found = [(row, self._content(connection, row)) for row in connection.execute(query, wanted).all()]
        return [
            Case(row.id, row.key_id, row.made_at, row.approved_at, row.used, content)
            for row, content in found
            if content is not None
        ]

    def _content(self, connection: Connection, row: Any) -> CaseContent | None:
        """Returns the content of a case, from the cache or decrypted; None if the row was deleted in the meantime."""
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
        ours = (case_effects.c.tenant == tenant) & (case_effects.c.graph == graph)
        changed = {name: case_effects.c[name] + count for name, count in counts.items()}
        fresh = {name: max(0, counts.get(name, 0)) for name in ("leaned", "right", "wrong")}
        for _ in range(2):
            # If two requests insert the first row at the same moment, the second finds it at its second try.
            with suppress(IntegrityError), self._engine.begin() as connection:
                if not connection.execute(update(case_effects).where(ours).values(changed)).rowcount:
                    connection.execute(insert(case_effects), {"tenant": tenant, "graph": graph, **fresh})
                return

    def _make_room(self, connection: Connection, tenant: str, graph: str, key_id: str) -> None:
        own = _of_graph(tenant, graph) & (cases.c.key_id == key_id) & cases.c.approved_at.is_(None)
        newest = select(cases.c.id).where(own).order_by(cases.c.made_at.desc()).offset(MAX_CASES_OF_A_KEY)
        if old := connection.execute(newest).scalars().all():
            connection.execute(delete(cases).where(cases.c.id.in_(old)))


def _of_graph(tenant: str, graph: str) -> Any:
    return (cases.c.tenant == tenant) & (cases.c.graph == graph)


def _of_answer(tenant: str, graph: str, key_id: str, answer: str) -> Any:
    return _of_graph(tenant, graph) & (cases.c.key_id == key_id) & (cases.c.answer == answer)


def _digest(answer_id: str) -> str:
    return blake2b(answer_id.encode(), digest_size=16).hexdigest()
