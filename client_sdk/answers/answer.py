"""Answer: what `ask` returns, with names restored, and how it is made from the service's reply."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from client_sdk.answers.evidence import Entity, RestoredFact, RestoredSentence, amendments
from client_sdk.answers.html import answer_as_html, cautions
from client_sdk.crypto.sealing import CannotOpenError, KeyPair, capsule_context, open_capsule
from client_sdk.errors import BadAnswerError, BadRequestError, CannotOpenCapsuleError, NotConfiguredError
from client_sdk.protocol import ChatAnswer, Fact, Item, Names, RatingWord, Sentence, Usage
from client_sdk.protocol.chat import chains
from client_sdk.restore import restore

if TYPE_CHECKING:
    import pandas


_FACT_NAMES, _MAX_RUNS = 5, 3
Part = Literal["entities", "evidence"]
RateAnswer = Callable[["Answer", RatingWord, "Sequence[str] | None"], Any]
"""A function that sends the rating of an answer; it belongs to the Chat that the answer came from."""


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """The result of `ask`. `text`, `entities`, `names`, `evidence`, `ambiguous` and `notes` contain real names.

    `answered` is false if the graph does not hold the answer; `text` then says so. `confidence` is the chance that the
    answer is right, None if it was not measured. `grounded` means that everything the answer names is in the evidence;
    it does not mean that the question was understood. `did_you_mean` are questions that may have been meant,
    `suggestions` are questions to ask next; both can be asked as they are. `strategy` is the one that answered.
    `sentences` are those of a reply in dialogue, each with the facts that support it; `removed` counts the statements
    that were taken out because the graph does not hold them. `ambiguous` maps a mention to what it may mean; `inexact`
    maps words of the question to the name that they were read as, if the graph spells it differently.
    `pseudonymous_text` is the text as the service and the model had it. `path` are the lines of `why()`, and
    `explanation` is one line that says how the answer was reached; both are empty if no path was followed and nothing
    was computed.
    """

    id: str
    conversation: str
    text: str
    pseudonymous_text: str
    answered: bool
    grounded: bool
    entities: tuple[Entity, ...]
    evidence: tuple[RestoredFact, ...]
    ambiguous: dict[str, tuple[str, ...]]
    notes: tuple[str, ...]
    usage: Usage
    inexact: dict[str, str] = field(default_factory=dict)
    path: tuple[str, ...] = ()
    explanation: str = ""
    confidence: float | None = None
    did_you_mean: tuple[str, ...] = ()
    looked_for: tuple[str, ...] = ()
    strategy: str = ""
    sentences: tuple[RestoredSentence, ...] = ()
    removed: int = 0
    suggestions: tuple[str, ...] = ()
    rate_by: RateAnswer | None = field(default=None, repr=False, compare=False)

    def rate(self, rating: RatingWord, correct: Sequence[str] | None = None) -> Any:
        """Rates this answer as right or wrong, as `Chat.rate` does; for an AsyncChat's answer, returns an awaitable.

        Raises BadRequestError if the answer does not come from a Chat.
        """
        if self.rate_by is None:
            hint = "rate the answer that `Chat.ask` gave"
            raise BadRequestError("this answer is of no dialogue", code="no_dialogue", hint=hint)
        return self.rate_by(self, rating, correct)

    def why(self) -> str:
        """Returns the path to the answer, one line for each thing it starts from, and what was computed from it.

        If there is none, the text says so. Example: Rose -> treated by (doctor) -> Dr X; lives in (city) -> Y
        """
        return "\n".join(self.path) or "No path was followed."

    @property
    def names(self) -> list[str]:
        """The names of all entities, in the answer's order."""
        return [name for entity in self.entities for name in entity.names]

    def to_dataframe(self, part: Part = "entities") -> pandas.DataFrame:
        """Returns the answer as a table: one row for each name, or with `"evidence"` one for each fact.

        Columns for names: `part` (number of the entity in the answer), `name` (missing if none was sent), `concept`,
        `kind` and `total`, the number of members of the part, which may be more than its names. Raises
        NotConfiguredError if pandas (`pip install '.[pandas]'`) is not installed.
        """
        try:
            import pandas
        except ModuleNotFoundError:
            hint = "in a clone of arog, get it with: pip install '.[pandas]'"
            raise NotConfiguredError("to_dataframe() needs pandas", code="no_pandas", hint=hint) from None
        rows: list[tuple[Any, ...]] = [
            (number, name, entity.concept, entity.kind, entity.total)
            for number, entity in enumerate(self.entities, start=1)
            for name in entity.names or (None,)
        ]
        if part == "entities":
            return pandas.DataFrame(rows, columns=["part", "name", "concept", "kind", "total"])
        rows = [
            (one.head, one.head_concept, " > ".join(one.path), one.tail, one.tail_concept, one.size, one.cited)
            for one in self.evidence
        ]
        columns = ["head", "head_concept", "relation", "tail", "tail_concept", "size", "cited"]
        return pandas.DataFrame(rows, columns=columns)

    def _repr_html_(self) -> str:
        """Returns the view for notebooks.

        A notebook's file keeps it with its names: clear the outputs before sharing the file.
        """
        told = cautions(self.grounded or not self.answered, self.inexact, self.ambiguous, self.confidence)
        warnings = (*told, *amendments(self.removed, self.sentences))
        return answer_as_html(self.text, warnings, self.entities, self.evidence, self.notes)

    def __repr__(self) -> str:
        return f"Answer(id={self.id!r}, answered={self.answered}, grounded={self.grounded})"

    def __str__(self) -> str:
        return self.text


