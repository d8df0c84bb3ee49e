"""Small worlds of facts, and replies over them in names that are masked as a conversation would."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.chat.statements.evidence import ReplyWords, StatementContext
from app.chat.statements.replies import CheckedReply, check_reply
from app.evaluation.dialogue.statements.fact_house import FactHouse
from app.evaluation.dialogue.statements.labelled_replies import sentences_of
from app.evaluation.dialogue.statements.likely_concepts import concepts_of
from app.strategies.base import FoundFact


@dataclass(frozen=True, slots=True)
class World:
    """Facts as `head|relation|tail`; `values`: the real text of names that stand for values."""

    facts: Sequence[FoundFact]
    words: Mapping[str, str]
    values: Mapping[str, str]
    labels: tuple[str, ...]

    def check(self, reply: str, topics: Sequence[str] = (), words: ReplyWords = "model") -> CheckedReply:
        house = FactHouse(self.facts, {word: self.values.get(name, name) for name, word in self.words.items()})
        known = tuple((self.words[name], "") for name in topics)
        sentences = list(sentences_of(self._masked(reply)))
        return check_reply(sentences, self.facts, StatementContext(house.truth_of, self.labels, known, words))

    def kept(self, reply: str, topics: Sequence[str] = ()) -> str:
        """The rest of the model's own `reply`, with names."""
        return self._named(each.text for each in self.check(reply, topics).sentences if not each.is_restated)

    def restated(self, reply: str, topics: Sequence[str] = ()) -> str:
        """The sentences that stand in the place of what had to go, with names."""
        return self._named(each.text for each in self.check(reply, topics).sentences if each.is_restated)

    def _named(self, texts: Iterable[str]) -> str:
        text = " ".join(texts)
        names = {word: name for name, word in self.words.items()}
        return re.sub(r"\w+", lambda found: names.get(found[0], found[0]), text)

    def _masked(self, reply: str) -> str:
        return re.sub(r"\w+", lambda found: self.words.get(found[0], found[0]), reply)


def world(lines: str, values: Mapping[str, str], concepts: Mapping[str, str] | None = None) -> World:
    triples = [(head, label, tail) for head, label, tail in (line.split("|") for line in lines.split("\n") if line)]
    likely = concepts_of([(head, label, values.get(tail, tail)) for head, label, tail in triples])
    names = list(dict.fromkeys(name for head, _, tail in triples for name in (head, tail)))
    words = {
        name: f"{'V' if name in values else 'E'}{at % 10}{'abcdefghij'[at // 10]}xyz" for at, name in enumerate(names)
    }

    def concept(name: str) -> str:
        return (concepts or {}).get(name) or likely.get(values.get(name, name), "") or likely.get(name, "")

    facts = [
        FoundFact(words[head], concept(head), (label,), words[tail], concept(tail), "1")
        for head, label, tail in triples
    ]
    return World(facts, words, values, tuple(dict.fromkeys(label for _, label, _ in triples)))


FILMS = world(
    """
Inception|directed by|Nolan
Inception|starred actors|DiCaprio
Inception|starred actors|Hardy
Inception|release year|Y2010
Inception|has genre|SciFi
Dunkirk|directed by|Nolan
Dunkirk|release year|Y2017
Dunkirk|starred actors|Hardy
Nolan|place of birth|London
Inception|written by|Nolan
Nolan|spouse|Thomas
Inception|music by|Zimmer
Dunkirk|music by|Zimmer
Inception|duration|M148
Dunkirk|duration|M106
Titanic|directed by|Cameron
Titanic|starred actors|DiCaprio
Nolan|country of nationality|USA
DiCaprio|award won|Oscar
Anna|treated by|DrLee
Anna|diagnosed with|Flu
Anna|admitted to|WardA
Anna|has child|Mia
Anna|has child|Leo
Anna|smoker|Tru
Anna|date of birth|BD1
Bob|date of birth|BD2
Bob|treated by|DrKim
WardA|number of beds|B12
WardB|number of beds|B20
WardA|part of|Clinic
WardB|part of|Clinic
Aspirin|treats|Flu
DrLee|works at|Clinic
""",
    {"Y2010": "2010", "Y2017": "2017", "M148": "148", "M106": "106", "B12": "12", "B20": "20", "Tru": "true",
     "BD1": "1980-01-02", "BD2": "1990-05-06"},
    {"Inception": "film", "Dunkirk": "film", "Titanic": "film", "Nolan": "director", "Cameron": "director",
     "DiCaprio": "actor", "Hardy": "actor", "Zimmer": "composer", "Thomas": "person", "London": "city",
     "USA": "country",
     "SciFi": "genre", "Oscar": "award",
     "Y2010": "year", "Y2017": "year", "M148": "number", "M106": "number",
     "Anna": "patient", "Bob": "patient", "DrLee": "doctor", "DrKim": "doctor", "WardA": "ward", "WardB": "ward",
     "Flu": "disease", "Clinic": "clinic", "Aspirin": "drug", "Mia": "person", "Leo": "person", "B12": "number",
     "B20": "number", "Tru": "yes or no", "BD1": "date", "BD2": "date"},
)  # fmt: skip

