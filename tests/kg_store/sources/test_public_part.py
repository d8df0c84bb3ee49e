"""A public graph beside a private one: what is the same is one node, and nothing of it makes a private name public."""

from __future__ import annotations

from pathlib import Path

import pytest

from kg_store.errors import LoadError, PolicyError
from kg_store.loading.load import load_graph
from kg_store.proposals.public_files import is_left_open, only_public, read_left_open, read_with_public
from kg_store.sources.policy import Policy, PublicPolicy
from kg_store.sources.reader import read_by_policy
from tests.kg_store.loading.test_load import facts_of

PREFIXES = "@prefix : <http://one.invalid/> .\n@prefix p: <http://two.invalid/> .\n" + (
    "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
)
PRIVATE = """
:a a :Patient ; rdfs:label "Ann Zorvik" ; :takes :d1 .  :b a :Patient ; rdfs:label "Bo Quill" ; :takes :d2 .
:c a :Patient ; rdfs:label "Cy Tamm" ; :takes :d3 , :d4 .
:d1 a :Drug ; rdfs:label "Warfazol" ; :atc "B01" .  :d2 a :Drug ; rdfs:label "Ibuvex" ; :atc "M01" .
:d3 a :Drug ; rdfs:label "Statinol" ; :atc "C10" .  :d4 a :Drug ; rdfs:label "House mixture" ; :atc "X99" .
"""
PUBLIC = """
p:w a p:Medicine ; rdfs:label "warfazol" ; p:foodToAvoid p:g ; p:atc "B01" .
p:i a p:Medicine ; rdfs:label "IBUVEX" ; p:foodToAvoid p:m ; p:atc "M01" .
p:s a p:Medicine ; rdfs:label "Statinol" ; p:atc "C10" .  p:s2 a p:Medicine ; rdfs:label "Statinol" ; p:atc "C11" .
p:x a p:Medicine ; rdfs:label "Xylon" ; p:foodToAvoid p:g .
p:g a p:Food ; rdfs:label "Grapefruit" .  p:m a p:Food ; rdfs:label "Milk" .
"""


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    (tmp_path / "ward.ttl").write_text(PREFIXES + PRIVATE)
    (tmp_path / "drugs.ttl").write_text(PREFIXES + PUBLIC)
    return [tmp_path / "ward.ttl", tmp_path / "drugs.ttl"]


def _policy(**bridges: str) -> Policy:
    return Policy(public=PublicPolicy(files=("drugs.ttl",), bridges=bridges))


def test_bridged_things_are_one_and_others_stay_apart(files: list[Path]) -> None:
    raw = read_by_policy(files, _policy(drug="label"))
    facts = {" - ".join(fact) for fact in facts_of(load_graph(raw, _policy(drug="label"), b"k" * 32))}
    assert {"Ann Zorvik - takes - Warfazol", "Warfazol - food to avoid - Grapefruit"} <= facts
    assert "Xylon - food to avoid - Grapefruit" in facts
    assert raw.notes == (
        "`drug`: 2 things stand in the public files too, 1 are in the private files alone, 1 are called like several "
        "of them and stay apart; 2 of them belong to one private thing alone",
    )


def test_a_bridge_may_go_by_a_code_that_both_have(files: list[Path]) -> None:
    raw = read_by_policy(files, _policy(drug="atc"))
    assert raw.notes == (
        "`drug`: 3 things stand in the public files too, 1 are in the private files alone; 3 of them belong to one "
        "private thing alone",
    )


def test_only_what_private_files_do_not_tell_of_is_public(files: list[Path]) -> None:
    raw = read_by_policy(files, _policy(drug="label"))
    loaded = load_graph(raw, _policy(drug="label"), b"k" * 32)
    names = {node.mid: (*node.record.names, node.record.lexical)[0] for node in loaded.nodes()}
    # "B01" and "M01" are values of both files, and "C10" too.
    assert {names[mid] for mid in loaded.public_nodes.tolist()} == {"Xylon", "Grapefruit", "Milk", "Statinol", "C11"}
    assert not len(load_graph(read_by_policy(files[:1], Policy()), Policy(), b"k" * 32).public_nodes)


def test_texts_that_are_called_like_public_things_become_things(files: list[Path]) -> None:
    cells = "a,Warfazol,4,bad\nb,Ibuvex,2,good\nc,Warfazol,7,bad\nd,Xylon,3,good\ne,Ibuvex,1,good\nf,Aspidrine,6,bad\n"
    files[0] = files[0].with_name("courses.csv")
    files[0].write_text(f"patient,drug,days,effect\n{cells}")
    policy = read_with_public(files[:1], files[1:])[1]
    assert policy.public.bridges == {"drug": "label"}
    assert policy.tables[0].columns["drug"].concept == "drug"


def test_without_a_bridge_nothing_is_joined(files: list[Path]) -> None:
    alone = read_by_policy(files[:1], Policy())
    both = read_by_policy(files, _policy())
    assert len(both.subjects) == len(alone.subjects) + len(read_by_policy(files[1:], Policy()).subjects)
    assert not {"<http://two.invalid/w>", "<http://one.invalid/d1>"} - set(both.terms)


def test_a_name_of_the_private_files_masks_a_word_of_the_public_ones(files: list[Path]) -> None:
    files[0].write_text(files[0].read_text() + ':z a :Patient ; rdfs:label "Zorvika Price" ; :takes :d1 .')
    files[1].write_text(files[1].read_text() + "p:x p:price 4 ; p:grexPrulm 5 .")
    relations = load_graph(read_by_policy(files, _policy()), _policy(), b"k" * 32).relations
    shown = {each.label for each in relations if each.mask is None}
    assert "price" not in shown
    assert {"grex prulm", "food to avoid"} <= shown


