"""Grammar against a path: "who supervises X" does not ask for those that X supervises."""

from __future__ import annotations

from app.llm.embedded.language.morphology import verbs_of
from app.llm.embedded.language.question_words import reading_orders
from app.llm.embedded.language.relation_wording import hop_words
from app.llm.embedded.scoring.path_scoring import relation_direction


def contrary_verb(question: str, topic: str, label: str, concept: str) -> str:
    """The verb of the question that says this step the other way round and nothing else; empty where none does."""
    hop = hop_words(label, concept)
    spans = [span for order in reading_orders(question, topic) for span in order.spans if " " not in span.text]
    saying = [span for span in spans if not hop.verbs.isdisjoint(verbs_of(span.text))]
    ways = [relation_direction(hop, span.usages, by_verb=True) for span in saying]
    return saying[0].text if ways and max(ways) < 0 else ""