RECORDS = world(
    """
Trip1|driven by|Kalle
Trip1|co driver|Jan
Trip1|departs from|DepotN
Trip1|arrives at|Turku
Trip1|departure date|D20250314
Trip1|arrival date|D20250316
Trip1|distance (km)|N673
Trip1|toll cost eur|N108
Trip1|uses truck|Otso
Trip2|driven by|Kalle
Trip2|distance (km)|N1462
Trip2|arrives at|Tartu
Ship1|carried on|Trip1
Ship1|ordered by|Huta
Ship1|cargo type|Fish
Ship1|weight (kg)|N500
Ship1|shipment status|delivered
Ship1|declared value eur|N9000
Ship1|promised by|D20250320
Ship2|weight (kg)|N700
Ship2|ordered by|Huta
Otso|manufacturer|Volvo
Otso|odometer (km)|N320156
Otso|max load (kg)|N24000
Otso|stationed at|DepotN
Otso|is refrigerated|false
Otso|serviced by|Lehto
Lehto|hourly rate eur|N42
DepotN|located in|Oulu
Kalle|hired on|D20230101
Kalle|trained by|Sepp
Kalle|reports to|Jan
Huta|account manager|Marjut
Huta|industry|Steel
Huta|based in|Katowice
Elif|attends course|Algebra
Elif|attends course|Logic
Elif|receives grant|Aurora
Elif|citizen of|Turkey
Elif|mentored by|Aoife
Elif|enrolled in|Maths
Elif|matriculated on|D20221123
Elif|is part time|true
Aurora|monthly stipend (eur)|N1200
Aurora|funded by|Suomen
Algebra|taught by|Rohan
Algebra|held in|RoomH
Algebra|max participants|N46
Algebra|credit points|N6
Algebra|language of instruction|English
Algebra|offered by|MathDept
Thesis1|written by|Elif
Thesis1|supervised by|Aoife
Thesis1|page count|N155
Thesis1|thesis level|master
Thesis1|under embargo|true
Aoife|academic rank|professor
Aoife|member of|MathDept
Aoife|birth date|D19760509
Rohan|birth date|D19770527
Rohan|member of|MathDept
Cust1|email|mail1
Cust1|phone|tel1
Cust1|language|Swati
Cust1|lives at|Loc1
Purch1|customer|Cust1
Purch1|product|Prod1
Purch1|quantity|N13
Purch1|price|N607
Purch1|date|D20120721
Purch1|card|Card1
Purch2|customer|Cust1
Purch2|price|N900
Purch2|quantity|N4
Team1|coach|Lovie
Bowl|champion|Steelers
Bowl|runner up|Cards
Shad|team owned|Jags
Lovie|team coached|Bears
Song1|performer|Foxes
Song1|composer|Dan
Song1|record label|Saltbox
Foxes|location of formation|Oulu
""",
    {"N673":"673",
     "N108":"108",
     "N1462":"1462",
     "N500":"500",
     "N9000":"9000",
     "N700":"700",
     "N320156":"320156",
     "N24000":"24000",
     "N42":"42",
     "N1200":"1200",
     "N46":"46",
     "N6":"6",
     "N155":"155",
     "N13":"13",
     "N607":"607",
     "N900":"900",
     "N4":"4",
     "false":"false",
     "true":"true",
     "D20250314":"2025-03-14",
     "D20250316":"2025-03-16",
     "D20250320":"2025-03-20",
     "D20230101":"2023-01-01",
     "D20221123":"2022-11-23",
     "D19760509":"1976-05-09",
     "D19770527":"1977-05-27",
     "D20120721":"2012-07-21",
     "delivered":"delivered",
     "master":"master",
     "professor":"professor",
     "mail1":"m@x",
     "tel1":"123"},
)  # fmt: skip
