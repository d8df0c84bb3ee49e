"""Sentences of eight languages with a place for a name or a value (`sentences.toml`)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Literal

Place = Literal["open", "marked", "start", "value"]
_FILE = Path(__file__).with_name("sentences.toml")


@dataclass(frozen=True, slots=True)
class Sentence:
    """`text` holds {} once. `marked`: what stands around it speaks for a name."""

    text: str = field(repr=False)
    marked: bool
    language: str = "en"


@cache
def _sentences() -> Mapping[str, Mapping[str, Sequence[str]]]:
    return tomllib.loads(_FILE.read_text("utf-8"))


def languages() -> list[str]:
    return sorted(_sentences())


def sentence(language: str, places: Sequence[Place], dice: Random) -> Sentence:
    """One of a language, drawn from one of `places`."""
    place = dice.choice(places)
    return Sentence(dice.choice(_sentences()[language][place]), place != "open", language)
