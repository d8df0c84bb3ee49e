"""Reads what the bytes of a conversation show of each value: pseudonym, place, lengths, and earlier answers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.llm.tasks import Evidence
from evaluation.attacks.setup.egress import Prompt, prompt_of
from evaluation.attacks.setup.exchanges import Exchange
from kg_store.terms import ALMOST_PSEUDONYM

_TOKEN = re.compile(r"[0-9A-Za-z][0-9A-Za-z.:-]*")


@dataclass(frozen=True, slots=True)
class Observation:
    """One value of one conversation, as whoever reads the prompts sees it; `truth` is its MID, known to the judge.

    `place`: where its line stands among those of its prompt, and `appeared` when its pseudonym first did, both from 0
    to 1; `row` and `body` are bytes, the latter against the mean of the same turn; `won`: 1 where its holder was the
    answer to a question about the greatest or least, -1 where it was compared and was not.
    """

    talk: int
    word: str
    place: float
    appeared: float
    row: int
    body: float
    won: int
    tokens: frozenset[str] = field(repr=False)
    truth: int = field(repr=False)


def seen_in(exchanges: Sequence[Exchange], label: str) -> list[Observation]:
    """The values that `label` leads to, each once in a conversation, at its first line."""
    lengths: dict[int, list[int]] = defaultdict(list)
    for exchange in exchanges:
        for turn, bodies in enumerate(exchange.turns):
            lengths[turn] += [len(body) for body in bodies[-1:]]
    usual = {turn: sum(found) / len(found) for turn, found in lengths.items() if found}
    return [each for talk, exchange in enumerate(exchanges) for each in _of_talk(talk, exchange, label, usual)]


def _of_talk(talk: int, exchange: Exchange, label: str, usual: Mapping[int, float]) -> list[Observation]:
    found: dict[str, Observation] = {}
    for turn, bodies in enumerate(exchange.turns):
        prompt = prompt_of(bodies[-1]) if bodies else None
        if prompt is None:
            continue
        rows = [row for row in prompt.evidence if _is_value(row, label)]
        for at, row in enumerate(rows):
            mids = exchange.truth.get(row.end)
            if row.end not in found and mids is not None and len(mids) == 1:
                found[row.end] = Observation(
                    talk=talk,
                    word=row.end,
                    place=at / max(1, len(rows) - 1),
                    appeared=float(len(found)),
                    row=len(row.model_dump_json()),
                    body=len(bodies[-1]) - usual[turn],
                    won=_won(prompt, row.start),
                    tokens=frozenset(_TOKEN.findall(f"{prompt.question} {prompt.evidence} {prompt.things}")),
                    truth=int(mids[0]),
                )
    return [replace(each, appeared=each.appeared / max(1, len(found) - 1)) for each in found.values()]


def _is_value(row: Evidence, label: str) -> bool:
    """Where prompts tell of kinds alone, the one value of a thing is a set like any other."""
    return row.end[0] in "VS" and row.path == [label]


def _won(prompt: Prompt, holder: str) -> int:
    """By the first question of the dialogue and its answer."""
    said = [ALMOST_PSEUDONYM.findall(turn.text) for turn in prompt.dialogue[:2]]
    if len(said) < 2:
        return 0
    return 1 if holder in said[1] else -1 if holder in said[0] else 0


def ranks(seen: Sequence[Observation]) -> dict[tuple[int, str], float]:
    """Where each word stands among those of its conversation, from 0 to 1, by (talk, word)."""
    return {(talk, word): at / max(1, len(words) - 1) for talk, words in _words(seen) for at, word in enumerate(words)}


def _words(seen: Sequence[Observation]) -> Iterator[tuple[int, list[str]]]:
    by_talk: dict[int, set[str]] = defaultdict(set)
    for each in seen:
        by_talk[each.talk].add(each.word)
    for talk, words in by_talk.items():
        yield talk, sorted(words)
