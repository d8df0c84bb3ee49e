"""Anonymises dialogues: replaces everything that may not leave the service in each turn by pseudonyms."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from app.privacy.anonymised import Anonymised, KindsReading
from app.privacy.name_recogniser import Recogniser
from app.privacy.patterns import DEFAULT_REGIONS
from app.privacy.plain_wording import Leading, PlainWording, Today, leads_nowhere, utc_today
from app.privacy.pseudonyms import Meaning, PseudonymTable, Standing, replaced, words_in
from app.privacy.safe_text import SafeDialogue, SafeText, SafeTurn, Topic
from app.privacy.span_finder import Found, Span, SpanFinder, SpanSource, unknown_span
from app.privacy.visible_text import Visible
from app.privacy.words.lexicon import Lexicon
from client_sdk.protocol import Ambiguity, Message, Reading
from kg_store.names.fuzzy_search import Fits
from kg_store.names.index import NameIndex
from kg_store.names.linker import EntityLinker, has_capitals
from kg_store.storage.vault import VisibilityFilter
from kg_store.terms import Mid, Mids, ValueKind, as_mids
from kg_store.text.english import is_ordinary
from kg_store.text.inflection import singular
from kg_store.text.literals import named_date, read_asked, read_literal
from kg_store.text.normalise import normalise
from kg_store.text.notation import UNKNOWN, Notation


def ambiguities_of(topics: Sequence[Topic], table: PseudonymTable) -> tuple[tuple[Ambiguity, ...], tuple[str, ...]]:
    """Returns the names that several entities share, and notes about them for the user.

    Takes the names of the question, or those of earlier turns if the question names nothing itself.
    """
    asked = [topic for topic in topics if topic.newest] or topics
    found: list[Ambiguity] = []
    notes: list[str] = []
    for topic in asked:
        meaning = table.meaning(topic.pseudonym)
        if meaning is None or meaning.kind != "group":
            continue
        choices = table.choices_among(meaning.mids)
        found.append(Ambiguity(pseudonym=topic.pseudonym, choices=choices))
        if len(choices) < len(meaning.mids):
            notes.append(f"{topic.pseudonym} may mean {len(meaning.mids)} things; {len(choices)} of them are offered")
    return tuple(found), tuple(notes)


MAX_EARLIER_TOPICS: Final = 8

Resolve = Callable[[str], Mids]
"""A function that returns the things a pseudonym stands for in the graph's current version."""

MAX_INITIALS: Final = 2
"""The most letters of a rare word ("cs") that is read as the initials of somebody or something. Chosen by hand."""

_NAMED = (SpanSource.MENTION, SpanSource.PROTECTED)
_WHOLE_NUMBER = re.compile(r"-?\d+")


@dataclass(frozen=True, slots=True)
class _Turn:
    message: Message
    visible: Visible
    found: Found
    spans: list[Span]
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return self.visible.text


