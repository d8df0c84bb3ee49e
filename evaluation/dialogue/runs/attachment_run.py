"""LLM-KAT over writers, prompts and sets: every reply is written, judged, and counted as published and in full."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from evaluation.bench.question_sets import Show
from evaluation.dialogue.attachment.carriers import flagged, impossible_questions
from evaluation.dialogue.attachment.identifiers import IdentifierKind
from evaluation.dialogue.attachment.judge import ExtractorJudge, Judge
from evaluation.dialogue.attachment.kat import KatFigures, Verdict, kat_figures, verdicts
from evaluation.dialogue.attachment.questions import AttachmentQuestion, ContextKind, questions_of
from evaluation.dialogue.attachment.string_extractor import StringExtractor
from evaluation.dialogue.attachment.variants import Anonymiser, FindNames, VariantName
from evaluation.dialogue.grounded_turns import GroundedTurn, names_of
from evaluation.dialogue.measures.bootstrap import Estimate, estimate
from evaluation.dialogue.writers.reply_writer import PromptStyle, ReplyRequest, ReplyWriter

JudgeOf = Callable[[Sequence[GroundedTurn]], Judge]
"""A judge for one set of turns: the match of strings needs their names, the others need nothing."""

STRING_MATCH: Final = "string match (no judge)"


@dataclass(frozen=True, slots=True)
class DialogueVariant:
    """One of the sets, with the words that stand for names in it."""

    name: VariantName
    identifiers: IdentifierKind | None = None

    @property
    def title(self) -> str:
        if self == OWN_GRAPH:
            return "own graph, Eq7f2k (person)"
        words = {None: "", "typed": ", Person1", "pseudonym": ", Eq7f2k (person)"}
        return self.name + words[self.identifiers]


OWN_GRAPH: Final = DialogueVariant("plain", "pseudonym")
"""Turns that are made in pseudonyms: there is nothing to replace."""


ALL_VARIANTS: Final = (
    DialogueVariant("plain"),
    DialogueVariant("half-anonymised", "typed"),
    DialogueVariant("anonymised", "typed"),
    DialogueVariant("half-anonymised", "pseudonym"),
    DialogueVariant("anonymised", "pseudonym"),
)


@dataclass(frozen=True, slots=True)
class KatRow:
    """`per_turn` and `in_full` (impossible as 0) with their intervals, by dialogue."""

    writer: str
    style: PromptStyle
    variant: DialogueVariant
    context: ContextKind
    judge: str
    figures: KatFigures
    per_turn: Estimate
    in_full: Estimate


@dataclass(slots=True)
class AttachmentRun:
    """`judges` by name; `find` gives the names in a text that are in no triple, `kinds` what they are."""

    turns: Sequence[GroundedTurn] = field(repr=False)
    judges: Mapping[str, JudgeOf]
    find: FindNames = lambda _text: ()
    kinds: Mapping[str, str] = field(default_factory=dict, repr=False)
    show: Show = lambda _title, _done, _total: None
    _sets: dict[DialogueVariant, list[GroundedTurn]] = field(default_factory=dict, repr=False)

    def rows(
        self,
        name: str,
        writer: ReplyWriter,
        styles: Sequence[PromptStyle] = ("default",),
        variants: Sequence[DialogueVariant] = ALL_VARIANTS,
        contexts: Sequence[ContextKind] = ("turn", "reply"),
    ) -> list[KatRow]:
        """Replies are written once for each style and set, and judged by every judge."""
        rows = []
        for variant in variants:
            turns = self.turns_of(variant)
            for style in styles:
                self.show(f"{name}: {variant.title}, {style}", 0, len(turns))
                replies = writer.replies_to([ReplyRequest(turn, style) for turn in turns])
                for context in contexts:
                    asked = _asked(turns, replies, context)
                    rows += [
                        _row(name, style, variant, context, judge, _judged(asked, make(turns)))
                        for judge, make in self.judges.items()
                    ]
        return rows

    def turns_of(self, variant: DialogueVariant) -> list[GroundedTurn]:
        if variant not in self._sets:
            anonymiser = Anonymiser(variant.identifiers or "typed", self.find, self.kinds)
            self._sets[variant] = anonymiser.variant(variant.name, self.turns)
        return self._sets[variant]

    def impossible_flagged(self) -> dict[str, tuple[int, float]]:
        """By judge: questions of the control, and the share that was found impossible."""
        asked = impossible_questions([question for turn in self.turns for question in questions_of(turn, "")])
        spans = [question.span for question in asked]
        return {name: (len(spans), flagged(make(self.turns).judged(spans))) for name, make in self.judges.items()}


def string_judge(turns: Sequence[GroundedTurn]) -> Judge:
    names = names_of(triple for turn in turns for triple in turn.knowledge)
    return ExtractorJudge(StringExtractor(sorted(names)))


Asked = list[tuple[AttachmentQuestion, bool]]
"""Questions, and whether there is a reply to judge at all."""


def _asked(turns: Sequence[GroundedTurn], replies: Sequence[str], context: ContextKind) -> Asked:
    return [
        (question, bool(reply))
        for turn, reply in zip(turns, replies, strict=True)
        for question in questions_of(turn, reply, context)
    ]


def _judged(asked: Asked, judge: Judge) -> list[Verdict]:
    """A question without a reply has failed: no judge is asked."""
    found = iter(judge.judged([question.span for question, is_there in asked if is_there]))
    return verdicts([question for question, _ in asked], [next(found) if is_there else None for _, is_there in asked])


def _row(
    name: str, style: PromptStyle, variant: DialogueVariant, context: ContextKind, judge: str, found: list[Verdict]
) -> KatRow:
    answered = [verdict for verdict in found if verdict.kind == "answered"]
    judged = [verdict for verdict in found if verdict.kind != "failed"]
    per_turn, in_full = (
        estimate([verdict.f1 for verdict in those], [verdict.dialogue for verdict in those])
        for those in (answered, judged)
    )
    return KatRow(name, style, variant, context, judge, kat_figures(found), per_turn, in_full)
