"""Profiles of table columns: whether they hold keys, names, concepts or values, judged by their names and cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from kg_store.formats.json_rows import SEPARATOR
from kg_store.lexicon.lexicon import in_large_lexicon
from kg_store.proposals.empty_marks import empty_marks, shape_of
from kg_store.sources.cell_values import read_cell
from kg_store.sources.table_policy import ColumnPolicy
from kg_store.terms import ValueKind
from kg_store.text.abbreviations import ABBREVIATIONS
from kg_store.text.inflection import singular, tells_an_event
from kg_store.text.labels import readable
from kg_store.text.literals import FALSE_WORDS, TRUE_WORDS, is_year
from kg_store.text.notation import (
    DecimalMark,
    FirstPart,
    compact_date,
    decimal_mark,
    first_part_of,
    first_parts,
    is_serial,
)

KEY_WORDS = frozenset(
    "id ids key code nr no number num uuid guid isbn sku ean cd pk fk nummer kennung issn oid identifier schluessel "
    "ref reference serial plate registration matricula codigo numero clave referenz barcode strichcode".split()
)
NAME_WORDS = frozenset("name names title label bezeichnung titel benennung nom nombre naam".split())
ALIAS_WORDS = frozenset(
    "nickname alias aliases nick spitzname aka synonym handle rufname kürzel kuerzel abbreviation abkürzung acronym "
    "suchbegriff matchcode apodo surnom bijnaam".split()
)
ALIAS_PHRASES = frozenset(
    {"known as", "also known as", "goes by", "called", "also called", "short form", "other name", "other names"}
    | {"former name", "formerly", "trading as", "search term", "screen name", "user name", "username"}
)
# Words beside "name" that do not say what is named (`hasName`, `legal name`); a name with the first of them is shown.
NAME_PREFIXES = ("has", "is", "the", "display", "common", "preferred", "full", "short", "legal", "official")
FIRST = frozenset(
    {"first name", "firstname", "given name", "givenname", "forename", "first", "given", "vorname", "prenom", "prénom"}
    | {"voornaam", "name first", "name given"}
)
# Columns for names of anything; beside a column of last names they hold first names.
FIRST_BESIDE_LAST = frozenset({"name", "nombre", "nome"})
LAST = frozenset(
    {"last name", "lastname", "family name", "familyname", "surname", "last", "family", "nachname", "apellido"}
    | {"apellidos", "achternaam", "cognome", "name last", "name family"}
)
# Those of them that other things have too (a plant's family), and words of columns that only persons have.
LAST_OF_ANY = frozenset({"family name", "familyname", "name family", "family", "last"})
OF_PERSONS = frozenset("email mail phone telephone mobile telefon tel handy gender geschlecht salutation".split())
# Words of files that say nothing about their rows.
FILE_WORDS = frozenset({"data", "export", "list", "table", "dump", "sample", "file", "records"})
OF_THE_SAME = frozenset({"boss", "manager", "supervisor", "superior", "parent", "mother", "father", "vorgesetzter"})
# Columns of digits that are not used as numbers.
KEPT_AS_TEXT = frozenset(
    "phone telephone mobile fax zip postcode postal plz iban bic ssn telefon tel account konto passport licence "
    "license handy extension durchwahl zipcode postleitzahl".split()
)
PRIVATE_TEXT = frozenset(
    "email mail phone telephone mobile fax telefon tel handy address street adresse strasse straße url website "
    "homepage web link password iban bic ssn zip postcode postal plz passport".split()
)
LONG_TEXT = frozenset(
    "note notes comment comments description remark remarks text message summary body bemerkung beschreibung "
    "kommentar notiz notizen details abstract content".split()
)
# Columns whose values several rows share and people ask by.
CONCEPTS = frozenset(
    "city town country region county nationality status state stage department category type role gender sex industry "
    "sector segment language currency tier level genre priority position profession occupation ort wohnort stadt land "
    "abteilung kategorie typ art geschlecht branche sprache waehrung währung beruf district province brand publisher "
    "manufacturer ward building faculty subject speciality specialty condition diagnosis medication vaccine procedure "
    "allergy ville pays".split()
)
# Concepts that a column's label is reduced to: `billing city` and `city of birth` both hold cities.
PLACES = frozenset("city town country region county state province district language currency".split())
COUNT_WORDS = frozenset(
    "count amount quantity total sum price cost fee age size rate balance salary weight height length width score "
    "rating revenue budget percent discount anzahl menge preis betrag alter gehalt umsatz capacity pages beds "
    "duration stock tax".split()
)
YEAR_WORDS = frozenset(
    "year jahr yr año anno annee année jaar published founded established built released opened born gegründet "
    "baujahr since seit".split()
)
# Words of relations that lead to things: `taughtBy`, `assigned_to`.
LEADING_WORDS = frozenset({"by", "to", "from", "von"})
DATE_WORDS = frozenset(
    "date datum fecha data day since until joined hired born birthday birth started ended bought sold opened closed "
    "paid due expires issued created updated ordered shipped received delivered geburtsdatum seit bis".split()
)
MONEY_WORDS = frozenset(
    "price cost salary fee revenue budget amount sum preis betrag gehalt umsatz kosten prix montant salaire precio "
    "importe salario prezzo".split()
)
TRUTH_WORDS = frozenset({"is", "has", "flag", "can", "active", "enabled", "deleted", "aktiv", "was", "allow", "in"})

# Units in the names of columns, with the form in which they are written behind a value.
_UNITS = {
    "usd": "USD", "eur": "EUR", "gbp": "GBP", "chf": "CHF", "euro": "EUR", "euros": "EUR", "dollars": "USD",
    "kg": "kg", "g": "g", "mg": "mg", "km": "km", "cm": "cm", "mm": "mm", "ml": "ml", "kwh": "kWh", "kw": "kW",
    "percent": "%", "pct": "%", "%": "%", "€": "EUR", "$": "USD", "£": "GBP", "years": "years", "months": "months",
    "days": "days", "hours": "hours", "minutes": "minutes", "seconds": "seconds", "mins": "minutes", "hrs": "hours",
    "m2": "m2", "sqm": "m2", "horas": "hours", "stunden": "hours", "tage": "days", "jahre": "years",
    "gb": "GB", "mb": "MB", "bpm": "bpm", "m²": "m2", "m³": "m3", "km²": "km2", "km/h": "km/h", "kwp": "kWp",
}  # fmt: skip
# Units that are recognised only in brackets.
_SHORT_UNITS = {
    "h": "hours", "hr": "hours", "std": "hours", "d": "days", "min": "minutes", "s": "seconds", "sec": "seconds",
    "m": "m", "l": "l", "t": "t", "w": "W", "v": "V", "a": "A", "ha": "ha", "y": "years", "yrs": "years",
    "°c": "°C", "c": "°C",
}  # fmt: skip
_IN_BRACKETS = re.compile(r"[(\[{]\s*(?:in\s+)?([^()\[\]{}]{1,12}?)\s*[)\]}]")
_COUNTED = re.compile(r"^\s*(?:nos?\.?\s+of\b|#\s*of\b|no\.|#)(?=\s*[a-z])", re.IGNORECASE)  # `No. hurt`
_CAPITALS = re.compile(r"([A-Z]{2,})([a-z]{3,})")
_SUFFIXES = ("nummer", "nr", "name", "datum", "typ", "preis")


def words_of_column(column: str) -> list[str]:
    """Returns the words of a column's name in lower case, without punctuation: `Supplier No.` -> supplier, no."""
    plain = _CAPITALS.sub(_parted, _IN_BRACKETS.sub(" ", re.sub(r"(?<=\w)['’](?=\w)", "", column)))
    spaced = readable(re.sub(r"[-./#:,;|]+", " ", plain))
    return re.findall(r"[^\W_]+", re.sub(r"\be mail\b", "email", spaced.lower()))


