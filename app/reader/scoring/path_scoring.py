"""Scores how well a relation path covers a question: both are read from the topic outwards and aligned word by word.

Every hop has a cost, for which words that express it make up. Every content word that no hop explains has a cost too.
Hops are aligned in order, because "X's mother's children" and "X's children's mother" have the same words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from app.language.readings import WordedPath
from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.trained_weights import NO_HEAD, RelationAdapter
from app.reader.language.answer_form import WIDE_NOUNS, AskedKind, read_asked_kind
from app.reader.language.question_words import GRAMMAR, WalkedQuestion, WordSpan, WordUsage, reading_orders
from app.reader.language.relation_wording import (
    HopWords,
    Voice,
    hop_words,
    kinds_in,
    unmask_words,
    verbs_named,
    voice_of,
)
from app.reader.scoring.hop_table import (
    IMPOSSIBLE,
    ConceptTypes,
    EmbeddedWordings,
    Flags,
    HopGains,
    HopTable,
    HopTables,
    Rows,
    Scores,
    Weights,
    align,
)
from app.reader.scoring.late_interaction import LateInteraction
from app.reader.scoring.similarity import Latest, nearness
from kg_store.text.inflection import (
    IRREGULAR,
    is_agent,
    is_participle,
    is_third_person,
    may_be_verb,
    singular,
    verbs_of,
)
from kg_store.text.words import asked_words, is_pseudonym


@dataclass(frozen=True, slots=True, eq=False)
class ReadPaths:
    """Paths with everything that scoring knows about them for any question, so that they can be scored again.

    `rows`: the row numbers of each path's hops in `table`, padded with "no hop", shape (paths, steps of the longest).
    `lengths`: the number of steps of each path.
    """

    paths: Sequence[WordedPath]
    table: HopTable
    rows: Rows
    lengths: Rows
    scorer: PathScorer = field(repr=False)

    @property
    def cosine_unit(self) -> float:
        """The part of a path's score that a cosine of 1 between the path and the whole question contributes."""
        return self.scorer.cosine_unit(self.paths)

    def scores(self, question: str, topic: str, *, by_words: bool = False) -> Scores:
        """Returns one score for each path, shape (paths,). `topic` is the pseudonym from which the paths start."""
        return self.scorer.scores_of(question, topic, "", self, by_words)


