"""Names and values that are found in what people type, row by row (`corpus.toml`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_store.names.index import NameEntry, NameIndex
from kg_store.names.linker import EntityLinker
from kg_store.names.other_forms import Mention
from kg_store.terms import Mids, ValueKind
from kg_store.text.english import PublicWords
from tests.support.corpus import Corpus
from tests.support.linking import index_of, linked, linker_of, named, valued

pytestmark = pytest.mark.slow

CORPUS = Corpus.beside(__file__)
Spans = list[tuple[str, tuple[int, ...]]]


def counts_of(facts: Mapping[str, int]) -> Callable[[Mids], npt.NDArray[np.int64]]:
    """Returns the number of facts of each thing, by the MIDs of the names in their order."""
    return lambda mids: np.array([list(facts.values())[mid - 1] for mid in mids.tolist()], dtype=np.int64)


def of(name: str) -> dict[str, int]:
    return dict(CORPUS.sections["names"][name])


PUBLIC = PublicWords.of(["best of the best", "the office"])
VALUES = [(text, ValueKind(kind)) for text, kind in CORPUS.sections["names"]["values"]]
LINKER = EntityLinker(
    NameIndex.build(
        [
            *(named(mid, name) for mid, name in enumerate(CORPUS.sections["names"]["whole"], start=1)),
            *(valued(mid, text, kind) for mid, (text, kind) in enumerate(VALUES, start=20)),
            NameEntry(40, "Guarded Only", "name", None, linkable=False, protected=True),
        ]
    ).with_public(PUBLIC)
)
MEANT = NameIndex.build(
    valued(mid, text, kind)
    for mid, (text, kind) in enumerate(
        [
            ("2020-03-12", ValueKind.DATE),
            ("1250.50", ValueKind.NUMBER),
            ("1.2505e3", ValueKind.NUMBER),
            ("-1250.5", ValueKind.NUMBER),
            ("broken", ValueKind.NUMBER),
            ("1250.5", ValueKind.TEXT),
        ],
        start=1,
    )
)
SCHEMA = ["date of birth", "lives in", "patient"]
TYPED, FOREIGN = (EntityLinker(index_of(CORPUS.sections["names"][name], SCHEMA)) for name in ("typed", "foreign"))
PLACES = EntityLinker(
    index_of(CORPUS.sections["names"]["places"], ["tongan title", "actor", "city"], {8: "Kyrgyzstan"})
)
KNOWN = EntityLinker(index_of(of("known"), ["president of a country", "about us"]), counts_of(of("known")))
SHOWN = ["movie", "born in", "play"]
COMMON = EntityLinker(index_of(of("common"), SHOWN), counts_of(of("common")))
JOBS = {1: "Accountant", 2: "Sales Representative", 3: "Machines", 4: "Prescription", 5: "Phlebotomist"}


def spans(text: str, mentions: Sequence[Mention]) -> Spans:
    return [(text[each.start : each.end], each.mids) for each in mentions]


def of_a_few(names: Sequence[str], texts: Sequence[tuple[int, str]], text: str) -> dict[str, tuple[int, ...]]:
    return linked(linker_of(names, ["opened on", "open", "patients", "about us"], dict(texts)), text)


def in_index(name: str, text: str) -> list[str]:
    index = NameIndex.build([named(0, name)])
    return [text[hit.start : hit.end] for hit in index.find(text)]


def plurals(text: str) -> Spans:
    linker = linker_of(("Dog", "Species", "Zoltan"), ["species"])
    return spans(text, linker.find_unmarked(text, PublicWords.of(["species"])))


def categories(text: str, public: Sequence[str]) -> Spans:
    found = linker_of((), public, {9: "lost", 10: "open"}).find_categories(text, PublicWords.of(public))
    assert all(each.value_kind is ValueKind.TEXT for each in found)
    return spans(text, found)


def shared_nouns(text: str) -> Spans:
    names = {"Zip line": 12, "swing": 3, "otter": 2}
    linker = EntityLinker(index_of(names, ["yard"]), counts_of(names))
    return spans(text, linker.find_sorts(text, PublicWords.of(["yard"]), kinds=["visit"]))


def in_other_number(text: str) -> Spans:
    public = ["prescriptions", "job title"]
    linker = linker_of((), public, JOBS)
    found = {*linker.find_mentions(text), *linker.find_categories(text, PublicWords.of(public))}
    return sorted(spans(text, sorted(found, key=lambda each: each.start)))


def known_better(text: str) -> list[tuple[str, list[str]]]:
    names = list(of("known"))
    return [(span, sorted(names[mid - 1] for mid in mids)) for span, mids in spans(text, KNOWN.find_mentions(text))]


def common(text: str) -> list[tuple[str, list[str]]]:
    names = list(of("common"))
    found = COMMON.find_common(text, PublicWords.of(SHOWN), (), lambda noun: noun == "model")
    return [(span, sorted(names[mid - 1] for mid in mids)) for span, mids in spans(text, found)]


READS: dict[str, Callable[..., object]] = {
    "mentions": lambda text: spans(text, LINKER.find_mentions(text)),
    "unmarked words on request": lambda text: spans(text, LINKER.find_unmarked(text, PUBLIC)),
    "values by what they mean": lambda kind, written: MEANT.mids_of_value(ValueKind(kind), written),
    "names in an index": in_index,
    "names of a few": of_a_few,
    "plurals of everyday words": plurals,
    "everyday words that are whole values": categories,
    "nouns that are the name of a thing shared by others": shared_nouns,
    "values in the other number": in_other_number,
    "names as people type them": lambda text: spans(text, TYPED.find_mentions(text)),
    "adjectives of places": lambda text: spans(text, PLACES.find_mentions(text)),
    "things that are known far better": known_better,
    "nouns that many things are sorted by": common,
}


def test_every_section_is_read() -> None:
    assert {*READS, "names", "names of other scripts"} == set(CORPUS.sections)


@pytest.mark.parametrize("section", READS)
def test_rows_are_read(section: str) -> None:
    CORPUS.judge(section, READS[section])


@pytest.mark.parametrize(("text", "found"), [row for row in CORPUS.rows("names as people type them") if row[-1]])
def test_what_is_linked_is_seen_without_its_sentence(text: str, found: Spans) -> None:
    """The guard has no capitals or neighbours to go by: the words themselves must be enough."""
    ((written, mids),) = found
    index = index_of(CORPUS.sections["names"]["typed"], SCHEMA)
    protected = [hit for hit in index.find(written) if hit.protected and not hit.public]
    assert protected or [hit for hit in index.find_inexact(written) if not hit.public and set(mids) <= set(hit.mids)]


def test_names_of_other_scripts_and_beside_them_are_read() -> None:
    CORPUS.judge("names of other scripts", lambda text: spans(text, FOREIGN.find_mentions(text)))


def test_what_is_taken_or_not_known_from_a_graph_is_not_found() -> None:
    text = "which guitarists were born in Ovar"
    assert COMMON.find_common(text, PublicWords.of(SHOWN), ((6, 16),), lambda _noun: False) == []
    alone = EntityLinker(index_of(of("known"), ["president of a country", "about us"]))
    assert spans("when was wexler born", alone.find_mentions("when was wexler born")) == [("wexler", (1,))]
    assert index_of(("Osterfurt",), public=None).find_inexact("osterfrt") == []


def test_a_mention_of_a_value_says_its_kind_and_one_of_a_thing_none() -> None:
    kinds = [each.value_kind for each in LINKER.find_mentions("Anna Schmidt, 12 March 2020, 123-45-6789, 1990, Zoë")]
    assert kinds == [None, ValueKind.DATE, ValueKind.TEXT, ValueKind.NUMBER, None]


PIECES = st.sampled_from(
    [" ", " ", ". ", "? ", "\n", "[", "]", '"', "'", "“", "”", "'s", "who is", "The", "-", "\u200b"]
    + CORPUS.sections["names"]["whole"]
    + [text for text, _kind in VALUES]
)


@given(st.lists(PIECES, max_size=14).map("".join))
def test_mentions_stand_in_order_and_never_overlap(text: str) -> None:
    mentions = LINKER.find_mentions(text)
    ends = [0, *(mention.end for mention in mentions)]
    assert all(before <= mention.start < mention.end for before, mention in zip(ends, mentions, strict=False))
    assert all(mention.mids == tuple(sorted(set(mention.mids))) for mention in mentions)
