"""Everyday words for common relations: nobody asks for a place of birth, but where somebody was born.

Plain English for schema words of many fields, keyed by the relation's words or by the last of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from kg_store.text.plurals import singular


def _words(text: str) -> dict[str, tuple[str, ...]]:
    said: defaultdict[str, tuple[str, ...]] = defaultdict(tuple)
    for line in text.strip().splitlines():
        names, words = line.split(": ")
        for name in names.split(", "):
            said[name.strip()] += tuple(words.split(", "))
    return dict(said)


_SAID = _words(
    """
    tag, keyword, topic, subject: topics, themes, associated with, known for, described by, describe, keywords
    genre, category, type, kind, style: kind, type, sort, style, category, genre
    rating, score: rating, how good, rated, review, opinion
    vote, votes: popularity, popular, famous, well known, number of votes
    written by, author, screenwriter: written by, author, screenplay, script, story
    language: language, spoken, speak
    nationality, citizenship, country of citizenship: nationality, come from, country, citizen of
    profession, occupation, job, job title: job, profession, living, work as, occupation
    employer, works for, works at, company: employer, work for, job, employed by
    institution: institution, work at, works
    spouse, married to, partner: husband, wife, married, spouse, partner
    parent, parents: mother, father, mom, dad, parents
    child, children: son, daughter, kid, children, offspring
    sibling, siblings: brother, sister, sibling
    gender, sex: gender, male or female, man or woman
    residence, lives in, place lived, location: live, home, residence, located
    place of birth, birthplace, birth place: born in, hometown, birthplace, place of birth
    date of birth, birth date, birthday: born, birthday, date of birth
    place of death, death place: died in, place of death, died
    date of death, death date: died, date of death
    cause of death: died of, killed, cause of death
    religion: faith, religion, believe in
    education, alma mater, school, university: studied, attended, graduated, school
    founder, founded by: started, founded, founder, created
    headquarters: based, headquarters, head office
    population: inhabitants, people live, population
    capital: capital city
    currency: money, currency
    price, cost, amount: cost, price, how much
    height: tall, height
    weight: heavy, weigh, weight
    duration, runtime, length: long, length
    release year, release date, publication date: released, release date, came out, release year, year
    manufacturer, maker, brand: makes, made by, manufacturer
    symptom, symptoms: symptom, sign
    treatment, medication, drug: treatment, medicine, treated with
    diagnosis, diagnosed with, disease: illness, disease, suffer from, suffers from, diagnosis
    salary, wage, income, pay: earn, earns, paid, salary, income, wage
    employs, employees, staff: work at, works at, work for, works for, staff, employees, employs
    insures: insured by, insures, customers
    treats: treated by, treats, patients
    child of: parents, mother, father, mom, dad
    opened on, opening date, founded on, established: opened, opening, founded, established, started
    located in: located, situated
    led by, head, director, manager, leader: head, boss, chief, lead, leads, led by, manages, runs
    led by, head, director, manager, leader: in charge, charge, responsible, calls shots, looks after
    phone number, phone, telephone: phone, telephone, call, phone number
    email address, email, mail: email, mail, email address
    area, surface: big, large, size, area
    number of beds, beds, seats, capacity: beds, capacity, seats, room for
    smoker: smoke, smokes, smoking
    prescribed drug: prescribed, take, takes, taking, medicine, medication, drug
    prescription: prescribed, take, takes, taking, get, gets, prescription
    cast member, starring, actor, cast: star, stars, starring, acts, acted, plays in, played in, appears in, actor
    performer: sings, sang, recorded, recorded by, performs
    location of formation: formed, founded in, comes from
    inception: founded, started, formed, created
    award received: won, awards, prize, received
    composer: composed, music, score, wrote the music
    member of: in the band, plays in, belongs to
    made by: make, makes, made by, produce, produces, manufactures, manufacturer
    supervised by, supervisor: boss, supervisor
    """
)
# Of a relation that is walked backwards: the parents are those that somebody is a child of.
_SAID_BACKWARDS = _words(
    """
    has child, has children: parents, mother, father, mom, dad
    has parent, has mother, has father: children, son, daughter, kids
    works at, works for, employer, works in, company: employs, employees, staff, workers
    has prescription: take, takes, taking, prescribed, get
    located in, location, part of: holds, contains, inside
    """
)

_KINDS = tuple(
    frozenset(line.strip().split(", "))
    for line in """
    drug, medicine, medication, pill, remedy
    doctor, physician, medic
    clinic, hospital
    city, town
    company, firm, business, corporation, manufacturer
    employee, worker, staff member, colleague
    customer, client, buyer
    film, movie
    disease, illness, sickness, medical condition
    country, nation
    book, novel
    song, track
    band, musical group
    product, item, article
    order, purchase
    supplier, vendor
    office, branch
    insurer, insurance, insurance company
    """.strip().splitlines()
)


def kind_words(noun: str) -> frozenset[str]:
    """`noun`, in the singular, and other words for the same kind of thing."""
    return frozenset({noun}).union(*(group for group in _KINDS if noun in group))


def synonyms_of(relation: str) -> tuple[str, ...]:
    """Everyday words for `relation`, without them where none are known."""
    return _found(relation, _SAID)


def synonyms_backwards(relation: str) -> tuple[str, ...]:
    """Everyday words for `relation` walked from what it leads to."""
    return _SAID_BACKWARDS.get(relation.lower(), ())


def _found(relation: str, said: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    words = relation.lower().removeprefix("has ")
    words = words if words in said else words.removesuffix(" of")
    last = singular(words.split()[-1]) if words else ""
    return said.get(words) or said.get(last, ())
