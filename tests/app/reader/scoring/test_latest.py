"""Results of the last few questions are kept, and no more of them."""

from __future__ import annotations

from collections.abc import Callable

from app.reader.scoring.latest import Latest


def counted(calls: list[str], result: str | None) -> Callable[[], str | None]:
    def work_out() -> str | None:
        calls.append("worked out")
        return result

    return work_out


def test_a_result_is_worked_out_once_even_if_it_is_none() -> None:
    latest, calls = Latest(), list[str]()
    assert [latest.of("key", counted(calls, None)) for _ in range(3)] == [None, None, None]
    assert len(calls) == 1


def test_the_oldest_result_goes_first() -> None:
    latest, calls = Latest(size=2), list[str]()
    for key in ("a", "b", "c", "a"):
        assert latest.of(key, counted(calls, key)) == key
    assert len(calls) == 4
