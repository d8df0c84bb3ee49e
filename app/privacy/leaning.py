"""Whether a question needs the turns before it."""

from __future__ import annotations

import re

from app.privacy.safe_text import SafeDialogue

_WORD = re.compile(r"[^\W\d_]+")
_REFERRING = frozenset(
    "he she it they them him his her hers its their theirs those these that this one ones there same".split()
)
# "the films that share": it joins a clause to a kind of thing, and means nothing earlier.
_JOINING = re.compile(r"\b(?:the|a|an|which|what|any|every|all|some|many|other) \w+ that\b", re.IGNORECASE)


def leans_on_earlier(dialogue: SafeDialogue) -> bool:
    """Whether the question needs the turns before it: it was completed from them, speaks of something by a word that
    only they explain, or names nothing itself."""
    words = {word.casefold() for word in _WORD.findall(_JOINING.sub("", dialogue.question))}
    names_something = any(topic.newest for topic in dialogue.topics)
    return dialogue.leans or not names_something or not _REFERRING.isdisjoint(words)
