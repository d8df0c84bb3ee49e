"""SURGE's two invariances: facts of a prompt are the same bytes in any order, and from either end of a relation."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.privacy.pseudonyms import PseudonymTable
from app.strategies.base import FoundFact
from app.strategies.dialogue_facts import upright
from app.strategies.retrieval import show_evidence

LABELS = ("directed by", "starred actors", "written by", "married to")
THINGS = tuple(f"E{letter}1b2c" for letter in "abcdefgh")


class _Thread:
    """As much of an inquiry as showing facts needs: the order of one thread."""

    def __init__(self) -> None:
        self.pseudonyms = PseudonymTable.new()
        self.pseudonyms.assign_thread("a1", leans=False)


facts = st.lists(
    st.builds(
        lambda start, label, end: FoundFact(start, "person", (label,), end, "film", "1"),
        st.sampled_from(THINGS[:4]), st.sampled_from(LABELS), st.sampled_from(THINGS[4:]),
    ),
    unique=True,
    min_size=1,
)  # fmt: skip


def turned(fact: FoundFact) -> FoundFact:
    return FoundFact(fact.end, fact.end_concept, (f"^{fact.path[0]}",), fact.start, fact.start_concept, "1")


def shown(thread: _Thread, found: list[FoundFact]) -> str:
    evidence = show_evidence(thread, list(dict.fromkeys(upright(fact) for fact in found)))  # type: ignore[arg-type]
    return "\n".join(fact.model_dump_json() for fact in evidence)


@given(facts, st.randoms(use_true_random=False), st.data())
def test_any_order_and_either_end_give_the_same_bytes(
    found: list[FoundFact], dice: object, data: st.DataObject
) -> None:
    thread = _Thread()
    turning = data.draw(st.lists(st.booleans(), min_size=len(found), max_size=len(found)))
    other = [turned(fact) if turns else fact for fact, turns in zip(found, turning, strict=True)]
    dice.shuffle(other)  # type: ignore[attr-defined]
    assert shown(thread, other) == shown(thread, found)


@given(facts)
def test_a_fact_found_from_both_ends_is_shown_once(found: list[FoundFact]) -> None:
    thread = _Thread()
    assert shown(thread, [*found, *map(turned, found)]) == shown(thread, found)
