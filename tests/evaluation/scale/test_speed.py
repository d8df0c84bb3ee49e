"""A figure that got worse than it may is said and ends the run; the made-up graph is the same each time."""

from __future__ import annotations

from pathlib import Path

from evaluation.scale.made_up import TREATED, write_graph
from evaluation.scale.speed_run import SpeedFigure, SpeedReport, markdown


def report(times: float, kept: float | None) -> SpeedReport:
    return SpeedReport([SpeedFigure("load", "a peer", times, kept)], most=2.0)


def test_a_figure_is_held_to_that_of_the_last_release() -> None:
    assert report(4.0, 2.0).passed
    assert not report(4.1, 2.0).passed
    assert "| load | a peer | 4.1 | 2.0 | SLOWER |" in markdown(report(4.1, 2.0))


def test_a_figure_without_a_kept_one_is_shown_and_held_to_nothing() -> None:
    assert report(100.0, None).passed
    assert "| load | a peer | 100.0 |  |  |" in markdown(report(100.0, None))


def test_the_made_up_graph_is_the_same_each_time(tmp_path: Path) -> None:
    first, second, typed = (tmp_path / name for name in ("first.nt", "second.nt", "typed.nt"))
    names = write_graph(first, 2_000, classes=False)
    assert write_graph(second, 2_000, classes=False) == names
    assert first.read_bytes() == second.read_bytes()
    assert write_graph(typed, 2_000, classes=True)
    lines = first.read_text("utf-8").splitlines()
    assert len(lines) == 2_000
    assert len({line.split()[0] for line in lines if TREATED in line}) == len(names)
    assert "rdf-syntax-ns#type" in typed.read_text("utf-8")
