"""Replies of the reasoner inside: it is shown pseudonyms alone, and names come back into what it writes."""

from __future__ import annotations

from app.llm.tasks import ReplyInput
from evaluation.dialogue.grounded_turns import GroundedTurn
from evaluation.dialogue.runs.embedded_writer import EmbeddedWriter
from evaluation.dialogue.writers.reply_writer import ReplyRequest

TURN = GroundedTurn(
    "1",
    "d",
    (("user", "Do you know Wexdol of Gorfen?"), ("assistant", "Yes."), ("user", "Who is in Wexdol, and what else?")),
    (("Wexdol", "written by", "Gorfen"),),
    (("Narvost", "sequel", "Wexdol"), ("Wexdol", "starred actors", "Pellquin")),
)


def test_nothing_but_pseudonyms_is_shown_and_names_come_back() -> None:
    shown: list[ReplyInput] = []

    def write(given: ReplyInput) -> list[str]:
        shown.append(given)
        return [f"{fact.start} {fact.path[0]} {fact.end}." for fact in (given.evidence[at] for at in given.ranked)]

    (reply,) = EmbeddedWriter(write).replies_to([ReplyRequest(TURN)])
    # What the history has told already comes last; a fact leads from what was spoken of.
    assert reply == "Wexdol ^sequel Narvost. Wexdol starred actors Pellquin. Wexdol written by Gorfen."
    (given,) = shown
    told = given.model_dump_json()
    assert not [name for name in ("Wexdol", "Gorfen", "Narvost", "Pellquin") if name in told]
    assert {thing.concept for thing in given.things} == {"film", "person"}
    assert [turn.role for turn in given.dialogue] == ["user", "assistant"]
    assert given.question.startswith("Who is in E")


def test_a_turn_without_history_is_shown_as_such() -> None:
    turn = GroundedTurn("1", "d", (), (), (("Wexdol", "written by", "Gorfen"),))
    assert EmbeddedWriter(lambda given: [given.question + str(len(given.things))]).replies_to(
        [ReplyRequest(turn)]
    ) == ["0"]
