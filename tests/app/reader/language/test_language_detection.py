"""Which language a question is in: told where it is plain, and never of short English questions full of names."""

from __future__ import annotations

import pytest

from app.reader.language.language_detection import foreign_language, remark_on


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wo wohnt Eq7f2k?", "German"),
        ("Où habite Eq7f2k ?", "French"),
        ("¿Quién es el médico de Eq7f2k?", "Spanish"),
        ("Chi è il medico di Eq7f2k?", "Italian"),
        ("Quem é o médico de Eq7f2k?", "Portuguese"),
        ("Gdzie mieszka Eq7f2k?", "Polish"),
        ("Eq7f2k住在哪里？", "Chinese"),
        ("Eq7f2kはどこに住んでいますか", "Japanese"),
        ("Eq7f2k는 어디에 살아요?", "Korean"),
        ("Πού μένει ο Eq7f2k;", "Greek"),
        ("Eq7f2k อาศัยอยู่ที่ไหน", "Thai"),
        ("Где живёт Eq7f2k?", "a language of Cyrillic letters"),
        ("أين يعيش Eq7f2k؟", "a language of Arabic letters"),
        ("Eq7f2k कहाँ रहता है?", "a language of Devanagari letters"),
    ],
)
def test_a_foreign_question_is_told(question: str, language: str) -> None:
    assert foreign_language(question) == language
    assert f"seems to be in {language};" in str(remark_on(question))


@pytest.mark.parametrize(
    "question",
    [
        "Where does Eq7f2k live?", "Eq7f2k?", "and Eq7f2k?", "Is it so?", "", "?", "Eq7f2k Sk3mmd",
        "population of Eq7f2k",
        # Names that the graph does not hold, in small letters.
        "los angeles population", "who is the author of les miserables", "who is 張偉", "where does владимир live",
        "what did hans and der kaiser write", "who plays in la dolce vita and amarcord",
    ],
)  # fmt: skip
def test_english_is_never_told(question: str) -> None:
    assert foreign_language(question) is None
    assert remark_on(question) is None
