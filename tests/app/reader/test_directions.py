"""Which way a relation between two persons is walked: by the verb, the possessive and an "of" at its label's end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.accounts.api_keys import Caller
from app.api.problems import error_body
from app.reader.language.relation_wording import hop_words
from app.wiring.services import Services, build
from client_sdk import KeyPair
from client_sdk.dialogue import Dialogue
from tests.support.service import settings_in

PLAYERS = """
<http://j.invalid/a> <http://j.invalid/o/{mentor}> <http://j.invalid/b> .
<http://j.invalid/c> <http://j.invalid/o/{mentor}> <http://j.invalid/a> .
<http://j.invalid/d> <http://j.invalid/o/influencedBy> <http://j.invalid/a> .
<http://j.invalid/b> <http://j.invalid/o/playedTogether> <http://j.invalid/a> .
<http://j.invalid/c> <http://j.invalid/o/playedTogether> <http://j.invalid/d> .
"""
NAMES = {"a": "Ada Quill", "b": "Bo Frost", "c": "Cy Moss", "d": "Dee Hart"}
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://j.invalid/o/Person>"


@pytest.mark.parametrize(
    ("label", "is_inverse"),
    [("mentor of", True), ("^mentor of", False), ("mentor", False), ("^mentor", True), ("made of", False)],
)
def test_an_of_at_the_end_of_a_role_turns_it(label: str, is_inverse: bool) -> None:
    assert hop_words(label, "person").inverse == is_inverse


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    """Graphs `of` and `bare`, with the relations `mentorOf` and `mentor`, and `plain`, like `of` without classes."""
    folder: Path = tmp_path_factory.mktemp("directions")
    services = build(settings_in(folder, suggestions=0), error_body)
    names = "".join(
        f'<http://j.invalid/{at}> <http://xmlns.com/foaf/0.1/name> "{name}" .\n' for at, name in NAMES.items()
    )
    types = "".join(f"<http://j.invalid/{at}> {TYPE} .\n" for at in NAMES)
    for graph, mentor, classes in (("of", "mentorOf", types), ("bare", "mentor", types), ("plain", "mentorOf", "")):
        file = folder / f"{graph}.nt"
        file.write_text(PLAYERS.replace("{mentor}", mentor) + names + classes, "utf-8")
        services.graphs.load("default", graph, [file], None).run(lambda _step, _done: None)
    yield services
    asyncio.run(services.close())


async def told(service: Services, graph: str, text: str) -> list[str] | str | None:
    """Returns the names that a question is answered with, or its yes or no; None if it is not answered."""
    dialogue = Dialogue(graph, KeyPair.generate(), "auto", {})
    owner = Caller("default", "k1", "user", frozenset({"*"}))
    answer = dialogue.accept(text, await service.chat.answer(owner, dialogue.request(text, None, {})))
    return (answer.names or answer.text) if answer.answered else None


@pytest.mark.model
@pytest.mark.parametrize("graph", ["of", "bare", "plain"])
@pytest.mark.parametrize(
    ("question", "of_label"),
    [
        ("Who is Ada Quill's mentor?", "Cy Moss"),
        ("Who mentored Ada Quill?", "Cy Moss"),
        ("Who did Ada Quill mentor?", "Bo Frost"),
    ],
)
async def test_a_mentor_is_told_from_whom_he_mentored(
    service: Services, graph: str, question: str, of_label: str
) -> None:
    turned = {"Cy Moss": "Bo Frost", "Bo Frost": "Cy Moss"}
    assert await told(service, graph, question) == [turned[of_label] if graph == "bare" else of_label]


@pytest.mark.model
@pytest.mark.parametrize("graph", ["of", "plain"])
async def test_where_the_right_way_leads_nowhere_the_wrong_one_is_no_answer(service: Services, graph: str) -> None:
    assert await told(service, graph, "Who was influenced by Ada Quill?") == ["Dee Hart"]
    assert await told(service, graph, "Who influenced Ada Quill?") is None


@pytest.mark.model
async def test_two_who_do_something_together_may_be_told_either_way_round(service: Services) -> None:
    for first, second, is_so in (
        ("Ada Quill", "Bo Frost", "yes"),
        ("Bo Frost", "Ada Quill", "yes"),
        ("Ada Quill", "Cy Moss", "no"),
    ):
        assert is_so in str(await told(service, "plain", f"Did {first} and {second} play together?"))
