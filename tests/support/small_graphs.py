"""Made-up graphs in the formats of the public sets that the extractor is trained on."""

from __future__ import annotations

import random
from pathlib import Path

from tests.support.dialogues import write_dialogues

_SYLLABLES = ("bra", "dol", "fen", "gor", "kri", "lum", "mosk", "nar", "pell", "quin", "tarv", "vost", "wex", "zilm")
_RELATIONS = ("people.person.place_of_birth", "people.person.spouse", "film.film.written_by", "music.artist.label")


def write_graphs(folder: Path, things: int = 60) -> Path:
    """Writes a folder for `--data` with a few facts each of OpenDialKG, MetaQA, WebQSP and PathQuestion."""
    write_dialogues(folder)
    draw = random.Random(1)  # for invented names
    names = [" ".join("".join(draw.choices(_SYLLABLES, k=2)).capitalize() for _ in range(2)) for _ in range(things)]
    facts = [(head, relation, draw.choice(names)) for head in names for relation in _RELATIONS]
    (folder / "webqsp").mkdir()
    lines = ["\t".join((*fact, "ok")) for fact in facts] + ["m.0abc\tpeople.person.spouse\tm.0def\tok"]
    (folder / "webqsp" / "triples.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    (folder / "pathquestion").mkdir()
    small = [
        "\t".join((h.lower().replace(" ", "_"), r.split(".")[-1], t.lower().replace(" ", "_"))) for h, r, t in facts
    ]
    (folder / "pathquestion" / "PQ-3H.kb.tsv").write_text("\n".join(small) + "\n", "utf-8")
    return folder
