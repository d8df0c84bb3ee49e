"""Made-up names of people by the million, from lists of syllables and everyday names: nobody's, and like anybody's."""

from __future__ import annotations

import random
from collections.abc import Iterator

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


def made_names(count: int, seed: int = 7) -> list[str]:
    """`count` different names of two or three words, some with an initial or a hyphen; the same for the same seed."""
    dice = random.Random(seed)  # nosec B311  # noqa: S311 - made-up names, no secret
    names: dict[str, None] = {}
    while len(names) < count:
        names[_name(dice)] = None
    return list(names)


def entries_of(names: list[str]) -> Iterator[NameEntry]:
    """One person each, by number."""
    return (NameEntry(mid, name, "name", None, True, True) for mid, name in enumerate(names, start=1))


def _name(dice: random.Random) -> str:
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
