"""Pairs that are made from graphs: answers stand in their texts, what is impossible is not said, parts stay apart."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from app.llm.embeddings.embedder import Embedder
from evaluation.datasets.questions import QuestionsError
from evaluation.dialogue.dialogue_sets import DialogueTurn
from evaluation.dialogue.extractor_pairs import (
    FactGraph,
    Likeness,
    PairMaker,
    ReplyPairs,
    StatementDraw,
    is_unseen_relation,
    read_fact_graph,
)
from evaluation.dialogue.extractor_run import (
    CONTROL,
    REPLIES,
    SYNTHETIC,
    PairSource,
    extractor_markdown,
    extractor_measures,
    read_pair_source,
    run_extractor,
    to_learn_from,
    to_measure,
)
from evaluation.dialogue.extractor_texts import (
    Names,
    Speaker,
    Statement,
    carriers,
    is_aside,
    mark,
    may_mean,
    negated,
    placed,
    wordings_of,
)
from evaluation.training.extractor import LabelledQuestion
from tests.support.small_graphs import write_graphs

FACTS = [
    ("Titanic", "directed by", "James Cameron"),
    ("Titanic", "starred actors", "Kate Winslet"),
    ("Titanic", "release year", "1997"),
    ("Avatar", "directed by", "James Cameron"),
    ("Avatar", "starred actors", "Zoe Saldana"),
    ("Ammonite", "starred actors", "Kate Winslet"),
    ("Ammonite", "directed by", "Francis Lee"),
    ("Aliens", "directed by", "James Cameron"),
    ("Avatar", "release year", "2009"),
]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> PairSource:
    return read_pair_source(write_graphs(tmp_path_factory.mktemp("data")), embedder)


@pytest.fixture(scope="module")
def likeness(embedder: Embedder) -> Likeness:
    return Likeness(embedder, ["directed by", "starred actors", "release year", "written by", "author"])


def made(likeness: Likeness, count: int) -> list[list[LabelledQuestion]]:
    many = FactGraph([(f"{h}{end}", r, t) for h, r, t in FACTS for end in ("", " II")])
    assert len(FactGraph(FACTS * 2).by_relation["directed by"]) == 4
    statements = StatementDraw(many, "all", with_unseen=True)
    maker = PairMaker(statements, likeness, random.Random(0), is_unseen=False)
    texts = maker.pairs()
    return [next(texts) for _ in range(count)]


def test_answers_stand_in_the_text_and_both_ends_are_asked_for(likeness: Likeness) -> None:
    asked = [question for text in made(likeness, 300) for question in text]
    for question in asked:
        for start, end in question.spans:
            assert question.context[start:end].strip() == question.context[start:end] != ""
            assert not question.context[start - 1 : start].isalnum()
            assert not question.context[end : end + 1].isalnum()
    kinds = Counter((question.unknown_is_head, bool(question.spans)) for question in asked)
    assert min(kinds[kind] for kind in [(True, True), (False, True), (True, False), (False, False)]) > 30
    assert any(len(question.spans) > 2 for question in asked)


def test_names_are_pseudonyms_in_texts_and_questions_alike() -> None:
    names = Names("pseudonyms", random.Random(1))
    text, places = placed(f"{mark('Titanic', 0)} sank. {mark('Titanic', -1)} did.", names, random.Random(0))
    assert "Titanic" not in text
    assert [text[place.start : place.end] for place in places] == [names.of("Titanic")] * 2
    assert [place.statement for place in places] == [0, -1]


def test_wordings_of_a_relation_are_by_hand_or_by_grammar() -> None:
    assert "{t} directed {h}" in (wordings_of("directed by").own or wordings_of("directed by").forms).said
    assert "the alarm code of {h} is {t}" in wordings_of("alarm code").forms.said
    assert wordings_of("alarm code").own is None
    for choice in ("not_found", "denials", "hedges", "fillers", "mentions", "fragments"):
        assert not set(carriers(choice).said) & set(carriers(choice).held)
    assert (len(carriers("not_found").said), len(carriers("not_found").held)) == (10, 5)


def test_relations_that_may_be_said_alike_are_never_told_apart() -> None:
    assert may_mean("written by", "author", 0.0)
    assert not may_mean("directed by", "written by", 0.9)
    assert may_mean("children", "parents", 0.0)
    assert may_mean("alarm code", "code of alarm", 0.1)
    assert not may_mean("alarm code", "shoe size", 0.1)


def test_who_was_just_spoken_of_may_be_a_pronoun() -> None:
    said = set()
    for seed in range(40):
        speaker = Speaker(random.Random(seed), is_unseen=False)
        speaker.clause(Statement(("Ann",), "spouse", ("Bo",)), 0)
        said.add("Ann" in speaker.clause(Statement(("Ann",), "place of birth", ("Ulm",)), 1))
    assert said == {True, False}


def test_replies_ask_for_what_stands_there_and_never_inside_a_word(likeness: Likeness) -> None:
    graph = FactGraph(FACTS)
    turn = DialogueTurn(
        "val-0",
        "val-0",
        (("user", "Do you know Avatar?"),),
        (("Titanic", "directed by", "James Cameron"), ("Titanic", "starred actors", "Kate")),
        "Titanic is by James Cameron, who skates.",
    )
    pairs = ReplyPairs(graph, likeness, random.Random(0), with_unseen=True).pairs(turn, (1, 0, 0), with_last=True)
    asked = {(pair.known, pair.relation, pair.unknown_is_head): pair.answers for pair in pairs}
    assert pairs[0].context.startswith("Do you know Avatar? Titanic is by")
    assert asked["Titanic", "directed by", False] == ("James Cameron",)
    assert asked["James Cameron", "directed by", True] == ("Titanic",)
    assert asked["Titanic", "starred actors", False] == ()
    assert asked["Titanic", "release year", False] == ()


def test_nothing_of_the_test_is_learnt_from(source: PairSource) -> None:
    learnt, parts = to_learn_from(source, 400, seed=0), to_measure(source, seed=0)
    assert len(learnt) == 400
    assert learnt == to_learn_from(source, 400, seed=0) != to_learn_from(source, 400, seed=1)
    assert not any(is_unseen_relation(question.relation) for question in learnt)
    texts = {question.context for question in learnt}
    assert not texts & {question.context for question in parts[REPLIES]}
    carried = {sentence.replace("{}", "") for sentence in carriers("not_found").held}
    for question in parts[CONTROL]:
        assert not question.spans
        assert not question.unknown_is_head
        assert any(question.context.startswith(words[:8]) for words in carriers("not_found").held)
    assert not any(text.endswith(tuple(words[-12:] for words in carried)) for text in texts)


def test_the_table_holds_each_part_beside_the_matching_of_strings(source: PairSource) -> None:
    class Gold:
        def answers_to(self, batch: list[LabelledQuestion]) -> list[tuple[str, ...]]:
            return [question.answers for question in batch]

    class Silent:
        def answers_to(self, batch: list[LabelledQuestion]) -> list[tuple[str, ...]]:
            return [() for _ in batch]

    parts = {name: questions[:40] for name, questions in to_measure(source, seed=0).items()}
    rows = run_extractor(Gold(), parts, lambda *_: None)  # type: ignore[arg-type]
    assert all(line.passed for line in extractor_measures(rows))
    assert all(row.learned.f1 == 1 for row in rows)
    assert all(name in extractor_markdown(rows) for name in (*SYNTHETIC, CONTROL))
    silent = extractor_measures(run_extractor(Silent(), parts, lambda *_: None))  # type: ignore[arg-type]
    assert [line.passed for line in silent] == [False, True]
    assert not extractor_measures([])[1].passed


def test_a_graph_of_ids_and_a_broken_one(tmp_path: Path) -> None:
    graph = read_fact_graph(write_graphs(tmp_path), "webqsp")
    assert "place of birth" in graph.by_relation
    assert not any(fact[0].startswith("m.") for fact in graph.by_relation["spouse"])
    assert read_fact_graph(tmp_path, "pathquestion").by_relation["spouse"][0][0][0].isupper()
    (tmp_path / "webqsp" / "triples.tsv").write_text("nothing\n", "utf-8")
    with pytest.raises(QuestionsError, match="webqsp"):
        read_fact_graph(tmp_path, "webqsp")


@pytest.mark.parametrize(
    ("said", "denied"),
    [
        ("{} is a film by {}", {"{} is not a film by {}", "{} never is a film by {}"}),
        ("{} wrote {}", {"{} never wrote {}"}),
        ("the cast of {} includes {}", {None}),
    ],
)
def test_a_clause_is_negated_at_its_verb(said: str, denied: set[str | None]) -> None:
    marks = mark("Ann", 0), mark("Bo", 0)
    wanted = {text and text.format(*marks) for text in denied}
    assert {negated(said.format(*marks), random.Random(seed)) for seed in range(20)} == wanted


def test_what_is_told_aside_is_not_denied_with_the_rest() -> None:
    assert is_aside(f"{mark('Ann', 0)}, born in {mark('Ulm', 0)}, is famous")
    assert not is_aside(f"{mark('Ann', 0)} is from {mark('Ulm', 0)}")