def test_nameless_nodes_of_the_two_graphs_stay_apart(tmp_path: Path) -> None:
    for name in ("ward.ttl", "drugs.ttl"):
        (tmp_path / name).write_text(f'{PREFIXES}_:b :{name[:4]} [ rdfs:label "of {name}" ] .')
    files = [tmp_path / "ward.ttl", tmp_path / "drugs.ttl"]
    raw = read_by_policy(files, _policy())
    ours, theirs = (read_by_policy([each], Policy()) for each in files)
    assert sum(term[0] == "_" for term in raw.terms) == sum(
        term[0] == "_" for each in (ours, theirs) for term in each.terms
    )


def test_words_of_the_public_files_alone_need_no_mask(files: list[Path]) -> None:
    raw = read_by_policy(files, _policy(drug="label"))
    assert "http://two.invalid/foodToAvoid" in raw.public_words
    assert not {"http://one.invalid/takes", "http://one.invalid/Patient"} & raw.public_words


def test_a_proposal_bridges_what_is_called_alike(files: list[Path]) -> None:
    ours, theirs = (
        "\n".join(f'{prefix}:e{at} a {prefix}:{kind} ; rdfs:label "Drug{at}ol" .' for at in range(3))
        for prefix, kind in (("", "Drug"), ("p", "Medicine"))
    )
    files[0].write_text(PREFIXES + PRIVATE + ours)
    files[1].write_text(PREFIXES + PUBLIC + theirs)
    _raw, policy = read_with_public(files[:1], files[1:])
    assert policy.public == PublicPolicy(files=("drugs.ttl",), bridges={"drug": "label"})
    assert Policy.from_toml(policy.to_toml()) == policy
    left_open = Policy.from_toml('[public]\nfiles = ["drugs.ttl"]')
    assert is_left_open(left_open)
    assert not is_left_open(policy)
    assert read_left_open(files, left_open)[1] == policy


def test_tables_are_read_by_the_policy_that_was_proposed_for_them(tmp_path: Path) -> None:
    rows = [f"p{n},Ann Zor{n},{('Ashby', 'Norvik')[n % 2]},Drug{n % 5}ol\n" for n in range(10)]
    (tmp_path / "ward.csv").write_text("id,patient,city,drug\n" + "".join(rows))
    (tmp_path / "drugs.csv").write_text("drug,food\n" + "".join(f"Drug{n}ol,food {n % 2}\n" for n in range(5)))
    files = [tmp_path / "ward.csv", tmp_path / "drugs.csv"]
    raw, policy = read_left_open(files, only_public(["drugs.csv"]))
    assert len(policy.tables) == 2
    again = read_by_policy(files, Policy.from_toml(policy.to_toml()))
    assert (sorted(again.terms), again.notes) == (sorted(raw.terms), raw.notes)
    assert again.notes[0].startswith("`drug`: 5 things stand in the public files too")


def test_what_can_not_be_joined_is_an_error_that_says_what_there_is(files: list[Path]) -> None:
    with pytest.raises(LoadError, match="bridge 1 of the policy is for no kind"):
        read_by_policy(files, _policy(medicine="label"))
    with pytest.raises(LoadError, match="1 of the public files that the policy lists"):
        read_by_policy(files[:1], _policy(drug="label"))
    with pytest.raises(LoadError, match="all files are public, so there is nothing to bridge"):
        read_by_policy(files[1:], _policy(drug="label"))
    assert only_public(["drugs.ttl.gz"]) == only_public(["drugs.ttl"])
    with pytest.raises(PolicyError, match="add `files`"):
        Policy.from_toml('[public.bridges]\ndrug = "label"')


def test_a_graph_all_of_whose_files_are_public_is_public_and_masks_nothing(files: list[Path]) -> None:
    files[1].write_text(files[1].read_text() + 'p:q a p:Medicine ; rdfs:label "grex prulm" ; p:grexPrulm p:g .')
    policy = Policy.from_toml('[public]\nfiles = ["drugs.ttl"]\nsource = "Two"\nlicence = "CC0"')
    raw, proposed = read_left_open(files[1:], policy)
    assert (proposed.public, raw.is_public) == (policy.public, True)
    loaded = load_graph(raw, proposed, b"k" * 32)
    assert loaded.is_public
    assert "grex prulm" in {each.label for each in loaded.relations if each.mask is None}
    again = load_graph(read_by_policy(files[1:], Policy.from_toml(proposed.to_toml())), proposed, b"k" * 32)
    assert (again.is_public, facts_of(again)) == (True, facts_of(loaded))
    assert again.notes[0].startswith("all its files are public")
    assert not load_graph(read_by_policy(files, _policy()), _policy(), b"k" * 32).is_public


def test_a_policy_that_says_only_which_files_are_public_and_which_are_triples_is_left_open(tmp_path: Path) -> None:
    (tmp_path / "common.tsv").write_text("UsedFor\tpan\tcook\nIsA\tpan\tpot\n")
    told = '[public]\nfiles = ["common.tsv"]\n\n[[triples]]\nfile = "common.tsv"\ncolumns = [2, 1, 3]\n'
    policy = Policy.from_toml(told)
    assert is_left_open(policy)
    raw, proposed = read_left_open([tmp_path / "common.tsv"], policy)
    assert facts_of(load_graph(raw, proposed, b"k" * 32)) == {("pan", "UsedFor", "cook"), ("pan", "IsA", "pot")}
