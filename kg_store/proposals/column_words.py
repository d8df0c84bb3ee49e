"""Words of columns: what people and programs call keys, names, kinds and amounts, in full and abbreviated."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kg_store.text.inflection import singular
from kg_store.text.labels import readable

KEY_WORDS = frozenset(
    {"id", "ids", "key", "code", "nr", "no", "number", "num", "uuid", "guid", "isbn", "sku", "ean", "cd", "pk", "fk"}
    | {"nummer", "kennung", "issn", "oid", "identifier", "schluessel", "ref", "reference", "serial", "plate"}
    | {"registration", "matricula", "codigo", "numero", "clave", "referenz", "barcode", "strichcode"}
)
NAME_WORDS = frozenset(
    {"name", "names", "title", "label", "bezeichnung", "titel", "benennung", "nom", "nombre", "naam"}
)
ALIAS_WORDS = frozenset(
    {"nickname", "alias", "aliases", "nick", "spitzname", "aka", "synonym", "handle", "rufname", "kürzel", "kuerzel"}
    | {"abbreviation", "abkürzung", "acronym", "suchbegriff", "matchcode", "apodo", "surnom", "bijnaam"}
)
ALIAS_PHRASES = frozenset(
    {"known as", "also known as", "goes by", "called", "also called", "short form", "other name", "other names"}
    | {"former name", "formerly", "trading as", "search term", "screen name", "user name", "username"}
)
# Words that say nothing of what is named: `hasName`, `display name`, `legal name`.
NAME_PREFIXES = frozenset({"has", "is", "full", "display", "official", "legal", "short", "common", "the", "preferred"})
FIRST = frozenset(
    {"first name", "firstname", "given name", "givenname", "forename", "first", "given", "vorname", "prenom", "prénom"}
    | {"voornaam", "name first", "name given"}
)
# Names of all kinds of things, and first names beside a last one.
FIRST_BESIDE_LAST = frozenset({"name", "nombre", "nome"})
LAST = frozenset(
    {"last name", "lastname", "family name", "familyname", "surname", "last", "family", "nachname", "apellido"}
    | {"apellidos", "achternaam", "cognome", "name last", "name family"}
)
# Columns that hold keys of their own table.
FILE_WORDS = frozenset({"data", "export", "list", "table", "dump", "sample", "file", "records"})
OF_THE_SAME = frozenset({"boss", "manager", "supervisor", "superior", "parent", "mother", "father", "vorgesetzter"})
# Digits that nobody counts with.
KEPT_AS_TEXT = frozenset(
    {"phone", "telephone", "mobile", "fax", "zip", "postcode", "postal", "plz", "iban", "bic", "ssn", "telefon", "tel"}
    | {
        "account",
        "konto",
        "passport",
        "licence",
        "license",
        "handy",
        "extension",
        "durchwahl",
        "zipcode",
        "postleitzahl",
    }
)
PRIVATE_TEXT = frozenset(
    {"email", "mail", "phone", "telephone", "mobile", "fax", "telefon", "tel", "handy", "address", "street", "adresse"}
    | {"strasse", "straße", "url", "website", "homepage", "web", "link", "password", "iban", "bic", "ssn", "zip"}
    | {"postcode", "postal", "plz", "passport"}
)
LONG_TEXT = frozenset(
    {"note", "notes", "comment", "comments", "description", "remark", "remarks", "text", "message", "summary", "body"}
    | {"bemerkung", "beschreibung", "kommentar", "notiz", "notizen", "details", "abstract", "content"}
)
# What few things share, and people ask by.
CONCEPTS = frozenset(
    {
        "city",
        "town",
        "country",
        "region",
        "county",
        "nationality",
        "status",
        "state",
        "stage",
        "department",
        "category",
    }
    | {
        "type",
        "role",
        "gender",
        "sex",
        "industry",
        "sector",
        "segment",
        "language",
        "currency",
        "tier",
        "level",
        "genre",
    }
    | {"priority", "position", "profession", "occupation", "ort", "wohnort", "stadt", "land", "abteilung", "kategorie"}
    | {
        "typ",
        "art",
        "geschlecht",
        "branche",
        "sprache",
        "waehrung",
        "währung",
        "beruf",
        "district",
        "province",
        "brand",
    }
    | {
        "publisher",
        "manufacturer",
        "ward",
        "building",
        "faculty",
        "subject",
        "speciality",
        "specialty",
        "condition",
        "diagnosis",
        "medication",
        "vaccine",
        "procedure",
        "allergy",
        "ville",
        "pays",
    }
)
# A billing city and a city of birth are both a city.
PLACES = frozenset(
    {"city", "town", "country", "region", "county", "state", "province", "district", "language", "currency"}
)
COUNT_WORDS = frozenset(
    {"count", "amount", "quantity", "total", "sum", "price", "cost", "fee", "age", "size", "rate", "balance", "salary"}
    | {"weight", "height", "length", "width", "score", "rating", "revenue", "budget", "percent", "discount", "anzahl"}
    | {
        "menge",
        "preis",
        "betrag",
        "alter",
        "gehalt",
        "umsatz",
        "capacity",
        "pages",
        "beds",
        "duration",
        "stock",
        "tax",
    }
)
YEAR_WORDS = frozenset(
    {"year", "jahr", "yr", "año", "anno", "annee", "année", "jaar", "published", "founded", "established", "built"}
    | {"released", "opened", "born", "gegründet", "baujahr", "since", "seit"}
)
# Words of relations that lead to things: `taughtBy`, `assigned_to`.
LEADING_WORDS = frozenset({"by", "to", "from", "von"})
TRUTH_WORDS = frozenset({"is", "has", "flag", "can", "active", "enabled", "deleted", "aktiv", "was", "allow", "in"})

_ABBREVIATIONS = {
    "acct": "account", "acc": "account", "addr": "address", "amt": "amount", "avg": "average", "bal": "balance",
    "bday": "birthday", "br": "branch", "cat": "category", "ccy": "currency", "cd": "code", "cnt": "count",
    "co": "company", "ctry": "country", "cty": "city", "cust": "customer", "desc": "description", "dept": "department",
    "dob": "date of birth", "doc": "document", "dt": "date", "emp": "employee", "flg": "flag", "fname": "first name",
    "freq": "frequency", "inv": "invoice", "lang": "language", "lname": "last name", "loc": "location",
    "mgr": "manager", "mgmt": "management", "mod": "modified", "nm": "name", "num": "number", "opn": "open",
    "ord": "order", "org": "organisation", "pct": "percent", "pos": "position", "prc": "price", "prio": "priority",
    "prod": "product", "qty": "quantity", "ref": "reference", "rep": "representative", "res": "residence",
    "rev": "revenue", "sal": "salary", "segm": "segment", "seg": "segment", "stat": "status", "supp": "supplier",
    "tel": "telephone", "tot": "total", "trx": "transaction", "txn": "transaction", "typ": "type", "usr": "user",
    "val": "value", "vend": "vendor", "wgt": "weight", "yr": "year",
}  # fmt: skip
# Units as they stand in names of columns, by how a value is written with them.
_UNITS = {
    "usd": "USD", "eur": "EUR", "gbp": "GBP", "chf": "CHF", "euro": "EUR", "euros": "EUR", "dollars": "USD",
    "kg": "kg", "g": "g", "mg": "mg", "km": "km", "cm": "cm", "mm": "mm", "ml": "ml", "kwh": "kWh", "kw": "kW",
    "percent": "%", "pct": "%", "%": "%", "€": "EUR", "$": "USD", "£": "GBP", "years": "years", "months": "months",
    "days": "days", "hours": "hours", "minutes": "minutes", "seconds": "seconds", "mins": "minutes", "hrs": "hours",
    "m2": "m2",
    "sqm": "m2", "horas": "hours", "stunden": "hours", "tage": "days", "jahre": "years",
    "gb": "GB", "mb": "MB", "bpm": "bpm", "m²": "m2", "m³": "m3", "km²": "km2", "km/h": "km/h", "kwp": "kWp",
}  # fmt: skip
# One letter is a unit where it stands in brackets.
_SHORT_UNITS = {
    "h": "hours", "hr": "hours", "std": "hours", "d": "days", "min": "minutes", "s": "seconds", "sec": "seconds",
    "m": "m", "l": "l", "t": "t", "w": "W", "v": "V", "a": "A", "ha": "ha", "y": "years", "yrs": "years",
    "°c": "°C", "c": "°C",
}  # fmt: skip
_IN_BRACKETS = re.compile(r"[(\[{]\s*(?:in\s+)?([^()\[\]{}]{1,12}?)\s*[)\]}]")
_SUFFIXES = ("nummer", "nr", "name", "datum", "typ", "preis")


def words_of_column(column: str) -> list[str]:
    """The words of a column in small letters, without marks and brackets: `Supplier No.` is supplier, no."""
    plain = _IN_BRACKETS.sub(" ", column)
    spaced = readable(re.sub(r"[-./#:,;|]+", " ", plain))
    return re.findall(r"[^\W_]+", spaced.lower())


def full_words(column: str) -> list[str]:
    """The same with abbreviations written out: `CUST_NM` is customer, name."""
    found = [part for word in words_of_column(column) for part in _ABBREVIATIONS.get(word, word).split()]
    # As in German, where a name of a column is one word: `Geburtsdatum`, `Versichertennr`.
    return [part for word in found for part in _split(word)]


def relation_words(column: str, without: frozenset[str] = frozenset()) -> str:
    """The words of a column's relation, without its unit and the words of `without`."""
    words = [part for word in words_of_column(column) for part in _ABBREVIATIONS.get(word, word).split()]
    unit = unit_of(column)
    kept = [word for word in words if word not in without]
    if unit is not None and len(kept) > 1 and _UNITS.get(kept[-1]) == unit:
        kept = kept[:-1]
    return " ".join(kept or words)


def unit_of(column: str) -> str | None:
    """The unit that a column names in brackets or as its last word; years for an age."""
    bracket = _IN_BRACKETS.search(column)
    if bracket is not None and (unit := (_UNITS | _SHORT_UNITS).get(bracket[1].lower())) is not None:
        return unit
    words = words_of_column(column)
    if len(words) > 1 and words[-1] in _UNITS:
        return _UNITS[words[-1]]
    return "years" if words and words[-1] in ("age", "alter") else None


def are_alike(word: str, other: str) -> bool:
    """True of two forms of one word: patient and patienten, dept and department."""
    if word == other or singular(word) == singular(other):
        return True
    short, long = sorted((word, other), key=len)
    return len(short) >= 3 and long.startswith(short) and short not in KEY_WORDS


def any_alike(words: Sequence[str], others: Sequence[str]) -> bool:
    return any(are_alike(word, other) for word in words for other in others)


def _split(word: str) -> list[str]:
    suffix = next((each for each in _SUFFIXES if word.endswith(each) and len(word) > len(each) + 3), None)
    return [word] if suffix is None else [word[: -len(suffix)], suffix]
