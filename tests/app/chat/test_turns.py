"""The kind of a turn: small talk, things to be described, questions that were offered; the rest by a model."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from app.chat.turns import (
    KINDS,
    WEIGHTS,
    TurnClassifier,
    described_thing,
    did_you_mean,
    read_turn_model,
    reply_to,
    sorted_thing,
    talk_of,
    thing_to_sort,
    was_offered,
)
from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.model_files import BOXED_MODEL, weights_digest_of
from app.privacy.safe_text import SafeDialogue, SafeText, SafeTurn
from evaluation.dialogue.labelled import TRAINING, read_labelled, train_turns
from kg_store.text.english import names_one_of

OF_GRAPH = ("city", "clinic", "doctor", "ward")


@pytest.mark.parametrize(
    ("turn", "talk"),
    [
        ("hello", "hello"), ("Good morning!", "hello"), ("hey, thanks for your help earlier", "hello"),
        ("hi there, I'm new here", "help"), ("heya", "hello"),
        ("ok thx", "thanks"), ("ok great, thanks!", "thanks"), ("You're really helpful, thank you", "thanks"),
        ("thanks, you really helped me", "thanks"), ("wow, good job", "thanks"),
        ("bye", "bye"), ("thanks, bye", "bye"), ("have a nice evening", "bye"),
        ("What can I ask?", "help"), ("hello! what can you do?", "help"), ("I've got a few questions", "help"),
        ("good morning! can you help me with our sales stuff?", "help"), ("who are you and what can you do?", "help"),
        ("I don't understand, what should I type?", "help"), ("what sort of stuff do you know", "help"),
        ("Who are you?", "help"), ("how are you?", "chat"), ("tell me a joke", "chat"),
        ("are you chatgpt or a human", "chat"),
        # Questions.
        ("Who has gout?", None), ("What do you know about Alder Clinic?", None), ("good doctors in Arnsbridge", None),
        ("Thanks for that. Who has gout?", None), ("hello, is there a doctor?", None),
        ("can you help me find the oldest doctor?", None), ("thanks, and the others?", None),
        ("help me with patients of Alder Clinic", None), ("who are you and who has gout?", None),
        ("who is the oldest", None), ("and the others", None), ("which ones are red", None),
    ],
)  # fmt: skip
def test_small_talk_is_told_from_questions(embedder: Embedder, turn: str, talk: str | None) -> None:
    assert talk_of(turn, embedder.similarity) == talk
    assert talk is not None or talk_of(turn) is None


def test_the_invitation_names_kinds_of_the_graph() -> None:
    assert "cities, clinics and doctors" in reply_to("help", OF_GRAPH)


OF_TOWN = ("building", "district", "veterinary practice", "pet insurer")


@pytest.mark.parametrize(
    ("turn", "described", "of_kind", "of_two"),
    [
        ("tell me about Eq7f2k", "Eq7f2k", "", ""), ("Eq7f2k?", "Eq7f2k", "", ""),
        ("What do you know about Eq7f2k?", "Eq7f2k", "", ""), ("who is Eq7f2k", "Eq7f2k", "", ""),
        ("overview of Eq7f2k", "Eq7f2k", "", ""),
        ("could you give me a quick overview of Eq7f2k?", "Eq7f2k", "", ""),
        ("who is the doctor of Eq7f2k", "", "", ""), ("Eq7f2k and Ez9y8x", "", "", ""),
        ("tell me about doctors", "", "", ""),
        ("What kind of thing is Eq7f2k?", "", "Eq7f2k", ""), ("what sort of thing is the Eq7f2k", "", "Eq7f2k", ""),
        ("what kind of films does Eq7f2k make", "", "", ""), ("What kind of thing is that?", "", "", ""),
        ("Eq7f2k, is it a house or a district?", "", "", "Eq7f2k"),
        ("Is Eq7f2k a building or a district?", "", "", "Eq7f2k"),
        ("what is Eq7f2k? a practice or an insurer", "", "", "Eq7f2k"),
        # Values and other things are no kinds to choose from.
        ("Is Eq7f2k a cat or a dog?", "", "", ""), ("Is Eq7f2k a building or a man?", "", "", ""),
        ("Is Eq7f2k in a building or a district?", "", "", ""),
        ("Eq7f2k, has it a building or a district?", "", "", ""),
    ],
)  # fmt: skip
def test_a_turn_about_one_thing_describes_or_sorts_it(turn: str, described: str, of_kind: str, of_two: str) -> None:
    told = thing_to_sort(turn, lambda noun: names_one_of(noun, OF_TOWN))
    assert (described_thing(turn), sorted_thing(turn), told) == (described, of_kind, of_two)


OFFERED = ("Which doctors treat Eq7f2k?", "Which patients does Eq7f2k treat?")


def dialogue_of(*turns: str) -> SafeDialogue:
    roles = ("user", "assistant")
    return SafeDialogue(tuple(SafeTurn(roles[at % 2], SafeText(text)) for at, text in enumerate(turns)), ())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("turns", "offered"),
    [
        *((("Who treats?", did_you_mean(OFFERED), text), True) for text in (*OFFERED, "which doctors  treat Eq7f2k?")),
        ((OFFERED[0],), False),
        (("Who treats?", did_you_mean(OFFERED), "Which doctors treat Ezzzz9?"), False),
        (("Who treats?", did_you_mean(OFFERED), "treat Eq7f2k?"), False),
        (("Who treats?", f"They are {OFFERED[0]}", OFFERED[0]), False),
        (("Who treats?", did_you_mean(OFFERED), "Who?", "Nobody.", OFFERED[0]), False),
    ],
)
def test_a_question_that_was_offered_is_known(turns: tuple[str, ...], offered: bool) -> None:
    assert was_offered(dialogue_of(*turns)) is offered


def classifier_of(weights: Path, embedder: Embedder) -> TurnClassifier:
    model = read_turn_model(weights, weights_digest_of(BOXED_MODEL))
    return TurnClassifier(model, lambda text: embedder.sentences([text])[0])


@pytest.fixture(scope="module")
def classifier(embedder: Embedder) -> TurnClassifier:
    return classifier_of(WEIGHTS, embedder)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Which doctor treats X?", "question"),
        ("tell me everything about X please", "tell"),
        ("I have always loved X, what a voice", "talk"),
        ("thank you, bye", "neither"),
    ],
)
def test_plain_turns_of_each_kind(classifier: TurnClassifier, text: str, kind: str) -> None:
    chances = classifier.chances(text)
    assert max(chances, key=lambda each: chances[each]) == kind
    assert sum(chances.values()) == pytest.approx(1)


def test_training_gives_the_same_file_twice_and_learns(embedder: Embedder, tmp_path: Path) -> None:
    every = read_labelled(TRAINING)
    turns = every[::20]
    weights = train_turns(turns, embedder, BOXED_MODEL)
    assert weights == train_turns(turns, embedder, BOXED_MODEL)
    file = tmp_path / "weights.npz"
    file.write_bytes(weights)
    trained = classifier_of(file, embedder)
    unseen = [turn for turn in every[10::20] if turn not in turns]
    read = [max(KINDS, key=trained.chances(turn.text).__getitem__) for turn in unseen]
    right = sum(kind == turn.kind for kind, turn in zip(read, unseen, strict=True)) / len(unseen)
    commonest = max(Counter(turn.kind for turn in unseen).values()) / len(unseen)
    assert right > 0.8 > 0.7 > commonest
    assert set(read) == set(KINDS)


@pytest.mark.parametrize(
    "line",
    ["no json", "[]", '{"text": "Who is X?"}', '{"kind": "question"}', '{"text": "Who is X?", "kind": "another"}'],
)
def test_a_line_that_is_no_labelled_turn_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "turns.jsonl"
    file.write_text(f'{{"text": "Who is X?", "kind": "question"}}\n{line}\n', "utf-8")
    with pytest.raises(ValueError, match="line 2"):
        read_labelled(file)
