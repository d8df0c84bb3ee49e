"""The table of a real model: never worse than the reasoner in the box, and nothing false is shown."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.llm.endpoint.request_body import CHOICE_TOKENS
from evaluation.bench.bench import TO_THE_MODEL, Bench, sample
from evaluation.bench.question_sets import DEMO, METAQA, PQ_2H, PQ_3H, QuestionSets, Show
from evaluation.checks.leak_scan import LeakScanner
from evaluation.datasets.questions import Question
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint
from evaluation.models.attack_runs import BESIDE, run_lies, run_wrong_expressions
from evaluation.models.models_run import ModelRow, asked_row
from evaluation.models.prefix_cache import cache_share
from evaluation.tables.measures import Measure

SETS: Final = {"demo": DEMO, "PQ-2H": PQ_2H, "MetaQA-1": METAQA[1], "MetaQA-2": METAQA[2]}
SCRIPTED: Final = {"PQ-2H": PQ_2H, "PQ-3H": PQ_3H, "MetaQA-3": METAQA[3]}
NEVER_WORSE: Final = 0.01
MOST_CALLS, MOST_PROMPT, MOST_REPLY = 1.2, 400, 40
SCRIPTED_CALLS, SCRIPTED_TOKENS, RIGHT = 1.1, 850, 0.995
PLAIN_SHARE, CACHED_SHARE = 0.05, 0.75
TURNS: Final = (
    "Tell me about Rosalind Rose.", "What else is known of her?", "Tell me about Alder Clinic.", "A big clinic.",
    "Tell me about Osterfurt.", "I like that city.", "Tell me about Giulia D'Amaro.", "She must be young.",
    "Tell me about Polaria Mutual.", "Insurers are dear.", "Tell me about Runa Rabenhorst.", "A good doctor, I hear.",
    "Tell me about Osprey Ward.", "Is it busy there?", "Tell me about Jörg Fährmann.", "Poor man.",
    "Tell me about Sanavita Werke.", "They make many drugs.", "Tell me about Endocrinology.", "I know little of that.",
)  # fmt: skip
"""A dialogue of twenty turns about the demo."""


@dataclass(frozen=True, slots=True)
class AskedModel:
    """A model's endpoint, and the file in which its server writes what it does, where it is ours."""

    url: str
    name: str
    log: Path | None = None

    @property
    def settings(self) -> Mapping[str, object]:
        return {"endpoint_url": self.url, "endpoint_model": self.name, "reasoner": "endpoint"}


async def run_models_table(model: AskedModel, data: Path, limit: int, only: str, show: Show) -> list[Measure]:
    """Every line whose name holds `only`. Raises QuestionsError."""
    measures, wanted = list[Measure](), only.casefold()
    with tempfile.TemporaryDirectory(prefix="arog-models-") as folder:
        where = Path(folder)
        if wanted in "real model":
            measures += await _of_model(model, data, where, limit, show)
        if wanted in "scripted":
            measures += await _scripted(data, where, limit, show)
        if wanted in "lies":
            measures += await _attacks(show)
    return measures


async def _of_model(model: AskedModel, data: Path, folder: Path, limit: int, show: Show) -> list[Measure]:
    own = dict(await _own_rows(data, folder, limit, show))
    measures: list[Measure] = []
    settings = {**TO_THE_MODEL, **model.settings}
    async with Bench("endpoint", changes=settings) as bench:
        sets = QuestionSets(bench, data, folder, show)
        rows = [(name, await _row(bench, sets, name, source, limit, show)) for name, source in _there(data)]
        for name, row in rows:
            measures += _against(name, row, own[name])
        asked = [body for body in bench.sent if b'"choices\\"' in body or b'\\"choices\\"' in body]
        measures += _cache(model, asked[:2])
        measures += _logged(model, sets)
    return [*measures, await _dialogue(model, data, folder, show)]


def _there(data: Path) -> list[tuple[str, str]]:
    """The demo, and the public sets whose files are below `data`."""
    return [(name, each) for name, each in SETS.items() if each == DEMO or (data / each.partition(":")[2]).is_file()]


async def _own_rows(data: Path, folder: Path, limit: int, show: Show) -> list[tuple[str, ModelRow]]:
    """Of the reasoner in the box."""
    async with Bench("embedded") as bench:
        sets = QuestionSets(bench, data, folder, show)
        return [(name, await _row(bench, sets, name, source, limit, show)) for name, source in _there(data)]


async def _row(bench: Bench, sets: QuestionSets, name: str, source: str, limit: int, show: Show) -> ModelRow:
    loaded, questions = sets.of(source)
    asked = [each for each in questions if source == DEMO or (each.has_plan and each.reproduced)]
    return await asked_row(bench, loaded, name, sample(asked, limit, 0), show)


