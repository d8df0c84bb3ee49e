"""The demo graph's places and things: cities, clinics, wards, specialties, diseases, drugs, insurers."""

from __future__ import annotations

from datetime import date
from typing import Any

from app.demo.turtle import Node, day, text

Words = dict[str, Any]


class Places:
    """Everything that people live in, work at, suffer from, take or are insured by."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self.cities = [_city(*row) for row in _numbered(words, "cities")]
        self.specialties = [bilingual("specialty", *row) for row in _numbered(words, "specialties")]
        self.diseases = [self._disease(*row) for row in _numbered(words, "diseases")]
        self.makers = [_maker(number, name) for number, name in enumerate(words["manufacturers"], 1)]
        self.drugs = [self._drug(*row) for row in _numbered(words, "drugs")]
        self.insurers = [bilingual("insurer", *row) for row in _numbered(words, "insurers")]
        self.clinics = [self._clinic(*row) for row in _numbered(words, "clinics")]
        self.wards = [self._ward(*row) for row in _numbered(words, "wards")]

    def nodes(self) -> list[Node]:
        things = self.specialties + self.diseases + self.makers + self.drugs + self.insurers
        return self.cities + things + self.clinics + self.wards

    def clinic_of_ward(self, ward: int) -> int:
        return int(self._words["wards"][ward][2])

    def drug_for(self, disease: int) -> tuple[Node, list[str]]:
        """Returns the drug and its usual doses in mg."""
        number = next(n for n, row in enumerate(self._words["drugs"]) if row[1] == disease)
        return self.drugs[number], list(self._words["drugs"][number][3])

    def _disease(self, number: int, english: str, german: str, other: str, specialty: int) -> Node:
        disease = bilingual("disease", number, english, german)
        if other:
            disease.add("skos:altLabel", text(other, "en"))
        return disease.add(":belongsTo", self.specialties[specialty].ref)

    def _drug(self, number: int, name: str, disease: int, maker: int, _doses: list[str]) -> Node:
        drug = Node(f"drug{number}").add("a", ":Drug").add("rdfs:label", text(name))
        return drug.add(":treats", self.diseases[disease].ref).add(":madeBy", self.makers[maker].ref)

    def _clinic(self, number: int, english: str, german: str, city: str, opened: str) -> Node:
        place = next(n for n, row in enumerate(self._words["cities"]) if row[0] == city)
        clinic = bilingual("clinic", number, english, german).add(":locatedIn", self.cities[place].ref)
        clinic.add(":openedOn", day(date.fromisoformat(opened)))
        # The range 030 23125 is reserved in Germany for invented numbers.
        return clinic.add(":tel", text(f"+49 30 23125 {number:03}")).add(":mail", text(f"desk{number}@clinic.example"))

    def _ward(self, number: int, english: str, german: str, clinic: int, beds: int) -> Node:
        ward = bilingual("ward", number, english, german).add(":partOf", self.clinics[clinic].ref)
        return ward.add(":numberOfBeds", str(beds))


def bilingual(kind: str, number: int, english: str, german: str) -> Node:
    """Returns a node of class `kind` with both names, or with one name if both languages share it."""
    names = (text(english, "en"), text(german, "de"))
    return Node(f"{kind}{number}").add("a", f":{kind.capitalize()}").add("rdfs:label", *names)


def _numbered(words: Words, table: str) -> list[list[Any]]:
    return [[number, *row] for number, row in enumerate(words[table], 1)]


def _city(number: int, english: str, german: str, population: int) -> Node:
    return bilingual("city", number, english, german).add(":population", str(population))


def _maker(number: int, name: str) -> Node:
    return Node(f"maker{number}").add("a", ":Manufacturer").add("rdfs:label", text(name))
