"""Writes a reply from chosen facts in a chosen manner, in fixed wordings only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app.language.protocol import Language
from app.llm.tasks import DialogueReply, ReplyInput

Told = Sequence[tuple[str, tuple[int, ...]]]
"""Sentences, each with the positions in the evidence of the facts that it states."""

RECOMMENDED: Final = "You may want to look at {0}."
ASKED_ON: Final = "Shall I tell you about {0}?"


def written(language: Language, given: ReplyInput, reply: DialogueReply) -> Told:
    """The sentences of `reply`; none where none of its facts can be said.

    Promise: a sentence holds fixed wordings of the service, relation labels, concepts and pseudonyms of the evidence.
    """
    chosen = [at - 1 for at in dict.fromkeys(reply.facts) if 1 <= at <= len(given.evidence)]
    if reply.manner == "compare":
        # Sorted by relation first, so that the same fact of both things stands side by side.
        chosen.sort(key=lambda at: given.evidence[at].path)
    sentences = language.word_reply(given.model_copy(update={"ranked": tuple(chosen)})) if chosen else []
    told = [(each.text, each.facts) for each in sentences]
    last = next((given.evidence[at].end for at in reversed(chosen) if given.evidence[at].end.startswith("E")), "")
    if told and last and reply.manner in ("recommend", "ask_on"):
        form = RECOMMENDED if reply.manner == "recommend" else ASKED_ON
        told.append((form.format(last), told[-1][1]))
    return told
