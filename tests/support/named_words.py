"""A tenant whose graphs hold a few names: their index, lexicon, anonymiser and guard."""

from __future__ import annotations

import json
from collections.abc import Iterable

from app.egress.guard import BlockedError, Guard, StaticSegments
from app.privacy.anonymised import Anonymised
from app.privacy.anonymiser import Anonymiser
from app.privacy.pseudonyms import PseudonymTable, shaped_in
from app.privacy.safe_text import Egress, Segment
from app.privacy.words.lexicon import Lexicon
from app.privacy.words.unknown_words import unknown_spans
from kg_store.names.index import NameEntry, NameIndex
from kg_store.names.linker import EntityLinker
from kg_store.names.name_words import NameWords
from kg_store.storage.vault import VaultRecord
from kg_store.terms import NodeKind
from kg_store.text.english import PublicWords
from tests.support.clinic import dialogue, members


def words_of(names: Iterable[str]) -> NameWords:
    return NameWords.of(VaultRecord(NodeKind.ENTITY, (name,)) for name in names)


class NamedWords:
    """The index, lexicon, anonymiser and guard for given names.

    `names` of the asked graph are linked; `words` are the parts of names of all graphs, by default those of `names`.
    """

    def __init__(
        self,
        names: Iterable[str],
        public: Iterable[str],
        schema: Iterable[str] = (),
        words: NameWords | None = None,
    ) -> None:
        names, shown = list(names), PublicWords.of(public)
        entries = (NameEntry(mid, name, "name", None, True, True) for mid, name in enumerate(names, start=1))
        self.index = NameIndex.build(entries).with_public(shown)
        self.lexicon = Lexicon(shown, words_of(names) if words is None else words, frozenset(schema))
        self.guard = Guard(self.index, StaticSegments(), self.lexicon)
        self.anonymiser = Anonymiser(EntityLinker(self.index), self.index, self.lexicon)

    def read(self, text: str) -> tuple[Anonymised, PseudonymTable]:
        table = PseudonymTable.new()
        return self.anonymiser.anonymise(dialogue(text), table, lambda word: members(table, word)), table

    def safe(self, text: str) -> str:
        """Returns the question as it may be sent."""
        return self.read(text)[0].dialogue.question

    def passes(self, text: str) -> bool:
        issued = frozenset(word.word for word in shaped_in(text))
        try:
            self.guard.clear(Egress((Segment(json.dumps({"question": text}).encode()),)), issued)
        except BlockedError:
            return False
        return True

    def gone(self, text: str) -> list[str]:
        """Returns the parts of `text` that may not be sent, whether or not a name is linked there."""
        return [text[start:end] for start, end in unknown_spans(text, [], self.lexicon)]
