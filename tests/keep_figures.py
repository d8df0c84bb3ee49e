"""Keeps a table that a command of the evaluation printed, for docs/results.md:

`arog eval words --data FOLDER | python -m tests.keep_figures words "arog eval words"`, then
`python -m tests.write_docs`. Several names are several tables, one after the other:
`... | python -m tests.keep_figures natural natural_kinds "arog eval natural"`.
"""

from __future__ import annotations

import argparse
import datetime
import subprocess
import sys

from tests.support.pages.results_page import FIGURES, ROOT, Figures, read_figures, read_tables


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+", help="of the files in docs/results, one a table")
    parser.add_argument("command", help="as the page shows it")
    parser.add_argument("--key", type=int, default=1, help="by how many of its first cells a row is known")
    parser.add_argument("--table", type=int, default=0, help="which table of what was printed is the first, from 0")
    parser.add_argument("--commit", default=_commit(), help="the version that was measured")
    wanted = parser.parse_args()
    tables = read_tables(sys.stdin.read())[wanted.table :]
    today = datetime.datetime.now(datetime.UTC).date()
    for name, (head, rows) in zip(wanted.names, tables, strict=False):
        new = Figures(wanted.command, wanted.commit, today, wanted.key, head, rows, {})
        file = FIGURES / f"{name}.toml"
        file.write_text((new.after(read_figures(file)) if file.exists() else new).toml(), "utf-8")
    if missing := wanted.names[len(tables) :]:
        parser.error(f"no table was printed for {', '.join(missing)}")


def _commit() -> str:
    return subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, text=True).strip()


if __name__ == "__main__":
    main()