def _parted(found: re.Match[str]) -> str:
    """Returns `IDwinner` as `ID winner` where the last word is one, and `Dwinner` is none."""
    capitals, rest = found.groups()
    is_known = in_large_lexicon(rest) or capitals.lower() in KEY_WORDS
    is_apart = is_known and not in_large_lexicon(capitals[-1].lower() + rest)
    return f"{capitals} {rest}" if is_apart else found[0]


def full_words(column: str) -> list[str]:
    """Returns the words of a column's name with abbreviations written out: `CUST_NM` -> customer, name."""
    found = []
    for word in _written_out(column):
        # Splits German compounds, where a column's name is one word: `Geburtsdatum`, `Versichertennr`.
        suffix = next((each for each in _SUFFIXES if word.endswith(each) and len(word) > len(each) + 3), "")
        found += [word.removesuffix(suffix), suffix] if suffix else [word]
    return found


def _written_out(column: str) -> list[str]:
    words = words_of_column(_COUNTED.sub("number of ", column))
    words = [*words[:-1], "number"] if words[1:] and words[-1] in ("no", "nr") else words
    return [part for word in words for part in ABBREVIATIONS.get(word, word).split()]


def relation_words(column: str, without: frozenset[str] = frozenset()) -> str:
    """Returns the words of a column's relation, without its unit and the words in `without`."""
    words, unit = _written_out(column), unit_of(column)
    kept = [word for word in words if word not in without]
    if unit is not None and len(kept) > 1 and _UNITS.get(kept[-1]) == unit:
        kept = kept[:-1]
    return " ".join(kept or words)


