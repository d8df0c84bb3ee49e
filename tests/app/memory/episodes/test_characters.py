"""A character answers in its story's sentences, and refuses what its episodes do not tell."""

from __future__ import annotations

import pytest

from app.llm.embeddings.embedder import Embedder
from app.memory.episodes.characters import REFUSAL, Character, own_episodes
from app.memory.episodes.narrative import episodes_of
from app.memory.episodes.ranking import EpisodeRanker
from tests.app.memory.episodes.stories import STORY


@pytest.fixture(scope="module")
def teller(embedder: Embedder) -> Character:
    return Character("", episodes_of(STORY, embedder), embedder)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Who burned the letter?", "Tobias"),
        ("What did Tobias say about the ferry?", "The ferry left at five."),
        ("When did Captain Orr come to the harbour?", "next morning"),
        ("Where did the captain sell the boat?", "in the post office"),
        ("Who sold the boat?", "Captain Orr sold the boat to a baker from Tarnmouth."),
        ("What happened two weeks later?", "sold the boat"),
        ("Who asked where the letter is?", "I burned it."),
        ("What happened after Tobias pointed at the stove?", "I burned it."),
    ],
)
def test_a_question_is_answered_in_the_storys_words(teller: Character, question: str, told: str) -> None:
    reply = teller.reply(question)
    assert told in reply.text
    assert reply.text.startswith("I remember: ")
    assert teller.reply(question) == reply


@pytest.mark.parametrize(
    "question", ["Who is Henry?", "What colour was the ferry?", "What did Tobias say about his wedding?"]
)
def test_what_the_story_does_not_tell_is_refused(teller: Character, question: str) -> None:
    reply = teller.reply(question)
    assert reply.is_refused
    assert reply.text == REFUSAL


def test_a_day_of_the_week_is_reckoned(embedder: Embedder) -> None:
    story = "On Monday Ada planted a tree.\n\nThe next day Bo watered the roses.\n\nThree days later Cy left."
    teller = Character("", episodes_of(story, embedder), embedder)
    assert (
        "Bo watered the roses. That was the next day, on a Tuesday." in teller.reply("What happened on Tuesday?").text
    )
    assert "on a Friday" in teller.reply("When did Cy leave?").text
    assert "Ada planted" in teller.reply("What happened before Bo watered the roses?").text
    assert teller.reply("What happened on Sunday?").is_refused


def test_a_reply_is_made_of_the_storys_sentences(teller: Character) -> None:
    """Replaces the preliminary statement, which is never shown."""
    reply = teller.reply("Did Captain Orr carry a green lantern of gold?")
    assert "green" in reply.preliminary
    assert "green" not in reply.text


def test_a_character_knows_the_episodes_that_name_it_alone(embedder: Embedder) -> None:
    episodes = episodes_of(STORY, embedder)
    own = own_episodes("Tobias", episodes)
    assert [each.number for each in own] == [0, 1]
    tobias = Character("Tobias", own, embedder)
    assert "I said: “The ferry left at five.”" in tobias.reply("What did you say about the ferry?").text
    assert tobias.reply("Who sold the boat?").is_refused
    assert own_episodes("Somebody", episodes) == episodes


def test_an_utterance_finds_its_episode_and_one_that_is_left_out_counts_nothing(embedder: Embedder) -> None:
    ranker = EpisodeRanker(embedder, [["We bake bread.", "The oven is hot."], ["My boat leaks.", "Row to the pier."]])
    assert ranker.scores("The ship takes in water at the pier.").argmax() == 1
    best, mean = ranker.of_sentences("My boat leaks.", without=2)
    assert best[1] < 0.9 < ranker.of_sentences("My boat leaks.")[0][1]
    assert mean[1] == pytest.approx(best[1])
