"""Knowledge of a turn: the triples of the replies before it in its dialogue, and its own."""

from __future__ import annotations

from evaluation.dialogue.dialogue_sets import DialogueTurn, Triple, grounded_turns, is_said

FIRST, SECOND, THIRD = "Who wrote the book Wexdol?", "It is a book by Gorfen Bradol.", "And what else did he write?"
LAST = "He wrote the novel Narvost as well."


def turn(name: str, history: tuple[str, ...], reply: str, *gold: Triple) -> DialogueTurn:
    return DialogueTurn(name, "d", tuple(("user", text) for text in history), tuple(sorted(gold)), reply)


WROTE, ALSO, LATER = ("Wexdol", "written by", "Gorfen"), ("Narvost", "written by", "Gorfen"), ("Narvost", "is a", "A")
DIALOGUE = [
    turn("3", (SECOND, THIRD, LAST), "That one is a novel, I believe.", LATER),
    turn("1", (FIRST,), SECOND, WROTE),
    turn("2", (SECOND, THIRD), LAST, ALSO),
]


def test_the_knowledge_is_that_of_the_replies_before_and_of_the_coming_one() -> None:
    found = {each.id: each for each in grounded_turns(DIALOGUE, DIALOGUE)}
    assert found["1"].knowledge == (WROTE,)
    assert (found["2"].so_far, found["2"].gold) == ((WROTE,), (ALSO,))
    assert found["3"].so_far == (ALSO, WROTE)


def test_a_short_utterance_joins_no_turns() -> None:
    other = turn("4", ("Yes",), "A reply that nobody else gives", LATER)
    asked = turn("5", ("A reply that nobody else gave", "Yes"), "Another long enough reply here", ALSO)
    assert [each.so_far for each in grounded_turns([other, asked], [other, asked])] == [(), ()]


def test_turns_without_a_gold_fact_are_left_out_but_for_what_they_tell_of_others() -> None:
    assert grounded_turns([turn("6", (FIRST,), SECOND)], DIALOGUE) == []
    assert [each.so_far for each in grounded_turns([DIALOGUE[2]], among=DIALOGUE)] == [(WROTE,)]


def test_a_name_is_said_where_its_words_stand_alone() -> None:
    assert is_said("William   Nicholson", "by william nicholson.")
    assert not is_said("Rose", "We walked in Rosewood.")
    assert not is_said("", "Anything")
