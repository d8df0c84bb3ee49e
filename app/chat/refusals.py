"""Sentences for questions without an answer: they quote the words that nothing in the graph stands for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from app.chat.question_run import QuestionRun
from app.language.readings import UnansweredQuestion
from app.privacy.words.lexicon import words_in
from app.strategies.checked_drafts import REFUSALS
from app.strategies.start import declares_kinds
from kg_store.graph.traversal import kinds_of
from kg_store.lexicon.lexicon import in_lexicon
from kg_store.terms import ValueKind

NOT_IN_GRAPH: Final = "The graph does not hold an answer to that."
NO_PATH: Final = "I found nothing in this graph that answers that question as it is asked."
NOT_READ: Final = "I could not tell what {words} here, so I give no answer."
NOT_KNOWN: Final = "I know no such name or word in this graph, so I give no answer."
NOT_EXECUTED: Final = "I can not work out an answer with “{word}” in it yet, so I give none."
OVER_BUDGET: Final = "No answer was found within the tokens that one question may take; the graph may hold one."
WITHHELD: Final = "The model was not asked: too few things of the graph match what it would have been shown."
MAX_NAMED: Final = 3
SENTENCES: Final = (
    NOT_IN_GRAPH,
    NO_PATH,
    NOT_READ,
    NOT_KNOWN,
    NOT_EXECUTED,
    OVER_BUDGET,
    WITHHELD,
    *REFUSALS.values(),
)


def refusal(run: QuestionRun) -> str:
    """Returns why there is no answer, from the question as typed and what the asker may see of the graph.

    Promise: a value that is hidden from the asker is treated like an unknown word and cannot be told from one.
    Therefore the reasoner is not asked which word it failed on, as it may have met a hidden value. Words that may be
    names (uncommon or with a capital) are not quoted.
    """
    if run.found.over_budget:
        return OVER_BUDGET
    if run.found.withheld:
        return WITHHELD
    if run.found.contradicted:
        return run.found.contradicted
    asked = _read(run)
    typed = {match[0] for match in words_in(run.request.messages[-1].content)}
    if asked.lacking:
        common = [word for word in asked.lacking if _may_quote(word, typed)]
        return NOT_READ.format(words=_quoted(common)) if common else NOT_KNOWN
    if run.found.draft is not None:
        return NOT_IN_GRAPH
    word = asked.unread or asked.operator
    # "top" is read together with the word after it, which may be a name.
    is_common = word == asked.operator or all(_may_quote(part, typed) for part in word.split())
    return NOT_EXECUTED.format(word=word) if word and is_common else NO_PATH


def words_left(run: QuestionRun) -> Sequence[str]:
    """Returns the words of the question that nothing in the graph stands for; all content words if there are none."""
    asked = _read(run)
    return asked.lacking or asked.telling


def _read(run: QuestionRun) -> UnansweredQuestion:
    schema = run.graph.blind.schema
    return run.reader.read_unanswered(_as_typed(run), schema, kinds_of(schema) if declares_kinds(schema) else ())


def _may_quote(word: str, typed: Collection[str]) -> bool:
    return word in typed and in_lexicon(word)


def _as_typed(run: QuestionRun) -> str:
    """The question with pseudonyms of nothing that the asker may see replaced by what was typed."""
    table, question = run.conversation.table, str(run.read.dialogue.question)
    for word in table.known(question):
        meaning = table.meaning(word)
        if meaning is None or meaning.value_kind in (ValueKind.NUMBER, ValueKind.DATE):
            continue  # Numbers and dates are not words that the graph could lack.
        if meaning.literal and not len(table.resolve(word, run.graph.blind)[0]):
            question = question.replace(word, meaning.literal)
    return question


def _quoted(words: list[str]) -> str:
    named = [f"“{word}”" for word in words[:MAX_NAMED]]
    listed = ", ".join(named[:-1]) + f" and {named[-1]}" if len(named) > 1 else named[0]
    return f"{listed} mean" if len(named) > 1 else f"{listed} means"
