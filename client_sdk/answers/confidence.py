"""The confidence of an answer in words, as notebooks, terminals and other programs show it."""

from __future__ import annotations

from typing import Final

MIN_SURE: Final = 0.7
"""Below it an answer comes with a caution."""


def is_unsure(confidence: float | None) -> bool:
    """True where the asker should be cautioned; an answer that nothing measures is not spoken of."""
    return confidence is not None and confidence < MIN_SURE


def confidence_words(confidence: float | None) -> str:
    """`confidence 0.93`, `not sure: confidence 0.55`; empty where nothing measures it."""
    if confidence is None:
        return ""
    return f"{'not sure: ' if is_unsure(confidence) else ''}confidence {confidence:.2f}"
