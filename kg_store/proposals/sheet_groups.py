"""Groups the sheets that are parts of one table.

These are files of the same name, files with one header and numbered names, or JSON objects of one shape in a file
each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from os.path import commonprefix
from typing import Final

from kg_store.errors import LoadError
from kg_store.formats.json_records import JSON_ENDINGS
from kg_store.lexicon.lexicon import in_lexicon
from kg_store.proposals.column_profiles import FILE_WORDS, full_words
from kg_store.proposals.name_parts import parts_of
from kg_store.sources.table_files import BOOK_ENDINGS, TEXT_ENDINGS, Sheet, bare_name
from kg_store.sources.table_policy import TablePolicy, pattern_of, stem_of

MIN_COMMON: Final = 4
"""The fewest characters that names of files with one header share at their beginning if the files are one table.

For example `orders-1.csv` and `orders-2.csv`. Chosen by hand.
"""
MIN_SHARED_KEYS: Final = 0.5
"""The least share of keys that two JSON objects have in common if they are of one shape. Chosen by hand."""
_UNNAMED: Final = re.compile(r"(sheet|tabelle|feuil|hoja|foglio|blad|planilha) ?\d*")
"""The default names that programs give to the sheets of a workbook."""
_UPLOADED: Final = re.compile(r"file-\d+")


@dataclass(frozen=True, slots=True)
class SheetGroup:
    """The sheets of one table.

    `file`: the table's name in the policy. If its files have different names, a `*` stands for what differs:
    `orders-*.csv`. `part`: the column that holds it (`north`, `2024`); empty if it says nothing. `parts`: all that `*`
    stands for, where other sheets have such names too.
    """

    file: str
    sheets: tuple[Sheet, ...]
    part: str = ""
    parts: tuple[str, ...] = ()

    def part_of(self, name: str) -> str:
        """Returns what differs in the name of one of its files."""
        return TablePolicy(file=self.file).part_of(name)

    def concept_words(self) -> list[str]:
        """Returns the words of the file's name, which tell what a row is: customer, orders.

        Words with digits are left out if the name has a `*`; the folder's name then stands in for an empty result.
        Empty for uploads, whose names tell nothing.
        """
        stem = stem_of(self.file)
        # The list `data` of `{"meta": ..., "data": [...]}` says as little as a sheet's default name.
        is_of_json = _is_json(self.sheets[0]) and FILE_WORDS.issuperset(full_words(stem))
        if _UNNAMED.fullmatch(stem.lower()) or is_of_json:
            stem = stem_of(bare_name(self.sheets[0].path))
        if "*" not in stem:
            return [] if _UPLOADED.fullmatch(stem) else full_words(stem)
        words = [word for word in full_words(stem.replace("*", " ")) if not re.search(r"\d", word)]
        if not words and self.sheets[0].ending in BOOK_ENDINGS:
            words = [word for word in full_words(stem_of(bare_name(self.sheets[0].path))) if word.isalpha()]
        folder = full_words(self.sheets[0].path.parent.name) if not self.part else []
        return words or (folder if all(map(in_lexicon, folder)) else [])


def groups_of(sheets: Sequence[Sheet]) -> list[SheetGroup]:
    """Returns `sheets` in groups of one table each, in order.

    Files of the same name with different columns give several groups with that name.
    """
    gathered: list[tuple[set[str], list[Sheet]]] = []
    for sheet in sheets:
        columns = _columns_of(sheet)
        for known, members in gathered:
            if columns and known and _are_of_one_table(members[0], known, sheet, columns):
                members.append(sheet)
                known |= columns
                break
        else:
            gathered.append((columns, [sheet]))
    names = [sheet.name for sheet in sheets]
    found: list[SheetGroup] = []
    for _, members in gathered:
        found += _named(members, names, found)
    return found


def _columns_of(sheet: Sheet) -> set[str]:
    """Returns the columns of a sheet; empty if it cannot be read, since the error is reported when it is read."""
    try:
        return set(sheet.header())
    except LoadError:
        return set()


def _are_of_one_table(one: Sheet, known: set[str], other: Sheet, columns: set[str]) -> bool:
    if one.ending != other.ending:
        return False
    found = parts_of([_bare(one), _bare(other)]) if columns == known and one.name != other.name else None
    if one.path == other.path:
        is_book = one.ending in BOOK_ENDINGS and not _UNNAMED.fullmatch(_title(one).lower())
        return is_book and found is not None and (found.are_periods or found.are_names)
    is_like = len(known & columns) >= MIN_SHARED_KEYS * min(len(known), len(columns))
    if one.name == other.name:
        return _is_json(one) or is_like
    if _is_json(one):
        return one.is_one_object and other.is_one_object and _title(one) == _title(other) and is_like
    # The beginning that both names share, without a word that is cut off.
    common = commonprefix([one.name, other.name])  # noqa: RUF071 - letters are meant
    common = re.sub(r"[^\W\d_]+$", "", common)
    is_told = one.ending in TEXT_ENDINGS and found is not None and (found.are_periods or found.are_names)
    return columns == known and (len(common) >= MIN_COMMON or is_told)


def _bare(sheet: Sheet) -> str:
    """Returns the name of a sheet, or of its file, without the ending."""
    return _title(sheet) or stem_of(bare_name(sheet.path))


def _is_json(sheet: Sheet) -> bool:
    return sheet.ending in JSON_ENDINGS


def _title(sheet: Sheet) -> str:
    return sheet.name.partition("/")[2]


def _pattern(members: Sequence[Sheet], before: Sequence[SheetGroup]) -> str:
    """Returns the name of a table in several files, with a `*` for what differs: `orders-*.csv`.

    A list within records is called after the table of these records: `orders-*.json/items`.
    """
    paths, title = {sheet.path for sheet in members}, _title(members[0])
    for group in before:
        if title and "/" not in group.file and paths <= {sheet.path for sheet in group.sheets}:
            return f"{group.file}/{title}"
    files = [bare_name(sheet.path) for sheet in members]
    turned = [name[::-1] for name in files]
    first, last = commonprefix(files), commonprefix(turned)[::-1]  # noqa: RUF071 - letters are meant
    ending = last if _is_json(members[0]) else members[0].ending
    return f"{first}*{ending}" + (f"/{title}" if title else "")


def _named(members: list[Sheet], names: Sequence[str], before: Sequence[SheetGroup]) -> list[SheetGroup]:
    if len({sheet.name for sheet in members}) == 1:
        return [SheetGroup(members[0].name, tuple(members))]
    own = [sheet.name for sheet in members]
    found = None if _is_json(members[0]) else parts_of([_bare(sheet) for sheet in members])
    pattern = _pattern(members, before)
    if found is not None and found.column:
        folder = f"{bare_name(members[0].path)}/" if _title(members[0]) else ""
        pattern = f"{folder}{found.before}*{found.behind}{'' if folder else members[0].ending}"
    others = [name for name in names if pattern_of(pattern).fullmatch(name)]
    if found is not None and found.column:
        known = _columns_of(members[0])
        part = _free_name(found.column, members[0], known)
        return [SheetGroup(pattern, tuple(members), part, () if sorted(others) == sorted(own) else found.parts)]
    if sorted(others) == sorted(own):
        return [SheetGroup(pattern, tuple(members))]
    apart = dict.fromkeys(own)
    return [SheetGroup(name, tuple(sheet for sheet in members if sheet.name == name)) for name in apart]


def _free_name(said: str, sheet: Sheet, columns: set[str]) -> str:
    """Returns a name for the column of what differs in the names; other than for times, it is called by these."""
    kind = "sheet" if sheet.ending in BOOK_ENDINGS else "file"
    name = kind if said == "part" else said
    return name if name not in {column.lower() for column in columns} else f"{kind} name"
