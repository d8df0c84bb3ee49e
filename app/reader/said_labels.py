"""The labels of a large schema that words of a question say."""

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

MIN_LIKENESS: Final = 0.6
MAX_LABELS: Final = 60
"""Labels that words of the question say, those most like them."""
MIN_SAID: Final = 0.75
"""Words so like a label say it."""
_MEASURED: Final = frozenset({"superlative", "comparative", "value"})


class LabelWordings:
    """The steps of a schema by their labels, with the vectors of their wordings; once for a version of a graph."""

    def __init__(self, steps: Iterable[SchemaStep], embedder: Embedder) -> None:
        self.steps: dict[str, list[SchemaStep]] = {}
        for step in steps:
            self.steps.setdefault(step.label, []).append(step)
        words = (dict.fromkeys((step.shown, step.concept) for step in steps) for steps in self.steps.values())
        rows = [[text for each in told for text in _texts_of(*each)] for told in words]
        self._wordings, self._embedder = Wordings.of(embedder, rows), embedder

    @classmethod
    def of(cls, schema: Schema, steps: Iterable[SchemaStep], embedder: Embedder) -> LabelWordings:
        """`steps`: all those of `schema`."""
        known = schema.derived.get((cls, embedder))
        if not isinstance(known, cls):
            known = schema.derived[cls, embedder] = cls(steps, embedder)
        return known

    def likeness(self, spans: Sequence[Span]) -> npt.NDArray[np.float64]:
        """Of each label to each of `spans`; shape (labels, spans)."""
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
        """`all_steps`: every step of `schema`; words of the question are compared with their labels."""
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
        """True where one path from one thing can't be all that is asked."""
        return self.asked.form not in ("things", "count") or self.is_measured or self.asked.roles.count("thing") > 1

    @property
    def is_chain(self) -> bool:
        """True where one step can't be: words of the question that lie apart say a label each."""
        if not self.spans:
            return False
        said: list[bool] = np.any(self._likeness >= MIN_SAID, axis=0).tolist()
        used = [span.used for span, is_said in zip(self.spans, said, strict=True) if is_said]
        return any(not one & other for one in used for other in used)

    @property
    def is_measured(self) -> bool:
        """True where it asks for the first, for more, or for what lies between two years."""
        return not _MEASURED.isdisjoint(self.asked.roles)

    def steps(self) -> Iterator[SchemaStep]:
        """The steps of any kind by the labels that lie nearest to words of the question."""
        if not self.spans:
            return
        best, labels = self._likeness.max(axis=1), list(self._known.steps)
        nearest = np.argsort(-best, kind="stable")[:MAX_LABELS]
        for at in nearest[best[nearest] >= MIN_LIKENESS].tolist():
            yield from self._known.steps[labels[at]]
