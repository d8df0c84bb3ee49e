"""Holds the prompt of the strategy `demands`: its three stages in one request (DCRAG, section 3.2)."""

from __future__ import annotations

from app.llm.tasks import DemandsReply, TaskKind
from app.privacy.safe_text import SafeText

DEMANDS = TaskKind(
    "demands",
    SafeText(
        """Which common knowledge would help to reply to the last turn of this dialogue? Words like Eq7f2k stand for \
names: leave them out. Give short everyday terms, one to three words each, as a commonsense graph has them.
First one short thought, then the terms, for each of: explicit (said in the dialogue), implicit (not said, but meant \
or needed), maintained (topics that the reply should keep), extended (new topics that it could bring up). Work them \
out apart, then leave out what does not belong together."""
    ),
    DemandsReply,
    temperature=0.3,
    max_tokens=400,
    asks_again=False,
)
