"""What the work of an erasure reports when it is done."""

from __future__ import annotations

from app.traces_left import Sought, Traces
from kg_store.forgotten_rows import Erasure


def told_of(erasure: Erasure, met: int, requests: int, uploads: int) -> list[str]:
    return [
        f"{len(erasure.chosen)} things are forgotten, {len(erasure.mids)} with what was theirs alone; "
        f"{met} conversations and the texts of {requests} requests went with them",
        *([f"{uploads} files of an upload that had not ended were deleted"] if uploads else []),
    ]


def scanned(traces: Traces, sought: Sought, shared: int) -> list[str]:
    told = [
        f"looked for {len(sought.texts)} names and texts: in 0 of {traces.opened} sealed rows, opened, and in 0 of "
        f"{traces.files} files ({traces.bytes} bytes) of the data folder"
    ]
    if sought.passed_over:
        told.append(f"{sought.passed_over} of its names are everyday words, which stand everywhere: not looked for")
    if shared:
        told.append(f"{shared} of its names are others' too, and stay for them: not looked for")
    if traces.others:
        told.append(f"{traces.others} names or values of others hold one of its names, and stay as they are")
    if traces.elsewhere:
        told.append(f"{traces.elsewhere} rows of the tenant's other graphs hold one of its names")
    return told
