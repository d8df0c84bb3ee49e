"""Types of concepts, as question words ask for them: who, when, where."""

from __future__ import annotations

from collections.abc import Sequence

from app.llm.embeddings.embedder import Embedder

_EXAMPLES = {
    "person": "person, employee, doctor, patient, customer, actor, author, politician, student, player, member, "
    "nurse, teacher, fictional character, family",
    "group": "organization, company, team, musical group, school, university, political party, hospital, "
    "institution, ward, department",
    "place": "geographic location, city, country, place, address, building, region, river, room",
    "date": "date, year, time, day",
    "number": "number, amount, price, rating, vote, age, currency",
    "thing": "film, book, song, product, language, genre, tag, medical condition, job title, religion, ethnicity, "
    "gender, award, event, title, animal, food, medicine, text, account, transaction, website, topic, style",
}
_WORDS = [(kind, word) for kind, words in _EXAMPLES.items() for word in words.split(", ")]
EXAMPLES = tuple(word for _, word in _WORDS)
_ASKED_BY = {"who": {"person", "group"}, "when": {"date"}, "where": {"place", "group"}}


class ConceptTypes:
    """Decides if a concept is of the type that a question word asks for, by the example that it is nearest to."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, str] = {}

    def fits(self, wh: str, kinds: Sequence[str]) -> bool | None:
        """None where nothing is known of the kinds. `wh` is who, when or where."""
        types = {self._type(kind) for kind in kinds}
        return None if not types else not types.isdisjoint(_ASKED_BY[wh])

    def _type(self, kind: str) -> str:
        if kind not in self._known:
            self._known[kind] = _WORDS[int(self._embedder.similarity(kind, EXAMPLES).argmax())][0]
        return self._known[kind]
