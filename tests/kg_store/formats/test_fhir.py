"""FHIR resources as tables: codes as texts, references as ids, names, addresses and extensions as columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kg_store.formats.fhir import plain_resource
from kg_store.proposals.propose import read_and_propose

PATIENT: dict[str, Any] = {
    "resourceType": "Patient", "id": "7", "meta": {"profile": ["p"]}, "text": {"div": "<div>Zofia</div>"},
    "name": [{"family": "Quarrel", "given": ["Zofia", "Ann"], "prefix": ["Dr."]}],
    "telecom": [
        {"system": "phone", "value": "555"}, {"system": "call Sven Oster", "value": "1"},
        {"system": "email", "value": "z@esk.example"},
    ],
    "address": [{"line": ["1 Mole"], "city": "Eskport", "postalCode": "01"}],
    "identifier": [
        {"system": "s", "value": "7"},
        {"type": {"coding": [{"code": "SS"}], "text": "Social Security Number"}, "value": "99"},
        {"type": {"text": "card of Runa Falk"}, "value": "98"},
    ],
    "extension": [
        {"url": "http://x/us-core-race", "extension": [{"url": "text", "valueString": "White"}]},
        {"url": "http://x/patient-birthPlace", "valueAddress": {"city": "Osk", "country": "NO"}},
    ],
    "maritalStatus": {"coding": [{"system": "s", "code": "M", "display": "Married"}]},
    "communication": [{"language": {"text": "English"}}, {"language": {"text": "Norse"}}],
    "deceasedDateTime": "2020-01-02T03:04:05Z",
}  # fmt: skip
ILLNESS: dict[str, Any] = {
    "resourceType": "Condition", "id": "8", "code": {"text": "Fenwhistle (disorder)"},
    "subject": {"reference": "urn:uuid:7"}, "encounter": {"reference": "Encounter/9"},
    "onsetDateTime": "2019-01-02", "clinicalStatus": {"coding": [{"code": "active"}]},
}  # fmt: skip
WEIGHT: dict[str, Any] = {
    "resourceType": "Observation", "id": "10", "code": {"coding": [{"code": "w", "display": "Body weight"}]},
    "subject": {"reference": "Patient/7"}, "valueQuantity": {"value": 71.5, "unit": "kg", "code": "kg"},
}  # fmt: skip


def test_a_patient_is_one_row_of_plain_values_and_no_value_names_a_column() -> None:
    assert plain_resource(PATIENT) == {
        "resourceType": "Patient", "id": "7", "display name": "Dr. Zofia Ann Quarrel",
        "also called": "Zofia Quarrel", "phone": ["555"], "contact": ["1"], "email": ["z@esk.example"],
        "address": "1 Mole",
        "city": "Eskport", "postalCode": "01", "social security number": ["99"], "identifier": ["7", "98"],
        "race": "White",
        "birthPlace": "Osk, NO", "maritalStatus": "Married", "language": ["English", "Norse"],
        "deceased": "2020-01-02T03:04:05Z",
    }  # fmt: skip


def test_what_is_recorded_of_a_patient_joins_both_and_has_no_name_of_its_own() -> None:
    assert plain_resource(ILLNESS) == {
        "resourceType": "ConditionRecord", "condition": "Fenwhistle (disorder)", "patient": "7", "encounter": "9",
        "onset": "2019-01-02", "clinicalStatus": "active",
    }  # fmt: skip
    weight = plain_resource(WEIGHT)
    assert (weight["observation"], weight["value"], weight["unit"]) == ("Body weight", 71.5, "kg")


def test_references_without_an_id_lead_by_name_or_identifier() -> None:
    role = {
        "resourceType": "PractitionerRole",
        "practitioner": {"identifier": {"value": "npi"}, "display": "Dr. Ivo Lund"},
        "organization": {"reference": "Organization?identifier=sys|5"},
        "location": [{"identifier": {"value": "6"}, "type": "Location"}],
    }  # fmt: skip
    plain = plain_resource(role)
    assert (plain["practitioner"], plain["organization"]) == ("Dr. Ivo Lund", "5")


def test_a_bundle_is_a_table_for_each_type_of_resource(tmp_path: Path) -> None:
    bundle = {"resourceType": "Bundle", "entry": [{"resource": each} for each in (PATIENT, ILLNESS, WEIGHT)]}
    (tmp_path / "b.json").write_text(json.dumps(bundle), "utf-8")
    raw, policy = read_and_propose([tmp_path / "b.json"])
    tables = {table.concept: table for table in policy.tables}
    assert tables["patient"].names == ("display name", "also called")
    assert tables["condition record"].key is None
    assert tables["condition record"].columns["condition"].concept == "condition"
    assert tables["condition record"].columns["patient"].table == tables["patient"].file
    texts = {raw.text(at) for at in range(len(raw.terms))}
    assert {"Dr. Zofia Ann Quarrel", "Fenwhistle (disorder)"} <= texts
    assert not {"urn:uuid:7", "<div>Zofia</div>", "p"} & texts
