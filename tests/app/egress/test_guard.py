from __future__ import annotations

import html
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.egress.guard import BlockedError, Guard, StaticSegments, readings
from app.privacy.safe_text import Egress, PrivacyError, Segment
from app.privacy.words.lexicon import Lexicon
from kg_store.names.index import NameEntry, NameIndex
from kg_store.names.name_words import NameWords
from kg_store.storage.vault import VaultRecord
from kg_store.terms import NodeKind
from kg_store.text.english import PublicWords
from tests.support.clinic import all_names


class EveryWord:
    """Permits all: what is tested is which names are found."""

    names = NameWords.of([VaultRecord(NodeKind.ENTITY, names) for names in (("Anna Zorvik",), ("Field Palisander",))])

    def permits_in_any_language(self, word: str) -> bool:
        return True


@pytest.fixture
def guard(names: NameIndex, statics: StaticSegments) -> Guard:
    return Guard(names, statics, EveryWord())


PLANTED = [name for name in all_names() if name != "Hope"]
NONE: frozenset[str] = frozenset()


def egress(*segments: bytes | str | Segment) -> Egress:
    made = (s if isinstance(s, Segment) else Segment(s.encode() if isinstance(s, str) else s) for s in segments)
    return Egress(tuple(made))


def blocks(guard: Guard, *segments: bytes | str | Segment, issued: frozenset[str] = NONE) -> bool:
    try:
        guard.clear(egress(*segments), issued)
    except BlockedError:
        return True
    return False


@pytest.mark.parametrize("name", PLANTED)
def test_every_name_alias_and_protected_value_is_blocked(guard: Guard, name: str) -> None:
    assert blocks(guard, f"about {name}, who")
    assert blocks(guard, f"ABOUT {name.upper()}.")
    assert blocks(guard, f"about {name.replace(' ', '_')}!")


@pytest.mark.parametrize("field", ["model", "user", "temperature", "metadata", "tools", "stop"])
def test_no_field_of_a_request_is_exempt(guard: Guard, field: str) -> None:
    assert blocks(guard, json.dumps({"messages": [], field: "Anna Berg"}))
    assert blocks(guard, json.dumps({"messages": [], field: {"anna berg": 1}}))


def test_an_alias_inside_a_longer_name_is_blocked(guard: Guard) -> None:
    assert blocks(guard, "the New York Times Magazine")
    assert blocks(guard, "old New York")


def test_a_part_of_a_longer_word_passes(guard: Guard) -> None:
    assert not blocks(guard, "Zorbinolidean, Newyorkers, Bergenholm")


def test_public_words_and_values_that_may_be_shown_pass(guard: Guard) -> None:
    assert not blocks(guard, "I hope; Hope. of blood group zero")


ESCAPES: dict[str, Callable[[str], str]] = {
    "plain": lambda name: name,
    "json": lambda name: json.dumps(name),
    "json twice": lambda name: json.dumps(json.dumps(name)),
    "json three times": lambda name: json.dumps(json.dumps(json.dumps(name))),
    "json, every character": lambda name: "".join(f"\\u{ord(c):04x}" for c in name),
    "json, capitals": lambda name: "".join(f"\\u{ord(c):04X}" for c in name),
    "json twice, every character": lambda name: "".join(f"\\\\u{ord(c):04x}" for c in name),
    "after a line end": lambda name: json.dumps("\n" + name + "\t"),
    "python": lambda name: "".join(f"\\x{ord(c):02x}" if ord(c) < 256 else c for c in name),
    "python, long": lambda name: "".join(f"\\U{ord(c):08x}" for c in name),
    "percent": lambda name: quote(name),
    "form": lambda name: quote_plus(name),
    "percent, every byte": lambda name: "".join(f"%{byte:02x}" for byte in name.encode()),
    "percent twice": lambda name: quote(quote(name)),
    "percent in json": lambda name: json.dumps(quote(name)),
    "html": lambda name: html.escape(name),
    "html, every character": lambda name: "".join(f"&#{ord(c)};" for c in name),
    "html, hexadecimal": lambda name: "".join(f"&#x{ord(c):x};" for c in name),
    "html in json": lambda name: json.dumps("".join(f"&#{ord(c)};" for c in name)),
    "json in html": lambda name: html.escape(json.dumps(name)),
    "full width": lambda name: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in name),
    "no-break space": lambda name: name.replace(" ", "\u00a0"),
    "zero width": lambda name: "\u200b".join(name),
    "soft hyphen in json": lambda name: json.dumps("\u00ad".join(name)),
    "many spaces": lambda name: name.replace(" ", " \\n\\t "),
}


@pytest.mark.parametrize("escape", ESCAPES)
@pytest.mark.parametrize("name", ["Anna Berg", "Karl Östermann", "Shane O'Malley", "Mary-Jane Holt", "山田太郎"])
def test_no_escape_hides_a_name(guard: Guard, name: str, escape: str) -> None:
    assert blocks(guard, f'{{"text": "{ESCAPES[escape](name)}"}}')