class Anonymiser:
    """Anonymises dialogues.

    Promise: a word leaves only if `lexicon` permits it. Every name and linkable value of the graph that `linker`
    finds, every match of patterns.py, every digit and every other word is replaced, in user and assistant turns alike.
    The own words of a masked relation are replaced by its opaque word, those of a hidden relation by a pseudonym.
    Condition: the guard checks the result and blocks what this class misses. Not promised: to hide writing style, or a
    common word that is somebody's name when nothing around it shows so (app/privacy/words/name_slots.py).
    """

    def __init__(
        self,
        linker: EntityLinker,
        names: NameIndex,
        lexicon: Lexicon,
        regions: Sequence[str] = DEFAULT_REGIONS,
        masks: Mapping[int, str] | None = None,
        holds: VisibilityFilter | None = None,
        recogniser: Recogniser | None = None,
        today: Today = utc_today,
        leading: Leading = leads_nowhere,
        *,
        private: NameIndex | None = None,
        heads: Collection[str] = (),
        is_concept: Callable[[str], bool] | None = None,
        kinds: Collection[str] = (),
        masked_words: Mapping[str, int] | None = None,
        notation: Notation = UNKNOWN,
    ) -> None:
        """`masks`: the word for each masked relation and class, by the MID (internal number) of its own words.

        `holds`: filters what the caller may know of the graph; names of anything else are replaced like unknown words.
        `private`: the names of what not only public files tell of, where there are others; words that are like another
        name stay. `is_concept`: if given, common nouns are also read as names, except those for which it is true.
        `kinds`: the words of the graph's concepts, of masked classes too; `heads`: the last word of each kind.
        `masked_words`: for single words of masked relations and classes, the MID of the only one that has it.
        `notation`: in which numbers and dates are read.
        """
        self._names, self._masks, self._holds = names, masks or {}, holds or (lambda mids: mids)
        self._heads = frozenset(heads)
        self._finder = SpanFinder(linker, private or names, lexicon, regions, self._masks.values(), recogniser)
        self._is_concept, self._kinds, self._masked_words = is_concept, frozenset(kinds), masked_words or {}
        # Kind, words and equal values of what was typed, for one dialogue.
        self._literals: dict[tuple[str, ValueKind | None, str], tuple[ValueKind, str, tuple[int, ...]]] = {}
        self._wording = PlainWording(names, lexicon, today, leading, notation)

    def anonymise(self, messages: Sequence[Message], table: PseudonymTable, resolve: Resolve) -> Anonymised:
        """Anonymises all turns of a dialogue, the last of which is the question.

        Things that `table` already knows keep the pseudonym that they have there.
        """
        self._literals.clear()
        fits = Fits()
        turns = [self._read(message, table, fits) for message in messages]
        if not any(_names_a_thing(turn.text, span) for turn in turns for span in turn.spans):
            turns[-1] = self._with_unmarked(turns[-1])
        for turn in turns:
            _settle(turn, table)
        replaced = [self._replace(turn, table) for turn in turns]
        if not any(things for _, things in replaced):
            # No turn names a known thing, so the question is about the unknown words.
            masks = frozenset(self._masks.values())
            replaced = [(text, [word for word in table.known(text) if word not in masks]) for text, _ in replaced]
        doubtful = {self._pseudonym(turns[-1].text, span, table) for span in _doubtful(turns[-1])}
        dated = {self._pseudonym(turns[-1].text, span, table) for span in _dated(turns[-1])}
        found = _topics([words for _, words in replaced], doubtful, table, resolve)
        topics = tuple(replace(each, is_date=each.pseudonym in dated) for each in found)
        safe = tuple(SafeTurn(turn.message.role, text) for turn, (text, _) in zip(turns, replaced, strict=True))
        inexact = tuple(self._readings(turns[-1], table))
        ambiguous, notes = ambiguities_of(topics, table)
        values = dict(self._values(turns[-1], safe[-1].text, table, resolve))
        kinds = self._by_kinds(turns[-1], safe[-1].text, table, resolve) if topics else None
        typed = {word: said for turn in turns for word, said in self._typed(turn, table)}
        told, words = SafeDialogue(safe, topics), dict(self._words(turns[-1], table))
        return Anonymised(told, ambiguous, (*turns[-1].notes, *notes), inexact, values, kinds, typed, words)

    def _words(self, turn: _Turn, table: PseudonymTable) -> Iterator[tuple[str, Topic]]:
        """Yields (pseudonym, topic) of each everyday word that was replaced and is the whole name of one thing.

        Where the graph does not say what its things are, such words are read apart (see `_by_kinds`).
        """
        for span in turn.spans if self._is_concept is None else ():
            if span.source is SpanSource.WORD and not span.mids and not self._is_kind(turn.text, span):
                mids = self._holds(self._names.named(turn.text[span.start : span.end]))
                if len(mids) == 1:
                    topic = Topic(table.of_entity(Mid(mids[0])), as_mids(mids), doubtful=True)
                    yield self._pseudonym(turn.text, span, table), topic

    def _typed(self, turn: _Turn, table: PseudonymTable) -> Iterator[tuple[str, str]]:
        """Yields (pseudonym, typed words) for replaced words that may be no name.

        These are everyday or unknown words, words of the graph's concepts, and words of masked relations.
        """
        for span in turn.spans:
            written = turn.text[span.start : span.end]
            is_word = span.source is SpanSource.WORD and (len(written) > MAX_INITIALS or _is_everyday(written))
            # "Councillors" may look like part of the name "councillor 7", but it is a kind of thing and no name.
            is_kind = span.source is SpanSource.UNKNOWN and singular(written.lower()) in self._kinds
            if is_word or is_kind or not self._masks.keys().isdisjoint(span.mids):
                yield self._pseudonym(turn.text, span, table), written

    def _by_kinds(self, turn: _Turn, safe: SafeText, table: PseudonymTable, resolve: Resolve) -> KindsReading | None:
        """Returns the question with common nouns read as names, or None if no common noun in it names a thing."""
        if self._is_concept is None:
            return None
        found = self._finder.kinds(turn.found, turn.spans, self._is_concept)
        kinds = [span for each in found if (span := self._known(turn.text, each)).mids]
        if not kinds:
            return None
        text, words = self._replace(replace(turn, spans=self._spans(turn.found, kinds)), table)
        sorting = {self._pseudonym(turn.text, span, table) for span in kinds}
        dated = {self._pseudonym(turn.text, span, table) for span in _dated(turn)}
        topics = (
            replace(each, sorts=each.pseudonym in sorting, is_date=each.pseudonym in dated)
            for each in _topics([words], (), table, resolve)
        )
        return KindsReading(safe, text, tuple(topics))

    def _values(self, turn: _Turn, safe: str, table: PseudonymTable, resolve: Resolve) -> Iterator[tuple[str, Topic]]:
        """Yields (pseudonym, topic) of each inexact or shared name that a text value of the graph also has."""
        for span in turn.spans:
            may_be_other = span.inexact or len(span.mids) > 1
            if span.source is not SpanSource.MENTION or span.value_kind is not None or not may_be_other:
                continue
            written, name = turn.text[span.start : span.end], self._pseudonym(turn.text, span, table)
            mids = self._holds(tuple(self._names.text_values(written)))
            if mids and safe.count(name) == 1:
                value = _of_value(written, ValueKind.TEXT, mids, table)
                yield name, Topic(value, resolve(value), ValueKind.TEXT, newest=True)

    def _read(self, message: Message, table: PseudonymTable, fits: Fits) -> _Turn:
        by_user = message.role == "user"
        visible = self._wording.visible(message.content) if by_user else Visible.of_typed(message.content)
        found = self._finder.read(visible, message.content, table, fits)
        turn = _Turn(message, visible, found, self._spans(found))
        return self._reread(turn, table)

    def _reread(self, turn: _Turn, table: PseudonymTable) -> _Turn:
        """Returns `turn` with misspelt and joined words corrected to words of the schema, and finds its spans again.

        Returns `turn` unchanged if any of the corrected words would still be replaced.
        """
        readings = self._finder.readings(turn.found, turn.spans)
        if not readings:
            return turn
        visible = turn.visible.reworded((each.start, each.end, each.instead) for each in readings)
        found = self._finder.read(visible, turn.message.content, table, turn.found.cache.fits)
        spans, known = self._spans(found), {(span.start, span.end) for span in turn.spans}
        if len(spans) != len(known) - len(readings):
            return turn  # With its neighbours, a corrected word may be part of a name.
        notes = tuple(
            f"{table.of_literal(turn.text[each.start : each.end], ValueKind.TEXT, ())} was read as: {each.instead}."
            for each in readings
        )
        return _Turn(turn.message, visible, found, spans, notes)

    def _with_unmarked(self, turn: _Turn) -> _Turn:
        """Returns `turn` with everyday words read as names where the graph has things with these names."""
        unmarked = [each for each in self._finder.unmarked(turn.found) if not self._is_kind(turn.text, each)]
        return replace(turn, spans=self._spans(turn.found, unmarked)) if unmarked else turn

    def _spans(self, found: Found, more: Sequence[Span] = ()) -> list[Span]:
        text = found.text
        spans = [self._with_value(text, self._known(text, span)) for span in self._finder.settle(found, more)]
        words = [span for span in spans if span.source is SpanSource.WORD]
        categories = list(self._categories(found, [span for span in spans if span.source is not SpanSource.WORD]))
        # A word that is replaced anyway says more as a value of the graph, such as the status "lost".
        categories = [
            span for span in categories if all(_is_within(word, span) for word in words if _meet(word, span))
        ]
        kept = [span for span in spans if not any(_meet(span, each) for each in categories)]
        return sorted(self._with_masked(found.text, [*kept, *categories]), key=lambda span: span.start)

    def _with_masked(self, text: str, spans: Sequence[Span]) -> list[Span]:
        """Returns `spans` with the words that tell a masked relation or class, which models know by another word."""
        told: list[Span] = []
        for each in words_in(text) if self._masked_words else ():
            mid = self._masked_words.get(singular(each.word.lower()))
            if mid is None or mid not in self._masks:
                continue
            # Several words of one name are told once.
            joins = bool(told) and told[-1].mids == (mid,) and text[told[-1].end : each.start] == " "
            told.append(Span(told.pop().start if joins else each.start, each.end, SpanSource.WORD, (mid,)))
        # What holds other names, or more than the words, stays as it is.
        told = [
            each
            for each in told
            if all(
                _is_within(span, each) and self._masks.keys() >= {*span.mids} for span in spans if _meet(span, each)
            )
        ]
        return told + [span for span in spans if not any(_meet(span, each) for each in told)]

    def _categories(self, found: Found, spans: Sequence[Span]) -> Iterator[Span]:
        """Yields the everyday words of the text that are values of the graph.

        A value that the caller may not see is left out, so that its word stays in the text like any other.
        """
        # Where the graph does not say what its things are, such nouns are read apart (see `_by_kinds`).
        for span in self._finder.categories(found, spans, self._heads, sorts=self._is_concept is None):
            if not self._is_kind(found.text, span) and (mids := self._holds(span.mids)):
                yield replace(span, mids=mids)

    def _is_kind(self, text: str, span: Span) -> bool:
        """Returns True for "clients" in "how many clients", which names no thing called so, if that is a kind."""
        return span.value_kind is None and singular(text[span.start : span.end].lower()) in self._kinds

    def _with_value(self, text: str, span: Span) -> Span:
        """Returns unknown words as the only text value that has them: "elmbridge" may mean "Elmbridge Singers"."""
        written = text[span.start : span.end]
        if span.source not in (SpanSource.UNKNOWN, SpanSource.WORD) or (" " not in written and is_ordinary(written)):
            return span
        mids = self._names.value_with(written, self._holds)
        return Span(span.start, span.end, SpanSource.MENTION, mids, ValueKind.TEXT, inexact=True) if mids else span

    def _known(self, text: str, span: Span) -> Span:
        """Returns the span with only what the caller may know of. Without any its words are read as typed, like those
        that the graph does not have: or the time of the answer would tell them.
        """
        mids = self._holds(span.mids) if span.mids else ()
        if mids:
            return span if mids == span.mids else replace(span, mids=mids)
        if not span.mids and not self._is_hidden(text, span):
            return span
        is_number = any(map(str.isdigit, text[span.start : span.end]))
        unknown = unknown_span(text, span.start, span.end)
        return replace(unknown, source=SpanSource.LITERAL) if is_number else unknown

    def _is_hidden(self, text: str, span: Span) -> bool:
        """Returns True for words that are replaced for a name or value that no question can ask for."""
        written = text[span.start : span.end]
        is_name = span.source in _NAMED or (span.source is SpanSource.UNKNOWN and len(written) > MAX_INITIALS)
        return is_name and not self._equal_values(*_meant(span, written))

    def _replace(self, turn: _Turn, table: PseudonymTable) -> tuple[SafeText, list[str]]:
        """Returns the safe text, and the pseudonyms of what the question may be about in their order in the text."""
        words = [Standing(s.start, s.end, self._pseudonym(turn.text, s, table)) for s in turn.spans]
        things = (
            word.word
            for word, span in zip(words, turn.spans, strict=True)
            if self._masks.keys().isdisjoint(span.mids) and _is_of_question(span, turn.text)
        )
        return SafeText(replaced(turn.text, words)), list(dict.fromkeys(things))

    def _readings(self, turn: _Turn, table: PseudonymTable) -> Iterator[Reading]:
        """Yields each name that the graph spells differently, with its position in the text that the user typed."""
        for span in turn.spans:
            if span.inexact:
                start, end = turn.visible.original_span(span.start, span.end)
                yield Reading(pseudonym=self._pseudonym(turn.text, span, table), start=start, end=end)

    def _pseudonym(self, text: str, span: Span, table: PseudonymTable) -> str:
        written = text[span.start : span.end]
        if span.source in (SpanSource.PSEUDONYM, SpanSource.RELATION):
            return written
        if masked := next((self._masks[mid] for mid in span.mids if mid in self._masks), None):
            return masked
        if span.source in _NAMED and span.value_kind is None:
            return _of_entities(span.mids, table)
        if span.source in _NAMED and span.value_kind is not None:
            return _of_value(written, span.value_kind, span.mids, table)
        key = written, span.value_kind, span.lexical
        found = self._literals.get(key)
        if found is None:
            kind, lexical = _meant(span, written)
            # Typed words stay if they say the same by themselves, unlike "March" in "between March and June 2023".
            said = written if _says(written, kind, lexical) else lexical
            found = self._literals[key] = kind, said, self._equal_values(kind, lexical)
        kind, said, equal = found
        # A typed number is no value of one relation, whose unit it would get: 500 is not the price of 500 EUR.
        return table.of_literal(said, kind, equal) if kind is ValueKind.NUMBER else _of_value(said, kind, equal, table)

    def _equal_values(self, kind: ValueKind, lexical: str) -> tuple[int, ...]:
        """Returns the MIDs of the graph's values that equal a literal.

        A whole number counts as a year and as a number.
        """
        kinds = {kind, ValueKind.NUMBER} if _WHOLE_NUMBER.fullmatch(lexical) else {kind}
        return self._holds(tuple(sorted({mid for each in kinds for mid in self._names.mids_of_value(each, lexical)})))


