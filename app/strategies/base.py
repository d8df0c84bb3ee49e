"""Defines the interface of all strategies: a StrategyInput goes in, a RetrievalResult comes out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from app.egress.disclosure import Profile
from app.language.protocol import Language
from app.llm.in_house import CasePath, OfferedReading, ReadingScores
from app.llm.reasoner import TaskRunner
from app.llm.tasks import Size
from app.privacy.safe_text import SafeDialogue
from kg_store.algebra.expressions import ExpressionResult
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.public_facts import PublicFacts
from kg_store.graph.schema import own_words_of
from kg_store.terms import Mid, Mids, Path
from kg_store.text.inflection import singular
from kg_store.text.labels import plain_words

_RUN: Final = re.compile(r"[0-9A-Za-z]+")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one search, with the paper's letters and defaults (ARoG, section Settings).

    `width` (W): relations followed per round. `depth` (D): rounds. `relations_per_concept` (K): relations from which
    one concept is inferred.
    """

    width: int = 3
    depth: int = 3
    relations_per_concept: int = 5


TurnKind = Literal["question", "tell", "talk", "neither"]
"""The purpose of the last turn: a question to the graph, a wish to hear about a thing ("tell"), a remark about a thing
("talk"), or none of these.
"""


class Pseudonyms(Protocol):
    """Issues the pseudonyms of a conversation. The same thing always gets the same pseudonym."""

    @property
    def issued(self) -> frozenset[str]:
        """Every pseudonym of this conversation."""
        ...

    def of_entity(self, mid: Mid) -> str: ...

    def of_value(self, mid: Mid) -> str: ...

    def of_set(self, start: str, path: Path, members: Mids) -> str:
        """Returns the pseudonym of the set `members`: all that `path` reaches from the things of pseudonym `start`."""
        ...

    def of_kind(self, concept: str, members: Mids) -> str:
        """Returns the pseudonym of the set `members`: all things in the graph of the kind `concept`."""
        ...

    def of_public_term(self, text: str) -> str:
        """Returns the pseudonym of a term of a public graph, which is restored as `text`."""
        ...

    def shuffled_order(self, keys: Sequence[str]) -> list[int]:
        """Returns the positions of `keys`, shuffled in the same way in all prompts of one thread.

        A thread is a row of questions in the conversation that depend on each other. The same facts then give the same
        bytes.
        """
        ...


@dataclass(frozen=True, slots=True)
class BesideGraph:
    """A public graph that stands beside the asked one. `licence` and `source` are the owner's words for people."""

    name: str
    licence: str
    source: str
    facts: PublicFacts = field(repr=False)

    @property
    def label(self) -> str:
        """The name with source and licence: `common (ConceptNet, CC BY-SA 4.0)`."""
        origin = ", ".join(filter(None, (self.source, self.licence)))
        return f"{self.name} ({origin})" if origin else self.name


@dataclass(frozen=True, slots=True)
class PublicName:
    """A thing, or with `is_text` a text, of which only public files tell, by the `words` that prompts may show.

    `kind`: its concept; for a text the label of the relation that leads to it.
    """

    mid: Mid
    kind: str
    words: str
    is_text: bool = False


