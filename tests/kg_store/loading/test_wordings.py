"""Further words of relations and classes: taken from the policy and the sources, kept with the schema, and guarded."""

from __future__ import annotations

from pathlib import Path

import pytest

from kg_store.errors import LoadError
from kg_store.graph.schema import phrases_of, read_schema, schema_bytes
from kg_store.loading.load import placeholder_schema
from kg_store.sources.policy import ClassPolicy, Policy, RelationPolicy, RolePolicy
from kg_store.terms import Hop, RelationId, Schema
from kg_store.text.labels import worded, words_of_kinds, words_of_steps
from tests.support.stores import PREFIXES, catalog_in, load_text, loaded_of

X = "http://clinic.test/"
WARD = (
    PREFIXES
    + """
:p1 a :Patient ; rdfs:label "Zofia Quarrel" ; :livesIn :c1 ; :salary 2500 ; :nickname "Teller" .
:p2 a :Patient ; rdfs:label "Aurelio Vantongeren" ; :livesIn :c1 ; :salary 3100 ; :nickname "Rook" .
:c1 a :City ; rdfs:label "Umbrathal" .
"""
)
ONTOLOGY = (
    WARD
    + """
:salary a owl:DatatypeProperty ; rdfs:label "salary" ; skos:altLabel "wage"@en, "Gehalt"@de, "teller", "pay in 2024" ;
    rdfs:comment "monthly earnings." , "What somebody is paid in a month, before tax and all the rest of it." .
:livesIn a owl:ObjectProperty ; rdfs:label "residence" ; skos:altLabel "home of Quarrel", "dwelling" ;
    owl:inverseOf :houses .
:houses a owl:ObjectProperty .
:Patient a owl:Class ; rdfs:label "Patient" ; skos:altLabel "sick person" , "Zofia Quarrel" .
"""
)


def schema_of(folder: Path, text: str, policy: Policy | None = None) -> Schema:
    return placeholder_schema(loaded_of(folder, text, policy or Policy()))


def words_of(schema: Schema) -> dict[str, tuple[str, ...]]:
    return {each.label: each.words for each in schema.relations if each.words}


def policy_of(**words: tuple[str, ...]) -> Policy:
    return Policy(relations={X + name: RelationPolicy(words=said) for name, said in words.items()})


def test_labels_and_short_comments_of_the_sources_are_further_words(tmp_path: Path) -> None:
    schema = schema_of(tmp_path, ONTOLOGY)
    assert set(words_of(schema)["salary"]) == {"wage", "monthly earnings"}
    assert words_of_kinds(schema) == {"patient": ("sick person",)}


def test_single_words_of_a_long_comment_are_hints_where_no_other_comment_has_them(tmp_path: Path) -> None:
    text = (
        ONTOLOGY + ':livesIn rdfs:comment "The city of Umbrathal or another, where somebody sleeps most of a month." .'
    )
    hints = {each.label: each.hints for each in schema_of(tmp_path, text).relations}
    assert hints["salary"] == ("paid", "rest")
    assert hints["residence"] == ("city", "sleep")


def test_hints_are_kept_with_the_schema_and_stand_behind_words_with_a_mark(tmp_path: Path) -> None:
    schema = schema_of(tmp_path, ONTOLOGY)
    assert read_schema(schema_bytes(schema)).relations == schema.relations
    assert {"wage", "~paid"} <= set(words_of_steps(schema)["salary"])
    assert "paid" not in set(phrases_of(schema))


def test_a_masked_relation_has_no_hints(tmp_path: Path) -> None:
    policy = Policy(relations={X + "salary": RelationPolicy(mask=True)})
    assert not any(each.hints for each in schema_of(tmp_path, ONTOLOGY, policy).relations)


def test_a_word_of_the_sources_that_holds_a_name_or_a_value_is_left_out(tmp_path: Path) -> None:
    phrases = {phrase.casefold() for phrase in phrases_of(schema_of(tmp_path, ONTOLOGY))}
    assert phrases.isdisjoint({"teller", "home of quarrel", "zofia quarrel", "gehalt", "pay in 2024"})
    assert "dwelling" in phrases


def test_the_owners_words_come_first_and_are_kept_with_the_schema(tmp_path: Path) -> None:
    policy = policy_of(salary=("earn", "zorbs")).model_copy(update={"classes": {X + "Patient": _words("inmate")}})
    schema = schema_of(tmp_path, ONTOLOGY, policy)
    assert words_of(schema)["salary"][:2] == ("earn", "zorbs")
    assert words_of_kinds(schema)["patient"] == ("inmate", "sick person")
    again = read_schema(schema_bytes(schema))
    assert (words_of(again), words_of_kinds(again)) == (words_of(schema), words_of_kinds(schema))
    at = next(each.id for each in schema.relations if each.label == "salary")
    assert worded(schema, (Hop(RelationId(at)),)).startswith("salary (earn, zorbs, ")


