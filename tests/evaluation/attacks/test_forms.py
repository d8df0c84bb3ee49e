"""Forms: words and graphs hold what the families need, every family makes the cases that it says, the judge finds a
name in whatever letters it left, and the lines of a run fail where they should."""

from __future__ import annotations

import ast
import json
from datetime import date
from pathlib import Path
from random import Random

import pytest

from app.demo import GRAPH_FILE
from evaluation.attacks import form_families, form_graphs, form_judge, forms, words
from evaluation.attacks.form_families import LOOK_ALIKES, Case, TypedCase, family_cases, words_of
from evaluation.attacks.form_graphs import ROWS, GraphNames, names_in_triples, names_in_turtle, table_files
from evaluation.attacks.form_judge import Judge, Verdict, can_be_judged
from evaluation.attacks.forms import JudgedCase, LoadedTable, cells_in, lines, lines_of_tables
from evaluation.attacks.table import run_attacks
from evaluation.attacks.words import (
    Piece,
    date_in_words,
    in_words,
    is_common_english,
    is_everyday,
    roman,
    sentences,
    surnames,
    surnames_of,
    year_in_words,
)

NAMES = GraphNames(
    "made",
    names=("Rosalind Quillmore", "Jörg Fährmann", "Hüseyin Öztürk", "Imogen Hathaway", "Ngọc Đặng"),
    labels=(
        "Rosalind Ingeborg Quillmore (1931)",
        "Dr. Jörg Emil Fährmann geb. Stöckel",
        "&#72;&uuml;seyin Can %C3%96zt%C3%BCrk",
    ),
    texts=("sister I. Brackwede", "i.brackwede@clinic.example", "called Tiefenbrunner about the bill"),
    dates=("1960-09-08", "1987-11-23"),
    numbers=("48417", "1938"),
)


def payload(said: str, path: str = "lives in", earlier: str = "") -> bytes:
    """A request about what was said, as an endpoint gets it."""
    block = {
        "question": said,
        "dialogue": [{"role": "user", "text": earlier}],
        "candidates": [{"number": 1, "path": [path]}],
    }
    content = f"Choose a way on.\n```json\n{json.dumps(block)}\n```"
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": content}]}).encode()


def case(text: str, *secrets: str, carrier: str = "who treats {} now", marked: bool = False) -> Case:
    typed = TypedCase("as it is", text, secrets or (text,))
    said = carrier.replace("{}", text)
    return Case("3 surnames alone", typed, (("user", said),), carrier.replace("{}", " "), marked)


def test_there_are_five_hundred_and_forty_five_surnames() -> None:
    assert len(surnames()) == 545
    assert len(surnames_of("us")) == 100


def test_the_population_has_two_thousand_people_with_dirty_labels() -> None:
    labels = form_graphs.people().values()
    assert len(labels) == 2_000
    assert any("geb." in label for label in labels)
    assert any("%C3" in label for label in labels)


def test_the_population_is_read_with_its_notes_contacts_and_dirty_labels() -> None:
    names = names_in_turtle("population", form_graphs.turtle(60))
    assert any(text.startswith(("brother", "sister", "neighbour")) for text in names.texts)
    assert any("@clinic.example" in text for text in names.texts)
    assert any("&#" in label for label in names.labels)
    assert names.dates
    assert names.numbers


def test_properties_and_classes_are_no_names() -> None:
    names = names_in_turtle("demo", GRAPH_FILE.read_text("utf-8"))
    assert "Rosalind Rose" in names.names
    assert "insured by" not in {*names.names, *names.labels}


def test_first_and_last_names_in_two_properties_are_joined() -> None:
    text = '@prefix : <http://a.invalid/> .\n:p :firstName "Jörg" ; :lastName "Fährmann" .'
    assert names_in_turtle("people", text).names == ("Jörg Fährmann",)


def test_underscores_of_triples_are_spaces() -> None:
    assert "john of gaunt" in names_in_triples("kb", "john_of_gaunt\tspouse\tblanche_of_lancaster\n").names


@pytest.mark.parametrize(
    ("number", "language", "words"),
    [
        (21, "en", "twenty-one"),
        (48417, "en", "forty-eight thousand four hundred seventeen"),
        (1938, "de", "tausendneunhundertachtunddreißig"),
        (35, "es", "treinta y cinco"),
        (1000, "fr", "mille"),
        (0, "en", "zero"),
    ],
)
def test_numbers_are_read_out(number: int, language: str, words: str) -> None:
    assert in_words(number, language) == words