@dataclass(frozen=True, slots=True)
class StrategyInput:
    """All that a strategy needs to answer one question. Names are replaced by pseudonyms.

    `needs_context`: the question can be understood only with the turns before it. `on_round` is called with the
    number of each round as it starts.
    """

    dialogue: SafeDialogue
    graph: BlindGraph
    pseudonyms: Pseudonyms
    reasoner: TaskRunner
    limits: Limits
    needs_context: bool
    language: Language
    on_round: Callable[[int], None] = lambda _round: None
    profile: Profile = Profile.OPEN
    wider: Mapping[str, str] = field(default_factory=dict)
    """Maps a concept that only few things have to the wider concept that prompts show in its place."""
    truth_of: Callable[[str], bool | None] = lambda _expression: None
    """Executes an expression; returns None if the result is not yes or no."""
    result_of: Callable[[str], ExpressionResult | None] = lambda _expression: None
    """Executes an expression; returns None if it has no result or cannot be executed."""
    today: Callable[[], str] = lambda: ""
    """Returns the pseudonym of today's date; empty if the date is unknown."""
    cases: tuple[CasePath, ...] = ()
    """Paths that answered earlier questions like this one (`app.memory`)."""
    turn: TurnKind = "question"
    may_leave: Callable[[Sequence[str]], tuple[bool, ...]] = lambda texts: (True,) * len(texts)
    """Returns True for each text that the guard lets leave the service."""
    typed: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Maps pseudonyms to the words that the user typed (`Anonymised.typed`); they never leave the service."""
    public_names: Callable[[], Sequence[PublicName]] = lambda: ()
    """Returns the names of the asked graph that a prompt may show, since only public files tell of what bears them."""
    beside: tuple[BesideGraph, ...] = ()
    """The public graphs beside the asked one; only for the strategy `demands`."""
    looked_for: tuple[str, ...] | None = field(default=None, repr=False)
    """Words that public facts are looked for by, as the asker chose them; they do not leave the service."""

    chosen: str = ""
    """The expression of the question, if the turn before offered it and the asker chose it."""

    @property
    def asked(self) -> str:
        """The question for the language reader inside the service.

        Words that mask relations are replaced by the real labels and, if no model is asked, pseudonyms in `typed` by
        the typed words. What a model is shown depends on this text, so it must not depend on words that are withheld.
        """
        return self._worded({} if self.reasoner.is_model else self.typed)

    @property
    def asked_in_house(self) -> str:
        """The question as `asked` has it without a model, for a step that no prompt shows."""
        return self._worded(self.typed)

    def _worded(self, words: Mapping[str, str]) -> str:
        return _RUN.sub(lambda run: self._as_typed(run[0], words), self.dialogue.question)

    def _as_typed(self, word: str, words: Mapping[str, str]) -> str:
        typed = words.get(word, word)
        called = own_words_of(self.graph.schema).get(word, typed)
        return typed if _lemmas(typed) <= _lemmas(called) else called

    def shown_concept(self, concept: str) -> str:
        return concept if self.profile.is_open else self.wider.get(concept, concept)


def _lemmas(label: str) -> set[str]:
    return set(map(singular, plain_words(label).lower().split()))


@dataclass(frozen=True, slots=True)
class FoundFact:
    """One abstracted triple of the evidence: from the pseudonym `start`, the relation labels `path` lead to `end`.

    `size` is the size class of `end` ("1", "2-5", ...); if empty, prompts show none. `public`: the label of the
    public graph that it is of; empty for a fact of the asked graph.
    """

    start: str
    start_concept: str
    path: tuple[str, ...]
    end: str
    end_concept: str
    size: Size
    public: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer before execution: expressions over pseudonyms, and the service's sentence for their results.

    In `text`, `{1}` stands for the result of the first expression. `things`: pseudonyms of things and
    nameless nodes that only the expressions name.
    """

    expressions: tuple[str, ...]
    text: str
    things: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OwnReading:
    """The scores of the question's meaning as the service itself read it, without a model.

    `expression`: that meaning, set only if a model drafted the answer.
    """

    scores: ReadingScores
    expression: str = ""


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """The findings of a strategy for one question.

    `draft`: the answer before execution; None if the graph does not hold the answer. `things`: pseudonyms shown to the
    reasoner beside the evidence. `rounds`: number of retrieval rounds. `notes`: sentences for the asker about
    candidates that ranked too low to be offered. `over_budget`: the token budget ended the search too early.
    `withheld`: the search ended because the next prompt would have shown too much. `said`: the reply to a turn that
    asks nothing of the graph. `contradicted`: a sentence for the asker if the draft contradicts the question. `own`:
    the service's own reading, if it has one. `asks_back`: readings that may have been meant.

    For dialogue: `reply` holds sentences. `reply_facts` holds, for each sentence, the positions in `evidence` of the
    facts that it states. `is_worded`: a model wrote the sentences, so each has to be checked. `in_order` sorts things
    by likelihood. `demanded`: pseudonyms of the
    public terms that knowledge was looked for by.
    """

    draft: Draft | None
    things: tuple[str, ...]
    evidence: tuple[FoundFact, ...]
    rounds: int
    notes: tuple[str, ...] = ()
    over_budget: bool = False
    withheld: bool = False
    said: str = ""
    contradicted: str = ""
    own: OwnReading | None = None
    asks_back: tuple[OfferedReading, ...] = ()
    reply: tuple[str, ...] = ()
    reply_facts: tuple[tuple[int, ...], ...] = ()
    is_worded: bool = False
    in_order: Callable[[Mids], Mids] | None = None
    demanded: tuple[str, ...] = ()


class Strategy(Protocol):
    """One way to answer: `arog`, `sets`, `dialogue`, `demands`. `find` raises ReasonerError if the reasoner fails."""

    async def find(self, inquiry: StrategyInput) -> RetrievalResult: ...
