"""Replaces what each turn of a dialogue names by pseudonyms; nothing else may leave the service."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from app.privacy.name_recogniser import Recogniser
from app.privacy.patterns import DEFAULT_REGIONS
from app.privacy.plain_wording import Leading, PlainWording, Today, leads_nowhere, utc_today
from app.privacy.pseudonyms import Meaning, PseudonymTable, Standing, replaced
from app.privacy.safe_text import SafeDialogue, SafeText, SafeTurn, Topic
from app.privacy.span_finder import Found, Span, SpanFinder, SpanSource
from app.privacy.visible_text import Visible
from app.privacy.words.lexicon import Lexicon
from client_sdk.protocol import Ambiguity, Message, Reading
from kg_store.names.index import NameIndex
from kg_store.names.linker import EntityLinker, has_capitals
from kg_store.storage.vault import VisibilityFilter
from kg_store.terms import Mid, Mids, ValueKind
from kg_store.text.english import is_ordinary
from kg_store.text.inflection import singular
from kg_store.text.literals import named_date, parse_value, read_literal
from kg_store.text.normalise import normalise


@dataclass(frozen=True, slots=True)
class KindsReading:
    """The question with common nouns read as names; `instead_of` is the one in which they are plain words."""

    instead_of: SafeText
    question: SafeText
    topics: tuple[Topic, ...]


@dataclass(frozen=True, slots=True)
class Anonymised:
    """The dialogue as the model may see it, with its ambiguous names and notes.

    `ambiguous`: names of topics that several entities share. `inexact`: places where the question spells a name
    differently from the graph. `values`: for the pseudonym of a name, the text values of the graph with the same
    spelling. `by_kinds`: the question with common nouns read as names ("guitarists"). `typed`: the words as typed of
    pseudonyms that stand for no thing and no value, for the reader inside the service alone.
    """

    dialogue: SafeDialogue
    ambiguous: tuple[Ambiguity, ...]
    notes: tuple[str, ...] = ()
    inexact: tuple[Reading, ...] = ()
    values: Mapping[str, Topic] = field(default_factory=dict)
    by_kinds: KindsReading | None = None
    typed: Mapping[str, str] = field(default_factory=dict, repr=False)

    def readings(self) -> Iterator[Anonymised]:
        """Yields this dialogue, then the same without topics that may not be names, if there are any."""
        yield self
        doubtful = [topic.pseudonym for topic in self.dialogue.topics if topic.doubtful]
        if doubtful:
            note = f"{' and '.join(doubtful)} was read as everyday words: the graph has a thing that is called so."
            yield replace(self, dialogue=self.dialogue.without_doubtful(), notes=(*self.notes, note))

    def with_kinds(self) -> Anonymised | None:
        """Returns the dialogue with common nouns read as names: "guitarists" as people with the occupation Guitarist.

        None if there are none, or if the question has been completed since.
        """
        kinds = self.by_kinds
        if kinds is None or kinds.instead_of != self.dialogue.question:
            return None
        earlier = tuple(topic for topic in self.dialogue.topics if not topic.newest)
        turns = (*self.dialogue.turns[:-1], replace(self.dialogue.turns[-1], text=kinds.question))
        return replace(self, dialogue=replace(self.dialogue, turns=turns, topics=(*kinds.topics, *earlier)))

    def with_values(self) -> Anonymised | None:
        """Returns the dialogue with names read as text values of the same spelling: Ghent as a city of customers, not
        the Ghent Office. None if there are no such values.
        """
        if not self.values:
            return None
        ambiguous = tuple(each for each in self.ambiguous if each.pseudonym not in self.values)
        inexact = tuple(each for each in self.inexact if each.pseudonym not in self.values)
        return replace(self, dialogue=self.dialogue.with_topics(self.values), ambiguous=ambiguous, inexact=inexact)


def ambiguities_of(topics: Sequence[Topic], table: PseudonymTable) -> tuple[tuple[Ambiguity, ...], tuple[str, ...]]:
    """Returns the shared names of the question, or of the turns before if it names nothing itself, and notes."""
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
"""Returns the things that a pseudonym stands for in the graph's current version (`PseudonymTable.resolve`)."""

