"""A turn that asks what was offered as it stands is told from every other."""

from __future__ import annotations

import pytest

from app.chat.turns import did_you_mean, was_offered
from app.privacy.safe_text import SafeDialogue, SafeText, SafeTurn

OFFERED = ("Which doctors treat Eq7f2k?", "Which patients does Eq7f2k treat?")


def dialogue(*turns: str) -> SafeDialogue:
    roles = ("user", "assistant")
    return SafeDialogue(tuple(SafeTurn(roles[at % 2], SafeText(text)) for at, text in enumerate(turns)), ())  # type: ignore[arg-type]


def test_the_reply_reads_as_a_question_back() -> None:
    assert did_you_mean(OFFERED) == f"Did you mean: {OFFERED[0]} Or: {OFFERED[1]}"
    assert did_you_mean(OFFERED[:1]) == f"Did you mean: {OFFERED[0]}"


@pytest.mark.parametrize("text", [*OFFERED, "which doctors  treat Eq7f2k?"])
def test_each_question_of_it_was_offered(text: str) -> None:
    assert was_offered(dialogue("Who treats?", did_you_mean(OFFERED), text))


@pytest.mark.parametrize(
    "turns",
    [
        (OFFERED[0],),
        ("Who treats?", did_you_mean(OFFERED), "Which doctors treat Ezzzz9?"),
        ("Who treats?", did_you_mean(OFFERED), "treat Eq7f2k?"),
        ("Who treats?", f"They are {OFFERED[0]}", OFFERED[0]),
        ("Who treats?", did_you_mean(OFFERED), "Who?", "Nobody.", OFFERED[0]),
    ],
)
def test_nothing_else_was(turns: tuple[str, ...]) -> None:
    assert not was_offered(dialogue(*turns))
