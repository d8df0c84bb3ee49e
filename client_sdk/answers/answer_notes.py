"""Prepares an answer for other programs: notes below its text as Markdown, facts as documents, ratings as commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from client_sdk.answers.answer import Answer
from client_sdk.answers.evidence import RestoredFact, amendments, confidence_words, is_unsure
from client_sdk.protocol import MAX_CORRECT, MAX_CORRECT_CHARS, AnswerRated, RatingWord


def remarks(answer: Answer, *, explained: bool = False, evidence: bool = False) -> str:
    """Returns paragraphs to put after the text, each after an empty line; "" if there is nothing to say.

    A name that fits several things comes with a numbered list, from which the next turn may choose. `explained` adds
    one line that says how the answer was reached; `evidence` adds the path to it, one line for each thing it starts
    from.
    """
    told = _paragraphs(answer, evidence)
    how = [f"({answer.explanation})"] if explained and not evidence and answer.answered and answer.explanation else []
    return "".join(f"\n\n{paragraph}" for paragraph in (*how, *told))


def _paragraphs(answer: Answer, evidence: bool) -> Iterator[str]:
    if is_unsure(answer.confidence):
        yield f"{confidence_words(answer.confidence).capitalize()}."
    if answer.answered and not answer.grounded:
        yield "Not everything in this answer is in the evidence."
    yield from amendments(answer.removed, answer.sentences)
    for typed, name in answer.inexact.items():
        yield f'"{typed}" was read as {name}.'
    for choices in answer.ambiguous.values():
        numbered = "\n".join(f"{number}. {choice}" for number, choice in enumerate(choices, start=1))
        yield f'Which one do you mean?\n\n{numbered}\n\nSay "the second one", or a full name.'
    if not answer.answered or answer.ambiguous:
        yield from answer.notes
    if evidence and answer.path:
        yield "How it was found:\n\n" + "\n".join(f"- {line}" for line in answer.path)


def facts_of(answer: Answer, *, all_facts: bool) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yields (id, text, metadata) of each fact that leads to the answer; with `all_facts`, the other facts follow."""
    numbered = list(enumerate(answer.evidence, start=1))
    for number, fact in sorted(numbered, key=lambda each: not each[1].cited):
        if fact.cited or all_facts:
            yield f"{answer.id}-{number}", str(fact), _metadata(fact, answer)


def _metadata(fact: RestoredFact, answer: Answer) -> dict[str, Any]:
    """Returns a fact as a dict of plain values, the form that document stores take."""
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


NOTHING_TO_RATE: Final = "There is no answer here that can be rated."
_COMMAND: Final = re.compile(r"/(right|wrong)(?:\s+(.*))?", re.DOTALL)


def typed_rating(text: str) -> tuple[RatingWord, list[str]] | None:
    """Returns (rating, right answers) if the message is `/right` or `/wrong NAMES`, else None."""
    found = _COMMAND.fullmatch(text.strip())
    if found is None:
        return None
    if found[1] == "wrong":
        return "wrong", right_answers(found[2] or "")
    return None if found[2] else ("right", [])


def right_answers(text: str) -> list[str]:
    """Returns the names in a text that separates them by semicolons."""
    return [name for part in text.split(";") if (name := part.strip()[:MAX_CORRECT_CHARS])][:MAX_CORRECT]


def rated_sentence(told: AnswerRated, corrected: bool) -> str:
    """Returns the reply to a rating. `corrected`: the rating named the right answer."""
    if told.rating == "right":
        return "Thank you: similar questions will lean on this." if told.learnt else "Thank you: noted as right."
    if not corrected:
        return "Thank you: noted as wrong."
    if told.held:
        return (
            "Thank you: noted as wrong. The owner of the graph will look at your answer before anything leans on it."
        )
    if told.learnt:
        return "Thank you: noted as wrong, and similar questions will lean on the way to the right answer."
    return "Thank you: noted as wrong. The graph shows no short way to the answer that you gave."
