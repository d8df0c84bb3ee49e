"""Files as people have them, loaded by the proposal alone and asked: each question with the names that are right."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from evaluation.bench.bench import Bench
from evaluation.bench.report import RunLabel
from evaluation.datasets.questions import Question

pytestmark = pytest.mark.slow

ARTICLES = {
    "articles.csv": """Title,Authors,Subjects,Licence
On tidal mills,Ivo Lund|Mara Quist,mills|tides,CC BY
On salt roads,Mara Quist,salt|trade,CC BY
On rope walks,Ivo Lund,ropes|trade,CC0
On pine tar,Tove Birk|Ivo Lund,tar|trade,CC BY
On the herring fleet,Runa Falk,fish|trade,CC0
"""
}
LETTERS = {
    "letters.csv": """No,Title,Writers
1,To the harbour,Ivo Lund; Mara Quist
2,To the mill,Runa Falk; Sven Oster
3,To the saltworks,Tove Birk; Ada Holm
"""
}

BENCHES = {
    "councillors.csv": "id,name\n1,Ivo Lund\n2,Mara Quist\n3,Runa Falk\n4,Sven Oster\n",
    "committees-current.csv": "code,name\nHB,Harbour Board\nSB,Salt Board\n",
    "committee_members.csv": """committee_code,councillor_id,rank,year
HB,1,1,1936
HB,2,2,1940
SB,2,1,1936
SB,3,2,1936
XX,4,1,1936
""",
    "councillor_livesIn_town.csv": "councillor_id,town_id\n1,7\n2,7\n3,8\n4,8\n",
    "towns.csv": "town_id,name\n7,Eskport\n8,Oskham\n9,Tarn\n",
}

BOARDS = {
    "councillors.csv": "id,name\n1,Ivo Lund\n2,Mara Quist\n3,Runa Falk\n4,Sven Oster\n",
    "committees-current.csv": "code,name\nHB,Harbour Board\nHC,Harbour Board\nSB,Salt Board\n",
    "committee_members.csv": """committee_code,councillor_id,rank,title
HB,1,1,Chair
HB,2,2,
HC,3,2,
SB,2,1,Chair
SB,3,2,
HB,4,1,Member
""",
}

SHOPS = {
    "customers.csv": "customer_id,name,address_id\n1,Ivo Lund,11\n2,Mara Quist,12\n3,Runa Falk,13\n",
    "stores.csv": "store_id,name,address_id\n91,Quay Store,11\n92,Mill Store,13\n93,Tar Store,13\n",
    "addresses.csv": "address_id,address,city_id\n11,1 Mole Street,21\n12,2 Salt Lane,22\n13,3 Tar Yard,23\n",
    "cities.csv": "city_id,city,country_id\n21,Eskport,31\n22,Oskham,31\n23,Tarn,32\n24,Birk,32\n",
    "countries.csv": "country_id,country\n31,Norlandia\n32,Sudoria\n",
}

LANDS = {
    "lands.json": """[
{"id": "n", "name": "Norlandia", "money": {"NOK": {"name": "norse crown", "symbol": "kr"}}, "borders": ["s"]},
{"id": "s", "name": "Sudoria", "money": {"ESK": {"name": "esk dollar", "symbol": "e"}}, "borders": ["n", "w"]},
{"id": "w", "name": "Westmark", "money": {"ESK": {"name": "esk dollar", "symbol": "e"}}, "borders": ["s"]},
{"id": "o", "name": "Ostmark", "money": {"OST": {"name": "ost mark", "symbol": "o"}}, "borders": []}
]"""
}

TERMS = {
    "terms.ttl": """@prefix : <http://terms.example/> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
:mill a skos:Concept ; skos:prefLabel "mill"@en ; skos:narrower :tide, :p9 ; skos:related :salt .
:tide a skos:Concept ; skos:prefLabel "tidal mill"@en .
:salt a skos:Concept ; skos:prefLabel "salt"@en ; skos:narrower :p7 .
"""
}

ROUTES = {
    "nodes.csv": """~id,~label,type:string,code:string,desc:string,runways:int
