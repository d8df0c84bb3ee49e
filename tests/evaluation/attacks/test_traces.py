"""All that is left is looked through: a trail that holds a canary anywhere is a missed bound."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluation.attacks.traces import KILLS, LeftTraces, lines, plant
from evaluation.checks.canaries import ALL, canaries_in

NO_CORES = ["Max core file size        0                    0                    bytes"] * len(KILLS)


def trail(**found: bytes) -> LeftTraces:
    clean = LeftTraces(opened=[b"Vexquilda Thrombury"], core_limits=list(NO_CORES))
    for where, data in found.items():
        clean.keep(where, data)
    return clean


def missed(told: LeftTraces, planted: tuple[bool, ...] = (True,)) -> list[str]:
    return [line.name for line in lines(told, planted) if not line.passed]


def test_a_clean_trail_keeps_every_bound() -> None:
    assert missed(trail(disk=b"nothing", replies=b"Eq7f2k")) == []


@pytest.mark.parametrize("data", [b"...Thrombury...", b"VGhyb21idXJ5IHdhcyBoZXJl", "Thrombury".encode("utf-16")])
def test_a_canary_in_any_form_is_told_by_its_place(data: bytes) -> None:
    assert missed(trail(disk=b"nothing", replies=data)) == ["canaries in replies"]


def test_a_canary_in_the_name_of_a_file_is_found_and_so_is_a_core_file() -> None:
    told = trail()
    told.keep_files("disk", {"tmp/Thrombury.txt": b"", "work/core.17": b"\x7fELF"})
    assert missed(told) == ["canaries in disk", "core files allowed or left"]


def test_a_process_that_may_be_dumped_is_told() -> None:
    told = trail(disk=b"nothing")
    told.core_limits[0] = "Max core file size        unlimited            unlimited            bytes"
    assert missed(told) == ["core files allowed or left"]


def test_uploads_of_a_killed_load_are_told_apart_and_only_those() -> None:
    told = trail()
    told.keep_files("disk, killed by SIGKILL", {"data/incoming/x/0.ttl": b"Thrombury"})
    assert missed(told) == []
    told.keep_files("disk, started again", {"data/incoming/x/0.ttl": b"Thrombury"})
    assert missed(told) == ["canaries in disk, started again"]


def test_a_walk_that_met_no_name_and_a_scan_that_sees_nothing_prove_nothing() -> None:
    told = trail(disk=b"nothing")
    told.opened = [b""]
    assert missed(told, planted=(True,) * 7 + (False,)) == [
        "names in what the caller's capsules open to",
        "files of canaries in every form, planted and found",
    ]


def test_planted_files_hold_every_canary(tmp_path: Path) -> None:
    for place in ("data", "home", "tmp", "work"):
        (tmp_path / place).mkdir()
    planted = plant(tmp_path)
    assert len(planted) == len(set(planted)) >= 8
    assert all(set(canaries_in((tmp_path / path).read_bytes())) == set(ALL) for path in planted)
