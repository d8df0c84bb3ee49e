"""Checks and executes the draft of an answer; without one, writes the sentence that says why there is no answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from app.chat.execution import Conclusion
from app.chat.grounding import Grounded, NotGroundedError, ground
from app.chat.question_run import ConclusionResult, QuestionRun, ReadBack
from app.chat.turns import did_you_mean
from app.language.protocol import Language
from app.language.readings import UnansweredQuestion
from app.llm.tasks import DialogueReply, ReplyInput
from app.privacy.pseudonyms import words_in
from app.privacy.words.lexicon import words_in as lexicon_words
from app.strategies.base import Draft, FoundFact
from app.strategies.dialogue import written
from app.strategies.drafts import REFUSALS
from app.strategies.retrieval import evidence_of
from app.strategies.start import declares_kinds
from client_sdk.protocol import Names, Sentence
from kg_store.algebra.expressions import Call, Expression, Name, names_in, parse
from kg_store.algebra.expressions import written as written_out
from kg_store.algebra.missing_values import MissingValues
from kg_store.errors import ExpressionError
from kg_store.graph.kinds import kinds_of
from kg_store.lexicon.lexicon import in_lexicon
from kg_store.storage.vault import NO_NAME
from kg_store.terms import NO_MIDS, ValueKind
from kg_store.text.inflection import lemmas_of

NOT_IN_GRAPH: Final = "The graph does not hold an answer to that."
NO_PATH: Final = "I found nothing in this graph that answers that question as it is asked."
NO_YEAR: Final = "I can not tell the year of that date: please say it too."
NOT_READ: Final = "I could not tell what {words} here, so I give no answer."
NOT_KNOWN: Final = "I know no such name or word in this graph, so I give no answer."
NOT_EXECUTED: Final = "I can not work out an answer with “{word}” in it yet, so I give none."
OVER_BUDGET: Final = "No answer was found within the tokens that one question may take; the graph may hold one."
WITHHELD: Final = "The model was not asked: too few things of the graph match what it would have been shown."
MAX_NAMED: Final = 3
SENTENCES: Final = (
    NOT_IN_GRAPH,
    NO_PATH,
    NO_YEAR,
    NOT_READ,
    NOT_KNOWN,
    NOT_EXECUTED,
    OVER_BUDGET,
    WITHHELD,
    *REFUSALS.values(),
)


def refusal(run: QuestionRun) -> str:
    """Returns the sentence that says why there is no answer.

    Promise: it depends only on the question as typed and on what the asker may see, so a value hidden from the asker
    looks like an unknown word. Therefore the reasoner, which may have met a hidden value, is not asked which word it
    failed on. Words that may be names (uncommon or with a capital) are not quoted.
    """
    if run.found.over_budget:
        return OVER_BUDGET
    if run.found.withheld:
        return WITHHELD
    if run.found.contradicted:
        return run.found.contradicted
    asked = _read(run)
    typed = {match[0] for match in lexicon_words(run.request.messages[-1].content)}
    if asked.lacking:
        common = [word for word in asked.lacking if word in typed and in_lexicon(word)]
        named = [f"“{word}”" for word in common[:MAX_NAMED]]
        several = f"{', '.join(named[:-1])} and {named[-1]} mean" if len(named) > 1 else ""
        return NOT_READ.format(words=several or f"{named[0]} means") if named else NOT_KNOWN
    if run.found.draft is not None:
        return NOT_IN_GRAPH
    word = asked.unread or asked.operator
    # "top" is read together with the word after it, which may be a name.
    is_common = word == asked.operator or all(part in typed and in_lexicon(part) for part in word.split())
    return NOT_EXECUTED.format(word=word) if word and is_common else NO_PATH


def _lacks_year(run: QuestionRun) -> bool:
    """Returns True if the question holds a date without a year."""
    meanings = map(run.conversation.table.meaning, run.conversation.table.known(str(run.read.dialogue.question)))
    return any(each is not None and each.is_yearly for each in meanings)


def words_left(run: QuestionRun) -> Sequence[str]:
    """Returns the words of the question that match nothing in the graph; if all match, all its content words."""
    asked = _read(run)
    return asked.lacking or asked.telling


def _read(run: QuestionRun) -> UnansweredQuestion:
    schema = run.graph.blind.schema
    return run.reader.read_unanswered(_as_typed(run), schema, kinds_of(schema) if declares_kinds(schema) else ())


def _as_typed(run: QuestionRun) -> str:
    """Returns the question with unknown words as they were typed, not as pseudonyms."""
    question = str(run.read.dialogue.question)
    for word, typed in unknown_words(run).items():
        question = question.replace(word, typed)
    return question


def unknown_words(run: QuestionRun) -> dict[str, str]:
    """Maps the pseudonyms of unknown words of the question to what was typed.

    A word is unknown if it matches nothing in the graph that the asker may see. Numbers and dates are left out.
    """
    table, found = run.conversation.table, dict[str, str]()
    for word in table.known(str(run.read.dialogue.question)):
        meaning = table.meaning(word)
        if meaning is None or meaning.value_kind in (ValueKind.NUMBER, ValueKind.DATE):
            continue  # Numbers and dates are not words that the graph could lack.
        if meaning.literal and not len(table.resolve(word, run.graph.blind)[0]):
            found[word] = meaning.literal
    return found


NOTHING_LEFT: Final = "A reply was proposed that the graph does not hold, so it is not shown."
# Function words that do not change the meaning of a fact; "not", "may", "only" and "once" do, so they are left out.
_ASSERTING: Final = frozenset(
    "a an the this that these there it its he she they his her their who whom whose which and also too be have do "
    "of to by in at on for from with as both where".split()
)
_WORD: Final = re.compile(r"[^\W_]+")
IN_MODELS_WORDS: Final = "(In the model's words.)"
"""Appended to a reply in which at least one sentence was worded by a model."""


def checked_reply(run: QuestionRun, read_back: ReadBack | None) -> ConclusionResult:
    """Checks the sentences of a reply in dialogue; returns those that are kept, with the facts behind each.

    Promise: a model's sentence is kept only if it passes three checks. It names only subjects and objects of the facts
    that it cites. `read_back` finds each of these facts in it. All its other words occur in the facts or are function
    words. Otherwise the service words the cited facts itself. A reply that keeps a model's sentence is marked as not
    grounded.
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
    # The ends of the cited facts become the answer's items, for clients that read the reply as data; those of public
    # facts are no things of the asked graph.
    cited = (found.evidence[at] for each in told for at in each.facts)
    ends = dict.fromkeys(fact.end for fact in cited if not fact.public)
    conclusion = run.executor.conclude(Grounded(tuple(map(parse, ends)), text), NO_MIDS) or Conclusion(text, (), {})
    return ConclusionResult(
        conclusion, not own, conclusion.text, sentences=tuple(told), removed=lost, attachment=attachment
    )