1,airport,airport,ESK,Eskport Field,2
2,airport,airport,OSK,Oskham Strip,1
3,airport,airport,TRN,Tarn Sands,9
4,country,country,NO,Norlandia,
""",
    "edges.csv": """~id,~from,~to,~label,dist:int
10,1,2,route,90
11,1,3,route,40
12,2,1,route,90
13,4,1,contains,
14,4,2,contains,
""",
}

FOODS = {
    "food.small.csv": """No,Shrt_Desc,Energ_Kcal
01001,"Butter, with salt",717
01002,Brie,334
01003,"Butter oil, anhydrous",876
"""
}

SHIPS = {
    "ships.csv": "ship,captain,harbour\nPetrel,Ivo Lund,Eskport\nGannet,Mara Quist,Oskham\nTern,Runa Falk,Eskport\n"
}

PEOPLE = {
    "people.csv": """person,birth city,age
Ada Holm,Eskport,41
Ivo Lund,Oskham,42
Tove Birk,Eskport,43
Mara Quist,Oskham,44
"""
}

FERRIES = {
    "ferries.csv": """id,name,length,shipped date,harbour
F1,Petrel,41,2016-04-02,Oskham
F2,Gannet,38,pending,Oskham
F3,Tern,tbc,2019-11-30,Eskport
F4,Skua,27,2016-07-01,Oskham
F5,Heron,33,2021-02-11,Eskport
F6,Egret,52,2014-08-19,Eskport
F7,Plover,36,NULL,Oskham
F8,Dunlin,29,2018-05-05,Oskham
"""
}

GRANTS = {
    "grants.csv": """Grant,Award date,Amount
G-101,2018-03-01,400
G-102,2019-20,900
G-103,2019-05-02,700
G-104,2019-20,650
G-105,2019-11-30,300
G-106,2019-20,800
G-107,2020-01-15,200
G-108,2018-19,450
G-109,2018-19,350
G-110,Q1 2020,120
"""
}
YEARS = {"boats.csv": GRANTS["grants.csv"].replace("Grant,Award date", "Boat,Season").replace("2019-05-02", "2018-19")}
"""No column of its dates is one: most of its cells are seasons."""

INTERESTS = {
    "person.csv": "id,name\n1,Ivo Lund\n2,Mara Quist\n3,Runa Falk\n",
    "place.csv": "id,name\n11,Tarn\n12,Oskham\n13,Norlandia\n",
    "tag.csv": "id,name\n21,Norlandia\n22,Mills\n",
    "person_isLocatedIn_place.csv": "person_id,place_id\n1,11\n2,11\n3,12\n",
    "person_hasInterest_tag.csv": "person_id,tag_id\n1,22\n2,22\n",
}

CROSSINGS = {
    "boats.csv": "Boat,Seats\nHeron,40\nTern,24\nGannet,60\n",
    "crossings.csv": """Date,Boat,Skipper,Passengers
2024-03-02,Heron,Ivo Lund,31
2024-04-13,Heron,Mara Quist,38
2024-04-20,Gannet,Ivo Lund,55
2024-05-11,Tern,Ivo Lund,24
""",
}

RENTALS = {
    "members.csv": "Member,Joined\nIvo Lund,2019\nMara Quist,2021\nRuna Falk,2022\n",
    "kit.csv": "Kit,Shelf\nWinch,A1\nPump,B2\nLadder,B3\n",
    "rentals.csv": """Kit,Member,Out,Fee
Winch,Ivo Lund,2024-03-02,4
Winch,Ivo Lund,2024-04-02,4
Pump,Mara Quist,2024-04-13,6
Pump,Ivo Lund,2024-04-13,7
Ladder,Mara Quist,2024-05-11,2
""",
}

GOATS = {
    "goats.csv": "Goat,Kg,Horned,Born\n"
    + "".join(
        f"{name},{weight},{horned},{born}\n"
        for name, weight, horned, born in (
            ("Bramble", 41, "yes", 2019), ("Clover", 38, "no", 2020), ("Dapple", 55, "yes", 2018),
            ("Fern", 29, "partly", 2023), ("Hazel", 47, "no", 2019), ("Juniper", 33, "yes", 2022),
            ("Larch", 36, "no", 2021), ("Maple", 44, "yes", 2020), ("Nettle", 52, "no", 2018),
            ("Olive", 31, "yes", 2022), ("Poppy", 39, "partly", 2021),
        )
    ),
    "milkings.csv": """Date,Goat,Milked by,Mins
