"""Relations and classes whose words may be a cell of the data are masked until their owner shows them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kg_store.loading.default_masks import MIN_USUAL_USES
from kg_store.sources.policy import Policy
from kg_store.storage.version_reports import MaskReason
from tests.support.stores import PREFIXES, loaded_of

X = "http://clinic.test/"


def reasons(folder: Path, text: str, policy: Policy | None = None, name: str = "a.ttl") -> dict[str, MaskReason]:
    return {each.word: each.reason for each in loaded_of(folder, text, policy, name).masked}


def turtle(*lines: str) -> str:
    return PREFIXES + "\n".join(lines)


@pytest.mark.parametrize(
    ("lines", "masked"),
    [
        ([":a :approvedByDrBrackwede :b ."], {"approved by dr brackwede": MaskReason.WORDS}),
        ([":a a :PatientsOfBrackwede ; :knows :b ."], {"patients of brackwede": MaskReason.WORDS}),
        ([":a :ward17 :b ."], {"ward17": MaskReason.DIGITS}),
        ([":a :area_m2 12 ; :co2_grams 3 ; :areaSqm 3 ; :qty 1 ."], {}),
        ([":a :hours_logged_2024 12 ; :sales_1999 3 ."], {}),
        (
            [":a :admitted_march_2024 12 ; :bed_217 3 ; :hours_2150 3 ."],
            dict.fromkeys(("admitted march 2024", "bed 217", "hours 2150"), MaskReason.DIGITS),
        ),
        ([":a :P19 :b . :P19 rdfs:label 'place of birth' ."], {}),
        ([":a :sciatica :b . :c :illness 'Sciatica' ."], {"sciatica": MaskReason.NAME}),
        (
            [":a :seenWithHeartFailure :b . :c :illness 'heart failure' ."],
            {"seen with heart failure": MaskReason.NAME},
        ),
        ([":a :recordLabel :b . :b a :k . :k rdfs:label 'record label' ."], {}),
        ([":a :recordLabel :b . :k rdfs:label 'record label' ; :in :b ."], {"record label": MaskReason.NAME}),
        (
            [":a :heartFailure :b . :b a :k . :k rdfs:label 'heart failure' . :c :illness 'heart failure' ."],
            {"heart failure": MaskReason.NAME},
        ),
        ([":a :P36 :b . :P36 rdfs:label 'original language of film or show' ."], {}),
        ([":a :likes :b . :likes rdfs:label 'a sentence that says how somebody likes a thing' ."], {}),
        ([":a :seenByBaker :b . :b rdfs:label 'Ines Baker' ."], {"seen by baker": MaskReason.NAME}),
        ([":a :in :w . :w a :Ward ; rdfs:label 'Kestrel Ward' ."], {}),
        ([":a a :Baker ; :in :w . :w a :Place ; rdfs:label 'Ines Baker' ."], {"baker": MaskReason.NAME}),
        ([":a :seenByDrLong :b . :b rdfs:label 'Ines Long' ."], {"seen by dr long": MaskReason.NAME}),
        ([":a :seenTooLong :b . :b rdfs:label 'Ines Long' ."], {"seen too long": MaskReason.NAME}),
        ([":a :seenByDay :b . :b rdfs:label 'Ines Long' ."], {}),
        ([":a a :EnemiesOfLong ; :knows :b . :b rdfs:label 'Tom Long' ."], {"enemies of long": MaskReason.NAME}),
        ([":a :placeOfWork :b . :b rdfs:label 'Social Work' ."], {}),
        ([":a :unitPrice :b . :b rdfs:label 'Jane Price' ."], {"unit price": MaskReason.NAME}),
        ([":a :unitPrice :b . :b rdfs:label 'Price of Things' ."], {}),
        ([":a :paidByPrices :b . :b rdfs:label 'Jane Price' ."], {"paid by prices": MaskReason.NAME}),
        ([":a a :SummerRiver ; :knows :b . :b rdfs:label 'Summer Rivers' ."], {"summer river": MaskReason.NAME}),
        ([":a <http://xmlns.com/foaf/0.1/mbox_sha1sum> 'x' ."], {}),
        ([":a <http://xmlns.com/foaf/0.1/brackwede> 'x' ."], {"brackwede": MaskReason.WORDS}),
        (
            [":a <http://one.test/brackwede/likes> :b ; <http://one.test/other/likes> :b ."],
            {"likes": MaskReason.WORDS},
        ),
    ],
)
def test_words_that_hold_a_name_digits_or_no_common_word_are_masked(
    tmp_path: Path, lines: list[str], masked: dict[str, MaskReason]
) -> None:
    assert reasons(tmp_path, turtle(*lines)) == masked


LABELS = turtle(":a :recordLabel :b . :b a :k . :k rdfs:label 'record label' ; :in :a .")
"""The class is a thing of the graph as well, as those of Wikidata are."""


@pytest.mark.parametrize(
    "said",
    [
        {"mask_classes": ("record label",)},
        {"roles": {"office": {"withhold_concepts": ("record label",)}}},
        {"roles": {"office": {"show_concepts": ("person",)}}},
    ],
)
def test_a_relation_called_as_a_class_that_is_not_told_to_everybody_is_a_name(
    tmp_path: Path, said: dict[str, object]
) -> None:
    assert reasons(tmp_path, LABELS) == {}
    policy = Policy.model_validate(said)
    found = loaded_of(tmp_path, LABELS, policy).masked
    assert [(each.kind, each.reason) for each in found if each.kind == "relation"] == [("relation", MaskReason.NAME)]


def test_what_occurs_once_is_masked_where_others_occur_often_and_nothing_declares_it(tmp_path: Path) -> None:
    often = [f":p{n} :knows :p{n + 1} ; :age {n} ." for n in range(MIN_USUAL_USES)]
    once = ":p1 :gastritis :p2 . :p1 :visited :p3 . :visited a owl:ObjectProperty ."
    assert reasons(tmp_path, turtle(*often, once)) == {"gastritis": MaskReason.RARE}


def test_relations_that_grow_with_the_rows_are_masked(tmp_path: Path) -> None:
    words = (
        "apple bread chair desk engine flower garden hammer island jacket kettle ladder mirror needle orange pencil "
        "rabbit saddle table umbrella violin window bottle candle dinner elbow finger guitar honey insect jungle "
        "kitchen"
    ).split()
    rows = [f":p{n} :{word} :c{n % 3} ." for n, word in enumerate(words)]
    assert set(reasons(tmp_path, turtle(*rows)).values()) == {MaskReason.MANY}
    assert reasons(tmp_path, turtle(*rows[:20])) == {}


def test_what_the_owner_lists_is_shown(tmp_path: Path) -> None:
    text = turtle(":a :approvedByBrackwede :b ; a :FriendOfBrackwede .")
    assert len(reasons(tmp_path, text)) == 2
    for toml in (
        'show_relations = "all"\nshow_classes = "all"\n',
        f'show_relations = ["{X}approvedByBrackwede"]\nshow_classes = ["{X}FriendOfBrackwede"]\n',
        'show_relations = ["approved by brackwede"]\nshow_classes = ["friend of brackwede"]\n',
        f'show_classes = "all"\n[relations."{X}approvedByBrackwede"]\nmask = false\n',
        f'show_classes = "all"\n[relations."{X}approvedByBrackwede"]\nlabel = "approved by"\n',
        f'types = "hide"\n[relations."{X}approvedByBrackwede"]\nhide = true\n',
        'show_classes = "all"\n[roles.desk]\nwithhold_relations = ["approved by brackwede"]\n',
    ):
        policy = Policy.from_toml(toml)
        assert reasons(tmp_path, text, policy) == {}, toml
        assert Policy.from_toml(policy.to_toml()) == policy


def test_what_is_listed_and_is_not_there_is_counted_in_a_note(tmp_path: Path) -> None:
    policy = Policy.from_toml('show_relations = ["knows", "nose"]\nshow_classes = ["patient"]\n')
    loaded = loaded_of(tmp_path, turtle(":a :knows :b ; a :Patient ."), policy, "a.ttl")
    assert loaded.notes == ("1 words that the policy shows are no relation or class of the sources",)


def test_a_kind_of_value_alone_decides_nothing_for_proposals_write_it(tmp_path: Path) -> None:
    policy = Policy.from_toml(f'[relations."{X}brackwede"]\nvalue_kind = "number"\n')
    assert reasons(tmp_path, turtle(':a :brackwede "7" .'), policy) == {"brackwede": MaskReason.WORDS}


def test_a_masked_class_shows_no_word_and_is_guarded_and_things_keep_their_names(tmp_path: Path) -> None:
    loaded = loaded_of(tmp_path, turtle(":b17 a :PatientOfBrackwede ; :knows :c . :c a :Patient ."), name="a.ttl")
    assert {word for signature in loaded.signatures for word in signature.classes} == {"patient"}
    guarded = {entry.text for node in loaded.nodes() for entry in node.entries() if entry.protected}
    assert {"patient of brackwede", "brackwede"} <= guarded
    assert loaded.notes == ("1 class masked by default: each holds a word that is not a common English one",)
