"""A made-up graph of people and places whose names are shared, nested in one another, and of many scripts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice

GRAPH = "peoples"

_PREFIXES = """
@prefix : <http://peoples.invalid/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
"""

LATIN: Sequence[str] = tuple(
    f"{first} {last}"
    for first, last in islice(
        zip(
            cycle(
                "Rosalind Thaddeus Ingeborg Štěpán Aoife Björn Zoë Jean-Luc Nuala François Hüseyin Małgorzata "
                "Ludmila Xóchitl Siobhán Faith Mark Rose Will May".split()
            ),
            cycle(
                "Quillmore O'Brockhurst Müller-Thrane Vexley D'Amaro Ångström Grünewald McTavish Żółkiewski "
                "Núñez Oakenhollow Brambleworth Çelik Smith Young Rose Field".split()
            ),
            strict=False,
        ),
        120,
    )
)
"""Twenty first and seventeen last names: everybody shares both with others; everyday words are among them."""

SCRIPTS: dict[str, Sequence[str]] = {
    "Cyrillic": ("Анна Каренина", "Пётр Чайковский", "Юлія Ковальчук", "Ђорђе Стојановић", "Мария Скородумова"),
    "Greek": ("Νίκος Παπαδόπουλος", "Ελένη Καραμανλή", "Γιώργος Σεφέρης", "Μαρία Θεοδωράκη"),
    "Chinese": ("王小明", "欧阳娜娜", "李清照", "司马相如"),
    "Japanese": ("山田太郎", "さくらももこ", "サカナクション", "大江健三郎"),
    "Korean": ("김철수", "박근영", "남궁민수"),
    "Arabic": ("أحمد القحطاني", "فاطمة الزهراء", "عبد الرحمن الصوفي", "ليلى منصور"),
    "Hebrew": ("יעל כהן", "דוד לוינסקי", "שולמית אלמגור"),
    "Devanagari": ("राजेश खन्ना", "मीरा नायर", "सत्यजीत वर्मा"),
    "Thai": ("สมชาย ใจดี", "นภาพร แก้วมณี"),
    "Georgian": ("ნინო ბერიძე", "გიორგი კვირიკაშვილი"),
    "Armenian": ("Արամ Խաչատրյան", "Անահիտ Պետրոսյան"),
}
SPELT_IN_LATIN: dict[str, str] = {
    "Анна Каренина": "Anna Karenina",
    "王小明": "Wang Xiaoming",
    "أحمد القحطاني": "Ahmad al-Qahtani",
    "山田太郎": "Taro Yamada",
    "Νίκος Παπαδόπουλος": "Nikos Papadopoulos",
    "김철수": "Kim Cheolsu",
}
NESTED: Sequence[str] = (
    "Quillmore", "Port Quillmore", "Port Quillmore Harbour", "University of Port Quillmore", "Oakenhollow",
    "Oakenhollow & Vexley", "Vexley Street", "Saint Rosalind Hospital", "Brambleworth-on-Thrane", "Thrane",
    "Friends of the University of Port Quillmore", "The Brambleworth", "Young Rose Foundation", "Smith", "May Field",
)  # fmt: skip


def peoples() -> str:
    """The graph as Turtle: some 160 people and fifteen places."""
    people = [*LATIN, *(name for names in SCRIPTS.values() for name in names)]
    places = [
        f":c{at} rdfs:label {_quoted(name)} ; :locatedIn :c{(at + 1) % len(NESTED)} ."
        for at, name in enumerate(NESTED)
    ]
    lines = []
    for at, name in enumerate(people):
        alias = SPELT_IN_LATIN.get(name)
        more = f" skos:altLabel {_quoted(alias)} ;" if alias else ""
        lines.append(
            f":p{at} rdfs:label {_quoted(name)} ;{more} :livesIn :c{at % len(NESTED)} ; "
            f":treatedBy :p{(at * 7 + 3) % len(people)} ; :hasChild :p{(at * 5 + 1) % len(people)} ."
        )
    return "\n".join((_PREFIXES, *places, *lines, ""))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '\\"') + '"'
