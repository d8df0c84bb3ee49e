"""Chooses the language in which an answer names things that have labels in several languages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from app.chat.question_run import QuestionRun
from kg_store.storage.vault import VaultRecord
from kg_store.text.normalise import Normalised, normalise

MAX_OF_A_NAME: Final = 10
"""The greatest number of things of one name whose labels are looked at. Chosen by hand."""


def language_of(run: QuestionRun) -> str:
    """Returns the language that the request asks for, else that of the labels in the latest turn that has any.

    Empty if those labels have no language or several. The result stays inside the service, where it chooses the names
    of the capsule.
    """
    asked = run.request.options.language
    if asked:
        return asked.partition("-")[0].lower()
    table, graph = run.conversation.table, run.graph
    topics = (table.resolve(topic.pseudonym, graph.blind)[0].tolist() for topic in run.read.dialogue.topics)
    records = graph.vault.records([mid for mids in topics for mid in mids[:MAX_OF_A_NAME]])
    turns = [turn.content for turn in run.request.messages if turn.role == "user"]
    return language_typed(turns, [record for record in records.values() if record.labels])


def language_typed(turns: Sequence[str], records: Iterable[VaultRecord]) -> str:
    """Returns the language of the labels of `records` in the latest of `turns` that has any; empty if unclear."""
    records = list(records)
    for turn in reversed(turns) if records else ():
        text = normalise(turn)
        languages = {language for record in records if (language := _language_in(text, record)) is not None}
        if languages:
            return languages.pop() if len(languages) == 1 else ""
    return ""


def _language_in(text: Normalised, record: VaultRecord) -> str | None:
    """The language of the label in `text`; empty for the preferred name or several languages, None if there is no
    label.
    """
    typed = {(label, language) for language, label in record.labels if _holds(text, label)}
    if not typed:
        return "" if _holds(text, record.names[0]) else None
    longest = max(len(label) for label, _ in typed)
    languages = [language for label, language in typed if len(label) == longest]
    return languages[0] if len(languages) == 1 and (record.names[0], languages[0]) not in typed else ""


def _holds(text: Normalised, name: str) -> bool:
    words = normalise(name).text
    at = text.text.find(words)
    while words and at >= 0:
        if text.is_border(at) and text.is_border(at + len(words)):
            return True
        at = text.text.find(words, at + 1)
    return False
