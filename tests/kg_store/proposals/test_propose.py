"""Proposing a policy: a stranger's own graph works at the first try, and a preview shows no name."""

from __future__ import annotations

from pathlib import Path

import pytest

from kg_store.loading.load import LoadedGraph, load_graph
from kg_store.proposals.propose import preview, propose
from kg_store.sources.policy import Policy
from kg_store.sources.reader import read_sources
from kg_store.terms import NodeKind, ValueKind
from tests.kg_store.loading.test_load import WIKIDATA, facts_of
from tests.support.stores import CLINIC, MID_KEY, PREFIXES, all_names, labels_of, node_named, raw_of, real_data

X = "http://clinic.test/"
OWN_WORDS = """@prefix : <https://own.test/v/> .
@prefix rdfs: <https://own.test/v/> .
@prefix xsd: <https://own.test/v/> .
:Doctor a rdfs:Class ; rdfs:label "Doctor" ; rdfs:subClassOf :Person .
:Person a rdfs:Class ; rdfs:label "Person" .
:takesCareOf a :Property ; rdfs:label "The patient whom the doctor takes care of." ; rdfs:domain :Doctor .
:d1 a :Doctor ; :name "Ottoline Brackwater" ; :takesCareOf :p1 ; :born "1961-02-11"^^xsd:date .
:d2 a :Doctor ; :name "Ptolemy Ashgrove" ; :takesCareOf :p1 .
:p1 a :Person ; :legalName "Zofia Quarrel" .
"""


def loaded_as_proposed(folder: Path, text: str, name: str = "a.ttl") -> LoadedGraph:
    raw = raw_of(folder, text, name)
    return load_graph(raw, propose(raw), MID_KEY)


def loaded_real(name: str) -> tuple[LoadedGraph, Policy]:
    raw = read_sources([real_data(name)])
    policy = propose(raw)
    return load_graph(raw, policy, MID_KEY), policy


def test_names_and_schema_of_a_vocabulary_of_its_own_are_recognised(tmp_path: Path) -> None:
    loaded = loaded_as_proposed(tmp_path, OWN_WORDS)
    assert facts_of(loaded) == {
        ("Ottoline Brackwater", "takes care of", "Zofia Quarrel"),
        ("Ptolemy Ashgrove", "takes care of", "Zofia Quarrel"),
        ("Ottoline Brackwater", "born", "1961-02-11"),
    }
    assert {signature.classes for signature in loaded.signatures} == {("doctor", "person"), ("person",), ()}


def test_a_house_that_is_a_property_and_a_lesson_that_is_a_class_stay_entities(tmp_path: Path) -> None:
    text = """:h1 a :Property ; rdfs:label "Quarrel Manor" ; :ownedBy :z . :h2 a :Property ; :ownedBy :z .
        :c1 a :Class ; rdfs:label "Algebra" ; :taughtBy :z . :z :domain "quarrel.test" ; :range "wide" ."""
    loaded = loaded_as_proposed(tmp_path, PREFIXES + text)
    assert {"Quarrel Manor", "Algebra"} <= all_names(loaded)
    assert ("Quarrel Manor", "owned by", "z") in facts_of(loaded)
    assert ("z", "domain", "quarrel.test") in facts_of(loaded)


def test_first_and_last_name_are_joined_and_a_full_name_is_a_name(tmp_path: Path) -> None:
    text = """:a :firstName "Zofia" ; :lastName "Quarrel" ; :fullName "Zofia M. Quarrel" .
        :b :givenName "Ann" ; :familyName "Lee" ."""
    raw = raw_of(tmp_path, PREFIXES + text)
    policy = propose(raw)
    assert policy.names == (X + "fullName",)
    assert policy.composite_names == ((X + "firstName", X + "lastName"), (X + "givenName", X + "familyName"))
    loaded = load_graph(raw, policy, MID_KEY)
    assert node_named(loaded, "Zofia Quarrel").record.names == ("Zofia M. Quarrel", "Zofia Quarrel")
    assert {"first name", "last name"} <= set(labels_of(loaded))


