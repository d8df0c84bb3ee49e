"""Loading: which triples become names, classes, schema and facts, and how values are treated."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kg_store.errors import LoadError
from kg_store.loading.load import LoadedGraph, load_graph
from kg_store.sources.policy import MediatorPolicy, Policy, RelationPolicy
from kg_store.sources.reader import read_sources
from kg_store.terms import NodeKind, ValueKind, ValueView
from tests.support.stores import (
    CLINIC,
    MID_KEY,
    PREFIXES,
    all_names,
    labels_of,
    loaded_of,
    node_named,
    raw_of,
    written,
)

X = "http://clinic.test/"
WIKIDATA = """@prefix wd: <http://www.wikidata.org/entity/> .
@prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix p: <http://www.wikidata.org/prop/> .
@prefix ps: <http://www.wikidata.org/prop/statement/> .
@prefix s: <http://www.wikidata.org/entity/statement/> .
@prefix wikibase: <http://wikiba.se/ontology#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
wd:P19 a wikibase:Property ; rdfs:label "place of birth"@en, "Geburtsort"@de ; wikibase:directClaim wdt:P19 .
wd:P39 rdfs:label "position held"@en .
wd:P31 rdfs:label "instance of"@en .
wd:Q1 rdfs:label "Zofia Quarrel"@en ; wdt:P31 wd:Q5 ; wdt:P19 wd:Q2 ; p:P39 s:Q1-abc ; wdt:P106 wd:Q4 .
s:Q1-abc ps:P39 wd:Q3 .
wd:Q2 rdfs:label "Kestrelburg"@en ; wdt:P31 wd:Q515 .
wd:Q3 rdfs:label "Lord Warden"@en .
wd:Q4 rdfs:label "glassblower"@en ; wdt:P279 wd:Q6 .
wd:Q5 rdfs:label "human"@en .
wd:Q515 rdfs:label "city"@en ; wdt:P279 wd:Q7 .
wd:Q7 rdfs:label "settlement"@en .
"""
WIKIDATA_POLICY = Policy(
    type_predicates=(*Policy().type_predicates, "http://www.wikidata.org/prop/direct/P31"),
    subclass_predicates=("http://www.wikidata.org/prop/direct/P279",),
    mediators=MediatorPolicy(pattern="/entity/statement/"),
)


def facts_of(loaded: LoadedGraph) -> set[tuple[str, str, str]]:
    """Every fact in names, mediators as their kind: read from the arrays, so that both directions are tested."""
    arrays, shown = loaded.adjacency, {}
    for node in loaded.nodes():
        record = node.record
        shown[node.mid] = record.names[0] if record.names else record.lexical or record.kind.value
    found = set()
    for position, mid in enumerate(arrays.mids.tolist()):
        hops = loaded.signatures[arrays.signatures[position]].hops
        for rank, hop in enumerate(hops):
            group = int(arrays.group_starts[position]) + rank
            for target in arrays.targets[arrays.target_starts[group] : arrays.target_starts[group + 1]].tolist():
                pair = (shown[mid], shown[int(arrays.mids[target])])
                head, tail = pair[::-1] if hop.inverse else pair
                found.add((head, loaded.relations[hop.relation].label, tail))
    return found


def classes_of(loaded: LoadedGraph, name: str) -> tuple[str, ...]:
    position = int(np.searchsorted(loaded.adjacency.mids, node_named(loaded, name).mid))
    return loaded.signatures[loaded.adjacency.signatures[position]].classes


def test_names_are_names_and_everything_else_is_a_fact(tmp_path: Path) -> None:
    loaded = loaded_of(tmp_path, CLINIC)
    assert facts_of(loaded) == {
        ("Zofia Quarrel", "treated by", "Ottoline Brackwater"),
        ("Zofia Quarrel", "born on", "1961-02-11"),
        ("Zofia Quarrel", "weight", "71.5"),
        ("Zofia Quarrel", "ssn", "843-48-1389"),
        ("Aurelio Vantongeren", "treated by", "Ottoline Brackwater"),
        ("Aurelio Vantongeren", "treated by", "Ptolemy Ashgrove"),
        ("Aurelio Vantongeren", "weight", "80"),
        ("Ottoline Brackwater", "works in", "Kestrel Wing"),
        ("Ptolemy Ashgrove", "works in", "Kestrel Wing"),
        ("mediator", "of", "Zofia Quarrel"),
        ("mediator", "seen by", "Ptolemy Ashgrove"),
        ("mediator", "on", "2020-03-12"),
    }
    assert loaded.facts == 12
    assert loaded.counts == {NodeKind.ENTITY: 5, NodeKind.VALUE: 5, NodeKind.MEDIATOR: 1}


def test_names_of_all_languages_are_kept_and_the_english_one_is_preferred(tmp_path: Path) -> None:
    loaded = loaded_of(tmp_path, CLINIC)
    assert node_named(loaded, "Sofie Quarrel").record.names == ("Zofia Quarrel", "Sofie Quarrel", "Zosia Q")


def test_a_label_comes_before_an_alias_whatever_its_language(tmp_path: Path) -> None:
    text = PREFIXES + ':p1 skos:altLabel "Zosia"@en ; rdfs:label "Sofie Quarrel"@de ; :knows :p2 .'
    assert node_named(loaded_of(tmp_path, text), "Zosia").record.names == ("Sofie Quarrel", "Zosia")


def test_first_and_last_name_make_a_name_and_stay_values(tmp_path: Path) -> None:
    policy = Policy(composite_names=((X + "first", X + "last"),))
    text = PREFIXES + ':Person-1 :first "Zofia" ; :last "Quarrel" . :Person-2 :last "Ashgrove" ; :knows :Person-1 .'
    loaded = loaded_of(tmp_path, text, policy)
    assert node_named(loaded, "Zofia Quarrel").record.names == ("Zofia Quarrel", "Person-1")
    assert node_named(loaded, "Zofia").linkable
    assert node_named(loaded, "Person-2").record.names == ("Person-2", "person 2")


@pytest.mark.parametrize(
    ("turtle", "names"),
    [
        (":John_Gage :knows :x .", {"John Gage", "John_Gage", "x"}),
        (":CVSurgery :knows :x .", {"CV Surgery", "CVSurgery", "x"}),
        (
            "<http://clinic.test/purchase-29414805-74d3-47dd-8d19-c31cfcf27cb0> a :Order ; :of :x .",
            {
                "order 29414805",
                "order 29414805-74d3-47dd-8d19-c31cfcf27cb0",
                "purchase-29414805-74d3-47dd-8d19-c31cfcf27cb0",
                "x",
            },
        ),
        ("<http://clinic.test/staff/834> :of :x .", {"staff 834", "834", "x"}),
        (":Tx-17 a :BankTransfer ; :of :x .", {"bank transfer 17", "Tx-17", "x"}),
        ("<mailto:dean@w3.test> :of :x .", {"dean@w3.test", "x"}),
        ("<http://clinic.test/k%C3%B6nig> :of :x .", {"könig", "x"}),
        (":x :homepage <http://quarrel.test/zofia/> .", {"quarrel.test/zofia", "zofia", "x"}),
        ("<http://clinic.test/Ward/> a :Ward ; :of :x .", {"Ward", "x"}),
    ],
)
def test_a_node_without_a_label_is_called_by_its_iri(tmp_path: Path, turtle: str, names: set[str]) -> None:
    assert all_names(loaded_of(tmp_path, PREFIXES + turtle)) == names


def test_a_short_id_that_two_nodes_share_names_neither(tmp_path: Path) -> None:
    one, two = (f":order-29414805-74d3-47dd-8d19-c31cfcf27cb{end}" for end in "01")
    loaded = loaded_of(tmp_path, PREFIXES + f"{one} :of {two} .")
    preferred = {node.record.names[0] for node in loaded.nodes()}
    assert preferred == {f"order-29414805-74d3-47dd-8d19-c31cfcf27cb{end}" for end in "01"}


def test_the_local_part_is_a_further_name_unless_it_is_a_bare_number(tmp_path: Path) -> None:
    text = (
        PREFIXES
        + ':kes-1 rdfs:label "Kestrel" . <http://clinic.test/w/12345> a :Ward ; rdfs:label "Wing" ; :of :kes-1 .'
    )
    loaded = loaded_of(tmp_path, text)
    assert node_named(loaded, "Kestrel").record.names == ("Kestrel", "kes-1")
    assert node_named(loaded, "Wing").record.names == ("Wing", "ward 12345")


def test_local_parts_name_nobody_where_the_policy_says_so(tmp_path: Path) -> None:
    text = PREFIXES + ':patient17 rdfs:label "Zofia" ; :knows :patient18 .'
    assert all_names(loaded_of(tmp_path, text, Policy(local_part_names=False))) == {"Zofia"}


def test_a_blank_node_with_a_name_is_an_entity(tmp_path: Path) -> None:
    loaded = loaded_of(tmp_path, PREFIXES + '[] rdfs:label "Zofia Quarrel" ; :in [ :ward :w1 ] .')
    assert node_named(loaded, "Zofia Quarrel").record.kind is NodeKind.ENTITY
    assert loaded.counts[NodeKind.MEDIATOR] == 1


def test_mediators_are_told_by_pattern_and_class_unless_they_have_a_name(tmp_path: Path) -> None:
    policy = Policy(mediators=MediatorPolicy(blank_nodes=False, pattern=r"/m\.\d+$", classes=(X + "Stay",)))
    text = PREFIXES + ':m.1 :of :p . :m.2 rdfs:label "Zofia" ; :of :p . :s a :Stay ; :of :p . [] :of :p .'
    loaded = loaded_of(tmp_path, text, policy)
    kinds = sorted(node.record.kind.value for node in loaded.nodes())
    assert kinds == ["entity", "entity", "entity", "mediator", "mediator"]


def test_a_pattern_that_backtracks_is_matched_without(tmp_path: Path) -> None:
    """Tried way by way, there are 2 to the power of 4,999."""
    policy = Policy(mediators=MediatorPolicy(pattern=r"^urn:(x+)+\.$"))
    text = PREFIXES + f'<urn:{"x" * 5_000}> :of [ rdfs:label "Zofia" ] .'
    assert loaded_of(tmp_path, text, policy).counts[NodeKind.MEDIATOR] == 0


def test_classes_are_schema_the_most_specific_first(tmp_path: Path) -> None:
    text = (
        PREFIXES
        + """:Surgeon rdfs:subClassOf :Doctor . :Doctor rdfs:subClassOf :Person ; rdfs:label "Medical doctor" .
        :Person rdfs:subClassOf :Surgeon .
        :d1 a :Surgeon, owl:NamedIndividual ; rdfs:label "Ottoline" ; :knows :d2 . :d2 a :Person ."""
    )
    loaded = loaded_of(tmp_path, text)
    assert classes_of(loaded, "Ottoline") == ("surgeon", "medical doctor", "person")
    assert all_names(loaded) == {"Ottoline", "d2"}
    hidden = loaded_of(tmp_path, text, Policy(types="hide"))
    assert {signature.classes for signature in hidden.signatures} == {()}


def test_an_ontology_is_schema_and_no_part_of_the_facts(tmp_path: Path) -> None:
    text = (
        PREFIXES
        + """<http://clinic.test/onto> a owl:Ontology ; rdfs:label "The ontology" .
        :Doctor a owl:Class ; rdfs:label "Doctor"@en ; rdfs:comment "Who treats" ;
            rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :treats ; owl:someValuesFrom :Patient ] .
        :treats a owl:ObjectProperty ; rdfs:label "gives care to"@en ; rdfs:domain :Doctor ;
            rdfs:comment "long" ; owl:inverseOf :treatedBy .
        :treatedBy a owl:ObjectProperty ; rdfs:label "under the care of"@en .
        :d1 a :Doctor ; :treats :p1 . :p1 :treatedBy :d1 ."""
    )
    loaded = loaded_of(tmp_path, text)
    assert facts_of(loaded) == {("d1", "gives care to", "p1"), ("p1", "under the care of", "d1")}
    assert [relation.inverse_label for relation in loaded.relations] == ["gives care to", "under the care of"]
    assert classes_of(loaded, "d1") == ("doctor",)


def test_a_class_that_facts_speak_of_stays_a_node(tmp_path: Path) -> None:
    text = PREFIXES + ':r a :Eagle ; rdfs:label "Rex" . :Eagle a :Species ; rdfs:label "Eagle" ; :livesIn :alps .'
    loaded = loaded_of(tmp_path, text)
    assert ("Eagle", "lives in", "alps") in facts_of(loaded)
    assert classes_of(loaded, "Rex") == ("eagle",)
    assert classes_of(loaded, "Eagle") == ("species",)


def test_wikidata_labels_name_relations_classes_and_entities(tmp_path: Path) -> None:
    policy = WIKIDATA_POLICY.model_copy(update={"show_relations": ("p106",)})
    loaded = loaded_of(tmp_path, WIKIDATA, policy)
    assert facts_of(loaded) == {
        ("Zofia Quarrel", "place of birth", "Kestrelburg"),
        ("Zofia Quarrel", "prop position held", "mediator"),
        ("mediator", "statement position held", "Lord Warden"),
        ("Zofia Quarrel", "p106", "glassblower"),
    }
    assert classes_of(loaded, "Kestrelburg") == ("city", "settlement")
    assert classes_of(loaded, "Zofia Quarrel") == ("human",)
    assert "place of birth" not in all_names(loaded)


def test_instance_of_is_an_ordinary_relation_unless_the_policy_makes_it_a_type(tmp_path: Path) -> None:
    loaded = loaded_of(tmp_path, WIKIDATA)
    assert ("Zofia Quarrel", "instance of", "human") in facts_of(loaded)


def test_the_policy_renames_and_hides_relations(tmp_path: Path) -> None:
    policy = Policy(
        relations={
            X + "treatedBy": RelationPolicy(label="in care of", inverse_label="cares for"),
            X + "ssn": RelationPolicy(hide=True),
            X + "weight": RelationPolicy(values=ValueView.NEVER),
            X + "nothing": RelationPolicy(hide=True),
        }
    )
    loaded = loaded_of(tmp_path, CLINIC, policy)
    assert labels_of(loaded) == ["born on", "of", "on", "seen by", "in care of", "works in"]
    assert loaded.relations[4].inverse_label == "cares for"
    assert loaded.notes == ("1 predicates of the policy occur in no source",)
    for secret in ("843-48-1389", "71.5"):
        node = node_named(loaded, secret)
        assert (node.record.hidden, node.linkable, node.protected) == (True, False, True)
        assert node.mid not in loaded.adjacency.mids


def test_a_value_that_another_relation_shows_is_not_hidden_but_stays_protected(tmp_path: Path) -> None:
    policy = Policy(relations={X + "a": RelationPolicy(hide=True), X + "b": RelationPolicy(values=ValueView.CLEAR)})
    loaded = loaded_of(tmp_path, PREFIXES + ':x :a "both" ; :b "both", "open" .', policy)
    both, shown = node_named(loaded, "both"), node_named(loaded, "open")
    assert (both.record.hidden, both.protected, shown.protected) == (False, True, False)
    assert loaded.facts == 2


def test_values_are_linkable_when_they_are_short_and_protected_unless_open(tmp_path: Path) -> None:
    policy = Policy(
        relations={
            X + "nick": RelationPolicy(linkable=False),
            X + "year": RelationPolicy(values=ValueView.YEAR),
            X + "on": RelationPolicy(values=ValueView.YEAR),
        }
    )
    text = PREFIXES + (
        f':x :note "{"long " * 20}", "short" ; :nick "Zo" ; :year "1999"^^xsd:gYear ; :on "1961-02-11"^^xsd:date ;'
        " :alive true ; :dose 5 ."
    )
    nodes = {node.record.lexical: node for node in loaded_of(tmp_path, text, policy).nodes() if node.record.lexical}
    flags = {lexical: (node.linkable, node.protected) for lexical, node in nodes.items()}
    assert flags == {
        "long " * 20: (False, True),
        "short": (True, True),
        "Zo": (False, True),
        "1999": (True, False),
        "1961-02-11": (True, True),
        "true": (False, False),
        "5": (True, True),
    }


def test_text_objects_become_values_where_the_policy_gives_a_kind(tmp_path: Path) -> None:
    policy = Policy(relations={"year": RelationPolicy(value_kind=ValueKind.DATE)})
    loaded = loaded_of(tmp_path, "1984\tyear\t1984\nBrazil\tyear\tunknown\nBrazil\tlike\t1984\n", policy, "a.tsv")
    values = {node.record.lexical: node.record.value_kind for node in loaded.nodes() if node.record.lexical}
    assert values == {"1984": ValueKind.DATE, "unknown": ValueKind.TEXT}
    assert loaded.counts[NodeKind.ENTITY] == 2
    assert facts_of(loaded) == {("1984", "year", "1984"), ("Brazil", "year", "unknown"), ("Brazil", "like", "1984")}


def test_the_same_text_of_two_kinds_is_two_values(tmp_path: Path) -> None:
    policy = Policy(
        relations={
            X + "in": RelationPolicy(value_kind=ValueKind.DATE),
            X + "pages": RelationPolicy(value_kind=ValueKind.NUMBER),
        }
    )
    loaded = loaded_of(tmp_path, PREFIXES + ':b :in "1984" ; :pages "1984" ; :next <http://clinic.test/c> .', policy)
    assert sorted(n.record.value_kind for n in loaded.nodes() if n.record.lexical) == ["date", "number"]


def test_names_of_text_triples_are_read_by_policy(tmp_path: Path) -> None:
    policy = Policy(names=("name",), mediators=MediatorPolicy(pattern=r"^m\."))
    loaded = loaded_of(tmp_path, "m.1\tname\tZofia_Quarrel\nm.1\tknows\tm.2\nm.2\tof\tann_lee\n", policy, "a.tsv")
    assert node_named(loaded, "Zofia_Quarrel").record.kind is NodeKind.ENTITY
    assert node_named(loaded, "ann lee").record.names == ("ann lee", "ann_lee")
    assert loaded.counts[NodeKind.MEDIATOR] == 1


def test_marked_predicates_are_walked_backwards(tmp_path: Path) -> None:
    text = "Heat\tdirected by\tMann\nMann\t~directed by\tHeat\nBale\t~starring\tHeat\n"
    loaded = loaded_of(tmp_path, text, Policy(inverse_prefix="~"), "a.tsv")
    assert facts_of(loaded) == {("Heat", "directed by", "Mann"), ("Heat", "starring", "Bale")}


def test_a_triple_that_stands_there_twice_counts_once(tmp_path: Path) -> None:
    assert loaded_of(tmp_path, CLINIC + CLINIC.removeprefix(PREFIXES).replace("[]", "_:other")).facts == 15


def test_mids_are_the_same_whatever_the_order_and_the_format(tmp_path: Path) -> None:
    raw = raw_of(tmp_path, CLINIC)
    lines = [
        " ".join((raw.terms[s], raw.terms[p], raw.terms[o], "."))
        for s, p, o in zip(raw.subjects, raw.predicates, raw.objects, strict=True)
    ]
    turned = "\n".join(reversed(lines)).replace("_:0.", "_:renamed")
    first, second = loaded_of(tmp_path, CLINIC), loaded_of(tmp_path, turned, name="turned.nt")
    assert (first.adjacency.mids == second.adjacency.mids).all()
    assert facts_of(first) == facts_of(second)


def test_a_blank_node_keeps_its_mid_when_others_come_and_go(tmp_path: Path) -> None:
    one = '[] rdfs:label "Zofia" ; :age 41 . '
    more = '[] rdfs:label "Aurelio" ; :age 42 . [] rdfs:label "Ptolemy" ; :in [ :ward :w ] . '
    first, second = loaded_of(tmp_path, PREFIXES + one), loaded_of(tmp_path, PREFIXES + more + one)
    assert node_named(first, "Zofia").mid == node_named(second, "Zofia").mid


def test_blank_nodes_that_look_alike_stay_apart(tmp_path: Path) -> None:
    loaded = loaded_of(tmp_path, PREFIXES + "[] :of :p . [] :of :p . [] :of :p .")
    assert loaded.counts[NodeKind.MEDIATOR] == 3
    assert loaded.facts == 3


def test_a_relation_leads_to_one_kind_of_value_or_to_things(tmp_path: Path) -> None:
    text = PREFIXES + ':x :size 1, 2, "big" ; :like "tea", :y ; :on "2020-03-12"^^xsd:date .'
    kinds = {relation.label: relation.value_kind for relation in loaded_of(tmp_path, text).relations}
    assert kinds == {"size": ValueKind.NUMBER, "like": None, "on": ValueKind.DATE}


def test_a_load_of_names_and_schema_alone_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="no individual"):
        loaded_of(tmp_path, PREFIXES + ":Doctor rdfs:subClassOf :Person .")


def test_an_ontology_file_gives_labels_to_another_file(tmp_path: Path) -> None:
    data = written(tmp_path, PREFIXES + ":d1 :tco :p1 .", "data.ttl")
    ontology = written(tmp_path, PREFIXES + ':tco a owl:ObjectProperty ; rdfs:label "takes care of" .', "onto.ttl")
    loaded = load_graph(read_sources([data, ontology]), Policy(), MID_KEY)
    assert facts_of(loaded) == {("d1", "takes care of", "p1")}


def test_what_is_loaded_shows_no_name(tmp_path: Path) -> None:
    loaded = loaded_of(tmp_path, CLINIC)
    shown = repr(loaded) + "".join(map(repr, loaded.nodes()))
    for secret in ("Zofia", "Quarrel", "843-48", "Kestrel"):
        assert secret not in shown