def _against(name: str, row: ModelRow, own: ModelRow) -> list[Measure]:
    limit = CHOICE_TOKENS
    return [
        _line(f"{name}: errors", row.asked, "0", row.errors, row.errors == 0),
        _line(
            f"{name}: right",
            row.asked,
            f"at least {own.share_right - NEVER_WORSE:.3f}",
            f"{row.share_right:.3f}",
            row.share_right >= own.share_right - NEVER_WORSE - 1e-9,
        ),
        _line(
            f"{name}: wrong of given",
            row.asked,
            f"at most {own.wrong_of_given + NEVER_WORSE:.3f}",
            f"{row.wrong_of_given:.3f}",
            row.wrong_of_given <= own.wrong_of_given + NEVER_WORSE + 1e-9,
        ),
        _line(f"{name}: calls", row.asked, f"at most {MOST_CALLS}", f"{row.calls:.2f}", row.calls <= MOST_CALLS),
        _line(
            f"{name}: tokens",
            row.asked,
            f"at most {MOST_PROMPT} + {MOST_REPLY}",
            f"{row.prompt_tokens:.0f} + {row.reply_tokens:.0f}",
            row.prompt_tokens <= MOST_PROMPT and row.reply_tokens <= MOST_REPLY,
        ),
        _line(f"{name}: longest reply", row.asked, f"under {limit}", row.longest_reply, row.longest_reply < limit),
        _line(f"{name}: names in prompts and schemas", row.asked, "0", row.leaks, row.leaks == 0),
        Measure(name=f"{name}: seconds a question", questions=row.asked, reached=f"{row.seconds:.2f}"),
    ]


def _cache(model: AskedModel, bodies: Sequence[bytes]) -> list[Measure]:
    if len(bodies) < 2:
        return []
    found = cache_share(model.url, bodies)
    reached = f"{found.of_constant:.2f} ({found.cached} of {found.prompt} tokens; {found.constant} are constant)"
    bound = f"at least {CACHED_SHARE} of the constant part"
    return [_line("prompt from the prefix cache", 2, bound, reached, found.of_constant >= CACHED_SHARE)]


def _logged(model: AskedModel, sets: QuestionSets) -> list[Measure]:
    """Names of the demo in what the model's server wrote: those with a letter, for it writes numbers of its own."""
    if model.log is None:
        return []
    loaded, _ = sets.of(DEMO)
    names = {name for name in loaded.secrets if any(map(str.isalpha, name))}
    found = LeakScanner(names, ()).scan([model.log.read_bytes()]).leaks.total()
    return [_line("names in the server's log", len(names), "0", found, found == 0)]


async def _dialogue(model: AskedModel, data: Path, folder: Path, show: Show) -> Measure:
    """Twenty turns, each in a conversation with the one before it."""
    async with Bench("endpoint", changes={**TO_THE_MODEL, **model.settings, "profile": "open"}) as bench:
        loaded, _ = QuestionSets(bench, data, folder, show).of(DEMO)
        pairs = zip(TURNS[::2], TURNS[1::2], strict=True)
        asked = [Question(id=str(at), turns=pair, answers=()) for at, pair in enumerate(pairs)]
        row = await asked_row(bench, loaded, "dialogue", asked, show, "auto")
    return _line(f"dialogue of {len(TURNS)} turns: errors", len(TURNS), "0", row.errors, row.errors == 0)


async def _scripted(data: Path, folder: Path, limit: int, show: Show) -> list[Measure]:
    """A model that answers rightly, as far as the prompt lets it."""
    measures = list[Measure]()
    for title, changes in (("right model alone", {}), ("right model", BESIDE)):
        endpoint = ScriptedEndpoint()
        endpoint.at_once = True
        async with Bench("scripted", scripted=endpoint, changes={**TO_THE_MODEL, **changes}) as bench:
            sets = QuestionSets(bench, data, folder, show)
            for name, source in SCRIPTED.items():
                row = await _row(bench, sets, f"{title}, {name}", source, 2 * limit, show)
                measures += _costs(f"{title}, {name}", row)
    return measures


def _costs(title: str, row: ModelRow) -> list[Measure]:
    tokens, hits = row.prompt_tokens + row.reply_tokens, row.share_right
    return [
        _line(f"{title}: hits", row.asked, "1.00", f"{hits:.3f}", hits >= RIGHT),
        _line(f"{title}: calls", row.asked, "at most 1.1", f"{row.calls:.2f}", row.calls <= SCRIPTED_CALLS),
        _line(f"{title}: tokens", row.asked, "at most 850", f"{tokens:.0f}", tokens <= SCRIPTED_TOKENS),
    ]


async def _attacks(show: Show) -> list[Measure]:
    lies = await run_lies(show)
    wrong = await run_wrong_expressions(show)
    shown, plain = lies.shown.total(), len(wrong.plain)
    of_asked = f"{plain} of {wrong.asked} ({wrong.said} could be said, {wrong.warned} with a second reading)"
    is_few = plain <= PLAIN_SHARE * wrong.asked
    return [
        _line("lies in all fields of a reply: shown", lies.told, "0", shown, shown == 0),
        _line("lies: errors to the asker", lies.told, "0", lies.errors, lies.errors == 0),
        _line("wrong expressions shown plainly", wrong.asked, f"at most {PLAIN_SHARE:.0%}", of_asked, is_few),
        _line("wrong expressions: errors", wrong.asked, "0", wrong.errors, wrong.errors == 0),
    ]


def _line(name: str, questions: int, bound: str, reached: object, passed: bool) -> Measure:
    return Measure(name=name, questions=questions, bound=bound, reached=str(reached), passed=passed)
