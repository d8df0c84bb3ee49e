"""A story is split by its words of time and place, and each quote has a speaker."""

from __future__ import annotations

import pytest

from app.llm.embeddings.embedder import Embedder
from app.memory.episodes.episode import Episode, EpisodeError, Member, relevances
from app.memory.episodes.narrative import MAX_CHARS, StoryError, episodes_of
from app.memory.episodes.quotes import paragraphs_of, sentences_of, split_sentences
from app.memory.episodes.story_times import days_on, times_in
from tests.app.memory.episodes.stories import STORY


def test_words_of_time_and_place_bound_the_episodes(embedder: Embedder) -> None:
    episodes = episodes_of(STORY, embedder)
    assert [(each.when, each.where, each.day) for each in episodes] == [
        ("", "in the kitchen of the lighthouse", 0),
        ("The next morning", "at the harbour", 1),
        ("Two weeks later", "in the post office", 15),
    ]
    assert [len(each.told) for each in episodes] == [4, 5, 1]
    assert {"Captain Orr", "Tobias"} <= set(episodes[1].grounded_by)


def test_an_episode_has_exactly_one_summary_and_all_its_members_share_it(embedder: Embedder) -> None:
    first = episodes_of(STORY, embedder)[0]
    pairs = first.shared_bubble()
    assert len(pairs) == 5 * 4 / 2
    assert first.summary in {member for pair in pairs for member in pair}
    assert Episode.from_json(first.to_json()) == first
    for members in ((), (first.summary, first.summary)):
        with pytest.raises(EpisodeError):
            Episode(0, members)


def test_each_quote_has_its_speaker() -> None:
    spoken = [(quote, each.speaker) for each in sentences_of(paragraphs_of(STORY)) for quote in each.quotes]
    assert spoken == [
        ("The pears are for Mother", "Mara Venn"),
        ("You are late", "Tobias"),
        ("The ferry left at five.", "Tobias"),
        ("Where is the letter?", "Mara Venn"),
        ("I burned it.", "Tobias"),
    ]


def test_a_line_that_nobody_is_said_to_say_is_of_who_spoke_before_the_last() -> None:
    talk = "“Come in,” said Ada.\n\n“I am wet,” replied Bo.\n\n“Then dry yourself.”\n\n“With this?”"
    assert [each.speaker for each in sentences_of(paragraphs_of(talk))] == ["Ada", "Bo", "Ada", "Bo"]


@pytest.mark.parametrize(
    ("paragraph", "count"),
    [
        ("Mr. Hale came. He sat.", 2),
        ("“Stay. Please stay,” Ada said. He left.", 2),
        ("“Why?” Ada asked softly. Bo left.", 2),
        ("“Why?” He left.", 2),
    ],
)
def test_what_is_said_stays_with_who_says_it(paragraph: str, count: int) -> None:
    assert len(list(split_sentences(paragraph))) == count


@pytest.mark.parametrize(
    ("when", "before", "days"),
    [
        ("The next day", "", 1),
        ("Three weeks later", "", 21),
        ("A few days later", "", 3),
        ("The day before", "", -1),
        ("On Friday", "On Tuesday evening", 3),
        ("That evening", "On Tuesday", 0),
    ],
)
def test_words_of_time_lead_on_by_days(when: str, before: str, days: int) -> None:
    assert [match[0] for match in times_in(f"{when}, she left.")] == [when]
    assert days_on(when, before) == days


def test_what_is_no_story_is_refused_with_a_reason(embedder: Embedder) -> None:
    with pytest.raises(StoryError, match="no sentence"):
        episodes_of(" \n\n***\n", embedder)
    with pytest.raises(StoryError, match="characters"):
        episodes_of("a" * (MAX_CHARS + 1), embedder)


def test_members_are_relevant_one_way_to_episodes_whose_summaries_match(embedder: Embedder) -> None:
    texts = (["The cat sleeps.", "A cat eats fish."], ["The cat is asleep now."], ["Taxes rose by a tenth."])
    links = relevances([4, 5, 6], [embedder.sentences(each) for each in texts])
    assert {(link.source, link.target) for link in links} >= {((4, 0), (5, 0)), ((5, 0), (4, 0))}
    assert ((5, 0), (4, 1)) not in {(link.source, link.target) for link in links}
    assert not any(6 in (link.source[0], link.target[0]) for link in links)


def test_a_member_tells_nothing_when_it_is_printed() -> None:
    assert "Tarnmouth" not in repr(Episode(0, (Member("summary", "Of Tarnmouth.", "Tarnmouth"),), "Tarnmouth"))
