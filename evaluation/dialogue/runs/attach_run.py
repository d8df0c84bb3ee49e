"""The run behind `arog eval attach`: which endpoint holds to a graph, and at what price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Final

from evaluation.bench.question_sets import Show
from evaluation.dialogue.attachment.pairwise import Pair, PairwiseFigures, PairwiseJudge
from evaluation.dialogue.attachment.variants import restored
from evaluation.dialogue.runs.attachment_run import AttachmentRun, DialogueVariant, KatRow
from evaluation.dialogue.writers.chat_client import ChatUsage, CompletesPrompts
from evaluation.dialogue.writers.endpoint_writer import EndpointWriter
from evaluation.dialogue.writers.reply_writer import PromptStyle, ReplyRequest

PLAIN: Final = DialogueVariant("plain")
ANONYMISED: Final = DialogueVariant("anonymised", "pseudonym")


@dataclass(frozen=True, slots=True)
class AttachRow:
    """`usage`: what writing the replies of this row took; the judge's own is not in it."""

    endpoint: str
    kat: KatRow
    usage: ChatUsage


@dataclass(frozen=True, slots=True)
class PairwiseRow:
    """`first` and `second`: names of what is compared."""

    first: str
    second: str
    figures: PairwiseFigures


@dataclass(slots=True)
class AttachRun:
    """`endpoints` by name, in the order given; `variants`: one alone where all is pseudonyms already."""

    run: AttachmentRun
    endpoints: dict[str, CompletesPrompts]
    variants: Sequence[DialogueVariant] = (PLAIN, ANONYMISED)
    style: PromptStyle = "default"
    show: Show = lambda _title, _done, _total: None
    _replies: dict[tuple[str, DialogueVariant], list[str]] = field(default_factory=dict, repr=False)

    def rows(self) -> list[AttachRow]:
        rows = []
        for name, chat in self.endpoints.items():
            for variant in self.variants:
                before = replace(chat.usage)
                writer = _Kept(EndpointWriter(chat, lambda done, total: self.show("replies", done, total)))
                (*found,) = self.run.rows(name, writer, (self.style,), (variant,), ("turn",))
                self._replies[name, variant] = writer.replies
                used = _difference(chat.usage, before)
                rows += [AttachRow(name, row, used) for row in found]
        return rows

    def compared(self, judge: PairwiseJudge) -> list[PairwiseRow]:
        """Plain against anonymised replies of each endpoint, and the endpoints with each other; after `rows`."""
        found = []
        if len(self.variants) > 1:
            for name in self.endpoints:
                first, second = ((name, variant) for variant in self.variants)
                found.append(self._compared(judge, first, second))
        for one, other in combinations(self.endpoints, 2):
            found.append(self._compared(judge, (one, self.variants[-1]), (other, self.variants[-1])))
        return found

    def _compared(
        self, judge: PairwiseJudge, first: tuple[str, DialogueVariant], second: tuple[str, DialogueVariant]
    ) -> PairwiseRow:
        """Names are restored first, so that the judge does not see which of them was anonymised."""
        shown = self.run.turns_of(self.variants[0])
        said = [
            [restored(reply, turn) for reply, turn in zip(self._replies[key], self.run.turns_of(key[1]), strict=True)]
            for key in (first, second)
        ]
        pairs = [Pair(turn, one, other) for turn, one, other in zip(shown, *said, strict=True) if one and other]
        names = [f"{name}, {variant.title}" for name, variant in (first, second)]
        return PairwiseRow(names[0], names[1], judge.compare(pairs))


class _Kept:
    """A writer whose replies are kept for a comparison."""

    def __init__(self, writer: EndpointWriter) -> None:
        self._writer = writer
        self.replies: list[str] = []

    def replies_to(self, batch: Sequence[ReplyRequest]) -> list[str]:
        self.replies = self._writer.replies_to(batch)
        return self.replies


def _difference(after: ChatUsage, before: ChatUsage) -> ChatUsage:
    return ChatUsage(
        after.calls - before.calls,
        after.failed - before.failed,
        after.prompt_tokens - before.prompt_tokens,
        after.completion_tokens - before.completion_tokens,
        after.estimated - before.estimated,
        after.price,
    )
