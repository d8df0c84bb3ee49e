"""Common nouns of a question as further topics of it: a reading that stands beside the plain one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from app.privacy.anonymised import Anonymised
from app.privacy.anonymiser import Anonymiser
from app.privacy.pseudonyms import PseudonymTable
from app.privacy.words.lexicon import Lexicon
from client_sdk.protocol import Message
from kg_store.names.index import NameEntry, NameIndex
from kg_store.names.linker import EntityLinker
from kg_store.names.name_words import NameWords
from kg_store.terms import Mids, as_mids
from kg_store.text.english import PublicWords

PUBLIC = PublicWords.of(["born in"])
INDEX = NameIndex.build(
    [NameEntry(1, "Guitarist", "name", None, True, True), NameEntry(2, "Ovar", "name", None, True, True)]
).with_public(PUBLIC)


NO_WORDS = NameWords()


def counts(mids: Mids) -> npt.NDArray[np.int64]:
    return np.full(len(mids), 40, dtype=np.int64)


def read(
    text: str, *, reads_kinds: bool = True, hidden: int = 0, kinds: Sequence[str] = (),
    index: NameIndex = INDEX, words: NameWords = NO_WORDS,
) -> Anonymised:  # fmt: skip
    anonymiser = Anonymiser(
        EntityLinker(index, counts), index, Lexicon(PUBLIC, words), kinds=kinds,
        holds=lambda mids: tuple(mid for mid in mids if mid != hidden),
        is_concept=(lambda _noun: False) if reads_kinds else None,
    )  # fmt: skip
    table = PseudonymTable.new()
    return anonymiser.anonymise(
        [Message(role="user", content=text)],
        table,
        lambda word: as_mids(table.meaning(word).mids),  # type: ignore[union-attr]
    )


def test_there_is_none_without_another_name_nor_where_nobody_asks_for_it() -> None:
    assert read("who was born in Ovar").with_kinds() is None
    assert read("which guitarists were born", reads_kinds=True).with_kinds() is None
    assert read("which guitarists were born in Ovar", reads_kinds=False).with_kinds() is None


def test_what_is_hidden_from_the_asker_is_no_topic() -> None:
    assert read("which guitarists were born in Ovar", hidden=1).with_kinds() is None
