"""The line of one attack, with the bound that it has to keep; and how well observations tell two groups apart."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from app.graphs.markdown_table import markdown_table

Figures = Sequence[float] | npt.NDArray[np.float64]


class Attempted(BaseModel):
    """One line of the table. `blind` is the share that somebody reaches who has nothing to go by.

    `control` is the share that the same attack has to reach where nothing stands against it, for one that fails
    everywhere proves nothing. A line with fewer than `least` tries proves nothing either. `successes` is no whole
    number where an attacker who can't decide between n things is counted as right once in n times. A line whose `most`
    is 1 is told without a bound. `note` stands behind the name in the table.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    tries: int
    successes: float
    blind: float = 0.0
    most: float = 0.0
    control: float | None = None
    least: int = 1
    note: str = ""

    @classmethod
    def of(cls, name: str, found: Iterable[float], **bounds: Any) -> Attempted:
        """The line of tries of which each says whether, or to which share, it succeeded; `bounds` are other fields."""
        told = list(found)
        return cls(name=name, tries=len(told), successes=sum(told), **bounds)

    def unbound(self) -> Attempted:
        """The same, told without a bound."""
        return self.model_copy(update={"most": 1.0})

    @property
    def rate(self) -> float:
        return self.successes / self.tries if self.tries else 0.0

    @property
    def passed(self) -> bool:
        kept = self.rate <= self.most if self.control is None else self.rate >= self.control
        return kept and self.tries >= self.least


def markdown(lines: Sequence[Attempted]) -> str:
    """The table, then one line that says what was missed."""
    head = ("attack", "tries", "successes", "blind guess", "bound", "")
    missed = [line.name for line in lines if not line.passed]
    told = f"Missed: {'; '.join(missed)}." if missed else "Every bound is kept."
    return f"{markdown_table(head, map(_row, lines))}\n{told}\n"


def write(lines: Sequence[Attempted], folder: Path) -> None:
    """`privacy.md` and `privacy.json`."""
    (folder / "privacy.md").write_text(markdown(lines), encoding="utf-8")
    text = json.dumps({"attempts": [line.model_dump() for line in lines]}, indent=1, ensure_ascii=False)
    (folder / "privacy.json").write_text(text, encoding="utf-8")


def _row(line: Attempted) -> tuple[str, ...]:
    verdict = "pass" if line.passed else "FAIL"
    successes = f"{line.successes:.1f}".removesuffix(".0")
    name = f"{line.name} ({line.note})" if line.note else line.name
    bound = f"at most {line.most:.1%}" if line.most < 1 else "none"
    if line.control is not None:
        bound = f"control: {line.control:.0%} or more"
    return name, str(line.tries), f"{successes} ({line.rate:.1%})", f"{line.blind:.2%}", bound, verdict


def area(inside: Figures, outside: Figures) -> float:
    """The share of pairs in which the one from `inside` has the greater figure; a tie counts half."""
    # The library refuses a single class; nobody is told apart then.
    if len(inside) == 0 or len(outside) == 0:
        return 0.5
    # Loading the library takes seconds: only attacks that compare figures wait for it.
    from sklearn.metrics import roc_auc_score

    is_inside = np.arange(len(inside) + len(outside)) < len(inside)
    return float(roc_auc_score(is_inside, np.concatenate([inside, outside])))


def either_way(inside: Sequence[float], outside: Sequence[float]) -> float:
    """As `area`, for an attacker who need not know beforehand which group has the greater figures."""
    found = area(inside, outside)
    return max(found, 1 - found)


def learnt(inside: Sequence[str], outside: Sequence[str]) -> float:
    """As `area`, by texts: the first half of each group teaches which text speaks for which group, and the others
    are told apart by that. A text that was never seen speaks for neither."""
    middles = len(inside) // 2, len(outside) // 2
    ins, outs = Counter(inside[: middles[0]]), Counter(outside[: middles[1]])

    def score(text: str) -> float:
        return (ins[text] + 1) / (ins[text] + outs[text] + 2)

    return area([score(text) for text in inside[middles[0] :]], [score(text) for text in outside[middles[1] :]])
