"""Questions as they are typed by somebody who knows the graph's names: linking is given, all behind it is not.

A published score "with topic entities given" leaves linking out. Here the real linker still runs, over a question in
which the mention of each gold topic is replaced by its name in the graph, in quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from evaluation.datasets.questions import Question

# "jamaican" is near "Jamaica" (0.93); "us" is not near "United States of America".
MIN_LIKENESS = 0.7
# "kennedy" stands for "John F. Kennedy", and "king" for no king; the more words, the likelier.
MIN_LETTERS = 5
_QUOTED_OR_WORD = re.compile(r'"[^"]*"|[^\W_]+')


def with_topics_given(question: Question) -> Question:
    """The question with each gold topic's name in quotes, the longest topic first: see `name_topic`.

    Raises ValueError for a dialogue: what its earlier turns name can't be told from its topics.
    """
    if question.question is None:
        raise ValueError("topics can be given in single questions only")
    text = question.question
    for topic in sorted(question.topic_entities, key=lambda name: (-len(name), name)):
        text = name_topic(text, topic)
    return question.model_copy(update={"question": text})


def name_topic(text: str, topic: str) -> str:
    """`text` with the run of words that is most like `topic` replaced by it, in quotes; at the end if none is like it.

    Likeness is difflib's ratio, without case; words that are all in the topic are like it too. Of equally like runs
    the first is taken, and nothing in quotes is touched.
    """
    best = max(_runs(text, topic), key=lambda run: (_likeness(text[run[0] : run[1]], topic), -run[0]), default=None)
    if best is None or _likeness(text[best[0] : best[1]], topic) < MIN_LIKENESS:
        # "Utah State Capitol" names Utah already.
        return text if topic.casefold() in text.casefold() else f'{text.rstrip(" ?.")}, "{topic}"'
    return f'{text[: best[0]]}"{topic}"{text[best[1] :]}'


def _runs(text: str, topic: str) -> Iterator[tuple[int, int]]:
    """Spans of one to two words more than the topic has, none of them over anything in quotes."""
    words = list(_QUOTED_OR_WORD.finditer(text))
    longest = len(_QUOTED_OR_WORD.findall(topic)) + 2
    for first, word in enumerate(words):
        for last in words[first : first + longest]:
            if last[0].startswith('"'):
                break
            yield word.start(), last.end()


def _likeness(words: str, topic: str) -> float:
    said, name = words.casefold(), topic.casefold().replace('"', "")
    whole = SequenceMatcher(None, said, name).ratio()
    parts = _QUOTED_OR_WORD.findall(said)
    if set(parts) <= set(_QUOTED_OR_WORD.findall(name)) and max(map(len, parts)) >= MIN_LETTERS:
        return max(whole, MIN_LIKENESS + 0.01 * len(parts))
    return whole
