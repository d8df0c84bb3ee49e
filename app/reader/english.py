"""All that reads and words English in the service, around one sentence model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.llm.embeddings.adapters import NO_HEAD, RelationAdapter
from app.llm.embeddings.embedder import Embedder
from app.reader.concept_namer import ConceptNamer
from app.reader.embedded_reasoner import EmbeddedReasoner
from app.reader.language.language_detection import read_words, remark_on
from app.reader.scoring.path_scoring import PathScorer
from app.reader.warm_up import CacheWarmer
from kg_store.terms import Schema


class EnglishReader:
    """Making one is quick: the model is loaded by the first text that it embeds. `head`: a trained adapter.

    `scorer` ranks paths, `reasoner` answers tasks without a model, `warmer` embeds a schema's words ahead of need.
    """

    def __init__(self, embedder: Embedder, head: RelationAdapter = NO_HEAD) -> None:
        self.embedder = embedder
        self.scorer = PathScorer(embedder, head=head)
        self.reasoner = EmbeddedReasoner(embedder, scorer=self.scorer)
        self.warmer = CacheWarmer(embedder)

    def name_concepts(self, schema: Schema) -> Sequence[str]:
        """One concept per signature, in the order of `schema.signatures`."""
        return ConceptNamer(self.embedder).name(schema)

    remark_on: Callable[[str], str | None] = staticmethod(remark_on)
    """A sentence for the asker where a question is in another language; None where it is not."""
    read_words: Callable[[], object] = staticmethod(read_words)
    """Reads the words by which languages are told apart, which takes a second, before the first question does."""
