"""Marks of all scripts, and characters that look like others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_store.text.normalise import MAX_CLUSTER, skeleton_of, undecorated, without_long_runs
from tests.support.linking import linker_of

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def shifted(first: int) -> dict[str, str]:
    return {letter: chr(first + place) for place, letter in enumerate(LETTERS)}


ALPHABETS = {
    "circled": shifted(0x24D0),
    "circled capitals": shifted(0x24B6),
    "negative circled": shifted(0x1F150),
    "squared": shifted(0x1F130),
    "negative squared": shifted(0x1F170),
    "in parentheses": shifted(0x249C),
    "capitals in parentheses": shifted(0x1F110),
    "regional": shifted(0x1F1E6),
    "full width": shifted(0xFF41),
    "bold": shifted(0x1D41A),
    "bold fraktur": shifted(0x1D586),
    "sans-serif": shifted(0x1D5BA),
    "typewriter": shifted(0x1D68A),
    "outlined": shifted(0x1CCD6),
    "underlined": {letter: letter + "\u0332" for letter in LETTERS},
    "struck through": {letter: letter + "\u0336" for letter in LETTERS},
    "in combining squares": {letter: letter + "\u20de" for letter in LETTERS},
    "with accents": {letter: letter + "\u0301\u0308\u0323" for letter in LETTERS},
    "braille": dict(zip(LETTERS, "⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵", strict=True)),
    "small capitals": dict(zip("abcdefghijklmnoprstuvwyz", "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", strict=True)),
    "raised": dict(zip("abcdefghijklmnoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ", strict=True)),
    "Cyrillic": dict(zip("abcdehijkmnoprstuwxy", "аЬсԁеһіјкмпоргѕтцшху", strict=True)),
    "Greek": dict(zip("abehikmnoptxyz", "ΑΒΕΗΙΚΜΝΟΡΤΧΥΖ", strict=True)),
    "Lisu": dict(zip("abcdefghijklmnoprstuvwxyz", "ꓮꓐꓚꓓꓰꓝꓖꓧꓲꓙꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ", strict=True)),
    "Armenian": dict(zip("hnou", "հոօս", strict=True)),
    "Cherokee": dict(zip("abcdehijklmprstvwyz", "ᎪᏴᏟᎠᎬᎻᏆᎫᏦᏞᎷᏢᏒᏚᎢᏙᎳᎩᏃ", strict=True)),
}
DECORATED = sorted(
    name for name in ALPHABETS if name not in ("with accents", "Cyrillic", "Greek", "Lisu", "Armenian", "Cherokee")
)


@pytest.mark.parametrize("name", ALPHABETS)
def test_the_letters_of_a_disguise_are_the_letters(name: str) -> None:
    wrong = {letter: sign for letter, sign in ALPHABETS[name].items() if skeleton_of(sign).lower() != letter}
    assert not wrong


@pytest.mark.parametrize("name", [each for each in DECORATED if "combining" not in each and "\u0332" not in each])
def test_letters_of_no_language_are_undone_in_any_text(name: str) -> None:
    signs = {letter: sign for letter, sign in ALPHABETS[name].items() if len(sign) == 1}
    assert all(undecorated(sign).lower() == letter for letter, sign in signs.items())


@pytest.mark.parametrize(
    "text", ["Где живёт Анна Каренина", "Πού μένει ο Νίκος;", "Zoë Müller Đặng", "王小明", "שלום", "µg ™ №5 ½ ②"]
)
def test_letters_of_real_languages_and_figures_stay_where_text_is_shown(text: str) -> None:
    shown = "".join(map(undecorated, text))
    assert shown.replace("№", "No") == text.replace("№", "No")


@given(st.text(max_size=60))
def test_a_skeleton_of_a_skeleton_is_itself(text: str) -> None:
    assert skeleton_of(skeleton_of(text)) == skeleton_of(text)


@given(st.text(max_size=60))
def test_each_character_is_read_alone(text: str) -> None:
    assert "".join(map(skeleton_of, text)) == skeleton_of(text)


@pytest.mark.parametrize("disguise", ALPHABETS)
def test_the_linker_finds_a_name_in_the_skeleton_of_its_disguise(disguise: str) -> None:
    linker = linker_of(("Onhu Brockshirt",), public=None)
    hidden = "".join(ALPHABETS[disguise].get(letter, letter) for letter in "onhu brockshirt")
    assert [each.mids for each in linker.find_mentions(skeleton_of(f"who is {hidden}, and where"))] == [(1,)]


@pytest.mark.parametrize("sign", [".", " ", "\n", "\u0301", ".?", "\u200d\u2019"])
def test_long_runs_of_signs_are_cut_and_short_ones_stay(sign: str) -> None:
    short, long = sign * 20, sign * 4_000
    assert without_long_runs(f"Ann{short}Bo{short}") == f"Ann{short}Bo{short}"
    assert without_long_runs(f"Ann{long}Bo{long}") == f"Ann{long[:MAX_CLUSTER]}Bo{long[:MAX_CLUSTER]}"
