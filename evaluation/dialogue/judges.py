"""A model as judge: it extracts spans in the line format of LLM-KAT (appendix A.4), or compares two replies (A.3)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evaluation.dialogue.chat_client import CompletesPrompts, Tell
from evaluation.dialogue.dialogue_sets import DialogueTurn
from evaluation.dialogue.spans import Judged, SpanQuestion
from evaluation.dialogue.writers import conversation_text, triplets_text

QUESTIONS_A_CALL: Final = 20
IMPOSSIBLE: Final = "IS_IMPOSSIBLE"
_PART, _OR = "|||", "@@"
_PARTS: Final = 4
_CHOICES: Final = ("a", "b", "both", "neither")

JUDGE_FRAME: Final = (
    "Extract answers as in SQuAD 2.0. Each line below holds a text and a triplet (subject, predicate, object) in"
    " which X stands for a missing subject or object. Find the spans of the text that X stands for. A span is copied"
    f" from the text letter by letter. Where several fit, put {_OR} between them. Where the text does not tell, write"
    f" {IMPOSSIBLE}.\n\n"
    f"A line of the input: ID{_PART}text{_PART}triplet\n"
    f"A line of your reply: ID{_PART}text{_PART}triplet{_PART}answer_1{_OR}answer_2, or {IMPOSSIBLE} in place of the"
    " answers.\n"
)
PAIRWISE_FRAME: Final = (
    "You judge replies carefully. Two replies to the same conversation stand below, A and B. Say which of them makes"
    " better use of the triplets.\n\n"
    "1. Read the conversation: what is asked, and in what tone.\n"
    "2. Read the triplets, each (subject, predicate, object), and check every fact of both replies against them.\n"
    "3. A reply must not state or assume anything that neither the conversation nor the triplets give.\n"
    "4. Decide: A or B where one is better, Both where they are equally good, Neither where both are bad.\n\n"
    "Reply with one word: A, B, Both or Neither."
)


def judged_by(
    chat: CompletesPrompts, batch: Sequence[SpanQuestion], tell: Tell = lambda _done, _total: None
) -> list[Judged]:
    """A line that does not keep to the format is a failed one, and only spans of the text are taken from a reply."""
    calls = [
        dict(enumerate(batch[at : at + QUESTIONS_A_CALL], start=at)) for at in range(0, len(batch), QUESTIONS_A_CALL)
    ]
    replies = chat.complete([judge_prompt(questions) for questions in calls], tell)
    found: dict[int, Judged] = {}
    for questions, reply in zip(calls, replies, strict=True):
        found |= parsed(reply or "", questions)
    return [found.get(number) for number in range(len(batch))]


def judge_prompt(questions: Mapping[int, SpanQuestion]) -> str:
    lines = "\n".join(
        _PART.join((str(number), _one_line(question.context), _one_line(question.triplet)))
        for number, question in questions.items()
    )
    return f"{JUDGE_FRAME}There are {len(questions)} lines, so reply with {len(questions)} lines.\n\nInput:\n{lines}"


def parsed(reply: str, questions: Mapping[int, SpanQuestion]) -> dict[int, Judged]:
    """The answers of the lines that are right in form; a number that comes twice is none."""
    lines = list(_answers(reply, questions))
    counts = Counter(number for number, _ in lines)
    return {number: judged for number, judged in lines if counts[number] == 1 and judged is not None}


def _answers(reply: str, questions: Mapping[int, SpanQuestion]) -> Iterator[tuple[int, Judged]]:
    for line in reply.splitlines():
        parts = [part.strip() for part in line.split(_PART)]
        if len(parts) == _PARTS and parts[0].isascii() and parts[0].isdigit() and int(parts[0]) in questions:
            yield int(parts[0]), _spans(parts[2], parts[3], questions[int(parts[0])])


def _spans(triplet: str, answers: str, question: SpanQuestion) -> Judged:
    if _one_line(triplet) != _one_line(question.triplet):
        return None
    given = [answer for answer in map(_one_line, answers.split(_OR)) if answer]
    if IMPOSSIBLE in given:
        return ()
    context = _one_line(question.context).lower()
    # None where nothing was extracted: it was not found in the text, so it came from somewhere else.
    return tuple(dict.fromkeys(answer for answer in given if answer.lower() in context)) or None


def _one_line(text: str) -> str:
    """Without what the format parts lines and fields with."""
    return " ".join(text.replace(_PART, " ").split())


@dataclass(frozen=True, slots=True)
class PairwiseFigures:
    """Counts. `said_a` of those that chose a side: half of them where the side does not matter."""

    first: int
    second: int
    both: int
    neither: int
    failed: int
    said_a: int

    @property
    def share_of_a(self) -> float:
        """0.5 where no side was chosen."""
        chosen = self.first + self.second
        return self.said_a / chosen if chosen else 0.5


def compared(chat: CompletesPrompts, pairs: Sequence[tuple[DialogueTurn, str, str]], seed: int) -> PairwiseFigures:
    """Each turn and two replies to it are shown once, the turn as the first was written from; which reply stands as A
    is drawn by `seed`."""
    draw = random.Random(seed)  # noqa: S311  # sides, no secret  # nosec B311
    first_is_a = [draw.random() < 0.5 for _ in pairs]
    prompts = [
        f"{PAIRWISE_FRAME}\n\n{conversation_text(turn)}\n\nTriplets:\n{triplets_text(turn)}\n\n"
        + ("A: {0}\n\nB: {1}" if is_a else "A: {1}\n\nB: {0}").format(first, second)
        for (turn, first, second), is_a in zip(pairs, first_is_a, strict=True)
    ]
    choices = [choice_of(reply) for reply in chat.complete(prompts)]
    counts = Counter(choices)
    first = sum(choice == ("a" if is_a else "b") for choice, is_a in zip(choices, first_is_a, strict=True))
    second = counts["a"] + counts["b"] - first
    return PairwiseFigures(first, second, counts["both"], counts["neither"], counts[None], counts["a"])


def choice_of(reply: str | None) -> str | None:
    """None for whatever is more than one of the four words."""
    word = (reply or "").strip().strip(".*\"'").lower()
    return word if word in _CHOICES else None
