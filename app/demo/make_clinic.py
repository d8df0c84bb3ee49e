"""Makes clinic.ttl, the demo graph, from clinic_words.toml and a seed: `python -m app.demo.make_clinic`."""

from __future__ import annotations

import tomllib
from pathlib import Path

from app.demo import GRAPH_FILE
from app.demo.dice import Dice
from app.demo.happenings import Happenings
from app.demo.people import Families, People
from app.demo.places import Places
from app.demo.turtle import Node, document, text

SEED = 20
WORDS_FILE = Path(__file__).parent / "clinic_words.toml"

# Predicates whose local names say little have a label; all others are read from their local names.
LABELS = {
    "tel": "phone number",
    "mail": "email address",
    "ins": "insured by",
    "insNo": "insurance number",
    "sal": "monthly salary",
    "doseMg": "dose in mg",
    "rxDrug": "prescribed drug",
    "rxBy": "prescribed by",
    "admWard": "admitted to",
    "admDx": "admitted for",
}


def clinic_turtle() -> str:
    """The whole graph as Turtle; the same bytes every time."""
    words = tomllib.loads(WORDS_FILE.read_text("utf-8"))
    places, dice = Places(words), Dice(SEED)
    people = People(words, places, dice)
    Families(people, dice)
    Happenings(words, places, people, dice)
    terms = [Node(local).add("rdfs:label", text(label, "en")) for local, label in LABELS.items()]
    return document([*terms, *places.nodes(), *people.nodes()])


if __name__ == "__main__":
    GRAPH_FILE.write_text(clinic_turtle(), "utf-8")
