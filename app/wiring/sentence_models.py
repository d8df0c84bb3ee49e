"""The sentence model of the settings, with what was trained for it: an adapter and a retriever."""

from __future__ import annotations

from app.chat.question_run import ReadBack
from app.chat.turns import TurnClassifier, read_turn_model
from app.extractor.extractor import open_extractor
from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.encoders import TorchMissingError
from app.llm.embeddings.model_files import weights_digest_of
from app.llm.embeddings.trained_weights import NO_HEAD, AdapterError, NetworkWeightsError, RelationAdapter, read_head
from app.retriever.retriever import Retriever, read_weights
from app.settings import ConfigurationError, Settings


def embedder_of(settings: Settings) -> Embedder:
    """Returns the sentence model, loaded. Raises ConfigurationError if it cannot be loaded."""
    embedder = Embedder(settings.embedder, settings.cache_dir)
    try:
        embedder.load()
    except (OSError, ValueError):
        raise ConfigurationError(
            "the sentence model of AROG_EMBEDDER can't be loaded: name a folder that holds one, or leave it out"
        ) from None
    except TorchMissingError:
        raise ConfigurationError(
            "the sentence model can't be run without torch, which this light installation has not: see that the "
            "folder of AROG_CACHE_DIR can be written; for a model of AROG_EMBEDDER that is no BERT with the mean over "
            "its tokens install all with `make serve`"
        ) from None
    return embedder


def head_of(settings: Settings) -> RelationAdapter:
    """Returns the adapter. Raises ConfigurationError if the file does not belong to the sentence model."""
    if settings.reasoner_head is None:
        return NO_HEAD
    try:
        return read_head(settings.reasoner_head, settings.embedder)
    except AdapterError as problem:
        raise ConfigurationError(f"AROG_REASONER_HEAD: {problem}") from None


def retriever_of(settings: Settings, embedder: Embedder) -> Retriever | None:
    """Returns the retriever. Raises ConfigurationError if the file does not belong to the sentence model."""
    if settings.retriever is None:
        return None
    try:
        return Retriever(read_weights(settings.retriever, settings.embedder), embedder)
    except NetworkWeightsError as problem:
        raise ConfigurationError(f"AROG_RETRIEVER: {problem}") from None


def read_back_of(settings: Settings) -> ReadBack | None:
    """Returns what reads a model's sentences back. Raises ConfigurationError if the file does not belong to the
    sentence model.
    """
    if settings.extractor is None:
        return None
    try:
        extractor = open_extractor(settings.extractor, settings.embedder, settings.cache_dir)
        return lambda text, known, relation: extractor.answers(text, known, relation, False)
    except (NetworkWeightsError, OSError) as problem:
        told = problem if isinstance(problem, NetworkWeightsError) else "the file can't be read"
        raise ConfigurationError(f"AROG_EXTRACTOR: {told}") from None


def turn_classifier_of(settings: Settings, embedder: Embedder) -> TurnClassifier:
    """Returns the classifier; it uses vectors only if the sentence model is the one of its training."""
    model = read_turn_model(model_digest=weights_digest_of(settings.embedder))
    return TurnClassifier(model, lambda text: embedder.sentences([text])[0])
