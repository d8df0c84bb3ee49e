"""The privacy report as files that only their owner may read."""

from __future__ import annotations

import os
from pathlib import Path

from app.graphs.report_chart import svg
from app.graphs.report_markdown import markdown
from client_sdk.protocol import GraphReport

NO_PICTURE = 'no picture was drawn: that takes pip install ".[report]"'


def write_report(report: GraphReport, folder: Path) -> list[str]:
    """Writes `report.md`, `report.json` and `report.svg` with mode 600, because they list names; returns sentences
    about it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = {"report.md": markdown(report).encode(), "report.json": report.model_dump_json(indent=1).encode()}
    notes = []
    try:
        files["report.svg"] = svg(report)
    except ModuleNotFoundError:
        notes.append(NO_PICTURE)
    for name, content in files.items():
        write_private(folder / name, content)
    return [f"written to {folder}: {', '.join(files)}", *notes]


def write_private(path: Path, content: bytes) -> None:
    """Writes a file that only its owner may read, even if others could read it before."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(handle, "wb") as file:
        os.fchmod(handle, 0o600)  # It may have been there, open to others.
        file.write(content)
