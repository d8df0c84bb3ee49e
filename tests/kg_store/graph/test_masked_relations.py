"""Masked and hidden relations: nothing of a version but the vault and the guard's index holds their own words."""

from __future__ import annotations

from pathlib import Path

import pytest

from kg_store.errors import LoadError, PolicyError
from kg_store.graph.schema import (
    kinds_of_masked,
    masks_of,
    own_words_of,
    phrases_of,
    read_schema,
    schema_bytes,
    words_of_masked,
)
from kg_store.loading.load import placeholder_schema
from kg_store.sources.policy import Policy, RelationPolicy
from kg_store.terms import Hop, Schema, is_mask_word
from kg_store.text.labels import words_of_steps
from tests.support.stores import PREFIXES, catalog_in, load_text, loaded_of, written

X = "http://clinic.test/"
WARD = (
    PREFIXES
    + """
:ailsOfMurglewort rdfs:label "snorkelwick ague" ; owl:inverseOf :isGalledIn .
:p1 rdfs:label "Zofia Quarrel" ; :ailsOfMurglewort :d1 ; :livesIn :c1 ; :noted "glumly" .
:p2 rdfs:label "Aurelio Vantongeren" ; :ailsOfMurglewort :d1 ; :livesIn :c1 .
:d1 rdfs:label "Fenwhistle" ; :isGalledIn :p1 . :c1 rdfs:label "Umbrathal" .
"""
)
OWN = ("snorkelwick ague", "ails of murglewort", "murglewort", "snorkelwick")
MASK = RelationPolicy(mask=True, description="what makes somebody unwell")


def policy_of(**relations: RelationPolicy) -> Policy:
    return Policy(relations={X + name: settings for name, settings in relations.items()})


def test_of_a_masked_relation_the_schema_holds_an_opaque_word_and_its_description(tmp_path: Path) -> None:
    schema = placeholder_schema(loaded_of(tmp_path, WARD, policy_of(ailsOfMurglewort=MASK)))
    masked = next(each for each in schema.relations if each.mask is not None)
    assert is_mask_word(masked.label)
    assert (masked.inverse_label, masked.description) == (masked.label, "what makes somebody unwell")
    assert masks_of(schema) == {masked.mask: masked.label}
    assert read_schema(schema_bytes(schema)).relations == schema.relations


def test_no_phrase_of_the_schema_tells_a_masked_relation(tmp_path: Path) -> None:
    """Neither does the inverse that the source declares, and which everybody may see."""
    schema = placeholder_schema(loaded_of(tmp_path, WARD, policy_of(ailsOfMurglewort=MASK)))
    phrases = " ".join(phrases_of(schema)).casefold()
    assert "galled" in phrases
    assert [word for word in OWN if word in phrases] == []


def test_a_label_is_not_told_from_that_of_a_masked_relation(tmp_path: Path) -> None:
    text = PREFIXES + ':x <http://a.test/one/spouse> :y ; <http://a.test/two/spouse> :z . :z rdfs:label "Fenwhistle" .'
    masked = Policy(relations={"http://a.test/one/spouse": RelationPolicy(mask=True)})
    assert sorted(each.label for each in loaded_of(tmp_path, text).relations) == ["one spouse", "two spouse"]
    labels = [each.label for each in loaded_of(tmp_path, text, masked).relations if each.mask is None]
    assert labels == ["spouse"]


@pytest.mark.parametrize("settings", [MASK, RelationPolicy(mask=True), RelationPolicy(hide=True)])
def test_own_words_are_guarded_however_the_relation_is_kept_back(tmp_path: Path, settings: RelationPolicy) -> None:
    catalog = catalog_in(tmp_path)
    load_text(catalog, WARD, tmp_path, policy=policy_of(ailsOfMurglewort=settings))
    names = catalog.open("t1", "clinic").names
    for words in OWN:
        assert [hit.protected for hit in names.find_secret(f"who has {words.upper()}?")], words
    assert names.find_secret("where does somebody live?") == []


def test_the_reader_that_sends_nothing_reads_what_a_masked_relation_is_called(tmp_path: Path) -> None:
    """Its labels, which expressions, prompts and answers are made of, stay opaque."""
    catalog = catalog_in(tmp_path)
    load_text(catalog, WARD, tmp_path, policy=policy_of(ailsOfMurglewort=MASK))
    graph = catalog.open("t1", "clinic")
    plain, house = graph.blind.schema, graph.in_house
    ((mask, own),) = own_words_of(house).items()
    relation = next(each.id for each in house.relations if each.label == mask)
    assert own == "snorkelwick ague"
    assert [house.described((Hop(relation, inverse),)) for inverse in (False, True)] == [own, f"^{own}"]
    assert house.label_step((Hop(relation),)) == plain.label_step((Hop(relation),)) == mask
    assert words_of_steps(house)[mask] == ("what makes somebody unwell",)
    assert own_words_of(plain) == {}
    assert own not in repr(house) + str(phrases_of(plain)) + str(schema_bytes(house))


