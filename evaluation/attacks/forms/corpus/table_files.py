"""Twenty files that are tables, or might be: with headers and without, of two to four columns, in odd orders."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from evaluation.attacks.forms.corpus.people import given_names_of, surnames_of

ROWS = 60
_AILMENTS = """porphyria sarcoidosis narcolepsy brucellosis psoriasis_guttata leptospirosis achalasia cystinuria
amyloidosis vitiligo syringomyelia pemphigus""".split()
_TOWNS = "wennigsroda thripley castelfranchetto guzelkent dunmoregate oberlinxweiler halversgate".split()
_INSURERS = "tiefenbrunner_kasse ostrowicka_mutual villamediana_salud".split()


@dataclass(frozen=True, slots=True)
class TableFile:
    """One file, and what of it may not be shown; `policy` where its owner says that it is a table, with its first
    column as the key."""

    name: str
    content: str = field(repr=False)
    cells: frozenset[str] = field(repr=False)
    policy: str | None = None


def table_files() -> list[TableFile]:
    """Every way to write the columns in `_WAYS`; those with a header once more as their owner says that they are."""
    columns = _columns(Random(29))  # noqa: S311  # a sample, no secret  # nosec B311
    files = [_file(number, way, columns) for number, way in enumerate(_WAYS)]
    return [*files, *(declared(file) for file, way in zip(files, _WAYS, strict=True) if way.header and not way.before)]


@dataclass(frozen=True, slots=True)
class _Way:
    columns: str
    header: str = ""
    separator: str = ","
    ending: str = "csv"
    before: str = ""
    quote: str = ""


_WAYS: Sequence[_Way] = (
    _Way("name ailment town", "patient,diagnosis,city"),
    _Way("name age town", "name,age,city"),
    _Way("name ailment town", "patient\tdiagnosis\tcity", "\t", "tsv"),
    _Way("name age town", "name;age;city", ";"),
    _Way("name ailment town", '"patient","diagnosis","city"', quote='"'),
    _Way("name ailment town"),
    _Way("ailment name town"),
    _Way("name ailment town", "patient|diagnosis|city", "|", "txt"),
    _Way("name ailment town", "patient,diagnosis,city", before="\ufeff"),
    _Way("date amount name", "date,amount,account holder"),
    _Way("name ailment town age", "patient,diagnosis,city,age"),
    _Way("name ailment", "patient,diagnosis"),
    _Way("name age town"),
    _Way("name town ailment"),
    _Way("name doctor ailment", "patient,treated by,diagnosis"),
    _Way("name doctor ailment"),
    _Way("name insurer town"),
    _Way("name phone town", "", "\t", "tsv"),
    _Way("name ailment town", "PATIENT , DIAGNOSIS , CITY"),
    _Way("ailment name doctor", "", "\t", "txt"),
    _Way("name date ailment", "patient,admitted on,diagnosis", before="# export\n"),
)


def _columns(dice: Random) -> Mapping[str, Sequence[str]]:
    given, last, doctors = given_names_of("de"), surnames_of("de"), surnames_of("en")[20:25]
    return {
        "name": [f"{dice.choice(given)} {dice.choice(last)} {number + 100}".title() for number in range(ROWS)],
        "ailment": [dice.choice(_AILMENTS).replace("_", " ") for _ in range(ROWS)],
        "town": [dice.choice(_TOWNS).title() for _ in range(ROWS)],
        "insurer": [dice.choice(_INSURERS).replace("_", " ") for _ in range(ROWS)],
        "doctor": [f"Dr {dice.choice(doctors).title()}" for _ in range(ROWS)],
        "age": [str(dice.randrange(31, 98)) for _ in range(ROWS)],
        "amount": [f"{dice.randrange(1_000, 9_999)}.{dice.randrange(10, 99)}" for _ in range(ROWS)],
        "date": [
            f"{dice.randrange(1951, 2019)}-0{dice.randrange(1, 9)}-{dice.randrange(10, 28)}" for _ in range(ROWS)
        ],
        "phone": [f"+49 30 {dice.randrange(100_000, 999_999)}" for _ in range(ROWS)],
    }


def _file(number: int, way: _Way, columns: Mapping[str, Sequence[str]]) -> TableFile:
    rows = list(zip(*(columns[name] for name in way.columns.split()), strict=True))
    lines = [way.separator.join(f"{way.quote}{cell}{way.quote}" for cell in row) for row in rows]
    content = way.before + "\n".join([*([way.header] if way.header else []), *lines, ""])
    return TableFile(f"table-{number}.{way.ending}", content, frozenset(cell for row in rows for cell in row))


def declared(file: TableFile) -> TableFile:
    """The same file with a policy that says what its first column is. For files with a header."""
    key = re.split(r"[,;|\t]", file.content.lstrip("\ufeff"))[0].strip(' "')
    policy = f'[[tables]]\nfile = "{file.name}"\nkey = "{key}"\nconcept = "case"\nnames = ["{key}"]\n'
    return replace(file, policy=policy)
