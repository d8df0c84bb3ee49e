"""The paths that a step shows, and where a question starts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.llm.embeddings.embedder import Embedder
from app.reader.scoring.candidate_paths import MAX_STEPS, known_paths, roots_of, score_paths
from app.reader.scoring.path_scoring import PathScorer
from tests.support.tasks import fact, step, thing, way

TOPIC = thing("Eq7f2k", "patient")


def names(things: list) -> list[str]:  # type: ignore[type-arg]
    return [each.name for each in things]


def test_facts_and_candidates_make_paths_from_the_root() -> None:
    shown = step(
        "q", [TOPIC],
        [way(1, "Eq7f2k", "lives in", to="city"), way(2, "Sa1b2c", "works at", "located in", to="city"),
         way(3, "Ez9y8x", "spouse", to="person")],
        [fact("Eq7f2k", "treated by", end="Sa1b2c", to="doctor")],
    )  # fmt: skip
    paths = known_paths(shown, TOPIC)
    walked = {path.steps: path for path in paths if path.end is not None}
    offered = {path.steps: path for path in paths if path.candidate is not None}
    assert set(walked) == {("treated by",)}
    assert (walked[("treated by",)].end, walked[("treated by",)].before) == ("Sa1b2c", "Eq7f2k")
    assert set(offered) == {("lives in",), ("treated by", "works at", "located in")}
    far = offered[("treated by", "works at", "located in")]
    assert (far.candidate, far.concepts, far.concept) == (2, ("doctor", "", "city"), "city")


PLACES = st.sampled_from(["Eq7f2k", "Sa1b2c", "Sd3e4f"])


@given(st.lists(st.tuples(PLACES, PLACES), max_size=5, unique=True), st.lists(PLACES, max_size=4))
def test_no_path_is_longer_than_it_may_be_and_each_starts_at_the_root(
    joined: list[tuple[str, str]], offered: list[str]
) -> None:
    facts = [fact(start, "knows", end=end, to="person") for start, end in joined]
    ways = [way(number, start, "knows", "likes", to="person") for number, start in enumerate(offered, start=1)]
    for path in known_paths(step("q", [TOPIC], ways, facts), TOPIC):
        assert path.root == "Eq7f2k"
        assert 1 <= len(path.steps) <= MAX_STEPS
        assert len(path.steps) == len(path.concepts)
        assert (path.end is None) != (path.candidate is None)


def test_what_the_question_names_comes_before_what_the_dialogue_names() -> None:
    things = [thing("Ea1b2c", "person"), thing("Eq7f2k", "person"), thing("Sk3mmd", "doctor", "more")]
    entities, kinds, values = roots_of(step("who treats Eq7f2k", things, told=["about Ea1b2c", "It is so."]))
    assert (names(entities), names(kinds), values) == (["Eq7f2k"], ["Sk3mmd"], [])


def test_a_follow_up_starts_from_the_latest_thing_of_the_dialogue() -> None:
    things = [thing("Ea1b2c", "person"), thing("Eb2c3d", "person")]
    entities, _, _ = roots_of(step("and where does she live", things, told=["who is Ea1b2c", "It is Eb2c3d."]))
    assert names(entities)[0] == "Eb2c3d"


def test_a_value_is_a_start_only_where_the_graph_leads_on_from_it() -> None:
    things = [thing("Vx81zp", "date"), thing("Vk2j3h", "date")]
    shown = step("born Vx81zp or Vk2j3h", things, [way(1, "Vx81zp", "^born on", to="person")])
    entities, _, values = roots_of(shown)
    assert (names(entities), names(values)) == (["Vx81zp"], ["Vk2j3h"])


def test_sets_that_were_reached_are_no_kinds() -> None:
    things = [TOPIC, thing("Sk3mmd", "doctor", "more"), thing("Sa1b2c", "doctor")]
    _, kinds, _ = roots_of(step("Eq7f2k", things, (), [fact("Eq7f2k", "treated by", end="Sa1b2c", to="doctor")]))
    assert names(kinds) == ["Sk3mmd"]


@pytest.mark.parametrize("question", ["Which doctors live in the same city?", "doctors?"])
def test_a_kind_stands_where_its_word_stands(embedder: Embedder, question: str) -> None:
    kind = thing("Sk3mmd", "doctor", "more")
    shown = step(question, [kind], [way(1, "Sk3mmd", "lives in", to="city"), way(2, "Sk3mmd", "salary", to="number")])
    scored = score_paths(PathScorer(embedder), question, shown, [kind], [kind])
    assert {each.path.candidate for each in scored} == {1, 2}
    assert scored[0].score >= scored[1].score