class PathScorer:
    """Scores paths against a question. Higher is better; unrelated paths score about 0."""

    def __init__(self, embedder: Embedder, weights: Weights | None = None, head: RelationAdapter = NO_HEAD) -> None:
        self._embedder, self._w = embedder, weights or Weights()
        self.head = head
        self._types = ConceptTypes(embedder)
        self._tables = HopTables(embedder)
        self.late = LateInteraction(embedder)

    @property
    def head(self) -> RelationAdapter:
        """The trained adapter; if it is replaced, everything that scores with this object uses the new one."""
        return self._head

    @head.setter
    def head(self, head: RelationAdapter) -> None:
        # Results that were computed with the previous adapter are dropped.
        self._head, self.latest = head, Latest()

    def scores(
        self, question: str, topic: str, concept: str, paths: Sequence[WordedPath], by_words: bool = False
    ) -> Scores:
        """Returns one score for each path, shape (paths,).

        `topic`: the pseudonym from which the paths start; `concept`: its concept. `by_words`: skips embedding the
        whole question if its single words are enough, which is faster.
        """
        return self.scores_of(question, topic, concept, self.read(paths), by_words) if paths else np.zeros(0)

    def read(self, paths: Sequence[WordedPath]) -> ReadPaths:
        """Prepares paths for scoring; `paths` must not be empty."""
        table = self._tables.of(tuple(sorted({hop for path in paths for hop in path.hops})))
        lengths = np.array([len(path.steps) for path in paths], dtype=np.int64)
        return ReadPaths(paths, table, table.rows_of([path.hops for path in paths]), lengths, self)

    def cosine_unit(self, paths: Sequence[WordedPath]) -> float:
        """Returns the part of a score that a cosine of 1 between a path of `paths` and the question contributes."""
        if not paths:
            return 0.0
        table = self._tables.of(tuple(sorted({hop for path in paths for hop in path.hops})))
        weight = self._w.nearness_among(table.words_of_a_label or self._w.few_words)
        return (2.0 - self._w.nearness / weight) * self._w.nearness

    def nearness(self, question: str, ways: Sequence[Sequence[tuple[str, str]]]) -> Scores:
        """Returns the likeness (cosine) of the whole question to each path, without the adapter; shape (paths,)."""
        return nearness(self._embedder, question, ways)

    def likeness(self, hops: Sequence[tuple[str, str]], texts: Sequence[str]) -> Scores:
        """Returns the likeness (cosine) of each text to the nearest wording of each hop; shape (hops, texts)."""
        rows = [(*hop.relation, *hop.reached) for hop in (hop_words(*each) for each in hops)]
        return EmbeddedWordings.of(self._embedder, rows).likeness(self._embedder.sentences(texts))

    def prepare(self, texts: Sequence[str]) -> None:
        """Embeds texts that will be compared next, in one run."""
        self._embedder.prepare(texts)

    def text_likeness(self, text: str, others: Sequence[str]) -> list[float]:
        """Returns the likeness (cosine) of `text` to each of `others`."""
        return [float(each) for each in self._embedder.similarity(text, others)]

    def type_of(self, kind: str) -> str:
        """Returns the type of a concept: person, group, place, date, number or thing."""
        return self._types.of(kind)

    def scores_of(self, question: str, topic: str, concept: str, read: ReadPaths, by_words: bool = False) -> Scores:
        """Does the same as `scores` for paths that `read` has prepared."""
        question, read = self._openly(question, read)
        table, rows = read.table, read.rows
        weight = self._w.nearness_among(table.words_of_a_label or self._w.few_words)
        words_alone = by_words and weight == self._w.nearness
        kind, walked = read_asked_kind(question), reading_orders(question, topic)
        spans = [span.text for each in walked for span in each.spans]
        self._embedder.prepare([*spans, *kind.nouns, *(() if words_alone else [asked_words(question)])])
        asked = self._asked(kind, table)[rows[np.arange(len(rows)), read.lengths - 1]]
        aligned = [self._aligned(each, table, kinds_in(concept), rows) for each in walked]
        turning = table.turning[rows[:, :-1], rows[:, 1:]]
        score: Scores = np.max(aligned, axis=0) + asked - self._w.turning_back * turning.sum(axis=1)
        misfits = table.misfit[rows[:, :-1], rows[:, 1:]].sum(axis=1)
        score = score - self._w.misfit * (misfits + _idle(table, rows, turning, walked[0].is_shared))
        if words_alone:
            return score
        further = read.lengths - 1 + table.inside[rows].sum(axis=1)
        of_kind = asked if kind.wh else np.zeros(len(rows))
        return self._with_nearness(score, weight, of_kind, further, question, read.paths)

    def _openly(self, question: str, read: ReadPaths) -> tuple[str, ReadPaths]:
        """Returns the question and the paths with the opaque words of masked relations as plain words.

        See `unmask_words`. Returns them unchanged if the question names no masked relation.
        """
        asked = unmask_words(question, ())[0]
        if asked == question:
            return question, read
        return asked, self.read(
            [WordedPath(tuple(unmask_words(question, p.steps)[1]), p.concepts) for p in read.paths]
        )

    def _with_nearness(
        self, score: Scores, weight: float, asked: Scores, further: Scores, question: str, paths: Sequence[WordedPath]
    ) -> Scores:
        """Adds the likeness of the whole question to the score of aligned words.

        The larger its weight, the less the aligned words count. The sum is then scaled up, because cosines differ less
        than scores of aligned words and one threshold has to serve both.
        """
        w = self._w
        near = nearness(self._embedder, question, [path.hops for path in paths], self._head)
        share = w.nearness / weight
        near = near + (1 - share) * (w.wordy_asked * asked - w.wordy_hop * further)
        both = share * np.maximum(score, -2.0 / share) + w.nearness * near
        return (2.0 - share) * both

    def _aligned(self, walked: WalkedQuestion, table: HopTable, start: tuple[str, ...], rows: Rows) -> Scores:
        if not walked.spans:
            unsaid: Scores = -self._w.hop * (rows < len(table.hops)).sum(axis=1)
            return unsaid
        said, by_name = self._said(walked.spans, table)
        kinds = self._kinds(walked.spans, table, start)
        # In "the film X", the word "film" says what X is and expresses no hop.
        beside = np.array([span.beside for span in walked.spans])
        names_topic = np.array([span.names_topic for span in walked.spans])
        doers = _doers(walked)
        for gains in (said, by_name):
            gains[:, (beside & (kinds[-1] > 0)) | names_topic | doers] = IMPOSSIBLE
        kinds[-1, names_topic | doers] = np.maximum(kinds[-1, names_topic | doers], 0.0)
        staying = np.column_stack([table.starting(start)[rows[:, 0]], table.same_kind[rows[:, :-1], rows[:, 1:]]])
        return align(walked, rows, HopGains(said, by_name, kinds, staying, table.undoing), self._w)

    def _said(self, spans: Sequence[WordSpan], table: HopTable) -> tuple[Scores, Scores]:
        """Returns the gains of each hop for each span: by words of the hop or of its end, and by its own words alone.

        Both have shape (hops + 1, spans); the last row is "no hop".
        """
        w = self._w
        vectors = self._embedder.sentences([span.text for span in spans])
        verbs = [frozenset(verb for word in span.text.split() for verb in verbs_of(word)) for span in spans]
        done = np.array([[not hop.verbs.isdisjoint(each) for each in verbs] for hop in table.words])
        worded = table.relation.likeness(vectors)
        called = [table.as_called(span.text) for span in spans]
        if called != [span.text for span in spans]:
            # "movies" may be like a relation's words by chance, so the graph's own word (films) is compared as well.
            worded = np.minimum(worded, table.relation.likeness(self._embedder.sentences(called)))
        own = np.maximum(worded, w.verb * done)
        kinds = table.worded_kinds.likeness(vectors)[table.kind_of[:-1]]
        reached = np.maximum(table.reached.likeness(vectors), w.kind_alone * kinds)
        ways = _ways(spans, table.words, done)
        best = np.maximum(own, reached).max(axis=0)
        # A span inside a longer one that names a whole relation means nothing else: "contact" in "emergency contact".
        whole = worded >= w.whole
        parts = _within(spans) & whole.any(axis=0)
        hidden = (~whole).astype(np.int64) @ parts.T.astype(np.int64) > 0
        by_name = self._gains(own, best, table.inverse, ways)
        said = np.maximum(by_name, self._gains(reached, best, table.inverse, ways.clip(0)))
        none = np.full((1, len(spans)), IMPOSSIBLE)
        said[hidden] = by_name[hidden] = IMPOSSIBLE
        return np.concatenate([said, none]), np.concatenate([by_name, none])

    def _gains(self, likeness: Scores, best: Scores, inverse: Flags, ways: Scores) -> Scores:
        w = self._w
        gains = (
            likeness - w.rivals * (best - likeness) - w.hop - w.inverse * (inverse & (ways <= 0)) + w.direction * ways
        )
        return np.where((likeness < w.least) | (best - likeness > w.most_outdone), IMPOSSIBLE, gains)

    def _kinds(self, spans: Sequence[WordSpan], table: HopTable, start: tuple[str, ...]) -> Scores:
        """Returns the gains of naming the kind beside a hop, for each span; shape (hops + 2, spans).

        The last two rows are "no hop" and the start.
        """
        w, named = self._w, [*table.kinds, start]
        vectors = self._embedder.sentences([IRREGULAR.get(span.text) or table.as_called(span.text) for span in spans])
        likeness = np.concatenate([table.worded_kinds.likeness(vectors), self._likeness(vectors, [start])])
        wide = [WIDE_NOUNS.get(span.text) for span in spans]
        fits = np.array([[bool(wh and words and self._types.fits(wh, words)) for wh in wide] for words in named])
        gains = np.where(fits, w.kind, np.where(likeness < w.least_kind, IMPOSSIBLE, w.kind * likeness))
        return gains[[*table.kind_of, len(named) - 1]]

    def _likeness(self, spans: npt.NDArray[np.float32], wordings: Sequence[Sequence[str]]) -> Scores:
        return EmbeddedWordings.of(self._embedder, wordings).likeness(spans)

    def _asked(self, asked: AskedKind, table: HopTable) -> Scores:
        """Returns the gain or cost of a path that ends with each hop, by the kind asked for; shape (hops,)."""
        w = self._w
        if asked.wh:
            fits = [self._types.fits(asked.wh, hop.kinds) for hop in table.words]
            return np.array([w.asked if fit else 0.0 if fit is None else -w.asked_wrong for fit in fits])
        if not asked.nouns:
            return np.zeros(len(table.hops))
        near = table.own.likeness(self._embedder.sentences([*map(table.as_called, asked.nouns)])).max(axis=1)
        verbs = frozenset(verb for noun in asked.nouns for word in noun.split() for verb in verbs_of(word))
        agents = np.array([not hop.inverse and not hop.verbs.isdisjoint(verbs) for hop in table.words])
        near = np.maximum(near, w.verb * agents)
        return np.where(near >= max(near.max(), 0.5) - 0.1, w.asked, -w.asked_wrong)


