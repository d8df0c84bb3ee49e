"""Coverage: how well the steps of a path, and the kinds along it, explain each word of a question."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from app.llm.embedded.language.morphology import verbs_of
from app.llm.embedded.language.question_words import MAX_SPAN_WORDS, singular, words_in
from app.llm.embedded.language.relation_wording import hop_words, kinds_in
from app.llm.embedded.language.schema_vocabulary import is_kin, is_telling
from app.llm.embedded.language.synonyms import kind_words
from app.llm.embeddings.embedder import Embedder


def coverage(
    embedder: Embedder, question: str, hops: Sequence[tuple[str, str]], concepts: Collection[str]
) -> dict[str, float]:
    """For each content word of `question` the likeness of the nearest wording of a step or a kind; 1 is the same.

    `hops`: the label of each step and the concept that it leads to. `concepts` are those of what the question names.
    """
    worded = [hop_words(*hop) for hop in hops]
    kinds = {kind for concept in concepts for kind in kinds_in(concept)}
    texts = sorted({text for hop in worded for text in (*hop.relation, *hop.reached, *hop.kinds)} | kinds)
    spans = list(_spans(words_in(question)))
    if not spans or not texts:
        return {}
    vectors = embedder.sentences([*texts, *(text for text, _ in spans)])
    near = (vectors[len(texts) :] @ vectors[: len(texts)].T).max(axis=1)
    done = frozenset[str]().union(*(hop.verbs for hop in worded))
    said = {singular(word) for text in texts for word in text.lower().split()}
    found: dict[str, float] = {}
    for (_text, words), likeness in zip(spans, near.tolist(), strict=True):
        for word in words:
            sure = (
                not kind_words(singular(word)).isdisjoint(said)
                or is_kin(word, said)
                or not done.isdisjoint(verbs_of(word))
            )
            found[word] = max(found.get(word, 0.0), 1.0 if sure else likeness)
    return found


def _spans(words: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Runs of up to three content words, and those words."""
    told = [is_telling(word) for word in words]
    for first in range(len(words)):
        for last in range(first + 1, min(first + MAX_SPAN_WORDS, len(words)) + 1):
            if not all(told[first:last]):
                break
            yield " ".join(words[first:last]), tuple(words[first:last])
