"""Scores a reading by the kind of thing that the question asks for: people for "who", dates for "when"."""

from __future__ import annotations

import re
from typing import Final

from app.reader.language.people_and_groups import names_somebody
from app.reader.meaning.groups import OF_KIND, WRONG_KIND
from app.reader.meaning.question.place_words import WHERE
from app.reader.meaning.question.question_tokens import AskedQuestion
from app.reader.meaning.reading import Reading
from app.reader.meaning.readings import ReadingBuilder
from app.reader.meaning.schema_graph import NamedThings, SchemaGraph
from kg_store.text.inflection import singular

_LABEL: Final = re.compile(r'"([^"]*)"')
# Cost of a date or a person as the answer to "what" with a verb. Chosen by hand; not fitted.
NO_WHAT: Final = 0.3


class AskedKind:
    """The kind that a question asks for.

    `noun`: position of a noun that names a kind of the graph, else -1; `head`: bit mask of another noun in its place,
    else 0.
    """

    def __init__(
        self,
        asked: AskedQuestion,
        graph: SchemaGraph,
        builder: ReadingBuilder,
        named: NamedThings,
        noun: int,
        head: int,
    ) -> None:
        self._asked, self._graph, self._builder, self._named = asked, graph, builder, named
        self._noun, self._head = noun, head
        # "The job of the person who ..." asks for the job, not for the person.
        told = list(zip(asked.words, asked.roles, strict=True))[: head.bit_length() if head else None]
        self._asks_people = any(role == "person" and word not in ("who", "whom") for word, role in told)

    def fit(self, each: Reading) -> float:
        """Returns what a reading gains if it is of the kind asked for, negative if it is of another kind, 0 if
        unknown.
        """
        if self._noun >= 0:
            used, kinds = self._builder.called[self._noun]
            is_member = self._noun not in self._builder.nouns and each.used & used and each.kinds <= kinds
            if each.said == self._noun or (is_member and not each.value):
                return OF_KIND
            return -WRONG_KIND if each.value or each.kinds.isdisjoint(kinds) or used & each.used else 0.0
        if self._head and not each.value and self._is_no_somebody(each):
            return -WRONG_KIND
        wh = self._asked.wh
        if self._asked.words[0] == "whose" and each.said == 1:
            return -WRONG_KIND  # "Whose books are kept at X" asks for the people who own them, not for the books.
        if wh in ("who", "whom") or (self._noun < 0 and self._asks_people):
            return self._fits_people(each)
        if wh == "when":
            return OF_KIND if each.value == "date" or self._is_year(each) else -WRONG_KIND
        if wh == "where":
            return 0.0 if self._is_place(each) else -WRONG_KIND
        if "how" in self._asked.words and self._asked.form == "things":
            return OF_KIND if each.value in ("number", "date") else -WRONG_KIND
        return -NO_WHAT if self._is_no_what(each) else 0.0

    def _is_no_somebody(self, each: Reading) -> bool:
        """True if the asked noun means people or groups ("which directors") and the reading leads to neither."""
        people = self._named.persons | self._named.groups
        return names_somebody(self._asked.words[self._head.bit_length() - 1]) and each.kinds.isdisjoint(people)

    def _is_place(self, each: Reading) -> bool:
        """True if the reading leads to places, or its last relation says where: "lives in", "home address"."""
        if each.value in ("date", "number", "truth") or (each.kinds and each.kinds <= self._named.persons):
            return False
        last = (_LABEL.findall(each.expression) or [""])[-1].split("|")[-1]
        return not (each.kinds.isdisjoint(self._named.places) and WHERE.isdisjoint(last.lower().split()))

    def _is_no_what(self, each: Reading) -> bool:
        """True of dates and people, for which nobody asks with "what" and a verb: "what was X prescribed"."""
        words = self._asked.words
        if words[0] != "what" or words[1:2] == ("is",) or "of" in words or "'s" in words:
            return False
        last = (_LABEL.findall(each.expression) or [""])[-1].split(" ")[-1]
        return last in ("on", "by") and (each.value == "date" or each.kinds <= self._named.persons)

    def _says_its_noun(self, each: Reading) -> bool:
        """True if the question says the noun of the last relation: "who are the authors of X", whose authors are
        texts."""
        last = (_LABEL.findall(each.expression) or [""])[-1].split(" ")[-1]
        return bool(last) and singular(last.lower()) in map(singular, self._asked.words)

    def _is_year(self, each: Reading) -> bool:
        labels = _LABEL.findall(each.expression)
        return bool(labels) and any(hop.is_date for hop in self._graph.hops if hop.label == labels[-1])

    def _fits_people(self, each: Reading) -> float:
        words = {self._asked.words[at] for at in self._asked.at("person")}
        may_be_group = self._asked.wh in ("who", "whom") and words <= {"who", "whom"}
        if each.value == "text" and self._says_its_noun(each):
            return 0.0
        if each.value or not each.kinds & (
            self._named.persons | (self._named.groups if may_be_group else frozenset())
        ):
            return -WRONG_KIND
        return OF_KIND if each.kinds & self._named.persons else OF_KIND / 2
