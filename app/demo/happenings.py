"""Makes the demo graph's events: diagnoses, appointments, admissions and prescriptions of its patients."""

from __future__ import annotations

from datetime import date, timedelta

from app.demo.dice import Dice
from app.demo.people import TODAY, People, Person
from app.demo.places import Places, Words
from app.demo.turtle import Node, day, decimal, text

FIRST_DAY = date(2023, 1, 9)


class Happenings:
    """Creates appointments, admissions and prescriptions as blank nodes: they have no name and only join others."""

    def __init__(self, words: Words, places: Places, people: People, dice: Dice) -> None:
        self._words, self._places, self._people, self._dice = words, places, people, dice
        for patient in people.patients:
            self._fall_ill(patient)

    def _fall_ill(self, patient: Person) -> None:
        found = dict.fromkeys(self._dice.below(len(self._places.diseases)) for _ in range(1 + self._dice.below(2)))
        patient.node.add(":hasDiagnosis", *(self._places.diseases[disease].ref for disease in found))
        for disease in found:
            if self._dice.chance(0.55):
                patient.node.add(":hasPrescription", self._prescription(patient, disease).inline())
        for _ in range(self._dice.below(3)):
            patient.node.add(":hasAppointment", self._appointment(patient).inline())
        if self._dice.chance(0.35):
            disease = self._dice.pick(list(found))
            patient.node.add(":hasAdmission", self._admission(patient, disease).inline())

    def _after_birth(self, patient: Person) -> date:
        return self._dice.day_between(max(FIRST_DAY, patient.born), TODAY)

    def _typed(self, kind: str) -> Node:
        """A node; half of these blank nodes state their class, as in real exports."""
        node = Node("")
        return node.add("a", f":{kind}") if self._dice.chance(0.5) else node

    def _bill(self, node: Node, patient: Person) -> Node:
        return node.add(":billedTo", self._places.insurers[patient.insurer].ref)

    def _appointment(self, patient: Person) -> Node:
        others = self._dice.below(len(self._people.doctors))
        doctor = patient.doctor if self._dice.chance(0.6) else others
        node = self._typed("Appointment").add(":withDoctor", self._people.doctors[doctor].node.ref)
        node.add(":appointmentDate", day(self._after_birth(patient)))
        return self._bill(node.add(":reasonForVisit", text(self._dice.pick(self._words["reasons"]))), patient)

    def _admission(self, patient: Person, disease: int) -> Node:
        start = self._after_birth(patient)
        node = self._typed("Admission").add(":admWard", self._dice.pick(self._places.wards).ref)
        node.add(":admDx", self._places.diseases[disease].ref).add(":admittedOn", day(start))
        node.add(":dischargedOn", day(start + timedelta(days=1 + self._dice.below(21))))
        return self._bill(node, patient)

    def _prescription(self, patient: Person, disease: int) -> Node:
        drug, doses = self._places.drug_for(disease)
        node = self._typed("Prescription").add(":rxDrug", drug.ref)
        node.add(":doseMg", decimal(self._dice.pick(doses))).add(":prescribedOn", day(self._after_birth(patient)))
        return self._bill(node.add(":rxBy", self._people.doctors[patient.doctor].node.ref), patient)
