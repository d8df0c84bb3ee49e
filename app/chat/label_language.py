"""The language in which an answer names things that have labels in several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from app.chat.question_run import QuestionRun
from kg_store.storage.vault import VaultRecord
from kg_store.text.normalise import Normalised, normalise

MAX_OF_A_NAME: Final = 10
"""Things that one name may stand for."""


def language_of(run: QuestionRun) -> str:
    """The language that the request asks for, else the one of the names that its latest turn with such names uses;
    empty where those are of none or of several. It stays in the house: the names of the capsule are chosen by it."""
    asked = run.request.options.language
    if asked:
        return asked.partition("-")[0].lower()
    table, graph = run.conversation.table, run.graph
    topics = (table.resolve(topic.pseudonym, graph.blind)[0].tolist() for topic in run.read.dialogue.topics)
    records = graph.vault.records([mid for mids in topics for mid in mids[:MAX_OF_A_NAME]])
    turns = [turn.content for turn in run.request.messages if turn.role == "user"]
    return language_typed(turns, [record for record in records.values() if record.labels])


def language_typed(turns: Sequence[str], records: Iterable[VaultRecord]) -> str:
    """The language of the labels of `records` in the latest of `turns` that has one."""
    records = list(records)
    for turn in reversed(turns) if records else ():
        text = normalise(turn)
        languages = {language for record in records if (language := _language_in(text, record)) is not None}
        if languages:
            return languages.pop() if len(languages) == 1 else ""
    return ""


def _language_in(text: Normalised, record: VaultRecord) -> str | None:
    """The language of the label in `text`: empty for the preferred name and for one of several languages, None where
    there is no label."""
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
