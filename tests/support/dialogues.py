"""Made-up dialogues about films that do not exist, in the formats of OpenDialKG and MetaQA."""

from __future__ import annotations

import json
import random
from pathlib import Path

FILMS = 24
_SYLLABLES = ("bra", "dol", "fen", "gor", "kri", "lum", "mosk", "nar", "pell", "quin", "tarv", "vost", "wex", "zilm")
_ASKED = {
    "written_by": "Do you happen to know who wrote {}?",
    "starred_actors": "Which actors play in {}, if you know?",
    "has_genre": "And {}? I wonder what genre it is.",
    "release_year": "When did {} come out, which year was it?",
}


def write_dialogues(folder: Path, films: int = FILMS) -> Path:
    """Writes a folder for `--data`: each film has a dialogue of two turns, and facts that nobody asks for."""
    draw = random.Random(0)  # for invented names
    names = list(dict.fromkeys(_name(draw) for _ in range(8 * films)))
    titles, people = names[:films], names[films:]
    triples, rows = [], []
    for at, title in enumerate(titles):
        facts = {
            "written_by": people[at],
            "starred_actors": people[at + films],
            "has_genre": f"Genre {people[at % 3 - 3]}",
            "release_year": f"{1950 + at}",
        }
        triples += [(title, relation, tail) for relation, tail in facts.items()]
        triples += [(title, other, people[at + 2 * films]) for other in ("directed_by", "produced_by", "music_by")]
        triples.append((facts["written_by"], "~spouse", facts["starred_actors"]))
        asked = [list(facts)[(at + turn) % len(facts)] for turn in (0, 1)]
        history: list[tuple[str, str]] = []
        for relation in asked:
            history.append(("user", _ASKED[relation].format(title)))
            reply = f"I have heard of {title} that it is {facts[relation]}."
            row = {
                "id": f"val-{len(rows)}",
                "history": history[-3:],
                "knowledge": [(title, relation.replace("_", " "), facts[relation])],
                "response_speaker": "assistant",
                "response": reply,
            }
            rows.append(row)
            history = [*history, ("assistant", reply)]
    draw.shuffle(rows)
    target = folder / "opendialkg"
    target.mkdir(parents=True)
    lines = ["\t".join(triple) for triple in triples]
    _write_metaqa(folder / "metaqa", triples, titles)
    (target / "triples.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    (target / "val.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return folder


def _write_metaqa(folder: Path, triples: list[tuple[str, str, str]], titles: list[str]) -> None:
    """Writes MetaQA's files with two questions per film: who wrote it, and which films its writer wrote."""
    folder.mkdir()
    written = [(head, tail) for head, relation, tail in triples if relation == "written_by"]
    asked = [f"who wrote [{film}]\t{writer}" for film, writer in written]
    asked += [f"which films did [{writer}] write\t{film}" for film, writer in written]
    kinds = ["movie_to_writer"] * len(titles) + ["writer_to_movie"] * len(titles)
    kb = ["|".join(triple) for triple in triples if not triple[1].startswith("~")]
    for name, lines in (("kb.txt", kb), ("qa_dev_1hop.txt", asked), ("qa_dev_1hop_qtype.txt", kinds)):
        (folder / name).write_text("\n".join(lines) + "\n", "utf-8")


def _name(draw: random.Random) -> str:
    return " ".join("".join(draw.choices(_SYLLABLES, k=2)).capitalize() for _ in range(2))
