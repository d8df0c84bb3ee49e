"""Compares the words of a question with every hop of a schema."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.embedder import Embedder
from app.llm.tasks import SchemaStep
from app.reader.language.question_words import GRAMMAR, PREPOSITIONS, names_somebody
from app.reader.language.relation_wording import HopWords, Wordings, hop_words, is_kin, verbs_said
from app.reader.meaning.question.measures import POSITIVE
from app.reader.meaning.question.question_tokens import AskedQuestion, Span, read_question, spans_of
from app.reader.meaning.question.token_roles import NEGATIONS, mask
from app.reader.meaning.schema_graph import RECORDS, SchemaGraph, SchemaHop, are_records
from app.reader.scoring.hop_table import EmbeddedWordings, Scores
from app.reader.scoring.path_scoring import PathScorer, names_other_end
from kg_store.terms import Schema
from kg_store.text.english import synonyms_of
from kg_store.text.inflection import is_form_of, singular, verbs_of
from kg_store.text.labels import with_words

# Greatest number of spans that are tried for one hop. Chosen by hand; not fitted.
MAX_WAYS: Final = 3
# Likeness by the words themselves: of a word of the label (LEXICAL), of a derived form of one (KIN), and of a word of
# the relation's comment (HINTED, weak evidence: docs/decisions/0029). A span that holds the whole label gains WHOLE.
# Chosen by hand.
LEXICAL, KIN, HINTED, WHOLE = 1.0, 0.95, 0.85, 0.1
LEAST, CALLED_SO = 0.55, 0.15
"""For "whose doctor is X", read from X backwards: the least likeness of "doctor" to the hop (LEAST), and the cost if
"doctor" only names the kind of X (CALLED_SO). Chosen by hand; not fitted.
"""

FURTHER: Final = 0.25
"""A span expresses the hop that is most like it, and all hops whose likeness is at most this much lower. By hand."""


@dataclass(frozen=True, slots=True)
class Said:
    """A span of a question that expresses a hop: the bit mask `used` of its tokens and their likeness (0 to 1).

    `first` and `last`: positions of its outer tokens; `count`: number of its content words.
    """

    used: int
    likeness: float
    first: int
    last: int
    count: int


class SaidHops:
    """The likeness of every span of a question to every hop of the schema."""

    def __init__(self, scorer: PathScorer, asked: AskedQuestion, graph: SchemaGraph, wordings: Wordings) -> None:
        self._wordings, self._asked, self._graph = wordings, asked, graph
        self._spans = list(spans_of(asked))
        self._rows = {key: row for row, key in enumerate(dict.fromkeys(map(_key, graph.hops)))}
        self._likeness = self._all(scorer, graph) if self._spans and self._rows else [[] for _ in self._rows]
        self._best = [max(each) for each in zip(*self._likeness, strict=True)]
        # True where a hop (row) is about as like a span (column) as the hop that is most like it; shape (hops, spans).
        likeness = np.array(self._likeness, dtype=np.float64).reshape(len(self._rows), len(self._best))
        self._is_near = likeness >= np.array(self._best, dtype=np.float64) - FURTHER
        self._saying: dict[SchemaHop, list[Said]] = {}
        self._explained: dict[tuple[str, float], int] = {}
        self.modifiers = _modifiers(asked.words, graph)

    def _all(self, scorer: PathScorer, graph: SchemaGraph) -> list[list[float]]:
        texts = [text for span in self._spans for text in span.texts]
        worded = [(self._worded(label, shown), concept) for label, shown, concept in self._rows]
        by_meaning = self._sober(scorer.likeness(worded, texts))
        starts: dict[str, set[str]] = {}
        for hop in graph.hops:
            starts.setdefault(hop.label, set()).add(hop.kind)
        values = {hop.label: hop.value for hop in graph.hops}
        rows = []
        for (label, *_), told, row in zip(self._rows, worded, by_meaning, strict=True):
            wording = _Wording.of(hop_words(*told), frozenset(starts[label]), values[label])
            rows.append([max(near, wording.surely(span)) for near, span in zip(row, self._spans, strict=True)])
        return rows

    def _worded(self, label: str, shown: str) -> str:
        """Returns the words of a hop with the further words of its relation.

        A hop through a record (`a|b`) gets those of its last relation.
        """
        return with_words(shown, self._wordings.get(label.split("|")[-1], ()))

    def _sober(self, near: Scores) -> list[list[float]]:
        """Returns the likeness of each hop (outer list) to each span, computed from `near`, the likeness of each text.

        A span of several words may be like a hop because of one word alone. So its likeness is at most the mean of its
        own and that of its least like word.
        """
        begins = np.cumsum([0, *(len(span.texts) for span in self._spans[:-1])])
        found = np.maximum.reduceat(near.astype(np.float64), begins, axis=1)
        alone = {span.first: at for at, span in enumerate(self._spans) if span.count == 1}
        for at, span in enumerate(self._spans):
            if span.count > 1:
                least = found[:, [alone[each] for each in range(span.first, span.last + 1)]].min(axis=1)
                found[:, at] = np.minimum(found[:, at], (found[:, at] + least) / 2)
        likeness: list[list[float]] = found.tolist()
        return likeness

    def of(self, hop: SchemaHop, free: int, least: float) -> list[Said]:
        """Returns the spans that express `hop` with at least likeness `least`, best first; at most MAX_WAYS.

        All their tokens must lie in the bit mask `free`.
        """
        saying = self._saying.get(hop)
        if saying is None:
            saying = self._saying[hop] = self._all_saying(hop)
        if not saying:
            return []
        found = [each for each in saying if each.likeness >= least and each.used & free == each.used]
        return found[:MAX_WAYS]

    def of_filler(
        self, hop: SchemaHop, kinds: frozenset[str], words: range, nouns: Mapping[int, tuple[int, frozenset[str]]]
    ) -> Iterator[tuple[Said, float]]:
        """Yields the spans that express the role in "whose doctor is X", each with a cost; `hop` leads to X.

        `kinds`: the kinds of X. `words`: positions of the role's words ("doctor"). `nouns`: see `ReadingBuilder`.
        """
        back = self._graph.turned(hop)
        plain = (one for one, _ in self._graph.leaving(kinds) if "|" not in one.label and one.ends == hop.ends)
        if back is None or are_records(hop.ends) or ("|" in hop.label and next(plain, None)):
            return
        if hop_words(back.label, "").inverse and names_other_end([self._asked.words[at] for at in words], hop.shown):
            return  # In "whose child is X", X is the child, not the parent.
        tokens = mask(words)
        for said in self.of(back, self._asked.content & tokens, LEAST):
            yield said, 0.0
        used, called = nouns.get(words.start, (0, frozenset[str]()))
        if used == tokens and hop.kind not in hop.ends and not back.ends.isdisjoint(called):
            yield Said(used, 1.0, words.start, words.stop - 1, len(words)), CALLED_SO

    def _all_saying(self, hop: SchemaHop) -> list[Said]:
        """Returns the spans that express `hop` about as well as they express any other hop, best first.

        A hop back to several kinds (from an animal to visits and vaccinations) needs an exact wording or the noun of
        one of these kinds: an animal that was "never vaccinated" may still have had visits.
        """
        least = KIN if hop.leads_back_to_several else 0.0
        row = self._rows[_key(hop)]
        near = [(self._spans[at], self._likeness[row][at]) for at in np.flatnonzero(self._is_near[row]).tolist()]
        found = [
            Said(span.used, like, span.first, span.last, span.count)
            for span, like in near
            if like >= least or not hop.ends.isdisjoint(self._graph.kinds_said(span.words))
        ]
        return sorted(found, key=lambda each: -each.likeness * each.count)

    def explained(self, label: str, least: float) -> int:
        """Returns the bit mask of the tokens that alone express a hop called `label`.

        Includes words such as "number" in "number of beds", if the label has them.
        """
        known = self._explained.get((label, least))
        if known is None:
            known = self._explained[label, least] = self._all_explained(label, least)
        return known

    def _all_explained(self, label: str, least: float) -> int:
        used, own = 0, {word for word in label.lower().split() if singular(word) in _SAYING_LITTLE}
        for (known, *_), row in self._rows.items():
            for span, like in zip(self._spans, self._likeness[row], strict=True) if known == label else ():
                used |= span.used if span.count == 1 and (like >= least or span.words[0] in own) else 0
        return used

    def nearness(self, at: int, labels: Collection[str]) -> float:
        """Returns the greatest likeness of the word at position `at`, alone, to the hops called `labels`."""
        column = next((n for n, span in enumerate(self._spans) if span.used == 1 << at), -1)
        rows = (row for (label, *_), row in self._rows.items() if label in labels) if column >= 0 else ()
        return max((self._likeness[row][column] for row in rows), default=0.0)

    def most(self, at: int) -> float:
        """Returns the greatest likeness of the word at position `at`, alone, to any hop."""
        found = (best for span, best in zip(self._spans, self._best, strict=True) if span.used == 1 << at)
        return max(found, default=0.0)


def _modifiers(words: tuple[str, ...], graph: SchemaGraph) -> int:
    """Returns the bit mask of tokens that only specify a value, as "insurance" in "insurance number"."""
    used, names = 0, {tuple(hop.shown.lower().split()) for hop in graph.hops if hop.value not in ("", "truth")}
    for name in names if len(words) > 1 else ():
        for at in range(len(words) - len(name) + 1):
            is_said = len(name) > 1 and GRAMMAR.isdisjoint(name) and words[at : at + len(name)] == name
            used |= sum(1 << each for each in range(at, at + len(name) - 1)) if is_said else 0
    return used


def _key(hop: SchemaHop) -> tuple[str, str, str]:
    return hop.label, hop.shown, ", ".join(sorted(hop.ends))


# Words for working somewhere, which express the hop between a place of work and its staff in both directions.
_WORKING: Final = frozenset("work works working employed staff".split())
_STAFF: Final = frozenset({"employee", "worker", "staff member"})
_WORKPLACES: Final = frozenset({"office", "company", "firm", "employer", "branch", "depot", "department"})


# Nouns for types of values, which may be left out: "inspection date" expresses `next inspection due`.
_HEADS: Final = {
    "date": frozenset("date day year month time".split()),
    "number": frozenset("number amount count total value level rate".split()),
    "text": frozenset("number code name type kind status level".split()),
}
_PLACING: Final = frozenset((*PREPOSITIONS, "under", "over", "within", "behind", "during", "via", "out"))
_SAYING_LITTLE: Final = frozenset({"code", "type"}) | _HEADS["date"] | _HEADS["number"]


@dataclass(frozen=True, slots=True)
class _Wording:
    """The words of a hop, in the singular, that are compared with the words of a question.

    `alone`: words that express it by themselves; `beside`: words that express it next to other words. `verbs`: its
    verbs. `whole`: all content words of its own label. `heads`: nouns for the type of its values ("date"). `everyday`:
    words that are not from its label. `hints`: words of the comment on its relation, which are weaker evidence.
    """

    alone: frozenset[str]
    beside: frozenset[str]
    verbs: frozenset[str]
    whole: frozenset[str]
    heads: frozenset[str]
    everyday: frozenset[str]
    hints: frozenset[str]

    @classmethod
    @lru_cache(maxsize=16_384)
    def of(cls, hop: HopWords, starts: frozenset[str], value: str) -> _Wording:
        texts = [text.lower().split() for text in hop.relation]
        done = _done(hop, starts)
        done |= _said_of_both(hop, starts)
        alone = {
            singular(word) for at, words in enumerate(texts) for word in words if at < 2 or len(words) == 1
        } | done
        beside = {singular(word) for words in texts for word in words} | done
        whole = {singular(word) for word in texts[0] if word not in GRAMMAR} if texts else set()
        of_start = {singular(word) for kind in starts for word in kind.lower().split()}
        # Vague words alone do not express a longer label: "shipments" is not "shipment status".
        for little in (_SAYING_LITTLE, of_start, _PLACING, NEGATIONS):
            alone -= little if whole - little else set()
        # The kind at the start of a backward hop does not express it: "animal" and the hop to its visits.
        alone -= of_start if hop.inverse else set()
        heads = _HEADS.get(value, frozenset())
        verbs = hop.verbs | verbs_said(hop.further)
        everyday = frozenset(word for text in (*hop.everyday, *hop.further) for word in text.split())
        hints = frozenset(map(singular, hop.hints))
        return cls(frozenset(alone), frozenset(beside), verbs, frozenset(whole), heads, everyday, hints)

    def surely(self, span: Span) -> float:
        """Returns the likeness of the span to the hop by the forms of its words alone, without the sentence model.

        It is LEXICAL if each word is one of the relation's, KIN if some are only derived from these ("licensed",
        "licence"), and HINTED for a single word from the relation's comment, else 0. WHOLE is added if the span holds
        the whole label.
        """
        said, found = self.alone if span.count == 1 else self.beside, LEXICAL
        if span.words[0] in POSITIVE and span.count == 1:
            return KIN if any(hint <= self.whole for hint in POSITIVE[span.words[0]].hinted) else 0.0
        words = span.saying[:-1] if span.count > 1 and span.words[-1] in self.heads else span.saying
        for word in words:
            if word.called.isdisjoint(said) and self.verbs.isdisjoint(word.verbs):
                is_form = not word.verbs.isdisjoint(self.everyday) and is_form_of(
                    word.text, self.everyday & said, span.count > 1
                )
                if not (is_form or is_kin(word.text, said)):
                    return self._by_hint(span)
                found = KIN
        return found + WHOLE * (bool(self.whole) and self._is_whole(span))

    def _is_whole(self, span: Span) -> bool:
        """Returns True if the span holds all content words of the relation's label."""
        words = {word.singular for word in span.saying}
        verbs = frozenset[str]().union(*(word.verbs for word in span.saying))
        return all(word in words or not verbs.isdisjoint(verbs_of(word)) for word in self.whole)

    def _by_hint(self, span: Span) -> float:
        """Returns HINTED if the span is a single word that the relation's comment has in any form, else 0."""
        if span.count > 1 or not self.hints:
            return 0.0
        word = span.saying[0]
        return HINTED if word.singular in self.hints or not word.verbs.isdisjoint(self.hints) else 0.0