def _idle(table: HopTable, rows: Rows, turning: Flags, is_shared: bool) -> Flags:
    """Returns True for paths that cannot find anything new; shape (paths,).

    These go there, back and there again. Others go to a value and back from it, although the question does not ask for
    what else has that value.
    """
    idle: Flags = np.asarray((turning[:, :-1] & turning[:, 1:]).any(axis=1))
    if not is_shared:
        idle = idle | np.asarray(table.leaving_value[rows[:, :-1], rows[:, 1:]].any(axis=1))
    return idle


def _ways(spans: Sequence[WordSpan], hops: Sequence[HopWords], done: Flags) -> Scores:
    """Returns the direction in which grammar expresses each hop: 1, -1 or 0 (see `relation_direction`).

    Shape (hops, spans).
    """
    manners = {(hop.voice, hop.inverse): hop for hop in hops}
    number = {manner: row for row, manner in enumerate(manners)}
    ways = np.array(
        [[[relation_direction(hop, s.usages, by) for by in (False, True)] for s in spans] for hop in manners.values()]
    )
    of_hop = np.array([number[hop.voice, hop.inverse] for hop in hops])
    found: Scores = ways[of_hop[:, None], np.arange(len(spans))[None, :], done.astype(np.int64)]
    return found


def _within(spans: Sequence[WordSpan]) -> Flags:
    """Returns True for each pair whose first span is part of the second, longer one; shape (spans, spans)."""
    starts, ends = np.array([span.start for span in spans]), np.array([span.end for span in spans])
    inside = (starts[:, None] >= starts[None, :]) & (ends[:, None] <= ends[None, :])
    longer: Flags = inside & ((ends - starts)[:, None] < (ends - starts)[None, :])
    return longer


