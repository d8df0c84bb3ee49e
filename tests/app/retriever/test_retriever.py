"""The retriever: no name and no order changes its scores, its file is checked."""

from __future__ import annotations

from dataclasses import asdict, make_dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.model_files import BOXED_MODEL, sha256_of
from app.llm.embeddings.trained_weights import NetworkWeightsError, TrainedNetwork, write_network
from app.retriever.features import EntityProfile, Fact, Mention, RetrievalQuery, Utterance
from app.retriever.retriever import Retriever, read_weights, write_weights
from tests.support.retrievers import untrained

HISTORY = (
    ("user", "Who wrote {0}?"),
    ("assistant", "{1} wrote {0}."),
    ("user", "And what else is by {1}, maybe {2}?"),
)
FILM, PERSON = EntityProfile(("genre", "written by"), ()), EntityProfile((), ("written by",))
ENTITIES = (FILM, PERSON, FILM, EntityProfile((), ("genre",)), FILM)
FACTS = (
    Fact(0, "written by", 1),
    Fact(2, "written by", 1),
    Fact(4, "written by", 1),
    Fact(0, "genre", 3),
    Fact(2, "genre", 3),
)


def query(*names: str, common: int | None = None) -> RetrievalQuery:
    """The dialogue with these names for entities 0, 1 and 2; `common`: the one whose name is a common word."""
    history = []
    for speaker, form in HISTORY:
        text, mentions, rest = "", [], form
        while "{" in rest:
            before, _, rest = rest.partition("{")
            entity = int(rest[0])
            text += before
            mentions.append(Mention(len(text), len(text) + len(names[entity]), (entity,), entity != common))
            text += names[entity]
            rest = rest[2:]
        history.append(Utterance(speaker, text + rest, tuple(mentions)))
    return RetrievalQuery(tuple(history), ENTITIES, FACTS)


def test_renaming_everything_leaves_the_scores_as_they_were(embedder: Embedder) -> None:
    retriever = Retriever(untrained(), embedder)
    scores = retriever.scores(query("Wexdol", "Gorfen Quin", "Lum"))
    for names in (
        ("Lum", "Wexdol", "Gorfen Quin"),
        ("Eq7f2k", "Ex81zp", "Ea91kk"),
        ("The Love of Two", "Dr. No", "¿?"),
    ):
        assert np.array_equal(retriever.scores(query(*names)), scores)
    assert len(set(scores.tolist())) > 1


def test_a_common_word_is_read_and_so_are_names_where_they_may_be(embedder: Embedder) -> None:
    hidden = Retriever(untrained(), embedder)
    assert not np.allclose(
        hidden.scores(query("A", "B", "love", common=2)), hidden.scores(query("A", "B", "music", common=2))
    )
    shown = Retriever(untrained(), embedder, placeholder=None)
    assert not np.allclose(shown.scores(query("A", "B", "C")), shown.scores(query("A", "B", "Chess")))


def test_neither_the_order_of_facts_nor_the_numbers_of_entities_matter(embedder: Embedder) -> None:
    order = [3, 0, 4, 2, 1]
    asked = query("Wexdol", "Gorfen", "Lum")
    number = [2, 4, 0, 1, 3]
    renumbered = RetrievalQuery(
        tuple(
            replace(turn, mentions=tuple(replace(m, entities=(number[m.entities[0]],)) for m in turn.mentions))
            for turn in asked.history
        ),
        [ENTITIES[number.index(at)] for at in range(len(ENTITIES))],
        [Fact(number[FACTS[at].head], FACTS[at].relation, number[FACTS[at].tail]) for at in order],
    )
    scores, other = (Retriever(untrained(), embedder).scores(each) for each in (asked, renumbered))
    assert np.allclose(other, scores[order], atol=1e-5)


def test_a_mention_beyond_what_the_model_reads_is_no_error(embedder: Embedder) -> None:
    asked = query("A", "B", "C")
    start = len("well " * 600)
    long = Utterance("user", "well " * 600 + "A", (Mention(start, start + 1, (0,)),))
    assert np.isfinite(Retriever(untrained(), embedder).scores(replace(asked, history=(long,)))).all()


def test_a_file_gives_the_same_network_and_is_small(tmp_path: Path, embedder: Embedder) -> None:
    file = tmp_path / "retriever.safetensors"
    write_weights(untrained(), file, BOXED_MODEL)
    first, size = sha256_of(file), file.stat().st_size
    read = read_weights(file, BOXED_MODEL)
    asked = query("A", "B", "C")
    assert np.array_equal(Retriever(read, embedder).scores(asked), Retriever(untrained(), embedder).scores(asked))
    write_weights(read, file, BOXED_MODEL)
    assert sha256_of(file) == first
    assert size < 5_000_000


@pytest.mark.model
@pytest.mark.parametrize(
    ("parts", "is_read"), [({}, True), ({"edges": False}, False), ({"trained_relations": 2}, False)]
)
def test_a_file_that_names_the_parts_of_a_whole_network_is_read(
    tmp_path: Path, parts: dict[str, int], is_read: bool
) -> None:
    written, file = untrained(), tmp_path / "retriever.safetensors"
    told = {"nodes": True, "edges": True, "messages": True, "trained_relations": 0, **parts}
    config = make_dataclass("Config", [*asdict(written.config), *told])(**asdict(written.config), **told)
    write_network("retriever", TrainedNetwork(config, written.arrays), file, BOXED_MODEL)
    if is_read:
        assert read_weights(file, BOXED_MODEL).config == written.config
    else:
        with pytest.raises(NetworkWeightsError, match="not whole"):
            read_weights(file, BOXED_MODEL)
