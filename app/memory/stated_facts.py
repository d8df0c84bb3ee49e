"""Stores what people tell the service of a graph, one encrypted row for each sentence, apart from what was loaded."""

from __future__ import annotations

import datetime as dt
import hmac
import json
import secrets
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from operator import attrgetter
from typing import Any, Final, Literal

from sqlalchemy import ColumnElement, Engine, Select, bindparam, delete, func, insert, select, update

from app.database.tables import stated_facts
from kg_store.storage.master_key import MasterKey, bind

PURPOSE: Final = "stated fact"
MAX_OPENED: Final = 15
"""The greatest number of sentences, the newest, that are opened at once for a question. Chosen by hand."""
MAX_FACTS_OF_A_KEY: Final = 10_000
"""The greatest number of sentences that are kept for an API key in one graph. Chosen by hand."""
_ID_BYTES: Final = 12
_DIGEST_CHARS: Final = 32
_PAD_BYTES: Final = 256

# Built once, because SQLAlchemy needs longer to build a statement than SQLite needs to find the rows.
_OF_GRAPH: Final = (
    select(stated_facts)
    .where(*(stated_facts.c[name] == bindparam(name) for name in ("tenant", "graph")))
    .order_by(stated_facts.c.made_at.desc(), stated_facts.c.id)
)
_OF_KEY: Final = _OF_GRAPH.where(stated_facts.c.key_id == bindparam("key_id"))
_ANY_OF_KEY: Final = _OF_KEY.with_only_columns(stated_facts.c.id).order_by(None).limit(1)
_THESE: Final = _OF_GRAPH.where(stated_facts.c.id.in_(bindparam("ids", expanding=True)))
_ON_SUBJECTS: Final = _OF_KEY.where(stated_facts.c.subject.in_(bindparam("subjects", expanding=True)))
# Unordered, since with an order and a limit SQLite looks through all facts of the key by their times.
_ANY_ON_SUBJECTS: Final = _ON_SUBJECTS.order_by(None)
_NEWEST: Final = _OF_KEY.limit(MAX_OPENED)

OfferState = Literal["", "offered", "refused", "taken"]
"""The state of a fact that its owner offers to the owner of the graph; empty if they do not."""
NO_SUBJECT: Final = -1
"""Stands for the subject of facts that mention nothing of the graph."""


class MemoryFullError(Exception):
    """The API key has told as much of this graph as is kept."""


@dataclass(frozen=True, slots=True)
class FactOwner:
    """Whose memory it is. `person`: who tells, among those who share an API key."""

    tenant: str
    graph: str
    key_id: str
    person: str = ""


@dataclass(frozen=True, slots=True)
class Mention:
    """A name or value in a sentence: the things of the graph that it means, else the text as it was typed."""

    mids: tuple[int, ...] = ()
    literal: str = field(default="", repr=False)
    value_kind: str = ""


@dataclass(frozen=True, slots=True)
class StatedFact:
    """A sentence that its owner told: `texts`, with one of `mentions` between each two of them.

    `relation`: the IRI of the graph's relation that leads from one mention to another, by their places; empty for an
    open fact, which no relation of the graph says. `offer`: its state, if it is offered to the graph's owner.
    """

    texts: tuple[str, ...] = field(repr=False)
    mentions: tuple[Mention, ...] = field(repr=False)
    conversation: str = ""
    person: str = ""
    relation: str = field(default="", repr=False)
    subject: int = 0
    object: int = 0
    offer: OfferState = ""

    @property
    def mids(self) -> set[int]:
        return {mid for mention in self.mentions for mid in mention.mids}

    @property
    def words(self) -> str:
        """Everything in it that was typed."""
        return " ".join((*self.texts, *(mention.literal for mention in self.mentions)))

    @property
    def subject_mid(self) -> int:
        """The thing that it is about: the relation's subject, else the first that it mentions; NO_SUBJECT for none."""
        about = self.mentions[self.subject].mids if self.relation else ()
        return next(iter((*about, *(mid for mention in self.mentions for mid in mention.mids))), NO_SUBJECT)

    def says_same(self, other: StatedFact) -> bool:
        return (self.texts, self.mentions, self.person) == (other.texts, other.mentions, other.person)

    @staticmethod
    def from_json(data: dict[str, Any]) -> StatedFact:
        mentions = tuple(Mention(**{**each, "mids": tuple(each["mids"])}) for each in data["mentions"])
        return StatedFact(**{**data, "texts": tuple(data["texts"]), "mentions": mentions})