def test_the_words_of_a_masked_class_are_read_in_the_house_alone(tmp_path: Path) -> None:
    text = (
        PREFIXES
        + """
:p1 a :Zorbwright ; rdfs:label "Zofia Quarrel" ; :livesIn :c1 .
:p2 a :Zorbwright ; rdfs:label "Ottoline" ; :livesIn :c1 .
:c1 a :City ; rdfs:label "Umbrathal" .
"""
    )
    catalog = catalog_in(tmp_path)
    load_text(catalog, text, tmp_path)
    graph = catalog.open("t1", "clinic")
    plain, house = graph.blind.schema, graph.in_house
    told = {concept for concept, words in house.kind_words.items() if "zorbwright" in words}
    assert len(told) == 1
    assert told <= set(map(str, plain.concepts))
    assert "zorbwright" not in str(plain) + str(schema_bytes(house)) + " ".join(phrases_of(plain))
    assert read_schema(schema_bytes(plain)).signatures == plain.signatures


def test_the_opaque_word_stays_over_versions_and_differs_between_graphs(tmp_path: Path) -> None:
    catalog, policy = catalog_in(tmp_path), policy_of(ailsOfMurglewort=MASK)
    seen = []
    for name in ("clinic", "clinic", "other"):
        load_text(catalog, WARD, tmp_path, graph=name, policy=policy)
        seen += masks_of(catalog.open("t1", name).blind.schema).values()
    assert seen[0] == seen[1] != seen[2]


def test_a_description_with_words_that_are_to_stay_unsaid_is_refused(tmp_path: Path) -> None:
    catalog = catalog_in(tmp_path)
    for told in ("Ails of Murglewort, or so", "the Snorkelwick-ague"):
        settings = RelationPolicy(mask=True, description=told)
        with pytest.raises(LoadError, match="descriptions of 1 masked relations") as caught:
            load_text(catalog, WARD, tmp_path, policy=policy_of(ailsOfMurglewort=settings))
        assert "ague" not in str(caught.value)


def test_words_that_stay_public_are_told_by_number(tmp_path: Path) -> None:
    catalog = catalog_in(tmp_path)
    text = PREFIXES + ':p1 :children :p2 ; :ailsOfMurglewort :d1 . :d1 rdfs:label "Fenwhistle" .'
    settings = RelationPolicy(mask=True)
    info = load_text(catalog, text, tmp_path, policy=policy_of(children=settings, ailsOfMurglewort=settings))
    assert [note for note in info.notes if "stay public" in note and note.startswith("1 ")]
    assert "children" not in " ".join(info.notes)


def test_a_description_needs_a_mask() -> None:
    with pytest.raises(PolicyError, match="mask = true") as caught:
        Policy.from_toml('[relations."http://clinic.test/a"]\ndescription = "Snorkelwick"\n')
    assert "Snorkelwick" not in str(caught.value)


def test_a_single_word_tells_the_masked_relation_or_class_that_alone_has_it(tmp_path: Path) -> None:
    """A model knows them by other words: "drills" stands in a prompt as everything of that class."""
    text = (
        PREFIXES
        + """
:t1 a :Drill ; rdfs:label "Zofia" ; :hireFee 3 ; :livesIn :c1 . :t2 a :Drill ; rdfs:label "Ottoline" ; :livesIn :c1 .
:l1 a :DrillLoan ; :of :t1 ; :backOn "2024-01-01" . :l2 a :DrillLoan ; :of :t2 ; :backOn "2024-01-02" .
:c1 a :City ; rdfs:label "Umbrathal" .
"""
    )
    policy = Policy(mask_classes=(X + "Drill", X + "DrillLoan"), relations={X + "hireFee": RelationPolicy(mask=True)})
    catalog = catalog_in(tmp_path)
    catalog.load("t1", "clinic", [written(tmp_path, text)], policy, _by_masks)
    house = catalog.open("t1", "clinic").in_house
    kinds, words = kinds_of_masked(house), words_of_masked(house)
    assert len(set(kinds.values())) == 2
    assert words["drill"] in kinds
    assert words["loan"] in kinds
    assert words["drill"] != words["loan"]
    assert words["hire"] == words["fee"] == next(each.mask for each in house.relations if each.own)
    assert "city" not in words
    assert "back" not in words


def _by_masks(schema: Schema) -> list[str]:
    """Names concepts as the service does, so that each masked class has one of its own."""
    return [each.classes[0] if each.classes else f"kind {sorted(each.masked)}" for each in schema.signatures]
