"""The lower layers of the sentence model, as a model of its own."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, Final

from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.model_files import find_model, weights_digest_of

_CONFIG: Final = "config.json"


class SentenceModelError(Exception):
    """The sentence model cannot be cut in two; the text says what to do."""


def open_lower_layers(model: str, cache: Path, layers: int) -> Embedder:
    """Returns the first `layers` layers of the sentence model `model`; their files are in `cache` and written if
    missing.

    Raises SentenceModelError, ModelNotTrustedError, OSError.
    """
    whole, config = _opened(model)
    folder = cache / f"lower-{layers}-{weights_digest_of(model)[:16]}"
    if not (folder / _CONFIG).is_file():
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix="lower-") as temporary:
            part = Path(temporary) / "model"
            shutil.copytree(whole, part, ignore=shutil.ignore_patterns("*.py", "__pycache__", "onnx", "openvino"))
            (part / _CONFIG).write_text(json.dumps(config | {"num_hidden_layers": layers}), "utf-8")
            shutil.rmtree(folder, ignore_errors=True)
            os.replace(part, folder)
    return Embedder(str(folder), cache)


def _opened(model: str) -> tuple[Path, dict[str, Any]]:
    found = find_model(model)
    config = json.loads((found.path / _CONFIG).read_text("utf-8")) if found else {}
    if found is None or config.get("model_type") != "bert":
        raise SentenceModelError("the extractor needs a sentence model of the kind BERT, such as the one in the box")
    return found.path, config
