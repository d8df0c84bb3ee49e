"""Reads BibTeX files as nodes: each entry is a thing of its type, and its authors and editors are persons."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from kg_store.errors import LoadError
from kg_store.formats.files import whole_text
from kg_store.formats.neo4j_exports import Node, Relationship

MAX_FIELDS: Final = 300_000
"""The most entries and fields of a file, which is read whole; each takes up to a kilobyte."""
MAX_LATEX_CHARS: Final = 10_000
"""Commands are read in so many characters of a text; longer single names are left out."""
_PERSONS: Final = ("author", "editor", "translator")
_VERBATIM: Final = frozenset({"doi", "eprint", "file", "pdf", "url", "urlraw"})
"""Fields in which BibLaTeX takes no sign for a command."""
_OF_LATEX: Final = re.compile(r"[\\{}$~]|--")
_OTHERS: Final = "others"
# Switched off, because these libraries' log messages quote the file.
for _library in ("bibtexparser", "pylatexenc"):
    logging.getLogger(_library).setLevel(logging.CRITICAL + 1)


def read_bibliography(path: Path, left: Counter[str]) -> Iterator[Node | Relationship]:
    """Yields the entries of a BibTeX file and their persons; counts in `left` what is not read.

    Persons of one name are one. Raises LoadError, which never quotes the file.
    """
    from bibtexparser.entrypoint import parse_string
    from bibtexparser.middlewares import MonthLongStringMiddleware, NormalizeFieldKeys

    text = whole_text(path)
    if text.count("=") + text.count("@") > MAX_FIELDS:
        raise LoadError(f"more than {MAX_FIELDS:,} fields: split it into several files", path.name)
    try:
        library = parse_string(text, append_middleware=[NormalizeFieldKeys(), MonthLongStringMiddleware()])
    except Exception:
        library = None
    entries = library.entries if library is not None else []
    if library is None or not entries:
        raise LoadError("not a BibTeX file that can be read", path.name)
    if library.failed_blocks:
        left[f"entries of {path.name} are broken or repeat a key, and were left out"] += len(library.failed_blocks)
    plain, keys = _decoder(), {entry.key for entry in entries}
    for entry in entries:
        values = {field.key: str(field.value) for field in entry.fields}
        persons = {role: values.pop(role, "") for role in _PERSONS}
        crossed = values.get("crossref") in keys and values.pop("crossref")
        subject = f"{path.name}:{entry.key}"
        yield Node(subject, [entry.entry_type], {key: _texts(key, value, plain) for key, value in values.items()})
        if crossed:
            yield Relationship("crossref", subject, f"{path.name}:{crossed}", {})
        for role, names in persons.items():
            for name in _names(names, plain):
                yield Node(f"person:{name}", ["person"], {"name": [name]})
                yield Relationship(role, subject, f"person:{name}", {})


def _decoder() -> Callable[[str], str]:
    """Returns what turns LaTeX into plain text; a text that it can't read only loses its brackets."""
    from pylatexenc.latex2text import LatexNodes2Text

    decoder: Any = LatexNodes2Text(math_mode="verbatim")

    def plain(text: str) -> str:
        if _OF_LATEX.search(text):
            try:
                text = decoder.latex_to_text(text[:MAX_LATEX_CHARS]) + text[MAX_LATEX_CHARS:]
            except Exception:
                text = re.sub("[{}]", "", text)
        return " ".join(text.split())

    return plain


def _texts(key: str, value: str, plain: Callable[[str], str]) -> list[str]:
    parts = re.split("[,;]", value) if key == "keywords" else [value]
    return [part.strip() if key in _VERBATIM else plain(part) for part in parts]


def _names(value: str, plain: Callable[[str], str]) -> list[str]:
    """Returns the names that "and" joins, each with the first name in front: `Lund, Ada` is Ada Lund."""
    from bibtexparser.middlewares.names import parse_single_name_into_parts, split_multiple_persons_names

    single = [each for each in split_multiple_persons_names(value) if len(each) <= MAX_LATEX_CHARS]
    names = (plain(parse_single_name_into_parts(each, strict=False).merge_first_name_first) for each in single)
    return [name for name in dict.fromkeys(names) if name not in ("", _OTHERS)]