def test_a_title_that_many_share_is_no_name(tmp_path: Path) -> None:
    people = "".join(f':p{n} :title "Dr" ; rdfs:label "Person {n}" . ' for n in range(5))
    books = "".join(f':b{n} :title "Book {n}" . ' for n in range(5))
    assert X + "title" not in propose(raw_of(tmp_path, PREFIXES + people)).names
    assert X + "title" in propose(raw_of(tmp_path, PREFIXES + books)).names


def test_companies_may_share_a_name_but_a_rank_is_none(tmp_path: Path) -> None:
    shops = "".join(f':s{n} :name "Corner Shop {n % 5}" . ' for n in range(20))
    ranks = "".join(f':s{n} :name "first rank" . ' for n in range(20))
    assert X + "name" in propose(raw_of(tmp_path, PREFIXES + shops)).names
    assert X + "name" not in propose(raw_of(tmp_path, PREFIXES + ranks)).names


def test_text_that_reads_as_years_dates_and_numbers_becomes_values(tmp_path: Path) -> None:
    rows = [
        f"film {n}\trelease_year\t{1980 + n}\nfilm {n}\trating\t{n}.5\nfilm {n}\tshown\t2001-0{n}-11"
        for n in range(1, 9)
    ]
    rows += [
        f"film {n}\tzip_code\t{10_000 + n}\nfilm {n}\tsequel\t{1990 + n}\n{1990 + n}\tsequel\tfilm {n}"
        for n in range(1, 9)
    ]
    rows += ["1984\trelease_year\t1984"]
    policy = propose(raw_of(tmp_path, "\n".join(rows), "a.tsv"))
    assert {predicate: settings.value_kind for predicate, settings in policy.relations.items()} == {
        "release_year": ValueKind.DATE,
        "rating": ValueKind.NUMBER,
        "shown": ValueKind.DATE,
    }


def test_untyped_literals_are_told_by_their_text_but_codes_stay_text(tmp_path: Path) -> None:
    text = "".join(
        f':x{n} :height "1.{n}" ; :ssn "84348138{n}" ; :code "00{n}" ; :note "n{n}" . ' for n in range(1, 6)
    )
    assert {p: s.value_kind for p, s in propose(raw_of(tmp_path, PREFIXES + text)).relations.items()} == {
        X + "height": ValueKind.NUMBER
    }


def test_inverse_marks_and_freebase_ids_are_recognised(tmp_path: Path) -> None:
    text = "Heat\tactor\tm.0gx8\nm.0gx8\tperson\tPacino\nPacino\t~person\tm.0gx8\n"
    policy = propose(raw_of(tmp_path, text, "a.tsv"))
    assert policy.inverse_prefix == "~"
    loaded = load_graph(raw_of(tmp_path, text, "a.tsv"), policy, MID_KEY)
    assert facts_of(loaded) == {("Heat", "actor", "mediator"), ("mediator", "person", "Pacino")}


def test_a_tilde_that_has_no_counterpart_is_part_of_the_word(tmp_path: Path) -> None:
    assert propose(raw_of(tmp_path, "a\t~approximately\tb\n", "a.tsv")).inverse_prefix is None


def test_wikidata_is_recognised(tmp_path: Path) -> None:
    loaded = loaded_as_proposed(tmp_path, WIKIDATA)
    assert ("Zofia Quarrel", "prop position held", "mediator") in facts_of(loaded)
    assert ("human",) in {signature.classes for signature in loaded.signatures}
    assert "instance of" not in labels_of(loaded)


