"""From a draft to an answer on real data: expressions executed, names of what is cited and of nothing else."""

from __future__ import annotations

import pytest

from app.chat.execution import AnswerExecutor, Conclusion
from app.chat.grounding import ground
from app.llm.embeddings.embedder import Embedder
from kg_store.errors import ExpressionError
from kg_store.graph.traversal import members_of, reached
from kg_store.terms import NO_MIDS, Mid, Mids, ValueKind
from tests.support.asking import Asked, Bench, bench_of
from tests.support.stores import PREFIXES


@pytest.fixture
def asked(bench: Bench) -> Asked:
    return bench.asked()


def thing(asked: Asked, name: str) -> str:
    return asked.table.of_entity(Mid(int(asked.mids(name)[0])))


def kind(asked: Asked, concept: str) -> str:
    return asked.table.of_kind(concept, members_of(asked.graph.blind, concept))


def hung(asked: Asked, start: str, label: str) -> str:
    """The pseudonym of what `label` reaches from `start`."""
    path = (asked.step(label),)
    members = reached(asked.graph.blind, asked.table.resolve(start, asked.graph.blind)[0], path)
    return asked.table.of_set(start, path, members)


def conclude(asked: Asked, text: str, *drafts: str, topics: Mids = NO_MIDS, most: int = 50) -> Conclusion | None:
    grounded = ground(text, drafts, asked.table.issued, asked.table)
    return AnswerExecutor(asked.graph, asked.table, most).conclude(grounded, topics)


def concluded(asked: Asked, text: str, *drafts: str, topics: Mids = NO_MIDS, most: int = 50) -> Conclusion:
    found = conclude(asked, text, *drafts, topics=topics, most=most)
    assert found is not None
    assert [item.pseudonym in found.text for item in found.items] == [True] * len(drafts)
    assert set(found.names) == {item.pseudonym for item in found.items}
    return found


def only(asked: Asked, draft: str, **more: Mids) -> tuple[str, list[str], int]:
    """Kind, names (sorted) and total of an answer of one part."""
    found = concluded(asked, "It is {1}.", draft, **more)
    names = found.names[found.items[0].pseudonym]
    return found.items[0].kind, sorted(names.names), names.total


def test_a_set_is_named_by_its_members(asked: Asked) -> None:
    doctors = hung(asked, thing(asked, "Aurelio Vantongeren"), "treated by")
    found = concluded(asked, "They are {1}.", doctors)
    assert found.text == f"They are {doctors}."
    (item,) = found.items
    assert (item.pseudonym, item.kind, item.concept, item.size) == (doctors, "set", "doctor", 2)
    assert sorted(found.names[doctors].names) == ["Ottoline Brackwater", "Ptolemy Ashgrove"]


@pytest.mark.parametrize(
    ("draft", "kind_of_part", "names"),
    [
        ("{P}", "set", ["Aurelio Vantongeren", "Bertil Oxenhame", "Zofia Quarrel"]),
        ('argmin({P}, "date of birth")', "entity", ["Aurelio Vantongeren"]),
        ('filter({D}, "monthly salary", >, average({D}, "monthly salary"))', "entity", ["Ptolemy Ashgrove"]),
        ("count({P})", "number", ["3"]),
        ('sum({D}, "monthly salary")', "number", ["11300"]),
        ("exists({P})", "truth", ["yes"]),
        ('min({P}, "date of birth")', "value", ["1958-09-30"]),
        ('reach({P}, "treated by")', "set", ["Ottoline Brackwater", "Ptolemy Ashgrove"]),
        ('group({P}, "date of birth", year)', "table", ["1958: 1", "1961: 1", "1990: 1"]),
        ("kind({P})", "value", ["patient"]),
        ("minus(count({P}), count({D}))", "number", ["1"]),
        ('group({P}, "date of birth")', "table", ["1958-09-30: 1", "1961-02-11: 1", "1990-01-05: 1"]),
    ],
)
def test_expressions_are_executed_on_the_real_values(
    asked: Asked, draft: str, kind_of_part: str, names: list[str]
) -> None:
    draft = draft.replace("{P}", kind(asked, "patient")).replace("{D}", kind(asked, "doctor"))
    assert only(asked, draft) == (kind_of_part, names, len(names))


