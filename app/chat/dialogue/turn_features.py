"""The features by which the kind of a turn is estimated: its words, pairs of them, and its length."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

NAME: Final = "X"
"""Stands for everything that a turn names of the graph."""
_TOKEN: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|[?!]")
LENGTHS: Final = 5


def word_groups(text: str) -> set[str]:
    """Returns single words and pairs of neighbours, with marks for both ends; names are `NAME`."""
    words = [word if word == NAME else word.lower().replace("’", "'") for word in _TOKEN.findall(text)]
    words = ["<", *words, ">"]
    return {*words, *(f"{one} {next_one}" for one, next_one in pairwise(words))}


def lengths(text: str) -> list[float]:
    """Returns a constant, the number of words divided by 20, and 0 or 1 for few (under 4), many (over 15) and at most
    one.
    """
    count = len(text.split())
    return [1.0, count / 20, float(count < 4), float(count > 15), float(count <= 1)]