def _worded(text: str, facts: Sequence[FoundFact], run: QuestionRun, read_back: ReadBack | None) -> str | None:
    safe = _grounded(text, run)
    ends = {end for fact in facts for end in (fact.start, fact.end)}
    if safe is None or read_back is None or not set(run.conversation.table.known(safe)) <= ends:
        return None
    return safe if stays(safe, facts, read_back) else None


def stays(text: str, facts: Sequence[FoundFact], read_back: ReadBack) -> bool:
    """Returns True if a model's sentence may stay: it states the facts that it cites and nothing else."""
    return adds_nothing(text, facts) and all(is_read_back(text, fact, read_back) for fact in facts)


def adds_nothing(text: str, facts: Sequence[FoundFact]) -> bool:
    """Returns True if `text` says nothing beyond `facts`.

    Each of its words must be the subject or object of a fact, a form of a word of the facts' relations or concepts, or
    a function word. Words that deny, doubt or narrow ("never", "may", "only") are not allowed.
    """
    schema = [text for fact in facts for text in (*fact.path, fact.start_concept, fact.end_concept)]
    said = (word for text in schema for word in _WORD.findall(text.lower()))
    allowed = _ASSERTING.union(*map(lemmas_of, said))
    ends = {end for fact in facts for end in (fact.start, fact.end)}
    return all(word in ends or not allowed.isdisjoint(lemmas_of(word.lower())) for word in _WORD.findall(text))


