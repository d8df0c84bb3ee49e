"""A loaded graph with its real parts, and questions about it as strategies get them: linked, guarded and recorded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from app.chat.follow_ups import needs_context
from app.egress.disclosure import Profile
from app.egress.guard import Guard, StaticSegments
from app.egress.guarded_reasoner import GuardedReasoner, PseudonymSubstitution, RequestContext
from app.egress.ledger.chain import metadata
from app.egress.ledger.ledger import Ledger
from app.llm.embeddings.embedder import Embedder
from app.llm.reasoner import Reasoner
from app.privacy.anonymiser import Anonymiser
from app.privacy.pseudonyms import PseudonymTable
from app.privacy.safe_text import SafeDialogue
from app.privacy.words.lexicon import Lexicon, schema_words
from app.reader.concept_namer import ConceptNamer
from app.strategies.base import Limits, StrategyInput
from app.strategies.prompts import AROG_TASKS
from app.strategies.sets.prompts import STEP, STEP_IN_GRAPH
from app.wiring.chats import request_words
from client_sdk.protocol import Message
from evaluation.datasets.questions import QueryPlan
from kg_store.catalog import Catalog, PrivateGraph
from kg_store.names.name_words import NameWords
from kg_store.proposals.propose import read_and_propose
from kg_store.storage.master_key import MasterKey
from kg_store.terms import Mids, Step
from tests.support.languages import english
from tests.support.stores import PREFIXES, engine_in, mid_of, names_of

_LENGTH = re.compile(r"(?i)content-length\W+\d+")
PEOPLE = (
    PREFIXES
    + """
:ad rdfs:label "admitted to" . :has rdfs:label "has admission" . :on rdfs:label "admitted on" .
:tb rdfs:label "treated by" . :li rdfs:label "lives in" . :bo rdfs:label "date of birth" .
:sp rdfs:label "married to" .
:sa rdfs:label "monthly salary" . :wo rdfs:label "works in" .
:p1 a :Patient ; rdfs:label "Zofia Quarrel" ; :tb :d1 ; :li :c1 ; :bo "1961-02-11"^^xsd:date ; :sp :p2 ;
    :has [ :ad :w1 ; :on "2020-03-12"^^xsd:date ] , [ :ad :w2 ; :on "2021-05-01"^^xsd:date ] .
:p2 a :Patient ; rdfs:label "Aurelio Vantongeren" ; :tb :d1, :d2 ; :li :c1 ; :bo "1958-09-30"^^xsd:date ; :sp :p1 .
:p3 a :Patient ; rdfs:label "Bertil Oxenhame" ; :tb :d2 ; :li :c2 ; :bo "1990-01-05"^^xsd:date ;
    :has [ :ad :w1 ; :on "2022-07-07"^^xsd:date ] .