def _doers(walked: WalkedQuestion) -> Flags:
    """Returns True for spans that only describe the topic as an agent: "the screenwriter X wrote"; shape (spans,).

    Always False if the question asks for what the topic shares with others: then such a noun may express a relation.
    """
    done = frozenset[str]().union(*(verbs_of(span.text) for span in walked.spans if not span.beside))
    doing = [span.apposed and not done.isdisjoint(verbs_named(span.text)) for span in walked.spans]
    return np.array(doing, dtype=bool) & (not walked.is_shared)


_WAYS: dict[tuple[WordUsage, Voice], int] = {
    (WordUsage.SUBJECT, "passive"): -1, (WordUsage.SUBJECT, "active"): 1,
    (WordUsage.OBJECT, "passive"): 1, (WordUsage.OBJECT, "active"): -1,
    (WordUsage.UNDERGOES, "noun"): 1, (WordUsage.UNDERGOES, "passive"): 1, (WordUsage.UNDERGOES, "active"): 1,
    (WordUsage.HOLDER, "noun"): 1, (WordUsage.HOLDER, "passive"): 1,
    (WordUsage.FILLER, "noun"): -1, (WordUsage.FILLER, "passive"): -1,
}  # fmt: skip


def relation_direction(hop: HopWords, usages: frozenset[WordUsage], by_verb: bool) -> float:
    """Returns the direction in which a word with one of these usages expresses `hop`.

    It is 1 for forwards, -1 for backwards, 0 if grammar does not decide. `by_verb`: the word and the relation are
    forms of one verb (direct, `directed by`).
    """
    said = [_of_noun(usage, by_verb) if hop.voice == "noun" else _WAYS.get((usage, hop.voice), 0) for usage in usages]
    ways = [way * (-1 if hop.inverse else 1) for way in said if way]
    return float(max(ways)) if ways else 0.0


def _of_noun(usage: WordUsage, by_verb: bool) -> int:
    """Returns the direction (1, -1 or 0) in which a word with this usage expresses a noun label.

    `by_verb`: the word and the label are forms of one verb (direct, `director`).
    """
    if usage is WordUsage.SUBJECT:
        return -1 if by_verb else 1
    if usage is WordUsage.OBJECT:
        return 1 if by_verb else 0
    return _WAYS.get((usage, "noun"), 0)


_RELATIVE = frozenset({"who", "that", "which"})
_RISING = frozenset({"report", "answer"})
"""Verbs for what people do towards their superiors: report to, answer to."""
_COPULAS = frozenset("is are was were".split())
_SHARING = frozenset("same other else share shares with together also too another others".split())
_DOING = frozenset("do does did don't doesn't didn't not never can can't".split())
_OWNING = frozenset("a an the no any have has had having with without of his her their 's own".split())