def test_a_name_beyond_the_basic_plane_is_found_in_surrogates(statics: StaticSegments, names: NameIndex) -> None:
    assert next(reading for reading in readings("\\ud83d\\ude00 x") if "\U0001f600" in reading)
    # Half a character is none: what stands for it is a sign that nobody has permitted.
    assert blocks(Guard(names, statics, EveryWord()), "\\ud83d alone, \\U00110000 beyond")


json_bodies = st.recursive(
    st.none() | st.booleans() | st.integers(0, 99) | st.text(alphabet='xyz \\"\n/{}%&;é', max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('kq\\" ', max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(
    json_bodies,
    st.sampled_from(PLANTED),
    st.sampled_from(sorted(ESCAPES)),
    st.booleans(),
    st.integers(0, 3),
    st.data(),
)
def test_a_name_planted_anywhere_in_any_body_is_blocked(
    guard: Guard, body: object, name: str, escape: str, ascii_only: bool, cuts: int, data: st.DataObject
) -> None:
    planted = {"a": body, "b": [f"x {ESCAPES[escape](name)} y"]}
    text = json.dumps(planted, ensure_ascii=ascii_only).encode()
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=cuts, max_size=cuts)))
    parts = [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
    assert blocks(guard, *parts)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(json_bodies)
def test_a_body_without_names_passes(guard: Guard, body: object) -> None:
    assert not blocks(guard, json.dumps(body))


# --- what is subtracted ---------------------------------------------------------------------------------------


def test_issued_pseudonyms_are_subtracted_whole_and_no_others(statics: StaticSegments, names: NameIndex) -> None:
    guard = Guard(NameIndex.build([NameEntry(1, "Ea1b2c", "name", None, True, True)]), statics, EveryWord())
    assert not blocks(guard, "see Ea1b2c.", issued=frozenset(["Ea1b2c"]))
    assert blocks(guard, "see ea1b2c.", issued=frozenset(["Ea1b2c"]))
    assert blocks(guard, "see Ea1b2c.", issued=frozenset(["Eb1b2c"]))


def test_no_name_comes_about_where_a_pseudonym_is_taken_out(guard: Guard) -> None:
    assert not blocks(guard, "came in Ea1b2c by helicopter", issued=frozenset(["Ea1b2c"]))


def test_registered_words_are_subtracted_and_end_words(guard: Guard, statics: StaticSegments) -> None:
    ours = statics.register(b"Our template speaks of Anna Berg and more.")
    assert not blocks(guard, ours)
    assert not blocks(guard, "came in ", ours, " by helicopter")
    assert blocks(guard, ours, "Anna Berg", ours)


def test_words_that_only_claim_to_be_static_are_read(guard: Guard, statics: StaticSegments) -> None:
    statics.register(b"Our template speaks of Anna Berg and more.")
    assert blocks(guard, Segment(b"Our template speaks of Anna Berg and less.", static=True))
    assert blocks(guard, Segment(b"Our template speaks of Anna Berg and more."))


def test_a_short_registered_segment_hides_no_split_name(guard: Guard, statics: StaticSegments) -> None:
    assert blocks(guard, "Anna", statics.register(b" "), "Berg")
    assert blocks(guard, "Anna", statics.register(b"\\n"), "Berg")


@pytest.mark.parametrize("cut", range(1, 14))
def test_a_name_split_over_segments_is_blocked(guard: Guard, cut: int) -> None:
    data = "Karl Östermann".encode()
    assert blocks(guard, "x ", data[:cut], data[cut:], " y")


# --- fail closed ----------------------------------------------------------------------------------------------


def test_bytes_that_are_no_text_are_blocked(guard: Guard) -> None:
    assert blocks(guard, b"\xff\xfe plain")


def test_a_body_that_never_ends_to_be_escaped_is_blocked(guard: Guard) -> None:
    assert blocks(guard, "x " + "\\" * 9_000 + " %25" + "25" * 200 + "41 &amp;" + "amp;" * 200)


class Broken:
    """Stands for an index, a registry or a set of pseudonyms that fails."""

    def find(self, text: str) -> list[object]:
        raise RuntimeError(text)

    def __contains__(self, item: object) -> bool:
        raise MemoryError


def test_an_index_that_fails_blocks(statics: StaticSegments) -> None:
    with pytest.raises(BlockedError) as caught:
        Guard(Broken(), statics, EveryWord()).clear(egress("Anna Berg"), NONE)  # type: ignore[arg-type]
    assert caught.value.hits == 0


def test_a_registry_that_fails_blocks(names: NameIndex) -> None:
    assert blocks(Guard(names, Broken(), EveryWord()), Segment(b"x" * 40, static=True))  # type: ignore[arg-type]


def test_pseudonyms_that_fail_block(guard: Guard) -> None:
    assert blocks(guard, "Anna Berg", issued=Broken())  # type: ignore[arg-type]


def test_a_decoder_that_fails_blocks(guard: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_text: str) -> str:
        raise ValueError("Anna Berg")

    monkeypatch.setattr("app.egress.guard._UNDOERS", (fail,))
    assert blocks(guard, "clean")


def test_the_error_has_an_id_and_a_count_and_no_text(guard: Guard) -> None:
    with pytest.raises(BlockedError) as caught:
        guard.clear(egress("Anna Berg met anna berg and Karl Östermann"), NONE)
    error = caught.value
    assert isinstance(error, PrivacyError)
    assert error.hits == 2
    assert error.id in str(error)
    assert "nna" not in str(error) + repr(error)
    assert error.__cause__ is None


# --- words leave by permission -----------------------------------------------------------------------------------

STRANGE = [
    "thaddeus",
    "müller",
    "muller",
    "xu",
    "who is Smith",
    "b12",
    "🄰🄱",
    "ⓡⓞⓢⓔ",
    "мор",
    "dell'arte",
    "tarn&shy;s&shy;worth",
    "thad\u200bdeus",
]


@pytest.mark.parametrize("text", STRANGE)
def test_a_word_that_nobody_has_permitted_is_blocked(
    names: NameIndex, statics: StaticSegments, public: PublicWords, text: str
) -> None:
    guard = Guard(names, statics, Lexicon(public, NameWords()))
    assert blocks(guard, json.dumps({"question": f"who has {text} seen?"}))
    assert blocks(guard, json.dumps({"question": [{"thing": text}]}, ensure_ascii=False))


def test_permitted_words_small_numbers_and_pseudonyms_pass(
    names: NameIndex, statics: StaticSegments, public: PublicWords
) -> None:
    guard = Guard(names, statics, Lexicon(public, NameWords()))
    body = json.dumps({"question": "Which doctors don't live with Eq7f2k's patients?\nNone", "round": 3})
    assert not blocks(guard, body, issued=frozenset(["Eq7f2k"]))
    assert blocks(guard, body)


# --- names as people type them ---------------------------------------------------------------------------------

TYPED = [
    "Karl Ostermnan", "karl oestermann", "K. Östermann", "Östermann, Karl", "ostermann", "karl", "zorbinoll",
    "Shane O Malley", "shane omalley", "maryjane holt", "newyork", "New York Tims", "elodi",
    "shane o 'malley", "shane o\u2019malley", "shane o malley 's",
]  # fmt: skip


@pytest.mark.parametrize("typed", TYPED)
def test_a_name_is_blocked_in_every_form_that_is_linked(guard: Guard, typed: str) -> None:
    assert blocks(guard, f"about {typed}, who")
    assert blocks(guard, json.dumps({"messages": [{"content": f"about\n{typed}"}]}))
    assert blocks(guard, json.dumps(json.dumps({"content": typed})))
    assert blocks(guard, quote(f"about {typed}"))


@pytest.mark.parametrize(
    "text",
    ["a new ward in the great times", "carl was kind", "\\nMary had a malady", "he is a shame", "hopes and hoped"],
)
def test_everyday_words_near_a_name_pass(guard: Guard, text: str) -> None:
    assert not blocks(guard, text.replace("Mary", "Many"))


def test_an_adjective_of_a_place_is_blocked_as_its_name_is(statics: StaticSegments) -> None:
    names = NameIndex.build([NameEntry(1, "Burundi", "name", None, True, True)]).with_public(PublicWords.of(["city"]))
    guard = Guard(names, statics, EveryWord())
    assert blocks(guard, "a city of Burundi")
    assert blocks(guard, "a Burundian city")
    assert blocks(guard, "a BURUNDIAN city")
    assert not blocks(guard, "a Kenyan city")


PUBLIC_TERMS = {
    "Dizziness": True, "grapefruit juice": True, "Übelkeit": True, "corn field": True, "Liver pâté": True,
    "Anna Zorvik": False, "Zorviks": False, "palisander oil": False, "Field": False,
}  # fmt: skip


@pytest.mark.parametrize(("term", "may_leave"), PUBLIC_TERMS.items())
def test_a_public_segment_holds_one_public_term_and_no_private_name(
    statics: StaticSegments, term: str, may_leave: bool
) -> None:
    private = [NameEntry(1, "Anna Zorvik", "name", None, True, True)]
    public = [NameEntry(at, each, "name", None, True, True) for at, each in enumerate(PUBLIC_TERMS, start=10)]
    names, own = (NameIndex.build(each).with_public(PublicWords.of(())) for each in ([*private, *public], private))
    guard = Guard(names, statics, EveryWord(), own)
    data = json.dumps(json.dumps(term, ensure_ascii=False)[1:-1])[1:-1].encode()
    assert blocks(guard, Segment(data, public=True)) is not may_leave
    assert blocks(guard, Segment(data + b" and more", public=True))
    assert blocks(Guard(names, statics, EveryWord()), Segment(data, public=True))
