"""The path to an answer as lines of names."""

from __future__ import annotations

from client_sdk.answers.answer import reasons
from client_sdk.protocol import Fact, Names

TABLE = {
    "Ea1b2c": Names(names=["Rose"], total=1),
    "Ed3e4f": Names(names=["Dr. X"], total=1),
    "Sg5h6i": Names(names=["A", "B"], total=7),
}


def fact(head: str, tail: str, *path: str, cited: bool = True) -> Fact:
    return Fact(head=head, head_concept="patient", path=list(path), tail=tail, tail_concept="doctor", cited=cited)


def test_steps_that_follow_on_one_another_are_one_line() -> None:
    found = [fact("Ea1b2c", "Ed3e4f", "treated by"), fact("Ed3e4f", "Sg5h6i", "^lives in")]
    assert reasons(found, TABLE) == (
        "Rose -> treated by (doctor) -> Dr. X; <- lives in (doctor) <- A, B and 5 more",
    )  # fmt: skip


def test_another_start_is_another_line_and_what_is_not_cited_is_none() -> None:
    found = [
        fact("Ea1b2c", "Ed3e4f", "has admission|by"),
        fact("Sg5h6i", "Ed3e4f", "treated by", "works at"),
        fact("Ea1b2c", "Sg5h6i", "knows", cited=False),
    ]
    assert reasons(found, TABLE) == (
        "Rose -> has admission / by (doctor) -> Dr. X",
        "A, B and 5 more -> treated by > works at (doctor) -> Dr. X",
    )


def test_a_thing_without_a_name_stays_a_pseudonym() -> None:
    assert reasons([fact("Ezzzz9", "Ed3e4f", "treated by")], TABLE) == ("Ezzzz9 -> treated by (doctor) -> Dr. X",)
