"""A reply in dialogue: what the evidence does not hold is taken out of it, and what is left is the answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from app.chat.answers.execution import Conclusion
from app.chat.answers.grounding import Grounded, NotGroundedError, ground
from app.chat.question_run import ConclusionResult, QuestionRun
from app.chat.statements.evidence import ReplyWords, StatementContext
from app.chat.statements.replies import CheckedReply, CheckedSentence, check_reply
from app.privacy.visible_text import Visible
from client_sdk.protocol import Sentence
from kg_store.algebra.expressions import parse
from kg_store.graph.traversal import concept_of
from kg_store.terms import NO_MIDS, Schema, cached_by_version

NOTHING_LEFT: Final = "A reply was proposed that the graph does not hold, so it is not shown."


def checked_reply(run: QuestionRun, words: ReplyWords) -> ConclusionResult:
    """The statements of the reply that the evidence holds, sentence by sentence, with the facts that carry each.

    Promise: a sentence of a model's that is kept cites nothing outside the evidence, and states nothing that
    `app.chat.statements` finds no fact for. What the service writes itself, as a reply or in the place of what had to
    go, is made of facts, and says which.
    """
    found = run.found
    safe = list(_safe(run))
    if found.reply_facts:
        sentences = tuple(CheckedSentence(text, found.reply_facts[at]) for at, text in safe)
        stated = sum(len(sentence.facts) for sentence in sentences)
        checked = CheckedReply(sentences, stated, stated, 0)
    else:
        checked = check_reply([text for _, text in safe], found.evidence, _context(run, words))
    removed = checked.removed + len(found.reply) - len(safe)
    attachment = checked.carried / checked.stated if checked.stated else None
    text = _grounded(" ".join(sentence.text for sentence in checked.sentences), run)
    if text is None or not any(sentence.facts for sentence in checked.sentences):
        return ConclusionResult(grounded=False, sentence=NOTHING_LEFT, removed=removed, attachment=attachment)
    told = _concluded(run, checked, text)
    kept = tuple(
        Sentence(text=each.text, facts=list(each.facts), restated=each.is_restated) for each in checked.sentences
    )
    return ConclusionResult(told, sentence=told.text, sentences=kept, removed=removed, attachment=attachment)


def _safe(run: QuestionRun) -> Iterator[tuple[int, str]]:
    """The sentences that cite nothing but the evidence and the dialogue, and hold nothing that a program acts on."""
    for at, sentence in enumerate(run.found.reply):
        text = _grounded(sentence, run)
        if text is not None:
            yield at, text


def _grounded(text: str, run: QuestionRun) -> str | None:
    """The text as it may be shown; None where it may not be. It need not cite anything."""
    topics = (topic.pseudonym for topic in run.read.dialogue.topics)
    ends = (end for fact in run.found.evidence for end in (fact.start, fact.end))
    try:
        return ground(text, (), {*run.found.things, *topics, *ends}, run.conversation.table).text
    except NotGroundedError as refused:
        return Visible.of(text).text.strip() if refused.reason == "nothing_cited" else None


def _context(run: QuestionRun, words: ReplyWords) -> StatementContext:
    graph = run.graph.blind
    topics = [topic for topic in run.read.dialogue.topics if len(topic.mids)]
    return StatementContext(
        truth_of=run.executor.truth_of,
        labels=_labels(graph.schema),
        topics=[(topic.pseudonym, concept_of(graph, topic.mids)) for topic in topics],
        words=words,
    )


@cached_by_version
def _labels(schema: Schema) -> tuple[str, ...]:
    return tuple(sorted({relation.label for relation in schema.relations}))


def _concluded(run: QuestionRun, checked: CheckedReply, text: str) -> Conclusion:
    """The reply with what its facts lead to, for whoever reads it as data."""
    ends = dict.fromkeys(run.found.evidence[at].end for sentence in checked.sentences for at in sentence.facts)
    told = run.executor.conclude(Grounded(tuple(map(parse, ends)), text), NO_MIDS)
    return told or Conclusion(text, (), {})
