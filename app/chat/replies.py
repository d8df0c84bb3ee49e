"""A reply in dialogue: the service's own sentences, or a model's that were checked against the facts they cite."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from app.chat.answers.execution import Conclusion
from app.chat.answers.grounding import Grounded, NotGroundedError, ground
from app.chat.question_run import ConclusionResult, QuestionRun, ReadBack
from app.language.protocol import Language
from app.llm.tasks import DialogueReply, Evidence, ReplyInput
from app.privacy.pseudonyms import words_in
from app.strategies.base import FoundFact
from app.strategies.dialogue.written_replies import written
from client_sdk.protocol import Sentence
from kg_store.algebra.expressions import parse
from kg_store.terms import NO_MIDS
from kg_store.text.inflection import lemmas_of

NOTHING_LEFT: Final = "A reply was proposed that the graph does not hold, so it is not shown."
# Function words that neither add to a fact nor take from it; "not", "may", "only" and "once" do, so they are missing.
_ASSERTING: Final = frozenset(
    "a an the this that these there it its he she they his her their who whom whose which and also too be have do "
    "of to by in at on for from with as both where".split()
)
_WORD: Final = re.compile(r"[^\W_]+")
IN_MODELS_WORDS: Final = "(In the model's words.)"
"""Follows a reply that was partly worded by a model."""


def checked_reply(run: QuestionRun, read_back: ReadBack | None) -> ConclusionResult:
    """Returns the sentences of the reply, with the facts behind each.

    Promise: a model's sentence is kept only if it names nothing but the ends of the facts that it cites, `read_back`
    finds each of these in it, and its other words are those of the facts or function words. Otherwise the service
    words the cited facts itself. A reply with a model's sentence is marked as not grounded.
    """
    found = run.found
    told: list[Sentence] = []
    own = lost = 0
    for text, places in zip(found.reply, found.reply_facts, strict=True):
        facts = [found.evidence[at] for at in places if at < len(found.evidence)]
        if not found.is_worded:
            told += [Sentence(text=safe, facts=list(places))] if (safe := _grounded(text, run)) is not None else []
        elif facts and (safe := _worded(text, facts, run, read_back)) is not None:
            told.append(Sentence(text=safe, facts=list(places)))
            own += 1
        else:
            instead = list(_in_our_words(run.reader, facts, places))
            told += instead
            lost += not instead
    stated = sum(len(places) for places in found.reply_facts)
    carried = sum(len(each.facts) for each in told if not each.restated)
    attachment = carried / stated if stated else None
    if not any(each.facts for each in told):
        return ConclusionResult(grounded=False, sentence=NOTHING_LEFT, removed=lost, attachment=attachment)
    text = " ".join([*(each.text for each in told), *((IN_MODELS_WORDS,) if own else ())])
    conclusion = _concluded(run, told, text)
    return ConclusionResult(
        conclusion,
        grounded=not own,
        sentence=conclusion.text,
        sentences=tuple(told),
        removed=lost,
        attachment=attachment,
    )


def _worded(text: str, facts: Sequence[FoundFact], run: QuestionRun, read_back: ReadBack | None) -> str | None:
    """A model's sentence as it may be shown; None if it may not."""
    safe = _grounded(text, run)
    ends = {end for fact in facts for end in (fact.start, fact.end)}
    if safe is None or read_back is None or not set(run.conversation.table.known(safe)) <= ends:
        return None
    return safe if stays(safe, facts, read_back) else None


def stays(text: str, facts: Sequence[FoundFact], read_back: ReadBack) -> bool:
    """True if a model's sentence says the facts that it cites and nothing else."""
    return adds_nothing(text, facts) and all(is_read_back(text, fact, read_back) for fact in facts)


def adds_nothing(text: str, facts: Sequence[FoundFact]) -> bool:
    """True if each word of `text` is a pseudonym, a form of a word of the facts' relations and kinds, or a function
    word that asserts. Words that deny, doubt or narrow ("never", "may", "only") are not allowed.
    """
    schema = [text for fact in facts for text in (*fact.path, fact.start_concept, fact.end_concept)]
    said = (word for text in schema for word in _WORD.findall(text.lower()))
    allowed = _ASSERTING.union(*map(lemmas_of, said))
    ends = {end for fact in facts for end in (fact.start, fact.end)}
    return all(word in ends or not allowed.isdisjoint(lemmas_of(word.lower())) for word in _WORD.findall(text))


def is_read_back(text: str, fact: FoundFact, read_back: ReadBack) -> bool:
    """True if `read_back` finds the end of `fact` in `text`, given its start and relation."""
    if len(fact.path) != 1 or "|" in fact.path[0]:
        return False
    step = fact.path[0]
    known, wanted = (fact.end, fact.start) if step.startswith("^") else (fact.start, fact.end)
    found = read_back(text, known, step.lstrip("^"))
    return wanted in {word.word for answer in found for word in words_in(answer)}


def _in_our_words(language: Language, facts: Sequence[FoundFact], places: Sequence[int]) -> Sequence[Sentence]:
    shown = [
        Evidence(
            start=fact.start,
            start_concept=fact.start_concept,
            path=list(fact.path),
            end=fact.end,
            end_concept=fact.end_concept,
            size=fact.size,
        )
        for fact in facts
    ]
    all_of_them = DialogueReply(facts=[*range(1, len(shown) + 1)])
    told = written(language, ReplyInput(question="", things=[], evidence=shown), all_of_them)
    return [Sentence(text=text, facts=[places[at] for at in facts], restated=True) for text, facts in told]


def _grounded(text: str, run: QuestionRun) -> str | None:
    """The text as it may be shown; None if it may not."""
    topics = (topic.pseudonym for topic in run.read.dialogue.topics)
    ends = (end for fact in run.found.evidence for end in (fact.start, fact.end))
    try:
        return ground(text, (), {*run.found.things, *topics, *ends}, run.conversation.table).text
    except NotGroundedError:
        return None


def _concluded(run: QuestionRun, told: Sequence[Sentence], text: str) -> Conclusion:
    """The reply with the things that its facts lead to, for clients that read it as data."""
    ends = dict.fromkeys(run.found.evidence[at].end for each in told for at in each.facts)
    found = run.executor.conclude(Grounded(tuple(map(parse, ends)), text), NO_MIDS)
    return found or Conclusion(text, (), {})


Extract = Callable[[str, str, str, bool], tuple[str, ...]]


def reading_back(answers: Extract) -> ReadBack:
    """Returns the trained extractor as a function that reads the other end of a relation from a text."""
    return lambda text, known, relation: answers(text, known, relation, False)
