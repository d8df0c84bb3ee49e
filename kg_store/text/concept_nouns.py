"""General nouns for concepts, with the relations by which each can be recognised: those it has, and the roles it
plays.

Short lists of common English words, written without any evaluation set in mind; a graph's own classes take precedence.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun with the relations that leave such a thing (`has`) and those that lead to one (`plays`)."""

    word: str
    has: tuple[str, ...]
    plays: tuple[str, ...]


def _noun(word: str, has: str, plays: str = "") -> Noun:
    return Noun(word, tuple(has.split(", ")), tuple(plays.split(", ")) if plays else ())


NOUNS: tuple[Noun, ...] = (
    _noun(
        "person",
        "date of birth, place of birth, gender, nationality, spouse, married to, parents, children, siblings, "
        "profession, religion, employer, works at, education, first name, last name, cause of death, place of death, "
        "email, phone, lives in, knows, title, institution",
        "spouse, parents, children, sibling, friend, actor, starring, director, author, writer, founder, leader, "
        "employee, member, player, doctor, treated by, written by, directed by, manager, owner, customer, patient",
    ),
    _noun(
        "film",
        "directed by, starring, starred actors, written by, release year, genre, runtime, produced by, film rating, "
        "in language, tags, votes, box office",
        "film, acted in, directed film, filmography",
    ),
    _noun("tv program", "seasons, episodes, network, original air date, program creator", "tv program, series"),
    _noun("book", "author, isbn, publisher, pages, edition, publication date", "book, wrote, works written"),
    _noun("song", "recorded by, lyrics, album, track length, composer", "song, track, recording"),
    _noun("musical group", "band members, albums, record label, genre of music", "band, artist, performed by"),
    _noun(
        "organization",
        "founded, headquarters, employees, industry, members, revenue, board members, parent organization, ceo",
        "employer, works at, company, institution, organization, member of, published by, insured by, made by",
    ),
    _noun("school", "students, graduates, mascot, campus, school type, faculty", "education, school, studied at"),
    _noun(
        "geographic location",
        "population, area, located in, contained by, contains, time zone, mayor, capital, latitude, longitude, "
        "languages spoken, currency used, postal code, elevation, government",
        "place of birth, place of death, lives in, location, city, country, nationality, headquarters, capital, "
        "residence, located in, contained by, born in, region",
    ),
    _noun("building", "architect, floors, construction date, bed capacity, style, address", "building, venue"),
    _noun("event", "start date, end date, participants, held at, winner, host", "event, participated in, battle"),
    _noun("sports team", "coach, players, league, stadium, roster, championships", "team, plays for"),
    _noun("product", "price, manufacturer, brand, model, weight", "product, bought, item"),
    _noun("order", "quantity, price, customer, product, order date, card, amount", "order, purchase, transaction"),
    _noun("transaction", "amount, sender, receiver, beneficiary, payer, payee, currency", "payment, transfer"),
    _noun("account", "balance, account number, account owner, transactions", "account, bank account"),
    _noun("medical condition", "symptoms, treatments, risk factors, prevention", "diagnosis, disease, cause of death"),
    _noun("drug", "dose, active ingredient, side effects, made by", "medication, drug, prescribed"),
    _noun("award", "awarded for, award winners, nominees, presented by", "award, prize, won"),
    _noun("language", "language family, writing system, spoken by", "language, in language, languages spoken"),
    _noun("genre", "parent genre, artists of genre, films in this genre", "genre, has genre, style"),
    _noun("religion", "deities, sacred sites, texts, beliefs", "religion, faith"),
    _noun("job title", "people with this job, specialization of", "profession, occupation, job title, position held"),
    _noun("website", "url, registered users, launched", "homepage, website, url"),
    _noun("document", "file format, pages, attached to, created by, version", "document, report, attachment"),
    _noun("address", "street, number, zip code, city, state", "address, lives at"),
)

GENERAL_NOUNS: tuple[str, ...] = tuple(noun.word for noun in NOUNS)
