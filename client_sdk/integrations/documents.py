"""The facts of an answer as other libraries keep them: a line of text, and what it is made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from client_sdk.answers.answer import Answer
from client_sdk.answers.evidence import RestoredFact


def facts_of(answer: Answer, *, all_facts: bool) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Id, text and metadata of each fact that leads to the answer; with `all_facts`, then of the others."""
    numbered = list(enumerate(answer.evidence, start=1))
    for number, fact in sorted(numbered, key=lambda each: not each[1].cited):
        if fact.cited or all_facts:
            yield f"{answer.id}-{number}", str(fact), _metadata(fact, answer)


def _metadata(fact: RestoredFact, answer: Answer) -> dict[str, Any]:
    """Plain values alone, as stores of documents take them."""
    return {
        "answer": answer.id,
        "explanation": answer.explanation,
        "head": fact.head,
        "head_concept": fact.head_concept,
        "path": " > ".join(fact.path),
        "tail": fact.tail,
        "tail_concept": fact.tail_concept,
        "size": fact.size,
        "cited": fact.cited,
    }
