"""Family 8: names in letters that look alike, in enclosures and marks, with invisible signs between."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from random import Random

from evaluation.attacks.forms.corpus.graph_names import GraphNames, reads_as_name
from evaluation.attacks.forms.corpus.plain_letters import plain
from evaluation.attacks.forms.corpus.sentences import sentence
from evaluation.attacks.forms.families.case import Case, TypedCase, put_into, spread

Write = Callable[[str], str]


def _from(small: int, capital: int | None = None) -> Write:
    """Letters a to z from a code point on; all are written with those of `small` without another."""
    table = {ord("a") + at: small + at for at in range(26)}
    table |= {ord("A") + at: (small if capital is None else capital) + at for at in range(26)}
    return lambda text: plain(text).translate(table) if text.islower() else _bare(text).translate(table)


def _bare(text: str) -> str:
    """Without accents, capitals kept."""
    decomposed = unicodedata.normalize("NFD", text)
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))


def _letters(latin: str, other: str) -> Write:
    table = str.maketrans(latin, other)
    return lambda text: _bare(text).translate(table)


def _after_each(mark: str) -> Write:
    return lambda text: "".join(sign + mark if sign.isalnum() else sign for sign in text)


def _between(mark: str) -> Write:
    return mark.join


FORMS: Mapping[str, Write] = {
    "circled": _from(0x24D0, 0x24B6),
    "negative circled": _from(0x1F150),
    "squared": _from(0x1F130),
    "negative squared": _from(0x1F170),
    "in brackets": _from(0x249C, 0x1F110),
    "regional": _from(0x1F1E6),
    "regional, parted": lambda text: "\u200b".join(_from(0x1F1E6)(text)),
    "full width": _from(0xFF41, 0xFF21),
    "mathematical bold": _from(0x1D41A, 0x1D400),
    "mathematical script": _from(0x1D4EA, 0x1D4D0),
    "Fraktur": _from(0x1D586, 0x1D56C),
    "double-struck bold": _from(0x1D552, 0x1D538),
    "sans-serif": _from(0x1D5BA, 0x1D5A0),
    "monospace": _from(0x1D68A, 0x1D670),
    "tag letters": lambda text: text + "".join(chr(0xE0000 + ord(sign)) for sign in text if sign.isascii()),
    "Lisu": lambda text: _letters("ABCDEFGHIJKLMNOPRSTUVWXYZ", "ꓮꓐꓚꓓꓰꓝꓖꓧꓲꓙꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ")(_bare(text).upper()),
    "Cherokee": lambda text: _letters("ABCDEGHIJKLMPRSTVWZ", "ᎪᏴᏟᎠᎬᏀᎻᏆᎫᏦᏞᎷᏢᏒᏚᎢᏙᏔᏃ")(_bare(text).upper()),
    "Cyrillic throughout": _letters("abcdefghijklmnopqrstuvwxyz", "аЬсԁеғɡһіјкӏмпорԛгѕтцѵѡхуз"),
    "some Cyrillic": _letters("aceopxyi", "асеорхуі"),
    "Greek": _letters("abeikmnoprtuvxyz", "αβεικμηορρτυνχγζ"),
    "small capitals": _letters("abcdefghijklmnoprtuvwyz", "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀᴛᴜᴠᴡʏᴢ"),
    "superscript": _letters("abcdefghijklmnoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ"),
    "hooks and strokes": _letters("abcdefghijklmnopqrstuvwxyz", "ąɓƈɗęƒɠɦɨɉƙłɱɲøƥʠɍşŧųʋɯҳɏƶ"),
    "upside down": lambda text: _letters("abcdefghijklmnopqrstuvwxyz", "ɐqɔpǝɟƃɥᴉɾʞlɯuodbɹsʇnʌʍxʎz")(plain(text)),
    "figures for letters": _letters("aeiost", "431057"),
    "underlined": _after_each("\u0332"),
    "struck through": _after_each("\u0336"),
    "enclosing circles": _after_each("\u20dd"),
    "dots below": _after_each("\u0323"),
    "piled marks": _after_each("\u0301\u0316\u0334"),
    "zero-width spaces": _between("\u200b"),
    "zero-width joiners": _between("\u200d"),
    "soft hyphens": _between("\u00ad"),
    "variation selectors": _after_each("\ufe0f"),
    "bidi override": lambda text: f"\u202e{text[::-1]}\u202c",
    "bidi isolates": lambda text: f"\u2067{text}\u2069",
    "left-to-right marks": _between("\u200e"),
    "word joiners": _between("\u2060"),
    "Hangul fillers": _between("\u3164"),
    "points between": _between("."),
    "hyphens between": _between("-"),
    "spaces between": _between(" "),
}


def look_alikes(names: GraphNames, language: str, dice: Random, count: int) -> Iterator[Case]:
    """Names of the graph and last names alone, in small letters and as they are, each in every form in turn."""
    chosen = [name for name in names.names if plain(name).replace(" ", "").isascii()] or list(names.names)
    forms = [form for name in dice.sample(chosen, min(count, len(chosen))) for form in _written(name, dice)]
    for typed in spread(forms, dice, count):
        yield put_into("8 look-alike letters", typed, sentence(language, ("open", "marked"), dice), dice)


def _written(name: str, dice: Random) -> Iterator[TypedCase]:
    last = name.split(" ")[-1] if reads_as_name(name.split(" ")[-1]) else name
    text = dice.choice((name, name.lower(), last.lower(), last))
    for kind, write in FORMS.items():
        yield TypedCase(kind, write(text), (text,))