def is_read_back(text: str, fact: FoundFact, read_back: ReadBack) -> bool:
    """Returns True if `read_back` finds the relation's object in `text`, given its subject and the relation."""
    if len(fact.path) != 1 or "|" in fact.path[0]:
        return False
    step = fact.path[0]
    known, wanted = (fact.end, fact.start) if step.startswith("^") else (fact.start, fact.end)
    found = read_back(text, known, step.lstrip("^"))
    return wanted in {word.word for answer in found for word in words_in(answer)}


def _in_our_words(language: Language, facts: Sequence[FoundFact], places: Sequence[int]) -> Sequence[Sentence]:
    shown = [evidence_of(fact) for fact in facts]
    all_of_them = DialogueReply(facts=[*range(1, len(shown) + 1)])
    told = written(language, ReplyInput(question="", things=[], evidence=shown), all_of_them)
    return [Sentence(text=text, facts=[places[at] for at in facts], restated=True) for text, facts in told]


def _grounded(text: str, run: QuestionRun) -> str | None:
    topics = (topic.pseudonym for topic in run.read.dialogue.topics)
    ends = (end for fact in run.found.evidence for end in (fact.start, fact.end))
    try:
        return ground(text, (), {*run.found.things, *topics, *ends}, run.conversation.table).text
    except NotGroundedError:
        return None


NAMELESS: Final = "What was found has no name of its own: please ask for what it belongs to, or how many there are."
NOT_GROUNDED: Final = "An answer was proposed that could not be traced to the graph, so it is not shown."


def conclude(run: QuestionRun, read_back: ReadBack | None) -> QuestionRun:
    """Returns the run with `ended` set: the executed answer, or the sentence that says why there is none.

    `read_back` checks the sentences of replies that a model worded.
    """
    draft = run.found.draft
    return replace(run, ended=_without_draft(run) if draft is None else _executed(run, draft, read_back))


def _without_draft(run: QuestionRun) -> ConclusionResult:
    said, asks_back = run.found.said, run.found.asks_back
    if said:
        return ConclusionResult(Conclusion(said, (), {}), sentence=said)
    # If a name is ambiguous, the reply asks for that first.
    if asks_back and not run.read.ambiguous:
        return ConclusionResult(sentence=did_you_mean([each.question for each in asks_back]), asks_back=asks_back)
    return ConclusionResult(sentence=refusal(run))


_CONDITIONS: Final = frozenset({"filter", "having", "matching"})


def _tells_its_topic(run: QuestionRun, expressions: Sequence[Expression]) -> bool:
    """Returns True if the only result can be the one named thing that a condition is put on: it answers nothing."""
    if len(expressions) != 1:
        return False
    (asked,) = expressions
    narrowed = asked
    while isinstance(narrowed, Call) and narrowed.function in _CONDITIONS:
        narrowed = narrowed.operands[0]
    named = {topic.pseudonym for topic in run.read.dialogue.topics if topic.newest and len(topic.mids) == 1}
    return narrowed is not asked and isinstance(narrowed, Name) and narrowed.pseudonym in named


def _executed(run: QuestionRun, draft: Draft, read_back: ReadBack | None) -> ConclusionResult:
    if run.found.reply:
        return checked_reply(run, read_back)
    found, table = run.found, run.conversation.table
    allowed = {*found.things, *(end for fact in found.evidence for end in (fact.start, fact.end))}
    # The single things that the question names are taken out of its answer. Sets of earlier answers are not, because
    # a question may ask for them again.
    named = [topic.mids for topic in run.read.dialogue.topics if topic.newest and len(topic.mids) == 1]
    try:
        grounded = ground(draft.text, draft.expressions, allowed, table)
        # A list of what goes with which has them like all others.
        topics = np.unique(np.concatenate(named)) if named and not draft.things else NO_MIDS
        conclusion = run.executor.conclude(grounded, topics, found.in_order)
    except (NotGroundedError, ExpressionError):
        return ConclusionResult(grounded=False, sentence=NO_YEAR if _lacks_year(run) else NOT_GROUNDED)
    if conclusion is None or _tells_its_topic(run, grounded.expressions):
        return ConclusionResult(sentence=refusal(run))
    if _counts_nothing_of_many(run, grounded.expressions, conclusion):
        return ConclusionResult(sentence=refusal(run))
    items = [item for item in conclusion.items if item.kind in ("set", "entity")]
    names = {name for item in items if (held := conclusion.names.get(item.pseudonym)) for name in held.names}
    # All results are mediators, which have no name, such as an admission that joins a patient and a ward.
    if names == {NO_NAME} and all(item.kind != "value" for item in conclusion.items):
        return ConclusionResult(sentence=NAMELESS)
    missing = run.executor.missing_values(grounded.expressions)
    for each in missing:
        if each.lacking == each.total and not each.counts_as_not and not each.texts:
            return ConclusionResult(sentence=NONE_KNOWN.format(relation=each.relation, fitting=_fitting(each)))
    conclusion = _with_referred(run, _with_missing(run, conclusion, missing), grounded.expressions)
    if len(run.executor.years_met(grounded.expressions)) > 1:
        conclusion = replace(conclusion, text=f"{conclusion.text} {SEVERAL_YEARS}")
    known = min((1 - each.lacking / each.total for each in missing), default=1.0)
    return ConclusionResult(conclusion, sentence=conclusion.text, known=known)


