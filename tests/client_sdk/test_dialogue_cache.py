"""Whole histories are told apart by their turns, and the dialogues they belong to are found again."""

from __future__ import annotations

from client_sdk.dialogue import DialogueCache, Turn


def turns(*texts: str) -> list[Turn]:
    return [Turn("assistant" if at % 2 else "user", text) for at, text in enumerate(texts)]


def test_the_longest_beginning_that_is_known_is_found() -> None:
    histories: DialogueCache[str] = DialogueCache()
    histories.keep("g", turns("a", "b"), "after b", "c1")
    histories.keep("g", turns("a", "b", "c", "d"), "after d", "c1")
    found = histories.find("g", turns("a", "b", "c", "d", "e"))
    assert found is not None
    assert (found.chat, found.turns) == ("after d", 4)
    other = histories.find("g", turns("a", "b", "c", "another d", "e"))
    assert other is not None
    assert (other.chat, other.turns) == ("after b", 2)


def test_another_turn_role_or_topic_is_another_history() -> None:
    histories: DialogueCache[str] = DialogueCache()
    histories.keep("g", turns("a", "b"), "after b", "c1")
    for topic, said in (
        ("h", turns("a", "b")), ("g", turns("a")), ("g", turns("ab", "")), ("g", turns("", "ab")),
        ("g", [Turn("user", "a"), Turn("user", "b")]), ("g", []),
    ):  # fmt: skip
        assert histories.find(topic, said) is None


def test_space_at_the_ends_of_a_turn_does_not_matter() -> None:
    histories: DialogueCache[str] = DialogueCache()
    histories.keep("g", turns("a", "b\nc"), "after", "c1")
    assert histories.find("g", turns(" a\n", "b\r\nc ")) is not None


def test_those_that_were_used_last_are_kept() -> None:
    histories: DialogueCache[str] = DialogueCache(most=2)
    histories.keep("g", turns("a"), "a", "c1")
    histories.keep("g", turns("b"), "b", "c2")
    histories.find("g", turns("a"))
    histories.keep("g", turns("c"), "c", "c3")
    assert histories.find("g", turns("a")) is not None
    assert histories.find("g", turns("b")) is None


def test_a_conversation_is_forgotten_with_all_its_turns() -> None:
    histories: DialogueCache[str] = DialogueCache()
    histories.keep("g", turns("a"), "a", "c1")
    histories.keep("g", turns("a", "b"), "b", "c1")
    histories.keep("g", turns("c"), "c", "c2")
    histories.forget("c1")
    assert histories.find("g", turns("a", "b")) is None
    assert histories.find("g", turns("c")) is not None
