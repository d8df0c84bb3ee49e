"""Notes beside an answer's text, as Markdown: how names were read, what else they may mean."""

from __future__ import annotations

from collections.abc import Iterator

from client_sdk.answers.answer import Answer
from client_sdk.answers.confidence import confidence_words, is_unsure
from client_sdk.answers.evidence import amendments


def remarks(answer: Answer, *, explained: bool = False, evidence: bool = False) -> str:
    """Paragraphs that follow the text, each after an empty line; "" where there is nothing to say.

    A name that fits several things comes with a numbered list, one of which the next turn may choose. `explained`:
    with one line that says how the answer was reached; `evidence`: with the path to it, a line for each thing that it
    set out from.
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