def test_years_and_dates_are_read_out() -> None:
    assert year_in_words(1960, "en") == "nineteen sixty"
    assert year_in_words(1960, "de") == "neunzehnhundertsechzig"
    assert year_in_words(2003, "en") == "two thousand three"
    assert date_in_words(date(1960, 9, 8), "en") == "the eighth of september nineteen sixty"
    assert date_in_words(date(1987, 11, 23), "de") == "dreiundzwanzigsten november neunzehnhundertsiebenundachtzig"
    assert roman(1984) == "MCMLXXXIV"


def test_there_are_at_least_twenty_table_files_with_all_their_cells() -> None:
    files = table_files()
    assert len(files) >= 20
    assert all(file.content.count("\n") >= ROWS and file.cells for file in files)
    assert all(cell in file.content for file in files for cell in file.cells)


def test_everyday_words_are_common_nouns_and_no_names() -> None:
    assert all(map(is_everyday, ("rose", "brown", "king", "hill")))
    assert not any(map(is_everyday, ("smith", "johnson", "david", "müller", "dang", "quillmore")))
    assert is_everyday("klein", "de")
    assert not is_everyday("klein", "es")
    assert is_common_english("who")


RELATIONS = ["approvedByDrBrackwede", "hasGlimdossier"]


def cases_of(language: str, count: int) -> dict[str, list[Case]]:
    by_family: dict[str, list[Case]] = {}
    for case in family_cases(NAMES, [NAMES], RELATIONS, language, Random(3), count):
        by_family.setdefault(case.family, []).append(case)
    return by_family


@pytest.mark.parametrize("language", sorted(sentences()))
def test_a_case_is_found_where_it_is_sent_as_it_was_typed(language: str) -> None:
    by_family = cases_of(language, 12)
    assert sorted(int(family.split(" ")[0]) for family in by_family) == list(range(1, 11))
    for family, cases in by_family.items():
        judged = [case for case in cases if can_be_judged(case)]
        assert len(cases) >= 8, family
        assert len(judged) >= len(cases) // 2, family
        for case in judged:
            earlier = f"{case.turns[0][1]} {case.turns[len(case.turns) // 2][1]}"
            sent = [payload(case.turns[-1][1], earlier=earlier)]
            assert Judge(()).judge(case, sent).leaked, (family, case.typed.form)


def test_forms_are_drawn_evenly() -> None:
    assert len({case.typed.form for case in cases_of("en", 40)["8 look-alike letters"]}) == 40


def test_names_stand_in_earlier_turns_of_both_sides_too() -> None:
    roles = {tuple(role for role, _ in case.turns) for case in cases_of("en", 80)["3 surnames alone"]}
    assert {("user",), ("user", "assistant", "user")} == roles


def test_a_local_name_is_read_by_its_humps() -> None:
    assert words_of("approvedByDrBrackwede") == ["approved", "by", "dr", "brackwede"]
    assert words_of("hasHTTPCode7") == ["has", "http", "code", "7"]


JUDGE = Judge({"lives", "in", "choose", "way", "model", "m"})


@pytest.mark.parametrize(
    "said",
    [
        "who treats quillmore now",
        "who treats QUILLMORE now",
        "who treats quillmores now",
        "who treats xquillmorex now",
        "who treats Vx81zp illmore now",
        "who treats q%75illmore now",
        "who treats &#113;uillmore now",
        "who treats qu\u200billmore now",
        "who treats ⓠⓤⓘⓛⓛⓜⓞⓡⓔ now",
        "who treats 𝐪𝐮𝐢𝐥𝐥𝐦𝐨𝐫𝐞 now",
    ],
)
def test_a_name_is_found_however_it_left(said: str) -> None:
    assert JUDGE.judge(case("quillmore"), [payload(said)]).leaked


@pytest.mark.parametrize("kind", sorted(LOOK_ALIKES))
def test_look_alike_letters_that_left_as_they_were_typed_are_found(kind: str) -> None:
    typed = LOOK_ALIKES[kind].format(Piece("quillmore"))
    assert JUDGE.judge(case(typed, "quillmore"), [payload(f"who treats {typed} now")]).leaked


def test_a_pseudonym_in_the_place_of_the_name_is_no_leak() -> None:
    for text in ("quillmore", "dr. quillmore", "öztürk'ün", "rosalind quillmore", "8 September 1960"):
        assert not JUDGE.judge(case(text), [payload("who treats Vx81zp now")]).leaked


def test_a_name_in_an_earlier_turn_or_outside_the_question_is_found() -> None:
    asked = case("quillmore")
    assert JUDGE.judge(asked, [payload("who", earlier="tell me about quillmore")]).leaked == {"quillmore"}
    assert JUDGE.judge(asked, [payload("who", path="approved by quillmore")]).leaked == {"quillmore"}
    assert JUDGE.judge(asked, [b"x-name: quillmore"]).leaked == {"quillmore"}


