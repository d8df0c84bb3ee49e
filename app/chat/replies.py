"""A reply in dialogue: its sentences are checked against the evidence, and what is left is the answer."""

from __future__ import annotations

from typing import Final

from app.chat.answers.execution import Conclusion
from app.chat.answers.grounding import Grounded, NotGroundedError, ground
from app.chat.question_run import ConclusionResult, QuestionRun
from app.strategies.base import FoundFact
from client_sdk.protocol import Sentence
from kg_store.algebra.expressions import parse
from kg_store.terms import NO_MIDS

NOTHING_LEFT: Final = "A reply was proposed that the graph does not hold, so it is not shown."


def checked_reply(run: QuestionRun) -> ConclusionResult:
    """The sentences of the reply that hold, with the facts that carry each."""
    facts = run.found.evidence
    allowed = {*run.found.things, *(end for fact in facts for end in (fact.start, fact.end))}
    kept: list[Sentence] = []
    for text in run.found.reply:
        try:
            said = ground(text, (), allowed, run.conversation.table).text
        except NotGroundedError:
            continue
        kept.append(Sentence(text=said, facts=_carrying(said, facts)))
    removed = len(run.found.reply) - len(kept)
    if not kept:
        return ConclusionResult(grounded=False, sentence=NOTHING_LEFT, removed=removed)
    text = " ".join(sentence.text for sentence in kept)
    ends = dict.fromkeys(facts[at].end for sentence in kept for at in sentence.facts)
    told = run.executor.conclude(Grounded(tuple(map(parse, ends)), text), NO_MIDS)
    if told is None:
        return ConclusionResult(Conclusion(text, (), {}), sentence=text, sentences=tuple(kept), removed=removed)
    return ConclusionResult(told, sentence=text, sentences=tuple(kept), removed=removed)


def _carrying(text: str, facts: tuple[FoundFact, ...]) -> list[int]:
    return [at for at, fact in enumerate(facts) if fact.start in text and fact.end in text]