def _said_of_both(hop: HopWords, starts: frozenset[str]) -> set[str]:
    """Returns verbs for a backward hop between two kinds: "acted" for the cast of a film.

    They are synonyms of the hop's label. Nouns for people are left out, because they name the other end. `starts`: the
    kinds that the hop leaves.
    """
    if not hop.inverse or not hop.relation or not starts.isdisjoint(hop.kinds):
        return set()
    words = {word for word in synonyms_of(hop.relation[0]) if " " not in word}
    return {word for word in words if verbs_of(word) and not names_somebody(word)}


def _done(hop: HopWords, starts: frozenset[str]) -> set[str]:
    """Returns verbs for the event that a record stands for, if the hop leads to or from it: "bought" for a purchase.

    `starts`: the kinds that the hop leaves.
    """
    if not starts.isdisjoint(hop.kinds):
        return set()
    kinds = {*starts, *(hop.kinds if hop.inverse else ())}
    words = {singular(word) for kind in kinds for word in RECORDS.get(kind.lower(), "").split()}
    to_staff = hop.inverse and not _STAFF.isdisjoint(hop.kinds)
    of_staff = not hop.inverse and not _STAFF.isdisjoint(starts) and not _WORKPLACES.isdisjoint(hop.kinds)
    return words | (_WORKING if to_staff or of_staff else set())


