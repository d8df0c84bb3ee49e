"""Writes a sentence without the pieces that had to go, so that what is left is still a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from app.chat.statements.reading import Verdict
from app.chat.statements.references import Discourse
from app.chat.statements.segments import Segment
from app.chat.statements.tokens import Token


@dataclass(slots=True)
class Kept:
    """A sentence with the verdicts of its pieces."""

    sentence: str = field(repr=False)
    tokens: Sequence[Token]
    pieces: list[tuple[Segment, Verdict]]

    def names(self) -> list[str]:
        """The names that the sentence speaks of, in order; those of pieces that go as well."""
        found: list[str] = []
        for segment, verdict in self.pieces:
            for at in range(segment.start, segment.end):
                if self.tokens[at].is_name:
                    found.append(self.tokens[at].word)
                elif at in verdict.stood_for:
                    found.append(verdict.stood_for[at][1])
        return found


def kept_text(kept: Kept, discourse: Discourse) -> str:
    """The sentence without its pieces that go; empty where nothing is left."""
    if not kept.pieces:
        return kept.sentence.strip()
    stays = [verdict.facts is not None for _, verdict in kept.pieces]
    if all(stays):
        return kept.sentence.strip()
    _drop_dependents(kept, stays)
    if not any(stays) or not any(verdict.states for (_, verdict), stay in zip(kept.pieces, stays, strict=True) if stay):
        return ""
    written = ""
    for place, ((segment, _), stay) in enumerate(zip(kept.pieces, stays, strict=True)):
        if not stay:
            continue
        after_gap = place > 0 and not stays[place - 1]
        begin = segment.body if not written else segment.start
        text = _text(kept, begin, segment.end)
        if written and after_gap and segment.kind == "clause" and not text.startswith((",", ";", "and", "but")):
            text = f"; {text}"
        written += text if text.startswith((",", ";", ":", ")", "'")) or not written else f" {text}"
    return _finished(written, kept.sentence)


def _drop_dependents(kept: Kept, stays: list[bool]) -> None:
    """A piece that says something of a clause that goes has nothing to hang on."""
    main_stays = False
    has_main = False
    for place, (segment, _) in enumerate(kept.pieces):
        if segment.kind == "clause":
            main_stays, has_main = stays[place], True
        elif segment.is_fronted:
            following = next((k for k in range(place + 1, len(stays)) if kept.pieces[k][0].kind == "clause"), None)
            if following is not None and not stays[following]:
                stays[place] = False
        elif has_main and not main_stays:
            stays[place] = False


def _text(kept: Kept, start: int, end: int) -> str:
    if start >= end:
        return ""
    return kept.sentence[kept.tokens[start].start : kept.tokens[end - 1].end]


def _finished(text: str, sentence: str) -> str:
    text = re.sub(r"\s+([,;:.])", r"\1", text).strip().strip(",;:–—").strip()
    if not text:
        return ""
    if text[0].islower():
        text = text[0].upper() + text[1:]
    end = sentence.rstrip()[-1:]
    return text + (end if end in ".!?" else ".")