def test_a_preview_shows_what_a_model_sees_and_no_name(tmp_path: Path) -> None:
    raw = raw_of(tmp_path, CLINIC)
    seen = preview(raw, propose(raw), sample=10)
    assert (seen.triples, seen.entities, seen.values, seen.mediators) == (12, 5, 5, 1)
    assert {entity.concept for entity in seen.sample} == {"patient", "doctor", "ward"}
    shown = repr(seen)
    for node in load_graph(raw, propose(raw), MID_KEY).nodes():
        for secret in (*node.record.names, node.record.lexical):
            assert not secret or len(secret) < 3 or secret not in shown
    zofia = next(entity for entity in seen.sample if entity.name == "Zofia Quarrel")
    facts = {(fact.relation, fact.end.split(" ", 1)[1]) for fact in zofia.facts}
    assert {("treated by", "(doctor)"), ("^of|seen by", "(doctor)"), ("born on", "(date)")} <= facts


def test_the_hospital_works_at_the_first_try() -> None:
    loaded, policy = loaded_real("rdf/hospital.ttl")
    own = "https://example.org/vocabulary/"
    assert policy.names == (own + "label", own + "name", own + "legalName")
    assert {"Mark Hamming", "Ellen Jones", "Saint Thomas Hospital", "Meyer Pavilion", "pediatrics"} <= all_names(
        loaded
    )
    assert not {"Doctor", "Patient", "Employee"} & all_names(loaded)
    assert {"takes care of", "hospitalized in", "diagnosis", "specializes in"} <= set(labels_of(loaded))
    assert ("doctor", "employee", "person") in {signature.classes for signature in loaded.signatures}
    kinds = {relation.label: relation.value_kind for relation in loaded.relations}
    assert (kinds["birth date"], kinds["admitted"], kinds["bed capacity"]) == ("date", "date", "number")


@pytest.mark.slow
def test_the_bank_works_at_the_first_try() -> None:
    loaded, policy = loaded_real("rdf/aml.ttl")
    assert policy.composite_names == (("tag:stardog:demo:aml:firstName", "tag:stardog:demo:aml:lastName"),)
    names = all_names(loaded)
    assert {"Sean Bowman", "Npath", "transaction 23249", "bank account 8223-4445-5171-5212"} <= names
    assert loaded.counts[NodeKind.ENTITY] > 25_000


def test_the_customers_work_at_the_first_try() -> None:
    loaded, policy = loaded_real("rdf/c360.ttl")
    assert policy.names == ("http://example.com/c360/fullName",)
    assert {"Gabriello Stocky", "purchase 29414805", "product 306"} <= all_names(loaded)
    assert loaded.counts[NodeKind.MEDIATOR] == 500
    assert node_named(loaded, "723-58-6387").linkable


def test_friends_of_a_friend_work_at_the_first_try() -> None:
    loaded, _ = loaded_real("rdf/rdflib_foaf_people.n3")
    assert {"Dean Jackson", "Tim Berners-Lee's FOAF file", "World Wide Web Consortium"} <= all_names(loaded)
    assert {"knows", "maker", "same as"} <= set(labels_of(loaded))


@pytest.mark.slow
def test_films_work_at_the_first_try() -> None:
    loaded, policy = loaded_real("metaqa/kb.txt")
    assert {p: s.value_kind for p, s in policy.relations.items()} == {"release_year": ValueKind.DATE}
    assert len(loaded.relations) == 9
    assert loaded.facts == 133_582


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "facts", "mediators"), [("webqsp/triples.tsv", 137_290, 25_743), ("opendialkg/triples.tsv", 218_342, 0)]
)
def test_freebase_cuts_work_at_the_first_try(name: str, facts: int, mediators: int) -> None:
    loaded, _ = loaded_real(name)
    assert loaded.facts == facts
    assert loaded.counts[NodeKind.MEDIATOR] == mediators
    kinds = {relation.iri: relation.value_kind for relation in loaded.relations}
    year = "people.person.date_of_birth" if "webqsp" in name else "release_year"
    assert kinds[year] is ValueKind.DATE