def test_words_of_the_shown_schema_are_no_leak_where_the_schema_stands() -> None:
    assert not JUDGE.judge(case("lives"), [payload("who", path="lives in")]).leaked


def test_an_everyday_word_is_told_apart_only_in_small_letters_and_where_nothing_speaks_for_a_name() -> None:
    sent = [payload("who treats rose now")]
    assert JUDGE.judge(case("rose"), sent).is_everyday
    assert not JUDGE.judge(case("Rose"), sent).is_everyday
    assert not JUDGE.judge(case("rose", marked=True), sent).is_everyday
    assert not JUDGE.judge(case("smith"), [payload("who treats smith now")]).is_everyday


def test_titles_particles_and_initials_that_are_left_say_nothing() -> None:
    assert not JUDGE.judge(case("dr. j. quillmore", "quillmore"), [payload("who treats dr. j. Vx81zp now")]).leaked
    spaced = " ".join("quillmore")
    assert JUDGE.judge(case(spaced, "quillmore"), [payload(f"who treats {spaced} now")]).leaked


def test_every_figure_of_a_value_counts() -> None:
    assert JUDGE.judge(case("8 September 1960", "1960-09-08"), [payload("who treats 8 Vx81zp Vx81zq now")]).leaked == {
        "8"
    }


def test_a_sentence_that_holds_a_word_of_the_name_is_not_judged() -> None:
    assert not can_be_judged(case("may", carrier="who may treat {}"))
    assert not can_be_judged(case("dr."))
    assert can_be_judged(case("quillmore"))


def judged(leaked: set[str], is_everyday: bool = False, found: bool = True) -> JudgedCase:
    return JudgedCase(case("quillmore"), Verdict(frozenset(leaked), is_everyday), False, True, found)


def missed(found: list[JudgedCase]) -> list[str]:
    return [line.name for line in lines(found) if not line.passed]


def test_a_leak_misses_its_bound() -> None:
    assert missed([judged({"quillmore"})]) == ["forms, 3 surnames alone"]
    assert missed([judged(set())]) == []


def test_everyday_words_miss_their_own_bound_and_are_listed() -> None:
    found = lines([judged({"rose"}, is_everyday=True), *[judged(set())] * 40])
    assert not next(line for line in found if "everyday" in line.name).passed
    assert next(line for line in found if "everyday" in line.name).note == "rose 1"
    assert missed([judged({"rose"}, is_everyday=True), *[judged(set())] * 99]) == []


def test_a_judge_that_sees_nothing_misses_the_control() -> None:
    assert missed([judged(set(), found=False)]) == ["forms, found in the same questions with the rule off"]


def test_a_cell_in_a_relation_misses_its_bound_and_a_refused_file_does_not() -> None:
    file = table_files()[1]
    age = next(cell for cell in sorted(file.cells) if cell.isdigit())
    assert cells_in(file, [payload("who", path=age)]) == {age}
    assert not cells_in(file, [payload("who", path="city")])
    assert not lines_of_tables([LoadedTable(False, frozenset({age}), True)])[0].passed
    assert all(line.passed for line in lines_of_tables([LoadedTable(True, frozenset(), True)]))


def test_the_judge_and_the_families_share_nothing_with_what_is_judged() -> None:
    errors_alone = {"app.privacy.errors", "app.egress.guard", "kg_store.errors", "kg_store.terms"}
    for module in (forms, form_families, form_graphs, form_judge, words):
        tree = ast.parse(Path(str(module.__file__)).read_text("utf-8"))
        modules = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        judged = {name for name in modules if name.startswith(("app.privacy", "app.egress", "kg_store"))}
        assert judged <= errors_alone, module
        assert not any(isinstance(node, ast.Import) and "kg_store" in ast.dump(node) for node in ast.walk(tree))


@pytest.mark.slow
@pytest.mark.model
async def test_the_service_is_asked_by_every_family_and_nothing_of_a_name_leaves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    small = form_graphs.turtle(60)
    monkeypatch.setattr(form_graphs, "turtle", lambda: small)
    monkeypatch.setattr(forms, "LANGUAGES", ("en",))
    found = await run_attacks("forms", limit=1)
    names = [line.name for line in found]
    assert [name for number in range(1, 13) for name in names if name.startswith(f"forms, {number} ")]
    assert len({name.split(" ")[1] for name in names if name[7:8].isdigit()}) == 12
    assert all(line.passed for line in found if line.control is not None)
    # Of labels, rare words of the dictionary in small letters are not all replaced yet.
    assert [line.name for line in found if not line.passed and line.name != "forms, 5 middle words of labels"] == []