def test_a_topic_that_is_all_there_is_stays_and_so_does_one_in_an_expression(asked: Asked) -> None:
    zofia = thing(asked, "Zofia Quarrel")
    topics = asked.mids("Zofia Quarrel")
    assert only(asked, zofia, topics=topics) == ("entity", ["Zofia Quarrel"], 1)
    all_topics = asked.mids("Zofia Quarrel", "Aurelio Vantongeren", "Bertil Oxenhame")
    assert only(asked, kind(asked, "patient"), topics=all_topics)[2] == 3
    here = f'filter({kind(asked, "patient")}, "lives in", =, {hung(asked, zofia, "lives in")})'
    assert only(asked, here, topics=topics)[2] == 2


def test_an_answer_that_holds_nothing_is_none(asked: Asked) -> None:
    nobody = f"intersect({kind(asked, 'patient')}, {kind(asked, 'doctor')})"
    assert conclude(asked, "It is {1}.", nobody) is None
    assert conclude(asked, "{1} and {2}", nobody, f'group({nobody}, "lives in")') is None
    assert conclude(asked, "{1}", asked.table.of_literal("1931-03-04", ValueKind.DATE)) is None


def test_beside_what_is_held_an_empty_part_is_told_as_empty(asked: Asked) -> None:
    nobody = f"intersect({kind(asked, 'patient')}, {kind(asked, 'doctor')})"
    found = concluded(asked, "{1} and {2}", kind(asked, "doctor"), nobody)
    assert [item.size for item in found.items] == [2, 0]
    assert found.names[found.items[1].pseudonym].names == []
    counted = concluded(asked, "{1}", f"count({nobody})")
    assert counted.names[counted.items[0].pseudonym].names == ["0"]


@pytest.mark.parametrize(("city", "truth", "told"), [("Umbrathal", "no", ["Zemgalburg"]), ("Zemgalburg", "yes", [])])
def test_beside_a_no_stands_what_holds_and_beside_a_yes_nothing_that_it_says_already(
    asked: Asked, city: str, truth: str, told: list[str]
) -> None:
    zofia, place = thing(asked, "Zofia Quarrel"), thing(asked, city)
    home = f'reach({zofia}, "lives in")'
    found = conclude(asked, f"It is {{1}}. {zofia} lives in {{2}}.", f"exists(intersect({home}, {place}))", home)
    assert found is not None
    names = [found.names[item.pseudonym].names for item in found.items]
    assert names == [[truth], *([told] if told else [])]
    assert ("lives in" in found.text) == bool(told)


def test_beside_a_yes_or_no_a_value_is_told_and_an_empty_part_is_left_out(asked: Asked) -> None:
    zofia = thing(asked, "Zofia Quarrel")
    born = f'exists(having({zofia}, "date of birth"))'
    text = f"It is {{1}}. {zofia} earns {{2}}. {zofia} was born on {{3}}."
    found = conclude(asked, text, born, f'reach({zofia}, "monthly salary")', f'reach({zofia}, "date of birth")')
    assert found is not None
    yes, date = (item.pseudonym for item in found.items)
    assert found.text == f"It is {yes}. {zofia} was born on {date}."
    assert found.names[date].names == ["1961-02-11"]


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("It is {1}, and {2}.", "It is A, and B."),
        ("The first is {1}.", "The first is A: B."),
        ("", "A, B."),
        ("None is said here.", "None is said here: A, B."),
        ("{1} {1}", "A A: B."),
    ],
)
def test_parts_that_the_text_leaves_out_stand_at_its_end(asked: Asked, text: str, filled: str) -> None:
    first, second = kind(asked, "doctor"), kind(asked, "patient")
    found = concluded(asked, text, first, second)
    assert found.text.replace(first, "A").replace(second, "B") == filled