def filled_in(words: Sequence[str]) -> tuple[int, range]:
    """Returns the position of the thing whose role is asked ("whose doctor is X"), and the range of the role's words.

    The position is -1 if the question does not ask for a role.
    """
    at = next((n for n, word in enumerate(words) if is_pseudonym(word)), -1)
    if words[:1] == ("whose",) and 3 <= at + 1 == len(words) and words[at - 1] in _COPULAS:
        return at, range(1, at - 1)
    if at == 0 and words[1:3] in (("is", "the"), ("was", "the")) and words[-2:] in (("of", "who"), ("of", "whom")):
        return at, range(3, len(words) - 2)
    is_asked = at == 2 and words[0] in ("who", "whom", "what") and words[1] in _COPULAS
    if is_asked and words[at + 1 : at + 2] == ("the",) and words[-1] == "of" and len(words) > at + 3:
        return at, range(at + 2, len(words) - 1)
    return -1, range(0)


def names_other_end(words: Sequence[str], label: str) -> bool:
    """Returns True if `words` name the end of the hop `label`, by its noun or by the noun for whoever does it."""
    own = {word for word in label.lower().split() if word not in GRAMMAR}
    verbs = frozenset[str]().union(*map(verbs_of, own))
    return any(singular(word) in own or not verbs.isdisjoint({word, *verbs_of(word)}) for word in words)


def is_turned_superior(words: Sequence[str], at: int, label: str) -> bool:
    """Returns True if `label` leads up a hierarchy and the question asks for those below, or the reverse.

    "Who reports to X" asks for those below X, and "reports to" leads up. `at`: the position of X.
    """
    said = hop_words(label, "").relation
    if _RISING.isdisjoint(verb for text in said for word in text.split()[:1] for verb in verbs_of(word)):
        return False
    before, after = tuple(words[max(0, at - 2) : at]), words[at + 1 : at + 2]
    is_below = not label.startswith("^")
    if before[1:] == ("to",) and not _RISING.isdisjoint(verbs_of(before[0])):
        return is_below
    return bool(after) and not _RISING.isdisjoint(verbs_of(after[0])) and not is_below


def is_turned_clause(words: Sequence[str], at: int, label: str) -> bool:
    """Returns True if the relative clause with the verb at `at` expresses `label` in the opposite direction.

    Example: "the doctor who supervises X's doctor".
    """
    has_done = at == 1 and is_participle(words[at]) and words[at + 1 : at + 2] != ("by",)
    if at < 1 or words[at - 1] not in _RELATIVE or not (has_done or is_third_person(words[at])):
        return False
    voice = voice_of(label.removeprefix("^"))
    return voice != "noun" and label.startswith("^") == (voice == "passive")


def is_active_clause(words: Sequence[str], at: int) -> bool:
    """Returns True for "who treats X": the question asks for whoever acts on the thing at `at`."""
    return words[:1] == ("who",) and at in (2, 3) and words[at - 1] in ("the", words[1])


def is_turned_verb(words: Sequence[str], at: int, label: str) -> bool:
    """Returns True if the verb at `at` and `label` run in opposite directions.

    Example: "employees that manage nobody" may still have a manager.
    """
    before, after = words[at - 1] if at else "", words[at + 1 : at + 2]
    is_done = is_participle(words[at]) and not (before in _DOING or before in _RELATIVE)
    if not may_be_verb(words[at]) or is_done or after == ("by",) or before in _OWNING or is_agent(words[at]):
        return False
    base = label.removeprefix("^").split("|")[-1]
    is_active = voice_of(base) == "active" and not is_participle(base.split()[0])
    return label.startswith("^") == is_active


def says_sharing(words: Sequence[str], label: str) -> bool:
    """Returns True if the question may ask for things that share something: "the same director", "together with".

    "With" counts only for verbs ("who lives with X"); "who worked with X" does not ask for a shared occupation.
    """
    sharing = _SHARING.intersection(words)
    return bool(sharing - {"with"} if voice_of(label.removeprefix("^")) == "noun" else sharing)


def contrary_verb(question: str, topic: str, label: str, concept: str) -> str:
    """Returns the verb of the question that expresses this hop in the opposite direction only, or an empty string."""
    hop = hop_words(label, concept)
    spans = [span for order in reading_orders(question, topic) for span in order.spans if " " not in span.text]
    saying = [span for span in spans if not hop.verbs.isdisjoint(verbs_of(span.text))]
    ways = [relation_direction(hop, span.usages, by_verb=True) for span in saying]
    return saying[0].text if ways and max(ways) < 0 else ""