# Least likeness (cosine) of a label to some span for the label to be taken. Chosen by hand; not fitted.
MIN_LIKENESS: Final = 0.6
MAX_LABELS: Final = 60
"""Greatest number of labels that are taken; those most like the words come first. Chosen by hand; not fitted."""
MIN_SAID: Final = 0.75
"""Least likeness (cosine) at which words express a label. Chosen by hand; not fitted."""
_MEASURED: Final = frozenset({"superlative", "comparative", "value"})


class LabelWordings:
    """The hops of a schema by label, with the vectors of their wordings; computed once for each version of a graph."""

    def __init__(self, steps: Iterable[SchemaStep], embedder: Embedder) -> None:
        self.steps: dict[str, list[SchemaStep]] = {}
        for step in steps:
            self.steps.setdefault(step.label, []).append(step)
        words = (dict.fromkeys((step.shown, step.concept) for step in steps) for steps in self.steps.values())
        rows = [[text for each in told for text in _texts_of(*each)] for told in words]
        self._wordings, self._embedder = EmbeddedWordings.of(embedder, rows), embedder

    @classmethod
    def of(cls, schema: Schema, steps: Iterable[SchemaStep], embedder: Embedder) -> LabelWordings:
        """Returns the label wordings of `schema`, computed at first use. `steps` must hold all of its hops."""
        known = schema.derived.get((cls, embedder))
        if not isinstance(known, cls):
            known = schema.derived[cls, embedder] = cls(steps, embedder)
        return known

    def likeness(self, spans: Sequence[Span]) -> npt.NDArray[np.float64]:
        """Returns the likeness of each label to each of `spans`; cosines of shape (labels, spans)."""
        begins = np.cumsum([0, *(len(span.texts) for span in spans[:-1])])
        texts = [text for span in spans for text in span.texts]
        return np.maximum.reduceat(self._wordings.likeness(self._embedder.sentences(texts)), begins, axis=1)


