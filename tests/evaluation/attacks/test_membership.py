"""Membership and extraction: a service that tells is found out, and one that does not is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from evaluation.attacks import extraction, membership
from evaluation.attacks.membership import (
    TimedResponse,
    closed_graph,
    observe,
    sample_people,
)
from evaluation.attacks.targets import AttackTargets, area, either_way, learnt
from evaluation.bench.question_sets import DEMO

pytestmark = pytest.mark.slow

PEOPLE = sample_people(400)
Tell = Callable[[str], tuple[str, int, float]]


class Told:
    """Stands in for ApiCaller: a reply's content, length and seconds as a test says, of the name in the question."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell

    async def post(self, body: Mapping[str, object]) -> TimedResponse:
        content, length, seconds = self._tell(str(body["name"]))
        return TimedResponse(content, length, seconds, told_ms=seconds)


async def rates(tell: Tell) -> list[float]:
    everybody = [*PEOPLE.inside, *PEOPLE.outside]
    seen = await observe(Told(tell), everybody, lambda name: {"name": name}, 3)  # type: ignore[arg-type]
    lines = [*membership.by_content("x", seen, PEOPLE), *membership.by_time("x", seen, PEOPLE)]
    return [round(line.rate, 3) for line in lines]


def test_what_tells_nothing_is_chance_and_what_tells_all_is_one() -> None:
    assert area([1.0, 2.0], [1.0, 2.0]) == 0.5
    assert area([2.0, 3.0], [0.0, 1.0]) == 1.0
    assert area([0.0, 1.0], [1.0]) == 0.25
    assert area([3.0, 0.0], [1.0, 2.0]) == 0.5
    assert area([], [1.0]) == 0.5
    assert either_way([0.0, 1.0], [1.0]) == 0.75
    assert learnt(["yes"] * 4, ["no"] * 4) == 1.0
    assert learnt(["a", "b", "c", "d"], ["e", "f", "g", "h"]) == 0.5
    assert learnt(["same"] * 4, ["same"] * 4) == 0.5


async def test_a_service_that_tells_is_found_out() -> None:
    inside = frozenset(PEOPLE.inside)
    assert await rates(lambda _name: ("no", 100, 0.01)) == [0.5] * 5
    assert await rates(lambda name: ("not yours" if name in inside else "no", 100, 0.01)) == [1.0, 0.5, 0.5, 0.5, 0.5]
    assert await rates(lambda name: ("no", 101 if name in inside else 100, 0.01)) == [0.5, 1.0, 0.5, 0.5, 0.5]
    assert await rates(lambda name: ("no", 100, 0.01 if name in inside else 0.02)) == [0.5, 0.5, 1.0, 1.0, 1.0]


def test_the_halves_share_nobody_and_the_closed_graph_has_one_of_them() -> None:
    assert len({*PEOPLE.inside, *PEOPLE.outside}) == 400
    turtle = "\n".join(closed_graph(PEOPLE.inside))
    assert all(f'"{name}"' in turtle for name in PEOPLE.inside)
    assert not [name for name in PEOPLE.outside if f'"{name}"' in turtle]


@pytest.mark.model
async def test_with_a_grant_members_are_told_and_without_one_nothing_differs() -> None:
    async with AttackTargets(limit=12) as targets:
        *without, known, content, _, ledger = await membership.membership(targets)
        assert known.rate > 0.9
        # What is replaced there is any word that is not common, whether or not the graph holds it.
        assert ledger.rate == 0.5
        assert content.rate == 0.5
        contents = [line.rate for line in without if line.name.endswith("content")]
        # Asked of the closed graph, and of its being there, every reply is the same byte for byte.
        assert contents[0] == contents[2] == 0.5
        assert not any(line.passed for line in without), "12 are fewer than prove anything"


@pytest.mark.model
async def test_a_crawler_reads_names_and_facts_that_are_true() -> None:
    async with AttackTargets(limit=25) as targets:
        target = await targets.open(DEMO)
        names, facts, early, _, refused = await extraction.crawled(target, "demo", targets.at_most(500))
        assert names.rate > 0.4
        assert early.successes == names.successes  # Without a budget there is no alarm.
        assert facts.successes > 5
        assert refused.successes == 0
        true = extraction.true_facts(target.bench.graph(target.loaded))
        assert [tail for head, way, tail in true if (head, way) == ("Rosalind Rose", "date of birth")] == [
            "1965-12-06"
        ]
        bounded = await targets.open(DEMO, changes={"names_per_day": 20})
        names, _, early, _, refused = await extraction.crawled(bounded, "demo", 25)
        assert early.successes < 10  # Half of the day's.
        assert names.successes <= 2 * 20
        assert refused.successes > 0


@pytest.mark.model
async def test_a_crawler_reads_rows_without_a_name_within_the_bounds() -> None:
    async with AttackTargets() as targets:
        target = await targets.open(DEMO)
        rows = replace(target, loaded=extraction.load_rows(target.bench, 40, 20, 120), questions=())
        _, facts, *_ = await extraction.crawled(rows, "loans", 40, extraction.OF_LOANS)
        assert facts.rate > 0.2  # Without a budget, most rows are told cell by cell.
        bounded = await targets.open(DEMO, changes=extraction.BY_DEFAULT)
        rows = replace(bounded, loaded=extraction.load_rows(bounded.bench, 200, 100, 1_000), questions=())
        names, facts, *_, refused = await extraction.crawled(rows, "loans", 60, extraction.OF_LOANS)
        assert 0 < facts.rate <= extraction.MAX_READ
        assert 0 < names.rate <= extraction.MAX_READ
        assert refused.successes > 0