MAX_INITIALS: Final = 2
"""A rare word of so few letters ("cs") is read as somebody's or something's initials. Chosen by hand."""

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
    finds, every pattern of patterns.py, every digit and every other word is replaced, in user and assistant turns
    alike; the own words of a masked relation are replaced by its opaque word, those of a hidden relation like a value.
    Condition: the guard checks the result and blocks what this class misses. Not promised: writing style, and common
    words that are somebody's name without anything around them that shows it (app/privacy/words/name_slots.py).
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
        is_concept: Callable[[str], bool] | None = None,
        kinds: Collection[str] = (),
    ) -> None:
        """`masks`: the opaque word of each masked relation, by the MID under which its own words are guarded.

        `holds`: filters what the caller may know of the graph; names of anything else are replaced like unknown words.
        `is_concept`: if given, common nouns are also read as names, except those for which it is true.
        `kinds`: the words of the graph's concepts, of masked classes too.
        """
        self._names, self._masks, self._holds = names, masks or {}, holds or (lambda mids: mids)
        self._finder = SpanFinder(linker, names, lexicon, regions, self._masks.values(), recogniser)
        self._is_concept, self._kinds = is_concept, frozenset(kinds)
        self._wording = PlainWording(names, lexicon, today, leading)

    def anonymise(self, messages: Sequence[Message], table: PseudonymTable, resolve: Resolve) -> Anonymised:
        """Anonymises all turns again, with the pseudonyms that `table` has already given; the last turn is the
        question.
        """
        turns = [self._read(message, table) for message in messages]
        if not any(_names_a_thing(turn.text, span) for turn in turns for span in turn.spans):
            turns[-1] = self._with_unmarked(turns[-1])
        for turn in turns:
            _settle(turn, table)
        replaced = [self._replace(turn, table) for turn in turns]
        if not any(things for _, things in replaced):
            # Nothing is named but by words that nobody knows: the question is about those.
            replaced = [(text, table.known(text)) for text, _ in replaced]
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
        return Anonymised(
            SafeDialogue(safe, topics), ambiguous, (*turns[-1].notes, *notes), inexact, values, kinds, typed
        )

    def _typed(self, turn: _Turn, table: PseudonymTable) -> Iterator[tuple[str, str]]:
        """The words behind pseudonyms that may say no thing: words in lower case, and those of masked relations."""
        for span in turn.spans:
            written = turn.text[span.start : span.end]
            is_word = span.source is SpanSource.WORD and (len(written) > MAX_INITIALS or _is_everyday(written))
            # "Councillors" looks like a part of "councillor 7", and says no thing.
            is_kind = span.source is SpanSource.UNKNOWN and singular(written.lower()) in self._kinds
            if is_word or is_kind or not self._masks.keys().isdisjoint(span.mids):
                yield self._pseudonym(turn.text, span, table), written

    def _by_kinds(self, turn: _Turn, safe: SafeText, table: PseudonymTable, resolve: Resolve) -> KindsReading | None:
        """The question with common nouns as names, if it names something else as well; else None."""
        if self._is_concept is None:
            return None
        found = map(self._known, self._finder.kinds(turn.found, turn.spans, self._is_concept))
        kinds = [span for span in found if span.mids]
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
        """Text values that are spelt like part of a name, or like a name that several share, by its pseudonym."""
        for span in turn.spans:
            may_be_other = span.inexact or len(span.mids) > 1
            if span.source is not SpanSource.MENTION or span.value_kind is not None or not may_be_other:
                continue
            written, name = turn.text[span.start : span.end], self._pseudonym(turn.text, span, table)
            mids = self._holds(tuple(self._names.text_values(written)))
            if mids and safe.count(name) == 1:
                value = _of_value(written, ValueKind.TEXT, mids, table)
                yield name, Topic(value, resolve(value), ValueKind.TEXT, newest=True)

    def _read(self, message: Message, table: PseudonymTable) -> _Turn:
        by_user = message.role == "user"
        visible = self._wording.visible(message.content) if by_user else Visible.of_typed(message.content)
        found = self._finder.read(visible, message.content, table)
        turn = _Turn(message, visible, found, self._spans(found))
        return self._reread(turn, table)

    def _reread(self, turn: _Turn, table: PseudonymTable) -> _Turn:
        """`turn` with misspellings and joined words corrected to words of the schema, if all of these may leave then.

        The text is judged again as if it had been typed so.
        """
        readings = self._finder.readings(turn.found, turn.spans)
        if not readings:
            return turn
        visible = turn.visible.reworded((each.start, each.end, each.instead) for each in readings)
        found = self._finder.read(visible, turn.message.content, table)
        spans, known = self._spans(found), {(span.start, span.end) for span in turn.spans}
        if len(spans) != len(known) - len(readings):
            return turn  # What was read may be a part of a name beside the words around it.
        notes = tuple(
            f"{table.of_literal(turn.text[each.start : each.end], ValueKind.TEXT, ())} was read as: {each.instead}."
            for each in readings
        )
        return _Turn(turn.message, visible, found, spans, notes)

    def _with_unmarked(self, turn: _Turn) -> _Turn:
        """`turn` with everyday words read as names, if the graph has things with such names."""
        unmarked = self._finder.unmarked(turn.found)
        return replace(turn, spans=self._spans(turn.found, unmarked)) if unmarked else turn

    def _spans(self, found: Found, more: Sequence[Span] = ()) -> list[Span]:
        spans = [self._known(span) for span in self._finder.settle(found, more)]
        words = [span for span in spans if span.source is SpanSource.WORD]
        categories = list(self._categories(found, [span for span in spans if span.source is not SpanSource.WORD]))
        # A word that goes anyway says more as the value that it is: "lost" of a status.
        categories = [
            span for span in categories if all(_is_within(word, span) for word in words if _meet(word, span))
        ]
        kept = [span for span in spans if not any(_meet(span, each) for each in categories)]
        return sorted([*kept, *categories], key=lambda span: span.start)

    def _categories(self, found: Found, spans: Sequence[Span]) -> Iterator[Span]:
        """Everyday words that are values of the graph; a value hidden from the asker stays in the text, like any other
        word.
        """
        for span in self._finder.categories(found.text, spans):
            if mids := self._holds(span.mids):
                yield replace(span, mids=mids)

    def _known(self, span: Span) -> Span:
        mids = self._holds(span.mids) if span.mids else ()
        if mids == span.mids:
            return span
        return replace(span, mids=mids) if mids else Span(span.start, span.end, SpanSource.UNKNOWN)

    def _replace(self, turn: _Turn, table: PseudonymTable) -> tuple[SafeText, list[str]]:
        """The safe text, made in one pass over the original's positions, and in order the pseudonyms a question may be
        about.
        """
        words = [Standing(s.start, s.end, self._pseudonym(turn.text, s, table)) for s in turn.spans]
        things = (w.word for w, span in zip(words, turn.spans, strict=True) if span.source is not SpanSource.WORD)
        return SafeText(replaced(turn.text, words)), list(dict.fromkeys(things))

    def _readings(self, turn: _Turn, table: PseudonymTable) -> Iterator[Reading]:
        """Each inexact mention, by its position in the text that the user typed."""
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
        kind, lexical = _meant(span, written)
        said = written if _is_readable(written, kind) else lexical  # "March" of "between March and June 2023".
        return _of_value(said, kind, self._equal_values(kind, lexical), table)

    def _equal_values(self, kind: ValueKind, lexical: str) -> tuple[int, ...]:
        """The graph's values that equal a literal; 1990 counts as a year and as a number."""
        kinds = {kind, ValueKind.NUMBER} if _WHOLE_NUMBER.fullmatch(lexical) else {kind}
        return self._holds(tuple(sorted({mid for each in kinds for mid in self._names.mids_of_value(each, lexical)})))


