"""Mentions of entities and values in what users type: longest first, public words only where marked."""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import replace

import pytest

from evaluation.scale.made_up import entries_of, made_names
from kg_store.names.fuzzy_search import Fits, InexactHit
from kg_store.names.index import NameIndex
from kg_store.names.other_forms import find_inflected, find_near_spans, masked
from kg_store.text.english import PublicWords
from kg_store.text.words import LastWords

pytestmark = pytest.mark.slow


MANY_NAMES = made_names(2_000)
INDEX = NameIndex.build(entries_of(MANY_NAMES)).with_public(PublicWords.of(("treated by", "lives in")))


def slip(word: str, dice: random.Random) -> str:
    at = dice.randrange(1, max(2, len(word) - 1))
    return word[:at] + dice.choice("aeiourtn") + word[at + 1 :]


def near_text(seed: int, names: int) -> str:
    dice = random.Random(seed)
    words = (
        slip(word, dice) if dice.random() < 0.7 else word
        for name in dice.sample(MANY_NAMES, names)
        for word in name.split()
    )
    return " ".join(words).lower()


def read_until_nothing_is_found(text: str, skip: Collection[str] = ()) -> list[tuple[int, int]]:
    """The same, all of the text read anew each time."""
    found: list[tuple[int, int]] = []
    while True:
        hits = [hit for hit in INDEX.find_inexact(masked(text, found), skip) if not hit.public]
        if not hits:
            return sorted(found)
        covered = bytearray(len(text))
        for hit in sorted(hits, key=lambda hit: (hit.start - hit.end, hit.start)):
            if not any(covered[hit.start : hit.end]):
                found.append((hit.start, hit.end))
                covered[hit.start : hit.end] = b"\x01" * (hit.end - hit.start)


def hits_left(text: str, found: list[tuple[int, int]]) -> list[InexactHit]:
    return [hit for hit in INDEX.find_inexact(masked(text, found)) if not hit.public]


@pytest.mark.parametrize("seed", range(40))
def test_what_is_found_covers_what_reading_again_and_again_finds(seed: int) -> None:
    text = near_text(seed, 1 + seed % 12)
    covered = bytearray(len(text))
    found = find_near_spans(INDEX, text, ())
    for start, end in found:
        assert not any(covered[start:end])
        covered[start:end] = b"\x01" * (end - start)
    assert all(all(covered[start:end]) for start, end in read_until_nothing_is_found(text))
    assert not hits_left(text, found)


def test_spans_that_are_taken_are_not_found_again_and_hide_what_stands_in_them() -> None:
    text = f"{MANY_NAMES[0]} and {MANY_NAMES[1]}"
    both = find_near_spans(INDEX, text, ())
    assert len(both) >= 2
    assert find_near_spans(INDEX, text, both) == []
    assert find_near_spans(INDEX, text, both[:1]) == both[1:]


def test_a_skipped_word_stands_for_nothing() -> None:
    family = MANY_NAMES[0].split()[-1]
    assert find_near_spans(INDEX, family, ()) == [(0, len(family))]
    assert find_near_spans(INDEX, family, (), {family}) == []


@pytest.mark.parametrize("seed", range(30))
def test_what_was_found_in_other_texts_of_a_request_changes_nothing(seed: int) -> None:
    text = near_text(seed, 2 + seed % 9)
    fits = Fits()
    texts = (text, text[len(text) // 3 :], text.title(), masked(text, [(len(text) // 2, len(text) // 2 + 4)]))
    for each in (*texts, *texts):
        assert INDEX.find_inexact(each, fits=fits) == INDEX.find_inexact(each)
        assert find_near_spans(INDEX, each, (), (), fits) == find_near_spans(INDEX, each, ())


@pytest.mark.parametrize("seed", range(10))
def test_stretches_in_which_nothing_is_marked_are_read_alike_each_time(seed: int) -> None:
    text = f"who lives in the town of {near_text(seed, 1 + seed % 3)}, and where"
    fits = Fits()
    expected = INDEX.find_inexact(text)
    for _ in range(2):
        found = INDEX.find_inexact(text, is_name=lambda *_: False, may_hold=lambda *_: False, fits=fits)
        assert found == INDEX.find_inexact(text, fits=fits) == expected
    skip = frozenset(text.replace(",", "").split())
    assert INDEX.find_inexact(text, skip, fits=fits) == INDEX.find_inexact(text, skip) == []


def test_each_last_word_of_a_name_is_known_to_end_one_and_few_other_words_are() -> None:
    assert all(INDEX.may_end_with(name.lower().split()[-1]) for name in MANY_NAMES)
    others = [f"zq{number}xw" for number in range(1_000)]
    assert sum(map(INDEX.may_end_with, others)) < 100
    assert INDEX.may_end_with("o'brien")  # Only words of English letters and digits can be ruled out.
    assert NameIndex.build(entries_of(MANY_NAMES[:3])).may_end_with("zqxw")


@pytest.mark.parametrize("seed", range(20))
def test_searching_by_last_words_finds_what_a_search_for_every_noun_finds(seed: int) -> None:
    everything = replace(INDEX, _last_words=LastWords())
    chance = random.Random(seed)
    names = (chance.choice((name, name.lower())) for name in chance.sample(MANY_NAMES, 60))
    endings = ("", "s", "s", "es", "'s", "-", ",", "é", "\u200b") if seed % 2 else ("s", "s", "", ",")
    text = " ".join(name + chance.choice(endings) for name in names)
    found = list(find_inflected(INDEX, text))
    assert found == list(find_inflected(everything, text))
    assert found


# --- a few names each, and what a text says of them -------------------------------------------------------------


def test_a_relation_with_accents_passes_where_things_are_called_by_it() -> None:
    """Things without a name are called by kind and key, such as "gehört zu 06"."""
    index = NameIndex.build(entries_of(["gehört zu 06", "gehört zu 07"])).with_public(PublicWords.of(("gehört zu",)))
    assert all(hit.public for hit in index.find_inexact("gehört zu: number"))
    assert index.find_secret("gehört zu 06")
