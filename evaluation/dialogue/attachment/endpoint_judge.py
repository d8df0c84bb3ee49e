"""EndpointJudge: a model extracts the spans, 20 questions a call, in the line format of LLM-KAT (appendix A.4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from evaluation.dialogue.attachment.kat import Judged
from evaluation.dialogue.spans import SpanQuestion
from evaluation.dialogue.writers.chat_client import CompletesPrompts, Tell

QUESTIONS_A_CALL: Final = 20
IMPOSSIBLE: Final = "IS_IMPOSSIBLE"
_PART, _OR = "|||", "@@"
_PARTS = 4

FRAME: Final = (
    "Extract answers as in SQuAD 2.0. Each line below holds a text and a triplet (subject, predicate, object) in"
    " which X stands for a missing subject or object. Find the spans of the text that X stands for. A span is copied"
    f" from the text letter by letter. Where several fit, put {_OR} between them. Where the text does not tell, write"
    f" {IMPOSSIBLE}.\n\n"
    f"A line of the input: ID{_PART}text{_PART}triplet\n"
    f"A line of your reply: ID{_PART}text{_PART}triplet{_PART}answer_1{_OR}answer_2, or {IMPOSSIBLE} in place of the"
    " answers.\n"
)


class EndpointJudge:
    """A line that does not keep to the format is a failed one, and only spans of the text are taken from a reply."""

    def __init__(self, chat: CompletesPrompts, tell: Tell = lambda _done, _total: None) -> None:
        self._chat, self._tell = chat, tell

    def judged(self, batch: Sequence[SpanQuestion]) -> list[Judged]:
        calls = [
            dict(enumerate(batch[at : at + QUESTIONS_A_CALL], start=at))
            for at in range(0, len(batch), QUESTIONS_A_CALL)
        ]
        replies = self._chat.complete([judge_prompt(questions) for questions in calls], self._tell)
        found: dict[int, Judged] = {}
        for questions, reply in zip(calls, replies, strict=True):
            found |= parsed(reply or "", questions)
        return [found.get(number) for number in range(len(batch))]


def judge_prompt(questions: Mapping[int, SpanQuestion]) -> str:
    lines = "\n".join(
        _PART.join((str(number), _one_line(question.context), _triplet(question)))
        for number, question in questions.items()
    )
    return f"{FRAME}There are {len(questions)} lines, so reply with {len(questions)} lines.\n\nInput:\n{lines}"


def parsed(reply: str, questions: Mapping[int, SpanQuestion]) -> dict[int, Judged]:
    """The answers of the lines that are right in form; a number that comes twice is none."""
    lines = list(_answers(reply, questions))
    counts = Counter(number for number, _ in lines)
    return {number: judged for number, judged in lines if counts[number] == 1 and judged is not None}


def _answers(reply: str, questions: Mapping[int, SpanQuestion]) -> Iterator[tuple[int, Judged]]:
    for line in reply.splitlines():
        parts = [part.strip() for part in line.split(_PART)]
        if len(parts) != _PARTS or not (parts[0].isascii() and parts[0].isdigit()):
            continue
        question = questions.get(int(parts[0]))
        if question is not None:
            yield int(parts[0]), _spans(parts[2], parts[3], question)


def _spans(triplet: str, answers: str, question: SpanQuestion) -> Judged:
    if _one_line(triplet) != _triplet(question):
        return None
    given = [answer for answer in map(_one_line, answers.split(_OR)) if answer]
    if IMPOSSIBLE in given:
        return ()
    context = _one_line(question.context).lower()
    # None where nothing was extracted: it was not found in the text, so it came from somewhere else.
    return tuple(dict.fromkeys(answer for answer in given if answer.lower() in context)) or None


def _triplet(question: SpanQuestion) -> str:
    return _one_line(f"({question.head}, {question.relation}, {question.tail})")


def _one_line(text: str) -> str:
    """Without what the format parts lines and fields with."""
    return " ".join(text.replace(_PART, " ").split())
