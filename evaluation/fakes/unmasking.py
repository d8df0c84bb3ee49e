"""Reads masked relations for the scripted endpoint: by their descriptions, as a model does that understands them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

_RUN = re.compile(r"[0-9A-Za-z]+")
_QUOTED = re.compile(r'"([^"]*)"')


@dataclass(frozen=True, slots=True)
class Unmasked:
    """The block of a task with plans' words for opaque ones; `words` leads from opaque words to those of plans."""

    block: str
    words: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, block: str, meanings: Mapping[str, str]) -> Unmasked:
        """`meanings`: the words of plans, by description. A description that is not among them stays unread."""
        if not meanings:
            return cls(block)
        task = json.loads(block)
        told = {each["relation"]: each["means"] for each in task.get("masked_relations", ())}
        words = {word: meanings[means] for word, means in told.items() if means in meanings}
        texts = {key: task.pop(key) for key in ("question", "dialogue") if key in task}
        changed = _each_text(task, lambda text: _RUN.sub(lambda run: words.get(run[0], run[0]), text))
        return cls(json.dumps(texts | changed), words)

    def in_its_words(self, reply: str) -> str:
        """A reply with the opaque words where its expressions name relations."""
        if not self.words:
            return reply
        back = {words: word for word, words in self.words.items()}
        return json.dumps(_each_text(json.loads(reply), lambda text: _QUOTED.sub(lambda m: _masked(m[1], back), text)))


def _masked(path: str, back: Mapping[str, str]) -> str:
    parts = (part.strip() for part in path.split("|"))
    return (
        '"'
        + "|".join("^" * part.startswith("^") + back.get(part.lstrip("^"), part.lstrip("^")) for part in parts)
        + '"'
    )


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_each_text(each, change) for each in value]
    if isinstance(value, dict):
        return {key: _each_text(each, change) for key, each in value.items()}
    return value
