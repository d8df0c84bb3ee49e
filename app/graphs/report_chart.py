"""The privacy report as a picture: how often a prompt gives somebody away, and how large the anonymity sets are."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

from app.graphs.privacy_report import SHOWN
from app.graphs.report_markdown import bars
from client_sdk.protocol import GraphReport, SetSizes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_CONCEPTS = 9
_MAX_LABEL_LENGTH = 28
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "arog",
    "font.family": "sans-serif",
    "font.size": 9,
    "text.parse_math": False,
}


def svg(report: GraphReport) -> bytes:
    """Returns the picture; it holds words of the schema and numbers, and no name. Raises ImportError without the extra
    `report`.
    """
    # Not installed with the service: only this draws.
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
    """Draws the shares of each concept's entities by the size of their set; sets of one are darkest."""
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
