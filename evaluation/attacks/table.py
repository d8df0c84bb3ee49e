"""The list of attacks, and the run of each against the service as it is deployed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from evaluation.attacks import (
    bombs,
    extraction,
    forms,
    hidden_values,
    injection,
    links,
    membership,
    names,
    pseudonyms,
    ratings,
    structure,
    traces,
    users,
    values,
)
from evaluation.attacks.targets import AttackTargets, Attempted
from evaluation.bench.question_sets import Show
from evaluation.datasets.questions import QuestionsError

Attack = Callable[[AttackTargets], Awaitable[list[Attempted]]]

ATTACKS: dict[str, Attack] = {
    "restorations": pseudonyms.restorations_on_demo,
    "links": links.links_on_demo,
    "links in dialogue": links.replies_on_demo,
    "echoes": pseudonyms.echoes_on_demo,
    "conversations": pseudonyms.conversations_on_demo,
    "capsules": pseudonyms.capsules_on_demo,
    "injection": injection.injection,
    "extraction": extraction.extraction,
    "membership": membership.membership,
    "membership times": membership.membership_times,
    "hidden values": hidden_values.hidden_values,
    "structure": structure.structure,
    "replay": structure.replay,
    "frequency": users.frequency,
    "linkage": users.linkage,
    "values": values.values,
    "names": names.names_in_egress,
    "forms": forms.forms_in_egress,
    "traces": traces.traces,
    "ratings": ratings.ratings,
    "bombs": bombs.bombs,
}


async def run_attacks(
    only: str = "", data: Path | None = None, limit: int | None = None, show: Show = lambda _title, _done, _total: None
) -> list[Attempted]:
    """Runs the attacks whose name holds `only` and returns their lines. Raises QuestionsError, StoreError.

    `data` and `limit` are those of `AttackTargets`; `show` is called with what runs and how far it is.
    """
    chosen = {name: attack for name, attack in ATTACKS.items() if only.casefold() in name}
    if not chosen:
        raise QuestionsError(f"no attack's name holds what --only asks for; there are {', '.join(ATTACKS)}")
    if data is not None and not data.is_dir():
        raise QuestionsError("the folder of --data is not there")
    lines = []
    async with AttackTargets(data, limit, show) as targets:
        for done, (name, attack) in enumerate(chosen.items()):
            show(name, done, len(chosen))
            lines += await attack(targets)
    return lines
