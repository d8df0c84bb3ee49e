"""Turns FHIR resources (HL7 FHIR R4) into plain records with the columns that people would put in a table.

Data types: https://hl7.org/fhir/R4/datatypes.html
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

Record = dict[str, Any]

NAME: Final = "display name"
ALSO_CALLED: Final = "also called"
_FOR_PROGRAMS: Final = frozenset({"meta", "text", "contained", "implicitRules", "modifierExtension"})
_RECORDED: Final = {
    "Condition": ("code", "condition"),
    "AllergyIntolerance": ("code", "allergy"),
    "Observation": ("code", "observation"),
    "Procedure": ("code", "procedure"),
    "Immunization": ("vaccineCode", "vaccine"),
    "MedicationRequest": ("medication", "medication"),
    "MedicationStatement": ("medication", "medication"),
    "MedicationAdministration": ("medication", "medication"),
    "MedicationDispense": ("medication", "medication"),
    "DiagnosticReport": ("code", "report"),
    "ServiceRequest": ("code", "service"),
}
"""Resources that record something of a patient on a day; for each, the element that says what, and the column's name.

They join the patient and the thing and have no name of their own, because many patients share the same one.
"""
_CHOICES: Final = (
    *("value", "onset", "abatement", "effective", "performed", "occurrence", "medication", "deceased"),
    *("multipleBirth", "serviced", "allowed", "rate", "dose", "asNeeded", "timing", "product", "location"),
)
"""Elements whose key ends with their type: `onsetDateTime`, `valueQuantity`."""
_CONTACTS: Final = {each: each for each in ("phone", "fax", "email", "pager", "url", "sms")}
_IDENTIFIERS: Final = {
    "MR": "medical record number", "SS": "social security number", "DL": "driving licence number",
    "PPN": "passport number", "NI": "national identifier", "TAX": "tax number",
}  # fmt: skip
"""Kinds of identifiers by their code in HL7's table 0203."""
_OF_A_PROFILE: Final = re.compile(r"(?:us|uk|de|au)-core-|(?:patient|individual|humanname)-")
_OF_OTHERS: Final = ("Group/", "Device/", "Location/", "Medication/", "Substance/", "Practitioner/", "Organization/")


def is_resource(record: Mapping[str, Any]) -> bool:
    """Returns True for an object that has FHIR's `resourceType`."""
    return isinstance(record.get("resourceType"), str)


def plain_resource(resource: Record) -> Record:
    """Returns a FHIR resource as a plain record.

    Codes become texts, references ids, a person's name one text, and addresses columns. Elements for programs
    (metadata, the narrative, contained resources) are left out.
    """
    element, word = _RECORDED.get(resource["resourceType"], ("", ""))
    found: Record = {}
    for key, value in resource.items():
        for name, plain in () if key in _FOR_PROGRAMS else _plain(key, value):
            found.setdefault(word if name == element else name, plain)
    if word:
        found.pop("id", None)
        found["resourceType"] += "Record"
    is_own = [name for name, plain in found.items() if name != "id" and plain in (found.get("id"), [found.get("id")])]
    found = {name: plain for name, plain in found.items() if name not in is_own}
    return {**found, **{key: name for key, name in _names_of(resource).items() if name}}


def _names_of(resource: Record) -> dict[str, str]:
    """Returns a person's full name, and as an alias the first given name with the family name.

    For a resource that is no person, returns the text of its type as its name, unless it has a name already.
    """
    name = resource.get("name")
    first = name[0] if isinstance(name, list) and name else None
    if isinstance(first, dict):
        given, family = first.get("given") or (), first.get("family")
        parts = (*(first.get("prefix") or ()), *given, family)
        full = str(first.get("text") or " ".join(str(part) for part in parts if part))
        return {NAME: full, ALSO_CALLED: f"{given[0]} {family}" if given and family else ""}
    kind = resource.get("type")
    return {NAME: "" if isinstance(name, str) else _text_of(kind[0] if isinstance(kind, list) and kind else kind)}


