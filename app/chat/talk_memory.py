"""Replies to what was talked about on a day, and when something was talked about last."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from dataclasses import replace
from typing import Final

from app.chat.conversations import ConversationStore
from app.chat.execution import Conclusion
from app.chat.fact_memory import is_seen
from app.chat.question_run import ConclusionResult, QuestionRun
from app.language.readings import DatedStatement, MemoryReply
from app.privacy.plain_wording import Today
from kg_store.terms import Mid

MAX_DAYS: Final = 10
MAX_NAMED: Final = 20
"""The most days that a reply names, and the most things of a day. Chosen by hand."""


class TalkMemory:
    """Knows what an asker's conversations were about, by days.

    Promise: a person is told of their own conversations alone, as far as their role still sees what these named; no
    model is asked. Limit: only things of the graph that a question named are known, for as long as a conversation is
    kept; people who share a key and are not told apart share this memory too.
    """

    def __init__(self, conversations: ConversationStore, today: Today) -> None:
        self._conversations, self._today = conversations, today

    def replied(self, run: QuestionRun) -> QuestionRun:
        """Returns the run with the reply to its turn. Raises MasterKeyError."""
        turn, today = run.memory_turn, self._today()
        assert turn is not None  # nosec B101
        named = self._by_day(run)
        if turn.about:
            asked = {int(mid) for topic in run.read.dialogue.topics if topic.newest for mid in topic.mids}
            days = [day for day, mids in named.items() if asked & set(mids)]
        else:
            period = run.reader.memory.days_of(turn.when, today) if turn.when else None
            within = (day for day in named if period is None or period[0] <= day <= period[1])
            days = [] if turn.when and period is None else sorted(within, reverse=True)
        shown = days[: MAX_DAYS if turn.when else 1]
        told = tuple(DatedStatement(self._listed(named[day], run), day) for day in shown)
        text = run.reader.memory.word_reply(MemoryReply("talked", today, told, len(days), turn.about))
        return replace(run, ended=ConclusionResult(Conclusion(text, (), {}), sentence=text))

    def _by_day(self, run: QuestionRun) -> dict[dt.date, list[int]]:
        """Returns what the asker's conversations named and their role still sees, newest day first."""
        owner, found = run.fact_owner, defaultdict[dt.date, list[int]](list)
        for day, mids in self._conversations.named_in(owner.tenant, owner.key_id, owner.graph, owner.person):
            found[day] += [mid for mid in mids if mid not in found[day] and is_seen((mid,), run)]
        return {day: found[day] for day in sorted(found, reverse=True) if found[day]}

    def _listed(self, mids: list[int], run: QuestionRun) -> str:
        words = [run.conversation.table.of_entity(Mid(mid)) for mid in mids[:MAX_NAMED]]
        more = f" and {len(mids) - MAX_NAMED} more" if len(mids) > MAX_NAMED else ""
        return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if not more else ", ".join(words) + more