def open_answer(answer: ChatAnswer, key: KeyPair | None, question: str = "") -> Answer:
    """Opens the capsule with `key` and restores the names in every part of the answer.

    If `key` is None every part stays in pseudonyms. `question` is the message that was answered; `inexact` quotes it.
    Raises CannotOpenCapsuleError and BadAnswerError.
    """
    table = open_names(answer, key)
    short = {pseudonym: Names(names=one.names[:_FACT_NAMES], total=one.total) for pseudonym, one in table.items()}
    unnamed = _unnamed(answer) if key is not None else {}
    evidence = tuple(_known(fact, table, {**unnamed, **short}) for fact in answer.evidence)
    return Answer(
        id=answer.id,
        conversation=answer.conversation,
        text=restore(answer.message.content, table),
        pseudonymous_text=answer.message.content,
        answered=answer.answered,
        grounded=answer.grounded,
        entities=tuple(_entity(item, table) for item in answer.entities),
        evidence=evidence,
        ambiguous=_choices(answer, table),
        path=(*reasons(answer.evidence, short), *(restore(each, short) for each in answer.worked_out)),
        explanation=in_short(answer, table),
        notes=tuple(restore(note, table) for note in answer.notes),
        usage=answer.usage,
        confidence=answer.confidence,
        did_you_mean=tuple(restore(each, table) for each in answer.did_you_mean),
        looked_for=tuple(restore(each, short) for each in answer.looked_for),
        strategy=answer.strategy,
        sentences=tuple(_sentence(each, table, evidence) for each in answer.sentences),
        removed=answer.removed,
        suggestions=tuple(restore(each, table) for each in answer.suggestions),
        inexact={question[one.start : one.end]: restore(one.pseudonym, short) for one in answer.inexact},
    )


def open_names(answer: ChatAnswer, key: KeyPair | None) -> Mapping[str, Names]:
    """Returns the names of one answer; empty without a key, and if the answer names nothing.

    Promise: if the answer was changed on the way, even by one letter, nothing opens (see `capsule_context`). Raises
    CannotOpenCapsuleError and BadAnswerError.
    """
    if key is None:
        return {}
    if answer.capsule is None:
        if answer.entities or answer.evidence:
            hint = "the service may be of another version"
            raise BadAnswerError(
                "the service sent no names for its answer", code="no_capsule", hint=hint, id=answer.id
            )
        return {}
    hint = "ask again; if it happens again, is the service of another version, or does something change its replies?"
    try:
        content = open_capsule(answer.capsule, key, capsule_context(answer))
    except CannotOpenError as problem:
        raise CannotOpenCapsuleError(
            f"the names can't be opened: {problem}", code="cannot_open", hint=hint, id=answer.id
        ) from None
    if content.answer_id != answer.id:
        raise CannotOpenCapsuleError(
            "the names belong to another answer", code="other_answer", hint=hint, id=answer.id
        )
    return content.table


def _entity(item: Item, table: Mapping[str, Names]) -> Entity:
    names = table.get(item.pseudonym)
    return Entity(
        names=_names(item.pseudonym, table),
        concept=restore(item.concept, table),
        kind=item.kind,
        pseudonym=item.pseudonym,
        total=names.total if names else item.size,
        ordered=item.ordered,
    )


