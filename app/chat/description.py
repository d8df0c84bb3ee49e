"""All that the graph holds of one thing, said in a few sentences: "tell me about X"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from app.chat.question_run import QuestionRun
from app.llm.embedded.language.synonyms import synonyms_of
from app.llm.embedded.sentences.answer_text import reply_text
from app.llm.tasks import Evidence, StepInput, Thing
from app.strategies.base import Draft, FoundFact, RetrievalResult
from app.strategies.retrieval import bucket
from kg_store.graph.traversal import concept_of, kind_of, reached, steps_from, tail_concept
from kg_store.terms import Mid, Mids, NodeKind, Path, as_mids

MAX_FACTS: Final = 8
MAX_EACH: Final = 12
"""Things that one relation leads to; hubs are described by what they have, not by all who have them."""


@dataclass(frozen=True, slots=True)
class _Known:
    path: Path
    label: str
    members: Mids
    kind: NodeKind


def describe(run: QuestionRun, pseudonym: str) -> RetrievalResult | None:
    """The facts that matter of what `pseudonym` stands for, ready to be concluded; None where there are none."""
    graph, table = run.graph.blind, run.conversation.table
    mids = table.resolve(pseudonym, graph)[0]
    known = sorted(_facts(run, mids), key=_worth)[:MAX_FACTS]
    concept = concept_of(graph, mids)
    facts = [
        FoundFact(
            pseudonym,
            concept,
            (each.label,),
            _pseudonym(run, pseudonym, each),
            tail_concept(graph.schema, each.path[0]),
            bucket(len(each.members)),
        )
        for each in known
    ]
    if not facts:
        return None
    sentences = [f"{pseudonym} is {_a(concept)}."] if concept not in ("", "thing") and "," not in concept else []
    for number, fact in enumerate(facts, start=1):
        sentences.append(_sentence(fact, concept).replace("{1", "{" + str(number)))
    draft = Draft(tuple(fact.end for fact in facts), " ".join(sentences))
    return RetrievalResult(draft, (pseudonym,), tuple(facts), 0)


def describe_kind(run: QuestionRun, pseudonym: str) -> RetrievalResult | None:
    """The kind of thing that `pseudonym` stands for, as an answer; None where the graph does not say."""
    graph, table = run.graph.blind, run.conversation.table
    concept = concept_of(graph, table.resolve(pseudonym, graph)[0])
    if concept in ("", "thing"):
        return None
    article = "an" if concept[0].lower() in "aeiou" else "a"
    return RetrievalResult(Draft((f"kind({pseudonym})",), f"{pseudonym} is {article} {{1}}."), (pseudonym,), (), 0)


def _facts(run: QuestionRun, mids: Mids) -> Iterator[_Known]:
    graph = run.graph.blind
    for step in steps_from(graph, mids):
        if len(step) > 1:
            continue
        members = reached(graph, mids, (step,))
        kind = kind_of(graph, members)
        if kind is NodeKind.MEDIATOR or not 0 < len(members) <= MAX_EACH:
            continue
        yield _Known((step,), graph.schema.label_step(step), as_mids(members), kind)


def _worth(known: _Known) -> tuple[bool, bool, bool, int, str]:
    """Its own facts before those of what has it, what describes it first; things before values, few before many."""
    inverse, is_value = known.label.startswith("^"), known.kind is NodeKind.VALUE
    return inverse, inverse or not _describes(known.label), is_value, len(known.members), known.label


def _describes(label: str) -> bool:
    """True of relations like tags, keywords and summaries."""
    return "describe" in synonyms_of(label)


def _pseudonym(run: QuestionRun, start: str, known: _Known) -> str:
    table = run.conversation.table
    if len(known.members) > 1:
        return table.of_set(start, known.path, known.members)
    one = Mid(int(known.members[0]))
    return table.of_value(one) if known.kind is NodeKind.VALUE else table.of_entity(one)


def _sentence(fact: FoundFact, concept: str) -> str:
    shown = StepInput(
        question=f"{fact.start}",
        things=[Thing(name=fact.start, concept=concept, size="1")],
        evidence=[
            Evidence(
                start=fact.start, path=list(fact.path), end=fact.end, end_concept=fact.end_concept, size=fact.size
            )
        ],
        candidates=[],
    )
    return reply_text(fact.end, shown)


def _a(noun: str) -> str:
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"
