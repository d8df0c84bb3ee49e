"""Questions after the reason of an answer: recognised, and answered from the facts that the conversation kept."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from client_sdk.protocol import Fact

NO_REASON: Final = "There is no answer just before this to give the reason of."

_WHY = re.compile(
    r"(?:(?:and|but|so|ok|okay|hm+)[ ,]+)*(?:"
    r"why|why so|why(?: is|'s) (?:that|this|it)(?: so)?|how so|how come|"
    r"how (?:do|did|can|could) you (?:know|tell|find|get|work|figure)(?: (?:that|this|it))?(?: out)?|"
    r"what makes you (?:say|think) (?:that|so|this)|(?:please )?explain(?: (?:that|this|it|yourself))?(?: please)?|"
    r"where (?:do|did) you (?:get|have|find) (?:that|this|it)(?: from)?|what is (?:that|this|it) based on|"
    r"(?:show|tell|give) me (?:the|your) (?:evidence|path|reasons?|facts)"
    r")[ ?.!]*",
    re.IGNORECASE,
)


def asks_why(question: str) -> bool:
    """True where the whole of `question` asks how the last answer was found."""
    return _WHY.fullmatch(question.strip().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")) is not None


def reason_of(facts: Sequence[Fact], expressions: Sequence[str]) -> str:
    """The path from what was named to the answer, in pseudonyms; NO_REASON where nothing was kept."""
    if not facts and not expressions:
        return NO_REASON
    sentences = [f"{_chain(chain)}." for chain in chains(facts)]
    worked_out = [each for each in expressions if "(" in each]
    sentences += [f"From that the answer was worked out: {each}." for each in worked_out]
    return " ".join(sentences) or f"{', '.join(expressions)} was named in the question."


def chains(facts: Sequence[Fact]) -> list[list[Fact]]:
    """Facts in runs in which each begins where the one before ends."""
    runs: list[list[Fact]] = []
    for fact in facts:
        run = next((each for each in runs if each[-1].tail == fact.head), None)
        if run is None:
            runs.append([fact])
        else:
            run.append(fact)
    return runs


def _chain(run: Sequence[Fact]) -> str:
    steps = [f"by {_walked(fact.path)} to {fact.tail} ({fact.tail_concept})" for fact in run]
    return f"From {run[0].head} ({run[0].head_concept}) " + ", and from there ".join(steps)


def _walked(path: Sequence[str]) -> str:
    """`"treated by", backwards`: the relation's own words in quotes."""
    return " and then ".join(
        f'"{step.replace("^", "").replace("|", " / ")}"' + (" backwards" if step.startswith("^") else "")
        for step in path
    )