def unit_of(column: str) -> str | None:
    """Returns the unit that a column names in brackets or as its last word; years for an age; else None."""
    bracket = _IN_BRACKETS.search(column)
    if bracket is not None and (unit := (_UNITS | _SHORT_UNITS).get(bracket[1].lower())) is not None:
        return unit
    words = words_of_column(column)
    if len(words) > 1 and words[-1] in _UNITS:
        return _UNITS[words[-1]]
    return "years" if words and words[-1] in ("age", "alter") else None


def are_alike(word: str, other: str) -> bool:
    """Returns True if two words are forms of one word (patient, patienten), or one begins the other (dep,
    department).
    """
    if word == other or singular(word) == singular(other):
        return True
    short, long = sorted((word, other), key=len)
    return len(short) >= 3 and long.startswith(short) and short not in KEY_WORDS


def any_alike(words: Sequence[str], others: Sequence[str]) -> bool:
    return any(are_alike(word, other) for word in words for other in others)


ALIKE = 0.98
MIN_FITTING: Final = 0.7
"""The least share of cells that must be numbers or dates in a column of such: the others are dirt (`pending`), which
is kept as text. Chosen by hand."""
MIN_CALLED: Final = 0.5
"""That share of dates in a column whose name says that it holds dates. Chosen by hand."""
MIN_TRUTHS: Final = 0.9
MAX_ODD_TRUTHS: Final = 2
"""At least this share of the cells say yes or no, and at most so many different others do not. Chosen by hand."""
MAX_PROFILED = 20_000
"""This many different cells are examined to find a column's kind of value."""
MAX_CONCEPT_SHARE = 0.5
MAX_CONCEPT_CELLS = 1_000
MAX_CONCEPT_CHARS = 60
MAX_CALLED_CHARS = 200
"""The longest cell of a column whose name says that people ask by it, such as a diagnosis."""
MAX_NAME_CHARS = 80
MIN_NAMED_SHARE = 0.9
MIN_CODE_DIGITS = 10
MAX_SIGN_CHARS = 12
MIN_COMPACT: Final = 3
"""So many different numbers of eight digits are dates by no chance: of all such numbers one in 800 is one."""
MIN_ROW_DIGITS, MIN_YEAR = 3, 1800
"""Whole numbers of so many digits, and no years from that one on, may number the rows; others count or rank."""
LIST_MARKS: Final = ("|", ";", ",")
MIN_LISTS, MIN_LIST_SHARE = 2, 0.05
"""Cells are lists if at least MIN_LISTS, and at least this share of the different ones, hold a mark between values."""
MAX_LIST_CHARS = 80
MAX_LISTED_SHARE = 0.9
_EMAIL = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+")
_LINK = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_PHONE = re.compile(r"\+?[\d\s()/.-]{6,}")
_CODE = re.compile(r"\S*\d\S*")
_MIXED_CODE = re.compile(r"[^\W\d_]{1,4}[-/. ]?\d[\w/-]*|\d+[-/]?[^\W\d_]\d*")


