"""Questions that several constraints make, over three public graphs; the graphs are read from the folder of data.

May import the datasets of the evaluation.
"""

from pathlib import Path
from typing import Final

from evaluation.datasets.questions import Question, read_questions

SETS: Final = Path(__file__).parent / "sets"
GRAPHS: Final = ("metaqa", "opendialkg", "webqsp")


def compound_questions(graph: str) -> list[Question]:
    """Both halves of one graph's questions. Nobody looks at those whose `half` is unseen. Raises QuestionsError."""
    return [*read_questions(SETS / f"{graph}-seen.jsonl"), *read_questions(SETS / f"{graph}-shut.jsonl.gz")]