def _texts_of(shown: str, concept: str) -> tuple[str, ...]:
    words = hop_words(shown, concept)
    return (*words.relation, *words.reached)


@dataclass(frozen=True)
class SaidLabels:
    """The labels of a schema that words of one question match (see `app.language.protocol.SaidLabels`)."""

    asked: AskedQuestion
    spans: tuple[Span, ...]
    schema: Schema
    all_steps: Sequence[SchemaStep]
    embedder: Embedder

    @classmethod
    def of(cls, question: str, schema: Schema, all_steps: Sequence[SchemaStep], embedder: Embedder) -> SaidLabels:
        """Builds the object for `question`; `all_steps` must hold every hop of `schema`."""
        asked = read_question(question)
        return cls(asked, tuple(spans_of(asked)), schema, all_steps, embedder)

    @cached_property
    def _known(self) -> LabelWordings:
        return LabelWordings.of(self.schema, self.all_steps, self.embedder)

    @cached_property
    def _likeness(self) -> npt.NDArray[np.float64]:
        return self._known.likeness(self.spans)

    @property
    def is_compound(self) -> bool:
        """True if one path from one thing is not enough to answer the question."""
        return self.asked.form not in ("things", "count") or self.is_measured or self.asked.roles.count("thing") > 1

    @property
    def is_chain(self) -> bool:
        """True if one hop cannot be enough, because separate words of the question each express a label."""
        if not self.spans:
            return False
        said: list[bool] = np.any(self._likeness >= MIN_SAID, axis=0).tolist()
        used = [span.used for span, is_said in zip(self.spans, said, strict=True) if is_said]
        return any(not one & other for one in used for other in used)

    @property
    def is_measured(self) -> bool:
        """True if the question has a superlative, a comparative or a value."""
        return not _MEASURED.isdisjoint(self.asked.roles)

    def steps(self) -> Iterator[SchemaStep]:
        """Yields the hops whose labels are most like words of the question.

        At most MAX_LABELS labels, each with likeness of at least MIN_LIKENESS.
        """
        if not self.spans:
            return
        best, labels = self._likeness.max(axis=1), list(self._known.steps)
        nearest = np.argsort(-best, kind="stable")[:MAX_LABELS]
        for at in nearest[best[nearest] >= MIN_LIKENESS].tolist():
            yield from self._known.steps[labels[at]]
