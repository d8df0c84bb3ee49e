"""The demo graph's people: staff, patients, their relatives, and what happened to them."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from datetime import date, timedelta

from app.demo.dice import Dice
from app.demo.places import Places, Words
from app.demo.turtle import Node, day, decimal, text, year

PATIENTS, DOCTORS, NURSES, RELATIVES = 90, 15, 12, 14
HUB_SHARE = 0.88  # of the people are insured by the first insurer
TODAY = date(2026, 3, 31)


@dataclass(slots=True)
class Person:
    """A node with the data that other steps need."""

    node: Node
    name: str
    woman: bool
    born: date
    city: int
    insurer: int = 0
    doctor: int = 0
    related: bool = False


class People:
    """Creates people in a fixed order from one seed, so that the result is always the same."""

    def __init__(self, words: Words, places: Places, dice: Dice) -> None:
        self._words, self._places, self._dice = words, places, dice
        self._taken: set[str] = set()
        self.doctors = [self._doctor(number) for number in range(1, DOCTORS + 1)]
        self.nurses = [self._nurse(number) for number in range(1, NURSES + 1)]
        self._appoint_leaders()
        self.patients = [self._patient(number) for number in range(1, PATIENTS + 1)]
        self.relatives = [self._relative(number) for number in range(1, RELATIVES + 1)]

    def nodes(self) -> list[Node]:
        return [person.node for person in self.doctors + self.nurses + self.patients + self.relatives]

    # --- one person ---------------------------------------------------------------------------------------

    def _person(self, kind: str, number: int, oldest: int, youngest: int, name: str = "") -> Person:
        woman = name.split(" ")[0] in self._words["women"] if name else self._dice.chance(0.5)
        name = name or self._free_name(woman)
        born = self._dice.day_between(date(oldest, 1, 1), date(youngest, 12, 31))
        node = Node(f"{kind.lower()}{number}").add("a", f":{kind}").add("rdfs:label", text(name))
        person = Person(node, name, woman, born, self._dice.below(len(self._places.cities)))
        node.add(":dateOfBirth", day(born)).add(":livesIn", self._places.cities[person.city].ref)
        return person

    def _free_name(self, woman: bool) -> str:
        while True:
            first = self._dice.pick(self._words["women" if woman else "men"])
            name = f"{first} {self._dice.pick(self._words['families'])}"
            if name not in self._taken:
                self._taken.add(name)
                return name

    def _insure(self, person: Person) -> None:
        others = len(self._places.insurers) - 1
        person.insurer = 0 if self._dice.chance(HUB_SHARE) else 1 + self._dice.below(others)
        person.node.add(":ins", self._places.insurers[person.insurer].ref)

    def _reach(self, person: Person, number: int) -> None:
        person.node.add(":tel", text(f"+49 30 23125 {number:03}"))
        person.node.add(":mail", text(f"{_plain(person.name)}@post.example"))

    # --- staff --------------------------------------------------------------------------------------------

    def _doctor(self, number: int) -> Person:
        doctor = self._person("Doctor", number, 1958, 1990)
        family = doctor.name.split(" ", 1)[1]
        clinic = self._places.clinics[(number - 1) % len(self._places.clinics)]
        specialty = self._places.specialties[(number - 1) % len(self._places.specialties)]
        doctor.node.add("skos:altLabel", text(f"Dr. {family}")).add(":worksAt", clinic.ref)
        doctor.node.add(":specializesIn", specialty.ref).add(":licensedSince", year(doctor.born.year + 27))
        doctor.node.add(":sal", decimal(f"{6200 + 50 * self._dice.below(90)}.00"))
        self._insure(doctor)
        self._reach(doctor, 100 + number)
        return doctor

    def _nurse(self, number: int) -> Person:
        nurse = self._person("Nurse", number, 1964, 2001)
        ward = (number * 7) % len(self._places.wards)
        clinic = self._places.clinics[self._places.clinic_of_ward(ward)]
        nurse.node.add(":worksAt", clinic.ref).add(":assignedTo", self._places.wards[ward].ref)
        nurse.node.add(":sal", decimal(f"{2900 + 25 * self._dice.below(60)}.50"))
        self._insure(nurse)
        self._reach(nurse, 200 + number)
        return nurse

    def _appoint_leaders(self) -> None:
        for position, clinic in enumerate(self._places.clinics):
            clinic.add(":ledBy", self.doctors[position].node.ref)
        for position, ward in enumerate(self._places.wards):
            ward.add(":headNurse", self.nurses[position % NURSES].node.ref)
        for position, doctor in enumerate(self.doctors[len(self._places.clinics) :]):
            doctor.node.add(":supervisedBy", self.doctors[position % len(self._places.clinics)].node.ref)

    # --- patients -----------------------------------------------------------------------------------------

    def _patient(self, number: int) -> Person:
        fixed = self._words["named_patients"]
        patient = self._person("Patient", number, 1938, 2016, fixed[number - 1] if number <= len(fixed) else "")
        nickname = self._words["nicknames"][number - 1 : number]
        patient.node.add("skos:altLabel", *(text(name) for name in nickname if name))
        patient.doctor = self._dice.below(DOCTORS)
        patient.node.add(":treatedBy", self.doctors[patient.doctor].node.ref)
        self._insure(patient)
        number_of_card = f"{patient.node.id[0].upper()}{100 + number}-{1000 + self._dice.below(9000)}"
        patient.node.add(":insNo", text(number_of_card)).add(":smoker", "true" if self._dice.chance(0.3) else "false")
        if self._dice.chance(0.5):
            self._reach(patient, 300 + number)
        return patient

    def _relative(self, number: int) -> Person:
        relative = self._person("Relative", number, 1940, 2000)
        relative.node.add(":tel", text(f"+49 30 23125 {500 + number:03}"))
        self.patients[number * 5].node.add(":emergencyContact", relative.node.ref)
        return relative


class Families:
    """Creates marriages, children and siblings; nobody belongs to two families."""

    def __init__(self, people: People, dice: Dice) -> None:
        self._dice = dice
        self._all = people.patients + people.relatives
        for parent in self._all:
            if not parent.related and date(1945, 1, 1) < parent.born < date(1985, 1, 1):
                self._found(parent)

    def _found(self, parent: Person) -> None:
        near = timedelta(days=365 * 9)
        partners = [p for p in self._free(parent) if p.woman != parent.woman and abs(p.born - parent.born) < near]
        if not partners:
            return
        partner = self._dice.pick(partners)
        marry(parent, partner)
        grown = max(parent.born, partner.born) + timedelta(days=365 * 20)
        late = min(parent.born, partner.born) + timedelta(days=365 * 45)
        children = [child for child in self._free(parent) if grown < child.born < late][: 1 + self._dice.below(3)]
        for child in children:
            child.related = True
            parent.node.add(":hasChild", child.node.ref)
            partner.node.add(":hasChild", child.node.ref)
            child.node.add(":siblingOf", *(other.node.ref for other in children if other is not child))

    def _free(self, person: Person) -> list[Person]:
        return [other for other in self._all if not other.related and other is not person]


def marry(one: Person, other: Person) -> None:
    one.related = other.related = True
    one.node.add(":marriedTo", other.node.ref)
    other.node.add(":marriedTo", one.node.ref)


def _plain(name: str) -> str:
    """ASCII letters joined by dots, as in an email address."""
    letters = unicodedata.normalize("NFKD", name.lower()).encode("ascii", "ignore").decode()
    return ".".join("".join(c for c in word if c.isalnum()) for word in letters.split())
