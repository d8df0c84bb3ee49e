"""Wider kinds: concepts with few members are shown joined to others, all members of one cell by the same words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from kg_store.terms import NodeKind, Schema, cached_by_version


@cached_by_version
def wider_kinds(schema: Schema, k: int) -> Mapping[str, str]:
    """The words that a thing of each small concept is shown by: several concepts, joined by commas, of at least `k`
    entities together. A concept that nobody shares a cell with is left out.

    Cells are the same for all of their members, or the words of a cell would tell the concept. Small concepts share
    cells with small ones, so that the ways of none are lost among those of a large one; where all small ones together
    are fewer than `k`, the least of the large ones joins them.
    """
    sizes: Counter[str] = Counter()
    for signature in schema.signatures:
        if signature.kind is NodeKind.ENTITY:
            sizes[str(schema.concepts[signature.id])] += signature.size
    ranked = sorted(sizes, key=lambda concept: (sizes[concept], concept))
    small = [concept for concept in ranked if sizes[concept] < k]
    cells: list[list[str]] = [[]]
    for concept in small:
        cells[-1].append(concept)
        if sum(sizes[each] for each in cells[-1]) >= k:
            cells.append([])
    # What is left over is no cell of its own.
    left = cells.pop()
    if left and not cells:
        cells = [ranked[: len(small) + 1]]
    elif left:
        cells[-1] += left
    shown = {concept: ", ".join(sorted(cell)) for cell in cells for concept in cell}
    return {concept: words for concept, words in shown.items() if words != concept}
