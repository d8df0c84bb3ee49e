"""Made-up data of any size: names of people, from lists of syllables and everyday names, nobody's and like anybody's;
and a graph as N-Triples, named things of eight kinds, numbers and dates, and facts between them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from kg_store.names.index import NameEntry

_GIVEN = """
    Ada Agnes Aiko Alba Aldo Amara Amir Ana Anders Anja Arjun Astrid Bela Bianca Boris Carla Carmen Cedric Chen Clara
    Dag Dalia Daniel Dara Diego Dina Edith Elena Elif Emil Erik Esther Eva Fatima Felix Fiona Frida Gabor Gita Greta
    Grace Hana Harry Hector Helen Henrik Hope Ida Igor Imani Ines Ivan Jack James Jana Jin John Jonas Joy Julia Kaito
    Karim Kenji Kira Lars Layla Lea Leo Lin Luca Luis Magda Malik Mara Marcus Maria Mark Mary May Mei Mila Milan Mira
    Nadia Nils Nina Noor Olga Omar Oscar Otto Pablo Paul Petra Pia Priya Rafael Rania Rosa Rose Ruth Sami Sara Sean
    Sofia Sven Tara Tess Theo Tomas Uma Vera Victor Viola Wanda Wei Will Yara Yusuf Zara Zoe
""".split()
_BEGIN = """
    Ab Ack Al And Ar Ash Bak Bal Bar Beck Ber Bir Black Bor Brad Bran Brook Bur Cald Car Cher Clif Col Cot Crom Dal
    Dan Del Den Dor Dra Dun East Ed El Er Esp Fair Far Fen Fitz For Gal Gar Glen Gor Gran Gre Had Hal Har Haw Hel
    Hol Hor Hul Ing Jan Jor Kal Kar Kas Kel Ker Kir Kol Kov Kra Lam Lan Lar Lev Lin Lor Lun Mac Mal Mar Mel Mer Mil
    Mor Mun Nav Nor Nov Oak Ol Or Os Pal Par Pen Per Pol Por Quin Rad Ral Ram Red Ren Rich Rom Ros Rud Sal San Sav
    Sha Sil Sor Stan Sten Str Sul Tal Tar Thorn Til Tor Tre Ul Val Van Ver Vin Vol Wal War Wes Whit Win Wol Yor Zal
""".split()
_MIDDLE = ["", "a", "e", "en", "er", "i", "in", "o", "ov", "u"]
_END = """
    berg by court dale den don feld field ford gard ham hart holm house kin lake land ley lin low man mann mont more
    ner nett ov quist rell ridge rov shaw sen ski smith son stad stein stone ström sworth ton uk vik ville ward well
    wick wood worth yama zewski
""".split()
_BASE: Final = "http://made-up.example/"
_LABEL: Final = "<http://www.w3.org/2000/01/rdf-schema#label>"
_TYPE: Final = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_XSD: Final = "http://www.w3.org/2001/XMLSchema#"
_KINDS: Final = ("Patient", "Doctor", "Ward", "City", "Company", "Drug", "Course", "Film")
_RELATIONS: Final = (
    "treated by", "lives in", "works for", "born on", "admitted to", "member of", "supplied by", "located in",
    "has diagnosis", "owner of", "married to", "parent of", "reports to", "salary", "opened on", "attends", "teaches",
    "wrote", "directed by", "capital of", "part of", "price", "founded by", "sold to", "manages",
)  # fmt: skip
_SYLLABLES: Final = ("ka", "lo", "mir", "ven", "tas", "qui", "dor", "bel", "zan", "pho", "rux", "ime")
_NAMED_SHARE: Final = 0.12
"""Of the triples, how many are labels."""
TREATED: Final = "treated_by"
_RELATIONS_OF_A_KIND: Final = 6


def made_names(count: int, seed: int = 7) -> list[str]:
    """`count` different names of two or three words, some with an initial or a hyphen; the same for the same seed."""
    dice = random.Random(seed)  # nosec B311  # noqa: S311 - made-up names, no secret
    names: dict[str, None] = {}
    while len(names) < count:
        names[_persons_name(dice)] = None
    return list(names)


def entries_of(names: list[str]) -> Iterator[NameEntry]:
    """One person each, by number."""
    return (NameEntry(mid, name, "name", None, True, True) for mid, name in enumerate(names, start=1))


def _persons_name(dice: random.Random) -> str:
    given, family = dice.choice(_GIVEN), _family(dice)
    shape = dice.random()
    if shape < 0.15:
        return f"{given} {dice.choice(_GIVEN)} {family}"
    if shape < 0.25:
        return f"{given} {dice.choice(_BEGIN)[0]}. {family}"
    if shape < 0.30:
        return f"{given} {family}-{_family(dice)}"
    return f"{given} {family}"


def _family(dice: random.Random) -> str:
    return dice.choice(_BEGIN) + dice.choice(_MIDDLE) + dice.choice(_END)


def write_graph(path: Path, triples: int, *, classes: bool, seed: int = 7) -> list[str]:
    """Writes `triples` triples to `path`; gives the names of the things that are treated by one. The same seed gives
    the same file."""
    chance = random.Random(seed)  # noqa: S311  # a sample, no secret  # nosec B311
    names = [_things_name(chance, at) for at in range(int(triples * _NAMED_SHARE))]
    treated = dict[str, None]()
    with path.open("w", encoding="utf-8") as file:
        for subject, line in islice(_lines(chance, names, classes), triples):
            file.write(line)
            if TREATED in line:
                treated[names[subject]] = None
    return list(treated)


def _lines(chance: random.Random, names: list[str], classes: bool) -> Iterator[tuple[int, str]]:
    for at, name in enumerate(names):
        yield at, f'{_thing(at)} {_LABEL} "{name}" .\n'
        if classes:
            yield at, f"{_thing(at)} {_TYPE} <{_BASE}{_KINDS[at % len(_KINDS)]}> .\n"
    while True:
        subject = chance.randrange(len(names))
        of_kind = subject % len(_KINDS) * 3 + chance.randrange(_RELATIONS_OF_A_KIND)
        relation = _RELATIONS[of_kind % len(_RELATIONS)]
        relation_iri = f"<{_BASE}{relation.replace(' ', '_')}>"
        yield subject, f"{_thing(subject)} {relation_iri} {_object(chance, relation, len(names))} .\n"


def _object(chance: random.Random, relation: str, things: int) -> str:
    if relation in ("salary", "price"):
        return f'"{chance.randrange(1_000, 9_000)}"^^<{_XSD}integer>'
    if relation.endswith(" on"):
        return f'"{chance.randrange(1950, 2020)}-0{chance.randrange(1, 9)}-1{chance.randrange(10)}"^^<{_XSD}date>'
    kind = (_RELATIONS.index(relation) + 1) % len(_KINDS)
    return _thing(chance.randrange(things // len(_KINDS)) * len(_KINDS) + kind)


def _thing(at: int) -> str:
    return f"<{_BASE}{at}>"


def _things_name(chance: random.Random, at: int) -> str:
    words = ("".join(chance.choice(_SYLLABLES) for _ in range(3)).title() for _ in range(2))
    return f"{' '.join(words)} {at}"