@pytest.mark.parametrize(
    ("draft", "text"), [("{patients}", "These are {1}."), ("{wards}", "These are {1}."), ("{one}", "It is {1}.")]
)
def test_words_agree_with_how_many_things_there_are(asked: Asked, draft: str, text: str) -> None:
    drafts = {
        "{patients}": kind(asked, "patient"),
        "{wards}": kind(asked, "ward"),
        "{one}": thing(asked, "Kestrel Wing"),
    }
    found = concluded(asked, "{1:It is|These are} {1}.", drafts[draft])
    assert found.text == text.replace("{1}", found.items[0].pseudonym)


@pytest.mark.parametrize(
    "draft", ['sum({P}, "date of birth")', 'argmax({P}, "lives in")', 'reach({P}, "adores")', "sum(count({P}))"]
)
def test_what_can_not_be_executed_is_an_error_without_names(asked: Asked, draft: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        conclude(asked, "{1}", draft.replace("{P}", kind(asked, "patient")))
    assert "Quarrel" not in str(caught.value)


def test_equal_expressions_have_one_pseudonym_through_the_conversation(asked: Asked) -> None:
    patients = kind(asked, "patient")
    first = concluded(asked, "{1}", f'argmin({patients}, "date of birth")')
    again = concluded(asked, "{1}", f'argmin( {patients} , "date of birth" )')
    other = concluded(asked, "{1}", f'argmax({patients}, "date of birth")')
    assert first.items == again.items
    assert other.items[0].pseudonym != first.items[0].pseudonym
    members = asked.table.resolve(first.items[0].pseudonym, asked.graph.blind)[0]
    assert members.tolist() == asked.mids("Aurelio Vantongeren").tolist()


def test_names_are_looked_up_for_what_this_conversation_means_alone(asked: Asked) -> None:
    zofia, literal = thing(asked, "Zofia Quarrel"), asked.table.of_literal("1931-03-04", ValueKind.DATE)
    counted = asked.table.of_outcome("count(Sa1b2c)")
    concluder = AnswerExecutor(asked.graph, asked.table, 50)
    named = concluder.names_of([zofia, "Ez9y8x", literal, counted, "Zofia"])
    assert {word: names.names for word, names in named.items()} == {zofia: ["Zofia Quarrel"], literal: ["1931-03-04"]}
    gone = asked.table.of_entity(Mid(12345))
    assert concluder.names_of([gone])[gone].names == []


MANY = 120


@pytest.fixture(scope="module")
def crowd(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    people = (f':p{n} a :Patient ; rdfs:label "Quillon{n} Marsh{n}ock" ; :livesIn :c{n} .\n' for n in range(MANY))
    towns = (f':c{n} rdfs:label "Vale{n}thorpe" .\n' for n in range(MANY))
    text = "".join([*people, *towns])
    return bench_of(tmp_path_factory.mktemp("crowd"), embedder, PREFIXES + text)


@pytest.mark.parametrize("most", [1, 50, 10_000])
def test_at_most_so_many_names_of_one_set_leave_and_the_rest_is_a_count(crowd: Bench, most: int) -> None:
    asked = crowd.asked()
    patients = kind(asked, "patient")
    found = concluded(asked, "{1}", patients, most=most)
    names = found.names[patients]
    assert (len(names.names), names.total, found.items[0].size) == (min(most, MANY), MANY, MANY)
    assert len(AnswerExecutor(asked.graph, asked.table, most).names_of([patients])[patients].names) == min(most, MANY)
    table = concluded(asked, "{1}", f'group({patients}, "lives in")', most=most)
    rows = table.names[table.items[0].pseudonym]
    assert (len(rows.names), rows.total) == (min(most, MANY), MANY)
    assert all(row.endswith(": 1") for row in rows.names)


def test_nothing_of_a_conclusion_shows_in_its_repr(asked: Asked) -> None:
    found = concluded(asked, "{1}", kind(asked, "patient"))
    assert "Quarrel" not in repr(found)
