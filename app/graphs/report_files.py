"""Writes the privacy report as Markdown, JSON and a picture, in files that only the graph's owner may read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from app.graphs.markdown_table import markdown_table
from app.graphs.privacy_report import SHOWN
from client_sdk.protocol import GraphReport, SetSizes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_ROWS = 40
"""The most rows of concepts, relations, masked words and names; the JSON file has all. Chosen by hand."""
MAX_CONCEPTS = 9
NO_PICTURE = 'no picture was drawn: that takes pip install ".[report]"'

_MAX_LABEL_LENGTH = 28
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "arog",
    "font.family": "sans-serif",
    "font.size": 9,
    "text.parse_math": False,
}
_GAPS = (
    ("like_own_words", "equal to a word of our prompts or of this graph's relations and concepts"),
    ("like_frequent_words", "equal to one of the 3,000 most frequent English words"),
    ("of_one_character", "of one character"),
)
_SOURCES = {
    "lemminflect": "the dictionary of lemminflect",
    "webster": "Webster's Second",
    "wordfreq": "the most frequent words of wordfreq",
    "own": "words of today, chosen by hand",
}


def write_report(report: GraphReport, folder: Path) -> list[str]:
    """Writes `report.md`, `report.json` and `report.svg`, and returns sentences about them.

    The files have mode 600, because they list names.
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
    """Writes a file that only this user may read, even if the file existed and others could read it."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(handle, "wb") as file:
        os.fchmod(handle, 0o600)  # The file may have existed with another mode.
        file.write(content)


def markdown(report: GraphReport) -> str:
    """Returns the report as Markdown.

    For the owner only: it contains names that are public words, and masked words.
    """
    sections = (_head, _told, _sets, _rare, _masked, _values, _names, _lexicon)
    return "\n\n".join(block.rstrip("\n") for section in sections for block in section(report)) + "\n"


def bars(bounds: Sequence[int]) -> list[str]:
    """Returns the label of each bar of a histogram: `1`, `2-4`, `1,000 or more`."""
    ends = [*(bound - 1 for bound in bounds[1:]), None]
    return [
        f"{first:,} or more" if last is None else f"{first:,}" if first == last else f"{first:,}-{last:,}"
        for first, last in zip(bounds, ends, strict=True)
    ]


def _head(report: GraphReport) -> Iterator[str]:
    """Yields the first section of the report in blocks of Markdown: headings, paragraphs, lists and tables.

    The functions that `markdown` calls after it yield the other sections in the same way.
    """
    yield f"# Privacy of the graph {report.graph}"
    yield (
        f"Version {report.version}, loaded {report.loaded_at:%Y-%m-%d %H:%M}: {report.triples:,} triples, "
        f"{report.entities:,} entities, {report.relations:,} relations; the policy hides {report.hidden_relations} "
        f"more. Fewer than {report.k} entities are called few."
    )
    yield "For the graph's owner: it lists names that are public words, and masked words that may be cells."
    yield "## Before questions are asked about it"
    yield "\n".join(f"- {warning}" for warning in report.warnings) or "Nothing to warn of."


def _told(report: GraphReport) -> Iterator[str]:
    yield "## How well a prompt hides whom it shows"
    yield (
        "Against somebody who knows the whole graph and sees one prompt. Named: how often the right one is named, on "
        "average one in as many as match. A pseudonym always stands with its concept."
    )
    few = f"fewer than {report.k} match"
    rows = [
        (
            "nothing" if each.profile == "concept" else SHOWN[each.profile],
            f"{each.prompts:,}",
            f"{each.expected:.2%}",
            f"{each.few:.1%}",
            f"{each.smallest:,}",
        )
        for each in report.profiles
    ]
    yield markdown_table(("beside its concept a prompt shows", "prompts", "named", few, "fewest that match"), rows)


def _sets(report: GraphReport) -> Iterator[str]:
    yield "## Anonymity sets"
    yield (
        "Entities by how many of their concept have the same relations, in the same directions (one hop), or the same "
        "paths of two relations (two hops), themselves among them."
    )
    rows: list[tuple[str, ...]] = []
    for sizes in [report.whole, *report.concepts[:MAX_ROWS]]:
        name = "all" if sizes.concept is None else sizes.concept
        rows.append((name, f"{sizes.entities:,}", "one", *(f"{count:,}" for count in sizes.one_hop)))
        rows.append(("", "", "two", *(f"{count:,}" for count in sizes.two_hops)))
    yield markdown_table(("concept", "entities", "hops", *bars(report.bounds)), rows)
    yield from _more(len(report.concepts), "concepts")


def _rare(report: GraphReport) -> Iterator[str]:
    yield f"## Relations with fewer than {report.k} subjects or objects"
    if not report.rare_relations:
        yield f"None: every relation has {report.k} or more of both."
        return
    yield "A prompt that shows such a relation tells that it is about one of few. The policy can rename or hide it."
    rows = []
    for each in report.rare_relations[:MAX_ROWS]:
        kind = f" values ({each.value_kind})" if each.value_kind else ""
        rows.append((each.relation, f"{each.subjects:,}", f"{each.objects:,}{kind}"))
    yield markdown_table(("relation", "subjects", "objects"), rows)
    yield from _more(len(report.rare_relations), "relations")


def _masked(report: GraphReport) -> Iterator[str]:
    yield "## Words that are masked until you show them"
    if not report.masked:
        yield "None: every relation and class is made of common words, or you have decided on it."
        return
    yield (
        "Nobody has decided on these, and each may be a cell of your data. A model sees an opaque word for a "
        "relation, and nothing of a class. Show those that are schema: list them in `show_relations` or "
        "`show_classes` of the policy, and load again."
    )
    ordered = sorted(report.masked, key=lambda each: (each.reason, each.kind, each.word))
    yield markdown_table(("", "word", "why"), [(each.kind, each.word, each.reason) for each in ordered[:MAX_ROWS]])
    yield from _more(len(ordered), "words")


def _values(report: GraphReport) -> Iterator[str]:
    yield "## Values"
    if not report.value_relations:
        yield "No relation leads to values."
        return
    yield (
        "As `pseudonym` a value travels as a stand-in; `year`, `decade` and `bucket` show that much of it, `clear` "
        "all. Comparing and counting happen here in any case."
    )
    rows = [
        (each.relation, each.value_kind or "", each.shown_as or "", f"{each.objects:,}", f"{each.subjects:,}")
        for each in report.value_relations[:MAX_ROWS]
    ]
    yield markdown_table(("relation", "kind", "shown as", "distinct values", "subjects"), rows)
    yield from _more(len(report.value_relations), "relations")


def _names(report: GraphReport) -> Iterator[str]:
    names = report.names
    yield "## Names and values that the guard lets pass"
    yield (
        f"Of {names.names:,} names and {names.values:,} values, these can't be held back without holding back every "
        "sentence. Where a question marks one as a name (a capital inside a sentence, quotes, part of a longer name) "
        "it is replaced like any other; where it does not, it travels as the word that it is."
    )
    points = []
    for field, what in _GAPS:
        words: list[str] = getattr(names, field)
        points.append(f"{len(words):,} {what}" + (f": {_listed(words)}" if words else ""))
    points.append(f"{names.too_short:,} things have a name of punctuation alone, which is not looked for")
    points.append(f"{names.unguarded:,} things have no other names than these")
    yield "\n".join(f"- {point}" for point in points)


def _lexicon(report: GraphReport) -> Iterator[str]:
    told = report.lexicon
    yield "## Words that may leave"
    yield (
        f"A word of a question leaves if it is one of {told.words:,} common English words, a common word of the "
        "question's own language, or a word of this graph's shown schema; every other word, and every number, goes as "
        f"a pseudonym. {told.taken_out:,} words of the dictionaries are left out, because they are names more often."
    )
    rows = [(_SOURCES[name], f"{count:,}", f"{count / told.words:.1%}") for name, count in told.sources.items()]
    yield markdown_table(("source", "words", "share"), rows)
    yield (
        f"{len(told.in_names):,} of them are a part of a name or text value of your graphs. Each goes as a pseudonym "
        "unless its place proves the common word (an article before it, its noun behind it, the verb of a sentence)."
    )
    if told.in_names:
        yield _listed(told.in_names)


def _listed(words: Sequence[str]) -> str:
    more = f", and {len(words) - MAX_ROWS:,} more" if len(words) > MAX_ROWS else ""
    return ", ".join(word.replace("|", "\\|") for word in words[:MAX_ROWS]) + more


def _more(count: int, what: str) -> Iterator[str]:
    if count > MAX_ROWS:
        yield f"And {count - MAX_ROWS:,} more {what}, in the JSON."


def svg(report: GraphReport) -> bytes:
    """Returns the report as an SVG picture, with words of the schema and numbers, and no name.

    Raises ImportError if the extra `report` is not installed.
    """
    # Imported here because it is not installed with the service: only this function draws.
    import matplotlib
    from matplotlib.figure import Figure

    shown = [report.whole, *report.concepts[:MAX_CONCEPTS]]
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(10, 4.2 + 0.32 * len(shown)), layout="constrained")
        figure.suptitle(f"Privacy of the graph {report.graph}: {report.entities:,} entities")
        rows: dict[str, Axes] = figure.subplot_mosaic(
            [["told", "told"], ["one", "two"]], height_ratios=[3, 1.2 + 0.5 * len(shown)]
        )
        _draw_told(rows["told"], report)
        for place, hops in (("one", "one_hop"), ("two", "two_hops")):
            _draw_sets(rows[place], report, shown, hops)
        rows["one"].set_title("Entities with the same relations", fontsize=9)
        rows["two"].set_title("Entities with the same paths of two relations", fontsize=9)
        rows["two"].tick_params(labelleft=False)
        handles, labels = rows["one"].get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="outside lower center", ncols=len(labels), title="how many are alike", frameon=False
        )
        out = BytesIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()


def _draw_told(axes: Axes, report: GraphReport) -> None:
    labels = ["its concept alone" if each.profile == "concept" else SHOWN[each.profile] for each in report.profiles]
    drawn = axes.barh(labels, [100 * each.expected for each in report.profiles], color="#31688e")
    axes.bar_label(drawn, [f"{each.expected:.2%}" for each in report.profiles], padding=3)
    axes.invert_yaxis()
    axes.set_xlim(0, 112)
    axes.set_xticks(range(0, 101, 20))
    axes.set_xlabel("% of prompts", fontsize=8)
    axes.set_title("How often whoever knows the graph names the right entity, where a prompt shows", fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_sets(axes: Axes, report: GraphReport, shown: list[SetSizes], hops: str) -> None:
    """Draws one bar for each concept: the percentages of its entities by the size of their anonymity set.

    An anonymity set holds the entities that look alike in a prompt. Entities alone in their set are drawn darkest.
    """
    import matplotlib

    names = [_label(sizes) for sizes in shown]
    places = range(len(names))
    colours = matplotlib.colormaps["viridis"]
    left = [0.0] * len(shown)
    for bar, what in enumerate(bars(report.bounds)):
        counts: list[int] = [getattr(sizes, hops)[bar] for sizes in shown]
        shares = [
            100 * count / sizes.entities if sizes.entities else 0.0 for count, sizes in zip(counts, shown, strict=True)
        ]
        axes.barh(
            places, shares, left=left, label=what, color=colours(bar / max(1, len(report.bounds) - 1)), height=0.75
        )
        left = [before + share for before, share in zip(left, shares, strict=True)]
    axes.set_yticks(list(places), names)
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of the concept's entities", fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def _label(sizes: SetSizes) -> str:
    if sizes.concept is None:
        return "all"
    name = sizes.concept
    short = name if len(name) <= _MAX_LABEL_LENGTH else name[: _MAX_LABEL_LENGTH - 1] + "…"
    return f"{short} ({sizes.entities:,})"
