"""Concepts of things whose graph is not loaded: what the relations that lead from them and to them say of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from app.chat.statements.words.tokens import is_form, lemmas, noun_base
from app.chat.statements.words.wording import plain_label
from kg_store.text.literals import read_literal

_OF_HEADS: Final = {
    "film": "starred actors, directed by, director, release year, in language, cast member, duration, written by, "
    "publication date, genre, country of origin, original language of film or tv show, cinematography, subject",
    "person": "place of birth, date of birth, birth date, country of nationality, citizen of, country of citizenship, "
    "occupation, gender, position s, sport played, spouse, nationality, is a, child, sibling of, ethnicity",
    "patient": "hospitalized in, admitted, diagnosis, diagnosis, treated by, insurance number, smoker, insured by",
    "doctor": "takes care of, specializes in, works at, supervises",
    "student": "attends course, enrolled in, matriculated on, receives grant, mentored by",
    "lecturer": "academic rank, office phone, on sabbatical, office",
    "course": "taught by, held in, language of instruction, max participants, credit points, offered by, "
    "requires course",
    "thesis": "supervised by, thesis level, submitted on, under embargo, page count, defended on, second reader",
    "scholarship": "monthly stipend, funded by, is renewable, application deadline, monthly stipend (eur)",
    "customer": "phone, email, lives at, language, full name, first name, last name, ssn, account manager, industry",
    "purchase": "customer, product, price, quantity, card, date",
    "ward": "number of beds, head nurse, bed capacity, address",
    "hospital": "employs, founding date, logo",
    "drug": "treats, made by",
    "disease": "belongs to",
    "shipment": "ordered by, shipment status, carried on, cargo type, delivered on, promised by, declared value eur, "
    "weight, weight (kg)",
    "trip": "driven by, departs from, arrives at, arrival date, departure date, co driver, toll cost eur, "
    "distance (km), "
    "uses truck, fuel used litres",
    "truck": "stationed at, first registered, serviced by, fuel type, manufacturer, odometer (km), max load (kg), "
    "is refrigerated, licence plate, next inspection due",
    "driver": "trained by, assigned truck, is hazmat certified, hired on, reports to",
    "depot": "storage area sqm, opened on, has cold storage, located in",
    "workshop": "hourly rate eur",
    "cargo type": "is fragile, is hazardous",
    "team owner": "team owned",
    "coach": "team coached",
    "match": "champion, runner up",
    "band": "location of formation, inception",
    "song": "performer, lyricist, record label",
}
_DATED: Final = frozenset("year date born birth death on since founded established inception due by admitted".split())
"""Words of relations that lead to dates; a number of four figures is a year behind them alone."""
_HEADS: Final = {label: concept for concept, labels in _OF_HEADS.items() for label in labels.split(", ")}
_OF_TAILS: Final = {
    "starred actors": "actor", "cast member": "actor", "hospitalized in": "ward", "takes care of": "patient",
    "part of": "place", "employs": "doctor", "place of birth": "place", "in language": "language",
    "diagnosis": "disease", "insured by": "insurer", "made by": "manufacturer", "treats": "disease",
    "lives in": "town", "belongs to": "field", "works at": "clinic", "carried on": "trip",
    "departs from": "depot", "arrives at": "city", "cargo type": "cargo type", "offered by": "department",
    "member of": "department", "held in": "room", "receives grant": "scholarship",
    "attends course": "course", "ordered by": "company", "serviced by": "workshop", "stationed at": "depot",
    "funded by": "organization", "team owned": "team", "team coached": "team", "champion": "team",
    "runner up": "team", "uses truck": "truck", "assigned truck": "truck", "assigned to": "ward",
    "enrolled in": "study programme", "married to": "person", "sibling of": "person", "child": "person",
    "emergency contact": "person", "co driver": "driver", "account manager": "person",
    "reports to": "person", "citizen of": "country", "country of citizenship": "country",
    "has diagnosis": "disease", "has child": "person", "located in": "city", "based in": "city",
    "distributor": "company", "spouse": "person", "lyricist": "person", "music by": "composer",
    "gender": "gender", "cinematography": "cinematographer", "requires course": "course",
    "performer": "artist", "lives at": "location", "record label": "record label",
}  # fmt: skip


def concepts_of(triples: Sequence[tuple[str, str, str]]) -> dict[str, str]:
    """The likeliest concept of each name; of a value its kind."""
    votes: dict[str, Counter[str]] = {}
    for head, label, tail in triples:
        if label in _HEADS:
            votes.setdefault(head, Counter())[_HEADS[label]] += 1
        votes.setdefault(tail, Counter())[_tail(label, tail)] += 2
    return {name: counted.most_common(1)[0][0] for name, counted in votes.items() if counted}


def _tail(label: str, tail: str) -> str:
    if tail in ("true", "false"):
        return "yes or no"
    known = read_literal(tail)
    if known is not None:
        is_year = tail.isdigit() and _DATED.isdisjoint(label.split())
        return "number" if is_year else str(known[0].value)
    if label in _OF_TAILS:
        return _OF_TAILS[label]
    words = plain_label(label).split()
    if len(words) > 1 and words[-1] == "by" and is_form(words[0], "VBN"):
        stem = next(iter(lemmas(words[0], "VERB")), "").removesuffix("e")
        return next((f"{stem}{end}" for end in ("er", "or") if lemmas(f"{stem}{end}", "NOUN")), "person")
    return noun_base(words[-1]) if words and lemmas(words[-1], "NOUN") else ""