def _plain(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yields the columns, as (name, value), that one element becomes."""
    first = value[0] if isinstance(value, list) and value else value
    if key == "name" and isinstance(first, dict):
        return
    if key == "extension":
        yield from _extensions(value)
    elif key == "telecom":
        known = value if isinstance(value, list) else []
        yield from _grouped(known, lambda each: _CONTACTS.get(str(each.get("system")), "contact"))
    elif key == "identifier":
        yield from _grouped(value if isinstance(value, list) else [value], _kind_of_identifier)
    elif key == "address" and isinstance(first, dict):
        yield "address", ", ".join(map(str, first.get("line") or ())) or first.get("text")
        yield from ((part, first[part]) for part in ("city", "state", "postalCode", "country") if first.get(part))
    elif isinstance(value, dict) and {"value", "unit"} & value.keys() and not isinstance(value.get("value"), dict):
        name = _without_type(key)
        yield name, value.get("value")
        yield ("unit" if name == "value" else f"{name} unit"), value.get("unit") or value.get("code")
    else:
        subject = first.get("reference") if isinstance(first, dict) else None
        is_of_patient = key == "subject" and not str(subject).startswith(_OF_OTHERS)
        name = "patient" if is_of_patient else _without_type(key)
        plain = _simple(value)
        if name == "value" and isinstance(plain, str):
            name = "value text"
        if isinstance(plain, list) and plain and all(isinstance(each, dict) and len(each) == 1 for each in plain):
            (inner,) = plain[0]
            if all(inner in each and not isinstance(each[inner], dict | list) for each in plain):
                name, plain = inner, [each[inner] for each in plain]
        yield name, plain


def _without_type(key: str) -> str:
    """Returns the key of an element without the type at its end: `onsetDateTime` -> `onset`; other keys unchanged."""
    return next((each for each in _CHOICES if key.startswith(each) and key[len(each) : len(each) + 1].isupper()), key)


def _simple(value: Any) -> Any:
    """Returns the value of an element, with every code, reference and name inside it replaced by its text."""
    if isinstance(value, list):
        return [_simple(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "reference" in value or ("display" in value and value.keys() <= {"display", "identifier", "type"}):
        # `Patient/7`, `urn:uuid:7` and `Patient?identifier=system|7` all lead to 7.
        if isinstance(reference := value.get("reference"), str):
            return reference.rpartition("|" if "|" in reference else "/")[2].removeprefix("urn:uuid:")
        identifier = value.get("identifier")
        return str(value.get("display") or (identifier.get("value") if isinstance(identifier, dict) else "") or "")
    if text := _text_of(value):
        return text
    kept = ((key, each) for key, each in value.items() if key not in _FOR_PROGRAMS)
    return {name: plain for key, each in kept for name, plain in _plain(key, each)}


def _text_of(value: Any) -> str:
    """Returns the words of a coded value (FHIR's CodeableConcept or Coding); empty for anything else."""
    if not isinstance(value, dict):
        return ""
    if isinstance(value.get("coding"), list) or value.keys() == {"text"}:
        codings = (each for each in value.get("coding") or () if isinstance(each, dict))
        texts = (str(each.get("display") or each.get("code") or "") for each in codings)
        return str(value.get("text") or next(filter(None, texts), ""))
    if "code" in value and value.keys() <= {"system", "version", "code", "display", "userSelected"}:
        return str(value.get("display") or value["code"])
    return ""


def _extensions(values: Any) -> Iterator[tuple[str, Any]]:
    """Yields each extension as a column named by the end of its URL: `.../us-core-race` becomes `race`."""
    for each in values if isinstance(values, list) else ():
        if not isinstance(each, dict):
            continue
        name = str(each.get("url", "")).rpartition("/")[2].removesuffix("-extension")
        name = " ".join(_OF_A_PROFILE.sub("", name).split("-"))
        inner = [part for part in each.get("extension") or () if isinstance(part, dict)]
        told = next((part for part in inner if part.get("url") == "text"), inner[0] if inner else each)
        value = next((part for key, part in told.items() if key.startswith("value")), None)
        if isinstance(value, dict) and "city" in value:
            value = ", ".join(str(value[part]) for part in ("city", "state", "country") if value.get(part))
        if name and value is not None and not isinstance(plain := _simple(value), dict | list):
            yield name, plain


def _kind_of_identifier(identifier: Record) -> str:
    kind = identifier.get("type")
    codings = kind.get("coding") if isinstance(kind, dict) else None
    codes = [each.get("code") for each in codings or () if isinstance(each, dict)]
    return next((_IDENTIFIERS[code] for code in codes if code in _IDENTIFIERS), "identifier")


def _grouped(values: list[Any], column_of: Callable[[Record], str]) -> Iterator[tuple[str, Any]]:
    """Yields (column, values): the `value` of each object, under the column that `column_of` gives it.

    `column_of` must choose from a closed list, so that no word of the data becomes a column.
    """
    by_column: dict[str, list[str]] = {}
    for each in values:
        if isinstance(each, dict) and each.get("value"):
            by_column.setdefault(column_of(each), []).append(str(each["value"]))
    yield from by_column.items()