def _words(*words: str) -> ClassPolicy:
    return ClassPolicy(words=words)


def test_the_words_of_the_other_direction_are_words_of_walking_back(tmp_path: Path) -> None:
    found = words_of_steps(schema_of(tmp_path, ONTOLOGY))
    assert found["residence"] == ("dwelling", "lives in")
    settings = RelationPolicy(inverse_label="houses")
    told = words_of_steps(schema_of(tmp_path, WARD, Policy(relations={X + "livesIn": settings})))
    assert told == {"^lives in": ("houses",)}


def test_a_label_of_the_policy_takes_the_place_of_all_that_the_sources_say(tmp_path: Path) -> None:
    settings = RelationPolicy(label="home", words=("abode",))
    schema = schema_of(tmp_path, ONTOLOGY, Policy(relations={X + "livesIn": settings}))
    assert words_of(schema)["home"] == ("abode",)


def test_a_masked_relation_has_no_words_and_they_are_guarded(tmp_path: Path) -> None:
    settings = RelationPolicy(mask=True, words=("Murglewort ague",))
    text = WARD + ':livesIn skos:altLabel "snorkelwick" .'
    catalog = catalog_in(tmp_path)
    load_text(catalog, text, tmp_path, policy=Policy(relations={X + "livesIn": settings}))
    graph = catalog.open("t1", "clinic")
    assert "murglewort" not in " ".join(phrases_of(graph.blind.schema)).casefold()
    assert "murglewort" not in graph.public
    for word in ("murglewort ague", "murglewort"):
        assert [hit.protected for hit in graph.names.find_secret(f"who has {word}?")], word


def test_words_for_a_relation_do_not_decide_that_its_own_are_shown(tmp_path: Path) -> None:
    text = WARD + ":p1 :zofiaOrAurelio :c1 . :p2 :zofiaOrAurelio :c1 ."
    schema = schema_of(tmp_path, text, policy_of(zofiaOrAurelio=("neighbour",)))
    masked = [each for each in schema.relations if each.mask is not None]
    assert [each.words for each in masked] == [()]
    assert "neighbour" not in " ".join(phrases_of(schema))


def test_words_that_hold_those_of_a_masked_relation_are_refused_and_not_quoted(tmp_path: Path) -> None:
    masked = {X + "livesIn": RelationPolicy(mask=True, label="Murglewort")}
    catalog = catalog_in(tmp_path)
    policies = (
        Policy(relations={**masked, X + "salary": RelationPolicy(words=("the murglewort",))}),
        Policy(relations=masked, classes={"patient": _words("Murglewort")}),
    )
    for policy in policies:
        with pytest.raises(LoadError, match=r"gives 1 relations or classes `words`.*take them out") as caught:
            load_text(catalog, WARD, tmp_path, policy=policy)
        assert "urglewort" not in str(caught.value)
    said = WARD + ':salary rdfs:label "salary" ; skos:altLabel "stray birds" .'
    strays = {X + "livesIn": RelationPolicy(mask=True, label="stray birds")}
    load_text(catalog, said, tmp_path, policy=Policy(relations=strays))
    assert words_of(catalog.open("t1", "clinic").blind.schema) == {}


def test_what_a_role_is_not_shown_has_no_words_for_it(tmp_path: Path) -> None:
    policy = policy_of(salary=("zorbs",), livesIn=("dwells",)).model_copy(
        update={
            "classes": {"city": _words("burgh"), "patient": _words("inmate")},
            "roles": {
                "desk": RolePolicy(withhold_relations=("salary",)),
                "pay": RolePolicy(withhold_concepts=("city",)),
            },
        }
    )
    catalog = catalog_in(tmp_path)
    load_text(catalog, WARD, tmp_path, policy=policy)
    whole = catalog.open("t1", "clinic")
    for word, role, other in (("zorbs", "desk", "pay"), ("burgh", "pay", "desk")):
        shown, without = catalog.open_as("t1", "clinic", other), catalog.open_as("t1", "clinic", role)
        assert word in whole.public
        assert word in shown.public
        assert word not in without.public
        assert word not in " ".join(phrases_of(without.blind.schema))


def test_a_name_that_equals_a_word_is_a_public_word_of_the_report(tmp_path: Path) -> None:
    catalog = catalog_in(tmp_path)
    info = load_text(catalog, WARD, tmp_path, policy=policy_of(livesIn=("umbrathal",)))
    assert "umbrathal" in info.public_words
    assert "umbrathal" not in load_text(catalog, WARD, tmp_path).public_words


def test_kinds_that_are_not_there_are_told_by_number(tmp_path: Path) -> None:
    policy = Policy(classes={"patient": _words("inmate"), "Snorkelwick": _words("burgh")})
    notes = load_text(catalog_in(tmp_path), WARD, tmp_path, policy=policy).notes
    assert [note for note in notes if note.startswith("1 kinds that the policy gives words to")]
    assert "Snorkelwick" not in " ".join(notes)