def _meet(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def _is_within(one: Span, other: Span) -> bool:
    return other.start <= one.start and one.end <= other.end


def _is_of_question(span: Span, text: str) -> bool:
    """Returns False for everyday words, unless one is a month ("april"), which only its capital would tell."""
    return span.source is not SpanSource.WORD or _meant(span, text[span.start : span.end])[0] is ValueKind.DATE


def _meant(span: Span, written: str) -> tuple[ValueKind, str]:
    if span.lexical and span.value_kind is not None:
        return span.value_kind, span.lexical
    return read_literal(written) or (ValueKind.TEXT, written)


def _names_a_thing(text: str, span: Span) -> bool:
    """True if `span` is a name or a pseudonym, which a question can be about; false for values and plain numbers."""
    named = span.source in _NAMED and span.value_kind is None
    return span.source is SpanSource.PSEUDONYM or (named and any(map(str.isalpha, text[span.start : span.end])))


def _settle(turn: _Turn, table: PseudonymTable) -> None:
    """Records in `table` each entity that a turn names unambiguously, before any shared name is read."""
    by_user = turn.message.role == "user"
    for span in turn.spans:
        if span.source in _NAMED and span.value_kind is None and len(span.mids) == 1:
            table.settle(Mid(span.mids[0]), by_user)
        elif span.source is SpanSource.PSEUDONYM:
            meaning = table.meaning(turn.text[span.start : span.end])
            if meaning is not None and meaning.kind == "entity":
                table.settle(Mid(int(meaning.mids[0])), by_user)


def _of_entities(mids: Sequence[int], table: PseudonymTable) -> str:
    if len(mids) == 1:
        return table.of_entity(Mid(mids[0]))
    settled = table.settled_among(mids)
    return table.of_entity(settled[0]) if len(settled) == 1 else table.of_group(mids)


def _says(written: str, kind: ValueKind, lexical: str) -> bool:
    """True if `written` can be read by itself, and is the value `lexical` of this kind."""
    try:
        return read_asked(written, kind) == read_asked(lexical, kind)
    except ValueError:
        return False


def _of_value(written: str, kind: ValueKind, mids: Sequence[int], table: PseudonymTable) -> str:
    if len(mids) == 1:
        return table.of_value(Mid(mids[0]), kind)
    return table.of_literal(written, kind, mids)


def _doubtful(turn: _Turn) -> Iterator[Span]:
    """Yields names that may only be everyday words: those in lower case, in a text that has other names too.

    The text must write another name with a capital ("the story of Dracula"), or hold no capitals at all.
    """
    names = {turn.text[s.start : s.end]: s for s in turn.spans if s.source in _NAMED and s.value_kind is None}
    telling = any(map(has_capitals, names)) or not has_capitals(turn.text)
    everyday = [written for written in names if not has_capitals(written) and _is_everyday(written)]
    if telling and len(everyday) < len(names):
        yield from (names[written] for written in everyday)


def _dated(turn: _Turn) -> Iterator[Span]:
    """Yields the names of things that are dates."""
    named = (span for span in turn.spans if span.source in _NAMED and span.value_kind is None)
    return (span for span in named if named_date(turn.text[span.start : span.end]) is not None)


def _is_everyday(written: str) -> bool:
    return all(is_ordinary(word) for word in normalise(written).text.split())


def _topics(
    words: Sequence[Sequence[str]], doubtful: Collection[str], table: PseudonymTable, resolve: Resolve
) -> Iterator[Topic]:
    """Yields the question's topics in its order, then those of earlier turns, the most recent turn first."""
    *earlier, question = words
    seen = dict.fromkeys(question)
    older = [word for turn in reversed(earlier) for word in turn if word not in seen]
    for word in [*seen, *list(dict.fromkeys(older))[:MAX_EARLIER_TOPICS]]:
        meaning = table.meaning(word)
        if meaning is not None:
            yield Topic(word, resolve(word), _value_kind(meaning), word in seen, word in doubtful)


def _value_kind(meaning: Meaning) -> ValueKind | None:
    if meaning.kind == "outcome":
        return None if len(meaning.mids) else ValueKind.NUMBER
    if meaning.kind in ("value", "literal"):
        return meaning.value_kind or ValueKind.TEXT
    return None
