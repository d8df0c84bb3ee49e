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
    invites,
    lengths,
    read_turn_model,
    reply_to,
    sorted_thing,
    talk_of,
    thing_to_sort,
    was_offered,
    word_groups,
)
from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.model_files import BOXED_MODEL, weights_digest_of
from app.privacy.safe_text import SafeDialogue, SafeText, SafeTurn
from evaluation.dialogue.labelled import TRAINING, read_labelled, train_turns
from kg_store.text.english import names_one_of

OF_GRAPH = ("city", "clinic", "doctor", "ward")


@pytest.mark.parametrize(
    "turn",
    [
        *("hello", "Good morning!", "ok thx", "bye", "What can I ask?", "Who are you?", "how are you?"),
        *(
            "hey, thanks for your help earlier",
            "good morning! can you help me with our sales stuff?",
            "ok great, thanks!",
        ),
        *("who are you and what can you do?", "hi there, I'm new here", "I've got a few questions"),
        *("tell me a joke", "You're really helpful, thank you", "I don't understand, what should I type?"),
    ],
)
def test_a_turn_that_asks_nothing_is_replied_to(turn: str) -> None:
    assert talk_of(turn)


@pytest.mark.parametrize(
    "turn",
    [
        *("Who has gout?", "What do you know about Alder Clinic?", "good doctors in Arnsbridge"),
        *("Thanks for that. Who has gout?", "hello, is there a doctor?", "can you help me find the oldest doctor?"),
        *("thanks, and the others?", "help me with patients of Alder Clinic", "who are you and who has gout?"),
    ],
)
def test_a_question_is_no_small_talk(turn: str) -> None:
    assert talk_of(turn) is None


@pytest.mark.parametrize(
    ("turn", "talk"),
    [
        ("heya", "hello"), ("thanks, you really helped me", "thanks"), ("wow, good job", "thanks"),
        ("have a nice evening", "bye"),
        ("are you chatgpt or a human", "chat"), ("what sort of stuff do you know", "help"),
        ("who is the oldest", None), ("and the others", None), ("which ones are red", None),
    ],
)  # fmt: skip
def test_small_talk_is_told_by_likeness_too(embedder: Embedder, turn: str, talk: str | None) -> None:
    assert talk_of(turn, embedder.similarity) == talk


def test_the_invitation_names_kinds_of_the_graph() -> None:
    assert "cities, clinics and doctors" in reply_to("help", OF_GRAPH)


@pytest.mark.parametrize(
    ("turn", "talk"),
    [("hey, thanks for your help", "hello"), ("thanks, bye", "bye"), ("hello! what can you do?", "help")],
)
def test_of_several_the_one_that_leads_on_is_replied_to(turn: str, talk: str) -> None:
    assert talk_of(turn) == talk


@pytest.mark.parametrize(("turn", "expected"), [("hello", True), ("help", True), ("lol", True), ("thanks", False)])
def test_what_can_be_asked_is_told_to_whoever_does_not_know(turn: str, expected: bool) -> None:
    assert invites(talk_of(turn)) is expected


@pytest.mark.parametrize(
    "turn",
    [
        *("tell me about Eq7f2k", "Eq7f2k?", "What do you know about Eq7f2k?", "who is Eq7f2k"),
        *("overview of Eq7f2k", "could you give me a quick overview of Eq7f2k?"),
    ],
)
def test_one_thing_is_described(turn: str) -> None:
    assert described_thing(turn) == "Eq7f2k"


@pytest.mark.parametrize("turn", ["who is the doctor of Eq7f2k", "Eq7f2k and Ez9y8x", "tell me about doctors"])
def test_a_question_about_it_is_no_description(turn: str) -> None:
    assert described_thing(turn) == ""


@pytest.mark.parametrize("turn", ["What kind of thing is Eq7f2k?", "what sort of thing is the Eq7f2k"])
def test_the_kind_of_a_thing_is_asked_for(turn: str) -> None:
    assert (sorted_thing(turn), described_thing(turn)) == ("Eq7f2k", "")


@pytest.mark.parametrize(
    "turn", ["What is Eq7f2k?", "what kind of films does Eq7f2k make", "What kind of thing is that?"]
)
def test_other_questions_ask_for_no_kind(turn: str) -> None:
    assert sorted_thing(turn) == ""


OF_TOWN = ("building", "district", "veterinary practice", "pet insurer")


@pytest.mark.parametrize(
    "turn",
    [
        "Eq7f2k, is it a house or a district?",
        "Is Eq7f2k a building or a district?",
        "what is Eq7f2k? a practice or an insurer",
    ],
)
def test_which_of_two_kinds_of_the_graph_a_thing_is(turn: str) -> None:
    assert thing_to_sort(turn, lambda noun: names_one_of(noun, OF_TOWN)) == "Eq7f2k"


@pytest.mark.parametrize(
    "turn",
    [
        "Is Eq7f2k a cat or a dog?",
        "Is Eq7f2k a building or a man?",
        "Is Eq7f2k in a building or a district?",
        "Eq7f2k, has it a building or a district?",
    ],
)
def test_values_and_other_things_are_no_kinds_to_choose_from(turn: str) -> None:
    assert thing_to_sort(turn, lambda noun: names_one_of(noun, OF_TOWN)) == ""


OFFERED = ("Which doctors treat Eq7f2k?", "Which patients does Eq7f2k treat?")


def dialogue_of(*turns: str) -> SafeDialogue:
    roles = ("user", "assistant")
    return SafeDialogue(tuple(SafeTurn(roles[at % 2], SafeText(text)) for at, text in enumerate(turns)), ())  # type: ignore[arg-type]


def test_the_reply_reads_as_a_question_back() -> None:
    assert did_you_mean(OFFERED) == f"Did you mean: {OFFERED[0]} Or: {OFFERED[1]}"
    assert did_you_mean(OFFERED[:1]) == f"Did you mean: {OFFERED[0]}"


@pytest.mark.parametrize("text", [*OFFERED, "which doctors  treat Eq7f2k?"])
def test_each_question_of_it_was_offered(text: str) -> None:
    assert was_offered(dialogue_of("Who treats?", did_you_mean(OFFERED), text))


@pytest.mark.parametrize(
    "turns",
    [
        (OFFERED[0],),
        ("Who treats?", did_you_mean(OFFERED), "Which doctors treat Ezzzz9?"),
        ("Who treats?", did_you_mean(OFFERED), "treat Eq7f2k?"),
        ("Who treats?", f"They are {OFFERED[0]}", OFFERED[0]),
        ("Who treats?", did_you_mean(OFFERED), "Who?", "Nobody.", OFFERED[0]),
    ],
)
def test_nothing_else_was(turns: tuple[str, ...]) -> None:
    assert not was_offered(dialogue_of(*turns))


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


def test_another_sentence_model_leaves_the_words() -> None:
    model = read_turn_model(model_digest="another")
    assert model.vector is None
    assert set(TurnClassifier(model).chances("Which doctor treats X?")) == set(KINDS)


def test_words_pairs_and_lengths() -> None:
    assert word_groups("Who is X?") >= {"who", "X", "?", "< who", "is X", "? >"}
    assert lengths("one two")[1:] == [0.1, 1.0, 0.0, 0.0]


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