def _meet(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def _is_within(one: Span, other: Span) -> bool:
    return other.start <= one.start and one.end <= other.end


def _meant(span: Span, written: str) -> tuple[ValueKind, str]:
    if span.lexical and span.value_kind is not None:
        return span.value_kind, span.lexical
    return read_literal(written) or (ValueKind.TEXT, written)


def _names_a_thing(text: str, span: Span) -> bool:
    """True of a span that a question can be about; values and plain numbers cannot be a question's only subject."""
    named = span.source in _NAMED and span.value_kind is None
    return span.source is SpanSource.PSEUDONYM or (named and any(map(str.isalpha, text[span.start : span.end])))


def _settle(turn: _Turn, table: PseudonymTable) -> None:
    """Remembers the entities that a turn names unambiguously, before any shared name is read."""
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


def _is_readable(written: str, kind: ValueKind) -> bool:
    """True if the words themselves can be read as a value later."""
    try:
        parse_value(written, kind)
    except ValueError:
        return False
    return True


def _of_value(written: str, kind: ValueKind, mids: Sequence[int], table: PseudonymTable) -> str:
    if len(mids) == 1:
        return table.of_value(Mid(mids[0]), kind)
    return table.of_literal(written, kind, mids)


def _doubtful(turn: _Turn) -> Iterator[Span]:
    """Everyday words in lower case that may not be names: in a turn that writes another name with a capital (`the
    story of Dracula`), or in a text without capitals.
    """
    names = {turn.text[s.start : s.end]: s for s in turn.spans if s.source in _NAMED and s.value_kind is None}
    telling = any(map(has_capitals, names)) or not has_capitals(turn.text)
    everyday = [written for written in names if not has_capitals(written) and _is_everyday(written)]
    if telling and len(everyday) < len(names):
        yield from (names[written] for written in everyday)


def _dated(turn: _Turn) -> Iterator[Span]:
    """Names of things that are dates."""
    named = (span for span in turn.spans if span.source in _NAMED and span.value_kind is None)
    return (span for span in named if named_date(turn.text[span.start : span.end]) is not None)


def _is_everyday(written: str) -> bool:
    return all(is_ordinary(word) for word in normalise(written).text.split())


def _topics(
    words: Sequence[Sequence[str]], doubtful: Collection[str], table: PseudonymTable, resolve: Resolve
) -> Iterator[Topic]:
    """Topics of the question in its order, then those of earlier turns, the most recent turn first."""
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