2024-03-02,Bramble,Ivo Lund,12
2024-03-03,Clover,Ivo Lund,9
2024-03-03,Bramble,Mara Quist,14
2024-04-01,Dapple,Mara Quist,8
""",
}  # fmt: skip

ASKED: list[tuple[dict[str, str], str, set[str]]] = [
    # A thing that is called by a date also has it.
    (CROSSINGS, "How many crossings were there in April 2024?", {"2"}),
    (CROSSINGS, "How many crossings were there per month?", {"2024-03: 1", "2024-04: 2", "2024-05: 1"}),
    # Rows without a key are counted, chosen and compared like things.
    (RENTALS, "How many rentals has Ivo Lund had?", {"3"}),
    (RENTALS, "How many rentals were there?", {"5"}),
    (RENTALS, "How many rentals had a fee of more than 4?", {"2"}),
    (RENTALS, "Which member has the most rentals?", {"Ivo Lund"}),
    (RENTALS, "What is the total of the fees of Ivo Lund's rentals?", {"15"}),
    (RENTALS, "What is the average fee?", {"4.6"}),
    (RENTALS, "total fees in April 2024", {"17"}),
    # Of the same rows: his fees of that month, not those of all his rentals.
    (RENTALS, "total fees of Ivo Lund in April 2024", {"11"}),
    (RENTALS, "which kits did Ivo Lund rent in April 2024", {"Pump", "Winch"}),
    # A few rows are told one by one.
    (RENTALS, "What was the most expensive rental?", {"7", "Ivo Lund", "2024-04-13", "Pump"}),
    (RENTALS, "rentals of the Ladder", {"2", "Mara Quist", "2024-05-11", "Ladder"}),
    (RENTALS, "How much is the fee of the Winch?", {"8"}),
    (RENTALS, "How much in fees has Ivo Lund paid?", {"15"}),
    # Their sums or their greatest fees may be meant.
    (RENTALS, "Did Ivo Lund rent more than Mara Quist?", set()),
    # A column that is called by a unit holds what it measures.
    (GOATS, "Which is the heaviest goat?", {"Dapple"}),
    (GOATS, "What is the average duration of milkings?", {"10.75"}),
    # Every goat has "yes", "no" or "partly" there, which by itself says nothing.
    (GOATS, "Which goats are horned?", set()),
    # The date is asked for, not who was there.
    (GOATS, "When was the last milking of Bramble?", {"2024-03-03"}),
    (GOATS, "How many milkings did Ivo Lund do in March 2024?", {"2"}),
    (CROSSINGS, "average passengers since April 2024", {"39"}),
    (ARTICLES, "Who are the authors of On tidal mills?", {"Ivo Lund", "Mara Quist"}),
    (ARTICLES, "Which author has the most articles?", {"Ivo Lund"}),
    # Rank 1 on that board, in that year; not on the one, and rank 1 or that year on another.
    (BENCHES, "Which councillors of the Harbour Board have rank 1?", {"Ivo Lund"}),
    # Who: the people of the rows, not the rows.
    (BOARDS, "Who has rank 1 in the Harbour Board?", {"Ivo Lund", "Sven Oster"}),
    (BENCHES, "How many current committees are there?", {"2"}),
    # All towns are no things that have one.
    (BENCHES, "How many things have a town?", set()),
    (TERMS, "How many concepts are there?", {"5"}),
    (BENCHES, "Where does Ivo Lund live?", {"Eskport"}),
    (SHOPS, "Which customers are in Norlandia?", {"Ivo Lund", "Mara Quist"}),
    (SHOPS, "How many stores are there in Sudoria?", {"2"}),
    (LANDS, "How many lands pay in esk dollar?", {"2"}),
    (LANDS, "Which lands border Sudoria?", {"Norlandia", "Westmark"}),
    (ROUTES, "How many airports does Norlandia contain?", {"2"}),
    (ROUTES, "Which airport has the most runways?", {"Tarn Sands"}),
    (FOODS, "Which food has the most energy?", {"Butter oil, anhydrous"}),
    (SHIPS, "Who is the captain of Petrel?", {"Ivo Lund"}),
    # Where somebody was born is not where they live.
    (PEOPLE, "Where does Ada Holm live?", set()),
    (PEOPLE, "Who lives in Eskport?", set()),
    (LETTERS, "Who are the writers of To the mill?", {"Runa Falk", "Sven Oster"}),
    # Norlandia is a place and a tag: 0 of the one says nothing of the other.
    (INTERESTS, "How many persons live in Norlandia?", set()),
    (FERRIES, "Which ferry has the highest length?", {"Egret"}),
    (FERRIES, "How many ferries have not been shipped?", {"2"}),
    (GRANTS, "How many grants in 2019?", {"2"}),
    (GRANTS, "How many grants were awarded in 2021?", {"0"}),
    (YEARS, "How many boats in 2019?", set()),
    (FERRIES, "What is the average length of the ferries of Eskport?", {"42.5"}),
]
TOLD = {
    "How many concepts are there?": "2 of them are only referred to: nothing else is said of them.",
    "Which ferry has the highest length?": "1 of 8 has no “length” that is a number; it is left out.",
    "How many grants in 2019?": "6 of 10 have no “award date” that is a date; they are left out.",
    "How many grants were awarded in 2021?": "6 of 10 have no “award date” that is a date; they are left out.",
    "How many ferries have not been shipped?": "2 of 8 have no “shipped date” that is a date; they count as not.",
    "What is the average length of the ferries of Eskport?": "1 of 3 has no “length” that is a number; it is left "
    "out.",
}
"""The sentences in which answers tell of cells that do not fit."""


SETS = [
    ARTICLES,
    LETTERS,
    BENCHES,
    BOARDS,
    SHOPS,
    LANDS,
    TERMS,
    ROUTES,
    FOODS,
    SHIPS,
    PEOPLE,
    FERRIES,
    GRANTS,
    YEARS,
    INTERESTS,
    CROSSINGS,
    RENTALS,
    GOATS,
]


Answers = dict[tuple[int, str], tuple[set[str], str]]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """The names and text of each answer by its set and question, from one service with every set as it is proposed."""
    found: Answers = {}

    async def ask() -> None:
        label = RunLabel(set_name="own", strategy="auto", reasoner="embedded", seed=0)
        async with Bench() as bench:
            for number, files in enumerate(SETS):
                folder = tmp_path_factory.mktemp("own")
                for name, text in files.items():
                    (folder / name).write_text(text, "utf-8")

                def see(question: Question, _outcome: object, answer: Any, _steps: object, at: int = number) -> None:
                    found[at, question.texts[-1]] = (
                        ({*answer.names}, answer.text) if answer is not None else (set(), "")
                    )

                loaded = bench.load(f"own{number}", sorted(folder.iterdir()), None, masks=True)
                texts = [text for of, text, _ in ASKED if of is files]
                asked = [Question(id=str(at), turns=(text,), answers=()) for at, text in enumerate(texts)]
                await bench.ask(loaded, label, asked, see=see)

    asyncio.run(ask())
    return found


@pytest.mark.parametrize("number", range(len(SETS)))
def test_files_are_asked_as_they_are(number: int, answers: Answers) -> None:
    right = {text: names for of, text, names in ASKED if of is SETS[number]}
    assert {text: answers[number, text][0] for text in right} == right


def test_answers_say_which_cells_do_not_fit(answers: Answers) -> None:
    texts = {question: text for (_, question), (_, text) in answers.items() if question in TOLD}
    assert {question: told for question, told in TOLD.items() if told in texts[question]} == TOLD
