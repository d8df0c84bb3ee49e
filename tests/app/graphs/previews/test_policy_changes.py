"""Changes to a policy: each does what it says, leaves other tables as they are, and is refused by its place alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.graphs.previews.policy_changes import role_of, with_changes
from app.graphs.previews.previewer import columns_of
from client_sdk.protocol import PolicyChanges
from kg_store.errors import PolicyError
from kg_store.proposals.propose import propose_policy
from kg_store.sources.policy import Policy
from kg_store.sources.table_policy import TablePolicy
from kg_store.terms import ValueKind, ValueView
from tests.kg_store.proposals.test_described_things import ORDERS
from tests.support.stores import written

PEOPLE = "person_id,first_name,last_name,email,notes,ward_id\n" + "".join(
    f"P{n},Zofia,Quarrel {chr(64 + n)},z{n}@a.test,calls often {n},W{1 + n % 3}\n" for n in range(1, 9)
)
WARDS = "ward_id,ward_name,notes\n" + "".join(f"W{n},Wing {chr(64 + n)},tiled in {n}\n" for n in range(1, 4))


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    return [written(tmp_path, PEOPLE, "people.csv"), written(tmp_path, WARDS, "wards.csv")]


def changed(files: list[Path], *columns: dict[str, Any], tables: tuple[dict[str, Any], ...] = ()) -> Policy:
    policy = propose_policy(files)
    headers = {each.table.file: list(each.columns) for each in columns_of(files, policy)}
    return with_changes(policy, PolicyChanges.model_validate({"columns": columns, "tables": tables}), headers)


def table(policy: Policy, file: str = "people.csv") -> TablePolicy:
    return next(each for each in policy.tables if each.file == file)


def of(column: str, **change: str) -> dict[str, str]:
    return {"file": "people.csv", "column": column, **change}


def test_roles_are_taken_and_left(files: list[Path]) -> None:
    policy = changed(files, of("email", role="key"), of("notes", role="unused"), of("first_name", role="value"))
    roles = {name: role_of(table(policy), name) for name in PEOPLE.splitlines()[0].split(",")}
    assert roles == {
        "person_id": "alias", "first_name": "value", "last_name": "name", "email": "key", "notes": "unused",
        "ward_id": "reference",
    }  # fmt: skip


def test_a_value_becomes_a_concept_a_reference_and_a_value_again(files: list[Path]) -> None:
    assert table(changed(files, of("notes", role="concept", concept="remark"))).columns["notes"].concept == "remark"
    assert (
        table(changed(files, of("notes", role="reference", refers_to="wards.csv"))).columns["notes"].table
        == "wards.csv"
    )
    number = table(changed(files, of("ward_id", role="value", type="number", unit="kg"))).columns["ward_id"]
    assert (number.kind, number.unit, number.table) == (ValueKind.NUMBER, "kg", None)


def test_what_told_of_a_thing_tells_of_the_row_where_the_thing_is_none_any_more(tmp_path: Path) -> None:
    files = [written(tmp_path, ORDERS, "orders.csv")]
    city = {"file": "orders.csv", "column": "customer_city"}
    settings = table(changed(files, {**city, "relation": "town"}), "orders.csv").columns["customer_city"]
    assert (settings.of, settings.relation) == ("customer_name", "town")
    for change in ({"role": "value"}, {"separator": ";"}, {"role": "unused"}):
        left = table(changed(files, {"file": "orders.csv", "column": "customer_name", **change}), "orders.csv")
        assert left.columns["customer_city"].of is None
        assert left.columns["product_price"].of == "product"


def test_a_column_below_a_year_becomes_one_of_its_own(tmp_path: Path) -> None:
    text = "Country,Code,2019,2020,2021\nArlovia,ARL,100,110,120\nBrent,BRE,90,80,70\nCoria,COR,1,2,3\n"
    files = [written(tmp_path, text, "population.csv")]
    before = table(propose_policy(files), "population.csv")
    assert (role_of(before, "2020"), role_of(before, "Code")) == ("value", "key")
    for change, role in (({"relation": "people in 2020"}, "value"), ({"role": "unused"}, "unused")):
        after = table(changed(files, {"file": "population.csv", "column": "2020", **change}), "population.csv")
        assert ([*after.spread[0].columns], role_of(after, "2020")) == (["2019", "2021"], role)


def test_what_is_shown_of_one_table_stays_private_in_the_other(files: list[Path]) -> None:
    """Canary: both tables have `notes`, and only the wards' are shown."""
    policy = changed(files, {"file": "wards.csv", "column": "notes", "exposure": "shown"})
    shown = table(policy, "wards.csv").relation_iri("notes")
    private = table(policy).relation_iri("notes")
    assert policy.of(shown).values is ValueView.CLEAR
    assert policy.of(private).values is ValueView.PSEUDONYM
    assert shown != private


def test_what_is_masked_stays_so_under_other_words_and_is_unmasked(files: list[Path]) -> None:
    policy = changed(files, of("email", exposure="masked"), of("email", relation="mailbox"))
    assert policy.of(table(policy).relation_iri("email")).mask
    assert policy.relations.keys() == {"urn:arog:relation:mailbox"}
    policy = changed(files, of("email", exposure="masked"), of("email", exposure="private"))
    assert policy.of(table(policy).relation_iri("email")).mask is False


def test_kinds_are_masked_and_renamed(files: list[Path]) -> None:
    policy = changed(files, tables=({"file": "people.csv", "concept": "patient", "exposure": "masked"},))
    assert table(policy).concept == "patient"
    assert policy.mask_classes == ("urn:arog:class:patient",)
    policy = changed(files, of("notes", role="concept", exposure="masked"))
    assert policy.mask_classes == ("urn:arog:class:notes",)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"file": "zofia.csv", "column": "email"}, "change 1: the policy maps no table"),
        (of("Zofia"), "change 1: the table has no such column"),
        (of("person_id", role="unused"), "change 1, column 1: this column is the key"),
        (of("first_name", exposure="shown"), "keys and names are always private"),
        (of("ward_id", exposure="shown"), "only values can be shown"),
        (of("notes", role="reference", refers_to="zofia.csv"), "maps no table"),
        (of("notes", role="reference"), "a reference needs"),
        (of("notes", role="class"), "can't have this role"),
        (of("notes", relation="Zofia|Quarrel"), "words are not empty"),
        ({"file": "", "column": "urn:x", "role": "key"}, "a relation of triples"),
    ],
)
def test_a_change_that_cannot_be_is_refused_by_its_place(
    files: list[Path], change: dict[str, str], reason: str
) -> None:
    with pytest.raises(PolicyError, match=reason) as caught:
        changed(files, change)
    assert "ofia" not in str(caught.value)