def _counts_nothing_of_many(run: QuestionRun, expressions: Sequence[Expression], conclusion: Conclusion) -> bool:
    """Returns True for a count of 0 of what a name leads to that several things share.

    The relation may then be that of another of these things than the question means, so 0 proves nothing.
    """
    shared = {each.pseudonym for each in run.read.ambiguous}
    is_none = [names.names for names in conclusion.names.values()] == [["0"]]
    return is_none and not shared.isdisjoint(names_in(expressions[0]))


SEVERAL_YEARS: Final = "That is over several years: say the year if you mean one."
MAX_TOLD: Final = 2
"""The greatest number of relations of which an answer says how many things lack them. Chosen by hand."""
NONE_KNOWN: Final = "I can not tell: no “{relation}”{fitting} is known there."
SOME_LACK: Final = "{some} of {total} {have} no “{relation}”{fitting}; {end}."
REFERRED: Final = "{some} of them {are} only referred to: nothing else is said of them."
TEXTS_ALONE: Final = "{some} of {total} {have} only a text as “{relation}”, which names nothing listed."


def _with_missing(run: QuestionRun, conclusion: Conclusion, missing: Sequence[MissingValues]) -> Conclusion:
    """Returns `conclusion` with a sentence for each of `missing`; the numbers in it are sealed like names."""
    text, names = conclusion.text, dict(conclusion.names)
    for each in missing[:MAX_TOLD]:
        if each.texts:
            some, total, more = _counted(run, each, each.texts, "texts")
            have = "has" if each.texts == 1 else "have"
            text += " " + TEXTS_ALONE.format(some=some, total=total, have=have, relation=each.relation)
            names |= more
        if each.lacking == each.texts:
            continue
        lacking = each.lacking - each.texts
        is_one = lacking == 1
        some, total, more = _counted(run, each, lacking, "lacking")
        names |= more
        counts, are = ("it counts", "it is") if is_one else ("they count", "they are")
        end = f"{counts} as not" if each.counts_as_not else f"{are} left out"
        have, fitting = "has" if is_one else "have", _fitting(each)
        told = SOME_LACK.format(some=some, total=total, have=have, relation=each.relation, fitting=fitting, end=end)
        text += f" {told}"
    return replace(conclusion, text=text, names=names)


def _with_referred(run: QuestionRun, conclusion: Conclusion, expressions: Sequence[Expression]) -> Conclusion:
    """Returns `conclusion` with a sentence on counted things of which the files say nothing themselves."""
    some, total = run.executor.counted_by_reference(expressions[0])
    if not 0 < some < total:
        return conclusion
    few, names = run.executor.of_number(some, f"referred({written_out(expressions[0])})")
    told = REFERRED.format(some=few, are="is" if some == 1 else "are")
    return replace(conclusion, text=f"{conclusion.text} {told}", names={**conclusion.names, few: names})


def _counted(run: QuestionRun, missing: MissingValues, some: int, what: str) -> tuple[str, str, dict[str, Names]]:
    """Returns the pseudonyms of `some` and of the total, with what they mean; `what` tells what `some` counts."""
    about = f'{missing.of}, "{missing.relation}"'
    few, few_names = run.executor.of_number(some, f"{what}({about})")
    total, total_names = run.executor.of_number(missing.total, f"total({about})")
    return few, total, {few: few_names, total: total_names}


def _fitting(missing: MissingValues) -> str:
    return f" that is a {missing.kind.value}" if missing.unfit and missing.kind else ""
