"""Another graph's questions: those about strangers, and those about things of this graph that it can not answer."""

from evaluation.datasets.questions import PlanSet, QueryPlan, Question
from evaluation.datasets.unanswerable import foreign, transplanted, without_relations


def asked(
    identity: str, text: str, *topics: str, path: tuple[str, ...] = ("directed by",), **more: object
) -> Question:
    plan = QueryPlan(sets={"A": PlanSet(start="topic:0", path=path)}, answer=("A",), topics=topics)
    fields = {"id": identity, "question": text, "answers": ("Bo",), "topic_entities": topics, "plan": plan, **more}
    return Question.model_validate(fields)


FILM = asked("film", "who directed Heat", "Heat")
PAIR = asked("pair", "was Ann seen with Ann Lee", "Ann", "Ann Lee")
GENERAL = asked("general", "who earns most")


def test_questions_about_things_of_this_graph_are_no_strangers() -> None:
    found = foreign([FILM, PAIR, GENERAL], lambda name: name == "Ann Lee")
    assert [each.question for each in found] == ["who directed Heat", "who earns most"]
    assert all(not each.is_answerable and each.plan is None and each.has_plan for each in found)


def test_each_topic_is_replaced_by_another_name_of_this_graph() -> None:
    names = ["Cy", "Di", "Ed"]
    film, pair = transplanted([FILM, PAIR, GENERAL], names, 0)
    assert film.question in {f"who directed {name}" for name in names}
    assert pair.question in {f"was {one} seen with {two}" for one in names for two in names if one != two}
    assert film.topic_entities == film.answers == ()
    assert [film, pair] == transplanted([FILM, PAIR, GENERAL], names, 0)


def test_what_nobody_looks_at_dialogues_and_unanswerable_ones_are_left_out() -> None:
    hidden = asked("hidden", "who directed Heat", "Heat", half="unseen")
    dialogue = Question(id="two", turns=("who directed Heat", "and Ran"), answers=("Bo",), topic_entities=("Heat",))
    unknown = asked("unknown", "who directed Heat", "Heat", answers=())
    assert foreign([hidden, dialogue, unknown], lambda _name: False) == []
    assert transplanted([hidden, dialogue, unknown], ["Cy"], 0) == []


def test_relations_that_the_other_graph_has_are_left_out() -> None:
    lives = asked("lives", "where does the director of Heat live", "Heat", path=("directed by", "^lives in"))
    joined = asked("joined", "where does Ann live", "Ann", path=("stays|lives in",))
    assert without_relations([FILM, lives, joined, Question(id="1", question="?", answers=())], {"lives in"}) == [FILM]
