"""Finds the relation labels of a large schema that the words of a question say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.embedder import Embedder
from app.llm.tasks import SchemaStep
from app.reader.language.relation_wording import hop_words
from app.reader.meaning.question.question_tokens import AskedQuestion, read_question
from app.reader.meaning.question.spans import Span, spans_of
from app.reader.scoring.hop_table import Wordings
from kg_store.terms import Schema

# Labels less like every span (cosine) are not taken. Chosen by hand; not fitted.
MIN_LIKENESS: Final = 0.6
MAX_LABELS: Final = 60
"""The greatest number of labels that are taken, those most like the words. Chosen by hand; not fitted."""
MIN_SAID: Final = 0.75
"""From this likeness (cosine) on, words say a label. Chosen by hand; not fitted."""
_MEASURED: Final = frozenset({"superlative", "comparative", "value"})


class LabelWordings:
    """The hops of a schema by label, with the vectors of their wordings; computed once for a version of a graph."""

    def __init__(self, steps: Iterable[SchemaStep], embedder: Embedder) -> None:
        self.steps: dict[str, list[SchemaStep]] = {}
        for step in steps:
            self.steps.setdefault(step.label, []).append(step)
        words = (dict.fromkeys((step.shown, step.concept) for step in steps) for steps in self.steps.values())
        rows = [[text for each in told for text in _texts_of(*each)] for told in words]
        self._wordings, self._embedder = Wordings.of(embedder, rows), embedder

    @classmethod
    def of(cls, schema: Schema, steps: Iterable[SchemaStep], embedder: Embedder) -> LabelWordings:
        """Returns the label wordings of `schema`, computed at first use; `steps` must be all of its hops."""
        known = schema.derived.get((cls, embedder))
        if not isinstance(known, cls):
            known = schema.derived[cls, embedder] = cls(steps, embedder)
        return known

    def likeness(self, spans: Sequence[Span]) -> npt.NDArray[np.float64]:
        """The likeness of each label to each of `spans`; cosines of shape (labels, spans)."""
        begins = np.cumsum([0, *(len(span.texts) for span in spans[:-1])])
        texts = [text for span in spans for text in span.texts]
        return np.maximum.reduceat(self._wordings.likeness(self._embedder.sentences(texts)), begins, axis=1)


def _texts_of(shown: str, concept: str) -> tuple[str, ...]:
    words = hop_words(shown, concept)
    return (*words.relation, *words.reached)


@dataclass(frozen=True)
class SaidLabels:
    """A question, and the labels of a schema that are like its words."""

    asked: AskedQuestion
    spans: tuple[Span, ...]
    schema: Schema
    all_steps: Sequence[SchemaStep]
    embedder: Embedder

    @classmethod
    def of(cls, question: str, schema: Schema, all_steps: Sequence[SchemaStep], embedder: Embedder) -> SaidLabels:
        """Builds it for `question`; `all_steps` must hold every hop of `schema`."""
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
        """True if a single path from a single thing cannot be the whole question."""
        return self.asked.form not in ("things", "count") or self.is_measured or self.asked.roles.count("thing") > 1

    @property
    def is_chain(self) -> bool:
        """True if one hop cannot be enough: separate words of the question each say a label."""
        if not self.spans:
            return False
        said: list[bool] = np.any(self._likeness >= MIN_SAID, axis=0).tolist()
        used = [span.used for span, is_said in zip(self.spans, said, strict=True) if is_said]
        return any(not one & other for one in used for other in used)

    @property
    def is_measured(self) -> bool:
        """True if the question has a superlative, a comparison or a value."""
        return not _MEASURED.isdisjoint(self.asked.roles)

    def steps(self) -> Iterator[SchemaStep]:
        """Yields the hops whose labels are most like words of the question: up to MAX_LABELS labels above
        MIN_LIKENESS.
        """
        if not self.spans:
            return
        best, labels = self._likeness.max(axis=1), list(self._known.steps)
        nearest = np.argsort(-best, kind="stable")[:MAX_LABELS]
        for at in nearest[best[nearest] >= MIN_LIKENESS].tolist():
            yield from self._known.steps[labels[at]]