@dataclass(frozen=True, slots=True)
class KeptFact:
    """A stated fact as it is stored, and the API key that it belongs to."""

    id: str
    made_at: dt.datetime
    fact: StatedFact
    key_id: str = ""


class StatedFactStore:
    """Stores the stated facts of all tenants.

    Promise: a row in the database reveals no word, name or relation (AES-256-GCM under the master key, bound to
    tenant, API key and graph), and a fact is given to its owner alone. Condition: the master key is stored elsewhere.
    Limit: how many facts an API key has told of a graph, since when, and which of them are of one subject, is stored
    in clear. Facts told under an older master key are found by their subject only while that key is in the ring.
    """

    def __init__(self, engine: Engine, master: MasterKey) -> None:
        self._engine, self._master = engine, master

    def keep(self, owner: FactOwner, fact: StatedFact) -> None:
        """Stores a fact, in place of the same sentence told earlier. Raises MemoryFullError, MasterKeyError."""
        fact_id = secrets.token_hex(_ID_BYTES)
        subjects = self._digests(owner, [fact.subject_mid])
        told = self._found(_ON_SUBJECTS, {**_wanted(owner), "subjects": subjects})
        earlier = {row.id: each for row, each in told if each.says_same(fact)}
        fact = replace(fact, offer=next(iter(earlier.values())).offer) if earlier else fact
        context = bind(owner.tenant, owner.key_id, owner.graph, fact_id)
        row = {"tenant": owner.tenant, "graph": owner.graph, "key_id": owner.key_id, "id": fact_id}
        with self._engine.begin() as connection:
            connection.execute(delete(stated_facts).where(_of_key(owner) & stated_facts.c.id.in_(list(earlier))))
            counted = select(func.count()).select_from(stated_facts).where(_of_key(owner))
            if connection.execute(counted).scalar_one() >= MAX_FACTS_OF_A_KEY:
                raise MemoryFullError
            more = {"subject": subjects[0], "made_at": dt.datetime.now(dt.UTC), "sealed": self._sealed(fact, context)}
            connection.execute(insert(stated_facts), {**row, **more})

    def is_empty(self, owner: FactOwner) -> bool:
        """Returns True if nothing is kept for the owner's API key of this graph."""
        with self._engine.connect() as connection:
            return connection.execute(_ANY_OF_KEY, _wanted(owner)).first() is None

    def of_owner(self, owner: FactOwner) -> list[KeptFact]:
        """Returns everything that the owner told of the graph, newest first. Raises MasterKeyError."""
        return self._of(owner, self._found(_OF_KEY, _wanted(owner)))

    def on_subjects(self, owner: FactOwner, mids: Sequence[int]) -> list[KeptFact]:
        """Returns the owner's newest facts about these things (NO_SUBJECT: about none of the graph), newest first.

        At most MAX_OPENED. Raises MasterKeyError.
        """
        wanted = {**_wanted(owner), "subjects": self._digests(owner, mids)}
        rows = sorted(self._rows(_ANY_ON_SUBJECTS, wanted), key=attrgetter("made_at"), reverse=True)
        return self._of(owner, self._opened(rows[:MAX_OPENED]))

    def newest(self, owner: FactOwner) -> list[KeptFact]:
        """Returns those of the key's MAX_OPENED newest facts that are the owner's, newest first.

        Raises MasterKeyError.
        """
        return self._of(owner, self._found(_NEWEST, _wanted(owner)))

    def forget(self, owner: FactOwner, ids: Sequence[str]) -> int:
        """Deletes those of the owner's facts that have these ids, and returns how many."""
        return self._delete(_of_key(owner), ids)

    def offered(self, tenant: str, graph: str) -> list[KeptFact]:
        """Returns the facts that their owners offer to the graph's owner, newest first. Raises MasterKeyError."""
        found = self._found(_OF_GRAPH, {"tenant": tenant, "graph": graph})
        return [KeptFact(row.id, row.made_at, fact, row.key_id) for row, fact in found if fact.offer == "offered"]

    def set_offer(self, tenant: str, graph: str, ids: Collection[str], offer: OfferState) -> int:
        """Sets the state of the offer of those facts of a graph that have these ids, and returns how many.

        Raises MasterKeyError.
        """
        found = self._found(_THESE, {"tenant": tenant, "graph": graph, "ids": [*ids]})
        chosen = [(row, replace(fact, offer=offer)) for row, fact in found]
        with self._engine.begin() as connection:
            return sum(
                connection.execute(
                    update(stated_facts)
                    .where(_of_graph(tenant, graph) & (stated_facts.c.id == row.id))
                    .values(sealed=self._sealed(fact, bind(tenant, row.key_id, graph, row.id)))
                ).rowcount
                for row, fact in chosen
            )

    def forget_graph(self, tenant: str, graph: str) -> int:
        """Deletes everything that was told of a graph, and returns how many facts."""
        with self._engine.begin() as connection:
            return connection.execute(delete(stated_facts).where(_of_graph(tenant, graph))).rowcount

    def forget_about(self, tenant: str, graph: str, mids: Collection[int], is_named: Callable[[str], bool]) -> int:
        """Deletes the facts of a graph that mention one of these things, or whose words `is_named` accepts.

        Returns how many. Raises MasterKeyError.
        """
        gone, found = frozenset(mids), self._found(_OF_GRAPH, {"tenant": tenant, "graph": graph})
        ids = [row.id for row, fact in found if fact.mids & gone or is_named(fact.words)]
        return self._delete(_of_graph(tenant, graph), ids)

    def _of(self, owner: FactOwner, found: Iterator[tuple[Any, StatedFact]]) -> list[KeptFact]:
        return [KeptFact(row.id, row.made_at, fact) for row, fact in found if fact.person == owner.person]

    def _delete(self, chosen: ColumnElement[bool], ids: Sequence[str]) -> int:
        with self._engine.begin() as connection:
            return sum(
                connection.execute(delete(stated_facts).where(chosen & (stated_facts.c.id == each))).rowcount
                for each in ids
            )

    def _found(self, query: Select[Any], wanted: dict[str, Any]) -> Iterator[tuple[Any, StatedFact]]:
        return self._opened(self._rows(query, wanted))

    def _rows(self, query: Select[Any], wanted: dict[str, Any]) -> Sequence[Any]:
        with self._engine.connect() as connection:
            return connection.execute(query, wanted).all()

    def _opened(self, rows: Sequence[Any]) -> Iterator[tuple[Any, StatedFact]]:
        for row in rows:
            plain = self._master.open(PURPOSE, bind(row.tenant, row.key_id, row.graph, row.id), row.sealed)
            yield row, StatedFact.from_json(json.loads(plain))

    def _sealed(self, fact: StatedFact, context: bytes) -> bytes:
        plain = json.dumps(asdict(fact), separators=(",", ":")).encode()
        return self._master.seal(PURPOSE, context, plain + b" " * (-len(plain) % _PAD_BYTES))

    def _digests(self, owner: FactOwner, mids: Sequence[int]) -> list[str]:
        """Returns the digests by which the facts of these subjects are found, those of the newest master key first."""
        told = [bind(owner.tenant, owner.graph, owner.key_id, owner.person, str(mid)) for mid in mids]
        keys = self._master.all_derived(PURPOSE)
        return [hmac.digest(key, each, "sha256").hex()[:_DIGEST_CHARS] for key in keys for each in told]


def _wanted(owner: FactOwner) -> dict[str, Any]:
    return {"tenant": owner.tenant, "graph": owner.graph, "key_id": owner.key_id}


def _of_graph(tenant: str, graph: str) -> ColumnElement[bool]:
    return (stated_facts.c.tenant == tenant) & (stated_facts.c.graph == graph)


def _of_key(owner: FactOwner) -> ColumnElement[bool]:
    return _of_graph(owner.tenant, owner.graph) & (stated_facts.c.key_id == owner.key_id)