def _sentence(sentence: Sentence, table: Mapping[str, Names], evidence: Sequence[RestoredFact]) -> RestoredSentence:
    numbers = [number for number in sentence.facts if 0 <= number < len(evidence)]
    facts = tuple(evidence[number] for number in numbers)
    return RestoredSentence(restore(sentence.text, table), facts, sentence.restated)


def _unnamed(answer: ChatAnswer) -> dict[str, Names]:
    """Returns words to show in place of names that were not sent, by pseudonym: "19 not named" for a set."""
    found: dict[str, Names] = {}
    for fact in answer.evidence:
        found.setdefault(fact.head, Names(names=["not named"], total=1))
        words = "not named" if fact.tail_count is None else f"{fact.tail_count:,} not named"
        found[fact.tail] = Names(names=[words], total=1)
    return found


def _known(fact: Fact, table: Mapping[str, Names], short: Mapping[str, Names]) -> RestoredFact:
    return RestoredFact(
        head=restore(fact.head, short),
        head_concept=restore(fact.head_concept, table),
        path=tuple(restore(step, short) for step in fact.path),
        tail=restore(fact.tail, short),
        tail_concept=restore(fact.tail_concept, table),
        size=fact.size,
        head_names=_names(fact.head, table),
        tail_names=_names(fact.tail, table),
        cited=fact.cited,
        head_pseudonym=fact.head,
        tail_pseudonym=fact.tail,
        public=fact.public,
    )


def _names(pseudonym: str, table: Mapping[str, Names]) -> tuple[str, ...]:
    return tuple(table[pseudonym].names) if pseudonym in table else ()


def _choices(answer: ChatAnswer, table: Mapping[str, Names]) -> dict[str, tuple[str, ...]]:
    """Returns the possible meanings of each mention; mentions with the same text are merged."""
    choices: dict[str, tuple[str, ...]] = {}
    for one in answer.ambiguous:
        names = _names(one.pseudonym, table)
        mention = " or ".join(dict.fromkeys(names)) if names else one.pseudonym
        hints = {hint.head: hint for hint in one.hints}
        told = tuple(_choice(choice, hints.get(choice), table) for choice in one.choices)
        choices[mention] = choices.get(mention, ()) + told
    return choices


def _choice(choice: str, hint: Fact | None, table: Mapping[str, Names]) -> str:
    """Returns a choice with a fact that tells it apart, if there is one: `Anna Keller (date of birth: 1961-03-12)`."""
    name = restore(choice, table)
    return name if hint is None else f"{name} ({restore(' '.join(hint.path), table)}: {restore(hint.tail, table)})"


def reasons(evidence: Sequence[Fact], table: Mapping[str, Names]) -> tuple[str, ...]:
    """Returns the path to the answer as lines, from the cited facts.

    Facts share a line if each begins where the one before ends: `Rose -> treated by (doctor) -> Dr X`.
    """
    return tuple(_line(run, table) for run in chains(fact for fact in evidence if fact.cited))


def in_short(answer: ChatAnswer, table: Mapping[str, Names]) -> str:
    """Returns one line that says how the answer was reached; sets of several things appear as counts."""
    counted = {
        word: names if names.total == 1 else Names(names=[f"{names.total:,} of them"], total=1)
        for word, names in table.items()
    }
    if answer.worked_out:
        return " ".join(restore(each, counted) for each in answer.worked_out)
    return "; ".join(reasons(answer.evidence, counted)[:_MAX_RUNS])


def _line(run: Sequence[Fact], table: Mapping[str, Names]) -> str:
    steps = "; ".join(_step(fact, table) for fact in run)
    return f"{restore(run[0].head, table)} {steps}"


def _step(fact: Fact, table: Mapping[str, Names]) -> str:
    """Returns a fact's path and end with an arrow in the relation's direction: `<-` if it is walked backwards."""
    tail = restore(fact.tail, table)
    words = " > ".join(restore(step.replace("|", " / ").replace("^", ""), table) for step in fact.path)
    arrow = "<-" if all(step.startswith("^") for step in fact.path) else "->"
    return f"{arrow} {words} ({restore(fact.tail_concept, table)}) {arrow} {tail}"
