"""Words a set expression by the labels of its relations as they stand: `the town of the branch of Eq7f2k`.

It is stiff, and right for any label: used where no better wording is certain.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final

from kg_store.algebra.expressions import Call, Expression, Name
from kg_store.terms import is_mask_word
from kg_store.text.inflection import plural, with_article

_EXTREMES: Final = {"argmax": "highest", "argmin": "lowest"}
_TOTALS: Final = {"average": "average", "sum": "total", "min": "lowest", "max": "highest"}
_ORDERS: Final = {"<": "below", ">": "above", "<=": "of at most", ">=": "of at least", "=": "of"}
_DATES: Final = {"<": "before", ">": "after", "=": "on"}


class PlainWording:
    """Words expressions over one schema.

    `kinds`: the concept of each pseudonym for a whole kind. Of each label, `starts` and `ends` are the concepts that
    it leaves and leads to, and `values` is the type of values that it leads to. `plain`: see `QuestionWriter`.
    """

    def __init__(
        self,
        kinds: Mapping[str, str],
        starts: Mapping[str, Collection[str]],
        ends: Mapping[str, Collection[str]],
        values: Mapping[str, str],
        plain: Callable[[str], str],
    ) -> None:
        self._kinds, self._values, self._plain = kinds, values, plain
        self._starts, self._ends = starts, ends

    def question(self, asked: Expression) -> str:
        """Returns a question for `asked`; empty if a part of it has no words."""
        if isinstance(asked, Call) and asked.function == "count":
            things = self._said(asked.operands[0]).removeprefix("the ")
            return f"how many {things} are there" if things else ""
        said = self._said(asked)
        return f"what {'are' if _is_of_kind(asked) else 'is'} {said}" if said else ""

    def _said(self, asked: Expression, then: str = "") -> str:
        """Returns the words of a set; `then`: the label by which it is left, so that it holds what has that label."""
        if isinstance(asked, Name):
            kind = self._kinds.get(asked.pseudonym, "")
            return f"the {plural(kind)}" if kind else asked.pseudonym if asked.pseudonym[0] in "EV" else ""
        first = self._said(asked.operands[0], asked.words[0] if asked.words else then)
        return self._of_call(asked, first, then) if first else ""

    def _of_call(self, asked: Call, first: str, then: str) -> str:
        words = self._plain(asked.words[0]) if asked.words else ""
        match asked:
            case Call(function="reach", words=(label,)):
                return self._reached(first, label, then)
            case Call(function="having"):
                return f"{first} with {with_article(words)}" if _is_single(words) else ""
            case Call(function="filter", operands=(_, Name(value)), words=(label, operator, *_)):
                order = (_DATES if self._values.get(label) == "date" else _ORDERS).get(operator, "")
                return f"{first} with {with_article(words)} {order} {value}" if order and _is_single(words) else ""
            case Call(function="argmax" | "argmin" as function) if _is_single(words):
                return f"{first} with the {_EXTREMES[function]} {words}"
            case Call(function="average" | "sum" | "min" | "max" as function) if _is_single(words):
                return f"the {_TOTALS[function]} {words} of {first}"
            case _:
                return ""

    def _reached(self, start: str, label: str, then: str) -> str:
        kinds = {*self._ends.get(label, ())}
        kinds = kinds & {*self._starts.get(then, kinds)}
        for part in label.split("|"):
            words = self._plain(part.lstrip("^"))
            if is_mask_word(words) or words.endswith(" of"):
                return ""
            if not part.startswith("^"):
                start = f"the {words} of {start}"
            elif part != label or len(kinds) != 1:
                return ""  # No label says what stands between two parts, or what is meant of several kinds.
            else:
                start = f"the {plural(min(kinds))} whose {words} is {start}"
        return start


def _is_single(words: str) -> bool:
    return bool(words) and not {"|", "^"} & {*words} and not is_mask_word(words)


def _is_of_kind(asked: Expression) -> bool:
    """Returns True if `asked` is worded as things of a kind: `the tools whose ...`."""
    if isinstance(asked, Name):
        return asked.pseudonym[0] == "S"
    if asked.function == "reach":
        return asked.words[0].startswith("^")
    return asked.function in ("filter", "having") and _is_of_kind(asked.operands[0])
