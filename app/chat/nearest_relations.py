"""Adds to a refusal what was understood of the question, and what can be asked about the first thing it names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from app.chat.dialogue.questions_to_try import with_knowledge
from app.chat.question_run import QuestionRun
from app.chat.refusals import words_left
from app.chat.understanding import understood
from app.language.schema_steps import schema_steps
from app.llm.embeddings.embedder import Likeness
from app.strategies.start import declares_kinds
from kg_store.terms import is_mask_word
from kg_store.text.inflection import with_article
from kg_store.text.labels import plain_words, readable_step

MAX_RELATIONS: Final = 4
MAX_KNOWN: Final = 2


def with_nearest(run: QuestionRun, sentence: str, likeness: Likeness) -> str:
    """Returns `sentence` with up to two things that were understood, and the relations of the first one's kind that
    are most like the words that were not understood.

    Promise: it depends on what was typed, on what `understood` returns and on the schema that the asker sees.
    Relations are those of the kind, whether or not the thing has them; masked ones are not mentioned.
    """
    schema = run.graph.blind.schema
    known = understood(run)[:MAX_KNOWN] if declares_kinds(schema) else []
    if not known:
        return sentence
    told = [f"{each.pseudonym}, {_kind(each.concept)}" if _kind(each.concept) else each.pseudonym for each in known]
    relations = list(dict.fromkeys(_relations(run, known[0].concept.split(", "))))
    near = likeness(" ".join(words_left(run)), relations).tolist()
    order = sorted(range(len(relations)), key=lambda at: (-round(near[at], 4), relations[at]))
    return with_knowledge(sentence, told, _kind(known[0].concept), [relations[at] for at in order[:MAX_RELATIONS]])


def _kind(concept: str) -> str:
    kinds: Sequence[str] = [kind for kind in concept.split(", ") if kind not in ("", "thing")]
    return " or ".join(map(with_article, kinds))


def _relations(run: QuestionRun, kinds: Sequence[str]) -> Iterator[str]:
    """The words of every hop forwards from things of `kinds`."""
    for step in schema_steps(run.graph.blind):
        hops = step.label.split("|")
        is_plain = not any(hop.startswith("^") or is_mask_word(hop) for hop in hops)
        if step.kind in kinds and is_plain and (words := readable_step(plain_words(step.label)).removeprefix("has ")):
            yield words