@dataclass(frozen=True)
class Column:
    """One column of a table.

    `cells`: its filled cells, in order. `rows`: the number of the table's lines. `empty`: the marks in it that only
    say that nothing is known (`NULL`, `-`); cells with such a mark are not in `cells`. `lines`: the cell in each line.
    """

    name: str
    cells: list[str] = field(repr=False)
    rows: int
    empty: tuple[str, ...] = ()
    lines: Sequence[str] = field(default=(), repr=False)

    @classmethod
    def of(cls, name: str, lines: Sequence[str]) -> Column:
        """Builds the profile. `lines`: the column's cell in each line, empty or not."""
        filled = [cell for cell in lines if cell]
        marks = empty_marks(frozenset(filled))
        return cls(name, [cell for cell in filled if cell not in marks], len(lines), tuple(sorted(marks)), lines)

    @cached_property
    def words(self) -> list[str]:
        """The words of the column's name as the file has them."""
        return words_of_column(self.name)

    @cached_property
    def full(self) -> list[str]:
        """The words of the column's name with abbreviations written out."""
        return full_words(self.name)

    @cached_property
    def aside(self) -> list[str]:
        """The words in brackets behind the column's name: `Tenant (member no)` -> member, no."""
        bracket = _IN_BRACKETS.search(self.name) if unit_of(self.name) is None else None
        return full_words(bracket[1]) if bracket is not None else []

    @cached_property
    def distinct(self) -> frozenset[str]:
        return frozenset(self.cells)

    @cached_property
    def parts(self) -> list[str]:
        """The values of all cells; a cell that holds a list gives several."""
        if self.separator is None:
            return self.cells
        return [part.strip() for cell in self.cells for part in cell.split(self.separator) if part.strip()]

    @cached_property
    def separator(self) -> str | None:
        """The mark between the values of one cell; None if each cell holds one value."""
        if any(SEPARATOR in cell for cell in self.cells):
            return SEPARATOR
        if not self.cells or LONG_TEXT & set(self.full) or self.is_private_text:
            return None
        return next((mark for mark in LIST_MARKS if self._is_parted_by(mark)), None)

    def _is_parted_by(self, mark: str) -> bool:
        """Returns True if `mark` occurs in enough cells, and between short values.

        Commas also occur in names and sentences, so they count only without a space behind, and if the values repeat.
        """
        cells = [cell for cell in self._sample if mark in cell]
        if len(cells) < max(MIN_LISTS, MIN_LIST_SHARE * len(self._sample)):
            return False
        parts = [part for cell in cells for part in cell.split(mark)]
        if any(len(part) > MAX_LIST_CHARS for part in parts) or not all(part.strip() for part in parts):
            return False
        if mark != ",":
            return True
        is_tight = not any(part[:1].isspace() or part.isdigit() for part in parts)
        if is_tight and len({shape_of(part) for part in parts}) == 1 and max(map(len, parts)) <= MAX_SIGN_CHARS:
            return True  # Codes of one shape: NL,FR,DE.
        every = [part for cell in self.cells for part in cell.split(mark)]
        return is_tight and len(set(every)) <= MAX_CONCEPT_SHARE * len(every)

    @cached_property
    def is_sign(self) -> bool:
        """True for short single words that are different in every row, such as the country code `CHE`."""
        short = all(len(cell) <= MAX_SIGN_CHARS and cell.isalnum() for cell in self.distinct)
        return short and self.is_unique and self.kind is ValueKind.TEXT

    @cached_property
    def numbers_rows(self) -> bool:
        """True for codes with digits (`T-2401`) or long whole numbers, no years, that are different in every row."""
        cells = self._sample
        if (
            not self.is_unique
            or self.is_private_text
            or unit_of(self.name) is not None
            or COUNT_WORDS & set(self.full)
        ):
            return False
        if self.kind is ValueKind.TEXT:
            return all(_CODE.fullmatch(cell) and len(cell) <= MAX_SIGN_CHARS for cell in cells)
        are_long = all(cell.isdecimal() and len(cell) >= MIN_ROW_DIGITS for cell in cells)
        are_years = all(is_year(cell) and int(cell) >= MIN_YEAR for cell in cells)
        return self.kind is ValueKind.NUMBER and are_long and not are_years

    @property
    def is_unique(self) -> bool:
        """True if every row has a cell, and no two are equal."""
        return len(self.distinct) == len(self.cells) == self.rows > 0

    def repeats(self, other: Column) -> bool:
        """Returns True if most of its cells are what `other` holds in the same line, so that both say one thing."""
        same = sum(cell == theirs != "" for cell, theirs in zip(self.lines, other.lines, strict=False))
        return same > len(self.cells) / 2

    @property
    def distinct_share(self) -> float:
        return len(self.distinct) / max(1, len(self.cells))

    def is_called(self, *words: frozenset[str]) -> bool:
        """Returns True if one of `words` is in the column's name, as written or with abbreviations written out."""
        return not frozenset().union(*words).isdisjoint((*self.words, *self.full))

    @property
    def is_called_key(self) -> bool:
        return self.is_called(KEY_WORDS) and self.full[:2] != ["number", "of"]

    @cached_property
    def is_private_text(self) -> bool:
        """True for e-mail addresses, phone numbers, addresses and links."""
        by_word = self.is_called(PRIVATE_TEXT)
        return by_word or self.holds_emails or self._share(_LINK) >= ALIKE

    @cached_property
    def holds_emails(self) -> bool:
        return self._share(_EMAIL) >= ALIKE

    @cached_property
    def has_words(self) -> bool:
        """True if most cells are words rather than codes, phone numbers, numbers or dates."""
        if self._share(_CODE) > 0.5 or self._share(_PHONE) > 0.5:
            return False
        return self.share_of(ValueKind.NUMBER) < 0.5 and self.share_of(ValueKind.DATE) < 0.5

    @cached_property
    def looks_like_names(self) -> bool:
        """True for texts like names, unless the column's name says that it holds descriptions or notes."""
        return self.holds_short_names and not LONG_TEXT & set(self.full)

    @cached_property
    def holds_short_names(self) -> bool:
        """True for short texts, no lists, nearly all different and nearly all with a capital first letter."""
        cells = self._sample
        capitals = sum(cell[0].isupper() for cell in cells)
        short = sum(len(cell) <= MAX_NAME_CHARS for cell in cells) >= ALIKE * len(cells)
        return bool(
            cells and short and self.has_words and not self.is_private_text and self.separator is None
            and self.distinct_share >= MIN_NAMED_SHARE and capitals >= MIN_NAMED_SHARE * len(cells)
        )  # fmt: skip

    @cached_property
    def kind(self) -> ValueKind:
        """The kind of value that nearly all cells have."""
        folded = {cell.lower() for cell in self.distinct}
        is_truth = 0 < len(folded) <= 2 and folded <= TRUE_WORDS | FALSE_WORDS
        if is_truth and (not folded <= {"0", "1"} or self.is_called(TRUTH_WORDS)):
            return ValueKind.TRUTH
        if self._is_mostly_truth(folded):
            return ValueKind.TRUTH
        # Some whole numbers can be read as years, but a column of years holds no decimals.
        is_number = self.share_of(ValueKind.NUMBER) >= self.share_of(ValueKind.DATE)
        if self.is_serial or self.is_compact or (not is_number and self._is_mostly(ValueKind.DATE)):
            return ValueKind.DATE
        says_year = self.is_called(YEAR_WORDS) or any(map(tells_an_event, self.full))
        if says_year and self.cells and all(map(is_year, self._sample)):
            return ValueKind.DATE
        is_text = self.is_called(KEPT_AS_TEXT, KEY_WORDS) or self.is_code
        is_text = is_text or any(re.fullmatch(r"0\d+", cell) for cell in self._sample)
        is_counted = self.is_called(COUNT_WORDS) or self.full[:2] == ["number", "of"] or not is_text
        return ValueKind.NUMBER if is_counted and self._is_mostly(ValueKind.NUMBER) else ValueKind.TEXT

    def _is_mostly_truth(self, folded: set[str]) -> bool:
        """Returns True if nearly all cells say yes or no, both of them, and one or two others do not ("part")."""
        fits = sum(cell.lower() in TRUE_WORDS | FALSE_WORDS for cell in self.cells)
        says_both = not folded.isdisjoint(TRUE_WORDS - {"1"}) and not folded.isdisjoint(FALSE_WORDS - {"0"})
        is_few = len(folded - TRUE_WORDS - FALSE_WORDS) <= MAX_ODD_TRUTHS
        return says_both and is_few and fits >= MIN_TRUTHS * len(self.cells)

    def _is_mostly(self, kind: ValueKind) -> bool:
        """Returns True if nearly all cells can be read as a value of `kind`, or most, and the others are no codes."""
        share = self.share_of(kind)
        if share >= ALIKE or share == 0:
            return share >= ALIKE
        settings = self._settings_of(kind)
        odd = {cell for cell in self.distinct if read_cell(cell, settings) is None}
        in_rows = sum(cell not in odd for cell in self.cells) / len(self.cells)
        has_codes = kind is ValueKind.NUMBER and any(map(_MIXED_CODE.fullmatch, odd))
        least = MIN_CALLED if kind is ValueKind.DATE and self.is_called(DATE_WORDS) else MIN_FITTING
        return max(share, in_rows) >= least and not has_codes

    @cached_property
    def is_code(self) -> bool:
        """True for long numbers that all have the same number of digits, such as bar codes."""
        lengths = {len(cell) for cell in self._sample}
        return len(lengths) == 1 and min(lengths) >= MIN_CODE_DIGITS and all(map(str.isdigit, self._sample))

    @cached_property
    def first_of_date(self) -> FirstPart | None:
        """The part that dates like 05/03/1980 begin with; None if the cells do not show it."""
        return first_part_of(self._sample)

    @cached_property
    def decimal(self) -> DecimalMark | None:
        """The comma if it stands before decimals in this column; None if a point does, or if no cell shows it."""
        words = MONEY_WORDS | {unit.lower() for unit in ("EUR", "CHF", "GBP")}
        mark = decimal_mark(self._sample, is_money=not words.isdisjoint(self.full))
        return "," if mark == "," else None

    @cached_property
    def is_serial(self) -> bool:
        """True for dates as spreadsheets count them: five digits in a column whose name says that it holds dates."""
        return bool(self._sample) and self.is_called(DATE_WORDS) and all(map(is_serial, self._sample))

    @cached_property
    def is_compact(self) -> bool:
        """True if most cells are dates of eight digits (20180820), and no codes by name or as each row has its own."""
        numbers = [cell for cell in self._sample if cell.isdecimal()]
        if not numbers or len(numbers) < MIN_FITTING * len(self._sample) or self.is_called(KEY_WORDS, KEPT_AS_TEXT):
            return False
        is_told = self.is_called(DATE_WORDS, YEAR_WORDS) or (len(numbers) >= MIN_COMPACT and not self.is_unique)
        return is_told and all(map(compact_date, numbers))

    @property
    def is_concept(self) -> bool:
        """True if many rows share few different texts, or the column's name says that it holds a concept."""
        if self.is_private_text or LONG_TEXT & set(self.full) or not self.cells:
            return False
        longest = max(map(len, self._sample))
        if self.is_called(CONCEPTS) and self.has_words and longest <= MAX_CALLED_CHARS:
            return True
        if longest > MAX_CONCEPT_CHARS or len(self.distinct) > MAX_CONCEPT_CELLS:
            return False
        return len(self.cells) > 3 and self.distinct_share <= MAX_CONCEPT_SHARE

    @property
    def comes_again(self) -> bool:
        """True for short words of which some stand in several cells, as authors and tags do."""
        is_short = max(map(len, self._sample), default=0) <= MAX_LIST_CHARS
        return is_short and self.has_words and not self.is_private_text and self.distinct_share <= MAX_LISTED_SHARE

    def share_of(self, kind: ValueKind) -> float:
        """Returns the share of different cells that can be read as a value of `kind`, if the day of dates is told."""
        settings = self._settings_of(kind)
        fitting = sum(read_cell(cell, settings) is not None for cell in self._sample)
        if kind is ValueKind.DATE and settings.first is None:
            fitting += sum(
                first_parts(cell) is not None and read_cell(cell, settings) is None for cell in self._sample
            )
        return fitting / max(1, len(self._sample))

    def _settings_of(self, kind: ValueKind) -> ColumnPolicy:
        if kind is ValueKind.DATE:
            return ColumnPolicy(kind=kind, first=self.first_of_date)
        return ColumnPolicy(kind=kind, decimal=self.decimal if kind is ValueKind.NUMBER else None)

    @cached_property
    def _sample(self) -> list[str]:
        return sorted(self.distinct)[:MAX_PROFILED] if len(self.distinct) > MAX_PROFILED else list(self.distinct)

    def _share(self, pattern: re.Pattern[str]) -> float:
        return sum(pattern.fullmatch(cell) is not None for cell in self._sample) / max(1, len(self._sample))
