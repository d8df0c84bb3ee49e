"""Everything that reads and writes English in the service, built around one sentence model."""

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
    """The reader's parts, sharing one sentence model. Quick to make: the model is loaded when the first text is
    embedded.

    `head` is a trained adapter. `scorer` ranks paths, `reasoner` does tasks without a language model, and `warmer`
    embeds a schema's words before they are needed.
    """

    def __init__(self, embedder: Embedder, head: RelationAdapter = NO_HEAD) -> None:
        self.embedder = embedder
        self.scorer = PathScorer(embedder, head=head)
        self.reasoner = EmbeddedReasoner(embedder, scorer=self.scorer)
        self.warmer = CacheWarmer(embedder)

    def name_concepts(self, schema: Schema) -> Sequence[str]:
        """Returns one concept per signature, in the order of `schema.signatures`."""
        return ConceptNamer(self.embedder).name(schema)

    remark_on: Callable[[str], str | None] = staticmethod(remark_on)
    """Returns a sentence for the asker if the question is in another language than English, else None."""
    read_words: Callable[[], object] = staticmethod(read_words)
    """Loads the word lists of all languages ahead of the first question; takes about a second."""