:d1 a :Doctor ; rdfs:label "Ottoline Brackwater" ; :wo :w1 ; :li :c2 ; :sa 5200 .
:d2 a :Doctor ; rdfs:label "Ptolemy Ashgrove" ; :wo :w2 ; :li :c1 ; :sa 6100 .
:w1 a :Ward ; rdfs:label "Kestrel Wing" . :w2 a :Ward ; rdfs:label "Gyrfalcon Wing" .
:c1 a :City ; rdfs:label "Zemgalburg" . :c2 a :City ; rdfs:label "Umbrathal" .
"""
)
SECRETS = (
    "Zofia", "Quarrel", "Aurelio", "Vantongeren", "Bertil", "Oxenhame", "Ottoline", "Brackwater", "Ptolemy",
    "Ashgrove", "Kestrel", "Gyrfalcon", "Zemgalburg", "Umbrathal", "1961-02-11", "1958-09-30", "1990-01-05",
    "2020-03-12", "5200", "6100",
)  # fmt: skip
"""Names and values of PEOPLE that must never reach a model; they stand nowhere else in the project."""


@dataclass(frozen=True, slots=True)
class Issued:
    """Implements WirePseudonyms: pseudonyms are sent as they are in the table."""

    table: PseudonymTable

    def __call__(self) -> PseudonymSubstitution:
        return PseudonymSubstitution(issued=self.table.issued)


@dataclass(slots=True)
class Asked:
    """One conversation about one graph. `rounds` collects the progress that strategies report."""

    graph: PrivateGraph
    statics: StaticSegments
    ledger: Ledger
    table: PseudonymTable = field(default_factory=PseudonymTable.new)
    rounds: list[int] = field(default_factory=list)

    @property
    def lexicon(self) -> Lexicon:
        words = NameWords.of(record for _, record in self.graph.vault.all_records())
        return Lexicon(self.graph.public, words, schema_words(self.graph.blind.schema))

    def dialogue(self, *turns: str) -> SafeDialogue:
        """Returns the turns, the user's first, as the model may see them."""
        roles = ("user", "assistant")
        messages = [Message(role=roles[at % 2], content=text) for at, text in enumerate(turns)]  # type: ignore[arg-type]
        anonymiser = Anonymiser(self.graph.linker, self.graph.names, self.lexicon)
        found = anonymiser.anonymise(messages, self.table, lambda word: self.table.resolve(word, self.graph.blind)[0])
        return found.dialogue

    def inquiry(
        self,
        reasoner: Reasoner,
        *turns: str,
        limits: Limits = Limits(),  # noqa: B008
        most_tokens: int | None = None,
        profile: Profile = Profile.OPEN,
    ) -> StrategyInput:
        guarded = GuardedReasoner(
            reasoner, Guard(self.graph.names, self.statics, self.lexicon), self.ledger,
            RequestContext("t1", "k", "a", "c"),
            Issued(self.table), most_tokens=most_tokens,
        )  # fmt: skip
        told = self.rounds.append
        dialogue = self.dialogue(*turns)
        needs = needs_context(dialogue)
        return StrategyInput(dialogue, self.graph.blind, self.table, guarded, limits, needs, english(), told, profile)

    def names(self, pseudonym: str) -> set[str]:
        """Returns the real names of what a pseudonym of this conversation stands for."""
        return names_of(self.graph, self.table.resolve(pseudonym, self.graph.blind)[0])

    def mids(self, *names: str) -> Mids:
        return np.unique(np.array([mid_of(self.graph, name) for name in names], dtype=np.int64))

    def step(self, label: str) -> Step:
        """Returns the step with these words, such as `^treated by` or `has admission|admitted to`."""
        schema = self.graph.blind.schema
        hops = {schema.label(hop): hop for signature in schema.signatures for hop in signature.hops}
        return tuple(hops[part] for part in label.split("|"))


@dataclass(frozen=True, slots=True)
class Bench:
    """A loaded graph; each call of `asked` begins a new conversation."""

    graph: PrivateGraph
    ledger: Ledger

    def asked(self, *reasoners: Reasoner) -> Asked:
        """Begins a conversation whose guard knows the instructions of `reasoners`, as wiring registers them."""
        statics = StaticSegments()
        for reasoner in reasoners:
            for kind in (STEP, STEP_IN_GRAPH, *AROG_TASKS):
                for data in reasoner.statics_of(kind):
                    statics.register(data)
        return Asked(self.graph, statics, self.ledger)


def bench_of(folder: Path, embedder: Embedder, turtle: str = PEOPLE) -> Bench:
    """Loads `turtle` as the service does, with all relations shown and concepts named by the real namer."""
    file = folder / "graph.ttl"
    file.write_text(turtle, "utf-8")
    engine, master = engine_in(folder), MasterKey.from_text(MasterKey.generate())
    metadata.create_all(engine)
    catalog = Catalog(folder, engine, master, request_words())
    policy = read_and_propose([file])[1].model_copy(update={"show_relations": "all"})
    catalog.load("t1", "g", [file], policy, ConceptNamer(embedder).name)
    return Bench(catalog.open("t1", "g"), Ledger(engine, master))


def plan_along(path: Sequence[str]) -> QueryPlan:
    """Returns the plan of following `path` from the first thing that a question names."""
    return QueryPlan.model_validate({"sets": {"A": {"start": "topic:0", "path": list(path)}}, "answer": ["A"]})


def secrets_in(data: bytes) -> list[str]:
    """Returns the names and values of PEOPLE that stand in `data`, apart from its length, which may equal a value."""
    text = _LENGTH.sub("", data.decode()).casefold()
    return [secret for secret in SECRETS if secret.casefold() in text]
