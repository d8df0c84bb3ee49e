"""Checks a chain row by row, and reports the rows that differ from what was written."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from app.egress.ledger.chain import START, ChainHead, link_of
from app.egress.ledger.checkpoints import Checkpoint, RetentionCuts

CHANGED = "was changed"
UNCHECKED = "can't be checked, since what stood before it is missing"
MISPLACED = "stands in another place than it was written"
PAYLOAD_CHANGED = "has a payload that is not the one it was written with"
PAYLOAD_GONE = "has lost its payload, which neither retention nor erasure has taken"
PAYLOAD_OF_BLOCKED = "was blocked, and has a payload"
NOT_SIGNED = "is not what a checkpoint has signed"
WAS_CUT = "was cut, and stands there again"
TWICE = "stands there twice"

MAX_LINKS_BEFORE = 8
"""The greatest number of links that a row may follow after changed rows; with more, later rows are reported too. By
hand.
"""

MAX_FINDINGS = 1_000
"""The greatest number of faults that one check reports; the others are only counted. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class ChainFault:
    """One fault. `row`: the number in the tenant's chain, None if it concerns no single row."""

    what: str
    row: int | None = None

    def __str__(self) -> str:
        return self.what if self.row is None else f"row {self.row} {self.what}"


@dataclass(frozen=True, slots=True)
class ChainRow:
    """A row as it was found. `payload`: None if it is missing; `payload_fits`: False if it does not
    match its digest.
    """

    number: int
    link: str
    content: Mapping[str, Any]
    has_payload: bool = True
    payload_fits: bool = True
    position: int | None = None


@dataclass(frozen=True, slots=True)
class CheckProgress:
    """The state of a check that takes several calls.

    `after`: number of the last row read; `follows`: the number that must come next, `before`: the links that it may
    follow; `rows` and `wrong`: counts so far.
    """

    first: int
    after: int
    follows: int
    before: tuple[str, ...]
    position: int
    rows: int
    wrong: int


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of checking one chain: numbers of its first and last row, checkpoints, faults, remarks.

    `wrong` counts all faults, `findings` holds the first MAX_FINDINGS of this call. `progress` is set if rows are
    left.
    """

    tenant: str
    rows: int
    first: int
    last: int
    checkpoints: int
    wrong: int
    findings: list[ChainFault] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    progress: CheckProgress | None = None

    @property
    def is_whole(self) -> bool:
        """Promise: true only if every row was checked and nothing is wrong."""
        return not self.wrong and self.progress is None


class ChainVerifier:
    """Follows one chain: `see` takes its rows in the order of their numbers, then `end` says where it must stop.

    `progress`: where an earlier check stopped. Rows that were seen are not kept.
    """

    def __init__(
        self,
        checkpoints: Sequence[Checkpoint],
        kept: Iterable[Checkpoint] = (),
        looks_at_payloads: bool = True,
        progress: CheckProgress | None = None,
    ) -> None:
        known = [*kept, *checkpoints]
        self._cuts = checkpoints[-1].cuts if checkpoints else RetentionCuts()
        self._erased = {number for each in known for number in each.cuts.erased}
        self._signed: dict[int, set[str]] = {0: {START}}
        for each in known:
            self._signed.setdefault(each.number, set()).add(each.link)
        self._signed_to = max((each.number for each in known), default=0)
        self._looks_at_payloads = looks_at_payloads
        self.findings = list[ChainFault]()
        self._begin(progress)

    def _begin(self, progress: CheckProgress | None) -> None:
        cuts = self._cuts
        if progress is None:
            progress = CheckProgress(cuts.first, 0, cuts.first, (cuts.before,), 0, 0, 0)
        elif progress.follows < cuts.first:
            # It was cut meanwhile, beyond where the last walk stopped.
            progress = replace(progress, first=cuts.first, follows=cuts.first, before=(cuts.before,))
        self.first, self._next, self._after = progress.first, progress.follows, progress.after
        # The link before the next row, as it was found and as it should be; neither where rows are missing.
        self._before, self._position = progress.before, progress.position
        self.rows, self.wrong = progress.rows, progress.wrong

    @property
    def progress(self) -> CheckProgress:
        """The progress from which another check can continue."""
        return CheckProgress(self.first, self._after, self._next, self._before, self._position, self.rows, self.wrong)

    @property
    def last(self) -> int:
        return self._next - 1

    @property
    def after(self) -> int:
        """The number of the last row that was seen."""
        return self._after

    def see(self, row: ChainRow) -> None:
        self._after = row.number
        if row.number < self._next:
            self._tell(WAS_CUT if row.number < self.first else TWICE, row.number)
            return
        if row.number > self._next:
            self._miss(self._next, row.number - 1)
        self.rows += 1
        self._check_link(row)
        if self._looks_at_payloads:
            self._check_payload(row)
        if row.position is not None:
            if row.position < self._position:
                self._tell(MISPLACED, row.number)
            self._position = max(self._position, row.position)
        self._next = row.number + 1

    def end(self, head: ChainHead | None) -> None:
        """Checks the end of the chain; `head` is None if nothing trustworthy says where it ends, which the caller has
        reported.
        """
        least = max(self._signed_to, 0 if head is None else head.number)
        if self.last < least:
            self._miss(self._next, least)
        elif head is not None and head.number != self.last:
            self._tell(f"the chain's end is written down as row {head.number}, and there are rows up to {self.last}")
        elif head is not None and head.link not in self._before:
            self._tell("the last row is not the one that is written down as the chain's end")

    def _check_link(self, row: ChainRow) -> None:
        right = [link_of(before, row.content) for before in self._before]
        if not right:
            self._tell(UNCHECKED, row.number)
        elif row.link not in right:
            self._tell(CHANGED, row.number)
        signed = self._signed.get(row.number)
        if signed is not None and row.link not in signed:
            self._tell(NOT_SIGNED, row.number)
        if row.link in right:
            self._before = (row.link,)
        else:
            # A row whose content was changed still has the link that the next one follows; one whose link was, not.
            links = tuple(dict.fromkeys((row.link, *right)))
            self._before = (*links[: MAX_LINKS_BEFORE - 1], links[-1]) if len(links) > MAX_LINKS_BEFORE else links

    def _check_payload(self, row: ChainRow) -> None:
        blocked = row.content.get("verdict") == "blocked"
        if row.has_payload:
            if blocked:
                self._tell(PAYLOAD_OF_BLOCKED, row.number)
            elif not row.payload_fits:
                self._tell(PAYLOAD_CHANGED, row.number)
        elif not blocked and row.number not in self._erased and not self._is_old(row):
            self._tell(PAYLOAD_GONE, row.number)

    def _is_old(self, row: ChainRow) -> bool:
        border = self._cuts.payloads_from
        return border is not None and dt.datetime.fromisoformat(row.content["at"]) < border

    def _miss(self, first: int, last: int) -> None:
        self._tell(f"row {first} is missing" if first == last else f"rows {first} to {last} are missing")
        self._before = ()

    def _tell(self, what: str, row: int | None = None) -> None:
        self.wrong += 1
        if len(self.findings) < MAX_FINDINGS:
            self.findings.append(ChainFault(what, row))
